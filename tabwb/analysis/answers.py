"""Agreement on answers that are not present or absent: scales, codes, words heard, transcripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.compare import FEWEST_SHARED, over_pairs
from tabwb.agreement.intervals import (
    PRIOR,
    drawn_sums,
    few_speakers,
    ratio_interval,
    shifted_quantiles,
)
from tabwb.agreement.many import krippendorff_alpha
from tabwb.agreement.pairs import (
    Counts,
    cohen_kappa,
    gwet_ac1,
    specific_agreement,
    weighted_kappa,
)
from tabwb.agreement.verdicts import Floats
from tabwb.analysis.ratings import Answers, Ints, Rated
from tabwb.phonology.batch import QUARTERS, score
from tabwb.phonology.inventory import SILENT, parse_spoken
from tabwb.records.errors import TabwbError
from tabwb.tables.table import Row, defined, ended

Bools = NDArray[np.bool_]
MOST_CELLS = 400
"""A coefficient of codes in a larger table has no interval: most of its cells are empty."""
_NULL = 1e-9


def add_answers(
    rows: dict[str, list[Row]], rated: Rated, answers: Answers, draws: int, seed: int
) -> None:
    """Add the agreement of raters on a scale, on codes, on words heard, or of transcripts."""
    measure = answers.measure
    begin = {"measure": measure.id}
    if measure.kind == "phonemes":
        rows["answers"].append({**begin, "title": measure.title, "kind": measure.kind})
        rows["transcripts"] += (begin | row for row in _transcribers(rated, answers))
        return
    scale = measure.kind == "scale"
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
    found: list[Sequence[float] | None] = [None] * len(raters)
    ends: Sequence[float] | None = None
    mean = _mean(values, counts, averaged)
    enough = [not few_speakers(rated.speakers, cell >= 0) for cell in cells]
    if draws and any(enough) and size * size <= MOST_CELLS:
        drawn = np.stack(
            [
                drawn_sums(cell[:, None] == np.arange(size * size), draws=draws, seed=seed,
                           speakers=rated.speakers).reshape(draws, size, size)
                for cell in cells
            ],
            axis=1,
        )  # fmt: skip
        given = [drawn]
        if scale:
            given.insert(0, drawn + _pseudo_counts(tables, cells, draws, seed))
        each = [coefficient(one) for one in given]
        found = [
            _interval([one[:, at] for one in each], float(values[at])) if enough[at] else None
            for at in range(len(raters))
        ]
        means = [
            _mean(one, weights.sum(axis=(-2, -1)), averaged)
            for one, weights in zip(each, given, strict=True)
        ]
        ends = _interval(means, float(mean))
    rows["answers"].append(
        {
            **begin,
            "title": measure.title,
            "kind": measure.kind,
            "n": int((known.sum(axis=0) >= 2).sum()),
            **ended("kappa", defined(float(mean)), ends),
            "linear": defined(float(_mean(linear, counts, averaged))),
            "alpha": defined(
                krippendorff_alpha(
                    np.where(known, answers.values, np.nan), "ordinal" if scale else "nominal"
                )
            ),
            "unsure": answers.unsure,
        }
    )
    rows["answer-pairs"] += (
        {
            **begin,
            "first": rated.raters[one],
            "second": rated.raters[other],
            "n": int(counts[at]),
            "agreed": int(np.trace(tables[at])),
            **ended("kappa", defined(values[at]), found[at]),
            "linear": defined(linear[at]),
            "ac1": None if scale or size < 2 else defined(float(gwet_ac1(tables[at]))),
            "averaged": bool(averaged[at]),
        }
        for at, (one, other) in enumerate(raters)
    )
    summed = tables.sum(axis=0)
    both = summed + summed.T
    confused = [(-int(both[a, b]), names[a], names[b])
                for a, b in combinations(range(size), 2) if both[a, b]]  # fmt: skip
    rows["confusions"] += (
        {**begin, "one": a, "other": b, "n": -less} for less, a, b in sorted(confused)
    )
    rows["codes"] += (
        {**begin, "value": name, "n": int(both[at].sum()),
         "agreement": defined(float(specific_agreement(summed, at)))}
        for at, name in enumerate(names)
    )  # fmt: skip


def _pseudo_counts(tables: Counts, cells: list[Ints], draws: int, seed: int) -> Floats:
    """Return pseudo-counts as of :mod:`tabwb.agreement.intervals`: (draws, pairs, size, size).

    They add up to two samples, whatever the size. Without them the intervals of weighted kappas of
    20 samples cover 0.84; those of codes do not need them.
    """
    size = tables.shape[-1]
    rated = np.any([cell >= 0 for cell in cells], axis=0).sum()
    share = tables.sum(axis=(1, 2)) / max(rated, 1)
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    counts = generator.standard_gamma(4 * PRIOR / size**2, (draws, 1, size, size))
    return np.asarray(counts * share[:, None, None])


def _mean(values: Floats, counts: Counts | Floats, averaged: Bools) -> Floats:
    """Return means over pairs, the last axis, weighted by their shared samples."""
    weights = np.asarray(counts, np.float64)
    return over_pairs(values[..., None], weights[..., None], averaged[:, None])[..., 0]


def _interval(drawn: Sequence[Floats], value: float) -> Sequence[float] | None:
    """Return the interval from draws of a value; None where they are undefined or all equal."""
    known = [draws[~np.isnan(draws)] for draws in drawn]
    if np.isnan(value) or not all(draws.size for draws in known):
        return None
    low, high = np.clip(shifted_quantiles(known, value), -1.0, 1.0).tolist()
    return (low, high) if high - low > _NULL else None


def _transcribers(rated: Rated, answers: Answers) -> Iterator[Row]:
    """Yield PER and FER between every two transcribers (PSST's rules, silence left out).

    An empty transcript, of a silent response, is as ``<sil>``: all phonemes of the other are left
    out or added.
    """
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
        over, under = above.sum(axis=0).astype(float), below.sum(axis=0).astype(float)
        rates = np.divide(over, under, out=np.full(under.shape, np.nan), where=under > 0)
        speakers = None if rated.speakers is None else rated.speakers[both]
        row: Row = {
            "first": rated.raters[one],
            "second": rated.raters[other],
            "n": int(both.sum()),
            "same": sum(a == b for a, b in zip(*sides, strict=True)),
            "edits": scores.phoneme_distance,
            "feature_edits": scores.feature_distance,
            "phonemes_first": int(lengths[0].sum()),
            "phonemes_second": int(lengths[1].sum()),
        }
        for at, name in enumerate(("per_first", "per_second", "fer_first", "fer_second")):
            # In phonemes, also the features: what one edit costs is 1 at most.
            ends = ratio_interval(above[:, at] / each[at], below[:, at] / each[at],
                                  speakers=speakers)  # fmt: skip
            row |= ended(name, defined(rates[at]), None if ends is None else (ends.low, ends.high))
        yield row
