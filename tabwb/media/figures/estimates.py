"""What figures of groups have in common: columns of their tables, intervals, marks, captions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tabwb.media.figures.forest import NO_INTERVAL, OPEN, POINT, Mark
from tabwb.media.figures.kind import FigureOption, Options
from tabwb.report.summaries.cautions import FEW_ITEMS
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import Terms
from tabwb.report.summaries.shown import shared_note
from tabwb.report.tables.results import COLUMNS
from tabwb.scoring.estimate import Estimand, Estimate, EstimatedInterval
from tabwb.tables.table import Column, Table, table_of

DECLARED: Mapping[str, Column] = {column.name: column for column, _ in COLUMNS}
"""The columns of the table of results, by name."""
INTERVAL_REASON = Column(
    "interval_reason", "No interval", "why the value has no interval for prompts like these"
)
THESE_REASON = Column(
    "these_reason", "No interval", "why the value has no interval for these prompts"
)
INTERVALS = ("low", "high", "interval_reason", "these_low", "these_high", "these_reason")
ESTIMANDS = {"prompts-like-these": "", "these-prompts": "these_"}
INTERVAL = FigureOption(
    "interval", "what the intervals are for", "prompts-like-these", tuple(ESTIMANDS)
)
FEW_USABLE = "fewer than half of the responses are usable"

Record = dict[str, Any]
"""One row of a table by the names of its columns."""


def columns(*names: str | Column) -> list[Column]:
    """Return declarations: of the table of results by name, others as given."""
    own = {column.name: column for column in (INTERVAL_REASON, THESE_REASON)}
    return [name if isinstance(name, Column) else own.get(name) or DECLARED[name] for name in names]


def records(table: Table) -> list[Record]:
    """Return the rows of a table by the names of its columns."""
    return [dict(zip(table.names, row, strict=True)) for row in table.rows()]


def value_cells(estimate: Estimate) -> Record:
    """Return value, status and reason of an estimate."""
    status = "value" if estimate.defined else "undefined"
    return {"value": estimate.value, "status": status, "reason": estimate.reason or None}


def interval_cells(intervals: Iterable[EstimatedInterval]) -> Record:
    """Return the ends of intervals, and why there is none."""
    cells: Record = dict.fromkeys(INTERVALS)
    for found in intervals:
        like = found.estimand is Estimand.PROMPTS_LIKE_THESE
        prefix = "" if like else "these_"
        cells["interval_reason" if like else "these_reason"] = found.reason or None
        if found.interval is not None:
            cells[f"{prefix}low"] = found.interval.low
            cells[f"{prefix}high"] = found.interval.high
    return cells


def rows_of(columns: Sequence[Column], given: Iterable[Record]) -> list[list[Any]]:
    """Return records as rows of a table."""
    return [[record.get(column.name) for column in columns] for record in given]


def noted_table(
    name: str,
    declared: Sequence[Column],
    given: Sequence[Record],
    notes: Iterable[str],
    groups: Sequence[Grouped],
    *,
    defined: Sequence[Record] | None = None,
    shared: bool = True,
) -> Table:
    """Return the table of a figure; its last notes are the same in all figures.

    They say why values are undefined, which conditions all groups share, and what was given.
    """
    told = [
        *notes,
        *_undefined_note(given if defined is None else defined),
        *(shared_note(groups) if shared else ()),
        batteries_note(groups),
    ]
    return table_of(name, declared, rows_of(declared, given), told)


def mark_of(row: int, record: Record, options: Options) -> Mark:
    """Return the mark of a value: open where few responses are usable."""
    prefix = ESTIMANDS[options["interval"]]
    low, high = record[f"{prefix}low"], record[f"{prefix}high"]
    style = POINT if low is not None else NO_INTERVAL
    if record.get("few_usable"):
        style = OPEN
    words = f"undefined: {record['reason']}" if record["reason"] else "undefined"
    return Mark(row, record["value"], low, high, style, words=words)


def mark_legend(given: Sequence[Record], options: Options) -> list[tuple[dict[str, Any], str]]:
    """Return the meaning of marks that are not plain, where there are any."""
    prefix = ESTIMANDS[options["interval"]]
    known = [record for record in given if record["value"] is not None]
    entries: list[tuple[dict[str, Any], str]] = []
    if any(record.get("few_usable") for record in known):
        entries.append((OPEN, FEW_USABLE))
    name = "these_reason" if prefix else "interval_reason"
    without = [record for record in known if record[f"{prefix}low"] is None]
    reasons = dict.fromkeys(record[name] for record in without if not record.get("few_usable"))
    if reasons:
        words = "; ".join(reason or "not computed" for reason in reasons)
        entries.append((NO_INTERVAL, f"no interval: {words}"))
    return entries


def interval_note(options: Options, items: Iterable[int | None] = ()) -> list[str]:
    """Return what the bars are."""
    like = not ESTIMANDS[options["interval"]]
    estimand = Estimand.PROMPTS_LIKE_THESE if like else Estimand.THESE_PROMPTS
    notes = [f"Bars: 95 % intervals for {estimand.value}."]
    known = [n for n in items if n is not None]
    if like and known and min(known) < FEW_ITEMS:
        notes.append(
            f"Fewer than {FEW_ITEMS} items: an interval is unreliable where one prompt elicits a "
            "feature almost alone."
        )
    return notes


def _undefined_note(given: Sequence[Record]) -> list[str]:
    """Return why values are undefined, each reason once."""
    reasons = dict.fromkeys(
        record["reason"] for record in given if record.get("value") is None and record["reason"]
    )
    return [f"Undefined: {'; '.join(reasons)}."] if reasons else []


def terms_title(terms: Terms, *, alone: bool) -> str:
    """Return the rater with what its burden is over."""
    parts = str(terms).split(", ")
    return f"{terms.rater}, {', '.join(parts[:2] if alone else parts)}"


def features_note(terms: Terms, titles: Mapping[str, str]) -> str:
    """Return which features a burden counts."""
    n, scope = len(terms.features), terms.scope.replace("-", " ")
    which = f"all {n} features of the battery"
    if len(titles) != n:
        which = f"{n} features ({', '.join(titles.get(id, id).lower() for id in terms.features)})"
    return f"{terms.rater}: {which}, {scope}."


def feature_titles(groups: Sequence[Grouped]) -> dict[str, str]:
    """Return the titles of the batteries' features, by id, in the first battery's order."""
    return {feature.id: feature.title for group in groups for feature in group.battery.features}


def batteries_note(groups: Sequence[Grouped]) -> str:
    """Return what the groups were given."""
    names = dict.fromkeys(
        f"{group.battery.title} ({group.battery.id} {group.battery.version})" for group in groups
    )
    return f"{', '.join(names)}."


def chosen_features(groups: Sequence[Grouped]) -> set[str]:
    """Return the features that tables are limited to (``--feature``); empty: all."""
    return {name for group in groups for judge in group.summary.judges for name in judge.shown}


def all_terms(groups: Sequence[Grouped]) -> list[Terms]:
    """Return the terms under which groups were judged, in order of appearance."""
    return list(dict.fromkeys(judge.terms for group in groups for judge in group.summary.judges))


def term_titles(groups: Sequence[Grouped]) -> dict[Terms, str]:
    """Return a title for each of :func:`all_terms`."""
    terms = all_terms(groups)
    raters = [given.rater for given in terms]
    titles = {given: terms_title(given, alone=raters.count(given.rater) == 1) for given in terms}
    if len(set(titles.values())) < len(titles):
        return {given: f"{title} ({n})" for n, (given, title) in enumerate(titles.items(), 1)}
    return titles
