"""The tables of features that occur together, and of profiles beside a reference profile."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import TextIOWrapper
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tabwb.analysis.contrast import baseline_of
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.statistics.burden import Judge
from tabwb.analysis.tables.declared import ends, group_columns
from tabwb.records.columns import Column
from tabwb.records.errors import UsageError
from tabwb.records.files import open_file
from tabwb.scoring.estimate import Estimate, Interval
from tabwb.scoring.profiles import (
    Floats,
    cosine,
    phi,
    phi_interval,
    similarity_interval,
    spearman,
)
from tabwb.tables.table import RecordColumn, Table, table_of

TOGETHER_NOTES = (
    "phi is the correlation of two features over the responses with a burden: 1 where both are in "
    "the same responses, 0 where they are independent. The interval (95 %, jackknife over items "
    "of artanh phi) is for prompts like these and is not corrected for the number of pairs. Rules "
    "that look at "
    "the same words make features go together.",
)
PROFILE_NOTES = (
    "The rates of the features that both sides have, compared by Spearman's rank correlation and "
    "by the cosine; a rate is the share of the responses with a burden. The intervals (95 %, "
    "bootstrap over items, corrected for bias) are for prompts like these; rates of a file are "
    "taken as known. Rates are never negative, so that a cosine is high between unlike "
    "profiles too. Profiles of other judges, prompts or scopes differ for "
    "that reason as well, and a similar profile does not show a similar cause.",
)
RATER = " rater="
"""Stands between the group of a reference and the rater whose verdicts are taken."""
LEAST_SHARED = 3
"""Features that are compared: the rank correlation of two is always 1 or -1."""
MOST_RATE = 1.0
ALLOWED = "columns feature, rate; or feature, present, n"


def together_table(rows: Sequence[Grouped]) -> Table:
    """Return each pair of features of each group and judge with the correlation of the two."""
    return table_of("co-occurrence", TOGETHER, _pairs(rows), TOGETHER_NOTES)


def profiles_table(rows: Sequence[Grouped], reference: str) -> Table:
    """Return how similar the profile of each group is to a reference."""
    made = sorted(_similarities(rows, reference), key=lambda row: (row[3], row[6]))
    if not made:
        raise UsageError(
            f"no group has {LEAST_SHARED} features or more in common with the reference",
            where=reference,
        )
    return table_of("profiles", PROFILES, made, PROFILE_NOTES)


def read_rates(path: Path) -> dict[str, float]:
    """Return feature to rate, from a CSV file.

    Its columns are ``feature`` and ``rate``, or ``feature``, ``present`` and ``n``: of n responses
    or speakers, how many have the feature.
    """
    try:
        with TextIOWrapper(open_file(path), encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path)) from error
    rates: dict[str, float] = {}
    for number_, line in enumerate(lines, 2):
        feature, where = line.get("feature"), f"{path}:{number_}"
        given = [line[name] for name in ("rate",) if line.get(name)] or [
            line[name] for name in ("present", "n") if line.get(name)
        ]
        if not feature or not given or (len(given) < 2 and not line.get("rate")):
            raise UsageError("a feature or its rate is missing", where=where, allowed=ALLOWED)
        try:
            rate = float(given[0]) / (float(given[1]) if len(given) > 1 else 1.0)
        except (ValueError, ZeroDivisionError):
            rate = -1.0
        if not 0.0 <= rate <= MOST_RATE:
            raise UsageError(f"'{'/'.join(given)}' is not a rate", where=where, allowed="0 to 1")
        if feature in rates:
            raise UsageError(f"the feature '{feature}' occurs twice", where=where)
        rates[feature] = rate
    if not rates:
        raise UsageError("has no rates", where=str(path), allowed=ALLOWED)
    return rates


def _shares(judge: Judge) -> Floats:
    """Return the share of responses with each feature by item, then 1: (items, features + 1)."""
    rows = judge.rows
    present, items = rows.present[rows.has_burden], rows.items[rows.has_burden]
    every = np.concatenate([present, np.ones((len(present), 1), bool)], axis=1)
    return np.array([every[items == item].mean(axis=0) for item in np.unique(items)], np.float64)


def _group(row: Grouped) -> tuple[str, str, str]:
    return row.label, row.battery.id, row.battery.version


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _pairs(rows: Sequence[Grouped]) -> Iterator[Sequence[Any]]:
    for row in rows:
        for judge in row.results.judges:
            names = judge.burden.features
            if judge.burden.calibration:  # how often two features come together is not known
                continue
            judged = judge.rows
            present = judged.present[judged.has_burden].astype(bool)
            items = judged.items[judged.has_burden]
            own = [items == item for item in np.unique(items)]
            for first, second in combinations(judge.features, 2):
                one, two = present[:, names.index(first)], present[:, names.index(second)]
                total, *by_item = (
                    (int((one & two)[at].sum()), int(one[at].sum()), int(two[at].sum()),
                     int(at.sum()))
                    for at in (np.ones(len(one), bool), *own)
                )  # fmt: skip
                value = phi(*total)
                interval, why = phi_interval(by_item) if value.defined else (None, "")
                yield (
                    *_group(row), judge.rater, first, second, value.value, *_ends(interval),
                    *total, value.reason or why or None,
                )  # fmt: skip


def _similarities(rows: Sequence[Grouped], reference: str) -> Iterator[Sequence[Any]]:
    judged = [(row, judge) for row in rows for judge in row.results.judges]
    if reference.lower().endswith(".csv"):
        rates = read_rates(Path(reference))
        for row, judge in judged:
            yield from _beside(row, judge, None, rates, Path(reference).name)
        return
    name, _, rater = reference.partition(RATER)
    base = baseline_of(rows, name)
    if rater and all(judge.rater != rater for judge in base.results.judges):
        raise UsageError(
            f"'{rater}' has not judged '{base.label}'",
            where=reference,
            allowed=", ".join(dict.fromkeys(one.rater for one in base.results.judges)) or "nobody",
        )
    for row, judge in judged:
        for beside in _references(base, judge, rater):
            if row is not base or beside.rater != judge.rater:
                yield from _beside(row, judge, beside, {}, base.label)


def _references(base: Grouped, judge: Judge, rater: str) -> Sequence[Judge]:
    """Return whose verdicts a judge's are compared with: a rater's, its own, else those of all."""
    if rater:
        return [one for one in base.results.judges if one.rater == rater]
    own = base.judge(judge.terms)
    return base.results.judges if own is None else [own]


def _beside(
    row: Grouped,
    judge: Judge,
    beside: Judge | None,
    rates: Mapping[str, float],
    name: str,
) -> Iterator[Sequence[Any]]:
    """Yield both similarities to a judge's profile, or to given rates; none of few features."""
    known = rates if beside is None else dict.fromkeys(beside.burden.features, 0.0)
    shared = tuple(feature for feature in judge.burden.features if feature in known)
    if len(shared) < LEAST_SHARED:
        return
    own = _chosen(judge, shared)
    other = None if beside is None else _chosen(beside, shared)
    given = np.array([known[feature] for feature in shared])
    both = dict.fromkeys((*judge.burden.features, *known))
    left_out = tuple(feature for feature in both if feature not in shared)
    n = judge.burden.n_burden
    for measure, of in (("spearman", spearman), ("cosine", cosine)):
        value, interval, why = Estimate(None, "no response has a burden"), None, ""
        if n and (beside is None or beside.burden.n_burden):
            value = of(_rates(own), given if other is None else _rates(other))
            interval, why = similarity_interval(own, other, given, of)
        yield (
            *_group(row), judge.rater, name, None if beside is None else beside.rater, measure,
            value.value, *_ends(interval), len(shared), left_out or None, n,
            value.reason or why or None,
        )  # fmt: skip


def _chosen(judge: Judge, features: Sequence[str]) -> Floats:
    places = [judge.burden.features.index(feature) for feature in features]
    counts = _shares(judge)
    return counts[:, [*places, -1]] if len(counts) else np.zeros((0, len(features) + 1))


def _rates(counts: Floats) -> Floats:
    sums = counts.sum(axis=0)
    return np.asarray(sums[:-1] / sums[-1], np.float64)


def _columns(*columns: Column | RecordColumn) -> tuple[Column, ...]:
    groups = [one.column for one in group_columns(lambda given: given)]
    made = (one.column if isinstance(one, RecordColumn) else one for one in columns)
    return (*groups, Column("rater", "Rater", "the judge"), *made)


def _whole(name: str, title: str, meaning: str) -> Column:
    return Column(name, title, meaning, "integer")


TOGETHER = _columns(
    Column("feature", "Feature", "the first feature"),
    Column("other", "With", "the second feature"),
    Column("phi", "Phi", "correlation of the two within responses", "number", "correlation", 2),
    *ends("phi_", "for prompts like these", lambda given: given),
    _whole("both", "Both", "responses with both"),
    _whole("n_first", "First", "responses with the first"),
    _whole("n_second", "Second", "responses with the second"),
    _whole("n", "N", "responses with a burden"),
    Column("reason", "Reason", "why there is no value or interval"),
)
"""The columns of :func:`together_table`."""
PROFILES = _columns(
    Column("reference", "Reference", "the group or file it is compared with"),
    Column("reference_rater", "Its rater", "who judged the reference; missing of a file"),
    Column("measure", "Measure", "spearman: rank correlation of the rates; cosine: of the rates"),
    Column("value", "Value", "the similarity", "number", "", 2),
    *ends("value_", "for prompts like these", lambda given: given),
    _whole("n_features", "Features", "that both sides have"),
    Column("left_out", "Left out", "features that only one side has", "list of text"),
    _whole("n", "N", "responses of the group with a burden"),
    Column("reason", "Reason", "why there is no value or interval"),
)
"""The columns of :func:`profiles_table`."""
