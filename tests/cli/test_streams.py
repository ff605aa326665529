"""Commands whose stdin, stdout or stderr is closed, full, gone or of another encoding."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.text import Text

from tabwb.cli.common import print_json
from tabwb.cli.process import LOOK_S, _UnreadKeys, stopping
from tabwb.media.terminal import print_view
from tabwb.records.words import VisibleStream
from tests.cli.conftest import Run, in_process, on_terminal

FULL = Path("/dev/full")
PERSON = ("run", "tab", "--speaker", "S-01", "--research-protocol", "IRB-7")
TABWB = f"{sys.executable} -m tabwb.cli.main"


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell; ``tabwb`` is ours, and the status is that of its last command."""
    return subprocess.run(
        ["bash", "-c", f'tabwb() {{ {TABWB} "$@"; }}; set -o pipefail; {line}'],
        capture_output=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


RUN = ("run", "tab", "--model", "echo", "--judge", "none", "--limit", 1)


def listed(run: Run) -> tuple[str, int]:
    """The status of the one administration in the store, and how many items are answered."""
    (one,) = run("results", "--json").document["administrations"]
    return one["status"], one["answered"]


@pytest.fixture
def unread() -> Iterator[int]:
    """The end of a pipe for writing of which nobody reads the other end."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


def test_a_run_goes_on_when_nobody_reads_its_progress(run: Run, unread: int) -> None:
    assert in_process(RUN, streams={2: unread}).status == 0
    assert listed(run) == ("done", 4)


@pytest.mark.parametrize("closed", [(1,), (2,), (0,), (0, 1, 2)])
def test_a_run_ends_well_when_a_stream_is_closed(run: Run, closed: tuple[int, ...]) -> None:
    assert in_process(RUN, streams=dict.fromkeys(closed)).status == 0
    assert listed(run) == ("done", 4)


def test_a_program_that_begins_without_streams_ends_well() -> None:
    assert shell("tabwb results <&- >&- 2>&-").returncode == 0


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_an_output_that_cannot_be_written_is_said(run: Run) -> None:
    with FULL.open("wb") as full:
        done = in_process([*RUN, "--json"], streams={1: full.fileno()})
        assert done.status == 1
        said = "error: output: cannot be read or written: No space left on device"
        assert said in done.err and "unexpected" not in done.err
        assert listed(run) == ("done", 4)
        # Under stderr it does not end a run.
        assert in_process(RUN, streams={2: full.fileno()}).status == 0


def test_a_reader_that_has_enough_is_no_failure() -> None:
    done = shell("tabwb run tab --model echo --dry-run | head -1")
    assert done.returncode == 0
    # Whether all was written before the reader left is a matter of chance; then the sum is told.
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr


def test_nobody_reads_results_and_that_is_no_failure(run: Run, unread: int) -> None:
    run(*RUN)
    for words in ("results", "results 1 --details", "results --by model"):
        done = in_process(words.split(), streams={1: unread})
        assert (done.status, "Broken" in done.err) == (0, False)


def test_a_paused_administration_is_said_when_nobody_reads_its_results(unread: int) -> None:
    done = in_process([*RUN, "--max-requests", 1], streams={1: unread})
    assert (done.status, "continue with: tabwb resume 1" in done.err) == (3, True)


def test_tables_and_documents_can_be_written_in_any_encoding(run: Run) -> None:
    run(*RUN)
    for encoding, words in (("ascii", "results 1"), ("cp1252", "battery show tab")):
        assert in_process(words.split(), encoding=encoding).status == 0
    document = in_process(["results", 1, "--json"], encoding="cp1252").document
    wanted = run("results", 1, "--json").document["trials"]
    assert "3–5" in wanted[0]["prompt"]
    assert document["trials"] == wanted


def test_typed_bytes_that_are_no_text_are_kept_visibly(run: Run) -> None:
    assert in_process(PERSON, stdin=b"caf\xe9\n\n").status == 3
    assert run("results", 1, "--json").document["trials"][0]["response"] == "caf\\udce9"


def test_a_narrow_terminal_cuts_no_figures_off(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("run", "tab", "--model", "echo")
    for columns in ("0", "1", "40"):
        monkeypatch.setenv("COLUMNS", columns)
        shown = run("results", 1).out
        assert "0.00-0.52" in shown and "Given" in shown


def test_a_current_folder_that_is_gone_is_said() -> None:
    done = shell('d=$(mktemp -d); cd "$d"; rmdir "$d"; tabwb results')
    assert done.returncode == 1
    assert b"error: the current folder: " in done.stderr


HOSTILE = "a\x1b]0;title\x07\x9b31m\r\x08\u202eb"


def controls(written: bytes) -> set[str]:
    """Control sequences and characters, without line ends and our own colours."""
    text = re.sub(r"\r\n|\r\x1b\[K|\x1b\[[\d;]*m", "\n", written.decode())
    return set(text) & {"\x1b", "\x07", "\x9b", "\r", "\x08", "\u202e"}


@pytest.mark.parametrize(
    "command",
    [
        ("transcribe", HOSTILE),
        ("battery", "show", HOSTILE),
        ("judge", "show", HOSTILE),
        ("model", "test", HOSTILE),
        ("store", "info", "--store", f"/none/{HOSTILE}"),
        (HOSTILE,),
    ],
)
def test_arguments_cannot_steer_the_terminal(command: tuple[str, ...]) -> None:
    written = on_terminal(*command)
    assert not controls(written)
    assert b"title" in written


@pytest.mark.parametrize("more", [(), ("--json",), ("--details",)])
def test_replies_cannot_steer_the_terminal(
    run: Run, tmp_path: Path, battery_file: Path, more: tuple[str, ...]
) -> None:
    shown = ("results", "1", *more)
    replies = tmp_path / f"{HOSTILE.replace('/', '')}.jsonl"
    replies.write_text(
        "".join(
            json.dumps({"subtest": "words", "item": item, "response": HOSTILE}) + "\n"
            for item in ("w1", "w2")
        ),
        encoding="utf-8",
    )
    run("run", str(battery_file), "--model", f"replay:{replies}", status=None)
    written = on_terminal(*shown)
    assert written
    assert not controls(written)


def test_json_keeps_what_it_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": HOSTILE})
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert json.loads(printed) == {"text": HOSTILE}


def test_a_table_shows_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    below = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", VisibleStream(below, encoding="utf-8"))
    print_view(Text(HOSTILE))
    sys.stdout.flush()
    assert below.getvalue().decode().startswith(r"a\x1b]0;title\x9b31m")


REF = "utterance_id\ttranscript\nu1\tD AO G\n"
HYP = "utterance_id\tasr_transcript\nu1\tD AO G\n"


def test_an_export_goes_to_standard_output_and_back_in(run: Run, battery_file: Path) -> None:
    run("run", battery_file, "--model", "echo", "--judge", "none")
    written = in_process(["export", 1, "--out", "-"])
    assert written.status == 0
    lines = [json.loads(line) for line in written.out.splitlines()]
    assert [line["item"] for line in lines] == ["w1", "w2", "s1"]
    assert not Path("-").exists()
    again = in_process(
        ["run", battery_file, "--model", "replay:-", "--judge", "none", "--json"], stdin=written.out
    )
    assert again.status == 0, again.err
    document = json.loads(again.out)
    assert document["administration"]["model"] == "replay:-"
    assert [one["response"] for one in document["trials"]] == [line["response"] for line in lines]


def test_dev_stdout_is_standard_output(run: Run, battery_file: Path, tmp_path: Path) -> None:
    run("run", battery_file, "--model", "echo", "--judge", "none")
    out = tmp_path / "redirected.csv"
    with out.open("wb") as file:  # a regular file that exists already
        words = ("export", 1, "--format", "csv", "--out", "/dev/stdout")
        done = in_process(words, streams={1: file.fileno()})
    assert done.status == 0, done.err
    assert out.read_text("utf-8").startswith("administration,")


def test_an_export_to_a_terminal_escapes_what_was_answered(
    run: Run, battery_file: Path, tmp_path: Path
) -> None:
    run("run", battery_file, "--model", "echo", "--judge", "none")
    answers = tmp_path / "answers.jsonl"
    run("export", 1, "--out", answers)
    lines = [json.loads(line) for line in answers.read_text("utf-8").splitlines()]
    said = "a\x1b]0;title\x07\x9b31m\u202eb"
    changed = [json.dumps({**line, "response": said}) for line in lines]
    answers.write_text("\n".join(changed), "utf-8")
    run("run", battery_file, "--model", f"replay:{answers}", "--judge", "none")
    for form in ("jsonl", "csv"):
        shown = on_terminal("export", "2", "--format", form, "--out", "-", status=0).decode()
        assert "]0;title" in shown
        assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}
        if form == "jsonl":
            assert json.loads(shown.splitlines()[0])["response"] == said


def test_a_folder_cannot_go_to_standard_output(run: Run, battery_file: Path) -> None:
    run("run", battery_file, "--model", "echo", "--judge", "none")
    run("export", 1, "--format", "chat", "--out", "-", status=2, err="makes a folder")


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


def begun(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tabwb.cli.main", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until_shown(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"'{text}' was never shown")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_pauses_what_a_person_answers(run: Run, number: signal.Signals) -> None:
    process = begun(*PERSON)
    assert process.stdin is not None
    process.stdin.write("It was fine.\n\n")
    process.stdin.flush()
    wait_until_shown(process, "item 2/20")
    time.sleep(0.2)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert "administration 1 is paused: stopped by the user" in errors
    document = run("results", 1, "--json").document
    assert document["administration"]["status"] == "paused"
    assert document["trials"][0]["response"] == "It was fine."


def test_a_terminal_that_is_gone_pauses(run: Run) -> None:
    process = begun(*PERSON)
    assert process.stdin is not None
    assert process.stdout is not None
    wait_until_shown(process, "item 1/20")
    process.stdout.close()
    process.stdin.write("It was fine.\n\n")
    process.stdin.flush()
    assert process.wait(timeout=60) == 3
    assert run("results", 1, "--json").document["administration"]["status"] == "paused"


def test_a_signal_that_was_ignored_from_the_start_stays_ignored() -> None:
    earlier = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        cancel = threading.Event()
        with stopping(cancel):
            os.kill(os.getpid(), signal.SIGHUP)
            assert not cancel.is_set()
            os.kill(os.getpid(), signal.SIGTERM)
            assert cancel.is_set()
    finally:
        signal.signal(signal.SIGHUP, earlier)


def test_an_answer_of_many_lines_may_begin_with_a_colon(run: Run) -> None:
    run(*PERSON, stdin="::first line\nsecond line\n\n:pause\n", status=3)
    trials = run("results", 1, "--json").document["trials"]
    assert [trial["response"] for trial in trials[:2]] == [":first line\nsecond line", None]


def test_a_terminal_at_its_end_is_not_looked_at_all_the_time() -> None:
    master, terminal = pty.openpty()
    try:
        keys = _UnreadKeys(terminal)
        assert keys.looks_in_s(0.0) is None
        keys.look(0.0)
        assert keys.looks_in_s(0.0) == LOOK_S
        keys.look(LOOK_S)
        assert keys.looks_in_s(LOOK_S) is None
    finally:
        os.close(master)
        os.close(terminal)


def test_a_terminal_that_another_program_has_is_left_as_it_is() -> None:
    master, terminal = pty.openpty()
    try:
        keys = _UnreadKeys(terminal)
        tty.setraw(terminal)
        modes = termios.tcgetattr(terminal)
        keys.restore()
        assert termios.tcgetattr(terminal) == modes
    finally:
        os.close(master)
        os.close(terminal)


def test_memory_missing_in_a_finalizer_is_not_told() -> None:
    code = (
        "import sys\n"
        "from tabwb.cli import process\n"
        "class Late:\n"
        "    def __init__(self, error): self.error = error\n"
        "    def __del__(self): raise self.error\n"
        "process.prepare(); process.prepare()\n"
        "Late(MemoryError()); Late(ValueError('told'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 1)
    assert "ValueError: told" in done.stderr
