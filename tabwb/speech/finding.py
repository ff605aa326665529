"""Speech detection before transcription: by a model of voice activity, and by energy.

The transcriber is given only the stretches found here, and its input level is set on them. Energy
separates sound from silence, not speech from other sounds, and it may cut off a weak consonant; so
each stretch is extended on both sides. The model gives the probability of speech in each 32 ms; its
file comes from the package silero-vad 6.2.3 (MIT, ``data/LICENSE-silero-vad.txt``), which itself
needs torch and is not used.

:func:`quality` gives remarks on a recording while it can still be repeated; thresholds are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tabwb.records.speech import Clip, Segment, Stretch, Transcript
from tabwb.records.system import is_installed, need
from tabwb.speech.files import Samples
from tabwb.speech.level import (
    FLOOR_DBFS,
    HOP_S,
    LEAST_DBFS,
    WINDOW_S,
    active_speech_level,
    dbfs,
    full_scale_runs,
    rms,
    window_levels,
)

MODEL = Path(__file__).parent / "data" / "silero_vad_16k.onnx"
VOICE = "silero-6.2.3"
MODEL_RATE = 16_000
FRAME = 512
"""Samples of one probability: 32 ms."""
CONTEXT = 64
"""Samples before a frame that the model is given with it."""
STATE = (1, 1, 128)
AT_ONCE = 512
"""Frames in one call, to bound the memory that a long recording takes."""
BEGINS, ENDS = 0.3, 0.15
"""Speech begins where the probability reaches the first and ends where it falls below the second
[ours; the package's default is 0.5 and 0.35, made for talk and not for single words]."""
VOICE_AROUND_S = 0.060
ENERGY = "energy-2"
NOISE_PERCENTILE = 10.0
LOUD_WINDOW = 20
"""Loud is the level of the 20th largest window: 0.1 s of speech exceeds it, however long the
recording is. A share of the windows would lose a word in a long recording."""
STANDS_OUT_DB = 9.0
"""With a smaller difference between loud and quiet windows no stretch is found."""
SURE_DB, SURE_BELOW_LOUD_DB = 10.0, 25.0
"""Decibels above the noise, and below the loud level, of certain speech."""
FOOT_DB, FOOT_BELOW_LOUD_DB = 5.0, 35.0
"""Adjacent windows above this level belong to the stretch."""
SHORTEST_S = 0.08
LEAST_GAP_S = 0.30
"""Shorter silences are within a word: the closure of a stop, a weak consonant."""
OTHER_SOUND = "<spn>"
AROUND_S = 0.15
"""Seconds of sound before and after each stretch, where there is room."""


def stretches_of_speech(samples: Samples, rate: int) -> tuple[Stretch, ...]:
    """Return the stretches of speech in order; none where nothing exceeds the noise.

    Thresholds are ours. Noise is the 10th percentile of the levels of 10 ms windows (5 ms apart),
    loud the 20th largest of them.

    >>> rng = np.random.default_rng(1)
    >>> quiet = 1e-4 * rng.standard_normal(32_000)
    >>> quiet[8_000:16_000] += 0.1 * np.sin(np.arange(8_000) * 0.4)
    >>> [(round(a, 1), round(b, 1)) for a, b in stretches_of_speech(quiet.astype("f4"), 16_000)]
    [(0.5, 1.0)]
    """
    levels = window_levels(samples, rate)
    if levels.size == 0:
        return ()
    noise = np.percentile(levels, NOISE_PERCENTILE)
    loud = np.partition(levels, -min(LOUD_WINDOW, levels.size))[-min(LOUD_WINDOW, levels.size)]
    if loud - noise < STANDS_OUT_DB or loud < LEAST_DBFS:
        return ()
    sure = levels >= max(noise + SURE_DB, loud - SURE_BELOW_LOUD_DB)
    foot = levels >= max(noise + FOOT_DB, loud - FOOT_BELOW_LOUD_DB)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], foot.astype(np.int8), [0]))))
    certain = [
        Stretch(int(first) * HOP_S, int(after - 1) * HOP_S + WINDOW_S)
        for first, after in zip(edges[::2], edges[1::2], strict=True)
        if sure[first:after].any()
    ]
    return tuple(s for s in _without_gaps(certain) if s.end_s - s.start_s >= SHORTEST_S)


def _without_gaps(stretches: Sequence[Stretch]) -> list[Stretch]:
    closed: list[Stretch] = []
    for stretch in stretches:
        if closed and stretch.start_s - closed[-1].end_s < LEAST_GAP_S:
            closed[-1] = Stretch(closed[-1].start_s, stretch.end_s)
        else:
            closed.append(stretch)
    return closed


def windows(
    stretches: Sequence[Stretch], seconds: float, least_s: float, around_s: float
) -> tuple[Stretch, ...]:
    """Return each stretch extended on both sides, at most to the middle between neighbours.

    >>> windows([Stretch(1.0, 1.4), Stretch(3.0, 3.5)], 4.0, 1.0, 0.2)
    (Stretch(start_s=0.7, end_s=1.7), Stretch(start_s=2.75, end_s=3.75))
    """
    cut: list[Stretch] = []
    for at, stretch in enumerate(stretches):
        room = max((least_s - (stretch.end_s - stretch.start_s)) / 2, around_s)
        low = 0.0 if at == 0 else (stretches[at - 1].end_s + stretch.start_s) / 2
        last = at + 1 == len(stretches)
        high = seconds if last else (stretch.end_s + stretches[at + 1].start_s) / 2
        start, end = stretch.start_s - room, stretch.end_s + room
        # The rest of a side without room is added to the other side.
        start, end = min(start, high - least_s), max(end, low + least_s)
        cut.append(Stretch(round(max(start, low), 6), round(min(end, high), 6)))
    return tuple(cut)


Finding = Literal["speech", "energy"]
"""``speech``: by the model where it is installed, checked against energy; ``energy``: alone."""
GIVEN_DBFS = -26.0
"""RMS of the loud stretches that the model is given [ours]."""
MOST_GAIN_DB = 40.0
WITHOUT_MODEL = "energy alone; with onnxruntime speech is distinguished from other sounds"


@dataclass(frozen=True, slots=True)
class FoundSpeech:
    """What was found in a recording.

    Attributes:
        speech: where somebody speaks, in order; what a transcriber is given.
        sounds: other sounds that stand out from the noise (coughs, breaths, slams), in order: they
            are written ``<spn>``.
        method: how it was found.
        seconds: how long the recording is.
    """

    speech: tuple[Stretch, ...]
    sounds: tuple[Stretch, ...]
    method: str
    seconds: float


def find_speech(samples: Samples, rate: int, finding: Finding = "speech") -> FoundSpeech:
    """Find the stretches of speech.

    With the model: its stretches are speech, and energy that touches none of them is another sound.
    Where the model finds nothing but energy does, the stretches of energy count as speech.
    """
    seconds = samples.size / rate
    energetic = stretches_of_speech(samples, rate)
    if finding == "energy":
        return FoundSpeech(energetic, (), ENERGY, seconds)
    if not model_is_installed():
        return FoundSpeech(energetic, (), f"{ENERGY} ({WITHOUT_MODEL})", seconds)
    method = f"{VOICE} {BEGINS:g}/{ENDS:g}, {ENERGY}"
    probabilities = voice_probabilities(_for_the_model(samples, rate, energetic))
    voiced = _stretches_of_voice(probabilities, seconds)
    spoken = tuple(_trimmed(voice, energetic) for voice in voiced if _touches(voice, energetic))
    if not spoken:
        return FoundSpeech(energetic, (), method, seconds)
    sounds = tuple(sound for sound in energetic if not _touches(sound, spoken))
    return FoundSpeech(spoken, sounds, method, seconds)


def _for_the_model(samples: Samples, rate: int, energetic: tuple[Stretch, ...]) -> Samples:
    """Return the recording at 16 kHz, its loud stretches at -26 dBFS, without clipping."""
    loud = [samples[int(start_s * rate) : int(end_s * rate)] for start_s, end_s in energetic]
    level = dbfs(rms(np.concatenate(loud) if loud else samples))
    gain = 10.0 ** (min(GIVEN_DBFS - level, MOST_GAIN_DB) / 20.0)
    x = np.asarray(samples * gain, dtype=np.float32)
    if rate != MODEL_RATE and x.size:
        x = need("soxr", "finding speech").resample(x, rate, MODEL_RATE)
    return np.clip(x, -1.0, 1.0)


def _touches(stretch: Stretch, others: Sequence[Stretch]) -> bool:
    return any(stretch.start_s < end_s and start_s < stretch.end_s for start_s, end_s in others)


def _trimmed(voice: Stretch, energetic: Sequence[Stretch]) -> Stretch:
    """Return a stretch of the model trimmed to its energy, because the model ends words late.

    >>> _trimmed(Stretch(1.0, 2.0), [Stretch(1.1, 1.3), Stretch(1.5, 2.2)])
    Stretch(start_s=1.1, end_s=2.0)
    """
    inside = [sound for sound in energetic if _touches(sound, (voice,))]
    return Stretch(max(voice.start_s, inside[0].start_s), min(voice.end_s, inside[-1].end_s))


def model_is_installed() -> bool:
    """Return whether ONNX Runtime is installed, without importing it."""
    return is_installed("onnxruntime")


def voice_probabilities(samples: Samples) -> NDArray[np.float32]:
    """Return the probability of speech in each frame of 512 samples.

    Returns:
        Shape (frames,), from 0 to 1.
    """
    if samples.size == 0:
        return np.zeros(0, dtype=np.float32)
    session = _session()
    count = -(-samples.size // FRAME)
    padded = np.zeros(CONTEXT + count * FRAME, dtype=np.float32)
    padded[CONTEXT : CONTEXT + samples.size] = samples
    framed = np.lib.stride_tricks.sliding_window_view(padded, CONTEXT + FRAME)[::FRAME]
    hidden, cell = np.zeros(STATE, np.float32), np.zeros(STATE, np.float32)
    probabilities = np.zeros(count, dtype=np.float32)
    for first in range(0, count, AT_ONCE):
        given = {"input": np.ascontiguousarray(framed[first : first + AT_ONCE])}
        probabilities[first : first + AT_ONCE], hidden, cell = session.run(
            ["speech_probs", "hn", "cn"], {**given, "h": hidden, "c": cell}
        )
    return probabilities


def _stretches_of_voice(probabilities: NDArray[np.float32], seconds: float) -> tuple[Stretch, ...]:
    """Return the stretches of speech in a row of probabilities (:data:`BEGINS`, :data:`ENDS`).

    >>> row = np.array([0, 0, 0.4, 0.2, 0.1, 0, 0], dtype=np.float32)
    >>> [(round(a, 3), round(b, 3)) for a, b in _stretches_of_voice(row, 0.224)]
    [(0.004, 0.188)]
    """
    voiced: list[Stretch] = []
    began: int | None = None
    for at, probability in enumerate((*probabilities.tolist(), 0.0)):
        if began is None and probability >= BEGINS:
            began = at
        elif began is not None and probability < ENDS:
            start = max(began * FRAME / MODEL_RATE - VOICE_AROUND_S, 0.0)
            end = min(at * FRAME / MODEL_RATE + VOICE_AROUND_S, seconds)
            voiced.append(Stretch(start, end))
            began = None
    return tuple(_without_gaps(voiced))


@cache
def _session() -> Any:
    runtime = need("onnxruntime", "finding speech by a model", extra="onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return runtime.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"])


def pieces(clip: Clip, seconds: float, least_s: float = 0.0) -> tuple[Clip, ...]:
    """Return the pieces of a clip that a transcriber is given.

    >>> [(piece.start_s, piece.end_s) for piece in pieces(Clip("a", speech=(Stretch(1, 2),)), 9.0)]
    [(0.85, 2.15)]
    """
    cut = windows(clip.speech or (), seconds, least_s, AROUND_S)
    return tuple(replace(clip, start_s=window.start_s, end_s=window.end_s) for window in cut)


def joined(
    heard: Sequence[Transcript], given: Sequence[Clip], whole: Clip, seconds: float, spec: str
) -> Transcript:
    """Return the transcripts of all pieces joined, on the clock of the whole clip."""
    failed = next((transcript for transcript in heard if transcript.status == "error"), None)
    if failed is not None:
        return replace(failed, segments=(), seconds=round(seconds, 4))
    segments: list[Segment] = []
    dropped: dict[str, int] = {}
    for transcript, piece in zip(heard, given, strict=True):
        for segment in transcript.segments:
            start_s, end_s = segment.start_s + piece.start_s, segment.end_s + piece.start_s
            segments.append(replace(segment, start_s=round(start_s, 4), end_s=round(end_s, 4)))
        for label, count in transcript.dropped.items():
            dropped[label] = dropped.get(label, 0) + count
    known = [t.accepted_likelihood for t in heard if t.accepted_likelihood is not None]
    unit = heard[0].unit if heard else "phonemes"
    return Transcript(
        spec,
        "ok" if segments else "empty",
        with_sounds(segments, whole.sounds) if unit == "phonemes" else tuple(segments),
        unit=unit,
        seconds=round(seconds, 4),
        dropped=dropped,
        accepted_likelihood=max(known, default=None),
        metadata=heard[0].metadata if heard else {},
    )


def with_sounds(segments: Sequence[Segment], sounds: Sequence[Stretch]) -> tuple[Segment, ...]:
    """Return segments with ``<spn>`` for each other sound, in order of time.

    >>> [segment.phoneme for segment in with_sounds([Segment("AH", 2, 3)], [Stretch(0.5, 1)])]
    ['<spn>', 'AH']
    """
    noises = [
        Segment(OTHER_SOUND, round(sound.start_s, 4), round(sound.end_s, 4)) for sound in sounds
    ]
    return tuple(sorted((*segments, *noises), key=lambda sound: sound.start_s))


FRAME_S = 0.025
SHORT_S = 0.25
"""Shorter recordings hardly hold a word."""
QUIET_DBOV = -45.0
"""Speech with an active level below this leaves little above the noise of a sound card."""
LEAST_ABOVE_NOISE_DB = 20.0
"""Of the active level over the noise floor: with less, noise covers weak consonants."""
QUIET_PERCENTILE = 10.0
MAINS_HZ = (50.0, 60.0)
HARMONICS = 4
HUM_DB = 15.0
"""Decibels of mains lines above neighbouring frequencies."""
HUM_DBFS = -75.0
"""Weaker hum is not worth a remark."""
HUM_SEGMENT_S = 1.0
HUM_MOST_SEGMENTS = 120
"""Of a long recording, evenly spread."""
HUM_BINS = 260
HUM_SHORTEST_S = 2.0
"""Shortest recording in which steady hum can be distinguished from a voice."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Quality of a recording.

    Attributes:
        clipped: in how many places 3 or more samples in a row are at full scale.
        peak_dbfs: of the largest sample.
        rms_dbfs: of the whole recording.
        noise_floor_dbfs: RMS of its quiet frames (10th percentile of 25 ms frames).
        speech_dbov: active level of the speech that was found (ITU-T P.56); None where there is
            none.
        hum: 50 or 60 Hz where the mains hum; None where they do not, or where the recording is
            too short to tell (below 2 s).
        seconds: how long it is.
        remarks: what to look at, as sentences; none where nothing was found.
    """

    clipped: int
    peak_dbfs: float
    rms_dbfs: float
    noise_floor_dbfs: float
    speech_dbov: float | None
    hum: float | None
    seconds: float
    remarks: tuple[str, ...]


def quality(samples: Samples, rate: int) -> Quality:
    """Return the quality of a recording."""
    seconds = samples.size / rate
    runs = full_scale_runs(samples)
    frames = _frame_levels(samples, rate)
    peak = dbfs(float(np.abs(samples).max(initial=0.0)))
    floor = float(np.percentile(frames, QUIET_PERCENTILE)) if frames.size else FLOOR_DBFS
    speech = _speech_level(samples, rate)
    found_hum = hum(samples, rate)
    remarks = []
    if seconds < SHORT_S:
        remarks.append(f"short: {seconds:.2f} s")
    if len(runs):
        first = int(runs[0, 0]) / rate
        places = "1 place" if len(runs) == 1 else f"{len(runs)} places"
        remarks.append(f"clipped in {places}, first at {first:.2f} s: turn the input down")
    if peak <= FLOOR_DBFS:
        remarks.append("no signal at all: muted, or not allowed to this terminal by the system?")
    else:
        remarks += _level_remarks(speech, floor)
    if found_hum is not None:
        remarks.append(f"hum of the mains at {found_hum:.0f} Hz")
    return Quality(
        len(runs), peak, dbfs(rms(samples)), floor, speech, found_hum, seconds, tuple(remarks)
    )


def _speech_level(samples: Samples, rate: int) -> float | None:
    """Return the active level in dBov (ITU-T P.56, method B) of the stretches of speech, if any."""
    stretches = find_speech(samples, rate).speech
    if not stretches:
        return None
    spoken = [
        samples[int(stretch.start_s * rate) : int(stretch.end_s * rate)] for stretch in stretches
    ]
    return active_speech_level(np.concatenate(spoken), rate).dbov


def _level_remarks(speech: float | None, floor: float) -> list[str]:
    """Return a remark on the level of speech in dBov over the noise floor in dBFS, or empty.

    >>> _level_remarks(None, -70.0), _level_remarks(-25.0, -70.0)
    (['no speech found'], [])
    >>> _level_remarks(-50.0, -80.0)
    ['quiet: speech at -50 dBov; move closer or raise the input level']
    """
    if speech is None:
        return ["no speech found"]
    above = speech - floor
    if above < LEAST_ABOVE_NOISE_DB:
        return [f"noise floor {floor:.0f} dBFS, only {above:.0f} dB below the speech"]
    if speech < QUIET_DBOV:
        return [f"quiet: speech at {speech:.0f} dBov; move closer or raise the input level"]
    return []


def _frame_levels(samples: Samples, rate: int) -> NDArray[np.float64]:
    """Return the RMS of each complete 25 ms in dBFS; one frame for a shorter signal.

    >>> _frame_levels(np.full(2_000, 0.1, dtype=np.float32), 16_000).round(1).tolist()
    [-20.0, -20.0, -20.0, -20.0, -20.0]
    """
    width = min(round(FRAME_S * rate), samples.size)
    if width == 0:
        return np.zeros(0)
    framed = samples[: samples.size // width * width].reshape(-1, width)
    amplitude = np.sqrt(np.einsum("ij,ij->i", framed, framed, dtype=np.float64) / width)
    levels: NDArray[np.float64] = 20.0 * np.log10(np.maximum(amplitude, 10.0 ** (FLOOR_DBFS / 20)))
    return levels


def hum(samples: Samples, rate: int) -> float | None:
    """Return the frequency of mains hum: 50 or 60 Hz, or None.

    Power spectra of 1 s (Hann, 1 Hz apart, half overlapping); at each frequency the lower quartile
    over time, for hum stays while a voice moves and pauses. A line hums when it is 15 dB above
    the median of what lies 3 to 8 Hz beside it. Mains hum when their fundamental does, or two of
    their first four harmonics, and the lines together are above -75 dBFS.
    """
    width = round(HUM_SEGMENT_S * rate)
    if samples.size < HUM_SHORTEST_S * rate:
        return None
    starts = range(0, samples.size - width + 1, width // 2)
    window = np.hanning(width + 1)[:-1]
    spectra = []
    for start in starts[:: math.ceil(len(starts) / HUM_MOST_SEGMENTS)]:
        x = samples[start : start + width].astype(np.float64)
        spectra.append(np.abs(np.fft.rfft((x - x.mean()) * window)[:HUM_BINS]) ** 2)
    spectrum = np.stack(spectra)
    # Scaled so that the bins of a sine's main lobe add up to its mean square.
    power = np.percentile(spectrum, 25.0, axis=0) * 2.0 / (width * np.square(window).sum())
    best: tuple[float, float] | None = None
    for mains in MAINS_HZ:
        lines = [_line(power, round(mains * k * HUM_SEGMENT_S)) for k in range(1, HARMONICS + 1)]
        standing = [line for line, above in lines if above >= HUM_DB]
        fundamental = lines[0][1] >= HUM_DB
        total = sum(standing)
        if (fundamental or len(standing) >= 2) and 10 * np.log10(total + 1e-20) >= HUM_DBFS:
            best = max(best or (0.0, 0.0), (total, mains))
    return None if best is None else best[1]


def _line(power: NDArray[np.float64], at: int) -> tuple[float, float]:
    """Power of a spectral line, and how many dB its largest bin is above its neighbours'."""
    if at + 8 >= power.size:
        return 0.0, 0.0
    beside = np.concatenate((power[at - 8 : at - 2], power[at + 3 : at + 9]))
    around = max(float(np.median(beside)), 1e-20)
    peak = float(power[at - 1 : at + 2].max())
    return float(power[at - 2 : at + 3].sum()), 10.0 * float(np.log10(max(peak, 1e-20) / around))
