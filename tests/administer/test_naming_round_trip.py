"""What an annotation export of a naming session carries comes back with the same results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabwb.administer.session import setup
from tabwb.analysis.administrations import load_administrations
from tabwb.host.plugins import Plugins
from tabwb.media.documents.document import export_document
from tabwb.records.conditions import Conditions
from tabwb.records.errors import HeldElsewhere, UsageError
from tabwb.records.naming import RecordingBegan, RecordingEnded
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import (
    NamingImport,
    create_naming,
    import_sessions,
    prepare_sessions,
)
from tabwb.tasks.spoken_naming.task import spoken_in
from tests.administer.naming_parts import heard, naming_battery, shown, take

CUES = """cues = [
  { kind = "stimulus", text = "A thing.", when = "" },
  { kind = "phonemic", text = "It begins so.", when = "", counts = false },
]"""
KEPT = (
    "score", "score_by", "heard", "code", "code_by", "cues", "onset_s", "shown_s", "latency_s",
    "marks", "examiner",
)  # fmt: skip
FORMATS = ["textgrid", "eaf", "chat"]


def given(store: Store, plugins: Plugins, battery: Path, folder: Path) -> None:
    """A session by R1: dog right, cat right after a cue that does not count, tree after another."""
    soundfile = pytest.importorskip("soundfile")
    found = setup.find_battery(plugins, str(battery))
    conditions = Conditions(
        "S-014", "speaker", judges=(), rater="R1", session_date="2026-03-09", origin="human"
    )
    with create_naming(store, plugins, found, setup.resolve(plugins, found, conditions)) as session:
        spoken = spoken_in(session)
        sound = folder / "r1.wav"
        soundfile.write(sound, np.zeros(40 * 16_000, dtype=np.float32), 16_000)
        spoken.keep(None, RecordingBegan("r1", sound.name, "a microphone", 16_000))

        def name(at_s: float, score: Any, said: str, *cues_at: float, mark: bool = False) -> None:
            spoken.show(shown(at_s))
            for cue_at_s in cues_at:
                spoken.cue(cue_at_s)
            if mark:
                spoken.mark(at_s + 3.5)
            spoken.score(score, take=take(at_s, seconds=8.0))
            assert session.current is not None
            spoken.transcribed(session.current.plan.number, 1, heard(*said.split("|")))

        name(0.0, "right", "D AO G", mark=True)
        name(10.0, "right", "K AE T", 11.0, 13.5)
        session.corrections.note("looked away")
        spoken.examiner(16.0, 16.5)
        name(20.0, "right", "T R IY", 22.0)
        name(30.0, "error", "HH AW Z")
        spoken.listening.hear("hows")
        spoken.listening.code("nonword-related")
        spoken.keep(None, RecordingEnded("r1", spoken.recordings.keep("r1", sound), 40.0))
        spoken.show(shown(39.5))


def document(store: Store, number: int) -> dict[str, Any]:
    made = export_document(load_administrations(store, (number,), sound=True))
    (part,) = made["documents"]
    return dict(part)


def _values(trial: dict[str, Any]) -> dict[str, bool | None]:
    return {rule: each["value"] for rule, each in trial["naming"]["verdicts"].items()}


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    (tmp_path / "battery").mkdir()
    return naming_battery(tmp_path / "battery", CUES)


@pytest.mark.parametrize("format_id", FORMATS)
def test_an_exported_session_comes_back_with_the_same_results(
    tmp_path: Path, battery: Path, format_id: str
) -> None:
    plugins = Plugins.load()
    with Store.open(tmp_path / "a.db") as store:
        given(store, plugins, battery, tmp_path)
        before = document(store, 1)
        plugins.exporter(format_id).export(before, tmp_path / "out")
    with Store.open(tmp_path / "b.db") as store:
        request = NamingImport(tmp_path / "out", str(battery))
        prepared = prepare_sessions(plugins, request)
        list(import_sessions(store, plugins, prepared, print))
        after = document(store, 1)
    plugins.close()
    assert after["administration"]["session_date"] == "2026-03-09"
    for old, new in zip(before["trials"], after["trials"], strict=True):
        assert {key: old["naming"][key] for key in KEPT} == {
            key: pytest.approx(new["naming"][key], abs=0.001)
            if key.endswith("_s") and new["naming"][key] is not None
            else new["naming"][key]
            for key in KEPT
        }
        assert old["notes"] == new["notes"]
        assert _values(old) == _values(new)
    assert before["summary"]["subtests"] == after["summary"]["subtests"]
    (lost,) = prepared.notes
    assert "phoneme confidence" in lost


@pytest.mark.parametrize("format_id", FORMATS)
def test_a_cue_of_unknown_time_comes_back_without_a_time(
    tmp_path: Path, battery: Path, format_id: str
) -> None:
    plugins = Plugins.load()
    with Store.open(tmp_path / "a.db") as store:
        given(store, plugins, battery, tmp_path)
        before = document(store, 1)
        cues = [cue for trial in before["trials"] for cue in trial["naming"]["cues"]]
        for cue in (cues[0], cues[2]):
            cue["at_s"] = None
        plugins.exporter(format_id).export(before, tmp_path / "out")
    with Store.open(tmp_path / "b.db") as store:
        prepared = prepare_sessions(plugins, NamingImport(tmp_path / "out", str(battery)))
        list(import_sessions(store, plugins, prepared, print))
        after = document(store, 1)
    plugins.close()
    back = [cue for trial in after["trials"] for cue in trial["naming"]["cues"]]
    assert [(cue["kind"], cue["at_s"]) for cue in back] == [
        ("stimulus", None), ("phonemic", 13.5), ("stimulus", None)
    ]  # fmt: skip


def test_a_cue_that_the_battery_does_not_have_is_refused(tmp_path: Path, battery: Path) -> None:
    plugins = Plugins.load()
    (tmp_path / "utterances.tsv").write_text(
        "utterance_id\tprompt\ttranscript\tcues\nS-014-1-dog\tdog\tD AO G\tphonemic@1 stimulus@2\n"
    )
    with pytest.raises(UsageError, match="'stimulus' is not a cue of 'dog'"):
        prepare_sessions(plugins, NamingImport(tmp_path, str(battery), speaker="S-014"))
    plugins.close()


def test_of_two_imports_at_once_the_second_is_refused(tmp_path: Path, battery: Path) -> None:
    plugins = Plugins.load()
    (tmp_path / "utterances.tsv").write_text(
        "utterance_id\tprompt\ttranscript\nS-014-1-dog\tdog\tD AO G\n", encoding="utf-8"
    )
    request = NamingImport(tmp_path, str(battery), speaker="S-014")
    prepared = prepare_sessions(plugins, request)
    with Store.open(tmp_path / "a.db") as first, Store.open(tmp_path / "a.db") as second:
        begun = import_sessions(first, plugins, prepared, print)
        next(begun)
        with pytest.raises(HeldElsewhere, match="another import"):
            next(import_sessions(second, plugins, prepared, print))
        assert next(begun, None) is None
        with pytest.raises(UsageError, match="in the store already"):
            next(import_sessions(second, plugins, prepared, print))
        assert [one.id for one in second.administrations()] == [1]
    plugins.close()
