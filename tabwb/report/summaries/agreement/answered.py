"""Agreement on what is not present or absent: scales, codes, words heard, transcripts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tabwb.agreement.compare import FEWEST_SHARED
from tabwb.agreement.intervals import dirichlet_intervals
from tabwb.agreement.many import Level, krippendorff_alpha
from tabwb.agreement.pairs import (
    Counts,
    cohen_kappa,
    gwet_ac1,
    specific_agreement,
    weighted_kappa,
)
from tabwb.phonology.batch import score
from tabwb.phonology.inventory import SILENT, parse_spoken
from tabwb.records.errors import TabwbError
from tabwb.report.summaries.agreement.compared import defined
from tabwb.report.summaries.agreement.rated import Answers, Measure, Rated
from tabwb.scoring.estimate import Interval

MOST_CELLS = 400
"""A coefficient of codes in a larger table has no interval: most of its cells are empty."""


@dataclass(frozen=True, slots=True)
class AnsweredPair:
    """Two raters on one scale or one list of codes.

    Attributes:
        n, agreed: samples with an answer of both, and those with the same.
        kappa: of codes Cohen's, of a scale with quadratic weights; None where undefined.
        interval: of ``kappa``.
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
        kappa: mean over pairs, weighted by their shared samples; None where no pair has one.
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
            phoneme there.
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


@dataclass(frozen=True, slots=True)
class Transcribed:
    """Agreement of transcribers on one measure."""

    measure: Measure
    pairs: tuple[TranscribedPair, ...]


def answered(rated: Rated, *, draws: int, seed: int) -> tuple[Answered, ...]:
    """Return the agreement of all raters on scales, codes and words heard.

    Args:
        rated: what raters gave.
        draws: of intervals; 0: none.
        seed: of the draws.
    """
    return tuple(
        _answered(rated, answers, draws, seed)
        for answers in rated.others
        if answers.measure.kind != "phonemes"
    )


def _answered(rated: Rated, answers: Answers, draws: int, seed: int) -> Answered:
    scale = answers.measure.kind == "scale"
    known = ~np.isnan(answers.values)
    if scale:
        used = np.unique(answers.values[known])
        codes = np.where(known, np.searchsorted(used, np.nan_to_num(answers.values)), -1)
        names = tuple(f"{value:g}" for value in used.tolist())
    else:
        codes = np.where(known, np.nan_to_num(answers.values), -1).astype(np.int64)
        names = answers.words
    pairs, tables = [], []
    for one, other in combinations(range(len(rated.raters)), 2):
        both = (codes[one] >= 0) & (codes[other] >= 0)
        if both.any():
            size = len(names)
            cells = codes[one][both] * size + codes[other][both]
            table = np.bincount(cells, minlength=size * size).reshape(size, size)
            tables.append(table)
            names_of = rated.raters[one], rated.raters[other]
            pairs.append(_pair(*names_of, table, scale=scale, draws=draws, seed=seed))
    counted = [(pair.kappa, pair.n) for pair in pairs if pair.averaged and pair.kappa is not None]
    total = sum(n for _, n in counted)
    level: Level = "ordinal" if scale else "nominal"
    summed = sum(tables, np.zeros((len(names), len(names)), np.int64))
    return Answered(
        answers.measure,
        int((known.sum(axis=0) >= 2).sum()),
        answers.unsure,
        names,
        tuple(pairs),
        sum(kappa * n for kappa, n in counted if kappa is not None) / total if total else None,
        defined(krippendorff_alpha(np.where(known, answers.values, np.nan), level)),
        _confusion(summed, names),
        _specific(summed, names),
    )


def _pair(
    first: str, second: str, table: Counts, *, scale: bool, draws: int, seed: int
) -> AnsweredPair:
    kappa = weighted_kappa if scale else cohen_kappa
    value = defined(float(kappa(table)))
    interval = None
    if value is not None and draws and table.size <= MOST_CELLS:
        used = (table.sum(axis=0) + table.sum(axis=1)) > 0
        small = table if scale else table[used][:, used]
        low, high = dirichlet_intervals(small[None], kappa, draws=draws, seed=seed)[0].tolist()
        interval = Interval(min(low, value), max(high, value))
    return AnsweredPair(
        first,
        second,
        int(table.sum()),
        int(np.trace(table)),
        value,
        interval,
        defined(float(weighted_kappa(table, 1))) if scale else None,
        None if scale or len(table) < 2 else defined(float(gwet_ac1(table))),
    )


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
    """Return PER and FER between every two transcribers (PSST's rules, silence left out)."""
    return tuple(
        Transcribed(answers.measure, _transcribers(rated, answers))
        for answers in rated.others
        if answers.measure.kind == "phonemes"
    )


def _transcribers(rated: Rated, answers: Answers) -> tuple[TranscribedPair, ...]:
    spoken = []
    for text in answers.words:
        try:
            spoken.append([label for label in parse_spoken(text) if label not in SILENT])
        except TabwbError as error:
            error.where = f"transcript '{text:.40}' of '{answers.measure.id}'"
            raise
    known, found = ~np.isnan(answers.values), []
    for one, other in combinations(range(len(rated.raters)), 2):
        both = known[one] & known[other]
        if both.any():
            sides = (answers.values[rater][both].astype(int).tolist() for rater in (one, other))
            said = ([spoken[text] for text in side] for side in sides)
            found.append(_transcript_pair(rated.raters[one], rated.raters[other], *said))
    return tuple(found)


def _transcript_pair(
    first: str, second: str, one: list[list[str]], other: list[list[str]]
) -> TranscribedPair:
    scores = score(one, other)
    lengths = sum(map(len, one)), sum(map(len, other))
    features = scores.costs.features
    return TranscribedPair(
        first,
        second,
        len(one),
        sum(a == b for a, b in zip(one, other, strict=True)),
        scores.phoneme_distance,
        scores.feature_distance,
        lengths,
        _rates(scores.phoneme_distance, lengths, 1),
        _rates(scores.feature_distance, lengths, features),
    )


def _rates(
    distance: float, lengths: tuple[int, int], each: int
) -> tuple[float | None, float | None]:
    first, second = (distance / (each * length) if length else None for length in lengths)
    return first, second
