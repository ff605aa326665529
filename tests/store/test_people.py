"""Speakers in the store: records, consents, recordings and the log, appended and never changed."""

from __future__ import annotations

import hashlib
import sqlite3
import stat
from pathlib import Path

import pytest

from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError
from tabwb.records.speakers import Consent, KeptRecording, LogEntry, Speaker
from tabwb.records.trials import Administration
from tabwb.store.maintenance import backup, check
from tabwb.store.store import Store
from tests.store.older import make_older
from tests.store.parts import begin

PERSON = Conditions("S-014", "speaker")
SOUND = b"RIFF" + bytes(range(256)) * 20_000


@pytest.fixture
def take(tmp_path: Path) -> Path:
    path = tmp_path / "take.wav"
    path.write_bytes(SOUND)
    return path


@pytest.fixture
def administration(store: Store) -> Administration:
    return begin(store, conditions=PERSON)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_record_is_kept_anew_and_the_last_one_holds(store: Store) -> None:
    store.people.keep_speaker(Speaker("S-014", {"AQ": 71.3, "dialect": "Scots"}, by="ada"))
    kept = store.people.keep_speaker(Speaker("S-014", {"AQ": 74}, by="ada"))
    assert store.people.speaker("S-014") == kept
    assert (kept.version, kept.values, kept.by) == (2, {"AQ": 74}, "ada")
    earlier, _ = store.people.speaker_versions("S-014")
    assert earlier.values == {"AQ": 71.3, "dialect": "Scots"}
    assert earlier.recorded_at.endswith("+00:00")
    (logged,) = store.people.log_entries("S-014")
    assert (logged.act, logged.who) == ("registered", "ada")


def test_everybody_is_listed_who_is_known_or_of_unknown_origin(store: Store) -> None:
    begin(store, conditions=Conditions("S-002", "speaker"))
    begin(store, conditions=Conditions("echo", "model"))
    begin(store, conditions=Conditions("S-004", "speaker", origin="unknown"))
    begin(store, conditions=Conditions("somebody", "model", origin="unknown"))
    begin(store, conditions=Conditions("tts-3", "speaker", origin="model"))
    store.people.keep_consents([Consent("S-003", "record", True, "2026-11-21")])
    store.people.keep_speaker(Speaker("S-001", {"group": "A"}))
    found = [(one.id, one.version) for one in store.people.speakers()]
    assert found == [("S-001", 1), *((one, 0) for one in ("S-002", "S-003", "S-004", "somebody"))]
    assert store.people.speaker("S-002") == Speaker("S-002")
    for unknown in ("tts-3", "S-999"):
        with pytest.raises(StoreError, match=f"no speaker '{unknown}'"):
            store.people.speaker(unknown)


def test_the_last_row_of_a_scope_decides(store: Store) -> None:
    assert not store.people.allowed("S-014", "record")
    given = Consent("S-014", "record", True, "2026-11-01", "IRB-7/014", "on paper", by="ada")
    store.people.keep_consents([given, Consent("S-014", "rate", True, "2026-11-01", by="ada")])
    assert store.people.allowed("S-014", "record")
    store.people.keep_consents([Consent("S-014", "record", False, "2026-11-20", by="ada")])
    assert not store.people.allowed("S-014", "record")
    assert store.people.allowed("S-014", "rate")
    assert [each.given for each in store.people.consents("S-014")] == [True, True, False]
    first = store.people.consents("S-014")[0]
    assert (first.document, first.note, first.on) == ("IRB-7/014", "on paper", "2026-11-01")
    assert not store.people.allowed("S-01", "rate")


def test_the_log_says_who_did_what_when(store: Store) -> None:
    store.people.log(
        LogEntry("exported", "S-014", 3, "jsonl", who="ada"), LogEntry("heard", "S-015")
    )
    exported, heard = store.people.log_entries()
    assert (exported.who, exported.act, exported.administration) == ("ada", "exported", 3)
    assert exported.at
    assert heard.who, "whoever runs the program"
    assert store.people.log_entries("S-014") == (exported,)
    assert store.people.log_entries(administration=3) == (exported,)
    assert store.people.log_entries("S-015", 3) == ()


def test_a_recording_is_kept_with_what_is_known_of_it(
    store: Store, administration: Administration, take: Path
) -> None:
    original = KeptRecording(
        "u1", 3.9, 44_100, 2, parameters={"device": "USB"}, started_at="2026-11-21T10:00:00+00:00"
    )
    sha256 = store.people.keep_recording(administration.id, original, take, who="ada")
    assert sha256 == hashlib.sha256(SOUND).hexdigest()
    assert store.people.recording_path(sha256).read_bytes() == SOUND
    assert take.read_bytes() == SOUND
    (kept,) = store.people.recordings(administration.id)
    assert (kept.uid, kept.seconds, kept.rate, kept.channels) == ("u1", 3.9, 44_100, 2)
    assert (kept.parameters, kept.started_at) == (original.parameters, original.started_at)
    assert (kept.sha256, kept.role) == (sha256, "original")
    (entry,) = store.people.log_entries("S-014")
    assert (entry.act, entry.administration, entry.who) == ("recorded", administration.id, "ada")


def test_a_derived_copy_names_its_original(
    store: Store, administration: Administration, take: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.wav"
    copy.write_bytes(b"RIFF, louder")
    derived = KeptRecording("u2", 3.9, 16_000, role="conditioned", derived_from="u1")
    with pytest.raises(StoreError, match="recording u1"):
        store.people.keep_recording(administration.id, derived, copy)
    store.people.keep_recording(administration.id, KeptRecording("u1", 3.9, 44_100), take)
    store.people.keep_recording(administration.id, derived, copy)
    assert [(r.uid, r.derived_from) for r in store.people.recordings(administration.id)] == [
        ("u1", None),
        ("u2", "u1"),
    ]


def test_the_same_recording_again_changes_nothing_and_another_is_refused(
    store: Store, administration: Administration, take: Path
) -> None:
    recording = KeptRecording("u1", 3.9, 44_100)
    store.people.keep_recording(administration.id, recording, take)
    store.people.keep_recording(administration.id, recording, take)
    assert len(store.people.recordings(administration.id)) == 1
    take.write_bytes(b"RIFF, another")
    with pytest.raises(StoreError, match="u1 is kept already"):
        store.people.keep_recording(administration.id, recording, take)
    with pytest.raises(StoreError, match="cannot be read"):
        store.people.keep_recording(administration.id, recording, take.with_name("none.wav"))


def test_a_damaged_recording_is_not_given_out(file: Path, take: Path) -> None:
    with Store.open(file) as store:
        number = begin(store, conditions=PERSON).id
        sha256 = store.people.keep_recording(number, KeptRecording("u1", 1, 16_000), take)
        store.people.recording_path(sha256).write_bytes(b"RIFF")
        with pytest.raises(StoreError, match="damaged"):
            store.people.recording_path(sha256)
    assert any(sha256 in each.where for each in check(file))


def test_only_the_owner_can_read_a_store_its_recordings_and_its_backup(
    file: Path, take: Path, tmp_path: Path
) -> None:
    out = tmp_path / "copy.db"
    with Store.open(file) as store:
        number = begin(store, conditions=PERSON).id
        sha256 = store.people.keep_recording(number, KeptRecording("u1", 1, 16_000), take)
        assert {mode(Path(f"{file}{tail}")) for tail in ("", "-wal", "-shm")} == {0o600}
        backup(store, out)
    blobs = Path(f"{file}.blobs")
    assert {mode(path) for path in blobs.rglob("*") if path.is_file()} == {0o600}
    assert {mode(path) for path in (blobs, *blobs.iterdir())} == {0o700}
    assert mode(out) == 0o600
    with Store.open(out) as copy:
        assert copy.people.recording_path(sha256).read_bytes() == SOUND
        assert mode(copy.people.recording_path(sha256)) == 0o600


def test_an_older_store_is_closed_to_others_with_its_first_person_only(file: Path) -> None:
    with Store.open(file) as store:
        begin(store)
    file.chmod(0o644)
    with Store.open(file) as store:
        begin(store)
        assert mode(file) == 0o644
        store.people.keep_speaker(Speaker("S-014"))
        assert mode(file) == 0o600
        # Who opens it to colleagues after that has a reason.
        file.chmod(0o660)
        store.people.keep_speaker(Speaker("S-015"))
        assert mode(file) == 0o660


def test_an_older_store_gets_the_tables_and_keeps_its_people(file: Path) -> None:
    with Store.open(file) as store:
        number = begin(store, conditions=PERSON).id
        begin(store)
        before = store.history(number)
    make_older(file, 3)
    with Store.open(file) as store:
        assert store.history(number) == before
        assert [each.conditions.guarded for each in store.administrations()] == [True, False]
        assert store.people.speakers() == (Speaker("S-014"),)
        assert not (
            store.people.consents("S-014")
            or store.people.log_entries()
            or store.people.tombstones()
        )


def test_conditions_that_know_no_origin_have_the_one_of_their_kind(file: Path) -> None:
    with Store.open(file) as store:
        number = begin(store, conditions=PERSON).id
    with sqlite3.connect(file) as connection:
        connection.execute(
            "UPDATE administrations SET conditions = json_remove(conditions, '$.origin')"
        )
    with Store.open(file) as store:
        conditions = store.administration(number).conditions
        assert (conditions.origin, conditions.guarded) == (None, True)
