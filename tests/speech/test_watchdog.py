"""Microphones and sound servers that go, hang, or are exchanged while they record."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tabwb.records.errors import ComponentError
from tabwb.speech.files import info
from tabwb.speech.process import Device, pick
from tabwb.speech.recorder import Recorder
from tests.speech.recording import recording
from tests.speech.virtual_microphone import VirtualMicrophone
from tests.waiting import until


def test_a_microphone_that_is_pulled_out_is_told_at_once(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recorder = recording(tmp_path / "take.wav")
    time.sleep(0.5)
    microphone.unplug()
    took = until(lambda: recorder.alarm)
    assert took < 3.0
    assert recorder.alarm is not None and f"Monitor of {microphone.name}" in recorder.alarm
    until(lambda: recorder.alarm is not None)
    made = recorder.stop()
    assert made.seconds > 0.4
    assert len(made.remarks) >= 1 and made.remarks[0].startswith("at ")
    assert info(made.path).frames == made.frames


def test_what_c_libraries_print_stays_off_the_screen(
    microphone: VirtualMicrophone, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recorder = recording(tmp_path / "take.wav")
    microphone.unplug()  # of which PortAudio writes three lines to C's stderr
    until(lambda: recorder.alarm)
    recorder.stop()
    assert "Expression" in recorder.printed
    assert tuple(capfd.readouterr()) == ("", "")


def test_another_source_that_is_silently_taken_is_told(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    microphone.add("spare")
    recorder = recording(tmp_path / "take.wav")
    time.sleep(0.5)
    microphone.unplug()
    until(lambda: recorder.alarm and "another source" in recorder.alarm)
    assert recorder.alarm == (
        f"sound comes from another source now: Monitor of spare, not Monitor of {microphone.name}"
    )
    made = recorder.stop()
    assert any("another source" in remark for remark in made.remarks)


def test_a_source_that_comes_back_ends_the_alarm(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    microphone.add("spare")
    recorder = recording(tmp_path / "take.wav")
    streams = json.loads(microphone.server.pactl("-f", "json", "list", "source-outputs"))
    (output,) = [
        str(stream["index"])
        for stream in streams
        if stream["properties"].get("application.process.id") == str(recorder.pid)
    ]
    microphone.server.pactl("move-source-output", output, "spare.monitor")
    until(lambda: recorder.alarm)
    microphone.server.pactl("move-source-output", output, f"{microphone.name}.monitor")
    until(lambda: recorder.alarm is None)
    assert len(recorder.stop().remarks) == 1


def test_a_recorder_that_stands_still_is_told_and_loses_nothing_that_the_system_keeps(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recorder = recording(tmp_path / "take.wav")
    began = time.monotonic() - recorder.now_s
    os.kill(recorder.pid, signal.SIGSTOP)  # as starved as can be
    try:
        until(lambda: recorder.alarm == "the recorder does not answer")
    finally:
        os.kill(recorder.pid, signal.SIGCONT)
    until(lambda: recorder.alarm is None)
    time.sleep(1.5)
    assert recorder.alarm is None
    elapsed = time.monotonic() - began
    made = recorder.stop()
    assert elapsed - 0.25 < made.seconds < time.monotonic() - began + 0.25
    assert not any("missing" in remark for remark in made.remarks)


def test_sound_that_is_lost_is_told_with_its_length(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recorder = recording(tmp_path / "take.wav")
    began = time.monotonic() - recorder.now_s
    time.sleep(0.5)
    microphone.server.pactl("suspend-sink", microphone.name, "1")
    until(lambda: "no sound comes from Monitor of" in (recorder.alarm or ""))
    time.sleep(0.5)
    microphone.server.pactl("suspend-sink", microphone.name, "0")
    until(lambda: "of sound are missing" in (recorder.alarm or ""))
    time.sleep(0.5)  # all is well again, and it is still shown
    assert recorder.alarm is not None
    before = time.monotonic() - began
    made = recorder.stop()
    after = time.monotonic() - began
    (told,) = [remark for remark in made.remarks if "of sound are missing" in remark]
    missing = float(told.split(": ")[1].split()[0])
    assert missing > 0.9
    assert before - made.seconds - 0.25 < missing < after - made.seconds + 0.25


def test_a_sound_server_that_hangs_is_told(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    recorder = recording(tmp_path / "take.wav")
    daemon = microphone.server.daemon
    daemon.send_signal(signal.SIGSTOP)
    try:
        until(lambda: "no sound comes" in (recorder.alarm or ""))
        made = recorder.stop()
    finally:
        daemon.send_signal(signal.SIGCONT)
    assert info(made.path).frames == made.frames > 0


def test_a_sound_server_that_hangs_at_the_start_is_an_error_and_leaves_no_file(
    microphone: VirtualMicrophone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = pick(None)
    monkeypatch.setattr("tabwb.speech.recorder.ANSWER_S", 1.5)
    daemon = microphone.server.daemon
    daemon.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(ComponentError, match="did not answer"):
            Recorder(chosen, tmp_path / "take.wav").start()
    finally:
        daemon.send_signal(signal.SIGCONT)
    assert list(tmp_path.iterdir()) == []


def test_a_microphone_that_went_since_it_was_listed_is_named(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    gone = Device(7, "Headset", "ALSA", 1, 48_000, False)
    with pytest.raises(ComponentError, match="Headset: this microphone is not there any more"):
        Recorder(gone, tmp_path / "take.wav").start()
    assert list(tmp_path.iterdir()) == []
