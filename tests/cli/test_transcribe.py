"""``tabwb transcribe``, with the bundled model and recorded words."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.builders import DOG, SPEECH, needs, typed_table
from tests.cli.conftest import Run

needs("torch", "transformers", "soundfile", "pyloudnorm")
UP = SPEECH / "up_189cbabe_0.flac"
SILENCE = SPEECH / "silence_1037.flac"


def typed(folder: Path, *names: str) -> str:
    """A transcriber that needs no model: what a person typed."""
    return f"manual:{typed_table(folder / 'typed.tsv', **dict.fromkeys(names, 'D AO G'))}"


@pytest.mark.usefixtures("here")
def test_the_bundled_model_hears_recorded_words(run: Run) -> None:
    outcome = run("transcribe", DOG, UP, "--json")
    document = outcome.document
    assert document["format"] == 1
    for entry, path in zip(document["files"], (DOG, UP), strict=True):
        assert set(entry) == {*("file", "phonemes", "segments", "transcriber", "seconds", "status")}
        assert (entry["file"], entry["transcriber"]) == (str(path), "bundled-words")
        assert entry["status"] == "ok"
        assert entry["seconds"] == pytest.approx(1.0, abs=0.1)
        assert [each["phoneme"] for each in entry["segments"]] == entry["phonemes"] != []
        for each in entry["segments"]:
            assert set(each) == {"phoneme", "start_s", "end_s", "confidence"}
            assert 0 <= each["start_s"] < each["end_s"] <= entry["seconds"] + 0.03
            assert 0 < each["confidence"] <= 1
    assert "tends to transcribe any sound as one of them" in outcome.err


@pytest.mark.usefixtures("here")
def test_the_likelihood_of_the_right_word_is_told_where_asked(run: Run) -> None:
    def told(*forms: str) -> list[float]:
        asked = [word for form in forms for word in ("--accept", form)]
        files = run("transcribe", DOG, UP, "--json", *asked).document["files"]
        return [entry["accepted_likelihood"] for entry in files]

    right, wrong = told("D AO G")
    assert right > wrong + 2
    either, _ = told("HH AW S", "dɔɡ")  # the other word adds nothing
    assert either == pytest.approx(right, abs=1e-4)
    run("transcribe", DOG, "--accept", "D QQ", status=2, err="QQ")


def test_one_bad_file_does_not_stop_the_others(run: Run, tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("no sound")
    spec = typed(tmp_path, DOG.stem)
    missing = tmp_path / "gone.wav"
    outcome = run(
        "transcribe", missing, tmp_path / "text.wav", DOG, "--transcriber", spec, "--json", status=1
    )
    found = {Path(each["file"]).name: each for each in outcome.document["files"]}
    assert found["gone.wav"]["status"] == found["text.wav"]["status"] == "error"
    assert "not there" in found["gone.wav"]["error"]
    assert found[DOG.name]["phonemes"] == ["D", "AO", "G"]
    assert found[DOG.name]["status"] == "ok"


def test_folders_are_looked_through_and_printed_in_order(run: Run, tmp_path: Path) -> None:
    spec = typed(tmp_path, *(path.stem for path in SPEECH.glob("*.flac")))
    outcome = run("transcribe", SPEECH, "--transcriber", spec)
    lines = outcome.out.splitlines()
    assert [line.split("  ")[0] for line in lines] == sorted(map(str, SPEECH.glob("*.flac")))
    assert lines[0].endswith("D AO G  /dɔɡ/")


def test_two_files_of_one_id_are_no_table(run: Run, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "dog.flac").write_bytes(DOG.read_bytes())
    spec = typed(tmp_path, "dog")
    words = ("transcribe", tmp_path / "one", tmp_path / "two", "--transcriber", spec)
    refused = run(*words, "--tsv", status=2)
    assert (refused.status, refused.out) == (2, "")
    assert f"one utterance_id: {tmp_path / 'one' / 'dog.flac'}" in refused.err
    assert len(run(*words, "--json").document["files"]) == 2


def test_what_is_printed_as_tsv_is_read_by_phonemes(run: Run, tmp_path: Path) -> None:
    spec = typed(tmp_path, DOG.stem)
    outcome = run("transcribe", DOG, "--transcriber", spec, "--tsv")
    assert outcome.out == f"utterance_id\tasr_transcript\n{DOG.stem}\tD AO G\n"
    hypotheses = tmp_path / "hyp.tsv"
    hypotheses.write_text(outcome.out, encoding="utf-8")
    scored = run("phonemes", tmp_path / "typed.tsv", hypotheses, "--json")
    assert scored.document["per"] == 0.0


def test_conditioned_copies_are_kept_where_asked(run: Run, tmp_path: Path) -> None:
    from tabwb.speech.files import info

    spec = typed(tmp_path, DOG.stem)
    kept = tmp_path / "kept"
    for _ in range(2):
        run("transcribe", DOG, "--transcriber", spec, "--keep-conditioned", kept)
    assert sorted(path.name for path in kept.iterdir()) == [f"{DOG.stem}-2.wav", f"{DOG.stem}.wav"]
    assert (info(kept / f"{DOG.stem}.wav").rate, info(kept / f"{DOG.stem}.wav").channels) == (
        16000,
        1,
    )


def test_ctrl_c_prints_what_is_done_and_says_what_is_left(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "tabwb.cli.main", "transcribe", str(DOG), str(SILENCE)]
    process = subprocess.Popen(
        [*command, "--transcriber", f"manual:/dev/fd/{reading}", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[reading],
    )
    with os.fdopen(writing, "w") as table:
        table.write("utterance_id\ttranscript\n")
        table.flush()
        while select.select([reading], [], [], 0)[0]:  # until the other side has read it
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        table.write(f"{DOG.stem}\tD AO G\n{SILENCE.stem}\t\n")
    os.close(reading)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert json.loads(out) == {"format": 1, "files": []}
    assert "stopping" in err and "2 files left" in err
