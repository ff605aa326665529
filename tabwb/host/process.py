"""Components in a child process: its messages, environment, log and end, and the proxies.

A component that dies ends its call, and the next call starts another process.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from pydantic import TypeAdapter

from tabwb.host.keys import SERVICES, secrets
from tabwb.host.offline import SWITCHES
from tabwb.host.settings import Configuration
from tabwb.lesion.declared import Part, Pool
from tabwb.plugin_api.components import Cancel
from tabwb.plugin_api.descriptors import ComponentKind, Descriptor
from tabwb.records import system
from tabwb.records.errors import ComponentError, TabwbError, UsageError, error_text
from tabwb.records.exchange import Likelihood, Reply, Request, Wait
from tabwb.records.files import make_private_folder, open_private
from tabwb.records.specs import Spec
from tabwb.records.speech import Clip, Transcript
from tabwb.records.states import StopReason
from tabwb.records.system import child_environ, switch_telemetry_off

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


CANCEL_S = 2.0
"""Seconds that a component has to end a call after cancel; then its process is ended."""
CLOSE_S = 2.0
"""Seconds that a process has to end after its pipe is closed."""
OPEN_S = 1800.0
"""Seconds that a component may take to load, unless ``TABWB_OPEN_S`` is set."""
POLL_S = 0.05
DEATHS = 3
"""After so many clips in a row that ended a process, no more are tried: the cause is another."""
_calls = itertools.count(1)


def open_limit(environ: Mapping[str, str]) -> float:
    """Return the seconds that a component may take to load.

    Raises:
        UsageError: ``TABWB_OPEN_S`` is not a number of seconds.

    >>> open_limit({}), open_limit({"TABWB_OPEN_S": "60"})
    (1800.0, 60.0)
    """
    text = environ.get("TABWB_OPEN_S", "").strip()
    try:
        seconds = float(text or OPEN_S)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        allowed = "a number above 0, for example 1800"
        message = f"'{text}' is not a number of seconds"
        raise UsageError(message, where="TABWB_OPEN_S", allowed=allowed)
    return seconds


class ChildComponent:
    """A component in a child process; one that dies ends its call, the next starts another."""

    _KIND: ClassVar[ComponentKind]

    def __init__(self, descriptor: Descriptor, spec: Spec, configuration: Configuration) -> None:
        self._name = descriptor.id
        key = spec.options.get("key_env")
        self._variables = (*descriptor.variables, *([key] if key else []))
        self._spec = spec
        self._configuration = configuration
        self._process: Process | None = None
        self._in_use = False
        """It was opened and not closed; its process may have died since."""

    @property
    def pid(self) -> int | None:
        """The id of the process, or None where none runs."""
        process = self._process
        return process.popen.pid if process else None

    def open(self) -> Mapping[str, str]:
        """Start the process and load the component there; return its facts.

        Raises:
            ComponentError: it cannot be loaded, or the process died.
        """
        self.close()
        arguments = (self._name, self._spec, self._configuration, self._variables)
        try:
            process = self._process = Process(*arguments)
        except OSError as error:
            message = f"the process of '{self._name}' cannot be started: {error}"
            raise ComponentError(message) from error
        try:
            self._made(self._result(process, "make", {"kind": self._KIND, "spec": self._spec}))
            self._prepare(process)
            facts = self._result(process, "open", {})
            self._in_use = True
        except BaseException:
            self.close()
            raise
        return {str(key): str(value) for key, value in facts.items()}

    def _made(self, methods: Sequence[str]) -> None:
        """Take note of the optional methods that the component has."""

    def _prepare(self, process: Process) -> None:
        """Do what a new process needs before its component is opened."""

    def close(self) -> None:
        """End the process; may be called twice, also from another thread than the reply's."""
        process, self._process = self._process, None
        self._in_use = False
        if process is not None:
            process.end(CLOSE_S)

    def _ready(self) -> Process:
        if self._process is None or self._process.popen.poll() is not None:
            in_use = self._in_use
            try:
                self.open()
            finally:  # what is in use stays so, also where this process died too
                self._in_use = self._in_use or in_use
        assert self._process is not None
        return self._process

    def _result(self, process: Process, method: str, arguments: Frame) -> Any:
        late = threading.Event()
        limit_s = open_limit(os.environ)
        timer = threading.Timer(limit_s, late.set)
        timer.daemon = True
        timer.start()
        try:
            frame = next(self._call(process, method, arguments, late), None)
        finally:
            timer.cancel()
        if frame is None:
            raise ComponentError(
                f"'{self._name}' was not loaded after {limit_s:g} s",
                hint="the environment variable TABWB_OPEN_S sets another limit, in seconds",
            )
        return frame["result"]

    def _call(
        self, process: Process, method: str, arguments: Frame, cancel: Cancel
    ) -> Iterator[Frame]:
        """Yield the frames of one call, the result last; no result where it was cut off."""
        call = next(_calls)
        process.outgoing.put({"call": call, "method": method, "arguments": arguments})
        deadline: float | None = None
        answered = False
        try:
            while not answered:
                if deadline is None and cancel.is_set():
                    process.outgoing.put({"cancel": call})
                    deadline = time.monotonic() + CANCEL_S
                if deadline is not None and time.monotonic() > deadline:
                    return
                try:
                    frame = process.frames.get(timeout=POLL_S)
                except queue.Empty:
                    continue
                if frame is None:
                    answered = True
                    raise self._dead(process)
                if frame.get("call") != call:
                    continue
                answered = "piece" not in frame
                if "error" in frame:
                    raise error_from_plain(frame["error"])
                yield frame
        finally:
            if not answered:
                # Cut off, or the caller left: the process is in an unknown state.
                self._drop(process)

    def _drop(self, process: Process) -> None:
        if self._process is process:
            self._process = None
        process.popen.terminate()
        process.end(0.5)

    def _dead(self, process: Process) -> ComponentError:
        if self._process is not process:
            return ComponentError(f"'{self._name}' was closed")
        self._process = None
        status = process.end(0.5)
        how = f"exit status {status}"
        if status < 0:
            how = f"signal {-status}"
            if -status in set(signal.Signals):
                how = signal.Signals(-status).name
        if how == "SIGKILL":
            how += ", perhaps because memory ran out"
        tail = process.log.tail()
        return ComponentError(
            f"the process of '{self._name}' ended unexpectedly ({how})",
            hint=f"its log says:\n{tail}" if tail else f"its log is empty: {process.log.path.name}",
        )


class ChildModel(ChildComponent):
    """A model back end in a child process, with the optional methods that its descriptor names."""

    _KIND = "models"

    def __init__(self, descriptor: Descriptor, spec: Spec, configuration: Configuration) -> None:
        super().__init__(descriptor, spec, configuration)
        if descriptor.batches:
            self.reply_many = self._reply_many
        if descriptor.likelihood:
            self.likelihood = self._likelihood
        self._lesions = ""
        if descriptor.lesions:
            self.parts, self.lesion = self._parts, self._lesion
        if descriptor.activations:
            self.activations = self._activations
        if descriptor.lanes:
            self.lanes, self.reply_lanes = self._lanes, self._reply_lanes

    def _made(self, methods: Sequence[str]) -> None:
        # Those that the descriptor does not name.
        if "reply_many" in methods:
            self.reply_many = self._reply_many
        if "likelihood" in methods:
            self.likelihood = self._likelihood

    def _prepare(self, process: Process) -> None:
        # A process that takes the place of one that died answers under the same lesion.
        if self._lesions:
            self._result(process, "lesion", {"spec": self._lesions})

    def _parts(self) -> Sequence[Part]:
        return [read_record(Part, part) for part in self._result(self._ready(), "parts", {})]

    def _lesion(self, spec: str) -> Mapping[str, str]:
        self._lesions = spec
        if not self._in_use:
            return {}
        return dict(self._result(self._ready(), "lesion", {"spec": spec}))

    def _activations(
        self, target: str, texts: Sequence[str], pool: Pool, cancel: Cancel
    ) -> Iterator[NDArray[np.float32]]:
        import numpy as np

        arguments = {"target": target, "texts": list(texts), "pool": pool}
        for frame in self._call(self._ready(), "activations", arguments, cancel):
            # The child may have done all before it reads that the call is cancelled.
            if "piece" in frame and not cancel.is_set():
                yield np.frombuffer(base64.b64decode(frame["piece"]), dtype="<f4")

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        """Stream a reply."""
        process = self._ready()
        started = time.monotonic()
        first: float | None = None
        texts: list[str] = []
        answered = False
        for frame in self._call(process, "reply", {"request": request}, cancel):
            if "piece" not in frame:
                return
            piece = piece_from_plain(frame["piece"])
            assert isinstance(piece, str | Wait | Reply)
            if isinstance(piece, str):
                first = time.monotonic() - started if first is None else first
                texts.append(piece)
            answered = answered or isinstance(piece, Reply)
            yield piece
        if not answered:
            yield Reply("".join(texts), StopReason.CANCELLED, time.monotonic() - started, first)

    def _reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        return self._pairs("reply-many", {"requests": list(requests)}, cancel)

    def _lanes(self, specs: Sequence[str]) -> Sequence[int]:
        return list(self._result(self._ready(), "lanes", {"specs": list(specs)}))

    def _reply_lanes(
        self, lesions: Sequence[str], requests: Sequence[tuple[int, Request]], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        arguments = {"lesions": list(lesions), "requests": list(requests)}
        return self._pairs("reply-lanes", arguments, cancel)

    def _pairs(
        self, method: str, arguments: Frame, cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        for frame in self._call(self._ready(), method, arguments, cancel):
            if "piece" in frame:
                index, plain = frame["piece"]
                piece = piece_from_plain(plain)
                assert isinstance(piece, Reply | Wait | ComponentError)
                yield index, piece

    def _likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        arguments = {"request": request, "continuations": list(continuations)}
        frames = self._call(self._ready(), "likelihood", arguments, cancel)
        pieces = [piece_from_plain(frame["piece"]) for frame in frames if "piece" in frame]
        return [piece for piece in pieces if isinstance(piece, Likelihood)]


class ChildTranscriber(ChildComponent):
    """A transcriber in a child process; its ``unit`` is valid once :meth:`open` was called."""

    _KIND = "transcribers"
    unit: Literal["phonemes", "words"] = "phonemes"

    def open(self) -> Mapping[str, str]:
        """Start the process and load the model there; return its facts."""
        facts = super().open()
        assert self._process is not None
        self.unit = self._result(self._process, "unit", {})
        return facts

    def transcribe_many(
        self, clips: Sequence[Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        """Yield ``(index, transcript)`` in any order; fewer when cancelled.

        Where the process dies, the clips that wait are transcribed one by one, and only the clip
        that ends its process is an error.
        """
        waiting = dict(enumerate(clips))
        try:
            for index, transcript in self._some(clips, cancel):
                del waiting[index]
                yield index, transcript
        except ComponentError:
            # An error of a running component concerns all clips.
            if self._process is not None:
                raise
            yield from self._one_by_one(waiting, cancel)

    def _one_by_one(
        self, waiting: Mapping[int, Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        deaths = 0
        message = ""
        for index, clip in waiting.items():
            if cancel.is_set():
                return
            if deaths < DEATHS:
                try:
                    for _, transcript in self._some([clip], cancel):
                        yield index, transcript
                    deaths = 0
                    continue
                except ComponentError as error:
                    message = str(error)
                    deaths += 1
            yield index, Transcript(str(self._spec), "error", unit=self.unit, error=message)

    def _some(self, clips: Sequence[Clip], cancel: Cancel) -> Iterator[tuple[int, Transcript]]:
        for frame in self._call(self._ready(), "transcribe-many", {"clips": list(clips)}, cancel):
            if "piece" in frame:
                index, plain = frame["piece"]
                yield index, read_record(Transcript, plain)


PROXIES: dict[ComponentKind, type[ChildModel | ChildTranscriber]] = {
    "models": ChildModel,
    "transcribers": ChildTranscriber,
}
