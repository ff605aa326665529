"""Sound files of every kind come in by one road."""

from __future__ import annotations

import os
import subprocess
import sys
import wave
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import soundfile

from tabwb.records.errors import TabwbError
from tabwb.speech.capture import samples_of
from tabwb.speech.files import Samples, check_whole, info, read_clip, sound_files, write_wav
from tabwb.speech.recorder import adopt, unfinished
from tabwb.speech.wav import HEADER, WavWriter, header, is_growing, repair


def sine(seconds: float, rate: int, hz: float = 440.0, peak: float = 0.5) -> Samples:
    t = np.arange(round(seconds * rate)) / rate
    return (peak * np.sin(2 * np.pi * hz * t)).astype(np.float32)


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_file_whose_name_is_not_utf_8_is_read(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"d\xffog.wav")
    try:
        path.touch()
    except OSError:
        pytest.skip("this file system allows no such name")
    soundfile.write(os.fsencode(path), sine(0.1, 8_000), 8_000)
    assert info(path).frames == 800


@pytest.mark.parametrize(
    ("suffix", "subtype", "rate"),
    [
        (".wav", "PCM_16", 8_000),
        (".wav", "PCM_24", 96_000),
        (".wav", "FLOAT", 44_100),
        (".flac", "PCM_24", 48_000),
        (".ogg", "VORBIS", 44_100),
        (".ogg", "OPUS", 48_000),
        (".mp3", "MPEG_LAYER_III", 22_050),
    ],
)
def test_every_usual_format_is_read_at_its_own_rate(
    tmp_path: Path, suffix: str, subtype: str, rate: int
) -> None:
    path = tmp_path / f"tone{suffix}"
    written = sine(1.0, rate)
    soundfile.write(path, written, rate, subtype=subtype)
    samples, read_rate = read_clip(path)
    assert read_rate == rate == info(path).rate
    assert samples.dtype == np.float32
    assert abs(len(samples) / rate - 1.0) < 0.06  # MP3 pads its frames
    # Measured apart from reading: the strongest frequency is the one that was written.
    spectrum = np.abs(np.fft.rfft(samples[:rate] * np.hanning(len(samples[:rate]))))
    assert abs(int(spectrum.argmax()) * rate / len(samples[:rate]) - 440.0) < 1.5


def test_two_channels_become_their_mean(tmp_path: Path) -> None:
    path = tmp_path / "stereo.wav"
    left, right = sine(0.1, 16_000, 300.0), sine(0.1, 16_000, 700.0)
    soundfile.write(path, np.column_stack((left, right)), 16_000, subtype="FLOAT")
    samples, _ = read_clip(path)
    assert info(path).channels == 2
    np.testing.assert_allclose(samples, (left + right) / 2, atol=1e-7)


def test_a_stretch_is_cut_at_its_seconds(tmp_path: Path) -> None:
    path = tmp_path / "ramp.wav"
    soundfile.write(path, np.arange(1000, dtype=np.int16), 1_000)
    samples, rate = read_clip(path, 0.25, 0.5)
    assert (samples * 32768).tolist() == list(range(250, 500))
    assert rate == 1_000
    # Beyond the end there is nothing.
    assert [len(read_clip(path, begin, 3.0)[0]) for begin in (0.9, 2.0)] == [100, 0]
    with pytest.raises(TabwbError, match="cannot go from 2 s to 1 s"):
        read_clip(path, 2.0, 1.0)


@pytest.mark.parametrize("suffix", [".flac", ".ogg", ".mp3"])
def test_a_stretch_of_a_compressed_file_is_that_of_the_whole(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"sweep{suffix}"
    t = np.arange(32_000) / 16_000
    soundfile.write(path, 0.5 * np.sin(2 * np.pi * (200 + 400 * t) * t), 16_000)
    whole, _ = read_clip(path)
    part, _ = read_clip(path, 0.7, 1.1)
    np.testing.assert_allclose(part, whole[11_200:17_600], atol=2e-3)


@pytest.mark.parametrize("told", [0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000])
def test_a_wav_that_was_streamed_and_never_ended_is_read_whole(tmp_path: Path, told: int) -> None:
    path = tmp_path / "piped.wav"
    soundfile.write(path, sine(0.5, 16_000), 16_000, subtype="PCM_16")
    raw = bytearray(path.read_bytes())
    raw[40:44] = told.to_bytes(4, "little")
    path.write_bytes(raw)
    assert len(read_clip(path)[0]) == 8_000


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "No such file"), (b"", "is empty"), (b"just some text", "cannot be read as sound")],
)
def test_what_is_no_sound_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "notes.wav"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TabwbError, match=said) as caught:
        read_clip(path)
    assert str(path) in str(caught.value)
    samples = sine(0.1, 8_000)
    samples[5] = np.nan
    soundfile.write(path, samples, 8_000, subtype="FLOAT")
    with pytest.raises(TabwbError, match="not numbers"):
        read_clip(path)


def test_a_folder_stands_for_the_sound_files_in_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "notes.txt").touch()
    with pytest.raises(TabwbError, match="no sound file"):
        sound_files([tmp_path])
    for name in ("b.WAV", "a.flac", "deep/c.mp3"):
        (tmp_path / name).touch()
    found = sound_files([tmp_path])
    assert [p.relative_to(tmp_path).as_posix() for p in found] == ["a.flac", "b.WAV", "deep/c.mp3"]


def test_what_is_written_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    tone = sine(0.2, 16_000)
    write_wav(path, tone, 16_000)
    assert path.stat().st_mode & 0o777 == 0o600
    np.testing.assert_allclose(read_clip(path)[0], tone, atol=1.0 / 32768)


@pytest.mark.parametrize(
    ("name", "kept", "said"),
    [
        ("a.wav", 0.5, r"is cut off: only its first 0\.50 s are there"),
        ("a.flac", 0.5, "is damaged"),
        ("a.ogg", 0.2, "holds no sound|cannot be read as sound"),
        ("a.mp3", 0.4, "is cut off"),
        ("a.mp3", 0.1, "no sound is found in it|is cut off"),
    ],
)
def test_a_file_that_was_cut_off_is_found_before_anything_rests_on_it(
    tmp_path: Path, name: str, kept: float, said: str
) -> None:
    path = tmp_path / name
    noise = np.random.default_rng(1).normal(0, 0.1, 16_000).astype(np.float32)
    soundfile.write(path, noise, 16_000)
    assert check_whole(path).seconds == pytest.approx(1.0, abs=0.1)
    whole = path.read_bytes()
    path.write_bytes(whole[: round(len(whole) * kept)])
    with pytest.raises(TabwbError, match=said):
        check_whole(path)


@pytest.mark.parametrize("length", [0, 0xFFFF_FFFF, 16_000 * 2 + 44])
def test_a_wav_of_unknown_length_is_whole(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, sine(1.0, 16_000), 16_000)
    content = bytearray(path.read_bytes())
    content[4:8] = length.to_bytes(4, "little")
    path.write_bytes(content)
    assert check_whole(path).frames == 16_000


def test_a_file_that_may_not_be_read_is_told_as_that() -> None:
    user = os.geteuid()
    with TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        path = Path(folder) / "a.wav"
        soundfile.write(path, sine(0.1, 16_000), 16_000)
        path.chmod(0)
        path.parent.chmod(0o755)
        try:
            if user == 0:
                os.seteuid(65_534)
            with pytest.raises(TabwbError, match="cannot be read: Permission denied"):
                info(path)
        finally:
            os.seteuid(user)


def test_ten_hours_in_a_small_file_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "long.flac"
    silence = np.zeros(1_000 * 600, dtype=np.float32)
    with soundfile.SoundFile(path, "w", 1_000, 1, format="FLAC", subtype="PCM_16") as sound:
        for _ in range(60):
            sound.write(silence)
    assert path.stat().st_size < 5_000_000
    with pytest.raises(TabwbError, match=r"10\.0 hours"):
        read_clip(path)
    samples, _ = read_clip(path, 35_000.0, 35_001.0)
    assert len(samples) == 1_000


@pytest.mark.parametrize(("rate", "channels"), [(1, 1), (999, 1), (16_000, 65)])
def test_an_absurd_rate_or_number_of_channels_is_refused(
    tmp_path: Path, rate: int, channels: int
) -> None:
    path = tmp_path / "odd.wav"
    soundfile.write(path, np.zeros((100, channels), dtype=np.float32), rate)
    with pytest.raises(TabwbError, match=f"{channels} channels of {rate} samples"):
        info(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_not_a_regular_file_is_refused_unread(tmp_path: Path) -> None:
    pipe = tmp_path / "a.wav"
    os.mkfifo(pipe)
    for place in (pipe, Path("/dev/zero")):
        with pytest.raises(TabwbError, match="is not a regular file"):
            read_clip(place)


def pcm(values: list[int]) -> bytes:
    return b"".join(value.to_bytes(3, "little", signed=True) for value in values)


def left(path: Path, data: bytes, told: int, channels: int = 1) -> Path:
    """A file as a power failure may leave it: its header tells of ``told`` frames."""
    path.write_bytes(header(48_000, channels, told) + data)
    return path


def test_what_is_written_is_read_back_by_every_reader(tmp_path: Path) -> None:
    values = [0, 1, -1, 2**23 - 1, -(2**23), 12345, -98765]
    writer = WavWriter(tmp_path / "a.wav", 48_000, 1)
    writer.write(pcm(values[:2]))
    writer.write(pcm(values[2:]))
    writer.close()
    assert (soundfile.read(writer.path, dtype="int32")[0] >> 8).tolist() == values
    with wave.open(str(writer.path)) as reader:
        assert reader.readframes(99) == pcm(values)
        assert (reader.getframerate(), reader.getsampwidth()) == (48_000, 3)
    # 24 bits become floats as libsndfile makes them.
    oracle, _ = soundfile.read(writer.path, dtype="float32")
    np.testing.assert_array_equal(samples_of(pcm(values), 1), oracle)
    with pytest.raises(FileExistsError):
        WavWriter(writer.path, 48_000, 1)
    writer = WavWriter(tmp_path / "b.wav", 44_100, 2)
    writer.write(pcm([1 << 16, -(1 << 16), 2 << 16, -(2 << 16)]))
    writer.close()
    samples, _ = soundfile.read(writer.path)
    np.testing.assert_allclose(samples * 128, [[1, -1], [2, -2]])


@pytest.mark.parametrize("told", [0, 1, 5, 99, 2**31])
def test_a_wrong_header_is_put_right(tmp_path: Path, told: int) -> None:
    path = tmp_path / "a.wav.part"
    path.write_bytes(header(48_000, 1, 5)[:40] + (3 * told % 2**32).to_bytes(4, "little"))
    with path.open("ab") as file:
        file.write(pcm([1, 2, 3, 4, 5]))
    assert repair(path) == (48_000, 1, 5)
    assert (soundfile.read(path, dtype="int32")[0] >> 8).tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("killed", [False, True])
def test_a_finished_file_has_the_even_length_that_riff_asks_for(
    tmp_path: Path, count: int, killed: bool
) -> None:
    path = tmp_path / "a.wav.part"
    if killed:
        left(path, pcm([7] * count), 0)
        assert adopt(path).frames == count
    else:
        writer = WavWriter(path, 48_000, 1)
        writer.write(pcm([7] * count))
        writer.close()
    size = path.stat().st_size
    assert size % 2 == 0
    assert int.from_bytes(path.read_bytes()[4:8], "little") == size - 8
    assert adopt(path).frames == count == soundfile.info(path).frames


def test_half_a_frame_at_the_end_is_not_told_of(tmp_path: Path) -> None:
    path = left(tmp_path / "a.wav.part", pcm([1, 2, 3, 4]) + b"\1\2", 0, channels=2)
    made = adopt(path)
    assert (made.frames, made.channels, made.seconds) == (2, 2, 2 / 48_000)
    assert soundfile.info(path).frames == 2
    assert adopt(left(tmp_path / "b.wav.part", b"", 0)).frames == 0


@pytest.mark.parametrize("content", [b"", b"RIFF", b"\0" * 100])
def test_what_was_not_recorded_here_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.wav.part"
    with pytest.raises(TabwbError, match=r"(?s)a\.wav\.part.*No such file"):
        adopt(path)
    path.write_bytes(content)
    with pytest.raises(TabwbError, match="not an interrupted recording"):
        adopt(path)
    assert path.read_bytes() == content


def test_only_parts_that_nobody_writes_are_unfinished(tmp_path: Path) -> None:
    growing = WavWriter(tmp_path / "growing.wav.part", 48_000, 1)
    old = left(tmp_path / "old.wav.part", pcm([1]), 1)
    left(tmp_path / "done.wav", pcm([1]), 1)
    assert unfinished(tmp_path) == (old,)
    assert is_growing(growing.path)
    growing.close()
    assert unfinished(tmp_path) == (growing.path, old)


FILL = """
import errno, resource, sys
from pathlib import Path
from tabwb.speech.wav import WavWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
writer = WavWriter(Path(sys.argv[1]), 48_000, 2)
try:
    for n in range(100):
        writer.write(bytes([n]) * 60)
except OSError as error:
    print(errno.errorcode[error.errno], writer.frames)
"""


@pytest.mark.parametrize("most", [1000, 20])
def test_when_the_disk_is_full_all_whole_frames_stay_or_no_file(tmp_path: Path, most: int) -> None:
    path = tmp_path / "a.wav"
    code = FILL.replace("(1000, 1000)", f"({most}, {most})")
    done = subprocess.run([sys.executable, "-Bc", code, str(path)], capture_output=True, text=True)
    if most < HEADER:
        assert (done.returncode, path.exists()) == (1, False)
        return
    frames = (most - HEADER) // 6
    assert done.stdout.split() == ["EFBIG", str(frames)]
    assert soundfile.info(path).frames == frames
    assert path.stat().st_size == most
