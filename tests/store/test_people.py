"""Speakers in the store: records, consents, recordings and the log, appended and never changed."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError, UsageError
from tabwb.records.exchange import Message
from tabwb.records.rating_sets import (
    Adjudication,
    Assignment,
    AudioCut,
    Sample,
    SampleRating,
)
from tabwb.records.ratings import Declaration, Judged, Judgement, valued
from tabwb.records.speakers import Consent, KeptRecording, LogEntry, Speaker
from tabwb.records.states import StopReason
from tabwb.records.trials import (
    Administration,
    AttemptEntry,
    DeclarationEntry,
    EventEntry,
    PlannedTrial,
    RatingsEntry,
)
from tabwb.store.database import SAFE, EmbeddedDatabase
from tabwb.store.maintenance import backup, check
from tabwb.store.store import Store
from tests.store.older import make_older
from tests.store.parts import FORM, attempt, begin, set_plan, small_battery

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


def test_a_recording_is_kept_once_with_what_is_known_of_it_and_its_copy(
    store: Store, administration: Administration, take: Path, tmp_path: Path
) -> None:
    original = KeptRecording(
        "u1", 3.9, 44_100, 2, parameters={"device": "USB"}, started_at="2026-11-21T10:00:00+00:00"
    )
    derived = KeptRecording("u2", 3.9, 16_000, role="conditioned", derived_from="u1")
    copy = tmp_path / "copy.wav"
    copy.write_bytes(b"RIFF, louder")
    keep = partial(store.people.keep_recording, administration.id)
    with pytest.raises(StoreError, match="recording u1"):
        keep(derived, copy)
    sha256 = keep(original, take, who="ada")
    assert keep(original, take, who="ada") == sha256 == hashlib.sha256(SOUND).hexdigest()
    assert store.people.recording_path(sha256).read_bytes() == take.read_bytes() == SOUND
    (kept,) = store.people.recordings(administration.id)
    assert (kept.uid, kept.seconds, kept.rate, kept.channels) == ("u1", 3.9, 44_100, 2)
    assert (kept.parameters, kept.started_at) == (original.parameters, original.started_at)
    assert (kept.sha256, kept.role) == (sha256, "original")
    (entry,) = store.people.log_entries("S-014")
    assert (entry.act, entry.administration, entry.who) == ("recorded", administration.id, "ada")
    keep(derived, copy)
    assert [(r.uid, r.derived_from) for r in store.people.recordings(administration.id)] == [
        ("u1", None), ("u2", "u1"),
    ]  # fmt: skip
    take.write_bytes(b"RIFF, another")
    with pytest.raises(StoreError, match="u1 is kept already"):
        keep(original, take)
    with pytest.raises(StoreError, match="cannot be read"):
        keep(original, take.with_name("none.wav"))


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
        path = copy.people.recording_path(sha256)
        assert (path.read_bytes(), mode(path)) == (SOUND, 0o600)
        # One that was damaged is not given out.
        path.write_bytes(b"RIFF")
        with pytest.raises(StoreError, match="damaged"):
            copy.people.recording_path(sha256)
    assert any(sha256 in each.where for each in check(out))


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
        people = store.people
        assert people.speakers() == (Speaker("S-014"),)
        assert not (people.consents("S-014") or people.log_entries() or people.tombstones())
    # Conditions that know no origin have the one of their kind.
    with sqlite3.connect(file) as connection:
        connection.execute(
            "UPDATE administrations SET conditions = json_remove(conditions, '$.origin')"
        )
    with Store.open(file) as store:
        conditions = store.administration(number).conditions
        assert (conditions.origin, conditions.guarded) == (None, True)


SECRET = "xylophonist"
"""Stands in everything that is recorded of the speaker who will be deleted."""
SHARED = "said by both of them"
KILLS = int(os.environ.get("TABWB_TORTURE_KILLS", "8"))


def give(store: Store, speaker: str, word: str, *, size: int = 1) -> int:
    """An administration with a row in every table, ``word`` in every text."""
    battery = small_battery()
    store.keep_battery(battery, {})
    conditions = Conditions(speaker, "speaker", labels={"note": word})
    plan = [
        PlannedTrial(number, "repetition", f"item-{number}", 0, (word,), f"Say {word} {number}")
        for number in range(1, size + 1)
    ]
    number = store.create_administration(battery, conditions, plan, {"tabwb": "0"}).id
    store.people.keep_speaker(Speaker(speaker, {"group": word}))
    store.people.keep_consents([Consent(speaker, "record", True, "2026-11-01", word, word)])
    store.people.log(LogEntry("exported", speaker, number, f"/home/{word}.jsonl"))
    for trial in range(1, size + 1):
        answer = replace(attempt(response=f"{word} said {trial} " + word * 40), error=word)
        answer = replace(answer, messages=(Message("user", f"{word} and {trial}"),))
        rating = valued("repetition", "exact", True, f"because of {word} {trial}")
        shared = valued("rules-1", "jargon", True, SHARED)
        typed = valued(f"naming-2:manual:/home/{word}.tsv", "correct-any", True, SHARED)
        store.append(
            number,
            [
                EventEntry("noted", trial, f"a note on {word}"),
                AttemptEntry(trial, answer),
                RatingsEntry(trial, 1, (rating, shared, typed)),
                DeclarationEntry(Declaration("rules-1", ("jargon",), caution=f"of {word}")),
            ],
        )
        judgement = Judgement(
            (valued("tab-2026:x", "anomia", 1, word),), rater="tab-2026:x", key="00" * 32,
            raw=f"raw {word}", first_raw=word, prompt_text=SHARED, stop_reason=StopReason.END,
        )  # fmt: skip
        again = replace(judgement, repeat=1)
        store.keep_judgements(number, [Judged(trial, 1, judgement), Judged(trial, 1, again)])
    return number


def sound(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def bytes_of(file: Path) -> dict[str, bytes]:
    """Every byte of the store by its place: the file, what SQLite keeps beside it, recordings."""
    beside = [path for path in file.parent.iterdir() if path.name.startswith(file.name)]
    inside = [path for folder in beside if folder.is_dir() for path in folder.rglob("*")]
    return {str(path): path.read_bytes() for path in (*beside, *inside) if path.is_file()}


def holding(file: Path, word: str) -> list[str]:
    return [
        name for name, content in bytes_of(file).items() if word.encode() in content + name.encode()
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sounds"
    made.mkdir()
    return made


@pytest.fixture
def filled(file: Path, folder: Path) -> Iterator[tuple[Store, int, int]]:
    """Two speakers who said much the same; one recording is the same to the byte."""
    with Store.open(file) as store:
        one, other = give(store, "S-014", SECRET, size=30), give(store, "S-015", "innocent", size=3)
        both = sound(folder, "both.wav", b"RIFF the same")
        mine = sound(folder, "mine.wav", f"RIFF {SECRET}".encode() * 1000)
        for number in (one, other):
            store.people.keep_recording(number, KeptRecording(f"same-{number}", 1, 16_000), both)
        store.people.keep_recording(one, KeptRecording("mine", 1, 16_000), mine)
        derived = KeptRecording("derived", 1, 16_000, role="conditioned", derived_from="mine")
        store.people.keep_recording(one, derived, sound(folder, "d.wav", f"{SECRET}!".encode()))
        growing = Path(f"{file}.takes") / f"{store.administration(one).uid}.u9.wav.part"
        growing.parent.mkdir()
        growing.write_bytes(f"RIFF {SECRET}".encode())
        yield store, one, other


def of(store: Store, speaker: str, number: int) -> object:
    """Everything that is kept of a speaker."""
    people = store.people
    sounds = [people.recording_path(one.sha256).read_bytes() for one in people.recordings(number)]
    return (
        store.history(number), store.judgements(number), people.speaker_versions(speaker),
        people.consents(speaker), people.log_entries(speaker), sounds,
    )  # fmt: skip


def test_no_byte_of_a_deleted_speaker_is_left_but_a_dated_tombstone_with_counts(
    filled: tuple[Store, int, int], file: Path
) -> None:
    store, one, other = filled
    assert len(holding(file, SECRET)) >= 4, "in the rows, two recordings and one begun"
    expected = store.people.data_of("S-014")
    assert expected == {
        "administrations": 1, "attempts": 30, "ratings": 120, "judgements": 60, "samples": 0,
        "recordings": 3, "records": 1, "consents": 1, "exports": 1,
    }  # fmt: skip
    logged, others = store.people.log_entries("S-014"), of(store, "S-015", other)
    stone = store.people.delete_speaker("S-014", "withdrawn", who="ada")
    assert stone.finished
    assert holding(file, SECRET) == []
    assert {one.where for one in check(file)} <= {"items"}  # those of tests are made up
    assert store.people.tombstones() == (stone,)
    assert (stone.speaker, stone.by, stone.reason) == ("S-014", "ada", "withdrawn")
    assert dict(stone.counts) == expected
    assert set(store.people.data_of("S-014").values()) == {0, 1}, "of the log an export stays"
    with pytest.raises(StoreError, match="was deleted on"):
        store.people.speaker("S-014")
    with pytest.raises(StoreError, match="no administration"):
        store.administration(one)
    # Who did what stays known, without the details.
    *kept, deleted = store.people.log_entries("S-014")
    assert kept == [replace(entry, detail="") for entry in logged]
    assert {entry.administration for entry in kept} == {one, None}
    assert (deleted.act, deleted.who) == ("deleted", "ada")
    assert of(store, "S-015", other) == others


def test_a_judgement_taken_over_from_the_deleted_stands_by_itself(file: Path) -> None:
    with Store.open(file) as store:
        one, other = give(store, "S-014", SECRET), give(store, "S-015", "innocent")
        first = store.judgements(one)[0].judgement
        taken = replace(first, id=0, same_as=first.id, raw="raw", first_raw="", ratings=())
        taken = replace(taken, ratings=(valued("tab-2026:x", "anomia", 0, "plain"),))
        store.keep_judgements(other, [Judged(1, 1, taken)])
        store.people.delete_speaker("S-014", "withdrawn")
        last = store.judgements(other)[-1].judgement
    assert (last.raw, last.same_as) == ("raw", None)
    assert holding(file, SECRET) == []


def test_a_program_that_had_the_store_open_writes_no_text_under_a_key_of_the_deleted(
    file: Path,
) -> None:
    with Store.open(file) as old, Store.open(file) as deleting:
        give(old, "S-014", SECRET)
        deleting.people.delete_speaker("S-014", "withdrawn")
        give(deleting, "S-016", "newcomer")
        # The first program remembers keys of texts that stand for others by now.
        number = give(old, "S-017", SECRET)
        assert old.trials(number)[0].plan.prompt == f"Say {SECRET} 1"
        assert old.trials(number)[0].ratings[0].reason == f"because of {SECRET} 1"
    assert {one.where for one in check(file)} <= {"items"}  # those of tests are made up


def test_a_deleted_id_is_not_used_again_and_a_model_of_the_same_name_stays(file: Path) -> None:
    with Store.open(file) as store:
        model = begin(store, conditions=Conditions("S-014", "model")).id
        begin(store, conditions=Conditions("S-014", "model", origin="unknown"))
        store.people.keep_speaker(Speaker("S-014"))
        store.people.delete_speaker("S-014", "withdrawn")
        assert [each.id for each in store.administrations()] == [model]
        for act in (
            lambda: store.people.keep_speaker(Speaker("S-014")),
            lambda: store.people.keep_consents([Consent("S-014", "record", True, "2026-11-01")]),
            lambda: begin(store, conditions=Conditions("S-014", "speaker")),
        ):
            with pytest.raises(StoreError, match="was deleted on"):
                act()


def test_only_who_is_known_is_deleted_for_a_known_reason_and_a_mistake_can_be_used_again(
    file: Path,
) -> None:
    with Store.open(file) as store:
        with pytest.raises(StoreError, match="no speaker"):
            store.people.delete_speaker("S-014", "withdrawn")
        store.people.keep_speaker(Speaker("S-014", {"AQ": 1}))
        with pytest.raises(UsageError, match="withdrawn"):
            store.people.delete_speaker("S-014", "she lives at no. 4")
        assert store.people.speaker("S-014").version == 1
        store.people.delete_speaker("S-014", "entered-by-mistake")
        store.people.keep_speaker(Speaker("S-014", {"AQ": 2}))
        assert store.people.speaker("S-014").version == 1


def test_what_is_open_elsewhere_is_not_deleted(filled: tuple[Store, int, int], file: Path) -> None:
    store, one, _ = filled
    with (
        Store.open(file) as elsewhere,
        elsewhere.lock(one),
        pytest.raises(StoreError, match="is open in process"),
    ):
        store.people.delete_speaker("S-014", "withdrawn")
    assert store.people.speaker("S-014").version == 1


def test_a_reader_in_the_way_is_told_of_and_the_next_opening_finishes(
    filled: tuple[Store, int, int], file: Path
) -> None:
    filled[0].close()
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM texts").fetchone()
    with Store.open(file, patience_s=0.2) as store:
        assert not store.people.delete_speaker("S-014", "withdrawn").finished
        assert not store.people.tombstones()[0].finished
        with pytest.raises(StoreError, match="was deleted"):
            store.people.speaker("S-014")
    reader.close()
    with Store.open(file) as store:
        assert store.people.tombstones()[0].finished
        assert holding(file, SECRET) == []


def test_a_disk_that_fails_after_the_deletion_is_not_said_to_have_deleted_nothing(
    filled: tuple[Store, int, int], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled[0].close()

    def full(database: EmbeddedDatabase) -> bool:
        raise StoreError("the disk is full", where=str(file), hint=SAFE)

    with monkeypatch.context() as patched, Store.open(file) as store:
        patched.setattr(EmbeddedDatabase, "scrub", full)
        with pytest.raises(
            StoreError, match=r"S-014 was deleted, but traces .* disk is full"
        ) as said:
            store.people.delete_speaker("S-014", "withdrawn")
        assert SAFE not in str(said.value)
    with Store.open(file) as store:
        assert store.people.tombstones()[0].finished
        assert holding(file, SECRET) == []


def test_a_file_that_a_killed_program_left_goes_with_the_next_deletion(
    filled: tuple[Store, int, int], file: Path
) -> None:
    store, _, _ = filled
    left = Path(f"{file}.blobs") / "ab" / ("ab" * 32)
    left.parent.mkdir(exist_ok=True)
    left.write_text(SECRET)
    half = Path(f"{file}.blobs") / ".new-1"
    half.write_text(SECRET)
    for path in (left, half):
        os.utime(path, (time.time() - 7200,) * 2)
    store.people.delete_speaker("S-014", "withdrawn")
    assert holding(file, SECRET) == []


def _delete(file: Path) -> None:
    with Store.open(file) as store:
        store.people.delete_speaker("S-014", "withdrawn")


def _deleted_in_a_fork(file: Path, at_call: int = 0, after_s: float = 0.0) -> int:
    """Delete the speaker in a fork that is killed at a call or return, or after some seconds.

    Return the number of calls and returns of a fork that nothing killed, else 0.
    """
    calls = 0
    counted = file.with_name("calls")
    counted.unlink(missing_ok=True)

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls == at_call:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        try:
            if not after_s:
                sys.setprofile(count)
            _delete(file)
            sys.setprofile(None)
            counted.write_text(str(calls))
        finally:
            os._exit(0)
    if after_s:
        time.sleep(after_s)
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return int(counted.read_text() or 0) if counted.exists() else 0


@pytest.mark.crash
def test_killed_at_any_moment_a_deletion_is_whole_or_has_not_begun(
    filled: tuple[Store, int, int], file: Path, tmp_path: Path
) -> None:
    filled[0].close()
    kept = tmp_path / "kept"
    kept.mkdir()
    copy = kept / file.name

    def restore() -> None:
        for path in tmp_path.glob(f"{file.name}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copy(copy, file)
        shutil.copytree(f"{copy}.blobs", f"{file}.blobs")

    def deleted() -> bool:
        """Check that the store is as before the deletion or as after it; say which."""
        with Store.open(file) as store:
            gone = bool(store.people.tombstones())
            if gone:
                assert store.people.tombstones()[0].finished
                assert holding(file, SECRET) == []
            else:
                assert store.people.data_of("S-014")["recordings"] == 3
                for recording in store.people.recordings(1):
                    store.people.recording_path(recording.sha256)
        assert {one.where for one in check(file)} <= {"items"}  # those of tests are made up
        return gone

    shutil.copy(file, copy)
    shutil.copytree(f"{file}.blobs", f"{copy}.blobs")
    _delete(file)  # imports and caches are filled before calls are counted
    assert deleted()
    restore()
    began = time.perf_counter()
    calls = _deleted_in_a_fork(file)
    whole_s = time.perf_counter() - began
    assert calls > KILLS
    assert deleted()
    seen = set()
    for number in range(1, KILLS + 1):
        restore()
        assert _deleted_in_a_fork(file, at_call=number * calls // (KILLS + 1)) == 0
        seen.add(deleted())
    assert seen == {True, False}
    # A kill from outside can also fall inside a call of SQLite.
    generator = random.Random(20261121)
    for _ in range(KILLS):
        restore()
        _deleted_in_a_fork(file, after_s=generator.random() * whole_s)
        deleted()


def test_in_every_kind_of_store_the_rows_of_one_are_gone_and_those_of_others_stay(
    store: Store, folder: Path
) -> None:
    one, other = give(store, "S-014", SECRET, size=2), give(store, "S-015", "innocent")
    both = sound(folder, "both.wav", b"RIFF the same")
    mine = sound(folder, "mine.wav", SECRET.encode())
    for number in (one, other):
        shared = store.people.keep_recording(number, KeptRecording(f"r{number}", 1, 16_000), both)
    gone = store.people.keep_recording(one, KeptRecording("mine", 1, 16_000), mine)
    before = of(store, "S-015", other)
    stone = store.people.delete_speaker("S-014", "retention-ended", who="ada")
    assert store.people.tombstones("S-014") == (stone,)
    assert stone.finished
    assert [each.id for each in store.administrations()] == [other]
    assert of(store, "S-015", other) == before
    assert store.people.recording_path(shared).read_bytes() == b"RIFF the same"
    with pytest.raises(StoreError):
        store.people.recording_path(gone)
    with store.database.reading() as transaction:
        rows = transaction.rows("SELECT text FROM texts")
        assert not any(SECRET in text for (text,) in rows)


def rate(store: Store, number: int, word: str, audio: str, others: int) -> None:
    """A set with the first response of an administration and one of another, both rated."""
    own = Sample(
        1, number, 1, 1, f"{word} text", f"{word} prompt", f"{word} before", f"{word} after",
        f"{word} stratum", audio=AudioCut(audio, 0.5, 1.5),
        picture=f"{word}.png", target=word, consensus={word: 1.0},
    )  # fmt: skip
    samples = (own, Sample(2, others, 1, 1, "innocent text", "asked of both"))
    order = [Assignment(rater, n, n) for rater in ("R1", "R2") for n in (1, 2)]
    kept = store.sets.create(set_plan(f"set-{number}", FORM, "two", samples, tuple(order)))
    for one in order:
        half = SampleRating(one.rater, one.position, one.sample, "rate", {"jargon": 1}, False)
        half = store.sets.rate(kept.id, replace(half, note=word if one.sample == 1 else "plain"))
        store.sets.rate(kept.id, replace(half, complete=True, replaces=half.id))
    for _ in range(2):
        store.sets.adjudicate(kept.id, Adjudication(1, "jargon", 1, f"{word} is said", "ada"))
        store.sets.adjudicate(kept.id, Adjudication(2, "jargon", 0, "settled", "ada"))


def test_no_byte_of_what_raters_saw_and_said_of_a_deleted_speaker_is_left(
    file: Path, tmp_path: Path
) -> None:
    spoken = sound(tmp_path, "mine.wav", f"RIFF {SECRET}".encode())
    with Store.open(file) as store:
        one, other = give(store, "S-014", SECRET), give(store, "S-015", "innocent")
        store.people.keep_recording(one, KeptRecording("mine", 1, 16_000), spoken)
        (recording,) = store.people.recordings(one)
        rate(store, one, SECRET, recording.sha256, other)
        before = store.sets.ratings(1, every=True), store.sets.adjudications(1)
        assert store.people.data_of("S-014")["samples"] == 1
        assert {one.where for one in check(file)} <= {"items"}  # those of tests are made up
        store.people.delete_speaker("S-014", "withdrawn")
        assert holding(file, SECRET) == []
        assert {one.where for one in check(file)} <= {"items"}  # those of tests are made up
        assert [sample.number for sample in store.sets.samples(1)] == [2]
        assert store.sets.ratings(1, every=True) == tuple(
            one for one in before[0] if one.sample == 2
        )
        assert store.sets.adjudications(1) == tuple(one for one in before[1] if one.sample == 2)
        assert [one.position for one in store.sets.assignments(1, "R1")] == [2]
