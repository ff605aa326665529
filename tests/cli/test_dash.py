"""``-`` names standard input and standard output."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.cli.conftest import Run, in_process

REF = "utterance_id\ttranscript\nu1\tD AO G\n"
HYP = "utterance_id\tasr_transcript\nu1\tD AO G\n"


def test_an_export_goes_to_standard_output_and_back_in(run: Run, battery_file: Path) -> None:
    assert run("run", battery_file, "--model", "echo", "--judge", "none").status == 0
    written = in_process(["export", 1, "--out", "-"])
    assert written.status == 0
    lines = [json.loads(line) for line in written.out.splitlines()]
    assert [line["item"] for line in lines] == ["w1", "w2", "s1"]
    assert not Path("-").exists()
    again = in_process(
        ["run", battery_file, "--model", "replay:-", "--judge", "none", "--json"],
        stdin=written.out,
    )
    assert again.status == 0, again.err
    document = json.loads(again.out)
    assert document["administration"]["model"] == "replay:-"
    assert [one["response"] for one in document["trials"]] == [line["response"] for line in lines]


def test_dev_stdout_is_standard_output(run: Run, battery_file: Path, tmp_path: Path) -> None:
    assert run("run", battery_file, "--model", "echo", "--judge", "none").status == 0
    out = tmp_path / "redirected.csv"
    with out.open("wb") as file:  # a regular file that exists already
        done = subprocess.run(
            [sys.executable, "-m", "tabwb.cli.main", "export", "1", "--format", "csv",
             "--out", "/dev/stdout"],
            stdout=file, stderr=subprocess.PIPE, timeout=120,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert out.read_text("utf-8").startswith("administration,")


def test_an_export_to_a_terminal_escapes_what_was_answered(
    run: Run, battery_file: Path, tmp_path: Path
) -> None:
    assert run("run", battery_file, "--model", "echo", "--judge", "none").status == 0
    answers = tmp_path / "answers.jsonl"
    assert run("export", 1, "--out", answers).status == 0
    lines = [json.loads(line) for line in answers.read_text("utf-8").splitlines()]
    said = "a\x1b]0;title\x07\x9b31m\u202eb"
    changed = [json.dumps({**line, "response": said}) for line in lines]
    answers.write_text("\n".join(changed), "utf-8")
    replayed = run("run", battery_file, "--model", f"replay:{answers}", "--judge", "none")
    assert replayed.status == 0
    for form in ("jsonl", "csv"):
        shown = _on_a_terminal("export", "2", "--format", form, "--out", "-")
        assert "]0;title" in shown
        assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}
        if form == "jsonl":
            assert json.loads(shown.splitlines()[0])["response"] == said


def _on_a_terminal(*arguments: str) -> str:
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, [sys.executable, "-m", "tabwb.cli.main", *arguments])
    shown = b""
    with suppress(OSError):  # the terminal goes with the program
        while piece := os.read(terminal, 65536):
            shown += piece
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0, shown
    return shown.decode("utf-8")


def test_a_folder_cannot_go_to_standard_output(run: Run, battery_file: Path) -> None:
    assert run("run", battery_file, "--model", "echo", "--judge", "none").status == 0
    outcome = run("export", 1, "--format", "chat", "--out", "-")
    assert outcome.status == 2
    assert "makes a folder" in outcome.err


def test_a_battery_is_checked_from_standard_input(battery_file: Path) -> None:
    text = battery_file.read_text("utf-8")
    assert in_process(["battery", "check", "-"], stdin=text).status == 0
    wrong = in_process(["battery", "check", "-", "--json"], stdin=text.replace("title", "titel", 1))
    assert wrong.status == 1
    (problem, *_) = json.loads(wrong.out)["problems"]
    assert (problem["file"], problem["line"]) == ("-", 4)


def test_a_table_of_phonemes_comes_from_standard_input(tmp_path: Path) -> None:
    ref, hyp = tmp_path / "ref.tsv", tmp_path / "hyp.tsv"
    ref.write_text(REF, encoding="utf-8")
    hyp.write_text(HYP, encoding="utf-8")
    for arguments, stdin in ((["-", hyp], REF), ([ref, "-"], HYP)):
        outcome = in_process(["phonemes", *arguments, "--json"], stdin=stdin)
        assert outcome.status == 0, outcome.err
    assert in_process(["phonemes", "-", "-"], stdin=REF).status == 2
