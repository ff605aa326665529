"""The transcriber of CTC models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import tomli
from tabwb_transformers.loading import OutOfMemory

from tabwb.phonology.labels import label_set
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.speech import Clip, Transcript
from tabwb.speech.files import read_clip
from tabwb_wav2vec2.engine import Engine, Features, Loaded, LogProbs, TorchEngine, batches, load
from tabwb_wav2vec2.options import TranscriberOptions, Wav2Vec2Options
from tabwb_wav2vec2.reading import Reader, Vocabulary, label_kind, read_vocabulary


@dataclass(frozen=True, slots=True)
class Known:
    """A public model.

    Attributes:
        id: on the hub.
        labels: the set of its labels, or the name of a vocabulary (``psst``).
        licence: as the hub states it.
        remarks: one line.
    """

    id: str
    labels: str
    licence: str
    remarks: str


def known_models() -> tuple[Known, ...]:
    """Return every model of the list."""
    return _read()[0]


def known_model(name: str) -> Known | None:
    """Return the model with an id, or None where it is not listed.

    >>> known_model("rcgale/psst-apr-baseline").labels
    'psst'
    """
    return next((model for model in known_models() if model.id == name), None)


def listed_outputs(vocabulary: str) -> tuple[str, ...] | None:
    """Return the label of every output of a listed vocabulary; empty where it is unknown.

    >>> outputs = listed_outputs("psst")
    >>> len(outputs), outputs[0], outputs[4], outputs[43], outputs[45], set(outputs[1:4])
    (46, '<pad>', 'AA', 'ZH', '<spn>', {''})
    """
    return _read()[1].get(vocabulary)


@cache
def _read() -> tuple[tuple[Known, ...], dict[str, tuple[str, ...]]]:
    text = files("tabwb_wav2vec2").joinpath("models.toml").read_text(encoding="utf-8")
    document = tomli.loads(text)
    models = tuple(Known(**entry) for entry in document["model"])
    vocabularies: dict[str, tuple[str, ...]] = {}
    for name, entry in document["vocabulary"].items():
        outputs = [""] * entry["outputs"]
        outputs[entry["blank"]] = entry["labels"][0]
        for number, label in enumerate(entry["labels"][1:], 1):
            outputs[number + entry["offset"]] = label
        vocabularies[name] = tuple(outputs)
    return models, vocabularies


SHORTEST_S = 0.04
"""Seconds. A shorter clip has no speech sound, and front ends need so much."""
LONGEST_S = 120.0
"""Seconds. Attention needs memory with the square of the length: more than a laptop has."""
AT_ONCE = 256
"""The number of clips whose features are in memory together."""


@dataclass(frozen=True, slots=True)
class _Open:
    loaded: Loaded
    engine: Engine
    reader: Reader
    facts: Mapping[str, str]


class Wav2Vec2Transcriber:
    """A CTC model of the wav2vec 2.0 family.

    Attributes:
        unit: what it hears; of an orthographic model words, once it is open.
    """

    unit: Literal["phonemes", "words"] = "phonemes"

    def __init__(
        self,
        name: str,
        options: TranscriberOptions,
        *,
        shown: str | None = None,
        cache: Path | None = None,
        around: Callable[[Engine], Engine] = lambda engine: engine,
    ) -> None:
        self._name = name
        self._options = options
        self._shown = shown or f"wav2vec2:{name}"
        self._cache = cache
        self._around = around
        self._opened: _Open | None = None

    def open(self) -> Mapping[str, str]:
        """Load the model; return its facts."""
        options = self._options
        loaded = load(self._name, options, shown=self._shown)
        wish = options.labels if isinstance(options, Wav2Vec2Options) else "auto"
        vocabulary, labels = _vocabulary(loaded, self._name, wish)
        reader = Reader(vocabulary, labels, loaded.stride_s, options.beam)
        facts = dict(loaded.facts) | _of_labels(labels)
        facts["stride_s"] = f"{loaded.stride_s:g}"
        facts["decoder"] = "greedy" if options.beam == 1 else f"beam {options.beam}"
        if (known := known_model(self._name)) is not None:
            facts |= {"licence": known.licence, "remarks": known.remarks}
        engine: Engine
        if options.onnx == "no":
            engine = TorchEngine(loaded, options.batch_size)
        else:
            from tabwb_wav2vec2.onnx_engine import OnnxEngine

            folder = self._cache or _user_cache()
            by_onnx = OnnxEngine(loaded, options.onnx, folder)
            loaded = replace(loaded, model=None)
            facts |= by_onnx.facts
            engine = by_onnx
        engine = self._around(engine)
        facts["batches"] = "padded" if engine.pads else "of equal lengths"
        self.unit = reader.unit
        self._opened = _Open(loaded, engine, reader, facts)
        return facts

    def transcribe_many(
        self, clips: Sequence[Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        """Yield ``(index, transcript)`` of each clip, the shortest of a batch first."""
        if self._opened is None:
            self.open()
        assert self._opened is not None
        for first in range(0, len(clips), AT_ONCE):
            if cancel.is_set():
                return
            chosen = dict(enumerate(clips[first : first + AT_ONCE], first))
            yield from self._some(self._opened, chosen, cancel)

    def close(self) -> None:
        """Release the model."""
        self._opened = None

    def _some(
        self, opened: _Open, clips: Mapping[int, Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        ready: list[tuple[int, float, Features]] = []
        for index, clip in clips.items():
            try:
                seconds, features = self._features(opened.loaded, clip)
            except TabwbError as error:
                yield index, self._failed(error)
                continue
            if features is None:
                yield index, self._heard(opened, "empty", seconds)
            else:
                ready.append((index, seconds, features))
        for batch in batches([len(features) for *_, features in ready], opened.engine):
            if cancel.is_set():
                return
            together = [ready[place] for place in batch]
            for (index, seconds, _), output in zip(
                together, self._computed(opened, [entry[2] for entry in together]), strict=True
            ):
                if isinstance(output, TabwbError):
                    yield index, self._failed(output)
                else:
                    yield index, self._read(opened, clips[index], seconds, output)

    def _features(self, loaded: Loaded, clip: Clip) -> tuple[float, Features | None]:
        """Return the seconds of a clip and the input of the model; None where it is silent."""
        samples, rate = read_clip(clip.path, clip.start_s, clip.end_s)
        if rate != loaded.rate:
            raise TabwbError(
                f"is of {rate} Hz",
                where=clip.path,
                allowed=f"{loaded.rate} Hz, as conditioning leaves it",
            )
        seconds = len(samples) / rate
        if seconds > LONGEST_S:
            raise TabwbError(
                f"lasts {seconds:.0f} s",
                where=clip.path,
                allowed=f"responses of up to {LONGEST_S:.0f} s",
                hint="cut it into responses",
            )
        if seconds < SHORTEST_S or not samples.any():
            return seconds, None
        return seconds, loaded.features(samples)

    def _computed(
        self, opened: _Open, features: Sequence[Features]
    ) -> Sequence[LogProbs | TabwbError]:
        try:
            return opened.engine.log_probs(features)
        except OutOfMemory as error:
            if len(features) == 1:
                return [error]
            return [self._computed(opened, [feature])[0] for feature in features]

    def _read(self, opened: _Open, clip: Clip, seconds: float, log_probs: LogProbs) -> Transcript:
        heard = opened.reader.hear(log_probs)
        return self._heard(
            opened,
            "ok"
            if any(not segment.phoneme.startswith("<") for segment in heard.segments)
            else "empty",
            seconds,
            segments=heard.segments,
            dropped=dict(heard.dropped),
            accepted_likelihood=opened.reader.accepted_likelihood(log_probs, clip.accepted),
        )

    def _heard(
        self, opened: _Open, status: Literal["ok", "empty"], seconds: float, **fields: object
    ) -> Transcript:
        kept = ("model", "revision", "weights_sha256", "labels", "decoder", "dtype", "onnx")
        metadata = {key: opened.facts[key] for key in kept if key in opened.facts}
        return Transcript(
            self._shown,
            status,
            unit=self.unit,
            seconds=round(seconds, 4),
            metadata=metadata,
            **fields,  # type: ignore[arg-type]
        )

    def _failed(self, error: TabwbError) -> Transcript:
        return Transcript(self._shown, "error", unit=self.unit, error=str(error))


def _vocabulary(loaded: Loaded, name: str, wish: str) -> tuple[Vocabulary, str]:
    """Return the vocabulary of a model, and the set of its labels."""
    known = known_model(name)
    chosen = known.labels if wish == "auto" and known is not None else wish
    outputs = int(loaded.model.config.vocab_size)
    listed = listed_outputs(chosen)
    if listed is not None:
        if len(listed) != outputs:
            raise ComponentError(
                f"labels={chosen} has {len(listed)} outputs, the model {outputs}",
                where=loaded.source,
            )
        return Vocabulary(listed, blank=listed.index("<pad>")), "arpabet"
    blank = int(loaded.model.config.pad_token_id or 0)
    vocabulary = read_vocabulary(loaded.file, outputs, blank, loaded.source)
    kind = label_kind(vocabulary.sounds) if chosen == "auto" else chosen
    if kind is None:
        shown = " ".join(vocabulary.sounds[:12])
        raise ComponentError(
            f"cannot map its labels to phonemes: {shown} ...",
            where=loaded.source,
            allowed="labels=arpabet, cmu, espeak-ipa, timit-61, timit-39, psst or words",
        )
    return vocabulary, kind


def _of_labels(labels: str) -> dict[str, str]:
    """Return the facts to store of a set of labels, including the ceiling of merged phonemes."""
    if labels == "words":
        return {"labels": labels, "unit": "words"}
    merged = label_set(labels).merged
    facts = {"labels": labels, "unit": "phonemes"}
    if merged:
        facts["merged"] = ", ".join(f"{phoneme} as {other}" for phoneme, other in merged.items())
    return facts


def _user_cache() -> Path:
    import platformdirs

    return platformdirs.user_cache_path("tabwb") / "onnx"
