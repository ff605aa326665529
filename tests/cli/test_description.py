"""Descriptions on the command line: answered by a model, typed, and recorded."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tabwb.administer.session import setup
from tabwb.battery.loader import load_battery
from tabwb.cli.naming import _command as type_key
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.speakers import Consent
from tabwb.records.words import SPEECH_CAUTION
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import create_naming
from tabwb.tasks.spoken_naming.live import Live
from tests.builders import recordings
from tests.cli.conftest import Run
from tests.tasks.description_parts import WORDS, description_battery, plugin_folder
from tests.workbench.naming_seat import PlayedSource


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    return description_battery(tmp_path / "battery")


def test_a_model_describes_what_it_is_asked(run: Run, tmp_path: Path) -> None:
    path = description_battery(tmp_path / "text", picture=False)
    outcome = run("run", path, "--model", "echo", "--json")
    assert [trial["prompt"] for trial in outcome.document["trials"]] == [
        "Tell me about it.\nDescribe your kitchen.",
        "Tell me about it.\nDescribe your morning.",
    ]
    assert SPEECH_CAUTION not in outcome.document["notices"]  # nothing was said aloud


def test_a_model_is_refused_pictures(run: Run, battery: Path) -> None:
    run("run", battery, "--model", "echo", status=2, err="not made for models")


def test_a_person_types(run: Run, battery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{WORDS}\nand she\n\nI got up.\n\n"))
    outcome = run("run", battery, "--speaker", "S-014", "--json")
    assert [trial["response"] for trial in outcome.document["trials"]] == [
        f"{WORDS}\nand she",
        "I got up.",
    ]
    assert "kitchen.png" in outcome.err


def test_recordings_are_transcribed_corrected_and_judged(
    run: Run, battery: Path, tmp_path: Path
) -> None:
    pytest.importorskip("soundfile")
    run("plugins", "trust", plugin_folder(tmp_path / "writes"))
    sounds = recordings(tmp_path / "sounds", "kitchen", "morning")
    outcome = run(
        *("name", battery, "--speaker", "S-014", "--input", sounds),
        *("--transcriber", "writes-words", "--json"),
    )
    document = outcome.document
    assert document["administration"]["status"] == "done"
    assert [trial["response"] for trial in document["trials"]] == [WORDS, WORDS]
    assert all(trial["description"]["recording"] for trial in document["trials"])
    assert [judge["rater"] for judge in document["summary"]["judges"]] == ["rules-2"]

    heard = run("trial", "heard", "1", "morning", "I got up late")
    assert (heard.status, heard.err) == (0, "heard 'I got up late' kept\n")
    document = run("results", "1", "--json").document
    assert document["trials"][1]["response"] == "I got up late"
    (exported,) = [
        line for line in _export(run, tmp_path).splitlines() if '"item":"morning"' in line
    ]
    assert "I got up late" in exported


def test_formats_of_naming_are_refused_for_descriptions(
    run: Run, battery: Path, tmp_path: Path
) -> None:
    pytest.importorskip("soundfile")
    sounds = recordings(tmp_path / "sounds", "kitchen")
    run("name", battery, "--speaker", "S-014", "--input", sounds, "--transcriber", "none", status=3)
    out = tmp_path / "exported"
    for name in ("textgrid", "eaf", "chat", "psst"):
        words = ("--format", name, "--out", out, "--within-study")
        run("export", "1", *words, status=1, err="no spoken naming was recorded")
        assert not out.exists()


def test_who_hears_no_words_leaves_the_text_to_a_person(
    run: Run, battery: Path, tmp_path: Path
) -> None:
    pytest.importorskip("soundfile")
    sounds = recordings(tmp_path / "sounds", "kitchen", "morning")
    outcome = run(
        *("name", battery, "--speaker", "S-014", "--input", sounds, "--transcriber", "none")
    )
    assert "no text yet: kitchen, morning" in outcome.err
    assert "tabwb trial heard 1" in outcome.err
    run("trial", "score", "1", "morning", "right", status=1, err="takes no score")


def test_keys_of_the_terminal_end_and_correct_a_description(
    battery: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("soundfile")
    plugins = Plugins.load()
    with Store.open(tmp_path / "keys.db") as store:
        store.people.keep_consents([Consent("S-014", "record", True, "2026-11-01")])
        found = load_battery(battery)
        conditions = setup.resolve(plugins, found, Conditions("S-014", "speaker", judges=()))
        with create_naming(store, plugins, found, conditions) as session:
            live = Live(session, PlayedSource)
            live.ready()
            type_key(live, "")
            assert "item 1/2  kitchen  (picture kitchen.png)" in capsys.readouterr().err
            assert isinstance(live.source, PlayedSource)
            live.source.say("house")
            with pytest.raises(TabwbError, match="takes no score"):
                type_key(live, "3")
            type_key(live, "")
            assert "h TEXT" in capsys.readouterr().err
            assert not session.awaiting
            type_key(live, "h a house by a river")
            type_key(live, "")
            assert "morning  Describe your morning." in capsys.readouterr().err
            live.source.say("bed")
            type_key(live, "1")
            live.end()
            first, second = (trial.counting for trial in session.trials)
    plugins.close()
    assert first is not None
    assert (first.response, first.latency_s is None) == ("a house by a river", False)
    assert second is not None
    assert second.metadata["cause"] == "not transcribed yet"


def _export(run: Run, folder: Path) -> str:
    out = folder / "out.jsonl"
    run("export", "1", "--format", "jsonl", "--out", out)
    return out.read_text(encoding="utf-8").replace('": "', '":"')
