"""Recording, inside the sound host: from PortAudio's callback to the file, with a watchdog.

A device that disappears raises nothing. It shows as ``finished_callback``, as missing callbacks, as
sound that falls behind the clock, or not at all when a sound server switches to another source. All
four are watched. PortAudio's own flag for lost input is never set for a slow callback, so lost
frames are counted against the clock.
"""

from __future__ import annotations

import contextlib
import errno
import math
import queue
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tabwb.speech.files import Samples
from tabwb.speech.level import Meter
from tabwb.speech.portaudio import HostError, Tell, find, portaudio, said
from tabwb.speech.process import Routing
from tabwb.speech.wav import WIDTH, WavWriter

LATENCY_S = 0.1
"""Requested latency and block size: buffers for a busy machine, blocks of about 25 ms."""
FIRST_S = 5.0
"""Limit for the first sound, in seconds; one second is usual for an idle sound server."""
TELL_S = 0.08
"""Seconds between messages of the level."""
SYNC_S = 1.0
STILL_S = 0.5
"""Seconds without a callback after which the device counts as silent."""
MISSING_S = 0.25
"""Seconds of sound behind the clock that count as missing."""
AHEAD_S = 1.0
"""Seconds of sound ahead of the clock that show a wrong rate."""
STEADY_S = 1.0
"""Seconds after which sound behind the clock counts as lost."""
HELD_S = 10.0
"""Seconds for which an alarm of missing sound is shown."""
DRIFT = 0.001
"""Largest relative error of sound cards' clocks."""
ANCHOR_S = 2.0
"""Seconds of callbacks from which the beginning of the file on the clock is estimated."""
MOST_REMARKS = 50
TAIL_S = 0.5
"""Limit of the wait for late sound at the end, in seconds."""

Block = tuple[bytes, float]
"""Bytes, and time of the callback."""


def capture(options: Mapping[str, Any], tell: Tell, ending: threading.Event) -> None:
    """Record until asked to end.

    Sends ``ready`` with the first sound, ``level`` during the recording, ``alarm`` when something
    is wrong or right again, ``ended`` when the file is complete.
    """
    sd = portaudio()
    device = find(sd, options, "input")
    rate = int(device["rate"])
    channels = int(options["channels"])
    path = Path(options["path"])
    blocks: queue.SimpleQueue[Block] = queue.SimpleQueue()
    finished = threading.Event()

    def called(data: Any, frames: int, moment: Any, status: Any) -> None:
        blocks.put((bytes(data), time.monotonic()))

    stream = _open(sd, device, rate, channels, called, finished)
    try:
        stream.start()
        first = blocks.get(timeout=FIRST_S)
    except (sd.PortAudioError, queue.Empty) as error:
        why = said(error) if isinstance(error, sd.PortAudioError) else f"no sound in {FIRST_S:g} s"
        raise HostError("open", f"does not record: {why}", device["name"]) from error
    try:
        writer = WavWriter(path, rate, channels)  # now that there is something to write
    except OSError as error:
        raise HostError("file", f"cannot record there: {error.strerror}", str(path)) from error
    routing = Routing()
    name = routing.source or device["name"]
    taking = Taking(writer, name, rate, channels, stream.latency, tell)
    syncing = threading.Thread(target=_sync, args=(taking,), name="sync", daemon=True)
    taking.take(first)
    syncing.start()
    tell(
        {
            "event": "ready",
            "device": device["name"],
            "rate": rate,
            "channels": channels,
            "uncertainty_s": float(stream.latency) / 2,
            "source": routing.source,
            **taking.position(),
        }
    )
    try:
        _run(taking, blocks, finished, routing, ending)
        _take_the_tail(taking, blocks)
    finally:
        routing.close()
        # In a thread, because closing can block forever for a device that disappeared.
        threading.Thread(target=stream.abort, daemon=True).start()
        taking.end()


def _open(
    sd: ModuleType, device: Mapping[str, Any], rate: int, channels: int, called: Any, finished: Any
) -> Any:
    try:
        return sd.RawInputStream(
            device=device["index"],
            samplerate=rate,
            channels=channels,
            dtype="int24",
            latency=LATENCY_S,
            callback=called,
            finished_callback=finished.set,
        )
    except (sd.PortAudioError, ValueError) as error:
        raise HostError("open", f"cannot be opened: {said(error)}", device["name"]) from error


@dataclass
class Taking:
    """A recording that is being made.

    Attributes:
        stopped: why the file does not grow any more, or empty.
        unsafe: why what was written may not be kept, or empty.
    """

    writer: WavWriter
    device: str
    rate: int
    channels: int
    latency_s: float
    tell: Tell
    stopped: str = ""
    unsafe: str = ""
    over: threading.Event = field(default_factory=threading.Event)
    _meter: Meter = field(default_factory=Meter)
    _heard: list[Samples] = field(default_factory=list)
    _told: float = 0.0
    _began: float = 0.0
    _received: int = 0
    _last: float = 0.0
    _first_zero: float = math.inf
    _steady_from: float = 0.0
    _anchors: deque[tuple[float, float]] = field(default_factory=deque)
    _alarm: str | None = None
    _remarks: list[str] = field(default_factory=list)
    _missing_told: float = 0.0
    _held: tuple[float, str] = (0.0, "")

    def take(self, block: Block) -> None:
        """Write a block, and send its level from time to time."""
        data, at = block
        self._received += len(data) // (WIDTH * self.channels)
        if not self._began:
            self._began = at
        zero = at - self._received / self.rate
        self._anchors.append((at, zero))
        if at - self._began < ANCHOR_S:
            self._first_zero = min(zero, self._first_zero)
        on_time = zero - self._first_zero < self._missing_told + MISSING_S
        if on_time or at - self._last > STILL_S:
            self._steady_from = at
        self._last = at
        while self._anchors[0][0] < at - ANCHOR_S:
            self._anchors.popleft()
        if not self.stopped:
            try:
                self.writer.write(data)
            except OSError as error:
                full = error.errno in {errno.ENOSPC, errno.EDQUOT}
                reason = "the disk is full" if full else f"the file cannot grow: {error.strerror}"
                self.stopped = f"{reason}; what was recorded until then is kept"
        self._heard.append(samples_of(data, self.channels))
        if at - self._told >= TELL_S:
            self._told = at
            level = self._meter.feed(np.concatenate(self._heard))
            self._heard.clear()
            self.tell(
                {
                    "event": "level",
                    "peak_dbfs": level.peak_dbfs,
                    "rms_dbfs": level.rms_dbfs,
                    "clipped": level.clipped,
                    **self.position(),
                }
            )

    def position(self) -> Mapping[str, float]:
        """Return the frames in the file and the monotonic time of the first one.

        Blocks come late and never early, so the earliest of the last two seconds is the most exact.
        Half of PortAudio's latency is subtracted.
        """
        return {"frames": self.writer.frames, "zero_s": self._zero_s()}

    def _zero_s(self) -> float:
        return min(zero for _, zero in self._anchors) - self.latency_s / 2

    def behind(self, now: float) -> bool:
        """Return whether sound from before ``now`` is still missing."""
        return self._received / self.rate < now - self._zero_s()

    def watch(self, now: float, finished: bool, rerouted: str) -> None:
        """Send an alarm when something is wrong with the sound, and when it is right again."""
        still = now - self._last
        elapsed = self._last - self._began
        missing = self._missing()
        allowed = MISSING_S + DRIFT * elapsed
        wrong: str | None = None
        if self.stopped or self.unsafe:
            wrong = self.stopped or self.unsafe
        elif finished:
            wrong = f"{self.device} has stopped: unplugged, switched off, or taken away"
        elif still > STILL_S:
            wrong = f"no sound comes from {self.device} any more"
        elif rerouted:
            wrong = rerouted
        elif missing > max(allowed, self._missing_told + MISSING_S):
            wrong = f"{missing:.1f} s of sound are missing: the computer is too busy, or the device"
            self._missing_told, self._held = missing, (now + HELD_S, wrong)
        elif now < self._held[0]:
            wrong = self._held[1]
        elif self._first_zero - self._anchors[-1][1] > AHEAD_S + DRIFT * elapsed:
            wrong = f"{self.device} sends more sound than fits its rate of {self.rate} Hz"
        if wrong != self._alarm:
            self._alarm = wrong
            if wrong is not None and len(self._remarks) < MOST_REMARKS:
                self._remarks.append(f"at {self.writer.frames / self.rate:.1f} s: {wrong}")
            self.tell({"event": "alarm", "alarm": wrong, **self.position()})

    def _missing(self) -> float:
        """Return the seconds of sound that are lost and not merely late."""
        since = [zero for at, zero in self._anchors if at >= self._steady_from]
        steady = self._last - self._steady_from >= STEADY_S
        return min(since) - self._first_zero if steady and since else 0.0

    def end(self) -> None:
        """Close the file and send a description of it."""
        self.over.set()
        try:
            self.writer.close()
        except OSError as error:
            self._remarks.append(f"the disk did not store everything: {error.strerror}")
        self.tell({"event": "ended", "frames": self.writer.frames, "remarks": self._remarks})


def samples_of(data: bytes, channels: int) -> Samples:
    """Return the samples of 24-bit PCM as the mean of its channels: float32 in [-1, 1].

    >>> samples_of(bytes([0, 0, 0x40, 0, 0, 0xC0]), 1).tolist()
    [0.5, -0.5]
    """
    octets = np.frombuffer(data, dtype=np.uint8).reshape(-1, WIDTH)
    # Three bytes at the top of four: the sign comes by itself, and the lowest byte is 0.
    wide = np.zeros((len(octets), 4), dtype=np.uint8)
    wide[:, 1:] = octets
    values = wide.view("<i4").reshape(-1, channels).astype(np.float32)
    mean: Samples = values.mean(axis=1, dtype=np.float32) / np.float32(2**31)
    return mean


def _run(
    taking: Taking,
    blocks: queue.SimpleQueue[Block],
    finished: threading.Event,
    routing: Routing,
    ending: threading.Event,
) -> None:
    while not ending.is_set():
        with contextlib.suppress(queue.Empty):
            taking.take(blocks.get(timeout=0.05))
        if blocks.empty():
            taking.watch(time.monotonic(), finished.is_set(), routing.changed)


def _take_the_tail(taking: Taking, blocks: queue.SimpleQueue[Block]) -> None:
    asked = time.monotonic()
    while taking.behind(asked) and time.monotonic() < asked + TAIL_S:
        with contextlib.suppress(queue.Empty):
            taking.take(blocks.get(timeout=0.05))
    while not blocks.empty():
        taking.take(blocks.get())


def _sync(taking: Taking) -> None:
    """Sync the file every second in a thread, so that a slow disk blocks nothing else."""
    while not taking.over.wait(SYNC_S):
        try:
            taking.writer.sync()
        except ValueError:  # it was closed meanwhile
            return
        except OSError as error:
            taking.unsafe = f"the disk may not store what is recorded: {error.strerror}"
