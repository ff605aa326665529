"""A disk that fills up in the middle: what was kept stays, and the rest follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.administer.naming_parts import naming_battery
from tests.builders import recordings, small_files
from tests.cli.conftest import Run

soundfile = pytest.importorskip("soundfile")
LARGEST = 1_500_000
"""Bytes of the largest file that can be written, as if the disk had no more room."""


def on_a_full_disk(run: Run, *words: object) -> str:
    """Run a command that fails for want of room; what it said."""
    with small_files(LARGEST):
        outcome = run(*words, status=1)
    assert outcome.status == 1
    assert "a defect in tabwb" not in outcome.err
    assert "free some space" in outcome.err
    return outcome.err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Dog, and a cat for which there is no room."""
    made = recordings(tmp_path / "sounds", "dog")
    noise = np.random.default_rng(1).normal(0, 0.1, LARGEST).astype(np.float32)
    soundfile.write(made / "cat.wav", noise, 16_000)
    return made


def test_what_was_taken_up_stays_and_the_rest_follows(
    run: Run, tmp_path: Path, folder: Path
) -> None:
    words = ["name", naming_battery(tmp_path), "--speaker", "S-014", "--input", folder]
    words += ["--transcriber", "none"]
    assert "continue with: tabwb name" in on_a_full_disk(run, *words)
    assert run("results", "1", "--json").document["administration"]["answered"] == 1
    run(*words, "--resume", "1", status=3)
    document = run("results", "1", "--json").document
    assert document["administration"]["answered"] == 2
    assert len(document["recordings"]) == 2


def test_a_session_is_imported_whole_or_not_at_all_and_the_same_import_then_stores_it(
    run: Run, tmp_path: Path, folder: Path
) -> None:
    (folder / "utterances.tsv").write_text(
        "utterance_id\tprompt\ttranscript\tfilename\n"
        "u-1\tdog\tD AO G\tdog.flac\nu-2\tcat\tK AE T\tcat.wav\n",
        encoding="utf-8",
    )
    words = ["import", folder, "--battery", naming_battery(tmp_path), "--speaker", "S-014"]
    on_a_full_disk(run, *words)
    assert run("results", "--json").document["administrations"] == []
    run(*words)
    (given,) = run("results", "--json").document["administrations"]
    assert given["answered"] == 2
    assert len(run("results", "1", "--json").document["recordings"]) == 2
    run(*words, status=2, err="in the store already: administration 1")
    run(*words, "--again")
    assert len(run("results", "--json").document["administrations"]) == 2
