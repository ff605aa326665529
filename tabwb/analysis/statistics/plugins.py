"""The statistics of plugins over the responses of a group."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from numbers import Real
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.frame import Table as Group
from tabwb.analysis.frame import table_of
from tabwb.analysis.statistics.results import Result
from tabwb.host.guarded import (
    LimitReached,
    error_words,
    exits_as_errors,
    limited,
    not_async,
    plugin_code,
)
from tabwb.plugin_api.extensions import Responses, Statistic, StatisticValue
from tabwb.records.columns import Column, column_of
from tabwb.records.errors import ComponentError
from tabwb.records.ratings import is_derived
from tabwb.scoring.estimate import Estimand, Estimate, EstimatedInterval, Interval
from tabwb.store.columns import STATUSES
from tabwb.tables.table import Series, Table, series_of

COLUMNS = (
    Column("administration", "Administration", "number of the administration", "integer"),
    column_of("subtest"),
    column_of("item"),
    column_of("replicate"),
    column_of("response"),
    column_of("words"),
    Column("status", "Status", "the status under which the response counts"),
    column_of("usable"),
)

MOST = 10_000
"""A statistic has no more values in a group."""
MOST_CHARACTERS = 300
"""Of a reason and of what a value belongs to; longer texts are cut."""
MOST_N = 2**53
"""Of responses behind a value: every format has integers up to here."""
_stopped: dict[Statistic, str] = {}
"""Statistics that reached a limit, and which."""


def statistics_of(group: Group) -> Iterator[Result]:
    """Yield the values of statistics in a group, of each subtest where they are per subtest."""
    judges = sets_of(group)
    chosen = [one for one in group.frame.statistics if len(judges) >= one.judges]
    rows = np.flatnonzero(group.counts)
    every = _plugin_responses(group, rows) if chosen else None
    for statistic in chosen:
        if statistic.per == "group" and every is not None:
            yield from _results(statistic, "", every)
            continue
        for number, subtest in enumerate(group.battery.subtests):
            own = rows[group.subtest[rows] == number]
            if len(own):
                yield from _results(statistic, subtest.id, _plugin_responses(group, own))


def _results(statistic: Statistic, part: str, responses: Responses) -> Iterator[Result]:
    for given in computed(statistic, responses):
        yield Result(
            statistic.id,
            Estimate(given.value, given.reason),
            part,
            feature=given.of,
            n=given.n or 0,
            statistic=statistic,
            ends=partial(_ends, given),
        )


def _ends(given: StatisticValue) -> tuple[EstimatedInterval, ...]:
    if given.low is None or given.high is None:
        return ()
    return (EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, Interval(given.low, given.high)),)


def plugin_responses_of(members: Sequence[AdministrationData]) -> Responses:
    """Return the responses of administrations of one battery that were read as columns."""
    group = table_of(members)
    return _plugin_responses(group, np.flatnonzero(group.counts))


def _plugin_responses(group: Group, rows: NDArray[np.int64]) -> Responses:
    """Return responses as the statistics and pages of plugins are given them."""
    columns, texts = group.columns, group.text[rows]
    members = group.frame.administrations
    numbers = np.array([members[place] for place in group.members], np.int64)
    places = group.place[rows]
    subtests = series_of((subtest for subtest, _ in columns.places), "text")
    items = series_of((item for _, item in columns.places), "text")
    table = Table(
        "group-responses",
        COLUMNS,
        {
            "administration": Series(numbers[group.source[rows]]),
            "subtest": subtests.take(places),
            "item": items.take(places),
            "replicate": Series(columns.replicates[group.rows[rows]].astype(np.int64)),
            "response": Series(texts.astype(np.int32), columns.responses),
            "words": Series(columns.responses.sizes[texts].astype(np.int64)),
            "status": Series(
                group.status[rows].astype(np.int32), [status.value for status in STATUSES]
            ),
            "usable": Series(group.usable[rows]),
        },
    )

    @cache
    def rated(rater: str) -> NDArray[np.int64]:
        chosen = np.arange(len(group))
        chosen[group.counts] = group.chosen(rater)
        return chosen[rows]

    def values(rater: str, measure: str) -> NDArray[np.float64]:
        if rater not in columns.ratings:
            return np.full(len(rows), np.nan)
        return group.measure(rater, measure, rated(rater)).values

    raters = {rater: tuple(given.measures) for rater, given in columns.ratings.items()}
    return Responses(group.battery, table, raters, values, sets_of(group))


def sets_of(group: Group) -> dict[str, tuple[str, ...]]:
    """Return the judges of a group with the features of their sets, as they declared them."""
    return {
        rater: declared.features
        for source in reversed(group.sources)
        for rater, declared in source.declarations.items()
        if declared.kind == "judge" and declared.features and not is_derived(rater)
    }


def computed(statistic: Statistic, responses: Responses) -> tuple[StatisticValue, ...]:
    """Return what a statistic gives, checked; whatever is wrong with it is an undefined value.

    One that reached a limit of time or memory is not called again by this program.
    """
    if statistic in _stopped:
        return (StatisticValue(None, reason=_stopped[statistic]),)

    def call() -> tuple[StatisticValue, ...]:
        assert statistic.compute is not None
        with exits_as_errors:
            return tuple(
                _checked(_several(not_async(statistic.compute(responses))), len(responses.table))
            )

    try:
        with plugin_code:
            return limited(f"statistic '{statistic.id}'", statistic.limit_s, call)
    except LimitReached as error:
        _stopped[statistic] = f"{error.message}: it is not computed again"
        return (StatisticValue(None, reason=error.message),)
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        words = "; ".join(error_words(error).splitlines())
        return (StatisticValue(None, reason=_cut(f"'{statistic.id}' failed: {words}")),)


RETURNED = "a number, None, a StatisticValue, or several StatisticValues that differ in 'of'"


def _several(given: Any) -> Sequence[Any]:
    # A number of numpy is a Real; a text would be taken for its characters.
    if given is None or isinstance(given, StatisticValue | Real | str):
        return [given]
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise ComponentError(f"it returned a {type(given).__name__}", allowed=RETURNED)
    several = list(islice(given, MOST + 1))
    if len(several) > MOST:
        raise ComponentError(f"it returned more than {MOST:,} values", allowed=RETURNED)
    return several or [StatisticValue(None, reason="the function returned no value")]


def _checked(given: Sequence[Any], n: int) -> Iterator[StatisticValue]:
    seen = set()
    for value in given:
        made = value if isinstance(value, StatisticValue) else StatisticValue(_number(value))
        of = _cut(made.of)
        if of in seen:
            raise ComponentError(f"it returned two values with of={of[:40]!r}", allowed=RETURNED)
        seen.add(of)
        number, low, high = _number(made.value), _number(made.low), _number(made.high)
        if (low is None) != (high is None):
            raise ComponentError(f"an interval from {low} to {high} lacks an end")
        if low is not None and high is not None and low > high:
            raise ComponentError(f"an interval from {low:g} to {high:g} has its ends exchanged")
        if number is None:
            low = high = None
        elif low is not None and high is not None:
            near = 1e-9 * max(abs(low), abs(high), 1)
            if not low - near <= number <= high + near:
                raise ComponentError(f"{number:g} is not in its interval, {low:g} to {high:g}")
        count = n if made.n is None else made.n
        if isinstance(count, bool) or count != int(count) or not 0 <= count <= MOST_N:
            raise ComponentError(f"n={count!r:.60} is not a number of responses")
        reason = _cut(made.reason)
        if number is None and not reason:
            returned = made.value if isinstance(value, StatisticValue) else value
            reason = f"the function returned {returned!s:.60} without a reason"
        yield StatisticValue(number, low, high, int(count), reason, of)


def _cut(given: object) -> str:
    text = "" if given is None else str(given)
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Real | SupportsFloat):
        raise ComponentError(f"it returned {value!r:.60}, which is not a number", allowed=RETURNED)
    number = float(value)
    return number if math.isfinite(number) else None
