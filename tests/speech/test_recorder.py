"""Recording for real: a virtual microphone into which recorded words are played."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import wave
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from tabwb.records.errors import ComponentError, TabwbError
from tabwb.speech.capture import Taking
from tabwb.speech.files import info, read_clip
from tabwb.speech.level import onset
from tabwb.speech.process import Device, pick
from tabwb.speech.recorder import Recorder, adopt, unfinished
from tabwb.speech.wav import WavWriter
from tests.builders import DOG, SPEECH
from tests.speech.recording import likeness, recording, spoken
from tests.speech.virtual_microphone import RATE, VirtualMicrophone
from tests.waiting import until


def test_a_word_that_is_spoken_is_what_is_recorded_and_found_meanwhile(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recorder = recording(tmp_path / "take.wav.part")
    with pytest.raises(TabwbError, match="is still being recorded"):
        adopt(recorder.path)
    silence_s = info(recorder.path).seconds
    began_s = spoken(microphone, recorder.path)
    # While the recording goes on; a word that had a gap is spoken again.
    from_s = max(began_s - 0.1, 0.0)
    found = onset(*read_clip(recorder.path, from_s, recorder.now_s))
    made = recorder.stop()
    alone = onset(*read_clip(DOG))
    assert found is not None and alone is not None and began_s + alone.s > silence_s
    heard, rate = read_clip(recorder.path)
    alike, at_s = likeness(heard, rate, DOG)
    assert alike > 0.99 and likeness(heard, rate, SPEECH / "house_e1469561_0.flac")[0] < 0.5
    assert from_s + found.s == pytest.approx(at_s + alone.s, abs=0.03)
    # It is a WAV of 24 bits at the device's rate, for its owner alone.
    told = info(made.path)
    assert (told.format, told.subtype, told.channels) == ("WAV", "PCM_24", 1)
    assert told.rate == made.rate == RATE and told.frames == made.frames
    assert made.path.stat().st_mode & 0o777 == 0o600 and made.remarks == ()


def test_two_channels_are_recorded_where_they_are_wanted(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recorder = Recorder(pick(None), tmp_path / "take.wav", channels=2)
    recorder.start()
    sides = tmp_path / "sides.wav"
    t = np.arange(RATE) / RATE
    left, right = (0.3 * np.sin(2 * np.pi * hz * t) for hz in (300, 900))
    soundfile.write(sides, np.column_stack((left, right)), RATE)
    microphone.speak(sides).wait()
    made = recorder.stop()
    heard, _ = soundfile.read(made.path)
    strongest = np.abs(np.fft.rfft(heard, axis=0)).argmax(axis=0) / made.seconds
    assert made.channels == 2
    assert strongest == pytest.approx([300, 900], abs=2)


def test_ready_means_that_sound_has_come(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    # Nobody keeps this sink awake, so that its first sound is late.
    microphone.add("sleepy", awake=False)
    microphone.server.pactl("set-default-source", "sleepy.monitor")
    recorder = recording(tmp_path / "take.wav")
    assert info(recorder.path).frames > 0
    assert recorder.source == "Monitor of sleepy"
    assert recorder.alarm is None
    recorder.stop()


def test_the_growing_file_is_whole_at_every_moment(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recorder = recording(tmp_path / "take.wav.part")
    seen = []
    for _ in range(40):
        with wave.open(str(recorder.path)) as reader:
            told = reader.getnframes()
            assert len(reader.readframes(told)) == told * 3
        seen.append(told)
        time.sleep(0.02)
    recorder.stop()
    assert seen == sorted(seen) and len(set(seen)) > 3


def test_the_position_runs_with_the_clock_and_nothing_of_the_end_is_lost(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recorder = recording(tmp_path / "take.wav")
    time.sleep(0.5)
    first, began = recorder.now_s, time.monotonic()
    time.sleep(1.5)
    last, ended = recorder.now_s, time.monotonic()
    assert last - first == pytest.approx(ended - began, abs=0.1)
    before = recorder.now_s
    made = recorder.stop()
    assert made.seconds >= before - recorder.uncertainty_s
    assert recorder.now_s == made.seconds


def test_the_level_follows_what_is_spoken(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    recorder = recording(tmp_path / "take.wav")
    loud = tmp_path / "loud.wav"
    tone = np.sin(2 * np.pi * 300 * np.arange(2 * RATE) / RATE)
    soundfile.write(loud, np.clip(3 * tone, -1, 1), RATE)
    assert recorder.level.peak_dbfs < -60 and not recorder.level.clipped
    microphone.speak(loud)
    until(lambda: recorder.level.clipped)
    assert recorder.level.peak_dbfs > -0.1
    recorder.stop()


def test_a_recorder_that_is_killed_leaves_a_file_that_reads_whole(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recorder = recording(tmp_path / "take.wav.part")
    time.sleep(0.7)
    os.kill(recorder.pid, signal.SIGKILL)
    until(lambda: recorder.alarm)
    assert recorder.alarm is not None and "ended unexpectedly" in recorder.alarm
    size = recorder.path.stat().st_size
    with wave.open(str(recorder.path)) as reader:
        assert reader.getnframes() == (size - 44) // 3  # before anything repaired it
    made = recorder.stop()
    assert made.frames == (size - 44) // 3
    assert "ended unexpectedly" in made.remarks[0]


PROGRAM = """
import sys, time
from tabwb.speech.process import pick
from tabwb.speech.recorder import Recorder
recorder = Recorder(pick(None), sys.argv[1])
recorder.start()
print(recorder.pid, flush=True)
time.sleep(60)
"""


def test_a_program_that_is_killed_leaves_a_take_that_is_offered(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    path = tmp_path / "take.wav.part"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline()
        assert unfinished(tmp_path) == ()  # it is growing
        spoken(microphone, path)
        program.kill()
    until(lambda: unfinished(tmp_path) == (path,))
    made = adopt(path)
    assert made.frames == (path.stat().st_size - 44) // 3
    assert likeness(*read_clip(path), DOG)[0] > 0.99


def test_a_full_disk_is_told_at_once_and_what_was_written_stays(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recorder = recording(tmp_path / "take.wav")
    limit = 44 + 3 * RATE + 1  # one second, and not a whole frame more
    resource.prlimit(recorder.pid, resource.RLIMIT_FSIZE, (limit, limit))
    until(lambda: recorder.alarm)
    assert recorder.alarm is not None
    assert "the file cannot grow" in recorder.alarm and "is kept" in recorder.alarm
    made = recorder.stop()
    assert made.frames == RATE == info(made.path).frames
    assert "the file cannot grow" in made.remarks[0]


def test_the_recording_does_not_starve_while_the_program_computes(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recorder = recording(tmp_path / "take.wav")
    over = threading.Event()

    def hold_the_interpreter() -> None:
        while not over.is_set():
            sum(range(3_000_000))  # one bytecode that lets nobody else run

    threads = [threading.Thread(target=hold_the_interpreter) for _ in range(2)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    time.sleep(1.0)
    over.set()
    for thread in threads:
        thread.join()
    elapsed = time.monotonic() - began
    made = recorder.stop()
    assert made.seconds > elapsed - 0.1
    assert made.remarks == ()


def test_nothing_is_recorded_over_or_from_what_went_since_it_was_listed(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    path = tmp_path / "take.wav"
    gone = Device(7, "Headset", "ALSA", 1, 48_000, False)
    with pytest.raises(ComponentError, match="Headset: this microphone is not there any more"):
        Recorder(gone, path).start()
    assert list(tmp_path.iterdir()) == []
    path.write_bytes(b"an earlier take")
    with pytest.raises(ComponentError, match="cannot record there: File exists") as caught:
        recording(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == b"an earlier take"


CAPTURED_HZ = 1_000
BLOCK = bytes(3 * CAPTURED_HZ // 10)
"""A tenth of a second."""


class Tape:
    """A recording that is fed by hand, and what it told."""

    def __init__(self, folder: Path) -> None:
        self.told: list[Mapping[str, Any]] = []
        self.taking = Taking(
            WavWriter(folder / "a.wav", CAPTURED_HZ, 1),
            "Mic",
            CAPTURED_HZ,
            1,
            0.1,
            self.told.append,
        )

    def feed(self, *times: float) -> None:
        """Blocks that came at these seconds, each looked at as it came."""
        for at in times:
            self.taking.take((BLOCK, at))
            self.taking.watch(at, False, "")

    @property
    def alarms(self) -> list[str | None]:
        return [each["alarm"] for each in self.told if each["event"] == "alarm"]


@pytest.fixture
def tape(tmp_path: Path) -> Tape:
    return Tape(tmp_path)


def steadily(start: float, end: float, step: float = 0.1) -> list[float]:
    return [start + i * step for i in range(round((end - start) / step))]


@pytest.mark.parametrize(
    ("times", "alarms"),
    [
        (steadily(0.1, 20.0), []),
        (steadily(0.1, 400.0, 0.1 * 1.0009), []),  # a clock that is a little off
        ([*steadily(0.1, 5.0), *steadily(7.0, 9.0)],
         ["2.0 s of sound are missing: the computer is too busy, or the device"]),
        (steadily(0.1, 10.0, 0.05), ["Mic sends more sound than fits its rate of 1000 Hz"]),
    ],
    ids=["on time", "clock", "gap", "rate"],
)  # fmt: skip
def test_sound_that_does_not_fit_its_time_gives_an_alarm(
    tape: Tape, times: list[float], alarms: list[str]
) -> None:
    tape.feed(*times)
    assert tape.alarms == alarms


def test_a_burst_of_late_sound_is_not_missing(tape: Tape) -> None:
    tape.feed(*steadily(0.1, 5.0), *[8.0 + i / 1000 for i in range(30)], *steadily(8.1, 12.0))
    assert not any("missing" in alarm for alarm in tape.alarms if alarm)


def test_gaps_that_add_up_are_missing_sound(tape: Tape) -> None:
    # One block in twenty is lost: no gap is long, and a minute lacks three seconds.
    times = [at for i, at in enumerate(steadily(0.1, 60.0)) if i % 20]
    tape.feed(*times)
    assert tape.alarms and tape.alarms[0] is not None and "are missing" in tape.alarms[0]


def test_silence_of_the_device_is_told(tape: Tape) -> None:
    tape.feed(*steadily(0.1, 1.0))
    tape.taking.watch(1.3, False, "")
    assert tape.alarms == []
    tape.taking.watch(1.5, False, "")
    assert tape.alarms[-1] == "no sound comes from Mic any more"


def test_a_position_is_that_of_the_promptest_block(tape: Tape) -> None:
    tape.feed(0.10, 0.23, 0.31, 0.49)
    # The first came just as its tenth ended; half of the latency of 0.1 s is taken off.
    assert tape.taking.position()["zero_s"] == pytest.approx(0.0 - 0.05)
    assert tape.taking.position()["frames"] == 400


def test_a_microphone_that_is_pulled_out_is_told_at_once_and_on_the_screen_by_nobody(
    microphone: VirtualMicrophone, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recorder = recording(tmp_path / "take.wav")
    time.sleep(0.5)
    microphone.unplug()  # of which PortAudio writes three lines to C's stderr
    took = until(lambda: recorder.alarm)
    assert took < 3.0
    assert recorder.alarm is not None and f"Monitor of {microphone.name}" in recorder.alarm
    made = recorder.stop()
    assert made.seconds > 0.4
    assert len(made.remarks) >= 1 and made.remarks[0].startswith("at ")
    assert info(made.path).frames == made.frames
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


def test_a_sound_server_that_hangs_is_told_and_at_the_start_leaves_no_file(
    microphone: VirtualMicrophone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = recording(tmp_path / "take.wav")
    chosen, daemon = pick(None), microphone.server.daemon
    daemon.send_signal(signal.SIGSTOP)
    try:
        until(lambda: "no sound comes" in (recorder.alarm or ""))
        made = recorder.stop()
        monkeypatch.setattr("tabwb.speech.recorder.ANSWER_S", 1.5)
        with pytest.raises(ComponentError, match="did not answer"):
            Recorder(chosen, tmp_path / "other.wav").start()
    finally:
        daemon.send_signal(signal.SIGCONT)
    assert info(made.path).frames == made.frames > 0
    assert list(tmp_path.iterdir()) == [made.path]
