"""Recipes: what a system was trained on and how, every value with its source.

A recipe is a TOML file in which a value is ``[value, source]``. A source begins with ``P`` (a
paper), ``C`` (the public scripts of the baseline) or ``ours``. With ``extends`` a recipe takes what
it does not state from another one; lists of tables (``data``, ``augment``) are taken whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError

from tabwb.battery.loader import read_tables, read_text
from tabwb.battery.problems import Problem, locate, located
from tabwb.battery.rules import control_characters, type_problems
from tabwb.phonology.inventory import parse_arpabet
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.words import did_you_mean, plural

SOURCES = ("P", "C", "ours")
SOURCES_TOLD = "P: paper, C: the baseline's public scripts, ours: not published"
Source = Literal["psst", "timit", "librispeech", "unlabelled", "store"]
NAMES = ("psst-a", *(f"mo{n}" for n in range(1, 8)), *(f"y{n}" for n in range(1, 8)))
"""The recipes that are shipped."""
MOST_BASES = 5
"""Recipes that extend one another."""
MOST_RATE = 1e-3
"""The largest learning rate of a scaled schedule [ours]."""
TEXTS = frozenset({"id", "title", "paper", "source", "kind", "of"})
"""Keys that name something; their values have no source."""


RANGES = {"pitch": (-24.0, 24.0), "time": (0.25, 4.0), "noise": (-50.0, 100.0), "room": (0.05, 1.0)}
"""The values of each kind of perturbation."""
READ_OF: Mapping[Source, tuple[str, ...]] = {
    "timit": ("hours", "parts", "fold", "refused"), "librispeech": ("hours", "parts"),
    "unlabelled": ("hours",),
}  # fmt: skip
"""What of :class:`Data` each source heeds."""
Updates = Annotated[int, Field(ge=0, le=10_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Dropped = Annotated[float, Field(ge=0, lt=1)]
Texts = Annotated[tuple[str, ...], Strict(False)]  # TOML has arrays only


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


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

    learning_rate: float = Field(gt=0, le=1)
    warmup: Updates
    hold: Updates
    decay: Updates
    final_scale: float = Field(gt=0, le=1)
    frozen: Updates
    batch_samples: int = Field(ge=16_000, le=1_000_000_000)
    betas: Annotated[tuple[Dropped, Dropped], Strict(False)]
    epsilon: float = Field(gt=0, le=1)
    half: Literal["float16", "bfloat16", "no"]
    seed: int = Field(ge=0, le=2**31)
    validate_every: int = Field(ge=1, le=10_000_000)

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

    time_probability: Share
    time_length: int = Field(ge=1, le=500)
    channel_probability: Share
    channel_length: int = Field(ge=1, le=10_000)


class Dropout(_Part):
    """Shares that are dropped."""

    hidden: Dropped
    attention: Dropped
    activation: Dropped
    projection: Dropped
    final: Dropped
    layers: Dropped


class Loss(_Part):
    """How the CTC losses of a batch become one number."""

    average: Literal["sentences"]
    zero_infinity: bool


class Decoding(_Part):
    """How the published transcripts were made of the outputs."""

    beam: int = Field(ge=1)


class Outputs(_Part):
    """The outputs of the model: ``psst`` is the baseline's 46, else its labels, blank first."""

    labels: Literal["psst"] | Texts


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
    parts: Texts = ()
    fold: dict[str, str] = {}
    refused: Texts = ()


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
    values: Annotated[tuple[float, float], Strict(False)]
    copies: int = Field(default=1, ge=1, le=100)
    original: bool = True


class Pseudo(_Part):
    """Rounds of training on the model's own transcripts of unlabelled recordings.

    Attributes:
        threshold: the least mean confidence of a clip that is kept.
        weighted: the loss of a kept clip is multiplied by its mean confidence.
        rounds: the most rounds; they end when PER on validation no longer falls.
        longest_s: of an unlabelled clip; longer recordings are cut in pauses.
    """

    threshold: Share
    weighted: bool
    rounds: int = Field(ge=1, le=100)
    longest_s: float = Field(gt=1, le=60)


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
    data: Annotated[tuple[Data, ...], Strict(False)]
    augment: Annotated[tuple[Augment, ...], Strict(False)] = ()
    pseudo: Pseudo | None = None
    published: Published | None = None
    sources: dict[str, str] = Field(default={}, exclude=True)

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
    file, tables = _read(name, ())
    broken = list(control_characters((), tables))
    sources: dict[str, str] = {}
    plain = {name: _plain(value, (name,), sources, broken) for name, value in tables.items()}
    try:
        recipe = Recipe.model_validate({**plain, "sources": sources})
    except ValidationError as error:
        stated = {one.path for one in broken}
        broken += (one for one in type_problems(error.errors(include_url=False), Recipe)
                   if one.path not in stated)  # fmt: skip
    else:
        broken += _broken(recipe)
        if not broken:
            return recipe
    lines = locate(file)
    found = located(name, lines, broken)
    raise UsageError(f"the recipe has {plural(len(found), 'problem')}", where=name,
                     hint="\n".join(map(str, found)))  # fmt: skip


def _broken(recipe: Recipe) -> Iterator[Broken]:
    """Yield what is wrong with values that have the right type."""
    if not recipe.schedule.updates:
        yield Broken(("schedule",), "warmup, hold and decay have no update")
    if (labels := recipe.outputs.labels) != "psst":
        here = ("outputs", "labels")
        if not labels or labels[0] or "" in labels[1:]:
            yield Broken(here, "the first label, that of CTC's blank, and no other is ''")
        if len(set(labels)) < len(labels):
            yield Broken(here, "a label stands there twice")
        try:
            parse_arpabet(" ".join(labels), silent=True)
        except TabwbError as error:
            yield Broken(here, error.message)
    given = [one.source for one in recipe.data]
    for at, data in enumerate(recipe.data):
        if data.source in given[:at]:
            yield Broken(("data", at, "source"), "this source stands there twice", data.source)
        for key in sorted(data.model_fields_set - {"source", *READ_OF.get(data.source, ())}):
            yield Broken(("data", at, key), f"this is not heeded for {data.source}")
    if ("unlabelled" in given) != (recipe.pseudo is not None):
        yield Broken(("pseudo",), "[pseudo] and a source 'unlabelled' go together")
    for at, rule in enumerate(recipe.augment):
        low, high = RANGES[rule.kind]
        if not low <= min(rule.values) <= max(rule.values) <= high:
            yield Broken(("augment", at, "values"), "this is out of range",
                         shortened(list(rule.values)), f"from {low:g} to {high:g}")  # fmt: skip
        if rule.of not in given:
            yield Broken(("augment", at, "of"), "this is not among the data", rule.of,
                         ", ".join(given))  # fmt: skip


def _read(name: str, before: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """Return the text of a recipe, and its tables with those that it extends."""
    own = name.endswith(".toml") or "/" in name
    path = Path(name) if own else Path(str(files("tabwb_psst"))) / f"recipes/{name}.toml"
    text = read_text(path, "the tables of a recipe")
    tables = text if isinstance(text, Problem) else read_tables(path, text)
    if isinstance(tables, Problem):
        place = f"{name}:{tables.line}" if tables.line else name
        raise UsageError(tables.message, where=place, allowed=tables.allowed or None)
    assert isinstance(text, str)
    basis = tables.pop("extends", None)
    if basis is None:
        return text, tables
    if not isinstance(basis, str) or not (basis in NAMES or basis.endswith(".toml")):
        raise UsageError(
            f"extends {shortened(basis)}", where=name,
            allowed=f"{', '.join(NAMES)}, or the path of a TOML file",
        )  # fmt: skip
    basis = basis if basis in NAMES else str(path.parent / basis)
    if len(before) > MOST_BASES:
        raise UsageError(f"extends '{basis}' in a circle", where=name)
    under = _read(basis, (*before, name))[1]
    if own:  # what others published is not said of it
        under = {**under, "paper": f"extends {Path(basis).stem}"}
        under.pop("published", None)
    return text, _merged(under, tables)


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(under)
    for key, value in over.items():
        old = both.get(key)
        both[key] = (
            _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        )
    return both


def _plain(value: Any, path: KeyPath, sources: dict[str, str], broken: list[Broken]) -> Any:
    """Return a value without its sources, which are collected by key."""
    if isinstance(value, dict):
        return {name: _plain(each, (*path, name), sources, broken) for name, each in value.items()}
    if path[-1] in TEXTS:
        return value
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return [_plain(each, (*path, at), sources, broken) for at, each in enumerate(value)]
    if not (isinstance(value, list) and len(value) == 2 and isinstance(value[1], str)):
        broken.append(Broken(path, "this has no source", shortened(value),
                             "[value, 'P ...'], [value, 'C'], [value, 'ours']"))  # fmt: skip
        return value
    inner, source = value
    if source.replace(":", " ").split(" ")[0] not in SOURCES:
        broken.append(Broken(path, "its source begins with none of these", shortened(source),
                             ", ".join(SOURCES)))  # fmt: skip
    sources[".".join(map(str, path))] = source
    return inner
