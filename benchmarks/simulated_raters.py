"""Simulated studies of several raters, and the coverage of the intervals of their agreement.

Generators, not fitted to any study:

- *Features*: 19, with prevalences from .45 to .01 and one that never occurs. A sample has a feature
  or not, independently of other features. Raters have sensitivities of .6 to .8 and specificities
  of .85 to .94 (*moderate*: kappa of common features .25 to .5), or .92 to .98 and .97 to .995
  (*high*); false alarms fall with the prevalence of the feature.
- *Designs*: two raters of all samples, three of all, or three of five raters for each sample.
- *Speakers*: five samples of each; the odds of every feature and of every rater's errors vary by
  speaker (normal, sd 1 logit).
- *Scales*: a normal value and one normal error for each of two raters (correlation .6), cut into 5
  or, as codes without order, the same category with probability .7 and a random one of 4, 8 or 16
  otherwise.
- True values come from one study of a million samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from tabwb.agreement.compare import COEFFICIENTS, Comparison, compare, difference
from tabwb.agreement.error_rates import calibrate, error_rates
from tabwb.agreement.intervals import dirichlet_intervals, ratio_interval
from tabwb.agreement.many import alpha_intervals, binary_alpha
from tabwb.agreement.pairs import cohen_kappa, tables_of, weighted_kappa
from tabwb.agreement.verdicts import MISSING, Floats, Verdicts, consensus

PREVALENCE = np.array(
    [.45, .44, .34, .3, .25, .2, .17, .14, .11, .1, .08, .07, .05, .05, .04, .03, .02, .01, 0]
)  # fmt: skip
RARE = 0.08
RATES = {
    "moderate": ([.75, .65, .6, .8, .7, .75], [.92, .9, .94, .88, .93, .85]),
    "high": ([.95, .92, .96, .98, .94, .92], [.99, .98, .995, .99, .985, .97]),
}  # fmt: skip
"""Sensitivity and specificity of five raters and a judge."""
DRAWS = 400
PER_SPEAKER = 5
MANY = 1_000_000
Found = Iterator[tuple[str, bool]]


@dataclass(frozen=True)
class Design:
    """Who rates what.

    Attributes:
        raters: people; a judge rates everything besides.
        per_sample: people who rate each sample.
        agreement: a key of ``RATES``.
        speakers: five samples of each speaker are alike.
    """

    raters: int
    per_sample: int
    agreement: str = "moderate"
    speakers: bool = False

    @property
    def name(self) -> str:
        """Return how the table names it."""
        whom = {2: "two raters", 3: "three raters", 5: "three of five raters"}[self.raters]
        return f"{whom}{', by speaker' if self.speakers else ''}"

    def draw(self, samples: int, rng: np.random.Generator) -> Verdicts:
        """Return verdicts of the people and of the judge, the last: (raters + 1, samples, 19)."""
        hit, reject = (np.array(rates)[:, None, None] for rates in RATES[self.agreement])
        own = [*range(self.raters), -1]
        hit, reject = hit[own], 1 - (1 - reject[own]) * np.minimum(1, PREVALENCE / 0.2 + 0.1)
        shares, hits, alarms = PREVALENCE, hit, np.where(PREVALENCE > 0, 1 - reject, 0.0)
        if self.speakers:
            of = np.arange(samples) // PER_SPEAKER
            shares = _shifted(shares, rng.normal(0, 1, (of[-1] + 1, 19))[of])
            moved = rng.normal(0, 1, (len(own), of[-1] + 1, 19))[:, of]
            hits, alarms = _shifted(hits, moved), _shifted(alarms, moved)
        truth = rng.random((samples, 19)) < shares
        verdicts = (rng.random((len(own), samples, 19)) < np.where(truth, hits, alarms)).astype(
            np.int8
        )
        rank = rng.random((self.raters, samples)).argsort(axis=0).argsort(axis=0)
        verdicts[:-1][rank >= self.per_sample] = MISSING
        return verdicts

    def compared(
        self, verdicts: Verdicts, draws: int = 0, seed: int = 0
    ) -> tuple[Comparison, Comparison, Comparison]:
        """Return people with people, the judge with each, the judge with the consensus."""
        people, judge = verdicts[:-1], verdicts[-1]
        labels = consensus(people)
        of = np.arange(verdicts.shape[1]) // PER_SPEAKER if self.speakers else None
        pairs = [(people[a], people[b]) for a in range(len(people)) for b in range(a)]
        with_each = [(judge, person) for person in people]
        return (
            compare(pairs, labels, draws=draws, seed=seed, speakers=of),
            compare(with_each, labels, draws=draws, seed=seed, speakers=of),
            compare([(judge, labels)], labels, draws=draws, seed=seed, speakers=of),
        )


@dataclass(frozen=True)
class True_:
    """True values of a design."""

    people: Comparison
    with_each: Comparison
    with_consensus: Comparison
    alpha: Floats


@cache
def true_values(design: Design) -> True_:
    """Return the values in a study of a million samples."""
    verdicts = design.draw(MANY, np.random.default_rng(0))
    return True_(*design.compared(verdicts), binary_alpha(verdicts[:-1]))


def features(design: Design, samples: int, seed: int) -> Found:
    """Yield whether each interval of one study contains the true value, by feature and over them.

    Args:
        design: of the study.
        samples: rated.
        seed: of the study.
    """
    truth = true_values(design)
    verdicts = design.draw(samples, np.random.default_rng([samples, seed]))
    people, with_each, with_consensus = design.compared(verdicts, DRAWS, seed)
    for name in COEFFICIENTS:
        held = _held(people.intervals[name], truth.people.by_feature[name])
        for at, inside in held:
            often = "" if PREVALENCE[at] >= RARE else ", prevalence below .08"
            yield f"{_NAMES[name]} of a feature{often}, {design.name}", inside
    of = np.arange(samples) // PER_SPEAKER if design.speakers else None
    ends = alpha_intervals(verdicts[:-1], draws=DRAWS, seed=seed, speakers=of)
    for at, inside in _held(ends, truth.alpha):
        if not people.few[at]:
            yield f"alpha of a feature, {design.name}", inside
    for name in ("kappa", "ac1"):
        key = "positive_count_weighted", name
        whom = (
            ("people with people", people, truth.people),
            ("judge with people", with_each, truth.with_each),
            ("judge with consensus", with_consensus, truth.with_consensus),
        )
        for what, found, true in whom:
            given, value = found.over_features[key].ends, true.over_features[key].value
            if given and value is not None:
                label = f"positive-count-weighted {_NAMES[name]}, {what}, {design.name}"
                yield label, given[0] <= value <= given[1]
        less = difference(with_each.over_features[key], people.over_features[key])
        value = difference(
            truth.with_each.over_features[key], truth.people.over_features[key]
        ).value
        if less.ends and value is not None:
            label = f"judge with people less people with people, {_NAMES[name]}, {design.name}"
            yield label, less.ends[0] <= value <= less.ends[1]
    if people.pooled.ends and truth.people.pooled.value is not None:
        low, high = people.pooled.ends
        yield f"pooled kappa, {design.name}", low <= truth.people.pooled.value <= high


_NAMES = {
    "agreement": "percent agreement",
    "kappa": "kappa",
    "ac1": "AC1",
    "positive_agreement": "positive agreement",
    "negative_agreement": "negative agreement",
}


def rates(raters: int, prevalence: float, samples: int, speakers: bool, seed: int) -> Found:
    """Yield whether intervals of Dawid-Skene and of a calibration contain what went in.

    Args:
        raters: of all samples.
        prevalence: of the feature.
        samples: rated.
        speakers: five samples of each speaker have the same truth and, at half of them, verdicts.
        seed: of the study.
    """
    rng = np.random.default_rng([samples, raters, seed])
    hit, reject = (np.array(of[:raters]) for of in RATES["moderate"])
    truth = rng.random(samples) < prevalence
    verdicts = rng.random((raters, samples)) < np.where(truth, hit[:, None], 1 - reject[:, None])
    of = None
    if speakers:
        of = np.arange(samples) // PER_SPEAKER
        first = of * PER_SPEAKER
        same = rng.random(samples) < 0.5
        truth = np.where(same, truth[first], truth)
        verdicts = np.where(same, verdicts[:, first], verdicts)
    given = verdicts.astype(np.int8)[..., None]
    by = ", by speaker" if speakers else ""
    whom = f"{raters} raters{by}"
    found = error_rates(given, draws=DRAWS, starts=3, seed=seed, speakers=of)
    if not found.reasons[0]:
        for ends, values, what in (
            (found.sensitivity_ends[0], hit, "sensitivity"),
            (found.specificity_ends[0], reject, "specificity"),
            (found.prevalence_ends, [prevalence], "prevalence"),
        ):
            for _, inside in _held(ends, np.asarray(values)):
                yield f"Dawid-Skene, {what}, {whom}", inside
    (known,) = calibrate(
        given[0], truth.astype(np.int8)[:, None], draws=DRAWS, seed=seed, speakers=of
    )
    for share, value in ((known.sensitivity, hit[0]), (known.specificity, reject[0])):
        if share.interval:
            inside = share.interval.low <= value <= share.interval.high
            yield f"calibration of a judge{by}", bool(inside)


def scales(categories: int, ordered: bool, samples: int, seed: int) -> Found:
    """Yield whether intervals of kappas of two raters with several categories hold the true one.

    Args:
        categories: of the scale or code.
        ordered: a scale with weighted kappas, else codes.
        samples: rated.
        seed: of the study.
    """
    rng = np.random.default_rng([samples, categories, seed])
    names = {"quadratic weighted kappa": weighted_kappa} if ordered else {"kappa": cohen_kappa}
    truth = tables_of(*_scale(categories, ordered, MANY, np.random.default_rng(0)), categories)
    tables = tables_of(*_scale(categories, ordered, samples, rng), categories)
    for name, of in names.items():
        ends = dirichlet_intervals(tables, of, draws=2_000, seed=seed)
        for _, inside in _held(ends, of(truth)):
            yield f"{name}, {categories} categories", inside


def error_rate(samples: int, rate: float, speakers: bool, seed: int) -> Found:
    """Yield whether the interval of an error rate between transcribers holds the true one.

    Args:
        samples: responses of 2 to 9 phonemes.
        rate: true share of edited phonemes; by response it has a beta distribution (sum 3).
        speakers: five responses of each speaker have the same rate.
        seed: of the study.
    """
    rng = np.random.default_rng([samples, round(1000 * rate), seed])
    of = np.arange(samples) // (PER_SPEAKER if speakers else 1)
    sizes = rng.integers(2, 10, samples)
    edits = rng.binomial(sizes, rng.beta(3 * rate, 3 * (1 - rate), samples)[of])
    found = ratio_interval(edits, sizes, speakers=of if speakers else None)
    if found:
        name = f"error rate between transcribers{', by speaker' if speakers else ''}"
        yield name, bool(found.low <= rate <= found.high)


@cache
def _large(categories: int, ordered: bool) -> tuple[Verdicts, Verdicts]:
    return _scale_drawn(categories, ordered, MANY, np.random.default_rng(0))


def _scale(
    categories: int, ordered: bool, samples: int, rng: np.random.Generator
) -> tuple[Verdicts, Verdicts]:
    if samples == MANY:
        return _large(categories, ordered)
    return _scale_drawn(categories, ordered, samples, rng)


def _scale_drawn(
    categories: int, ordered: bool, samples: int, rng: np.random.Generator
) -> tuple[Verdicts, Verdicts]:
    if ordered:
        both = rng.normal(0, np.sqrt(0.6), samples) + rng.normal(0, np.sqrt(0.4), (2, samples))
        cuts = np.linspace(0.2, 1.8, categories - 1)
        first, second = np.digitize(both, cuts).astype(np.int8)[..., None]
        return first, second
    shares = 1 / np.arange(1, categories + 1)
    one, other = rng.choice(categories, (2, samples), p=shares / shares.sum())
    second = np.where(rng.random(samples) < 0.7, one, other)
    return one.astype(np.int8)[:, None], second.astype(np.int8)[:, None]


def _held(ends: Floats, truth: Floats) -> Iterator[tuple[int, bool]]:
    for at, ((low, high), value) in enumerate(zip(ends, truth, strict=True)):
        if not np.isnan(low) and not np.isnan(value):
            yield at, bool(low <= value <= high)


def _shifted(shares: Floats, by: Floats) -> Floats:
    """Return probabilities moved on the scale of logits; 0 stays 0."""
    odds = shares / (1 - shares) * np.exp(by)
    return np.asarray(odds / (1 + odds))


def worst(cells: Sequence[Mapping[str, tuple[int, int]]]) -> Mapping[str, tuple[float, float, int]]:
    """Return mean and least coverage over cells, and their number, by method.

    Args:
        cells: by method how many intervals held the true value, and how many there were.
    """
    shares: dict[str, list[float]] = {}
    for cell in cells:
        for name, (held, made) in cell.items():
            if made >= 50:
                shares.setdefault(name, []).append(held / made)
    return {name: (float(np.mean(of)), min(of), len(of)) for name, of in shares.items()}
