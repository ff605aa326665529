"""The three drawers: rows of points with intervals, lines over amounts, shaded cells.

Each draws records, the rows of a figure's table, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import ceil, log10
from typing import TYPE_CHECKING, Any

from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter
from matplotlib.transforms import ScaledTranslation

from tabwb.analysis.change import DAY, days_of
from tabwb.analysis.measures import ACCURACY, BURDEN, FEATURE_RATE
from tabwb.analysis.series import PARAMETERS, Severity, control_name, series_words
from tabwb.lesion.declared import CONTROLS
from tabwb.media.figures.kind import (
    ESTIMANDS,
    Cell,
    FigureKind,
    Forest,
    Lines,
    Options,
    Panel,
    Record,
    Shades,
)
from tabwb.media.figures.sheet import Sheet, text_width, told_apart, widest, wrapped
from tabwb.media.figures.style import (
    BAND,
    INK,
    LINES,
    MAIN,
    MARKERS,
    PALETTE,
    RULE,
    SMALL,
    SOFT,
    UNDEFINED,
    Look,
    series_looks,
    shade,
    text_on,
)
from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

LINE = SMALL * 1.25 / 72
"""Inches from line to line."""
PITCH = 0.165
"""Inches from row to row; more for labels of several lines."""
NARROW = 0.95
"""Inches: least width of a panel of rows."""
STEPS = [1, 2, 2.5, 5, 10]
"""Of ticks."""

# -- forest --------------------------------------------------------------------------------------

ITEM: Look = {"marker": "o", "markersize": 2.2, "color": SOFT, "alpha": 0.6, "linestyle": "none",
              "markeredgewidth": 0.0}  # fmt: skip
POINT: Look = {"marker": "o", "markersize": 4.2, "color": MAIN, "linestyle": "none"}
LOOKS: Mapping[str, tuple[Look, str]] = {
    "point": (POINT, ""),
    "kappa": (POINT, "Cohen's kappa"),
    "ac1": (
        {**POINT, "marker": "s", "markersize": 3.8, "color": INK, "markerfacecolor": "white"},
        "Gwet's AC1",
    ),
    "sensitivity": (POINT, "sensitivity"),
    "specificity": (
        {**POINT, "marker": "s", "markersize": 3.8, "color": INK, "markerfacecolor": "white"},
        "specificity",
    ),
    "few": (
        {**POINT, "markerfacecolor": "white", "markeredgewidth": 1.0},
        "fewer than half of the responses are usable",
    ),
    "alone": ({**POINT, "marker": "D", "markersize": 3.6}, "no interval"),
    "mean": (
        {**POINT, "marker": "s", "markersize": 5.0, "color": INK},
        "mean over families and items",
    ),
    "always_first": ({"color": "#B4B4B4", "linewidth": 3.0}, "always first option"),
    "always_yes": ({"color": SOFT, "linewidth": 1.4}, "always Yes"),
    "guessing": ({"color": INK, "linestyle": (0, (1, 1)), "linewidth": 0.8}, "guessing"),
}
"""Looks of points and of lines to compare with, and their meanings. Lines differ in width, so that
equal ones can be seen."""
SHIFTS = {"kappa": -0.21, "ac1": 0.21, "sensitivity": -0.21, "specificity": 0.21}
"""In parts of a row, where it has two points."""


def forest(sheet: Sheet, spec: Forest, given: Sequence[Record], options: Options) -> None:
    """Draw rows of points with intervals, in panels side by side."""
    prefix = ESTIMANDS.get(options.get("interval", ""), "")
    log = options.get("scale") == "log"
    points = [one for one in given if spec.under and one.get(spec.under)]
    given = spec.rows([one for one in given if not (spec.under and one.get(spec.under))])
    panels = dict[Any, list[Record]]()
    for record in given:
        panels.setdefault(record.get(spec.panel), []).append(record)
    labels = list(dict.fromkeys(record[spec.row] for record in given))
    texts = [spec.cell(record, options) for record in given]
    heads = [spec.head(own) for own in panels.values()] if any(texts) else []
    beside = widest([*texts, *heads]) + 0.1 if heads else 0.0
    share = 0.42 if len(panels) == 1 else 0.3
    left = min(widest(labels), sheet.width - NARROW - beside - 0.3, share * sheet.width)
    named = dict(zip(labels, told_apart(labels, left), strict=True))
    room = sheet.width - 0.2 - widest([*named.values()])
    across = max(1, min(len(panels), int(room / (NARROW + beside + 0.15))))
    across = -(-len(panels) // -(-len(panels) // across))
    lines = [[*panels.values()][n : n + across] for n in range(0, len(panels), across)]
    rows = [_places(named, (one[spec.row] for own in line for one in own)) for line in lines]
    tall = [max(end for _, end in at.values()) for at in rows]
    grid = sheet.grid([end + 0.04 for end in tall], across)
    used = dict[str, None]()
    for n, own in enumerate(panels.values()):
        axes, at = grid(n // across, n % across), rows[n // across]
        middles = [sum(ends) / 2 for ends in at.values()]
        axes.set_ylim(tall[n // across] + 0.02, -0.02)
        axes.set_yticks(middles, [named[one] if n % across == 0 else "" for one in at])
        axes.tick_params(axis="y", length=0, pad=4)
        axes.spines["left"].set_visible(False)
        axes.set_title(str(own[0].get(spec.title or spec.panel) or ""), loc="left")
        axes.set_xlabel(spec.axis(own[0]))
        below = [one for one in points if one.get(spec.panel) == own[0].get(spec.panel)]
        _limits(axes, spec, [*own, *below], prefix, log=log)
        if not log:
            most = max(2, min(6, int((room / across - beside - 0.15) / 0.34)))
            axes.xaxis.set_major_locator(MaxNLocator(nbins=most, steps=STEPS))
        for middle in middles:
            axes.axhline(middle, color=RULE, linewidth=0.4, zorder=0.5)
        if spec.zero:
            axes.axvline(0, color=INK, linewidth=0.8, zorder=0.8)
        if below:
            heights = [sum(at[one[spec.row]]) / 2 + 0.3 * PITCH for one in below]
            axes.plot([one[spec.value] for one in below], heights, clip_on=False, gid="item",
                      zorder=1.2, **ITEM)  # fmt: skip
        used |= dict.fromkeys(_rows(axes, spec, own, at, prefix))
        cells = {sum(at[one[spec.row]]) / 2: spec.cell(one, options) for one in own}
        if any(cells.values()):
            cells[-0.09] = spec.head(own)
        for y, words in cells.items():
            axes.annotate(
                words, (1, y), (beside * 72, 0), xycoords=axes.get_yaxis_transform(), ha="right",
                textcoords="offset points", va="center_baseline", annotation_clip=False,
                color=SOFT if y < 0 else INK,
            )  # fmt: skip
        there = {record[spec.row] for record in own}
        for label, ends in at.items():
            if label not in there:
                _undefined(axes, spec, sum(ends) / 2, spec.missing)
    sheet.legend += [look for name, look in LOOKS.items() if name in used and look[1]]
    reason = "these_reason" if prefix else "interval_reason"
    value, low, _ = spec.drawn(prefix)
    alone = [one for one in given if one[value] is not None and one[low] is None]
    why = dict.fromkeys(
        one[reason] or "not computed" for one in alone if one.get(reason, ...) is not ...
        and not one.get("few_usable")
    )  # fmt: skip
    if why:
        sheet.notes.append(f"No interval: {'; '.join(why)}.")
    if "mean" in used and not prefix:
        sheet.notes.append("Mean: 95 % interval for families and prompts like these.")


def _places(named: Mapping[str, str], there: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Return the upper and the lower end of the rows that are there, in inches."""
    shown = {*there}
    kept = {label: name for label, name in named.items() if label in shown}
    edges = accumulate(
        (max(PITCH, LINE * name.count("\n") + PITCH) for name in kept.values()), initial=0.0
    )
    return dict(zip(kept, pairwise(edges), strict=True))


def _limits(axes: Axes, spec: Forest, own: Sequence[Record], prefix: str, *, log: bool) -> None:
    ends = [end for box in spec.boxes for end in box]
    names = [*spec.drawn(prefix), *spec.baselines, *ends]
    values = [record[name] for record in own for name in names if record[name] is not None]
    values += () if log else spec.include
    low, high = (min(values), max(values)) if values else (0.1, 1.0)
    if log:
        low, high = max(low, 1e-4) / 1.15, max(high, 1e-4) * 1.15
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        return
    high = high if high > low else low + 1
    space = 0.04 * (high - low)
    axes.set_xlim(spec.limits or (low - space * (low < 0 or spec.zero), high + space))


def _rows(
    axes: Axes,
    spec: Forest,
    own: Sequence[Record],
    at: Mapping[str, tuple[float, float]],
    prefix: str,
) -> Iterator[str]:
    """Draw the values of a panel; yield their looks."""
    told = set[str]()
    for record in own:
        ends = at[record[spec.row]]
        value, low, high = map(record.__getitem__, spec.drawn(prefix))
        name = spec.look(record, low)
        look = LOOKS[name][0]
        y = sum(ends) / 2 + SHIFTS.get(name, 0.0) * PITCH
        for baseline in spec.baselines:
            if record[baseline] is not None:
                axes.plot([record[baseline]] * 2, ends, zorder=1.5, clip_on=False, gid="tick",
                          solid_capstyle="butt", **LOOKS[baseline][0])  # fmt: skip
                yield baseline
        if value is None:
            if record[spec.row] not in told and (words := spec.words(record)):
                _undefined(axes, spec, sum(ends) / 2, words)
                told.add(record[spec.row])
            continue
        for n, (first, last) in enumerate(spec.boxes):
            tall = 0.55 * PITCH * n  # the first is a line
            axes.add_patch(
                Rectangle((record[first], y - tall / 2), record[last] - record[first], tall,
                          facecolor=BAND, edgecolor="none" if n else SOFT, linewidth=0.6,
                          zorder=0.9 + n, gid="band")
            )  # fmt: skip
        if low is not None and high is not None:
            axes.plot([low, high], [y, y], color=look["color"], linewidth=1.1, zorder=2.5,
                      solid_capstyle="butt", gid="interval", clip_on=False)  # fmt: skip
        axes.plot([value], [y], zorder=3, clip_on=False, gid="value", **look)
        yield name


def _undefined(axes: Axes, spec: Forest, y: float, words: str) -> None:
    low = axes.get_xlim()[0]
    axes.annotate(
        words, (max(low, 0.0) if spec.zero else low, y), (2, 0), textcoords="offset points",
        va="center_baseline", color=SOFT, style="italic", gid="undefined", zorder=3,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
    )  # fmt: skip


# -- lines ---------------------------------------------------------------------------------------

TOGETHER = len(PALETTE)
"""Series that share a panel; more than these have a panel each, with the others in grey."""
MOST_FRAMES = 120
"""Of small panels; at double width four are side by side, so that 120 take about 45 inches."""
DODGE = 0.075
"""Inches between points of one amount: their intervals stand side by side."""
BESIDE: Mapping[str, Look] = {
    kind.role: {"color": PALETTE[n], "marker": MARKERS[n], "linestyle": LINES[n]}
    for n, kind in enumerate(CONTROLS.values(), start=1)
}
"""Of each role of controls in the panel of their lesion."""
GREY: Look = {"color": RULE, "linestyle": "-", "linewidth": 0.6}
INTACT: Look = {"color": SOFT, "linestyle": "-", "linewidth": 0.8}


@dataclass(frozen=True, slots=True)
class _Frame:
    """A panel: the records drawn as series, and those of other series, drawn as grey lines."""

    title: str
    own: Sequence[Record]
    looks: Mapping[str, Look]
    others: Sequence[Record] = ()
    ends: Mapping[str, str] = field(default_factory=dict)
    """Words at the ends of lines, by series."""


def _looks_together(series: Sequence[str]) -> dict[str, Look]:
    """Return the looks of series: a control has the colour of its lesion, and a line of its own."""
    of = {
        control_name(name, role): (name, look)
        for name in series for role, look in BESIDE.items()
        if control_name(name, role) != name
    }  # fmt: skip
    lesions = [name for name in series if of.get(name, ("",))[0] not in series]
    looks = dict(zip(lesions, series_looks(len(lesions)), strict=True))
    if len(lesions) < len(series):
        looks = {
            name: {**look, "linestyle": LINES[0], "marker": MARKERS[0]}
            for name, look in looks.items()
        }
    return {
        name: looks[name] if name in looks
        else {**of[name][1], "color": looks[of[name][0]]["color"]}
        for name in series
    }  # fmt: skip


def lines(sheet: Sheet, given: Sequence[Record], options: Options) -> None:
    """Draw the rows of seeds, means and intact models over their amounts."""
    titles = list(dict.fromkeys(record["panel"] for record in given))
    of_panel = {title: [one for one in given if one["panel"] == title] for title in titles}
    drawn = [one for one in given if one["row"] != "intact" and one["value"] is not None]
    series = list(dict.fromkeys(record["series"] for record in drawn))
    by = options["x"]
    log = options["scale"] == "log" or (by == PARAMETERS and options["scale"] != "linear")
    least = min((record["amount"] for record in drawn), default=1.0)
    if log and least <= 0:
        raise UsageError(
            f"{least:g} cannot be shown on a logarithmic axis", hint="--option scale=linear"
        )
    intact = dict.fromkeys(one["series"] for one in given if one["row"] == "intact")
    if len(series) <= TOGETHER:
        looks = _looks_together(series)
        names, shared = series_words(series)
        sheet.notes += [f"All series are of {shared}."] if shared else []
        at_ends = widest(names) <= 0.3 * min(sheet.width, 5.0) and len(series) > 1
        ends = dict(zip(series, names, strict=True)) if at_ends else {}
        rows: list[tuple[str, list[_Frame]]] = [
            ("", [_Frame(title, own, looks, ends=ends) for title, own in of_panel.items()])
        ]
        sheet.legend += [
            ({**look, "linestyle": _joins([one for one in given if one["series"] == name], look)},
             words) for (name, look), words in zip(looks.items(), names, strict=True) if not ends
        ]  # fmt: skip
        words = "intact" if shared else f"intact ({', '.join(intact)})"
    else:
        alone: Look = {"color": MAIN, "marker": MARKERS[0], "linestyle": LINES[0]}
        roles = {
            name: {control_name(name, role): look for role, look in BESIDE.items()
                   if control_name(name, role) in series and control_name(name, role) != name}
            for name in series
        }  # fmt: skip
        controls = {control for own in roles.values() for control in own}
        lesions = [name for name in series if name not in controls]
        if len(lesions) * len(titles) > MOST_FRAMES:
            raise UsageError(
                f"{len(lesions)} series in {len(titles)} panels are more than a figure can show",
                allowed=f"{MOST_FRAMES} panels",
                hint="choose some: --where model=NAME, --where lesion-target=NAME, --subtest, "
                "--judge",
            )
        rows = [
            (title, [_apart(name, own, {**roles[name], name: alone}, lesions) for name in lesions])
            for title, own in of_panel.items()
        ]
        found = [
            role for role in BESIDE if any(control_name(name, role) in controls for name in series)
        ]
        sheet.legend += [(BESIDE[role], f"{role} of the same size") for role in found]
        sheet.legend.append((GREY, "the other series"))
        words = "the intact model"
    if intact:
        sheet.legend.append((INTACT, words))
    _frames(sheet, rows, options, log=log)


def _frames(
    sheet: Sheet, rows: Sequence[tuple[str, Sequence[_Frame]]], options: Options, *, log: bool
) -> None:
    apart = bool(rows[0][0])
    narrow, tall = (1.5, 1.0) if apart else (2.2, 1.5)
    most = max(len(frames) for _, frames in rows)
    beside = max((widest([*one.ends.values()]) + 0.2 for _, own in rows for one in own if one.ends),
                 default=0.0)  # fmt: skip
    across = max(1, min(most, int((sheet.width - 0.1) / (narrow + beside))))
    across = -(-most // -(-most // across))
    heights = list[float]()
    for title, frames in rows:
        heights += [0.01] * bool(title) + [tall] * -(-len(frames) // across)
    grid = sheet.grid(heights, across)
    width = sheet.width / across - 0.55 - beside
    prefix = ESTIMANDS[options["interval"]]
    row = 0
    for title, frames in rows:
        if title:
            sheet.heading(grid(row, 0), title)
            row += 1
        for n, frame in enumerate(frames):
            axes = grid(row + n // across, n % across)
            axes.set_title(frame.title, loc="left")
            if n + across >= len(frames):
                axes.set_xlabel(Severity(options["x"], options["amount"]).name)
            if n % across == 0:
                measure = (*frame.own, *frame.others)[0]["measure"]
                axes.set_ylabel("symptom burden" if measure == BURDEN.id else measure)
            _frame(axes, frame, prefix, options["x"], width, log=log)
            _line_ends(axes, frame, tall)
        row += -(-len(frames) // across)


def _apart(
    series: str, given: Sequence[Record], looks: Mapping[str, Look], every: Sequence[str]
) -> _Frame:
    """Return the frame of one series of a panel, with its controls and its intact model."""

    def was(intact: str) -> bool:
        model, paren, conditions = intact.partition(" (")
        return series.startswith(f"{model} + ") and series.endswith(paren + conditions)

    own = [one for one in given if (was if one["row"] == "intact" else looks.__contains__)(
        one["series"])]  # fmt: skip
    others = {*every} - {series}
    grey = [one for one in given if one["row"] != "intact" and one["series"] in others]
    shown = {record["series"] for record in own}
    return _Frame(series, own, {name: look for name, look in looks.items() if name in shown}, grey)


def _frame(axes: Axes, frame: _Frame, prefix: str, by: str, width: float, *, log: bool) -> None:
    own, every = frame.own, (*frame.own, *frame.others)
    if log:
        axes.set_xscale("log")
    for record in own:
        if record["row"] == "intact" and record["value"] is not None:
            low, high = record[f"{prefix}low"], record[f"{prefix}high"]
            if low is not None:
                axes.axhspan(low, high, color=BAND, linewidth=0, zorder=0.3, gid="intact interval")
            axes.axhline(record["value"], zorder=0.6, gid="intact", **INTACT)
    averaged = {record["series"] for record in every if record["row"] == "mean"}
    grey = dict[str, list[tuple[float, float]]]()
    for one in frame.others:
        mean = one["row"] == "mean" or one["series"] not in averaged
        if mean and one["value"] is not None and not one["few_usable"]:
            grey.setdefault(one["series"], []).append((one["amount"], one["value"]))
    for known in grey.values():
        axes.plot(*zip(*sorted(known), strict=True), zorder=0.8, gid="other", **GREY)
    amounts = sorted({record["amount"] for record in every if record["amount"] is not None})
    places = [log10(amount) if log else amount for amount in amounts]
    span = places[-1] - places[0] if places else 1.0
    step = min((b - a for a, b in pairwise(places)), default=1.0)
    dodge = min(DODGE, 0.7 * step / (span or 1.0) * width / max(len(frame.looks), 1))
    for n, (series, look) in enumerate(frame.looks.items()):
        shift = (n - (len(frame.looks) - 1) / 2) * dodge
        seeds = dict[str, list[Record]]()
        for record in own:
            if record["series"] == series and record["row"] != "intact":
                mean = record["row"] == "mean" or series not in averaged
                seeds.setdefault("" if mean else f"seed {record['seed']}", []).append(record)
        for seed, records in sorted(seeds.items(), reverse=True):
            ends = "" if series in averaged else prefix
            points = [
                (record["amount"], record["value"], None if seed else record[f"{ends}low"],
                 record[f"{ends}high"], record["few_usable"])
                for record in sorted(records, key=lambda record: record["amount"])
                if record["value"] is not None
            ]  # fmt: skip
            line = {**look, "linestyle": _joins(records, look)}
            _series(axes, points, line, shift, thin=bool(seed))
    _join_families(axes, own, dodge, [*frame.looks])
    _ticks(axes, amounts, places, list(map(Severity(by).words, amounts)), width)
    if places:
        reach = (0.06 + (len(frame.looks) - 1) / 2 * dodge / width) * (span or 1.0)
        first, last = places[0] - reach, places[-1] + reach
        axes.set_xlim(*((10**first, 10**last) if log else (first, last)))
    if every[0]["measure"] in (ACCURACY.id, FEATURE_RATE.id):
        axes.set_ylim(-0.02, 1.02)
    else:
        tops = (
            one[name] or 0.0
            for one in every
            for name in ("value", f"{prefix}high", "high")
            # The intervals of seeds that have a mean are not drawn.
            if name == "value" or one["row"] != "seed" or one["series"] not in averaged
        )
        most = max(tops)
        value = max((one["value"] or 0.0 for one in every), default=0.0)
        top = 1.05 * min(most, 2 * value or most) or 1.0
        axes.set_ylim(-0.03 * top, top)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=STEPS))
    if all(one["value"] is None for one in every):
        axes.set_yticks([])  # of no figures
        axes.text(0.03, 0.5, "undefined", color=SOFT, style="italic", va="center_baseline",
                  transform=axes.transAxes, gid="undefined")  # fmt: skip


def _join_families(axes: Axes, own: Sequence[Record], dodge: float, series: Sequence[str]) -> None:
    """Join the models of one family and size, which differ in tuning, by a line."""
    kin = dict[tuple[str, float], list[Record]]()
    for one in own:
        if one.get("family") and one["value"] is not None:
            kin.setdefault((one["family"], one["amount"]), []).append(one)

    def moved(one: Record) -> Transform:
        shift = (series.index(one["series"]) - (len(series) - 1) / 2) * dodge
        return axes.transData + ScaledTranslation(shift, 0, axes.figure.dpi_scale_trans)

    for first, second in (pair for models in kin.values() for pair in pairwise(models)):
        ends = [(one["amount"], one["value"]) for one in (first, second)]
        axes.annotate("", ends[0], ends[1], xycoords=moved(first), textcoords=moved(second),
                      gid="family", zorder=1,
                      arrowprops={"arrowstyle": "-", "color": SOFT, "linewidth": 0.6,
                                  "shrinkA": 0, "shrinkB": 0})  # fmt: skip


def _line_ends(axes: Axes, frame: _Frame, tall: float) -> None:
    """Write the names of series beside the ends of their lines, none over another."""
    low, high = axes.get_ylim()
    places = []
    for series in frame.ends:
        own = [one for one in frame.own if one["series"] == series and one["value"] is not None
               and one["row"] != "intact"]  # fmt: skip
        means = [one for one in own if one["row"] == "mean"] or own
        if means:
            last = max(means, key=lambda one: float(one["amount"]))
            places.append(((last["value"] - low) / (high - low), series))
    places.sort()
    gap = LINE / tall
    heights = [place for place, _ in places]
    for n in range(1, len(heights)):
        heights[n] = max(heights[n], heights[n - 1] + gap)
    for n in reversed(range(len(heights))):
        heights[n] = min(heights[n], 1.0 - gap * (len(heights) - 1 - n))
    for height, (_, series) in zip(heights, places, strict=True):
        look = frame.looks[series]
        axes.plot([1.0], [height], transform=axes.transAxes + ScaledTranslation(
            0.08, 0, axes.figure.dpi_scale_trans), clip_on=False, gid="end", color=look["color"],
            marker=look["marker"], linestyle="none")  # fmt: skip
        axes.annotate(frame.ends[series], (1.0, height), (0.14 * 72, 0), xycoords="axes fraction",
                      textcoords="offset points", va="center_baseline", annotation_clip=False,
                      gid="end")  # fmt: skip


def _joins(points: Sequence[Record], look: Look) -> Any:
    """Return the line of a series; models of different families are not joined."""
    return "none" if any(point["row"] == "model" for point in points) else look["linestyle"]


Point = tuple[float, float, float | None, float | None, bool | None]
"""Place, value, ends of the interval, whether few responses are usable."""


def _series(
    axes: Axes, points: Sequence[Point], look: Look, shift: float, *, thin: bool = False
) -> None:
    """Draw a line through points with their intervals, shifted by some inches."""
    figure = axes.figure
    moved = axes.transData + ScaledTranslation(shift, 0, figure.dpi_scale_trans)
    joined = [point for point in points if not point[4]]
    size: Look = {"linewidth": 1.3, "gid": "value", "zorder": 3}
    if thin:
        size = {"linewidth": 0.5, "alpha": 0.55, "gid": "seed", "markersize": 1.6, "zorder": 1.5}
    axes.plot(
        [point[0] for point in joined], [point[1] for point in joined], transform=moved,
        **{**look, **size},
    )  # fmt: skip
    for place, value, low, high, few in points:
        if few:
            axes.plot([place], [value], color=look["color"], marker=look["marker"], zorder=2.5,
                      markerfacecolor="white", linestyle="none", gid="few usable",
                      transform=moved)  # fmt: skip
        if low is not None and high is not None:
            axes.plot([place] * 2, [low, high], color=look["color"], linewidth=0.9, zorder=2,
                      gid="interval", transform=moved)  # fmt: skip


def _ticks(
    axes: Axes,
    values: Sequence[float],
    places: Sequence[float],
    words: Sequence[str],
    width: float,
) -> None:
    """Put ticks at values, as many as have room."""
    if not places:
        return
    least = (places[-1] - places[0]) * 1.15 * (widest(words) + 0.08) / width
    shown = list[int]()
    for at, place in enumerate(places):
        if not shown or place - places[shown[-1]] >= least:
            shown.append(at)
    axes.set_xticks([values[at] for at in shown], [words[at] for at in shown])
    axes.xaxis.set_minor_locator(NullLocator())


# -- shades --------------------------------------------------------------------------------------


CELL = 0.075
"""Inches: the least side of a cell of matrices beside each other."""


def shades(sheet: Sheet, panels: Sequence[Panel]) -> None:
    """Draw panels of shaded cells beside each other if they fit, else below each other."""
    across, rows = len(panels), 1
    while across > 1:
        if all(_Measured.of(sheet, one, across).fits for one in panels):
            break
        rows += 1
        across = -(-len(panels) // rows)
    made = [_Measured.of(sheet, panel, across) for panel in panels]
    lines = [made[at : at + across] for at in range(0, len(made), across)]
    grid = sheet.grid([max(one.edges[-1] for one in line) for line in lines], across)
    for at, one in enumerate(made):
        axes = grid(*divmod(at, across))
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        one.draw(axes)
        sheet.narrow[axes] = one.each * len(one.panel.heads)
    sheet.key = panels[0].key
    cells = [cell for panel in panels for row in panel.cells for cell in row]
    signed = any(cell.value is not None and cell.value < 0 for cell in cells)
    sheet.legend += [
        ({"facecolor": shade(n / 4), "edgecolor": RULE}, f"{25 * n:{'+' * (signed and n > 0)}}")
        for n in range(-4 * signed, 5)
    ]
    if any(cell.value is None and not cell.words for cell in cells):
        sheet.legend.append(({"edgecolor": RULE, **UNDEFINED}, "undefined"))


@dataclass(frozen=True, slots=True)
class _Measured:
    """A panel with the labels of its rows, the width of a column and the edges of rows, inches."""

    panel: Panel
    names: Sequence[str]
    each: float
    edges: Sequence[float]
    points: float

    @classmethod
    def of(cls, sheet: Sheet, panel: Panel, across: int = 1) -> _Measured:
        """Measure one of so many panels beside each other."""
        width = sheet.width / across
        names = told_apart(panel.rows, 0.42 * width)
        room = width - 0.25 - widest(names) - (0.15 if panel.down else 0.0)
        each = min(room / len(panel.heads), panel.widest)
        heights = (max(panel.height or each, LINE * (name.count("\n") + 1) * (panel.height > 0))
                   for name in names)  # fmt: skip
        points = SMALL
        if not panel.height:
            points *= max(5 / 7, min(1, (each - 0.015) / max(widest(panel.heads), LINE * 0.7)))
        return cls(panel, names, each, [0.0, *accumulate(heights)], points)

    @property
    def fits(self) -> bool:
        """Whether columns have room: for their numbers, or of matrices for cells."""
        numbers = [cell.words[-1] for row in self.panel.cells for cell in row if cell.words]
        return self.each >= (widest(numbers) + 0.02 if self.panel.height else CELL)

    def draw(self, axes: Axes, *, below: bool = False) -> None:
        """Draw the cells and their labels."""
        panel, each, points = self.panel, self.each, self.points
        axes.set_xlim(0, len(panel.heads))
        axes.set_ylim(self.edges[-1], 0)
        axes.set_title(panel.title, loc="left")
        axes.set_xlabel(panel.across)
        axes.set_ylabel(panel.down)
        axes.tick_params(length=0, pad=3)
        heads = ["\n".join(wrapped(head, points, each - 0.04)) for head in panel.heads]
        upright = max(head.count("\n") for head in heads) > (0 if below else 1)
        if upright and (panel.height or max(map(len, panel.heads)) > 3):
            heads = told_apart(panel.heads, 1.8, 2 if each > 2.1 * LINE else 1)
        elif upright or not panel.height:
            heads, upright = [*panel.heads], False
        step = ceil(0.9 * LINE / each) if upright else 1  # as many heads as have room
        axes.set_xticks([n + 0.5 for n in range(0, len(heads), step)], heads[::step],
                        fontsize=points, rotation=90 if upright else 0)  # fmt: skip
        middles = [sum(ends) / 2 for ends in pairwise(self.edges)]
        axes.set_yticks(middles, self.names, fontsize=points)
        axes.spines[:].set_visible(True)

        def fits(words: str) -> bool:
            return text_width(words, points) <= each - 0.01

        texts = [cell.words for cells in panel.cells for cell in cells if cell.words]
        level = next((n for n in (0, 1) if texts and all(fits(one[:n + 1][-1]) for one in texts)),
                     None)  # fmt: skip
        for cells, (start, end) in zip(panel.cells, pairwise(self.edges), strict=True):
            for column, cell in enumerate(cells):
                colour = "white" if cell.value is None else shade(cell.value)
                hatched = cell.value is None and not cell.words
                look: Look = {**UNDEFINED} if hatched else {"facecolor": colour}
                axes.add_patch(
                    Rectangle((column, start), 1, end - start, edgecolor=RULE, linewidth=0.4,
                              gid="undefined" if hatched else "cell", **look)
                )  # fmt: skip
                shown = level is not None or not panel.height
                words = cell.words[: (level or 0) + 1][-1:] if shown else ()
                if words and cell.value is not None and fits(words[0]):
                    axes.text(column + 0.5, (start + end) / 2, words[0], fontsize=points,
                              ha="center", va="center_baseline", color=text_on(colour),
                              gid="value")  # fmt: skip
        for place in panel.borders:
            axes.axvline(place, color=INK, linewidth=0.8)
        for place in panel.under:
            axes.axhline(self.edges[place], color=INK, linewidth=0.8)


def sessions(sheet: Sheet, given: Sequence[Record], options: Options) -> None:
    """Draw shares right over sessions, and below them each answer."""
    answers = [record for record in given if record["row"] == "answer"]
    shares = [record for record in given if record["row"] == "share"]
    dates = {record["session"]: record["date"] for record in answers}
    order = sorted(dates)
    sets = list(dict.fromkeys(record["set"] for record in answers if record["set"] is not None))
    of = {(record["part"], record["item"]): record["set"] for record in answers}
    items = sorted(of, key=lambda item: sets.index(of[item]) if of[item] in sets else len(sets))
    right = {(one["part"], one["item"], one["session"]): one["right"] for one in answers}
    cells = [
        [Cell() if (found := right[*item, session]) is None else Cell(0.8 if found else 0.0)
         for session in order] for item in items
    ]  # fmt: skip
    apart = len({*dates.values()}) == len(order)
    heads = [DAY.sub("", (apart and dates[one]) or f"session {one}") for one in order]
    panel = Panel(rows=[item for _, item in items], heads=heads, cells=cells, widest=0.8,
                  height=0.135)  # fmt: skip
    measured = _Measured.of(sheet, panel)
    tall, n = 1.05, len(order)
    grid = sheet.grid([tall, measured.edges[-1]])
    upper, lower = grid(0, 0), grid(1, 0)
    measured.draw(lower, below=True)
    sheet.narrow |= dict.fromkeys((upper, lower), measured.each * n)
    days = days_of([dates[session] or "" for session in order])
    places = [1 + (n - 1) * day / days[-1] for day in days] or [float(at + 1) for at in range(n)]
    at = dict(zip(order, places, strict=True))
    names = list(dict.fromkeys(record["set"] for record in shares))
    for nth, (name, look) in enumerate(zip(names, series_looks(len(names)), strict=True)):
        own = [one for one in shares if one["set"] == name and one["value"] is not None]
        points = [(at[one["session"]], one["value"], one["low"], one["high"], None) for one in own]
        _series(upper, points, look, (nth - (len(names) - 1) / 2) * DODGE)
        counts = ", ".join(map(str, sorted({one["n"] for one in own})))
        sheet.legend += [(look, f"{name} (N {counts})")] if own else []
    if all(one["value"] is None for one in shares):
        words = "no item has one answer in every session"
        upper.text(0.03, 0.5, words, color=SOFT, style="italic", gid="undefined",
                   va="center_baseline", transform=upper.transAxes)  # fmt: skip
    upper.set_xlim(0.5, n + 0.5)
    upper.set_ylim(-0.03, 1.03)
    upper.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=STEPS))
    upper.set_ylabel("share right")
    if days:
        _ticks(upper, places, places, list(map(str, days)), measured.each * (n - 1))
    else:
        upper.set_xticks([])
    looks = ((True, "right"), (False, "wrong"), (None, "not one answer"))
    sheet.legend += [
        ({"edgecolor": RULE, **({"facecolor": shade(0.8 * found)} if found is not None
                                else UNDEFINED)}, words)
        for found, words in looks if found in right.values()
    ]  # fmt: skip
    if baselines := int(options["baselines"] or 0):
        between = sum(places[at] for at in (baselines - 1, baselines)) / 2
        for axes, border in ((upper, between), (lower, float(baselines))):
            axes.axvline(border, color=INK, linewidth=0.8, linestyle="--")


def draw(sheet: Sheet, kind: FigureKind, given: list[Record], options: Options) -> None:
    """Draw the rows of a figure's table."""
    match kind.draw:
        case Forest() as spec:
            forest(sheet, spec, given, options)
        case Lines(over="sessions"):
            sessions(sheet, given, options)
        case Lines():
            lines(sheet, given, options)
        case Shades(panels=panels):
            shades(sheet, panels(given, options, sheet.width))
