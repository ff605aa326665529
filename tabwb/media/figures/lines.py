"""Lines over amounts, panel by panel."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tabwb.lesion.declared import CONTROLS
from tabwb.media.figures.amount_axis import Scale, put_ticks
from tabwb.media.figures.estimates import ESTIMANDS, Record, records
from tabwb.media.figures.kind import Options
from tabwb.media.figures.lettering import line_height, text_width, wrapped
from tabwb.media.figures.style import (
    BAND,
    LINES,
    MAIN,
    MARGIN,
    MARKERS,
    NORMAL,
    PALETTE,
    RULE,
    SMALL,
    SOFT,
    SeriesStyle,
    series_styles,
)
from tabwb.media.figures.ticks import round_ticks
from tabwb.records.errors import UsageError
from tabwb.report.measures import ACCURACY, BURDEN, FEATURE_RATE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tabwb.media.figures.page import Page
    from tabwb.tables.table import Table

NARROW = 1.7
"""Inches: least width of a panel."""
TALL = 1.5
GAP = 0.2
DODGE = 0.075
"""Inches between points of one amount."""
TOGETHER = len(PALETTE)
"""Series that share a panel; more than these have a panel each, with the others in grey."""
MOST_FRAMES = 120
"""Of small panels; at double width four are side by side, so that 120 take about 45 inches."""
ALONE = SeriesStyle(MAIN, MARKERS[0], LINES[0])
BESIDE = {
    kind.role: SeriesStyle(PALETTE[place], MARKERS[place], LINES[place])
    for place, kind in enumerate(CONTROLS.values(), start=1)
}
"""Of each role of controls in the panel of their lesion."""
OTHERS: Mapping[str, Any] = {"color": RULE, "linestyle": "-", "linewidth": 0.6}


def draw_lines(table: Table, page: Page, options: Options) -> None:
    """Draw the rows of seeds, means and intact models over their amounts; finish the page."""
    given = records(table)
    titles = list(dict.fromkeys(record["panel"] for record in given))
    drawn = [one for one in given if one["row"] != "intact" and one["value"] is not None]
    series = list(dict.fromkeys(record["series"] for record in drawn))
    scale = Scale.of(options, [record["amount"] for record in drawn])
    prefix = ESTIMANDS[options["interval"]]
    if len(series) <= TOGETHER:
        styles = dict(zip(series, series_styles(len(series)), strict=True))
        together = [
            _Frame(title, [one for one in given if one["panel"] == title]) for title in titles
        ]
        top = _draw_frames(page, together, styles, prefix, scale, MARGIN)
        page.finish(page.caption(page.legend(top, _legend(given, styles))))
        return
    beside = {
        name: {other: style for role, style in BESIDE.items()
               if (other := _control(name, role)) in series and other != name}
        for name in series
    }  # fmt: skip
    styles = {other: style for own in beside.values() for other, style in own.items()}
    lesions = [name for name in series if name not in styles]
    styles |= dict.fromkeys(lesions, ALONE)
    if len(lesions) * len(titles) > MOST_FRAMES:
        raise UsageError(
            f"{len(lesions)} series in {len(titles)} panels are more than a figure can show",
            allowed=f"{MOST_FRAMES} panels",
            hint="choose some: --where model=NAME, --where lesion-target=NAME, --subtest, --judge",
        )
    top = MARGIN
    for title in titles:
        top = page.lines(MARGIN, top, [title], NORMAL, fontweight="bold") + 0.04
        own = [one for one in given if one["panel"] == title]
        apart = [_Frame.of(name, own, beside[name], lesions) for name in lesions]
        top = _draw_frames(page, apart, styles, prefix, scale, top)
    legend: list[tuple[dict[str, Any], str]] = [(dict(OTHERS), "the other series")]
    for role, style in reversed(BESIDE.items()):
        if style in styles.values():
            mark = {"color": style.colour, "marker": style.marker, "linestyle": style.line}
            legend.insert(0, (mark, f"{role} of the same size"))
    page.finish(page.caption(page.legend(top, [*legend, *_intact_legend(given, named=False)])))


@dataclass(frozen=True, slots=True)
class _Frame:
    """One area with an axis of amounts.

    Attributes:
        head: above it.
        own: records that are drawn as series.
        others: records of other series, drawn as thin grey lines.
    """

    head: str
    own: Sequence[Record]
    others: Sequence[Record] = ()

    @classmethod
    def of(
        cls, series: str, given: Sequence[Record], controls: Collection[str], every: Collection[str]
    ) -> _Frame:
        """Return the frame of one series of a panel, with its controls and its intact model."""
        lines = [one for one in given if one["row"] != "intact"]
        shown = {series, *controls}
        own = [one for one in lines if one["series"] in shown]
        intact = [one for one in given if one["row"] == "intact" and _was(series, one["series"])]
        others = {*every} - {series}
        return cls(series, [*intact, *own], [one for one in lines if one["series"] in others])


def _control(series: str, role: str) -> str:
    """Return the name of a control of a series.

    >>> _control("m + mlp:zero:* (greedy)", "layer control")
    'm + layer control of mlp:zero:* (greedy)'
    """
    return series.replace(" + ", f" + {role} of ", 1)


def _was(series: str, intact: str) -> bool:
    """Return whether a series is of lesions of an intact model, by the names of both.

    >>> _was("m + zero:* (greedy)", "m (greedy)"), _was("m2 + zero:*", "m")
    (True, False)
    """
    model, paren, conditions = intact.partition(" (")
    return series.startswith(f"{model} + ") and series.endswith(paren + conditions)


def _draw_frames(
    page: Page,
    frames: Sequence[_Frame],
    styles: Mapping[str, SeriesStyle],
    prefix: str,
    scale: Scale,
    top: float,
) -> float:
    """Draw frames side by side in as many rows as they need; return where they end."""
    apart = any(frame.others for frame in frames)
    narrow, tall, left = (0.9, 1.0, 0.5) if apart else (NARROW, TALL, 0.48)
    size = SMALL if apart else NORMAL
    room = page.width - 2 * MARGIN + GAP
    across = max(1, min(len(frames), int(room / (narrow + left + GAP))))
    across = -(-len(frames) // -(-len(frames) // across))
    each = room / across - GAP
    for first in range(0, len(frames), across):
        band = frames[first : first + across]
        heads = [wrapped(frame.head, size, each) for frame in band]
        start = top + max(map(len, heads)) * line_height(size) + 0.06
        for at, (frame, head) in enumerate(zip(band, heads, strict=True)):
            x = MARGIN + at * (each + GAP)
            page.lines(x, start - 0.06 - len(head) * line_height(size), head, size)
            axes = page.axes(x + left, start, each - left, tall, label=f"panel {first + at}")
            shown = {one["series"] for one in frame.own}
            own = {name: style for name, style in styles.items() if not apart or name in shown}
            _others(axes, frame.others, scale)
            _panel(axes, frame, own, prefix, scale, each - left)
            if all(one["value"] is None for one in (*frame.own, *frame.others)):
                axes.set_yticks([])  # of no figures
                axes.text(
                    0.03, 0.5, "undefined", fontsize=SMALL, color=SOFT, style="italic",
                    va="center_baseline", transform=axes.transAxes, gid="undefined",
                )  # fmt: skip
            _names(page, frame, scale.name, (x, start, each, left, tall))
        top = start + tall + 0.17 + line_height(NORMAL) + 0.1
    return top


def _names(
    page: Page, frame: _Frame, amounts: str, place: tuple[float, float, float, float, float]
) -> None:
    x, start, each, left, tall = place
    half = text_width(amounts, NORMAL) / 2
    middle = min(x + (left + each) / 2, x + each - half)
    page.text(middle, start + tall + 0.17 + 0.8 * line_height(NORMAL), amounts, NORMAL, ha="center")
    measure = (*frame.own, *frame.others)[0]["measure"]
    name = "symptom burden" if measure == BURDEN.id else measure
    page.text(x + 0.02, start + tall / 2, name, NORMAL, rotation=90, ha="left", va="center")


def _others(axes: Axes, others: Sequence[Record], scale: Scale) -> None:
    """Draw the values of other series as thin lines, without points or intervals."""
    averaged = {one["series"] for one in others if one["row"] == "mean"}
    lines: dict[str, list[tuple[float, float]]] = {}
    for one in others:
        mean = one["row"] == "mean" or one["series"] not in averaged
        if mean and one["value"] is not None and not one["few_usable"]:
            lines.setdefault(one["series"], []).append((one["amount"], one["value"]))
    for points in lines.values():
        axes.plot(*zip(*sorted(points), strict=True), zorder=0.8, gid="other", **OTHERS)


def _panel(
    axes: Axes,
    frame: _Frame,
    styles: Mapping[str, SeriesStyle],
    prefix: str,
    scale: Scale,
    width: float,
) -> None:
    if scale.log:
        axes.set_xscale("log")
    own, every = frame.own, (*frame.own, *frame.others)
    for record in own:
        if record["row"] == "intact" and record["value"] is not None:
            low, high = record[f"{prefix}low"], record[f"{prefix}high"]
            if low is not None:
                axes.axhspan(low, high, color=BAND, linewidth=0, zorder=0.3, gid="intact interval")
            axes.axhline(record["value"], color=SOFT, linewidth=0.8, zorder=0.6, gid="intact")
    averaged = {record["series"] for record in own if record["row"] == "mean"}
    amounts = sorted({record["amount"] for record in every if record["amount"] is not None})
    places = [scale.place(amount) for amount in amounts]
    step = min((b - a for a, b in pairwise(places)), default=1.0)
    span = places[-1] - places[0] if places else 1.0
    for at, (series, style) in enumerate(styles.items()):
        # Side by side, so that the intervals of all series can be seen.
        shift = (at - (len(styles) - 1) / 2) * _dodge(span, step, width, len(styles))
        rows = [record for record in own if record["series"] == series]
        seeds: dict[str, list[Record]] = {}
        for record in rows:
            if record["row"] in ("seed", "model"):
                seeds.setdefault(record["seed"] if series in averaged else "", []).append(record)
        for points in seeds.values():
            _line(axes, points, style, prefix, (scale, shift), mean=series not in averaged)
        means = [record for record in rows if record["row"] == "mean"]
        if means:
            _line(axes, means, style, "", (scale, shift), mean=True)
    put_ticks(axes, amounts, scale, width)
    reach = (len(styles) - 1) / 2 * _dodge(span, step, width, len(styles)) + 0.06 * span
    if places:
        axes.set_xlim(scale.value(places[0] - reach), scale.value(places[-1] + reach))
    if every[0]["measure"] in (ACCURACY.id, FEATURE_RATE.id):
        axes.set_ylim(-0.02, 1.02)
    else:
        ends = (one[name] or 0.0 for one in every for name in ("value", f"{prefix}high", "high"))
        top = 1.05 * max(ends) or 1.0
        axes.set_ylim(-0.03 * top, top)
    low, high = axes.get_ylim()
    axes.set_yticks(round_ticks(low, high, 5))


def _dodge(span: float, step: float, width: float, n: int) -> float:
    """Return how far apart points of one amount are, in amounts.

    It is the width of a point and its white, less where the next amount is near.
    """
    return min(DODGE / width * 1.12 * span, 0.7 * step / n)


def _line(
    axes: Axes,
    points: Sequence[Record],
    style: SeriesStyle,
    prefix: str,
    where: tuple[Scale, float],
    *,
    mean: bool,
) -> None:
    scale, shift = where

    def x(record: Record) -> float:
        return scale.value(scale.place(record["amount"]) + shift)

    known = [record for record in points if record["value"] is not None]
    known.sort(key=lambda record: record["amount"])
    joined = [record for record in known if not record["few_usable"]]
    thin: dict[str, Any] = {"linewidth": 0.5, "alpha": 0.55, "gid": "seed",
                            "marker": style.marker, "markersize": 1.6}  # fmt: skip
    thick: dict[str, Any] = {"linewidth": 1.3, "marker": style.marker, "gid": "value"}
    axes.plot(
        [x(record) for record in joined],
        [record["value"] for record in joined],
        color=style.colour,
        linestyle=_joins(points, style),
        zorder=3 if mean else 1.5,
        **(thick if mean else thin),
    )
    for record in known:
        if record["few_usable"]:
            axes.plot(
                [x(record)],
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
                [x(record)] * 2, [low, high], color=style.colour, linewidth=0.9,
                zorder=2, gid="interval",
            )  # fmt: skip


def _joins(points: Sequence[Record], style: SeriesStyle) -> Any:
    """Return the line of a series; models of different families are not joined."""
    return "none" if any(point["row"] == "model" for point in points) else style.line


def _legend(
    given: Sequence[Record], styles: Mapping[str, SeriesStyle]
) -> list[tuple[dict[str, Any], str]]:
    entries: list[tuple[dict[str, Any], str]] = []
    for series, style in styles.items():
        line = _joins([one for one in given if one["series"] == series], style)
        look = {"color": style.colour, "marker": style.marker, "linestyle": line}
        entries.append((look, series))
    return [*entries, *_intact_legend(given)]


def _intact_legend(
    given: Sequence[Record], *, named: bool = True
) -> list[tuple[dict[str, Any], str]]:
    names = dict.fromkeys(record["series"] for record in given if record["row"] == "intact")
    words = f"intact ({', '.join(names)})" if named else "the intact model"
    return [({"color": SOFT, "linestyle": "-", "linewidth": 0.8}, words)] if names else []
