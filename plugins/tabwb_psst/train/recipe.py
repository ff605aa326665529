"""Recipes: what a system was trained on and how, every value with its source.

A recipe is a TOML file in which a value is ``[value, source]``. A source begins with ``P`` (a
paper), ``C`` (the public scripts of the baseline) or ``ours``. With ``extends`` a recipe takes what
it does not state from another one; lists of tables (``data``, ``augment``) are taken whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import tomli
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular
from tabwb.records.words import did_you_mean

SOURCES = ("P", "C", "ours")
SOURCES_TOLD = "P: paper, C: the baseline's public scripts, ours: not published"
Source = Literal["psst", "timit", "librispeech", "unlabelled", "store"]
NAMES = ("psst-a", *(f"mo{n}" for n in range(1, 8)), *(f"y{n}" for n in range(1, 8)))
"""The recipes that are shipped."""
MOST_BYTES = 2_000_000
"""Larger files are refused."""
MOST_RATE = 1e-3
"""The largest learning rate of a scaled schedule [ours]."""
TEXTS = frozenset({"id", "title", "paper", "source", "kind", "of"})
"""Keys that name something; their values have no source."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Encoder(_Part):
    """The pretrained encoder: its id on the hub, parameters, hours of its pretraining."""

    id: str
    name: str
    parameters: int = Field(ge=1)
    hours: float = Field(gt=0)


class Schedule(_Part):
    """Updates, learning rate and batches.

    Attributes:
        warmup, hold, decay: updates of the three stages; the rate rises from 0 to
            ``learning_rate``, stays, and falls exponentially to ``final_scale`` times it.
        frozen: first updates, which train the output layer alone.
        batch_samples: samples (at 16 kHz) of one update, summed over its clips.
        half: the precision on a GPU; a CPU always computes in float32.
        validate_every: updates from one validation to the next.
    """

    learning_rate: float = Field(gt=0)
    warmup: int = Field(ge=0)
    hold: int = Field(ge=0)
    decay: int = Field(ge=0)
    final_scale: float = Field(gt=0, le=1)
    frozen: int = Field(ge=0)
    batch_samples: int = Field(ge=16_000)
    betas: tuple[float, float]
    epsilon: float = Field(gt=0)
    half: Literal["float16", "bfloat16", "no"]
    seed: int = Field(ge=0)
    validate_every: int = Field(ge=1)

    @property
    def updates(self) -> int:
        """Updates of all three stages."""
        return self.warmup + self.hold + self.decay

    def scaled(self, scale: float) -> Schedule:
        """Return the schedule with every number of updates multiplied, each at least 1.

        The learning rate is divided by the same, so that the sum of all rates stays, and is at most
        :data:`MOST_RATE`.

        >>> short = read_recipe("psst-a").schedule.scaled(0.05)
        >>> short.updates, short.frozen, round(short.learning_rate, 6)
        (600, 100, 0.001)
        """
        changed: dict[str, float] = {
            name: max(round(getattr(self, name) * scale), min(getattr(self, name), 1))
            for name in ("warmup", "hold", "decay", "frozen")
        }
        if scale != 1:
            changed["learning_rate"] = min(self.learning_rate / scale, MOST_RATE)
        return self.model_copy(update=changed)

    def rate(self, update: int) -> float:
        """Return the learning rate of an update, counted from 1.

        >>> schedule = read_recipe("psst-a").schedule
        >>> [round(schedule.rate(update) / 5e-5, 6) for update in (1, 4000, 8000, 10000, 12000)]
        [0.00025, 1.0, 1.0, 0.223607, 0.05]
        """
        if update <= self.warmup:
            return self.learning_rate * update / self.warmup
        after = update - self.warmup - self.hold
        if after <= 0:
            return self.learning_rate
        fallen: float = self.final_scale ** min(after / max(self.decay, 1), 1.0)
        return self.learning_rate * fallen


class Mask(_Part):
    """Masking of the encoder's input (SpecAugment): shares and lengths in frames, channels."""

    time_probability: float = Field(ge=0, le=1)
    time_length: int = Field(ge=1)
    channel_probability: float = Field(ge=0, le=1)
    channel_length: int = Field(ge=1)


class Dropout(_Part):
    """Shares that are dropped."""

    hidden: float = Field(ge=0, lt=1)
    attention: float = Field(ge=0, lt=1)
    activation: float = Field(ge=0, lt=1)
    projection: float = Field(ge=0, lt=1)
    final: float = Field(ge=0, lt=1)
    layers: float = Field(ge=0, lt=1)


class Loss(_Part):
    """How the CTC losses of a batch become one number."""

    average: Literal["sentences"]
    zero_infinity: bool


class Decoding(_Part):
    """How the published transcripts were made of the outputs."""

    beam: int = Field(ge=1)


class Outputs(_Part):
    """The outputs of the model: ``psst`` is the baseline's 46, else its labels, blank first."""

    labels: Literal["psst"] | tuple[str, ...]


class Data(_Part):
    """One source of training data.

    Attributes:
        hours: taken by seed where there is more; None: all that there is.
        parts: folders directly inside the given one that are read; empty: all.
        fold: phonemes that are written as others.
        refused: labels of the source; an utterance with one of them is left out.
    """

    source: Source
    hours: float | None = Field(default=None, gt=0)
    parts: tuple[str, ...] = ()
    fold: dict[str, str] = {}
    refused: tuple[str, ...] = ()


class Augment(_Part):
    """Perturbed copies of one source of data.

    Attributes:
        values: of each copy one is drawn between the two: semitones (pitch), the factor of the
            speed (time), the signal-to-noise ratio in dB (noise), the reverberation time in
            seconds of simulated rooms (room).
        copies: of each clip.
        original: the clip itself is kept beside them.
    """

    kind: Literal["pitch", "time", "noise", "room"]
    of: Source
    values: tuple[float, float]
    copies: int = Field(default=1, ge=1)
    original: bool = True


class Pseudo(_Part):
    """Rounds of training on the model's own transcripts of unlabelled recordings.

    Attributes:
        threshold: the least mean confidence of a clip that is kept.
        weighted: the loss of a kept clip is multiplied by its mean confidence.
        rounds: the most rounds; they end when PER on validation no longer falls.
        longest_s: of an unlabelled clip; longer recordings are cut in pauses.
    """

    threshold: float = Field(ge=0, le=1)
    weighted: bool
    rounds: int = Field(ge=1)
    longest_s: float = Field(gt=1)


class Published(_Part):
    """FER and PER on the test split, in per cent, and how far ours may lie from them."""

    fer: float
    per: float
    band: float


class Recipe(_Part):
    """How one system is trained."""

    id: str
    title: str
    paper: str
    encoder: Encoder
    schedule: Schedule
    mask: Mask
    dropout: Dropout
    loss: Loss
    decoding: Decoding
    outputs: Outputs
    data: tuple[Data, ...]
    augment: tuple[Augment, ...] = ()
    pseudo: Pseudo | None = None
    published: Published | None = None
    sources: dict[str, str] = Field(default={}, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _take_sources(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or "sources" in given:
            return given
        sources: dict[str, str] = {}
        return {**_values(given, "", sources), "sources": sources}

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of every output; the first is CTC's blank, unused ones are empty."""
        if self.outputs.labels != "psst":
            return self.outputs.labels
        from tabwb_wav2vec2.transcriber import listed_outputs

        return listed_outputs("psst") or ()

    def facts(self) -> Iterator[tuple[str, str, str]]:
        """Yield each value with its key and its source."""
        document = self.model_dump()
        for key, source in self.sources.items():
            value: Any = document
            for name in key.split("."):
                value = value[int(name) if isinstance(value, list | tuple) else name]
            yield key, str(value), source


def read_recipe(name: str) -> Recipe:
    """Return a recipe by its id, or that of a TOML file of one's own."""
    own = name.endswith(".toml") or "/" in name
    if not own and name not in NAMES:
        raise UsageError(
            f"'{name}' is not a recipe{did_you_mean(name, NAMES)}", where="recipe",
            allowed=f"{', '.join(NAMES)}, or the path of a TOML file",
        )  # fmt: skip
    try:
        return Recipe.model_validate(_document(name, ()))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{key}: {first['msg'].removeprefix('Value error, ')}", where=name
        ) from error


def _document(name: str, before: tuple[str, ...]) -> dict[str, Any]:
    own = name.endswith(".toml") or "/" in name
    path = Path(name) if own else Path(str(files("tabwb_psst"))) / f"recipes/{name}.toml"
    content = read_regular(path, MOST_BYTES)
    if content is None:
        raise UsageError("there is no such file", where=name)
    try:
        document = tomli.loads(content.decode("utf-8"))
    except (tomli.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"is not valid TOML: {error}", where=name) from error
    basis = document.pop("extends", None)
    if basis is None:
        return document
    if basis in before or len(before) > 5:
        raise UsageError(f"extends '{basis}' in a circle", where=name)
    return _merged(_document(str(basis), (*before, name)), document)


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(under)
    for key, value in over.items():
        old = both.get(key)
        both[key] = (
            _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        )
    return both


def _values(given: Mapping[str, Any], at: str, sources: dict[str, str]) -> dict[str, Any]:
    """Return the values without their sources, which are collected by key."""
    return {name: _value(value, name, f"{at}{name}", sources) for name, value in given.items()}


def _value(value: Any, name: str, key: str, sources: dict[str, str]) -> Any:
    if isinstance(value, Mapping):
        return _values(value, f"{key}.", sources)
    if name in TEXTS:
        return value
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        return [_values(each, f"{key}.{number}.", sources) for number, each in enumerate(value)]
    if not (isinstance(value, list) and len(value) == 2 and isinstance(value[1], str)):
        raise ValueError(f"{key} has no source: write [value, 'P ...'], [value, 'C'] or 'ours'")
    inner, source = value
    if source.replace(":", " ").split(" ")[0] not in SOURCES:
        raise ValueError(f"{key}: the source '{source}' begins with none of {', '.join(SOURCES)}")
    sources[key] = source
    return inner
