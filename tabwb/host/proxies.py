"""Proxies of model back ends and transcribers that run in a child process."""

from __future__ import annotations

import base64
import itertools
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from tabwb.host.process import (
    Frame,
    Process,
    error_from_plain,
    piece_from_plain,
    read_record,
)
from tabwb.host.settings import Configuration
from tabwb.lesion.declared import Part, Pool
from tabwb.plugin_api.components import Cancel
from tabwb.plugin_api.descriptors import ComponentKind, Descriptor
from tabwb.records.errors import ComponentError, UsageError
from tabwb.records.exchange import Likelihood, Reply, Request, Wait
from tabwb.records.specs import Spec
from tabwb.records.speech import Clip, Transcript
from tabwb.records.states import StopReason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CANCEL_S = 2.0
"""Seconds that a component has to end a call after cancel; then its process is ended."""
CLOSE_S = 2.0
"""Seconds that a process has to end after its pipe is closed."""
OPEN_S = 1800.0
"""Seconds that a component may take to load, unless ``TABWB_OPEN_S`` is set."""
POLL_S = 0.05
DEATHS = 3
"""After so many clips in a row that ended a process, no more are tried: the cause is another."""
_numbers = itertools.count(1)


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
        call = next(_numbers)
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
