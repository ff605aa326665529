"""``tabwb microphone`` and what ``tabwb doctor`` says of sound, with a virtual microphone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from tabwb.cli.microphone import meter
from tabwb.speech.level import Level
from tests.cli.conftest import Run
from tests.speech.virtual_microphone import RATE, VirtualMicrophone


def tone(path: Path, gain: float) -> Path:
    """Thirty seconds of a tone whose level comes and goes."""
    t = np.arange(30 * RATE) / RATE
    soundfile.write(path, np.clip(gain * np.sin(2 * np.pi * 300 * t) * (t % 1 < 0.6), -1, 1), RATE)
    return path


def test_what_there_is_is_listed(microphone: VirtualMicrophone, run: Run) -> None:
    listed = run("microphone", "list").out
    assert "microphones:\n    0  pulse, ALSA, 32 channels, 44100 Hz\n*   1  default" in listed
    document = run("microphone", "list", "--json").document
    assert [each["name"] for each in document["microphones"]] == ["pulse", "default"]
    assert [each["default"] for each in document["loudspeakers"]] == [False, True]


def test_a_test_tells_what_was_heard_and_keeps_nothing(
    microphone: VirtualMicrophone, tmp_path: Path, run: Run
) -> None:
    microphone.speak(tone(tmp_path / "tone.wav", 0.3))
    outcome = run("microphone", "test", "--seconds", 1, "--no-playback", "--json")
    document = outcome.document
    assert document["peak_dbfs"] == pytest.approx(20 * np.log10(0.3), abs=0.3)
    assert document["remarks"] == []
    assert document["source"] == f"Monitor of {microphone.name}"
    assert document["seconds"] > 0.8
    assert f"default (Monitor of {microphone.name}), 44100 Hz: speak for 1 s" in outcome.err
    kept = [each for each in tmp_path.rglob("*") if each.is_file() and each.stat().st_size]
    assert [each.name for each in kept] == ["tone.wav"]


def test_a_clipped_test_says_what_to_do_and_is_played_back(
    microphone: VirtualMicrophone, tmp_path: Path, run: Run
) -> None:
    microphone.speak(tone(tmp_path / "tone.wav", 4.0))
    outcome = run("microphone", "test", "--seconds", 1, err="playing it back")
    assert "turn the input down" in outcome.out


def test_a_muted_microphone_ends_with_status_1(microphone: VirtualMicrophone, run: Run) -> None:
    outcome = run("microphone", "test", "--seconds", 1, "--no-playback", status=1)
    assert "no signal at all" in outcome.out


def test_an_unknown_microphone_is_answered_with_those_there_are(
    microphone: VirtualMicrophone, run: Run
) -> None:
    said = ["there is no microphone 'pulze'", "did you mean 'pulse'?", "1 default, ALSA"]
    run("microphone", "test", "--device", "pulze", status=2, err=said)


@pytest.fixture
def doctor(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Return what the command finds of the microphone, without loading the bundled model."""
    monkeypatch.setattr("tabwb.cli.doctor.is_installed", lambda module: module != "torch")

    def call() -> Any:
        found = run("doctor", "--json").document["findings"]
        return next(each for each in found if each["what"] == "microphone")

    return call


def test_doctor_names_the_microphone(
    microphone: VirtualMicrophone, doctor: Callable[[], Any]
) -> None:
    assert doctor()["text"] == "default (ALSA), 44100 Hz, 1 other"
    assert doctor()["state"] == "ok"


def test_doctor_notes_that_there_is_no_microphone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    microphone: VirtualMicrophone,
    doctor: Callable[[], Any],
) -> None:
    (tmp_path / "none.conf").write_text("pcm.gone { type no_such_plugin }\n")
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(tmp_path / "none.conf"))
    found = doctor()
    assert (found["state"], found["text"]) == ("note", "no microphone was found")


@pytest.mark.parametrize(
    ("level", "bar"),
    [
        (Level(), "[                              ] -144 dBFS     "),
        (Level(-30.0, -40.0), "[##########    |               ]  -30 dBFS     "),
        (Level(0.0, -3.0, clipped=True), "[#############################|]    0 dBFS CLIP"),
    ],
)
def test_the_meter_is_read_without_colours(level: Level, bar: str) -> None:
    assert meter(level) == bar
