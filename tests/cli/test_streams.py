"""Commands whose stdin, stdout or stderr is closed, full, gone or of another encoding."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from rich.text import Text

from tabwb.cli.common import print_json
from tabwb.media.terminal import print_view
from tabwb.records.words import VisibleStream
from tests.cli.conftest import Run

FULL = Path("/dev/full")
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


def test_a_run_goes_on_when_nobody_reads_its_progress(run: Run) -> None:
    done = shell(
        "{ tabwb run tab --model echo@delay=0.001 2>&1 >/dev/null; echo $? >&3; } 3>&2 | :"
    )
    assert done.stderr.strip() == b"0"
    (listed,) = run("results", "--json").document["administrations"]
    assert (listed["status"], listed["answered"]) == ("done", 20)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_run_ends_well_when_a_stream_is_closed(run: Run, closed: str) -> None:
    assert shell(f"tabwb run tab --model echo {closed}").returncode == 0
    (listed,) = run("results", "--json").document["administrations"]
    assert listed["status"] == "done"


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_an_output_that_cannot_be_written_is_said(run: Run) -> None:
    done = shell("tabwb run tab --model echo --json > /dev/full")
    assert done.returncode == 1
    assert b"error: output: cannot be read or written: No space left on device" in done.stderr
    assert b"unexpected" not in done.stderr
    (listed,) = run("results", "--json").document["administrations"]
    assert listed["status"] == "done"


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_disk_under_stderr_does_not_end_a_run() -> None:
    assert shell("tabwb run tab --model echo 2> /dev/full").returncode == 0


def test_a_reader_that_has_enough_is_no_failure() -> None:
    done = shell("tabwb run tab --model echo --dry-run | head -1")
    assert done.returncode == 0
    # Whether all was written before the reader left is a matter of chance; then the sum is told.
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr


def test_a_paused_administration_is_said_when_nobody_reads_its_results(tmp_path: Path) -> None:
    replayed = tmp_path / "one.jsonl"
    line = {"subtest": "connected-text", "item": "ct1", "replicate": 0, "response": "It was fine."}
    replayed.write_text(json.dumps(line), encoding="utf-8")
    done = shell(f"tabwb run tab --model replay:{replayed} | :")
    assert done.returncode == 3
    assert b"continue with: tabwb resume 1" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_tables_and_documents_can_be_written_in_any_encoding(run: Run, encoding: str) -> None:
    run("run", "tab", "--model", "echo")
    for line in ("tabwb results 1", "tabwb results", "tabwb battery show tab"):
        assert shell(line, PYTHONIOENCODING=encoding).returncode == 0
    document = shell("tabwb results 1 --json", PYTHONIOENCODING=encoding).stdout
    wanted = run("results", 1, "--json").document["trials"]
    assert "3–5" in wanted[0]["prompt"]
    assert json.loads(document.decode("utf-8"))["trials"] == wanted


def test_typed_bytes_that_are_no_text_are_kept_visibly(run: Run) -> None:
    done = shell(
        r"printf 'caf\xe9\n\n' | tabwb run tab --speaker S-01 --research-protocol IRB-7",
        PYTHONIOENCODING="utf-8:strict",
    )
    assert done.returncode == 3
    assert run("results", 1, "--json").document["trials"][0]["response"] == "caf\\udce9"


@pytest.mark.parametrize("columns", ["0", "1", "40"])
def test_a_narrow_terminal_cuts_no_figures_off(run: Run, columns: str) -> None:
    run("run", "tab", "--model", "echo")
    shown = shell("tabwb results 1", COLUMNS=columns).stdout.decode("utf-8")
    assert "0.00-0.52" in shown
    assert "5 given" in shown


def test_a_current_folder_that_is_gone_is_said() -> None:
    done = shell('d=$(mktemp -d); cd "$d"; rmdir "$d"; tabwb results')
    assert done.returncode == 1
    assert b"error: the current folder: " in done.stderr


HOSTILE = "a\x1b]0;title\x07\x9b31m\r\x08\u202eb"


def on_terminal(*arguments: str) -> bytes:
    """Run a command on its own terminal; everything it wrote there."""
    pid, master = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "tabwb.cli.main", *arguments])
    written = b""
    with suppress(OSError):
        while part := os.read(master, 65536):
            written += part
    os.waitpid(pid, 0)
    os.close(master)
    return written


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
    run("run", str(battery_file), "--model", f"replay:{replies}")
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
