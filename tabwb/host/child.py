"""The child host, ``python -m tabwb.host.child``: one component in its own process.

The standard input and output of the process are the two pipes to tabwb. Both are replaced before
code of a plugin is imported: output of a component goes to the log, and its input is empty. The
host ends when tabwb closes its pipe or dies.
"""

from __future__ import annotations

import base64
import faulthandler
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from tabwb.host.process import (
    Frame,
    error_to_plain,
    piece_to_plain,
    read_frame,
    read_record,
    write_frame,
)
from tabwb.records.exchange import Request
from tabwb.records.specs import Spec
from tabwb.records.speech import Clip

GRACE_S = 1.0
"""Seconds that a component has to end after tabwb has ended."""


class Host:
    """Answers calls in the main thread; a second thread listens for the next and for cancel."""

    def __init__(self, reading: BinaryIO, writing: BinaryIO) -> None:
        self.component: Any = None
        self._reading = reading
        self._writing = writing
        self._calls: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self._cancels: dict[int, threading.Event] = {}

    def serve(self) -> None:
        """Answer until tabwb closes its pipe."""
        threading.Thread(target=self._listen, name="listen", daemon=True).start()
        while (frame := self._calls.get()) is not None:
            self._answer(frame)
        if self.component is not None:
            self.component.close()

    def _listen(self) -> None:
        try:
            while (frame := read_frame(self._reading)) is not None:
                if "cancel" in frame:
                    cancel = self._cancels.get(frame["cancel"])
                    if cancel is not None:
                        cancel.set()
                else:
                    self._cancels[frame["call"]] = threading.Event()
                    self._calls.put(frame)
        finally:
            for cancel in list(self._cancels.values()):
                cancel.set()
            self._calls.put(None)
            # The main thread may be in a computation that checks nothing.
            timer = threading.Timer(GRACE_S, os._exit, (1,))
            timer.daemon = True
            timer.start()

    def _answer(self, frame: Frame) -> None:
        call = frame["call"]
        cancel = self._cancels[call]
        try:
            result = METHODS[frame["method"]](self, frame["arguments"], cancel)
            if isinstance(result, Iterator):
                for piece in result:
                    self._write({"call": call, "piece": piece})
                result = None
            self._write({"call": call, "result": result})
        except BaseException as error:  # noqa: BLE001 - whatever a component raises is reported
            traceback.print_exc()
            self._write({"call": call, "error": error_to_plain(error)})
        finally:
            self._cancels.pop(call, None)

    def _write(self, frame: Frame) -> None:
        try:
            write_frame(self._writing, frame)
        except BrokenPipeError:
            os._exit(1)


def _make(host: Host, arguments: Frame, cancel: threading.Event) -> list[str]:
    from tabwb.host.plugins import Plugins

    spec = read_record(Spec, arguments["spec"])
    host.component = Plugins.load().make_here(arguments["kind"], spec)
    return [name for name in ("reply_many", "likelihood") if hasattr(host.component, name)]


def _reply(host: Host, arguments: Frame, cancel: threading.Event) -> Iterator[Frame]:
    request = read_record(Request, arguments["request"])
    return map(piece_to_plain, host.component.reply(request, cancel))


def _reply_many(host: Host, arguments: Frame, cancel: threading.Event) -> Iterator[Any]:
    requests = [read_record(Request, plain) for plain in arguments["requests"]]
    for index, piece in host.component.reply_many(requests, cancel):
        yield [index, piece_to_plain(piece)]


def _reply_lanes(host: Host, arguments: Frame, cancel: threading.Event) -> Iterator[Any]:
    requests = [(lane, read_record(Request, plain)) for lane, plain in arguments["requests"]]
    for index, piece in host.component.reply_lanes(arguments["lesions"], requests, cancel):
        yield [index, piece_to_plain(piece)]


def _likelihood(host: Host, arguments: Frame, cancel: threading.Event) -> Iterator[Frame]:
    request = read_record(Request, arguments["request"])
    return map(
        piece_to_plain, host.component.likelihood(request, arguments["continuations"], cancel)
    )


def _activations(host: Host, arguments: Frame, cancel: threading.Event) -> Iterator[str]:
    wanted = arguments["target"], arguments["texts"], arguments["pool"]
    for values in host.component.activations(*wanted, cancel):
        yield base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")


def _transcribe_many(host: Host, arguments: Frame, cancel: threading.Event) -> Iterator[Any]:
    clips = [read_record(Clip, plain) for plain in arguments["clips"]]
    return map(list, host.component.transcribe_many(clips, cancel))


METHODS: dict[str, Callable[[Host, Frame, threading.Event], Any]] = {
    "make": _make,
    "open": lambda host, arguments, cancel: dict(host.component.open()),
    "parts": lambda host, arguments, cancel: list(host.component.parts()),
    "lesion": lambda host, arguments, cancel: dict(host.component.lesion(arguments["spec"])),
    "activations": _activations,
    "lanes": lambda host, arguments, cancel: list(host.component.lanes(arguments["specs"])),
    "unit": lambda host, arguments, cancel: host.component.unit,
    "reply": _reply,
    "reply-many": _reply_many,
    "reply-lanes": _reply_lanes,
    "likelihood": _likelihood,
    "transcribe-many": _transcribe_many,
}
"""Name of a method: what returns its result, or an iterator of the pieces of its answer."""


def main() -> None:
    """Take over the pipes and serve."""
    reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    if os.environ.get("TABWB_OFFLINE") == "1":
        from tabwb.host.offline import go_offline

        go_offline()
    Host(reading, writing).serve()


if __name__ == "__main__":
    main()
