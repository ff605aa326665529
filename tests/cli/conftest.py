"""Running commands: in this process for speed, in their own process where that matters."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tabwb.battery.loader import load_battery
from tabwb.cli.main import main
from tests import builders


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on stdout; NaN is refused."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


Run = Callable[..., Outcome]
ANSWERS = (
    "We drove to the sea with my sister and came home late.",
    "I sold bread in a small shop near the station for two years.",
    "My parents live in the north, and my brother has three children.",
    "The winter was long, so we read books and played cards in the kitchen.",
    "First I boil the water, then I add the rice and some salt.",
)
"""Usable answers to the five connected texts of ``tab``."""
TAB = builders.TAB
STREAMS = ("stdin", "stdout", "stderr")


def replayed(path: Path, *, wrong: str = "nothing of the kind") -> str:
    """The spec of a model that gives the answers of a file, which is written."""
    lines = []
    texts = iter(ANSWERS)
    for subtest in load_battery(TAB).subtests:
        for item in subtest.items:
            said = next(texts) if subtest.id == "connected-text" else f"{wrong} ({item.id})"
            answer = {
                "subtest": subtest.id,
                "item": item.id,
                "replicate": 0,
                "origin": "model",
                "response": said,
            }
            lines.append(json.dumps(answer) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return f"replay:{path}"


@pytest.fixture(autouse=True)
def hang_up() -> Iterator[None]:
    """Let SIGHUP end children as usual, also where nohup runs the tests."""
    number = getattr(signal, "SIGHUP", None)
    if number is None or signal.getsignal(number) is not signal.SIG_IGN:
        yield
        return
    signal.signal(number, signal.SIG_DFL)
    yield
    signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def lenient(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process, whatever its status."""

    def call(*arguments: object) -> Outcome:
        status = main([str(argument) for argument in arguments])
        return Outcome(status, *capsys.readouterr())

    return call


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process: it ends with this status (None: any) and says ``err``."""

    def call(
        *arguments: object,
        status: int | None = 0,
        err: str | Sequence[str] = (),
        stdin: str | None = None,
    ) -> Outcome:
        with monkeypatch.context() as typing:
            if stdin is not None:
                typing.setattr("sys.stdin", io.StringIO(stdin))
            found = main([str(argument) for argument in arguments])
        outcome = Outcome(found, *capsys.readouterr())
        assert status in (None, found), outcome.err
        for words in (err,) if isinstance(err, str) else err:
            assert words in outcome.err
        return outcome

    return call


def in_process(
    arguments: Sequence[object],
    *,
    stdin: str | bytes = "",
    encoding: str = "utf-8",
    streams: Mapping[int, int | None] = MappingProxyType({}),
) -> Outcome:
    """Run a command in a fork on its own streams; ``streams``: other descriptors, None: closed."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as err:  # fmt: skip
        given.write(stdin.encode() if isinstance(stdin, str) else stdin)
        given.seek(0)
        child = os.fork()
        if child == 0:
            status = 70
            try:
                for number, file in enumerate((given, out, err)):
                    name, to = STREAMS[number], streams.get(number, file.fileno())
                    if to is None:
                        os.close(number)
                        setattr(sys, name, None)
                    else:
                        os.dup2(to, number)
                        made = open(number, "rww"[number], encoding=encoding, closefd=False)  # noqa: SIM115
                        setattr(sys, name, made)
                status = main([str(argument) for argument in arguments])
                for stream in (sys.stdout, sys.stderr):
                    with suppress(OSError, AttributeError):
                        stream.flush()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return Outcome(status, *texts)


def on_terminal(*arguments: str, status: int | None = None) -> bytes:
    """Run a command in a fork on its own terminal; everything it wrote there."""
    import pty  # not everywhere

    pid, master = pty.fork()
    if pid == 0:
        ended = 70
        try:
            sys.stdin, sys.stdout, sys.stderr = (
                os.fdopen(number, mode, encoding="utf-8")
                for number, mode in ((0, "r"), (1, "w"), (2, "w"))
            )
            ended = main(arguments)
            sys.stderr.flush()
        finally:
            os._exit(ended)
    written = b""
    with suppress(OSError):  # the terminal goes with the program
        while part := os.read(master, 65536):
            written += part
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (None, ended), written
    os.close(master)
    return written
