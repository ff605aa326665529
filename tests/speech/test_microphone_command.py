"""``tabwb microphone`` and what ``tabwb doctor`` says of sound, with a virtual microphone."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from tabwb.cli.microphone import meter
from tabwb.speech.level import Level
from tests.administer.naming_parts import naming_battery
from tests.builders import DOG
from tests.cli.conftest import Run, in_process
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


class Giving:
    """The command, at which somebody types, and what it has said."""

    def __init__(self, words: Sequence[object]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tabwb.cli.main", *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.said = ""
        self.limit = threading.Timer(60.0, self.process.kill)
        self.limit.daemon = True
        self.limit.start()

    def hear(self, words: str) -> None:
        """Wait until the command says this."""
        assert self.process.stderr is not None
        while words not in self.said:
            read = self.process.stderr.read1(4096)  # type: ignore[attr-defined]
            assert read, f"'{words}' was not said: {self.said}"
            self.said += read.decode()
        self.said = self.said.partition(words)[2]

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()


def test_responses_are_given_through_the_microphone_and_survive_a_kill(
    microphone: VirtualMicrophone, tmp_path: Path, run: Run
) -> None:
    battery = naming_battery(tmp_path)
    run("speaker", "consent", "S-014", "--scope", "record", "--given")
    words = ["name", battery, "--speaker", "S-014", "--input", "mic", "--transcriber", "none"]
    giving = Giving(words)
    giving.hear("recording from")
    giving.type("")
    giving.hear("item 1/4  dog")
    microphone.speak(DOG).wait(10)
    time.sleep(0.3)
    giving.type("1")
    giving.hear("scored: right")
    giving.type("")
    giving.hear("item 2/4  cat")
    giving.process.kill()
    giving.process.wait(10)

    giving = Giving([*words, "--resume", 1, "--json"])
    giving.hear("an interrupted recording is kept")
    giving.hear("recording from")
    for line, answer in (("", "item 2/4  cat"), ("3", "scored: error"), ("", "item 3/4  tree")):
        giving.type(line)
        giving.hear(answer)
    giving.type("4 silent")
    giving.hear("scored: no-response")
    giving.type("d the speaker was tired")
    assert giving.process.wait(30) == 0
    document = run("results", "1", "--json").document
    assert document["administration"]["status"] == "discontinued"
    named = [trial["naming"] for trial in document["trials"]]
    assert [one["score"] for one in named] == ["right", "error", "no-response", None]
    assert 0.0 < named[0]["latency_s"] < named[0]["end_s"] - named[0]["start_s"]
    assert named[0]["recording"] != named[1]["recording"] == named[2]["recording"]
    assert len(document["recordings"]) == 2


def test_without_consent_or_microphone_nothing_is_begun(
    microphone: VirtualMicrophone, tmp_path: Path, run: Run
) -> None:
    words = ["name", naming_battery(tmp_path), "--speaker", "S-014", "--input", "mic"]
    refused = run(*words, status=1)
    assert (refused.status, "S-014 has not consented to recording" in refused.err) == (1, True)
    run("speaker", "consent", "S-014", "--scope", "record", "--scope", "transcribe", "--given")
    refused = in_process([*words, "--device", "pulze"])
    assert (refused.status, "did you mean 'pulse'?" in refused.err) == (2, True)
    assert run("results", "--json").document["administrations"] == []


def test_the_examiner_is_told_and_asked_where_the_rule_says_to_end(
    microphone: VirtualMicrophone, tmp_path: Path, run: Run
) -> None:
    battery = naming_battery(tmp_path, "discontinue = { after = 1 }")
    run("speaker", "consent", "S-014", "--scope", "record", "--given")
    words = ["name", battery, "--speaker", "S-014", "--input", "mic", "--transcriber", "none"]
    giving = Giving(words)
    for line, answer in (
        ("", "item 1/4  dog"),
        ("3", "! 1 item was not right"),
        ("g the speaker insists", "> "),
        ("", "item 2/4  cat"),
        ("3", "! 1 item was not right"),
        ("", "ended: 1 item was not right"),
    ):
        giving.type(line)
        giving.hear(answer)
    assert giving.process.wait(30) == 0
    document = run("results", "1", "--json").document
    assert document["administration"]["status"] == "discontinued"
    assert document["administration"]["reason"].startswith("1 item was not right")
    states = [trial["state"] for trial in document["trials"]]
    assert states == ["answered", "answered", "not-administered", "not-administered"]
    assert document["trials"][0]["notes"][0].startswith("not discontinued (the speaker insists)")
