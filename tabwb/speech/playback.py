"""Playing a sound file: to hear a microphone test, a response, a model."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from tabwb.records.errors import ComponentError
from tabwb.records.system import need
from tabwb.speech.files import read_clip
from tabwb.speech.portaudio import HostError, Tell, find, portaudio, said
from tabwb.speech.process import ANSWER_S, Device, Message, SoundHost

BLOCK_S = 0.05
LATENCY_S = 0.4
"""Requested latency, against gaps on a busy machine."""


class Playback:
    """Plays a stretch of a file once."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        start_s: float = 0.0,
        end_s: float | None = None,
        device: Device | None = None,
    ) -> None:
        samples, rate = read_clip(path, start_s, end_s)  # so that its errors come here and now
        self.seconds = len(samples) / rate
        self._options: Mapping[str, object] = {
            "path": os.path.abspath(path),  # noqa: PTH100 - of a str or a path alike
            "start_s": start_s,
            "end_s": end_s,
            "device": device.name if device else None,
            "host": device.host if device else None,
        }
        self._host: SoundHost | None = None
        self._began = threading.Event()
        self._heard_from = 0.0

    def start(self) -> None:
        """Begin; return when it sounds."""
        if self._host is not None:
            raise ComponentError("a playback plays once")
        self._host = SoundHost("play", self._options, self._hear)
        self._began.wait(ANSWER_S)
        if self._host.error is not None or not self._began.is_set():
            self._host.end()
            raise self._host.failure()

    @property
    def playing(self) -> bool:
        """Whether it sounds now."""
        return self._host is not None and not self._host.over.is_set()

    @property
    def played_s(self) -> float | None:
        """How much has been heard so far, seconds; None before the start and when it is over."""
        if not self.playing or not self._heard_from:
            return None
        return min(max(time.monotonic() - self._heard_from, 0.0), self.seconds)

    def wait(self) -> None:
        """Wait until it has been played."""
        assert self._host is not None
        finished = self._host.over.wait(self.seconds + ANSWER_S)
        self._host.end()
        if not finished or self._host.error is not None:
            raise self._host.failure()

    def stop(self) -> None:
        """Stop at once."""
        if self._host is not None:
            self._host.ask_to_end()
            self._host.end()

    def _hear(self, message: Message) -> None:
        if message["event"] == "playing":
            # What is written to the stream now is heard when its buffers have been played.
            self._heard_from = time.monotonic() + float(message.get("latency_s", 0.0))
        if message["event"] in {"playing", "over"}:
            self._began.set()


def play_here(options: Mapping[str, Any], tell: Tell, ending: threading.Event) -> None:
    """Play, inside the sound host."""
    sd = portaudio()
    device = find(sd, options, "output")
    samples, rate = read_clip(options["path"], options["start_s"], options["end_s"])
    try:
        sd.check_output_settings(device["index"], 1, "float32", None, rate)
    except sd.PortAudioError:
        samples = need("soxr", "playing at another rate").resample(samples, rate, device["rate"])
        rate = device["rate"]
    step = max(round(BLOCK_S * rate), 1)
    try:
        with sd.RawOutputStream(
            rate, device=device["index"], channels=1, dtype="float32", latency=LATENCY_S
        ) as stream:
            tell({"event": "playing", "latency_s": float(stream.latency)})
            # Stopping may cut off what is in the buffers: then that is this silence.
            silence = np.zeros(round((float(stream.latency) + BLOCK_S) * rate), dtype=np.float32)
            samples = np.concatenate((samples, silence))
            for start in range(0, len(samples), step):
                if ending.is_set():
                    stream.abort()
                    return
                stream.write(samples[start : start + step].astype(np.float32).tobytes())
            stream.stop()
    except sd.PortAudioError as error:
        raise HostError("open", f"does not play: {said(error)}", device["name"]) from error
    tell({"event": "played"})
