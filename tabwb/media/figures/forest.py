"""Rows of points with intervals in panels side by side, as in a forest plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from tabwb.media.figures.lettering import line_height, shortened, text_width, told_apart, wrapped
from tabwb.media.figures.style import INK, MAIN, MARGIN, NORMAL, RULE, SMALL, SOFT
from tabwb.media.figures.ticks import round_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tabwb.media.figures.page import Page

NARROW = 0.95
"""Inches: least width of a panel's axes."""
GAP = 0.14
PITCH = 0.165
"""Inches from row to row; more for labels of several lines."""

POINT = {"marker": "o", "markersize": 4.2, "color": MAIN, "linestyle": "none"}
OPEN = {**POINT, "markerfacecolor": "white", "markeredgewidth": 1.0}
NO_INTERVAL = {**POINT, "marker": "D", "markersize": 3.6}


@dataclass(frozen=True, slots=True)
class Mark:
    """One value of a row.

    Attributes:
        row: place of the row.
        value: None where it is undefined; ``words`` then say so.
        low, high: ends of the interval; None where there is none.
        style: of the point.
        shift: where in the row, in parts of its height: -0.5 at the top, 0.5 at the bottom.
    """

    row: int
    value: float | None
    low: float | None = None
    high: float | None = None
    style: dict[str, Any] = field(default_factory=lambda: POINT)
    shift: float = 0.0
    words: str = "undefined"


@dataclass(frozen=True, slots=True)
class Tick:
    """A value to compare with, behind the mark of a row, or of all rows where ``row`` is None."""

    row: int | None
    value: float
    style: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Band:
    """A range of a row, behind its marks: a box, or a thin line where ``height`` is 0.

    Attributes:
        row: place of the row.
        low, high: its ends.
        height: in parts of the distance between rows.
        colour: of box or line.
    """

    row: int
    low: float
    high: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One axis of values.

    Attributes:
        title: above it; axis: what the values are.
        limits: of the axis; None: from the values, ``whole`` of them shown.
        cells: a text for each row at the right, under ``head``.
        zero: draw a line at 0.
        include: values that the axis shows in any case.
        bands: behind the marks.
        log: a logarithmic axis; the values are above 0.
    """

    title: str
    axis: str
    marks: Sequence[Mark]
    ticks: Sequence[Tick] = ()
    cells: Sequence[str] = ()
    head: str = ""
    limits: tuple[float, float] | None = None
    zero: bool = False
    include: Sequence[float] = (0.0,)
    bands: Sequence[Band] = ()
    log: bool = False

    @property
    def cells_width(self) -> float:
        """Inches that the texts at the right take."""
        texts = [*self.cells, self.head]
        width = max((text_width(text, SMALL) for text in texts), default=0.0)
        return width + 0.09 if width else 0.0


Legend = Sequence[tuple[dict[str, Any], str]]


def forest(
    page: Page,
    labels: Sequence[str],
    panels: Sequence[Panel],
    legend: Legend = (),
    *,
    pitch: float = PITCH,
) -> None:
    """Draw rows with their labels, panel by panel, legend and notes below; finish the page."""
    cells = max(panel.cells_width for panel in panels)
    widest = max(text_width(label, SMALL) for label in labels)
    spare = page.width - 2 * MARGIN - NARROW - cells - GAP
    left = min(widest, spare, (0.42 if len(panels) == 1 else 0.3) * page.width)
    named = told_apart(labels, SMALL, left, 3)
    left = max(text_width(line, SMALL) for lines in named for line in lines)
    room = page.width - 2 * MARGIN - left - 0.08
    side_by_side = max(1, min(len(panels), int((room + GAP) / (NARROW + cells + GAP))))
    bands = -(-len(panels) // side_by_side)
    side_by_side = -(-len(panels) // bands)
    each = (room + GAP) / side_by_side - GAP
    places, bottom = _places(named, pitch)
    top = MARGIN
    for first in range(0, len(panels), side_by_side):
        band = panels[first : first + side_by_side]
        titles = [
            wrapped(panel.title, NORMAL, each - cells) if panel.title else [] for panel in band
        ]
        above = max(map(len, titles)) * line_height(NORMAL)
        if any(panel.head for panel in band):
            above = max(above, line_height(SMALL))
        start = top + above + (0.04 if above else 0)
        _row_labels(page, named, places, start)
        deepest = 0.0
        for at, panel in enumerate(band):
            x = MARGIN + left + 0.08 + at * (each + GAP)
            own = each - cells
            page.lines(x, start - 0.04 - len(titles[at]) * line_height(NORMAL), titles[at], NORMAL)
            axes = page.axes(x, start, own, bottom, label=f"panel {first + at}")
            deepest = max(deepest, _draw(page, axes, panel, places, bottom, own))
            _cells(page, panel, places, x + each, start)
            name = wrapped(panel.axis, NORMAL, each + GAP / 2)
            deepest = max(deepest, 0.17 + len(name) * line_height(NORMAL))
            for n, line in enumerate(name):
                y = start + bottom + 0.17 + (n + 0.78) * line_height(NORMAL)
                page.text(x + own / 2, y, line, NORMAL, ha="center")
        top = start + bottom + deepest + 0.07
        if legend and len(band) < side_by_side:  # the legend is where a panel is lacking
            beside = MARGIN + left + 0.08 + len(band) * (each + GAP)
            top = max(top, page.legend(start, legend, left=beside))
            legend = ()
    top = page.legend(top, legend)
    page.finish(page.caption(top))


def _places(named: Sequence[Sequence[str]], pitch: float) -> tuple[list[float], float]:
    places: list[float] = []
    y = 0.03
    for lines in named:
        height = max(pitch, len(lines) * line_height(SMALL) + 0.05)
        places.append(y + height / 2)
        y += height
    return places, y + 0.02


def _row_labels(
    page: Page, named: Sequence[Sequence[str]], places: Sequence[float], start: float
) -> None:
    for lines, place in zip(named, places, strict=True):
        height = len(lines) * line_height(SMALL)
        page.lines(MARGIN, start + place - height / 2, lines)


def _draw(
    page: Page, axes: Axes, panel: Panel, places: Sequence[float], bottom: float, width: float
) -> float:
    axes.set_ylim(bottom, 0)
    axes.set_xlim(*_limits(panel))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    if panel.log:
        _log_ticks(axes, width)
    else:
        _x_ticks(axes, width)
    for band in panel.bands:
        _band(axes, band, places[band.row])
    for place in places:
        axes.axhline(place, color=RULE, linewidth=0.4, zorder=0.5)
    if panel.zero:
        axes.axvline(0, color=INK, linewidth=0.8, zorder=0.8)
    low, high = axes.get_xlim()
    for mark in panel.marks:
        y = places[mark.row] + mark.shift * PITCH
        if mark.value is None:
            words = mark.words
            if text_width(words, SMALL) > width - 0.06:
                words = shortened("undefined", SMALL, width - 0.04)  # the reason is in the notes
            start = max(low, 0.0) if panel.zero else low
            axes.text(
                start + 0.03 / width * (high - low), y, words, fontsize=SMALL, color=SOFT,
                style="italic", va="center_baseline", gid="undefined", zorder=3,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )  # fmt: skip
            continue
        if mark.low is not None and mark.high is not None:
            axes.plot(
                [mark.low, mark.high], [y, y], color=mark.style["color"], linewidth=1.1,
                solid_capstyle="butt", zorder=2, gid="interval", clip_on=False,
            )  # fmt: skip
        axes.plot([mark.value], [y], zorder=3, clip_on=False, gid="value", **mark.style)
    for tick in panel.ticks:
        ends = [0.0, bottom]
        if tick.row is not None:
            ends = [places[tick.row] - 0.45 * PITCH, places[tick.row] + 0.45 * PITCH]
        axes.plot([tick.value] * 2, ends, zorder=1.5, clip_on=False, gid="tick",
                  solid_capstyle="butt", **tick.style)  # fmt: skip
    return 0.17


def _band(axes: Axes, band: Band, place: float) -> None:
    from matplotlib.patches import Rectangle

    if not band.height:
        ends = [band.low, band.high]
        axes.plot(ends, [place] * 2, color=band.colour, linewidth=0.6, zorder=0.9, gid="band")
        return
    tall = band.height * PITCH
    axes.add_patch(
        Rectangle((band.low, place - tall / 2), band.high - band.low, tall, facecolor=band.colour,
                  edgecolor="none", zorder=1.0, gid="band")
    )  # fmt: skip


def _log_ticks(axes: Axes, width: float) -> None:
    """Put ticks at 1, 2 and 5 times powers of ten, or at powers alone where room is short."""
    low, high = axes.get_xlim()
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    every = [part * 10.0**power for power in powers for part in (1, 2, 5)]
    shown = [place for place in every if low <= place <= high]
    if len(shown) > width / 0.3:
        shown = [place for place in shown if f"{place:e}".startswith("1")]
    axes.set_xticks(shown, [f"{place:g}" for place in shown])
    axes.minorticks_off()


def _limits(panel: Panel) -> tuple[float, float]:
    if panel.limits is not None:
        return panel.limits
    values = [
        value
        for mark in panel.marks
        for value in (mark.value, mark.low, mark.high)
        if value is not None
    ]
    values += [*panel.include, *(tick.value for tick in panel.ticks)]
    values += [end for band in panel.bands for end in (band.low, band.high)]
    if not values:
        return 0.1, 1.0
    low, high = min(values), max(values)
    if panel.log:
        return max(low, 1e-4) / 1.15, max(high, 1e-4) * 1.15
    if low == high:
        high = low + 1
    space = 0.04 * (high - low)
    return (
        low - space if low < 0 or panel.zero else low,
        high + space if high > 0 or panel.zero else high,
    )


def _x_ticks(axes: Axes, width: float) -> None:
    low, high = axes.get_xlim()
    axes.set_xticks(round_ticks(low, high, max(2, min(6, int(width / 0.34)))))


def _cells(page: Page, panel: Panel, places: Sequence[float], x: float, start: float) -> None:
    for words, place in zip(panel.cells, places, strict=False):
        page.text(x, start + place, words, SMALL, ha="right", va="center_baseline")
    if panel.head:
        page.text(x, start - 0.055, panel.head, SMALL, ha="right", color=SOFT)
