"""The process of a component: its messages, its environment, its log and its end."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter

from tabwb.host.keys import SERVICES, secrets
from tabwb.host.offline import SWITCHES
from tabwb.host.settings import Configuration
from tabwb.records import system
from tabwb.records.errors import ComponentError, TabwbError, error_text
from tabwb.records.exchange import Likelihood, Reply, Wait
from tabwb.records.files import make_private_folder, open_private
from tabwb.records.specs import Spec
from tabwb.records.system import child_environ, switch_telemetry_off

LIMIT = 256 * 2**20
"""No frame is longer, in bytes: a length beyond it means that something else wrote to the pipe."""

Frame = dict[str, Any]
Piece = str | Reply | Wait | Likelihood | ComponentError
T = TypeVar("T")
_RECORDS: dict[str, type[Reply | Wait | Likelihood]] = {
    "reply": Reply,
    "wait": Wait,
    "likelihood": Likelihood,
}
_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def write_frame(stream: IO[bytes], frame: Mapping[str, Any]) -> None:
    """Write one frame and flush it."""
    content = json.dumps(frame, separators=(",", ":"), default=_fields).encode("ascii")
    stream.write(len(content).to_bytes(4, "big") + content)
    stream.flush()


def read_frame(stream: IO[bytes], limit: int = LIMIT) -> Frame | None:
    """Read one frame; None at the end of the stream (also in the middle of a frame).

    Raises:
        ComponentError: the stream holds something else than frames.
    """
    head = stream.read(4)
    if len(head) < 4:
        return None
    length = int.from_bytes(head, "big")
    if length > limit:
        raise ComponentError(f"a frame of {length} bytes is not ours")
    content = stream.read(length)
    if len(content) < length:
        return None
    try:
        frame = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ComponentError(f"a frame that is not JSON: {error}") from error
    if not isinstance(frame, dict):
        raise ComponentError("a frame that is not a JSON object")
    return frame


def read_record(kind: type[T], plain: object) -> T:
    """Return the record of a frame."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    record: T = _ADAPTERS[kind].validate_python(plain)
    return record


def piece_to_plain(piece: Piece) -> Frame:
    """Return a piece of an answer under the word that says what it is."""
    if isinstance(piece, str):
        return {"text": piece}
    for word, kind in _RECORDS.items():
        if isinstance(piece, kind):
            return {word: piece}
    return {"error": error_to_plain(piece)}  # type: ignore[arg-type]


def piece_from_plain(plain: Frame) -> Piece:
    """Return the piece that :func:`piece_to_plain` wrote."""
    (word, content), *_ = plain.items()
    if word == "text":
        return str(content)
    if word in _RECORDS:
        return read_record(_RECORDS[word], content)
    return error_from_plain(content)


def error_to_plain(error: BaseException) -> Frame:
    """Return an error as plain data; one that is not ours keeps the name of its type."""
    if not isinstance(error, TabwbError):
        return {"message": error_text(error)}
    return {key: getattr(error, key) for key in ("message", "where", "allowed", "hint")}


def error_from_plain(plain: Frame) -> ComponentError:
    """Return the error to raise for what :func:`error_to_plain` wrote."""
    return ComponentError(**plain)


def _fields(value: Any) -> Frame:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return dict(value)  # another mapping than a dict


def child_environment(
    configuration: Configuration,
    threads: str | None,
    environ: Mapping[str, str],
    allowed: Collection[str] = (),
) -> dict[str, str]:
    """Return the environment of a child, fixed when it is started.

    OpenMP's threads wait passively: spinning makes a small model a hundred times slower on a busy
    machine.

    Args:
        configuration: gives the folders, whether to stay offline, which variables hold keys, and
            which further ones the user allows.
        threads: the number of compute threads, or None for what the libraries choose.
        environ: the parent's environment.
        allowed: variables with secrets that the component needs.
    """
    named = {
        profile.spec.options["key_env"]
        for profile in configuration.profiles.values()
        if "key_env" in profile.spec.options
    }
    child = child_environ(
        environ,
        {*allowed, *configuration.environment},
        refused={"TABWB_STORE", *named, *chain(*SERVICES.values())},
        secrets=secrets(),
    )
    child |= {
        "TABWB_CONFIG_DIR": str(configuration.config_dir.absolute()),
        "TABWB_DATA_DIR": str(configuration.data_dir.absolute()),
        "TABWB_OFFLINE": "0",
        "PYTHONIOENCODING": "utf-8",
        "OMP_WAIT_POLICY": "PASSIVE",
        "GOMP_SPINCOUNT": "0",
        "KMP_BLOCKTIME": "0",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    }
    if threads is not None:
        child |= {f"{name}_NUM_THREADS": threads for name in ("OMP", "MKL", "OPENBLAS", "RAYON")}
    switch_telemetry_off(child)
    if configuration.offline:
        child |= SWITCHES
    return child


LOG_LIMIT = 1_000_000
"""Bytes of one log. When it is full its older half is removed."""
KEPT = 20
"""Number of logs that are kept; older ones are deleted."""
TAIL_LINES = 12
REMOVED = b"[earlier lines were removed]\n"
_numbers = itertools.count(1)


class ChildLog:
    """Copies the output of a process into a file, up to a limit, in a thread."""

    def __init__(self, folder: Path, name: str) -> None:
        make_private_folder(folder)
        logs = sorted(folder.glob("child-*.log"), key=lambda path: path.name)
        for path in logs[: max(0, len(logs) - KEPT + 1)]:
            path.unlink(missing_ok=True)
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        self.path = folder / f"child-{stamp}-{os.getpid()}-{next(_numbers)}-{name}.log"
        self._file = os.fdopen(open_private(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL), "w+b")
        self._thread: threading.Thread | None = None

    def follow(self, stream: IO[bytes]) -> None:
        """Copy the stream until it ends."""
        self._thread = threading.Thread(
            target=self._copy, args=(stream,), name=f"log {self.path.name}", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Wait for the last output of a process that has ended; remove an empty log."""
        if self._thread is not None:
            self._thread.join(0.5)
        with suppress(OSError):
            if self.path.stat().st_size == 0:
                self.path.unlink(missing_ok=True)

    def tail(self) -> str:
        """Return the last lines."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, self.path.stat().st_size - 20_000))
                lines = file.read().decode("utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return "\n".join(line for line in lines[-TAIL_LINES:] if line.strip())

    def _copy(self, stream: IO[bytes]) -> None:
        size = 0
        with stream, self._file as file:
            while piece := _read(stream):
                # A full disk costs the log, not the component.
                with suppress(OSError):
                    if size + len(piece) > LOG_LIMIT:
                        size = _halve(file)
                    file.write(piece)
                    file.flush()
                    size += len(piece)


def _read(stream: IO[bytes]) -> bytes:
    try:
        return os.read(stream.fileno(), 65_536)
    except (OSError, ValueError):
        return b""


def _halve(file: IO[bytes]) -> int:
    file.seek(-min(LOG_LIMIT // 2, file.tell()), os.SEEK_END)
    kept = file.read()
    file.seek(0)
    file.truncate()
    file.write(REMOVED + kept)
    return len(REMOVED) + len(kept)


LONGEST_ANSWER = 32 * 2**20
"""Bytes of a frame."""


class Process:
    """One running host; a thread puts its frames into a queue, and None at the end."""

    def __init__(
        self, name: str, spec: Spec, configuration: Configuration, variables: Collection[str]
    ) -> None:
        self.log = ChildLog(configuration.data_dir / "logs", name)
        self.popen = system.start(
            system.python("tabwb.host.child"),
            child_environment(configuration, spec.options.get("threads"), os.environ, variables),
            stdin=system.PIPE,
            stdout=system.PIPE,
            stderr=system.PIPE,
        )
        assert self.popen.stdin and self.popen.stdout and self.popen.stderr
        self.log.follow(self.popen.stderr)
        self._writing, self._reading = self.popen.stdin, self.popen.stdout
        self.frames: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self.outgoing: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        threading.Thread(target=self._write, name=f"write to {name}", daemon=True).start()
        threading.Thread(target=self._listen, name=f"listen to {name}", daemon=True).start()

    def _listen(self) -> None:
        try:
            while (frame := read_frame(self._reading, LONGEST_ANSWER)) is not None:
                self.frames.put(frame)
        except (TabwbError, ValueError, OSError):
            system.kill_group(self.popen)
        finally:
            self.frames.put(None)
            self._reading.close()

    def _write(self) -> None:
        # In a thread: a child that is stopped or busy does not read, and a large request would
        # block its writer.
        try:
            while (frame := self.outgoing.get()) is not None:
                write_frame(self._writing, frame)
        except OSError:
            return  # the child is gone
        finally:
            with contextlib.suppress(OSError):
                self._writing.close()

    def end(self, grace_s: float) -> int:
        """Close the pipe, wait, end the process if it still runs; return its exit status."""
        self.outgoing.put(None)
        try:
            status = self.popen.wait(grace_s)
        except subprocess.TimeoutExpired:
            self.popen.terminate()
            try:
                status = self.popen.wait(0.5)
            except subprocess.TimeoutExpired:
                system.kill_group(self.popen)
                status = self.popen.wait()
        self.log.close()
        return status
