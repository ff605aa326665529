"""Playing for real: what is played into the virtual microphone is heard there."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import soundfile

from tabwb.speech.files import read_clip
from tabwb.speech.playback import Playback
from tests.speech.recording import WORD, likeness, recording
from tests.speech.virtual_microphone import RATE, VirtualMicrophone


def test_what_is_played_is_heard(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    recorder = recording(tmp_path / "take.wav")
    playback = Playback(WORD)
    playback.start()
    assert playback.playing
    began = playback.played_s
    assert began is not None and 0.0 <= began < playback.seconds
    time.sleep(0.5)  # longer than the buffers
    later = playback.played_s
    assert later is None or later > began
    playback.wait()
    assert not playback.playing and playback.played_s is None
    made = recorder.stop()
    assert likeness(*read_clip(made.path), WORD)[0] > 0.99


def test_playing_stops_when_asked(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    long = tmp_path / "long.wav"
    soundfile.write(long, np.zeros(20 * RATE, dtype=np.float32), RATE)
    playback = Playback(long)
    playback.start()
    began = time.monotonic()
    playback.stop()
    assert time.monotonic() - began < 15.0
    assert not playback.playing
