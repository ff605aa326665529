"""Recording from a microphone to a growing WAV file, with alarms for what goes wrong.

The work is done in its own process (:mod:`tabwb.speech.process`); here is what the program
sees of it. A file whose name ends in ``.part`` is not imported yet: it is offered when the program
starts again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tabwb.records.errors import ComponentError, TabwbError
from tabwb.speech.level import Level
from tabwb.speech.process import ANSWER_S, Device, Message, SoundHost
from tabwb.speech.wav import is_growing, repair

SILENT_S = 2.0
"""Seconds without a message after which a host counts as dead or stuck."""
STOP_S = 5.0


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording that has ended: 24-bit PCM WAV at the device's own rate in Hz, mode 0600.

    ``frames`` are samples of each channel; ``remarks`` every alarm with its second in the file.
    """

    path: Path
    rate: int
    channels: int
    seconds: float
    frames: int
    remarks: tuple[str, ...] = ()


class Recorder:
    """Records one file. Its methods are called from one thread, its values read from any.

    Attributes:
        device: the microphone's name.
        rate: in Hz.
        source: how a sound server calls what it records from, or empty.
        level: the level of the last 80 ms or so.
        uncertainty_s: of :attr:`now_s`: half the latency that PortAudio reports.
    """

    def __init__(
        self,
        device: Device | None,
        path: str | os.PathLike[str],
        *,
        channels: int = 1,
    ) -> None:
        if device is not None and channels > device.channels:
            raise ComponentError(
                f"has {device.channels} channels, not {channels}", where=device.name
            )
        self.device = device.name if device else ""
        self.rate = device.rate if device else 0
        self.path = Path(path)
        self.channels = channels
        self.source = ""
        self._host_name = device.host if device else None
        self._host: SoundHost | None = None
        self._ready = threading.Event()
        self._ended: Message | None = None
        self.level = Level()
        self._alarm: str | None = None
        self._frames = 0
        self._zero_s = 0.0
        self._heard_s = 0.0
        self.uncertainty_s = 0.0
        self._recording: Recording | None = None

    def start(self) -> None:
        """Begin; return when the first sound has come."""
        if self._host is not None:
            raise ComponentError("a recorder records once", where=str(self.path))
        options: Mapping[str, object] = {
            "device": self.device or None,
            "host": self._host_name,
            "channels": self.channels,
            "path": str(self.path.absolute()),
        }
        self._host = SoundHost("record", options, self._hear)
        deadline = time.monotonic() + ANSWER_S
        while not self._ready.wait(0.02):
            if self._host.over.is_set() or time.monotonic() > deadline:
                self._host.end()
                raise self._host.failure()

    @property
    def pid(self) -> int:
        """Of the process that records."""
        assert self._host is not None
        return self._host.pid

    @property
    def printed(self) -> str:
        """The last lines that PortAudio and what is under it printed, once it has ended."""
        return self._host.printed if self._host is not None else ""

    @property
    def now_s(self) -> float:
        """Position in the file of the sound of this moment, in seconds.

        From the clock and the arrival of the last two seconds' sound; see :attr:`uncertainty_s`.
        It does not change when no more sound comes.
        """
        if self._recording is not None:
            return self._recording.seconds
        now = time.monotonic() - self._zero_s
        return max(0.0, min(now, self._frames / self.rate + 1.0)) if self.rate else 0.0

    @property
    def alarm(self) -> str | None:
        """What is wrong with the sound at this moment, or None."""
        host = self._host
        if host is None or self._recording is not None or not self._ready.is_set():
            return None
        if host.over.is_set() and self._ended is None:
            return f"the recorder ended unexpectedly; what it recorded is kept in {self.path.name}"
        if self._alarm is None and time.monotonic() - self._heard_s > SILENT_S:
            return "the recorder does not answer"
        return self._alarm

    def stop(self) -> Recording:
        """End the recording and return it complete; the same again at later calls."""
        if self._recording is not None:
            return self._recording
        host = self._host
        if host is None or not self._ready.is_set():
            raise ComponentError("nothing was recorded", where=str(self.path))
        gone = self.alarm
        host.ask_to_end()
        host.over.wait(STOP_S)
        host.end()
        ended = self._ended
        if ended is None:
            whole = adopt(self.path)
            remark = gone or "the recorder did not end normally"
            self._recording = replace(whole, remarks=(f"at {whole.seconds:.1f} s: {remark}",))
        else:
            frames, remarks = int(ended["frames"]), tuple(ended["remarks"])
            self._recording = Recording(
                self.path, self.rate, self.channels, frames / self.rate, frames, remarks
            )
        return self._recording

    def _hear(self, message: Message) -> None:
        """In the thread that listens to the host."""
        event = message["event"]
        self._heard_s = time.monotonic()
        if "zero_s" in message:
            self._zero_s, self._frames = message["zero_s"], message["frames"]
        if event == "level":
            self.level = Level(message["peak_dbfs"], message["rms_dbfs"], message["clipped"])
        elif event == "alarm":
            self._alarm = message["alarm"]
        elif event == "ready":
            self.device, self.rate = message["device"], message["rate"]
            self.source, self.uncertainty_s = message["source"], message["uncertainty_s"]
            self._ready.set()
        elif event == "ended":
            self._ended = message


def unfinished(folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the recordings in a folder that are begun, not growing now, and not imported."""
    return tuple(p for p in sorted(Path(folder).glob("*.part")) if not is_growing(p))


def adopt(path: str | os.PathLike[str]) -> Recording:
    """Complete an unfinished recording: its header then covers all written samples.

    The file stays where it is, under its name; nothing of its sound is touched.
    """
    file = Path(path)
    try:
        rate, channels, frames = repair(file)
    except OSError as error:
        raise TabwbError(f"cannot be imported: {error.strerror}", where=str(file)) from error
    return Recording(file, rate, channels, frames / rate, frames)
