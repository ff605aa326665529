"""Naming from the command line: tables that are wrong, kinds of no response, shared audio."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.administer.naming_parts import naming_battery
from tests.cli.conftest import Run

pytest.importorskip("soundfile")
CLIP = Path(__file__).parents[1] / "data" / "speech" / "dog_d1a4fb3f_0.flac"


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    for name in ("battery", "sounds"):
        (tmp_path / name).mkdir()
    shutil.copy(CLIP, tmp_path / "sounds" / "dog.flac")
    return naming_battery(tmp_path / "battery")


def _name(run: Run, battery: Path, speaker: str, transcriber: str = "none") -> object:
    sounds = battery.parent.parent / "sounds"
    return run(
        *("name", battery, "--speaker", speaker, "--input", sounds, "--transcriber", transcriber)
    )


@pytest.mark.parametrize("text", ["utterance_id\ttranscript\ndog\tD QQ G\n", "file\twords\n", None])
def test_a_bad_table_of_transcripts_begins_nothing(
    run: Run, battery: Path, tmp_path: Path, text: str | None
) -> None:
    table = tmp_path / "typed.tsv"
    if text is not None:
        table.write_text(text, encoding="utf-8")
    refused = _name(run, battery, "S-014", f"manual:{table}")
    assert refused.status in {1, 2}  # type: ignore[attr-defined]
    assert "typed.tsv" in refused.err  # type: ignore[attr-defined]
    assert not run("results", "--json").document["administrations"]


@pytest.mark.parametrize(
    ("score", "reason", "status"),
    [
        ("no-response", "bored", 2),
        ("no-response", "silent", 0),
        ("no-response", "", 0),
        ("right", "bored", 2),
        ("not-scorable", "a car passed", 0),
    ],
)
def test_a_reason_is_one_that_is_allowed(
    run: Run, battery: Path, score: str, reason: str, status: int
) -> None:
    _name(run, battery, "S-014")
    said = run("trial", "score", "1", "dog", score, *(("--reason", reason) if reason else ()))
    assert said.status == status, said.err
    if reason == "bored" and score == "no-response":
        assert "silent, dont-know, refused" in said.err
    kept = run("results", "1", "--json").document["trials"][0]["naming"]["score"]
    assert kept == (score if status == 0 else None)


def test_a_deletion_says_which_audio_another_id_keeps(run: Run, battery: Path) -> None:
    _name(run, battery, "S-014")
    _name(run, battery, "S-015")
    gone = run("speaker", "delete", "S-014", "--reason", "other", "--yes", "--json")
    assert gone.status == 0, gone.err
    assert "1 recording that S-015 has too will be kept" in gone.err
    assert [one["also_of"] for one in gone.document["kept_recordings"]] == ["S-015"]
    last = run("speaker", "delete", "S-015", "--reason", "other", "--yes")
    assert "will be kept" not in last.err
