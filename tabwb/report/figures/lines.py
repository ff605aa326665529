"""Lines over amounts, panel by panel."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tabwb.report.figures.estimates import ESTIMANDS, Record, records
from tabwb.report.figures.kind import Options
from tabwb.report.figures.lettering import line_height, text_width, wrapped
from tabwb.report.figures.style import (
    BAND,
    MARGIN,
    NORMAL,
    SMALL,
    SOFT,
    SeriesStyle,
    series_styles,
)
from tabwb.report.figures.ticks import round_ticks
from tabwb.report.measures import ACCURACY, BURDEN, FEATURE_RATE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tabwb.report.figures.page import Page
    from tabwb.tables.table import Table

NARROW = 1.7
"""Inches: least width of a panel."""
TALL = 1.5
GAP = 0.2
DODGE = 0.075
"""Inches between points of one amount."""


def draw_lines(table: Table, page: Page, options: Options, amounts: str) -> None:
    """Draw the rows of seeds, means and intact models over their amounts; finish the page.

    Args:
        table: of :mod:`tabwb.report.figures.dose`.
        page: to draw on.
        options: with the estimand of intervals.
        amounts: the name of the horizontal axis.
    """
    given = records(table)
    titles = list(dict.fromkeys(record["panel"] for record in given))
    drawn = [one for one in given if one["row"] != "intact" and one["value"] is not None]
    series = list(dict.fromkeys(record["series"] for record in drawn))
    styles = dict(zip(series, series_styles(len(series)), strict=True))
    prefix = ESTIMANDS[options["interval"]]
    left = 0.48
    room = page.width - 2 * MARGIN + GAP
    across = max(1, min(len(titles), int(room / (NARROW + left + GAP))))
    across = -(-len(titles) // -(-len(titles) // across))
    each = room / across - GAP
    top = MARGIN
    for first in range(0, len(titles), across):
        band = titles[first : first + across]
        heads = [wrapped(title, NORMAL, each) for title in band]
        start = top + max(map(len, heads)) * line_height(NORMAL) + 0.06
        for at, (title, head) in enumerate(zip(band, heads, strict=True)):
            x = MARGIN + at * (each + GAP)
            page.lines(x, start - 0.06 - len(head) * line_height(NORMAL), head, NORMAL)
            axes = page.axes(x + left, start, each - left, TALL, label=f"panel {first + at}")
            own = [record for record in given if record["panel"] == title]
            _panel(axes, own, styles, prefix, each - left)
            _names(page, axes, own, amounts, (x, start, each, left))
        top = start + TALL + 0.17 + line_height(NORMAL) + 0.1
    page.finish(page.caption(page.legend(top, _legend(given, styles))))


def _names(
    page: Page,
    axes: Axes,
    own: Sequence[Record],
    amounts: str,
    place: tuple[float, float, float, float],
) -> None:
    x, start, each, left = place
    middle = x + left + (each - left) / 2
    page.text(middle, start + TALL + 0.17 + 0.8 * line_height(NORMAL), amounts, NORMAL, ha="center")
    measure = own[0]["measure"]
    name = "symptom burden" if measure == BURDEN.id else measure
    page.text(x + 0.02, start + TALL / 2, name, NORMAL, rotation=90, ha="left", va="center")


def _panel(
    axes: Axes,
    own: Sequence[Record],
    styles: dict[str, SeriesStyle],
    prefix: str,
    width: float,
) -> None:
    for record in own:
        if record["row"] == "intact" and record["value"] is not None:
            low, high = record[f"{prefix}low"], record[f"{prefix}high"]
            if low is not None:
                axes.axhspan(low, high, color=BAND, linewidth=0, zorder=0.3, gid="intact interval")
            axes.axhline(record["value"], color=SOFT, linewidth=0.8, zorder=0.6, gid="intact")
    averaged = {record["series"] for record in own if record["row"] == "mean"}
    places = sorted({record["amount"] for record in own if record["amount"] is not None})
    step = min((b - a for a, b in pairwise(places)), default=1.0)
    span = places[-1] - places[0] if places else 1.0
    for at, (series, style) in enumerate(styles.items()):
        # Side by side, so that the intervals of all series can be seen.
        shift = (at - (len(styles) - 1) / 2) * _dodge(span, step, width, len(styles))
        rows = [record for record in own if record["series"] == series]
        seeds: dict[str, list[Record]] = {}
        for record in rows:
            if record["row"] == "seed":
                seeds.setdefault(record["seed"] if series in averaged else "", []).append(record)
        for points in seeds.values():
            _line(axes, points, style, prefix, shift, mean=series not in averaged)
        means = [record for record in rows if record["row"] == "mean"]
        if means:
            _line(axes, means, style, "", shift, mean=True)
    _ticks(axes, places, width)
    reach = (len(styles) - 1) / 2 * _dodge(span, step, width, len(styles)) + 0.06 * span
    if places:
        axes.set_xlim(places[0] - reach, places[-1] + reach)
    measure = own[0]["measure"]
    if measure in (ACCURACY.id, FEATURE_RATE.id):
        axes.set_ylim(-0.02, 1.02)
    else:
        top = axes.get_ylim()[1]
        axes.set_ylim(-0.03 * top, top)
    low, high = axes.get_ylim()
    axes.set_yticks(round_ticks(low, high, 5))


def _dodge(span: float, step: float, width: float, n: int) -> float:
    """Return how far apart points of one amount are, in amounts.

    It is the width of a point and its white, less where the next amount is near.

    Args:
        span: from the least amount to the largest.
        step: the least distance between amounts.
        width: of the panel, in inches.
        n: number of series.
    """
    return min(DODGE / width * 1.12 * span, 0.7 * step / n)


def _ticks(axes: Axes, amounts: Sequence[float], width: float) -> None:
    """Put ticks at the amounts, as many as have room."""
    span = amounts[-1] - amounts[0]
    axes.set_xlim(amounts[0] - 0.06 * span, amounts[-1] + 0.06 * span)
    words = max(text_width(f"{amount:g}", SMALL) for amount in amounts) + 0.06
    least = span * 1.12 * words / width
    shown: list[float] = []
    for amount in amounts:
        if not shown or amount - shown[-1] >= least:
            shown.append(amount)
    axes.set_xticks(shown, [f"{amount:g}" for amount in shown])


def _line(
    axes: Axes,
    points: Sequence[Record],
    style: SeriesStyle,
    prefix: str,
    shift: float,
    *,
    mean: bool,
) -> None:
    known = [record for record in points if record["value"] is not None]
    known.sort(key=lambda record: record["amount"])
    joined = [record for record in known if not record["few_usable"]]
    thin: dict[str, Any] = {"linewidth": 0.5, "alpha": 0.55, "gid": "seed",
                            "marker": style.marker, "markersize": 1.6}  # fmt: skip
    thick: dict[str, Any] = {"linewidth": 1.3, "marker": style.marker, "gid": "value"}
    axes.plot(
        [record["amount"] + shift for record in joined],
        [record["value"] for record in joined],
        color=style.colour,
        linestyle=style.line,
        zorder=3 if mean else 1.5,
        **(thick if mean else thin),
    )
    for record in known:
        if record["few_usable"]:
            axes.plot(
                [record["amount"] + shift],
                [record["value"]],
                color=style.colour,
                marker=style.marker,
                markerfacecolor="white",
                linestyle="none",
                zorder=2.5,
                gid="few usable",
            )
        low, high = record[f"{prefix}low"], record[f"{prefix}high"]
        if mean and low is not None and high is not None:
            axes.plot(
                [record["amount"] + shift] * 2, [low, high], color=style.colour, linewidth=0.9,
                zorder=2, gid="interval",
            )  # fmt: skip


def _legend(
    given: Sequence[Record], styles: dict[str, SeriesStyle]
) -> list[tuple[dict[str, Any], str]]:
    entries: list[tuple[dict[str, Any], str]] = []
    for series, style in styles.items():
        look = {"color": style.colour, "marker": style.marker, "linestyle": style.line}
        entries.append((look, series))
    if any(record["row"] == "intact" for record in given):
        names = dict.fromkeys(record["series"] for record in given if record["row"] == "intact")
        entries.append(({"color": SOFT, "linestyle": "-", "linewidth": 0.8},
                        f"intact ({', '.join(names)})"))  # fmt: skip
    return entries
