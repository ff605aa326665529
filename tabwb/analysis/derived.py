"""Raters that are derived from others: rules over the verdicts of people, and calibrated judges.

A judge after calibration with the consensus of people is a separate rater, whose values are p(v).
For each feature the samples of all rating sets with a consensus and a verdict of the judge are
counted by both; see :mod:`tabwb.scoring.calibrated`. It holds for responses in which the feature is
as frequent as in the samples. Weights of a stratified sampling are used; n unequal ones are worth
(sum w)^2 / sum w^2 equal ones (Kish 1965, Survey Sampling, 11.7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import Derivation, people_of
from tabwb.analysis.names import judge_called
from tabwb.records.errors import MissingPackage, UsageError
from tabwb.records.ratings import (
    CALIBRATED,
    NO_MAJORITY,
    NOT_SETTLED,
    PROBABILITY,
    UNSURE,
    Declaration,
    Rule,
)
from tabwb.records.states import RatingStatus
from tabwb.records.system import package_command
from tabwb.records.words import plural
from tabwb.scoring.calibrated import FEWEST, Calibration
from tabwb.store.columns import Bools, Frame, Ints, RaterColumns, Ratings
from tabwb.store.store import Store
from tabwb.store.verdicts import STATUSES

Floats = NDArray[np.float64]
VALUE, UNDEFINED = STATUSES.index(RatingStatus.VALUE), STATUSES.index(RatingStatus.UNDEFINED)
REASONS = (UNSURE, NO_MAJORITY, NOT_SETTLED)
_CANNOT, _NO_MAJORITY, _NOT_SETTLED = range(3)


def with_derived_columns(
    columns: Frame,
    declared: Sequence[Mapping[str, Declaration]],
    derivations: Mapping[int, Derivation],
) -> Frame:
    """Return columns with those of the derived raters."""
    # By rater and measure rows, values and reasons, in parts of ascending rows.
    made: dict[Rule, dict[str, list[tuple[Ints, Floats, Ints]]]] = {}
    for place, number in enumerate(columns.administrations):
        derivation = derivations.get(number)
        people = people_of(declared[place])
        if derivation is None or not derivation.rules or not people:
            continue
        first, last = columns.starts[place : place + 2].tolist()
        features = dict.fromkeys(one for code in people for one in declared[place][code].features)
        for measure in features:
            values, rated = _given(columns, people, measure, first, last)
            if not rated.any():
                continue
            held, is_held = _settled(columns, derivation, measure, first, last)
            rows = np.flatnonzero(rated)
            for rule in derivation.rules:
                found, reasons = _by_rule(rule, values, held, is_held)
                own = made.setdefault(rule, {}).setdefault(measure, [])
                own.append((rows + first, found[rows], reasons[rows]))
    if not made:
        return columns
    base = max((0, *columns.reasons)) + 1
    order = 1 + max(
        (int(one.order.max()) for one in columns.ratings.values() if len(one.order)),
        default=0,
    )
    ratings = dict(columns.ratings)
    for at, (rule, given) in enumerate(made.items()):
        measures = {measure: _joined(parts, base) for measure, parts in given.items()}
        rows = np.unique(np.concatenate([one.rows for one in measures.values()]))
        ratings[rule] = RaterColumns(rows, np.full(len(rows), order + at), measures)
    texts = {**columns.reasons, **{base + at: words for at, words in enumerate(REASONS)}}
    return replace(columns, ratings=ratings, reasons=texts)


def _joined(parts: Sequence[tuple[Ints, Floats, Ints]], base: int) -> Ratings:
    rows, values, reasons = (np.concatenate(each) for each in zip(*parts, strict=True))
    defined = ~np.isnan(values)
    statuses = np.where(defined, VALUE, UNDEFINED).astype(np.int8)
    return Ratings.of(rows, values, statuses, np.where(defined, 0, reasons + base))


def _given(
    columns: Frame, people: Sequence[str], measure: str, first: int, last: int
) -> tuple[Floats, Bools]:
    """Return what people gave in some rows: (people, rows), nan without a value; and where."""
    values = np.full((len(people), last - first), np.nan)
    rated = np.zeros(last - first, bool)
    for at, rater in enumerate(people):
        given = columns.ratings[rater].measures.get(measure) if rater in columns.ratings else None
        if given is None:
            continue
        low, high = np.searchsorted(given.rows, (first, last))
        rows = given.rows[low:high] - first
        values[at, rows], _, _ = given.at(slice(low, high))
        rated[rows] = True
    return values, rated


def _settled(
    columns: Frame, derivation: Derivation, measure: str, first: int, last: int
) -> tuple[Floats, Bools]:
    held, is_held = np.full(last - first, np.nan), np.zeros(last - first, bool)
    wanted = {
        response: given[measure]
        for response, given in derivation.settled.items()
        if measure in given
    }
    if wanted:
        places = zip(
            columns.trials[first:last].tolist(), columns.attempts[first:last].tolist(), strict=True
        )
        for row, response in enumerate(places):
            if response in wanted:
                value = wanted[response]
                held[row], is_held[row] = np.nan if value is None else value, True
    return held, is_held


def _by_rule(rule: Rule, values: Floats, held: Floats, is_held: Bools) -> tuple[Floats, Ints]:
    """Return the value of each row, nan without one, and then the place of the reason."""
    given = ~np.isnan(values)
    n = given.sum(axis=0)
    found = np.full(values.shape[1], np.nan)
    for value in np.unique(values[given]):
        same = (values == value).sum(axis=0)
        found[(same == n) if rule == "adjudicated" else (2 * same > n)] = value
    found[n == 0] = np.nan
    open_reason = _NOT_SETTLED if rule == "adjudicated" else _NO_MAJORITY
    reasons = np.where(n == 0, _CANNOT, open_reason)
    if rule != "majority":
        found = np.where(is_held, held, found)
        reasons = np.where(is_held, _CANNOT, reasons)
    return found, reasons


def with_calibrated(
    store: Store,
    columns: Frame,
    declared: Sequence[Mapping[str, Declaration]],
    name: str,
) -> tuple[Frame, list[Mapping[str, Declaration]]]:
    """Return columns and declarations with those of a calibrated judge.

    A verdict with too few samples has no probability: such a rating is *undefined*. Its feature is
    no part of the judge's set.
    """
    judge = judge_called(name.removeprefix(CALIBRATED), columns.ratings)
    calibration = calibration_of(store, judge)
    given = columns.ratings[judge]
    features = {feature for own in declared if judge in own for feature in own[judge].features}
    features |= calibration.keys()
    base = max((0, *columns.reasons)) + 1
    reasons: dict[int, str] = {}
    measures = {
        measure: _probabilities(
            given.measures[measure], calibration.get(measure, NONE), reasons, base
        )
        for measure in given.measures
        if measure in features
    }
    measures |= {f"{measure}{PROBABILITY}": own for measure, own in measures.items()}
    rater = f"{CALIBRATED}{judge}"
    used = {measure: calibration.get(measure, NONE) for measure in measures}
    made = RaterColumns(given.rows, given.order, measures, calibration=used)
    return replace(
        columns,
        ratings={**columns.ratings, rater: made},
        reasons={**columns.reasons, **reasons},
    ), [_with_declaration(one, judge, rater, calibration) for one in declared]


def calibration_of(store: Store, judge: str) -> dict[str, Calibration]:
    """Return, by feature, what the verdicts of a judge stand for."""
    try:
        from tabwb.analysis.rating_sets import samples_of
    except ModuleNotFoundError as error:
        what, command = f"'{CALIBRATED}{judge}'", package_command("tabwb")
        raise MissingPackage(what, str(error.name), command) from error
    calibration = {measure: one.calibration() for measure, one in samples_of(store, judge).items()}
    if not any(one.complete for one in calibration.values()):
        raise UsageError(
            f"'{judge}' cannot be calibrated",
            hint=f"a feature needs {FEWEST} samples of rating sets with a consensus that the judge "
            f"calls present, and {FEWEST} that it calls absent",
        )
    return calibration


FEW_PROMPTS = 20
"""Below this the intervals of a calibrated judge may be too narrow (docs/uncertainty.md)."""
NONE = Calibration((0, 0), (0.0, 0.0), (0.0, 0.0))
"""Without samples."""


def _probabilities(
    given: Ratings, calibration: Calibration, reasons: dict[int, str], base: int
) -> Ratings:
    """Return p(v) of each verdict; undefined where the verdict has too few samples."""
    values, statuses, why = given.at()
    why = np.where(statuses == VALUE, 0, why)
    verdicts = np.where(statuses == VALUE, values, np.nan)
    for verdict in (0, 1):
        own = verdicts == verdict
        if calibration.known(verdict):
            values[own] = calibration.probability(verdict)
            continue
        values[own], statuses[own] = np.nan, UNDEFINED
        number = base + len(reasons)
        reasons[number] = calibration.unknown(verdict)
        why = np.where(own, number, why)
    return Ratings.of(given.rows, values, statuses, why)


def _with_declaration(
    declared: Mapping[str, Declaration],
    judge: str,
    rater: str,
    calibration: Mapping[str, Calibration],
) -> Mapping[str, Declaration]:
    own = declared.get(judge)
    if own is None:
        return declared
    used = {name: one for name, one in calibration.items() if one.complete}
    features = tuple(feature for feature in own.features if feature in used)
    out = tuple(feature for feature in own.features if feature not in used)
    sizes = [sum(used[feature].samples) for feature in features]
    n = f"{min(sizes)} to {max(sizes)}" if len({*sizes}) > 1 else f"{max(sizes, default=0)}"
    people = sum(used[feature].verdicts for feature in features)
    caution = (
        f"each verdict of {judge} counts as the share of people who find the feature where it says "
        f"so, from the consensus on {n} samples of each feature "
        f"({plural(people, 'verdict')} of people)"
    )
    if out:
        caution += (
            f"; {len(features)} of {len(own.features)} features, without {', '.join(out)} (fewer "
            f"than {FEWEST} samples of a verdict)"
        )
    few = min((used[feature].prompts for feature in features), default=0)
    if features and few < FEW_PROMPTS:
        caution += (
            f"; these samples answer {plural(few, 'prompt')} and are taken as independent: with "
            f"fewer than {FEW_PROMPTS} prompts the intervals are too narrow"
        )
    return {**declared, rater: replace(own, rater=rater, features=features, caution=caution)}
