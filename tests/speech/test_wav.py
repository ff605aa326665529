"""A WAV that grows: read back by three readers, cut off at every place."""

from __future__ import annotations

import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tabwb.records.errors import TabwbError
from tabwb.speech.capture import samples_of
from tabwb.speech.recorder import adopt, unfinished
from tabwb.speech.wav import HEADER, WavWriter, header, is_growing, repair


def pcm(values: list[int]) -> bytes:
    return b"".join(value.to_bytes(3, "little", signed=True) for value in values)


def left(path: Path, data: bytes, told: int, channels: int = 1) -> Path:
    """A file as a power failure may leave it: its header tells of ``told`` frames."""
    path.write_bytes(header(48_000, channels, told) + data)
    return path


def test_what_is_written_is_read_back_by_every_reader(tmp_path: Path) -> None:
    values = [0, 1, -1, 2**23 - 1, -(2**23), 12345]
    writer = WavWriter(tmp_path / "a.wav", 48_000, 1)
    writer.write(pcm(values[:2]))
    writer.write(pcm(values[2:]))
    writer.close()
    assert (soundfile.read(writer.path, dtype="int32")[0] >> 8).tolist() == values
    with wave.open(str(writer.path)) as reader:
        assert reader.readframes(99) == pcm(values)
        assert (reader.getframerate(), reader.getsampwidth()) == (48_000, 3)


def test_two_channels_are_kept_apart(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "a.wav", 44_100, 2)
    writer.write(pcm([1 << 16, -(1 << 16), 2 << 16, -(2 << 16)]))
    writer.close()
    samples, _ = soundfile.read(writer.path)
    np.testing.assert_allclose(samples * 128, [[1, -1], [2, -2]])


def test_24_bits_become_floats_as_libsndfile_makes_them(tmp_path: Path) -> None:
    values = [0, 1, -1, 2**23 - 1, -(2**23), -98765]
    writer = WavWriter(tmp_path / "a.wav", 48_000, 1)
    writer.write(pcm(values))
    writer.close()
    oracle, _ = soundfile.read(writer.path, dtype="float32")
    np.testing.assert_array_equal(samples_of(pcm(values), 1), oracle)


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"here")
    with pytest.raises(FileExistsError):
        WavWriter(tmp_path / "a.wav", 48_000, 1)


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


def test_nothing_but_a_header_is_an_empty_recording(tmp_path: Path) -> None:
    assert adopt(left(tmp_path / "a.wav.part", b"", 0)).frames == 0


@pytest.mark.parametrize("content", [b"", b"RIFF", b"\0" * 100])
def test_what_was_not_recorded_here_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.wav.part"
    path.write_bytes(content)
    with pytest.raises(TabwbError, match="not an interrupted recording"):
        adopt(path)
    assert path.read_bytes() == content


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TabwbError, match="No such file") as caught:
        adopt(tmp_path / "gone.part")
    assert "gone.part" in str(caught.value)


def test_only_parts_that_nobody_writes_are_unfinished(tmp_path: Path) -> None:
    growing = WavWriter(tmp_path / "growing.wav.part", 48_000, 1)
    old = left(tmp_path / "old.wav.part", pcm([1]), 1)
    left(tmp_path / "done.wav", pcm([1]), 1)
    assert unfinished(tmp_path) == (old,)
    assert is_growing(growing.path)
    growing.close()
    assert unfinished(tmp_path) == (growing.path, old)


def test_a_disk_that_is_full_from_the_beginning_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    limited = FILL.replace("(1000, 1000)", "(20, 20)")
    done = subprocess.run([sys.executable, "-c", limited, str(path)], capture_output=True)
    assert done.returncode == 1
    assert not path.exists()


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


def test_when_the_disk_is_full_all_whole_frames_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(path)], capture_output=True, text=True, check=True
    )
    frames = (1000 - HEADER) // 6
    assert done.stdout.split() == ["EFBIG", str(frames)]
    assert soundfile.info(path).frames == frames
    assert path.stat().st_size == 1000
