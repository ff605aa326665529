"""Sound files of any usual kind, rate and number of channels, read as one channel.

WAV, FLAC, OGG (Vorbis, Opus), MP3 and AIFF are read with libsndfile. Stored files are never
altered; other rates or levels are derived copies (:mod:`tabwb.speech.condition`).
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import TabwbError
from tabwb.records.system import need

Samples = NDArray[np.float32]
"""One channel: shape (samples,), float32, full scale at -1 and 1. The rate is kept beside it."""

SUFFIXES = (".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff")
ALLOWED = "WAV, FLAC, OGG, MP3 or AIFF"
BLOCK = 1 << 18
"""Frames read at once when a whole file is checked."""
RATES = (1_000, 768_000)
"""The lowest and the highest sampling rate that is read, in Hz."""
MOST_CHANNELS = 64
LONGEST_S = 3600.0
"""The longest stretch that is read at once, in seconds. A small FLAC file can hold many hours."""
PLAYED = {"WAV": "audio/wav", "WAVEX": "audio/wav", "FLAC": "audio/flac", "OGG": "audio/ogg",
          "MP3": "audio/mpeg"}  # fmt: skip
"""Formats that browsers play, with the type by which they know them."""
EXACT = ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT")
"""Samples that a WAV file keeps as they are."""
SLACK_S = 0.2
"""An MP3 may state this many seconds more than it holds: its frames are counted in packets."""
MOST_RIFF = 0x7FFF_0000
"""Lengths from here on stand for "not known" in the head of a WAV file."""


@dataclass(frozen=True, slots=True)
class SoundInfo:
    """Description of a sound file: ``rate`` in Hz, ``frames`` per channel.

    ``format`` and ``subtype`` are those of libsndfile, such as ``WAV`` and ``PCM_24``.
    """

    path: Path
    rate: int
    channels: int
    frames: int
    format: str
    subtype: str

    @property
    def seconds(self) -> float:
        """How long the file is."""
        return self.frames / self.rate


def info(path: str | os.PathLike[str]) -> SoundInfo:
    """Return the description of a sound file."""
    with _open(path) as sound:
        size = (sound.samplerate, sound.channels, sound.frames)
        return SoundInfo(Path(path), *size, sound.format, sound.subtype)


def recorded_on(path: str | os.PathLike[str]) -> str:
    """Return the day that a sound file says it was recorded on, ISO 8601, or empty."""
    with _open(path) as sound:
        text = str(sound.copy_metadata().get("date", ""))
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        return ""


def check_whole(path: str | os.PathLike[str]) -> SoundInfo:
    """Read a file to its end, to find damage before it is used; return its description."""
    description = info(path)
    if description.frames == 0:
        raise TabwbError("holds no sound", where=os.fspath(path), allowed=ALLOWED)
    there, size = 0, Path(path).stat().st_size
    with _open(path) as sound, _reading(path):
        while block := len(sound.read(BLOCK, dtype="float32", always_2d=True)):
            there += block
    missing_s = (description.frames - there) / description.rate
    # libsndfile reads what is there of a WAV file and says nothing of the rest.
    missing_s += (_promised(Path(path)) - size) / size * there / description.rate
    if missing_s > SLACK_S:
        raise TabwbError(
            f"is cut off: only its first {there / description.rate:.2f} s are there",
            where=os.fspath(path),
            hint="copy it again, or keep the part that is there with: ffmpeg -i FILE out.wav",
        )
    return description


def read_clip(
    path: str | os.PathLike[str], start_s: float = 0.0, end_s: float | None = None
) -> tuple[Samples, int]:
    """Return a stretch of a sound file, its channels averaged into one.

    The file may still be growing under a :class:`tabwb.speech.recorder.Recorder`: what is asked for
    beyond its end is left out, so the answer can be shorter than asked for, and empty.
    """
    if start_s < 0 or (end_s is not None and end_s < start_s):
        until = "the end" if end_s is None else f"{end_s:g} s"
        raise TabwbError(
            f"a clip cannot go from {start_s:g} s to {until}",
            where=os.fspath(path),
            allowed="0 <= start <= end, in seconds",
        )
    with _open(path) as sound, _reading(path):
        rate = sound.samplerate
        first = min(round(start_s * rate), sound.frames)
        last = sound.frames if end_s is None else min(round(end_s * rate), sound.frames)
        # soundfile jumps after every reading, and a jump confuses an MP3 decoder for some frames:
        # such a file is read from its beginning, in one go.
        begin = 0 if sound.format == "MP3" else first
        if last - begin > LONGEST_S * rate:
            raise TabwbError(
                f"{(last - begin) / rate / 3600:.1f} hours of sound are not read at once",
                where=os.fspath(path),
                allowed=f"up to {LONGEST_S / 3600:g} hour",
                hint="cut it, for example with: ffmpeg -i FILE -f segment -segment_time 1800 "
                "part%02d.wav",
            )
        sound.seek(begin)
        block = max(last, 1) if sound.format == "MP3" else BLOCK
        parts = list(_mono_blocks(sound, last - begin, block))
    samples = np.concatenate(parts) if parts else np.empty(0, dtype=np.float32)
    samples = samples[first - begin :]
    if not np.isfinite(samples).all():
        raise TabwbError(
            "holds samples that are not numbers (NaN or infinity)",
            where=os.fspath(path),
            hint="export it again from the program that made it",
        )
    return samples, rate


def _mono_blocks(sound: Any, frames: int, most: int) -> Iterator[Samples]:
    """Yield the next frames in blocks, to save the memory of further channels."""
    while frames:
        block = sound.read(min(most, frames), dtype="float32", always_2d=True)
        if not len(block):
            return
        frames -= len(block)
        yield mono(block)


def mono(channels: NDArray[np.float32]) -> Samples:
    """Return the mean of the channels.

    Args:
        channels: shape (samples, channels).

    >>> mono(np.array([[0.5, -0.5], [1.0, 0.0]], dtype=np.float32)).tolist()
    [0.0, 0.5]
    """
    if channels.shape[1] == 1:
        return np.ascontiguousarray(channels[:, 0])
    mean: Samples = channels.mean(axis=1, dtype=np.float32)
    return mean


def sound_files(paths: Iterable[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """Return the sound files among files and folders: a file as it is, a folder's by their
    suffix.
    """
    files: list[Path] = []
    for given in paths:
        path = Path(given)
        if not path.is_dir():
            if not path.exists():
                raise TabwbError("is not there", where=str(path))
            files.append(path)
            continue
        inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
        if not inside:
            raise TabwbError(
                "this folder holds no sound file",
                where=str(path),
                allowed=", ".join(SUFFIXES),
            )
        files += inside
    return tuple(files)


def playable(path: Path, start_s: float, end_s: float, out: Path) -> tuple[Path, str]:
    """Return a file with a stretch of a recording that browsers play, and its type.

    It is the recording itself where that is the whole of it, else ``out``: a WAV file with the same
    samples (decoded ones of MP3 and OGG).
    """
    about = info(path)
    kind = PLAYED.get(about.format)
    if kind and start_s <= 0 and round(end_s * about.rate) >= about.frames:
        return path, kind
    if end_s - start_s > LONGEST_S:
        raise TabwbError("is too long to be sent", where=os.fspath(path))
    exact = about.subtype if about.subtype in EXACT else "PCM_16"
    with _open(path) as sound, _reading(path):
        first = round(start_s * about.rate)
        begin = 0 if about.format == "MP3" else first  # see read_clip
        sound.seek(begin)
        size = round(end_s * about.rate) - begin
        read = sound.read(size, dtype="float32" if exact == "FLOAT" else "int32", always_2d=True)
    write_wav(out, read[first - begin :], about.rate, subtype=exact)
    return out, PLAYED["WAV"]


def write_wav(
    path: str | os.PathLike[str], samples: NDArray[Any], rate: int, *, subtype: str = "PCM_16"
) -> None:
    """Write a private WAV, 16-bit unless another subtype is named, whole or not at all."""
    soundfile = need("soundfile", "writing sound files")
    target = Path(path)
    growing = target.with_name(f"{target.name}.writing")
    try:
        growing.unlink(missing_ok=True)
        with os.fdopen(os.open(growing, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            # Not into the file: on a full disk soundfile says nothing of the reason.
            whole = io.BytesIO()
            soundfile.write(whole, samples, rate, format="WAV", subtype=subtype)
            file.write(whole.getbuffer())
        growing.replace(target)
    except (OSError, soundfile.LibsndfileError) as error:
        growing.unlink(missing_ok=True)
        raise TabwbError(f"cannot be written: {_reason(error)}", where=str(target)) from error


def _promised(path: Path) -> int:
    """Return the bytes that a WAV header states; the size where it states none (after a crash)."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(12)
    if head[:4] != b"RIFF" or head[8:] != b"WAVE":
        return size
    stated = int.from_bytes(head[4:8], "little") + 8
    return stated if size < stated < MOST_RIFF else size


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[None]:
    soundfile = need("soundfile", "reading sound files")
    try:
        yield
    except (soundfile.LibsndfileError, RuntimeError, OSError) as error:
        raise TabwbError(
            f"is damaged: {_reason(error)}",
            where=os.fspath(path),
            hint="copy it again, or repair it, for example with: ffmpeg -i FILE out.wav",
        ) from error


def _open(path: str | os.PathLike[str]) -> Any:
    soundfile = need("soundfile", "reading sound files")
    place = os.fspath(path)
    try:
        # Opened here to distinguish a missing file from one of another format.
        status = Path(place).stat()
        if Path(place).is_dir():
            raise TabwbError("is a folder", where=place, allowed=f"a file: {ALLOWED}")
        if not stat.S_ISREG(status.st_mode):  # a pipe or a device may have no end
            raise TabwbError("is not a regular file", where=place, allowed=f"a file: {ALLOWED}")
        if status.st_size == 0:
            raise TabwbError("is empty", where=place, allowed=ALLOWED)
        with Path(place).open("rb"):
            pass  # libsndfile says "system error" of a file that is not allowed to be read
        # soundfile cannot encode a name that is not UTF-8.
        sound = soundfile.SoundFile(place if os.name == "nt" else os.fsencode(place))
        if not RATES[0] <= sound.samplerate <= RATES[1] or sound.channels > MOST_CHANNELS:
            sound.close()
            raise TabwbError(
                f"has {sound.channels} channels of {sound.samplerate} samples per second",
                where=place,
                allowed=f"up to {MOST_CHANNELS} channels of {RATES[0]} to {RATES[1]} samples",
            )
        return sound
    except soundfile.LibsndfileError as error:
        raise TabwbError(
            f"cannot be read as sound: {_reason(error)}",
            where=place,
            allowed=ALLOWED,
            hint="convert it, for example with: ffmpeg -i FILE out.wav",
        ) from error
    except OSError as error:
        raise TabwbError(f"cannot be read: {_reason(error)}", where=place) from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(getattr(error, "error_string", None) or error)
    if text.startswith("File does not exist"):  # libsndfile of an MP3 without a single frame
        return "no sound is found in it"
    return text.removeprefix("Error :").strip().rstrip(".")
