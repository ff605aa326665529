"""``bundled-words``: each stretch of speech is given to the small model by itself.

The model was trained on recordings of about one second: in a longer one it hears less. So speech is
found first, and its edges are those of the first and last phoneme. Inside, a phoneme ends
halfway between the moment at which the model wrote it and that of the next one.

A frame of the model holds three spectra, and which three is an accident of where the cut begins.
So each stretch is heard twice, with frames 10 ms apart, and the likelier hearing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Literal

import numpy as np
from tabwb_wav2vec2.ctc import greedy, log_probability
from tabwb_wav2vec2.engine import Engine, Features, LogProbs
from tabwb_wav2vec2.options import TranscriberOptions
from tabwb_wav2vec2.transcriber import Wav2Vec2Transcriber

from tabwb.phonology.inventory import SILENT
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import TabwbError
from tabwb.records.speech import Clip, Segment, Stretch, Transcript
from tabwb.speech.files import read_clip
from tabwb.speech.finding import AROUND_S, find_speech, windows, with_sounds

TRAINED_S = 1.0
"""Length of the recordings that the model was trained on."""
WHOLE_S = 1.2
"""A clip no longer than this is given whole: it is like those of the training."""
TIMES = "edges of speech as found; phonemes part halfway between the frames that wrote them"
SPECTRA = 3
"""In a frame of the model, 10 ms apart."""
FACTS = {"times": TIMES, "hearings": "two, 10 ms apart; the likelier is kept"}
SHORTEST_S = 0.01
"""Of a phoneme; where one would be shorter they share the stretch evenly."""


@dataclass(slots=True)
class _Awaited:
    """A clip whose stretches are being heard."""

    seconds: float
    stretches: tuple[Stretch, ...]
    sounds: tuple[Stretch, ...] = ()
    heard: dict[int, Transcript] = field(default_factory=dict)


class TwoHearings:
    """An engine that hears each clip as it is cut and 10 ms later.

    It returns the hearing whose labels have the larger CTC probability in both (their product).
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.most_together, self.pads = engine.most_together, engine.pads

    def log_probs(self, features: Sequence[Features]) -> list[LogProbs]:
        """Return an array (frames, outputs) of natural logs for each clip."""
        heard = self._engine.log_probs([*features, *map(_later, features)])
        return [_likelier(pair) for pair in zip(heard, heard[len(features) :], strict=False)]


def _later(features: Features) -> Features:
    """Return the features with every spectrum one later, and the first one twice.

    >>> _later(np.arange(6).reshape(2, 3)).tolist()
    [[0, 0, 1], [2, 3, 4]]
    """
    spectra = features.reshape(SPECTRA * len(features), -1)
    return np.concatenate((spectra[:1], spectra[:-1])).reshape(features.shape)


def _likelier(heard: Sequence[LogProbs]) -> LogProbs:
    said = [tuple(run.label for run in greedy(log_probs)) for log_probs in heard]
    if said[0] == said[1]:
        return heard[0]
    sure = [sum(log_probability(log_probs, labels) for log_probs in heard) for labels in said]
    return heard[int(sure[1] > sure[0])]


class WordsTranscriber:
    """The bundled transcriber of words."""

    unit: Literal["phonemes", "words"] = "phonemes"

    def __init__(self, folder: Path, options: TranscriberOptions, *, shown: str) -> None:
        self._shown = shown
        self._inner = Wav2Vec2Transcriber(str(folder), options, shown=shown, around=TwoHearings)

    def open(self) -> Mapping[str, str]:
        """Load the model; its facts."""
        return {**self._inner.open(), **FACTS}

    def transcribe_many(
        self, clips: Sequence[Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        """Yield ``(index, transcript)``; a clip without clear sounds is empty."""
        pieces: list[Clip] = []
        places: list[tuple[int, int]] = []
        awaited: dict[int, _Awaited] = {}
        for index, clip in enumerate(clips):
            try:
                prepared = self._stretches(clip)
            except TabwbError as error:
                yield index, Transcript(self._shown, "error", error=str(error))
                continue
            if not prepared.stretches:
                yield index, self._joined(prepared)
                continue
            awaited[index] = prepared
            for number, window in enumerate(_windows(prepared)):
                start, end = clip.start_s + window.start_s, clip.start_s + window.end_s
                pieces.append(replace(clip, start_s=start, end_s=end))
                places.append((index, number))
        for place, transcript in self._inner.transcribe_many(pieces, cancel):
            index, number = places[place]
            waiting = awaited[index]
            waiting.heard[number] = transcript
            if len(waiting.heard) == len(waiting.stretches):
                yield index, self._joined(waiting)

    def close(self) -> None:
        """Let the model go."""
        self._inner.close()

    def _stretches(self, clip: Clip) -> _Awaited:
        """Where speech is; found here where nobody has looked before."""
        samples, rate = read_clip(clip.path, clip.start_s, clip.end_s)
        seconds = len(samples) / rate
        speech, sounds = clip.speech, clip.sounds
        if speech is None:
            found = find_speech(samples, rate)
            speech, sounds = found.speech, found.sounds
        if speech and seconds <= WHOLE_S:
            speech = (Stretch(speech[0].start_s, speech[-1].end_s),)
        return _Awaited(seconds, speech, sounds)

    def _joined(self, clip: _Awaited) -> Transcript:
        heard = [clip.heard[number] for number in sorted(clip.heard)]
        failed = next((transcript for transcript in heard if transcript.status == "error"), None)
        if failed is not None:
            return replace(failed, segments=(), seconds=round(clip.seconds, 4))
        segments: list[Segment] = []
        dropped: dict[str, int] = {}
        for transcript, stretch, window in zip(
            heard, clip.stretches, _windows(clip), strict=bool(heard)
        ):
            segments += _placed(transcript.segments, stretch, window.start_s)
            for label, count in transcript.dropped.items():
                dropped[label] = dropped.get(label, 0) + count
        scores = [transcript.accepted_likelihood for transcript in heard]
        known = [score for score in scores if score is not None]
        return Transcript(
            self._shown,
            "ok" if segments else "empty",
            with_sounds(segments, clip.sounds),
            seconds=round(clip.seconds, 4),
            dropped=dropped,
            accepted_likelihood=max(known, default=None),
            metadata={**(heard[0].metadata if heard else {}), **FACTS},
        )


def _windows(clip: _Awaited) -> tuple[Stretch, ...]:
    if clip.seconds <= WHOLE_S:
        return (Stretch(0.0, clip.seconds),)
    return windows(clip.stretches, clip.seconds, TRAINED_S, AROUND_S)


def _placed(segments: Sequence[Segment], stretch: Stretch, clock_s: float) -> list[Segment]:
    """The phonemes of a stretch, from its beginning to its end without a gap.

    >>> written = [Segment("AH", 0.3, 0.33), Segment("P", 0.5, 0.53)]
    >>> [(s.start_s, s.end_s) for s in _placed(written, Stretch(1.1, 1.7), 1.0)]
    [(1.1, 1.415), (1.415, 1.7)]
    """
    spoken = [segment for segment in segments if segment.phoneme not in SILENT]
    moments = [clock_s + (segment.start_s + segment.end_s) / 2 for segment in spoken]
    edges = [stretch.start_s, *map(fmean, pairwise(moments)), stretch.end_s]
    if any(after - before < SHORTEST_S for before, after in pairwise(edges)):
        step = (stretch.end_s - stretch.start_s) / max(len(spoken), 1)
        edges = [stretch.start_s + step * number for number in range(len(spoken) + 1)]
    return [
        replace(segment, start_s=round(start, 4), end_s=round(end, 4))
        for segment, (start, end) in zip(spoken, pairwise(edges), strict=bool(spoken))
    ]
