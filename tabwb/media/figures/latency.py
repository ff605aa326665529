"""The latencies of each group: quantiles, and the median with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tabwb.media.figures.estimates import (
    Record,
    columns,
    noted_table,
    records,
    value_cells,
)
from tabwb.media.figures.forest import NO_INTERVAL, POINT, Band, Mark, Panel, forest
from tabwb.media.figures.kind import FigureKind, FigureOption, Options
from tabwb.media.figures.source import TimedGroup, is_aloud
from tabwb.media.figures.style import BAND, SOFT
from tabwb.records.errors import UsageError
from tabwb.report.summaries.naming import namings
from tabwb.report.summaries.shown import names_of
from tabwb.scoring.estimate import Estimate
from tabwb.scoring.quantiles import median_interval, quantile
from tabwb.tables.table import Column, Table

if TYPE_CHECKING:
    from tabwb.media.figures.page import Page
    from tabwb.report.summaries.groups import Grouped
    from tabwb.report.summaries.load import AdministrationData

QUANTILES = {"p5": 0.05, "p25": 0.25, "p75": 0.75, "p95": 0.95}
DRAWN = ("value", "low", "high", *QUANTILES)
FEWEST = 6
"""Latencies from which on a median has an interval."""
COLUMNS = columns(
    *("group", "value"),
    Column("low", "Low", "lower end of the exact 95 % interval of the median", "number", "s"),
    Column("high", "High", "upper end of the exact 95 % interval of the median", "number", "s"),
    *(
        Column(name, f"{share:.0%}", f"the {share:g} quantile of the latencies", "number", "s")
        for name, share in QUANTILES.items()
    ),
    Column("smallest", "Smallest", "the smallest latency", "number", "s"),
    Column("largest", "Largest", "the largest latency", "number", "s"),
    *("n", "status", "reason"),
)
RIGHT_NAMES = "from the picture to the onset of a right response"
REPLIES = "from the request to the end of the response"


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    given: list[Record] = []
    kinds: dict[str, None] = {}
    for name, group in zip(names_of(groups), groups, strict=True):
        values = list(group.latencies) if isinstance(group, TimedGroup) else []
        for member in group.group.members:
            aloud = is_aloud(member)
            kinds[RIGHT_NAMES if aloud else REPLIES] = None
            if aloud:
                values += _named(member)
        given.append({"group": name, **_cells(values)})
    if not any(record["n"] for record in given):
        raise UsageError(
            "no response has a latency",
            hint="recordings read from files have none: the time of the picture is not known",
        )
    notes = [
        f"Latency, {'; '.join(kinds)}.",
        "Point and line: median with its exact 95 % interval, responses taken as independent; "
        "box: middle half; thin line: 5 to 95 %.",
        "N: responses with a latency.",
    ]
    return noted_table("latency", COLUMNS, given, notes, groups)


def _cells(values: Sequence[float]) -> Record:
    if not values:
        return {"n": 0, **value_cells(Estimate(None, "no response has a latency"))}
    interval = median_interval(values)
    return {
        **value_cells(Estimate(quantile(values, 0.5))),
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        **{name: quantile(values, share) for name, share in QUANTILES.items()},
        "smallest": min(values),
        "largest": max(values),
        "n": len(values),
    }


def _named(member: AdministrationData) -> Iterator[float]:
    from tabwb.administer.naming.scores import named_item

    part = member.source.part
    for naming in namings(member.source):
        plan = naming.view.trial.plan
        if plan.practice or (part is not None and not part.has(plan)):
            continue
        item = named_item(naming)
        if item.status == "answered" and item.outcome == "right" and item.latency_s is not None:
            yield item.latency_s


def _unit(values: Sequence[float]) -> tuple[str, float]:
    """Return the unit in which latencies have few zeros, and how many of it a second has.

    >>> _unit([0.4, 1.2]), _unit([0.02, 0.3]), _unit([2e-05])
    (('s', 1.0), ('ms', 1000.0), ('µs', 1000000.0))
    """
    largest = max(values, default=1.0)
    if largest >= 1:
        return "s", 1.0
    return ("ms", 1e3) if largest >= 1e-3 else ("µs", 1e6)


def _draw(table: Table, page: Page, options: Options) -> None:
    given = records(table)
    unit, times = _unit([record["p95"] for record in given if record["value"] is not None])
    marks, bands = [], []
    for row, record in enumerate(given):
        record |= {name: record[name] * times for name in DRAWN if record[name] is not None}
        style = POINT if record["low"] is not None else NO_INTERVAL
        marks.append(Mark(row, record["value"], record["low"], record["high"], style))
        if record["value"] is not None:
            bands.append(Band(row, record["p5"], record["p95"], 0.0, SOFT))
            bands.append(Band(row, record["p25"], record["p75"], 0.55, BAND))
    log = options["scale"] == "log"
    panel = Panel(
        "", f"latency ({unit})", marks, cells=[str(record["n"]) for record in given], head="N",
        include=() if log else (0.0,), bands=bands, log=log,
    )  # fmt: skip
    legend: list[tuple[dict[str, Any], str]] = []
    if any(record["value"] is not None and record["low"] is None for record in given):
        legend.append((NO_INTERVAL, f"no interval: fewer than {FEWEST} latencies"))
    forest(page, [record["group"] for record in given], [panel], legend)


FIGURE = FigureKind(
    id="latency",
    title="Latencies",
    shows="The latencies of each group: median with its interval, quartiles, 5 to 95 %. By session "
    "with --by administration, by item with --by item.",
    data="Administrations whose responses have a latency; of pictures named aloud, right responses "
    "with an onset.",
    table=_table,
    draw=_draw,
    options=(FigureOption("scale", "of the axis", "linear", ("linear", "log")),),
    loads="latencies",
)
