"""Agreement on what is not present or absent: scales, codes, words heard, transcripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.compare import FEWEST_SHARED, over_pairs
from tabwb.agreement.intervals import PRIOR, shifted_quantiles
from tabwb.agreement.many import Level, krippendorff_alpha
from tabwb.agreement.pairs import (
    Counts,
    cohen_kappa,
    gwet_ac1,
    specific_agreement,
    weighted_kappa,
)
from tabwb.agreement.resampling import drawn_sums
from tabwb.agreement.transcribers import ratio_interval
from tabwb.agreement.verdicts import Floats
from tabwb.phonology.batch import score
from tabwb.phonology.costs import QUARTERS
from tabwb.phonology.inventory import SILENT, parse_spoken
from tabwb.records.errors import TabwbError
from tabwb.report.summaries.agreement.compared import defined
from tabwb.report.summaries.agreement.rated import Answers, Ints, Measure, Rated
from tabwb.scoring.estimate import Interval

MOST_CELLS = 400
"""A coefficient of codes in a larger table has no interval: most of its cells are empty."""
_NULL = 1e-9


@dataclass(frozen=True, slots=True)
class AnsweredPair:
    """Two raters on one scale or one list of codes.

    Attributes:
        n, agreed: samples with an answer of both, and those with the same.
        kappa: of codes Cohen's, of a scale with quadratic weights; None where undefined.
        interval: of ``kappa``, over resampled samples or speakers; None where all draws are equal.
        linear: of a scale kappa with linear weights.
        ac1: of codes.
        averaged: whether both share as many samples as means need.
    """

    first: str
    second: str
    n: int
    agreed: int
    kappa: float | None
    interval: Interval | None
    linear: float | None
    ac1: float | None

    @property
    def averaged(self) -> bool:
        """Whether the pair shares enough samples for the mean."""
        return self.n >= FEWEST_SHARED


@dataclass(frozen=True, slots=True)
class Answered:
    """Agreement of raters on one measure with ordered values, or codes.

    Attributes:
        n: samples with answers of two raters or more.
        values: the different values or codes.
        pairs: every two raters with a sample in common.
        kappa: mean over pairs, weighted by their shared samples; None where no pair has one; with
            its interval. ``linear``: of a scale the mean with linear weights.
        alpha: Krippendorff's, ordinal for a scale and nominal for codes.
        confusion: (value of one rater, of another, pairs of answers), each pair once, the most
            frequent first, of unequal ones.
        specific: code to how far raters agree on it, 2 both / (first + second).
    """

    measure: Measure
    n: int
    unsure: int
    values: tuple[str, ...]
    pairs: tuple[AnsweredPair, ...]
    kappa: float | None
    interval: Interval | None
    linear: float | None
    alpha: float | None
    confusion: tuple[tuple[str, str, int], ...]
    specific: tuple[tuple[str, int, float | None], ...]


@dataclass(frozen=True, slots=True)
class TranscribedPair:
    """Two transcribers of the same responses.

    Attributes:
        n: responses with a transcript of both; ``same``: those with equal phonemes.
        edits, features: phonemes and features that differ, over all of them.
        lengths: phonemes of the first's and of the second's transcripts: each may be the reference.
        per, fer: error rate with the first as the reference and with the second; None without a
            phoneme there. ``intervals``: of both PER, then of both FER; None of fewer than
            five responses or speakers.
    """

    first: str
    second: str
    n: int
    same: int
    edits: int
    features: float
    lengths: tuple[int, int]
    per: tuple[float | None, float | None]
    fer: tuple[float | None, float | None]
    intervals: tuple[Interval | None, ...]


@dataclass(frozen=True, slots=True)
class Transcribed:
    """Agreement of transcribers on one measure."""

    measure: Measure
    pairs: tuple[TranscribedPair, ...]


def answered(rated: Rated, *, draws: int, seed: int) -> tuple[Answered, ...]:
    """Return the agreement of all raters on scales, codes and words heard."""
    return tuple(
        _answered(rated, answers, draws, seed)
        for answers in rated.others
        if answers.measure.kind != "phonemes"
    )


def _answered(rated: Rated, answers: Answers, draws: int, seed: int) -> Answered:
    scale = answers.measure.kind == "scale"
    known = ~np.isnan(answers.values)
    names = answers.words
    codes = np.where(known, np.nan_to_num(answers.values), -1).astype(np.int64)
    if scale:
        used = np.unique(answers.values[known])
        codes = np.where(known, np.searchsorted(used, np.nan_to_num(answers.values)), -1)
        names = tuple(f"{value:g}" for value in used.tolist())
    size = len(names)
    raters = [
        (one, other)
        for one, other in combinations(range(len(rated.raters)), 2)
        if ((codes[one] >= 0) & (codes[other] >= 0)).any()
    ]
    cells = [
        np.where((codes[a] >= 0) & (codes[b] >= 0), codes[a] * size + codes[b], -1)
        for a, b in raters
    ]
    tables = np.zeros((len(raters), size, size), np.int64)
    for at, cell in enumerate(cells):
        tables[at] = np.bincount(cell[cell >= 0], minlength=size * size).reshape(size, size)
    coefficient = weighted_kappa if scale else cohen_kappa
    counts, values = tables.sum(axis=(1, 2)), coefficient(tables)
    averaged = counts >= FEWEST_SHARED
    linear = weighted_kappa(tables, 1) if scale else np.full(len(raters), np.nan)
    found: list[Interval | None] = [None] * len(raters)
    mean: Interval | None = None
    if draws and raters and size * size <= MOST_CELLS:
        drawn = np.stack([_drawn(cell, size, draws, seed, rated.speakers) for cell in cells], 1)
        given = [drawn]
        if scale:
            given.insert(0, drawn + _pseudo_counts(tables, cells, draws, seed))
        each = [coefficient(one) for one in given]
        found = [
            _interval([one[:, at] for one in each], float(values[at])) for at in range(len(raters))
        ]
        means = [
            _mean(one, weights.sum(axis=(-2, -1)), averaged)
            for one, weights in zip(each, given, strict=True)
        ]
        mean = _interval(means, float(_mean(values, counts, averaged)))
    pairs = tuple(
        AnsweredPair(
            rated.raters[one],
            rated.raters[other],
            int(counts[at]),
            int(np.trace(tables[at])),
            defined(values[at]),
            found[at],
            defined(linear[at]),
            None if scale or size < 2 else defined(float(gwet_ac1(tables[at]))),
        )
        for at, (one, other) in enumerate(raters)
    )
    level: Level = "ordinal" if scale else "nominal"
    summed = tables.sum(axis=0)
    return Answered(
        answers.measure,
        int((known.sum(axis=0) >= 2).sum()),
        answers.unsure,
        names,
        pairs,
        defined(float(_mean(values, counts, averaged))),
        mean,
        defined(float(_mean(linear, counts, averaged))),
        defined(krippendorff_alpha(np.where(known, answers.values, np.nan), level)),
        _confusion(summed, names),
        _specific(summed, names),
    )


def _drawn(cell: Ints, size: int, draws: int, seed: int, speakers: Ints | None) -> Floats:
    """Return the tables of a pair for each draw of samples: (draws, size, size)."""
    inside = cell[:, None] == np.arange(size * size)
    sums = drawn_sums(inside, draws=draws, seed=seed, speakers=speakers)
    return sums.reshape(draws, size, size)


def _pseudo_counts(tables: Counts, cells: list[Ints], draws: int, seed: int) -> Floats:
    """Return pseudo-counts as of :mod:`tabwb.agreement.resampling`: (draws, pairs, size, size).

    They add up to two samples, whatever the size. Without them the intervals of weighted kappas of
    20 samples cover 0.84; those of codes do not need them.
    """
    size = tables.shape[-1]
    rated = np.any([cell >= 0 for cell in cells], axis=0).sum()
    share = tables.sum(axis=(1, 2)) / max(rated, 1)
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    counts = generator.standard_gamma(4 * PRIOR / size**2, (draws, 1, size, size))
    return np.asarray(counts * share[:, None, None])


def _mean(values: Floats, counts: Counts | Floats, averaged: NDArray[np.bool_]) -> Floats:
    """Return means over pairs, the last axis, weighted by their shared samples."""
    weights = np.asarray(counts, np.float64)
    return over_pairs(values[..., None], weights[..., None], averaged[:, None])[..., 0]


def _interval(drawn: Sequence[Floats], value: float) -> Interval | None:
    """Return the interval from draws of a value; None where they are undefined or all equal."""
    known = [draws[~np.isnan(draws)] for draws in drawn]
    if np.isnan(value) or not all(draws.size for draws in known):
        return None
    low, high = np.clip(shifted_quantiles(known, value), -1.0, 1.0).tolist()
    return Interval(low, high) if high - low > _NULL else None


def _confusion(table: Counts, names: tuple[str, ...]) -> tuple[tuple[str, str, int], ...]:
    both = table + table.T
    found = [
        (names[one], names[other], int(both[one, other]))
        for one, other in combinations(range(len(names)), 2)
        if both[one, other]
    ]
    return tuple(sorted(found, key=lambda row: (-row[2], row[:2])))


def _specific(table: Counts, names: tuple[str, ...]) -> tuple[tuple[str, int, float | None], ...]:
    return tuple(
        (
            name,
            int(table[at].sum() + table[:, at].sum()),
            defined(float(specific_agreement(table, at))),
        )
        for at, name in enumerate(names)
    )


def transcribed(rated: Rated) -> tuple[Transcribed, ...]:
    """Return PER and FER between every two transcribers (PSST's rules, silence left out).

    An empty transcript, of a silent response, is as ``<sil>``: all phonemes of the other are left
    out or added.
    """
    return tuple(
        Transcribed(answers.measure, tuple(_transcribers(rated, answers)))
        for answers in rated.others
        if answers.measure.kind == "phonemes"
    )


def _transcribers(rated: Rated, answers: Answers) -> Iterator[TranscribedPair]:
    spoken = []
    for text in answers.words:
        try:
            labels = parse_spoken(text or SILENT[0])
        except TabwbError as error:
            error.where = f"transcript '{text:.40}' of '{answers.measure.id}'"
            raise
        spoken.append([label for label in labels if label not in SILENT])
    known = ~np.isnan(answers.values)
    for one, other in combinations(range(len(rated.raters)), 2):
        both = known[one] & known[other]
        if not both.any():
            continue
        sides = [
            [spoken[text] for text in answers.values[rater][both].astype(int).tolist()]
            for rater in (one, other)
        ]
        scores = score(sides[0], sides[1])
        lengths = np.array([[len(said) for said in side] for side in sides])
        # PER with each as the reference, then FER: numerators and denominators of each response.
        above = np.stack([scores.edits, scores.edits, scores.quarters, scores.quarters], axis=1)
        each = np.array([1, 1, *[QUARTERS * scores.costs.features] * 2])
        below = lengths[[0, 1, 0, 1]].T * each
        rates = _ratio(above.sum(axis=0), below.sum(axis=0))
        speakers = None if rated.speakers is None else rated.speakers[both]
        # In phonemes, also the features: what one edit costs is 1 at most.
        intervals = (
            ratio_interval(above[:, at] / each[at], below[:, at] / each[at], speakers=speakers)
            for at in range(4)
        )
        first, second, fer_first, fer_second = map(defined, rates.tolist())
        yield TranscribedPair(
            rated.raters[one],
            rated.raters[other],
            int(both.sum()),
            sum(a == b for a, b in zip(*sides, strict=True)),
            scores.phoneme_distance,
            scores.feature_distance,
            (int(lengths[0].sum()), int(lengths[1].sum())),
            (first, second),
            (fer_first, fer_second),
            tuple(intervals),
        )


def _ratio(above: NDArray[np.generic], below: NDArray[np.generic]) -> Floats:
    """Return shares; NaN where the denominator is 0."""
    over, under = np.asarray(above, np.float64), np.asarray(below, np.float64)
    shares: Floats = np.divide(over, under, out=np.full(under.shape, np.nan), where=under > 0)
    return shares
