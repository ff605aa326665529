"""``tabwb microphone`` and what ``tabwb doctor`` says of sound, with a virtual microphone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tabwb.cli.microphone import meter
from tabwb.speech.level import Level
from tests.cli.conftest import in_process
from tests.speech.virtual_microphone import RATE, VirtualMicrophone


def tone(path: Path, gain: float) -> Path:
    """Thirty seconds of a tone whose level comes and goes."""
    t = np.arange(30 * RATE) / RATE
    soundfile.write(path, np.clip(gain * np.sin(2 * np.pi * 300 * t) * (t % 1 < 0.6), -1, 1), RATE)
    return path


def test_what_there_is_is_listed(microphone: VirtualMicrophone) -> None:
    outcome = in_process(["microphone", "list"])
    assert outcome.status == 0
    assert "microphones:\n    0  pulse, ALSA, 32 channels, 44100 Hz\n*   1  default" in outcome.out
    document = in_process(["microphone", "list", "--json"]).document
    assert [each["name"] for each in document["microphones"]] == ["pulse", "default"]
    assert [each["default"] for each in document["loudspeakers"]] == [False, True]


def test_a_test_tells_what_was_heard_and_keeps_nothing(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    microphone.speak(tone(tmp_path / "tone.wav", 0.3))
    outcome = in_process(["microphone", "test", "--seconds", 1, "--no-playback", "--json"])
    assert outcome.status == 0, outcome.err
    document = outcome.document
    assert document["peak_dbfs"] == pytest.approx(20 * np.log10(0.3), abs=0.3)
    assert document["remarks"] == []
    assert document["source"] == f"Monitor of {microphone.name}"
    assert 0.8 < document["seconds"] < 3.0  # a busy machine stops late
    assert f"default (Monitor of {microphone.name}), 44100 Hz: speak for 1 s" in outcome.err
    kept = [each for each in tmp_path.rglob("*") if each.is_file() and each.stat().st_size]
    assert [each.name for each in kept] == ["tone.wav"]


def test_a_clipped_test_says_what_to_do_and_is_played_back(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    microphone.speak(tone(tmp_path / "tone.wav", 4.0))
    outcome = in_process(["microphone", "test", "--seconds", 1])
    assert outcome.status == 0, outcome.err
    assert "turn the input down" in outcome.out
    assert "playing it back" in outcome.err


def test_a_muted_microphone_ends_with_status_1(microphone: VirtualMicrophone) -> None:
    outcome = in_process(["microphone", "test", "--seconds", 1, "--no-playback"])
    assert outcome.status == 1
    assert "no signal at all" in outcome.out


def test_an_unknown_microphone_is_answered_with_those_there_are(
    microphone: VirtualMicrophone,
) -> None:
    outcome = in_process(["microphone", "test", "--device", "pulze"])
    assert outcome.status == 2
    assert "there is no microphone 'pulze'" in outcome.err
    assert "did you mean 'pulse'?" in outcome.err
    assert "1 default, ALSA" in outcome.err


def doctor() -> dict[str, dict[str, str]]:
    """Return what the command finds, without loading the bundled model."""
    code = (
        "import sys; from tabwb.cli import doctor, main\n"
        "doctor.is_installed = lambda module: module != 'torch'\n"
        "sys.exit(main.main(['doctor', '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return {each["what"]: each for each in json.loads(done.stdout)["findings"]}


def test_doctor_names_the_microphone(microphone: VirtualMicrophone) -> None:
    found = doctor()["microphone"]
    assert found["state"] == "ok"
    assert found["text"] == "default (ALSA), 44100 Hz, 1 other"


def test_doctor_notes_that_there_is_no_microphone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, microphone: VirtualMicrophone
) -> None:
    (tmp_path / "none.conf").write_text("pcm.gone { type no_such_plugin }\n")
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(tmp_path / "none.conf"))
    found = doctor()["microphone"]
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
