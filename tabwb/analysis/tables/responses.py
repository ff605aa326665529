"""The tables of responses and of their ratings, from the columns of the store.

Names of columns are those of the exported table. A store of 112,000 responses takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.frame import NOT_RATED, table_of
from tabwb.analysis.frame import Table as Responses
from tabwb.analysis.names import judge_called
from tabwb.analysis.tables.administrations import given_columns
from tabwb.battery.model import Item, Subtest
from tabwb.records.columns import PARTICIPANT, Column, column_of
from tabwb.records.ratings import CALIBRATED
from tabwb.scoring.choice import POLICIES
from tabwb.store.columns import STATUSES, Bools, Frame, Ints, found
from tabwb.store.store import Store
from tabwb.store.verdicts import STATUSES as RATING_STATUSES
from tabwb.tables.table import Series, Table, series_of

NOTES = (
    "One row for each response that counts: the last usable attempt of each trial that was neither "
    "skipped nor declared void. Practice is left out.",
    "Results count a response once where duplicate is true of the others.",
)
RATING_NOTES = ("One row for each rating of a response that counts; a missing value has a status.",)
OF_RATINGS = (
    "id", "administration", "battery", "battery_version", "examinee", "trial_number", "subtest",
    "item", "replicate", "response", "usable", "duplicate",
)  # fmt: skip
"""Columns of a response that the table of ratings repeats."""


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Responses of several administrations. Arrays have one element per response.

    Attributes:
        prepared: the columns of all responses.
        rows: places in them, ascending.
        given: places of their administrations.
        cells: places in ``items``, the (battery, subtest, item) that were given.
        verdicts: by policy: 1, 0, or nan.
    """

    prepared: Frame
    rows: Ints
    given: Ints
    cells: Ints
    items: Sequence[tuple[Subtest, Item]]
    statuses: Ints
    usable: Bools
    duplicate: Bools
    verdicts: Mapping[str, NDArray[np.float64]]


def responses_table(store: Store, chosen: Sequence[AdministrationData]) -> Table:
    """Return one row for each response that counts."""
    columns = (*(column for column, _ in given_columns(chosen)), *COLUMNS)
    rows = _rows_of(chosen)
    if rows is None:
        return _empty("responses", columns, NOTES)
    series = {**_of_administrations(chosen, rows), **_of_responses(rows)}
    return Table("responses", columns, {**series, **_of_attempts(store, rows)}, NOTES)


def _empty(name: str, columns: Sequence[Column], notes: Sequence[str]) -> Table:
    return Table(name, columns, {one.name: series_of((), one.type) for one in columns}, notes)


def ratings_table(
    store: Store, chosen: Sequence[AdministrationData], rater: str | None = None
) -> Table:
    """Return one row for each rating of each response that counts, with its reason."""
    known = {
        column.name: column for column in (*(one for one, _ in given_columns(chosen)), *COLUMNS)
    }
    people = [name for name in known if name.startswith(PARTICIPANT)]
    repeated = [known[name] for name in (*OF_RATINGS, *people)]
    rows = _rows_of(chosen)
    if rows is None:
        return _empty("ratings", (*repeated, *RATING_COLUMNS), RATING_NOTES)
    series = {**_of_administrations(chosen, rows), **_of_responses(rows)}
    responses = Table("responses", repeated, series)
    columns = rows.prepared
    named = {name for given in columns.ratings.values() for name in given.measures}
    whole = store.columns(columns.administrations, named)
    if rater is not None and rater.startswith(CALIBRATED) and len(responses):
        from tabwb.analysis.derived import with_calibrated

        whole, _ = with_calibrated(store, whole, [one.declarations for one in chosen], rater)
    if rater is not None and len(responses):
        rater = judge_called(rater, whole.ratings)
    at = found(columns.ids[rows.rows], whole.ids)  # the store may have grown between
    raters: dict[str, int] = {}
    measures: dict[str, int] = {}
    parts: list[tuple[NDArray[Any], ...]] = []
    for name, given in whole.ratings.items():
        if rater not in (None, name):
            continue
        for measure, ratings in given.measures.items():
            own = at[ratings.rows]
            here = own >= 0
            codes = np.full(
                (2, int(here.sum())),
                [[raters.setdefault(name, len(raters))],
                 [measures.setdefault(measure, len(measures))]],
            )  # fmt: skip
            parts.append((own[here], *codes, *ratings.at(here)))
    return _long(responses, parts, list(raters), list(measures), whole.reasons)


def _long(
    responses: Table,
    parts: Sequence[tuple[NDArray[Any], ...]],
    raters: Sequence[str],
    measures: Sequence[str],
    explained: Mapping[int, str],
) -> Table:
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    rows, rater, measure, values, statuses, reasons = joined or [np.empty(0, np.int64)] * 6
    order = np.lexsort((measure, rater, rows))
    ids, codes = np.unique(reasons, return_inverse=True)
    texts = [explained.get(number, "") for number in ids.tolist()]
    known = np.array([bool(text) for text in texts], bool)
    places = np.where(known[codes], codes, -1) if len(codes) else codes
    repeated = responses.take(rows[order])
    series = {
        "rater": Series(rater[order].astype(np.int32), raters),
        "measure": Series(measure[order].astype(np.int32), measures),
        "value": Series(values[order].astype(np.float64)),
        "rating_status": Series(
            statuses[order].astype(np.int32), [status.value for status in RATING_STATUSES]
        ),
        "rating_reason": Series(places[order].astype(np.int32), texts),
    }
    columns = (*repeated.columns, *RATING_COLUMNS)
    own = {name: repeated[name] for name in repeated.names}
    return Table("ratings", columns, {**own, **series}, RATING_NOTES)


def _rows_of(chosen: Sequence[AdministrationData]) -> _Rows | None:
    if not chosen or chosen[0].columns is None:
        return None
    prepared = chosen[0].columns[0]
    batteries: dict[str, list[int]] = {}
    for place, data in enumerate(chosen):
        batteries.setdefault(data.battery.content_hash, []).append(place)
    items: list[tuple[Subtest, Item]] = []
    parts: list[list[NDArray[Any]]] = []
    for members in batteries.values():
        table = table_of([chosen[place] for place in members])
        cells = np.array(
            [-1 if cell is None else at for at, cell in enumerate(table.known, len(items))]
        )
        items += [cell[1:] if cell is not None else _NO_ITEM for cell in table.known]
        parts.append([
            table.rows, np.array(members)[table.source], cells[table.place], table.status,
            table.usable, ~table.counts, *_verdicts(table),
        ])  # fmt: skip
    joined = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    order = np.argsort(joined[0])
    rows, given, cells, statuses, usable, duplicate, *verdicts = (part[order] for part in joined)
    return _Rows(
        prepared, rows, given, cells, items, statuses, usable, duplicate,
        dict(zip(POLICIES, verdicts, strict=True)),
    )  # fmt: skip


def _verdicts(table: Responses) -> list[NDArray[np.float64]]:
    """Return the verdicts under each policy of the subtest's first scorer that gives verdicts."""
    found = [np.full(len(table), np.nan) for _ in POLICIES]
    for number, subtest in enumerate(table.battery.subtests):
        rows = np.flatnonzero(table.subtest == number)
        for scorer in subtest.scorers:
            exact = table.verdict(scorer, "exact")
            if (exact.statuses[rows] != NOT_RATED).any():
                for policy, values in zip(POLICIES, found, strict=True):
                    given = exact if policy == "exact" else table.verdict(scorer, policy)
                    values[rows] = given.values[rows]
                break
    return found


def _of_administrations(chosen: Sequence[AdministrationData], rows: _Rows) -> dict[str, Series]:
    return {
        column.name: series_of(map(value, chosen), column.type).take(rows.given)
        for column, value in given_columns(chosen)
    }


def _of_attempts(store: Store, rows: _Rows) -> dict[str, Series]:
    details = store.attempt_details(rows.prepared.ids[rows.rows])
    series = {name: Series(places, known) for name, (places, known) in details.texts.items()}
    series["response_recorded_at"] = series.pop("recorded_at")
    return {**series, "latency_s": Series(details.latencies)}


def _of_responses(rows: _Rows) -> dict[str, Series]:
    columns, at = rows.prepared, rows.rows
    places = columns.items[at]
    numbers = {"trial_number": columns.trials, "replicate": columns.replicates,
               "response_attempt": columns.attempts}  # fmt: skip
    names = [status.value for status in STATUSES]
    coded = {
        "subtest": series_of((subtest for subtest, _ in columns.places), "text").take(places),
        "item": series_of((item for _, item in columns.places), "text").take(places),
        "options": series_of((options or None for options in columns.shown), "list of text").take(
            columns.options[at]
        ),
        "expected": series_of((item.expected for _, item in rows.items), "text").take(rows.cells),
        "tags": series_of((item.tags or None for _, item in rows.items), "list of text").take(
            rows.cells
        ),
        "response": Series(columns.texts[at].astype(np.int32), columns.responses),
        "trial_status": Series(columns.statuses[at].astype(np.int32), names),
        "effective_status": Series(rows.statuses.astype(np.int32), names),
        "response_protocol": Series(columns.notes["protocol"][at].astype(np.int32), columns.noted),
    }
    return {
        **{name: Series(values[at].astype(np.int64)) for name, values in numbers.items()},
        **coded,
        "usable": Series(rows.usable),
        "duplicate": Series(rows.duplicate),
        "words": Series(columns.responses.sizes[columns.texts[at]].astype(np.int64)),
        **{policy: _truths(values) for policy, values in rows.verdicts.items()},
        "decoding_seed": _seeds(columns, at),
    }


def _truths(verdicts: NDArray[np.float64]) -> Series:
    missing = np.isnan(verdicts)
    return Series(verdicts == 1.0, None, missing if missing.any() else None)


def _seeds(columns: Frame, at: Ints) -> Series:
    seeds = columns.seeds[at].astype(np.int64)
    # Below -1 it is a text that an earlier version stored.
    for place in np.unique(seeds[seeds < -1]).tolist():
        text = columns.noted[-2 - place]
        number = int(text) if text.isascii() and text.isdecimal() else -1
        seeds[seeds == place] = number if number < 2**63 else -1
    missing = seeds < 0
    return Series(np.where(missing, 0, seeds), None, missing if missing.any() else None)


_NO_ITEM: Any = (None, SimpleNamespace(expected=None, tags=()))

COLUMNS = (
    *map(
        column_of,
        (
            "trial_number", "subtest", "item", "replicate", "options", "expected", "tags", "prompt",
            "response", "reasoning", "trial_status", "effective_status", "usable",
        ),
    ),
    Column(
        "duplicate",
        "Duplicate",
        "true: the same response of this examinee is in an earlier row, and nothing was drawn or "
        "it is the same draw; results count it once",
        "boolean",
    ),
    column_of("words"),
    *(
        Column(
            policy,
            policy.capitalize(),
            f"right or wrong under the policy {policy}, by the subtest's first scorer; missing "
            "where there is no such verdict",
            "boolean",
        )
        for policy in POLICIES
    ),
    column_of("stop_reason"),
    column_of("latency_s", 2),
    *map(
        column_of,
        ("response_attempt", "response_recorded_at", "response_protocol", "decoding_seed"),
    ),
)  # fmt: skip
RATING_COLUMNS = (
    column_of("rater"),
    column_of("measure"),
    column_of("value", 2),
    column_of("rating_status"),
    column_of("rating_reason"),
)
