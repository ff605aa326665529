"""Exports name files without their folders, which can bear a person's name."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from tests.administer.naming_parts import naming_battery
from tests.cli.conftest import Run

CLIP = Path(__file__).parents[1] / "data" / "speech" / "dog_d1a4fb3f_0.flac"


@pytest.fixture
def folders(run: Run, tmp_path: Path) -> list[Path]:
    """Two folders with recorded answers in files of one name, each given as a model."""
    assert run("run", "tab", "--model", "echo").status == 0
    assert run("export", 1, "--out", tmp_path / "answers.jsonl").status == 0
    folders = [tmp_path / "ada-lovelace", tmp_path / "grace-hopper"]
    for folder in folders:
        folder.mkdir()
        shutil.copy(tmp_path / "answers.jsonl", folder)
        given = run("run", "tab", "--model", f"replay:{folder}/answers.jsonl@origin=model")
        assert given.status == 0, given.err
    return folders


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_of_two_files_of_one_name(run: Run, folders: list[Path], tmp_path: Path, name: str) -> None:
    out = tmp_path / f"out.{name}"
    assert run("export", 1, 2, 3, "--format", name, "--out", out).status == 0
    for written in tmp_path.glob("out*"):
        text = written.read_text(encoding="utf-8")
        assert not any(folder.name in text for folder in folders), written
    if name == "csv":
        with out.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    else:
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert list(dict.fromkeys(row["examinee"] for row in rows)) == [
        "echo",
        "replay:answers.jsonl@origin=model",
        "replay:answers.jsonl@origin=model (2)",
    ]
    # The store keeps what was given.
    stored = run("results", 2, "--json").document["administration"]["examinee"]
    assert stored == f"replay:{folders[0]}/answers.jsonl@origin=model"


def test_of_a_table_of_groups(run: Run, folders: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "groups.csv"
    assert run("results", "--by", "model", "--csv", out).status == 0
    for written in tmp_path.glob("groups*"):
        text = written.read_text(encoding="utf-8")
        assert not any(folder.name in text for folder in folders), written
    assert "replay:answers.jsonl@origin=model (2)" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["csv", "jsonl", "chat", "psst", "attempts"])
def test_of_a_typed_transcript(run: Run, tmp_path: Path, name: str) -> None:
    pytest.importorskip("soundfile")
    sounds, typed = tmp_path / "sounds", tmp_path / "ada-lovelace" / "typed.tsv"
    for folder in (sounds, typed.parent, tmp_path / "battery"):
        folder.mkdir()
    shutil.copy(CLIP, sounds / "dog.flac")
    typed.write_text("utterance_id\ttranscript\ndog\tD AO G\n", encoding="utf-8")
    battery = naming_battery(tmp_path / "battery")
    named = run(
        *("name", battery, "--speaker", "S-014", "--input", sounds),
        *("--transcriber", f"manual:{typed}", "--date", "2026-03-09"),
    )
    assert named.status == 3, named.err  # three items have no sound
    out = tmp_path / "out"
    done = run("export", 1, "--format", name, "--within-study", "--out", out)
    assert done.status == 0, done.err
    files = [out] if out.is_file() else [each for each in out.rglob("*") if each.is_file()]
    assert files
    assert not any(b"ada-lovelace" in each.read_bytes() for each in files)
