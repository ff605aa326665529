"""Right answers of one participant, item by item and session by session, with their shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from tabwb.media.figures.estimates import (
    Record,
    batteries_note,
    columns,
    records,
    rows_of,
    value_cells,
)
from tabwb.media.figures.kind import FigureKind, FigureOption, Options
from tabwb.media.figures.lettering import line_height, text_width, wrapped
from tabwb.media.figures.shades import HATCH
from tabwb.media.figures.style import INK, MAIN, MARGIN, NORMAL, RULE, SMALL, SOFT, series_styles
from tabwb.media.figures.ticks import round_ticks
from tabwb.records.errors import UsageError
from tabwb.records.words import plural, separated
from tabwb.report.summaries.change import FORM_OF_THE_DAY, Change, change_of
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.sessions import sets_of_tags
from tabwb.tables.table import Column, Table, table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tabwb.media.figures.page import Page
    from tabwb.report.summaries.groups import Grouped

TALL = 1.05
"""Inches: the area of the shares."""
ROW = 0.135
COLUMNS = columns(
    Column("row", "Row", "answer: one item in one session; share: of a set in one session"),
    Column("session", "Session", "its number, from 1", "integer"),
    Column("date", "Date", "the day of the session; empty where it is not known"),
    "part",
    Column("item", "Item", "the item's id"),
    Column("set", "Set", "the set of items"),
    Column("right", "Right", "whether the answer was right; empty without one answer", "boolean"),
    *("value", "low", "high", "n", "status", "reason"),
)


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    members = _members(groups)
    baselines = options["baselines"]
    if baselines and not baselines.isdecimal():
        raise UsageError(f"'{baselines}' is not a number of sessions", where="baselines")
    tags = separated(options["sets"])
    sets = sets_of_tags(members[0].battery.subtests, tags) if tags else {}
    change = change_of(members, sets, int(baselines) if baselines else None)
    set_of = {place: name for name, places in sets.items() for place in places}
    given: list[Record] = [
        {
            "row": "answer",
            "session": at + 1,
            "date": change.sessions[at].date or None,
            "part": subtest,
            "item": item,
            "set": set_of.get((subtest, item)),
            "right": right,
            "status": "undefined" if right is None else "value",
            "reason": "not exactly one answer with a verdict" if right is None else None,
        }
        for (subtest, item), answers in change.answers.items()
        for at, right in enumerate(answers)
    ]
    for of_set in change.sets:
        for share in of_set.shares:
            ends = share.interval
            given.append(
                {
                    "row": "share",
                    "session": share.session,
                    "date": change.sessions[share.session - 1].date or None,
                    "set": of_set.name,
                    **value_cells(share.share),
                    "low": None if ends is None else ends.low,
                    "high": None if ends is None else ends.high,
                    "n": share.of,
                }
            )
    notes = [*_notes(change), batteries_note(groups)]
    return table_of("change", COLUMNS, rows_of(COLUMNS, given), notes)


def _members(groups: Sequence[Grouped]) -> list[AdministrationData]:
    members = {
        member.administration.id: member for group in groups for member in group.group.members
    }
    who = dict.fromkeys(
        member.administration.conditions.study_id or member.administration.conditions.examinee
        for member in members.values()
    )
    if len(who) > 1:
        raise UsageError(
            f"sessions of {len(who)} participants: {', '.join(list(who)[:4])}"
            + (" ..." if len(who) > 4 else ""),
            hint="choose one: --where participant=ID, or name the administrations",
        )
    batteries = dict.fromkeys(member.battery.content_hash for member in members.values())
    if len(batteries) > 1:
        raise UsageError("sessions with several batteries", hint="--where battery=ID")
    return list(members.values())


def _notes(change: Change) -> Iterator[str]:
    yield (
        f"{change.participant}. Dark: right; white: wrong; hatched: not exactly one answer with a "
        "verdict."
    )
    if _days([session.date for session in change.sessions]):
        yield "Above, sessions stand by their days, numbered from the first one (0)."
    yield (
        "Above: share right of the items with one answer in every session, with exact 95 % "
        "intervals for prompts like these."
    )
    steps = [(own.name, own.steps[-1]) for own in change.sets if own.steps]
    tests = [
        f"{name}: {step.test.gained} items gained, {step.test.lost} lost, p = {step.test.p:.3g}"
        for name, step in steps
        if step.test is not None
    ]
    if tests:
        first, last = steps[0][1].first, steps[0][1].second
        yield f"Session {first} to {last}, McNemar's exact test, two-sided: {'; '.join(tests)}."
        corrected = [
            f"{name}: p = {step.adjusted:.3g}" for name, step in steps if step.adjusted is not None
        ]
        yield f"Corrected for the pairs of sessions by Holm's method: {'; '.join(corrected)}."
    if change.baselines:
        yield f"Dashed line: {plural(change.baselines, 'session')} before treatment."
    yield from change.warnings
    yield FORM_OF_THE_DAY.split(", but")[0] + ", but tests and intervals take them as independent."


def _draw(table: Table, page: Page, options: Options) -> None:
    given = records(table)
    answers = [record for record in given if record["row"] == "answer"]
    shares = [record for record in given if record["row"] == "share"]
    sessions = sorted({record["session"] for record in answers})
    dates = {record["session"]: record["date"] for record in answers}
    items = _ordered(answers)
    label = {place: place[1] for place in items}
    left = max(0.48, max(text_width(name, SMALL) for name in label.values()) + 0.06)
    left = min(left, 0.4 * page.width)
    room = page.width - 2 * MARGIN - left
    each = min(room / len(sessions), 0.8)
    x = MARGIN + left
    top = MARGIN + 0.05
    upper = page.axes(x, top, each * len(sessions), TALL, label="panel 0")
    days = _days([dates[session] or "" for session in sessions])
    n, last = len(sessions), max(days, default=0)
    places = {
        session: 1 + (n - 1) * days[at] / last if days else float(at + 1)
        for at, session in enumerate(sessions)
    }
    looks = _shares(upper, shares, places)
    page.text(
        MARGIN + 0.02, top + TALL / 2, "share right", NORMAL, rotation=90, ha="left", va="center"
    )
    grid = top + TALL + 0.1
    if days:
        free = 0.0
        for at, session in enumerate(sessions):
            middle, words = x + (places[session] - 0.5) * each, str(days[at])
            half = text_width(words, SMALL) / 2 + 0.02
            if middle - half >= free:
                page.text(middle, top + TALL + 0.04 + 0.75 * line_height(SMALL), words, ha="center")
                free = middle + half
        grid += line_height(SMALL)
    lower = page.axes(x, grid, each * len(sessions), ROW * len(items), label="answers")
    right = {((record["part"], record["item"]), record["session"]): record["right"]
             for record in answers}  # fmt: skip
    _grid(lower, [[right[place, session] for session in sessions] for place in items])
    for row, place in enumerate(items):
        words = wrapped(label[place], SMALL, left - 0.05, 1)[0]
        page.text(x - 0.04, grid + (row + 0.5) * ROW, words, ha="right", va="center_baseline")
    bottom = grid + ROW * len(items)
    baselines = int(options["baselines"] or 0)
    if baselines:
        between = sum(places[sessions[at]] for at in (baselines - 1, baselines)) / 2
        for axes, border in ((upper, between), (lower, float(baselines))):
            axes.axvline(border, color=INK, linewidth=0.8, linestyle="--")
    end = _dates(page, [dates[session] or f"session {session}" for session in sessions],
                 x, each, bottom)  # fmt: skip
    page.finish(page.caption(page.legend(end, looks)))


def _days(dates: Sequence[str]) -> list[int]:
    """Return the days from the first session on; none where a day is not known, or all are one."""
    try:
        days = [date.fromisoformat(given).toordinal() for given in dates]
    except ValueError:
        return []
    return [day - days[0] for day in days] if days[-1] > days[0] else []


def _ordered(answers: Sequence[Record]) -> list[tuple[str, str]]:
    """Return the items: those of each set together, sets in order of appearance."""
    places = {(record["part"], record["item"]): record["set"] for record in answers}
    sets = list(dict.fromkeys(name for name in places.values() if name is not None))
    order = {name: at for at, name in enumerate(sets)}
    return sorted(places, key=lambda place: order.get(places[place], len(sets)))


def _shares(
    axes: Axes, shares: Sequence[Record], places: Mapping[int, float]
) -> list[tuple[dict[str, Any], str]]:
    names = list(dict.fromkeys(record["set"] for record in shares))
    looks: list[tuple[dict[str, Any], str]] = []
    for at, (name, style) in enumerate(zip(names, series_styles(len(names)), strict=True)):
        own = [record for record in shares if record["set"] == name and record["value"] is not None]
        shift = (at - (len(names) - 1) / 2) * 0.12
        look: dict[str, Any] = {
            "color": style.colour, "marker": style.marker, "linestyle": style.line
        }  # fmt: skip
        at_x = [places[record["session"]] + shift for record in own]
        axes.plot(at_x, [record["value"] for record in own], gid="value", **look)
        for place, record in zip(at_x, own, strict=True):
            ends = [record["low"], record["high"]]
            axes.plot([place] * 2, ends, color=style.colour, linewidth=0.9, gid="interval")
        n = {record["n"] for record in own}
        looks.append((look, f"{name} (N {', '.join(map(str, sorted(n)))})"))
    axes.set_xlim(0.5, len(places) + 0.5)
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks(round_ticks(0, 1, 4))
    axes.set_xticks([])
    return looks


def _grid(axes: Axes, rows: Sequence[Sequence[bool | None]]) -> None:
    from matplotlib.patches import Rectangle

    axes.set_xlim(0, len(rows[0]))
    axes.set_ylim(len(rows), 0)
    axes.set_xticks([])
    axes.set_yticks([])
    looks: dict[bool | None, dict[str, Any]] = {
        True: {"facecolor": MAIN, "gid": "right"},
        False: {"facecolor": "white", "gid": "wrong"},
        None: {"facecolor": "white", "hatch": HATCH, "gid": "undefined"},
    }
    for row, cells in enumerate(rows):
        for column, right in enumerate(cells):
            axes.add_patch(
                Rectangle((column, row), 1, 1, edgecolor=RULE, linewidth=0.5, **looks[right])
            )
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_edgecolor(SOFT)


def _dates(page: Page, dates: Sequence[str], x: float, each: float, top: float) -> float:
    """Write the sessions below the grid, upright where they do not fit; return where they end."""
    widest = max(text_width(one, SMALL) for one in dates)
    for at, one in enumerate(dates):
        middle = x + (at + 0.5) * each
        if widest <= each - 0.05:
            page.text(middle, top + 0.04 + 0.75 * line_height(SMALL), one, ha="center")
        else:
            page.text(middle, top + 0.04, one, rotation=90, ha="center", va="top")
    return top + 0.1 + (line_height(SMALL) if widest <= each - 0.05 else widest)


FIGURE = FigureKind(
    id="change",
    title="Change over sessions",
    shows="Each item of one participant in each session, right or wrong, and the share right with "
    "its interval.",
    data="Two or more administrations of one battery to one participant (or model).",
    table=_table,
    draw=_draw,
    options=(
        FigureOption("sets", "tags of items, separated by commas, each a separate set"),
        FigureOption("baselines", "number of sessions before treatment"),
    ),
    by="administration",
    people=True,
)
