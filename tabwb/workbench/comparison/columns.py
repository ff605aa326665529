"""The columns of the results by model, and those that fit a width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from tabwb.analysis.grouping import Grouped
from tabwb.media.wording import burden_cells, count, figure, number
from tabwb.records.words import NONE
from tabwb.workbench.comparison.rows import RIGHT, Basis, Order
from tabwb.workbench.engine.presenters import short_titles
from tabwb.workbench.shell.drawn import interval_bar, scale
from tabwb.workbench.shell.shortening import shortened_apart
from tabwb.workbench.shell.wording import QUIET, seconds

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge
    from tabwb.analysis.statistics.naming import NamedSubtest
    from tabwb.analysis.statistics.results import Part

GAP = 2
"""Columns of characters between two columns of the table."""
NAME_STEPS = ((-99, 12), (7, 16), (8, 20), (9, 24))
"""Steps of names, see :class:`Column`."""
ROOMY_NAME = 36
"""Columns that a name gets before intervals become wider."""
BURDEN_AXIS, RIGHT_AXIS = (12, 32), (8, 20)
"""The least and the most columns of drawn intervals."""
SHARE = 4
"""Columns of a share."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column that the table may have.

    Attributes:
        id: names it; rows are sorted by it.
        head: over it, for a width.
        cells: of the rows, for a width.
        steps: rank and columns of characters: where there is not room for everything, the lowest
            ranks come first; a second step makes the column wider.
        most: columns that it may get when all are wide enough.
        tip: what the column shows, in words.
    """

    id: str
    head: Callable[[int], str]
    cells: Callable[[int], Sequence[Content]]
    steps: tuple[tuple[int, int], ...]
    most: int
    tip: str


def columns_of(
    rows: Sequence[Grouped], basis: Basis, by: str, order: Order, *, right_first: bool = False
) -> list[Column]:
    """Return the columns for some rows, in the order in which they stand."""
    burdens = list(_burden_columns(rows, basis, order))
    right = [
        *_right_columns(rows, order, right_first=right_first),
        *_named_columns(rows, order, right_first=right_first),
    ]
    return [_names(rows, by, order), *(right + burdens if right_first else burdens + right)]


def _names(rows: Sequence[Grouped], by: str, order: Order) -> Column:
    names = [row.label for row in rows]
    head = _headed(by, "model", order)
    most = max(map(cell_len, (head, *names)))

    def cells(width: int) -> list[Content]:
        return [Content(name) for name in shortened_apart(names, width)]

    steps = tuple((rank, min(most, width)) for rank, width in NAME_STEPS)
    return Column("model", lambda width: head, cells, steps, most, "")


def _burden_columns(rows: Sequence[Grouped], basis: Basis, order: Order) -> Iterator[Column]:
    judges = [row.judge(basis.terms) for row in rows]
    figures = [_burden_words(row, judge, basis) for row, judge in zip(rows, judges, strict=True)]
    _align(figures, "burden")
    for rank, name, head, tip in BURDENS:
        column = [words[name] for words in figures]
        spoken = rows[0].battery.coded and basis.terms is None  # no text is rated
        if name != "usable" and (spoken or all(word.strip() == NONE for word in column)):
            continue
        style = "bold" if name == "burden" else ""
        yield _fixed(name, _headed(head, name, order), column, rank, tip, style)
        if name == "interval" and (top := _most(judges)):
            yield Column(
                "drawn",
                lambda width: scale(width, highest=top).plain,
                partial(_drawn_burdens, judges, top),
                ((4, BURDEN_AXIS[0]),),
                BURDEN_AXIS[1],
                f"burden with its 95 % interval, from 0 to {top:.2f}",
            )


BURDENS = (
    (1, "usable", "usable", "usable responses of all that count"),
    (10, "distinct", "distinct", "different texts among the responses"),
    (2, "burden", "burden", "mean number of features present in a response"),
    (5, "interval", "95 %", "95 % interval of the burden for prompts like these"),
    (11, "words", "mean words", "mean number of words in a usable response"),
    (12, "over", "over", "number of features in the judge's set"),
)
"""Rank, id, head and meaning of the columns about connected texts."""


def _headed(head: str, column: str, order: Order) -> str:
    return f"{head} {order.arrow}" if column == order.column else head


def _fixed(
    name: str, head: str, words: Sequence[str], rank: int, tip: str, style: str = ""
) -> Column:
    width = max(map(cell_len, (head, *words)))

    def cells(_: int) -> list[Content]:
        return [Content.styled(f"{word:>{width}}", style) for word in words]

    return Column(name, lambda width: f"{head:>{width}}", cells, ((rank, width),), width, tip)


def _burden_words(row: Grouped, judge: Judge | None, basis: Basis) -> dict[str, str]:
    """Return a row's figures; dashes where this judge has not seen it."""
    words = dict.fromkeys((name for _, name, _, _ in BURDENS), NONE)
    if judge is not None:
        burden, usable = judge.burden, judge.burden.usable
        figures = burden_cells(judge)
        words |= {name: figures[name] for name in ("usable", "distinct", "burden", "words")}
        words |= {"interval": figures["95 %"], "over": str(len(burden.features))}
        if not usable.few and burden.n_burden < usable.usable + judge.not_judged:
            # The burden rests on fewer responses than are usable.
            words["burden"] += f" n={burden.n_burden}"
    elif basis.terms is None:
        results = row.results
        words["usable"] = f"{results.number('usable')}/{results.number('responses')}"
        words["distinct"] = count(results.number("distinct"))
        words["words"] = figure(results.value("words_mean"))
    return words


def _align(figures: Sequence[dict[str, str]], column: str) -> None:
    """Pad a column's cells where words follow a figure, so that figures are below each other."""
    after = [words[column].partition(" ")[2] for words in figures]
    most = max(map(len, after), default=0)
    for words, rest in zip(figures, after, strict=True):
        if most:
            words[column] += " " * (most - len(rest) + (not rest))


def _drawn_burdens(judges: Sequence[Judge | None], most: float, width: int) -> Sequence[Content]:
    return [
        _dash(width)
        if judge is None or (value := judge.burden.symptom_burden.value) is None
        else interval_bar(
            None if (ends := judge.burden.interval) is None else ends.low,
            value,
            None if ends is None else ends.high,
            width=width,
            highest=most,
            few=judge.burden.usable.few,
        )
        for judge in judges
    ]


def _most(judges: Sequence[Judge | None]) -> float:
    """Return the end of an axis for these burdens; 0 where there is nothing to draw."""
    ends = [
        end
        for judge in judges
        if judge is not None
        for end in (
            judge.burden.symptom_burden.value,
            judge.burden.interval.high if judge.burden.interval else None,
        )
        if end is not None
    ]
    return max(ends, default=0.0)


def _right_columns(rows: Sequence[Grouped], order: Order, *, right_first: bool) -> Iterator[Column]:
    parts = rows[0].battery.subtests if rows else ()
    short = short_titles(tuple(part.title for part in parts))
    for given in parts:
        own = [row.part(given.id) for row in rows]
        if not any(part is not None and part.right.n for part in own):
            continue
        head = _headed(short[given.title], f"{RIGHT}{given.id}", order)
        tip = f"{given.title}: share right (exact), 95 % interval from 0 to 1"
        if baselines := _baselines(own):
            tip += f"; ◆ {', '.join(baselines)}"
        narrow = max(cell_len(head), SHARE)
        wide = max(narrow, SHARE + 1 + RIGHT_AXIS[0])
        yield Column(
            f"{RIGHT}{given.id}",
            partial(_share_head, head),
            partial(_shares, own),
            ((-1, wide),) if right_first else ((3, narrow), (6, wide)),
            SHARE + 1 + RIGHT_AXIS[1],
            tip,
        )


def _named_columns(rows: Sequence[Grouped], order: Order, *, right_first: bool) -> Iterator[Column]:
    """Yield the shares of names counted as right, and the median latency, of naming subtests."""
    titles = {part.id: part.title for row in rows for part in row.results.named}
    for name, title in titles.items():
        own = [row.named(name) for row in rows]
        head = _headed(f"{title}, right", f"{RIGHT}{name}", order)
        wide = max(cell_len(head), SHARE + 1 + RIGHT_AXIS[0])
        yield Column(
            f"{RIGHT}{name}",
            partial(_left, head),
            partial(_names_right, own),
            ((-1 if right_first else 3, wide),),
            SHARE + 1 + RIGHT_AXIS[1],
            f"{title}: share of names counted as right, 95 % interval from 0 to 1",
        )
        latencies = [
            NONE if part is None else seconds(part.summary.latency_median_s) or NONE for part in own
        ]
        yield _fixed(f"latency {name}", "latency", latencies, 6, f"{title}: median latency")


def _names_right(parts: Sequence[NamedSubtest | None], width: int) -> Sequence[Content]:
    room = width - SHARE - 1
    shares = [None if part is None else part.summary.accuracy[0] for part in parts]
    return [
        _dash(width)
        if share is None or share.rate is None
        else Content.assemble(
            figure(share.rate),
            " ",
            interval_bar(
                None if share.interval is None else share.interval.low,
                share.rate,
                None if share.interval is None else share.interval.high,
                width=room,
            ),
        )
        for share in shares
    ]


def _left(head: str, width: int) -> str:
    return head


def _share_head(head: str, width: int) -> str:
    """Return the head at the left of drawn intervals, at the right of numbers alone."""
    return head if width - SHARE - 1 >= RIGHT_AXIS[0] else f"{head:>{width}}"


def _share_words(part: Part | None) -> str:
    return NONE if part is None or not part.right.n else number(part.right.value)


def _baselines(parts: Sequence[Part | None]) -> list[str]:
    from tabwb.analysis.measures import BASELINES

    known = {name for part in parts if part is not None for name in part.baselines}
    return [baseline.title for baseline in BASELINES if baseline.id in known]


def _shares(parts: Sequence[Part | None], width: int) -> Sequence[Content]:
    room = width - SHARE - 1
    return [
        Content(f"{_share_words(part):>{width if room < RIGHT_AXIS[0] else SHARE}}")
        if part is None or not part.right.n or room < RIGHT_AXIS[0]
        else Content.assemble(_share_words(part), " ", drawn_share(part, room))
        for part in parts
    ]


def drawn_share(part: Part, width: int) -> Content:
    """Return the share right of a subtest with its interval and its baselines, from 0 to 1."""
    ends = part.right.interval
    known = (baseline.value for baseline in part.baselines.values())
    return interval_bar(
        None if ends is None else ends.low,
        part.right.value.value,
        None if ends is None else ends.high,
        width=width,
        baseline=[value for value in known if value is not None],
    )


def _dash(width: int) -> Content:
    return Content.styled(f"{NONE:<{width}}", QUIET)


def _rank(step: tuple[int, int, Column]) -> int:
    return step[0]


def fitting(columns: Sequence[Column], room: int) -> list[tuple[Column, int]]:
    """Return the columns that fit, each with its width.

    What is left makes names wider first, then drawn intervals.
    """
    steps = [(rank, width, column) for column in columns for rank, width in column.steps]
    widths: dict[str, int] = {}
    left = room + GAP
    for _, alike in groupby(sorted(steps, key=_rank), _rank):
        group = [(column, width) for _, width, column in alike]
        again = all(column.id in widths for column, _ in group)
        if again and sum(width - widths[column.id] for column, width in group) > left:
            continue  # all of them or none: intervals of some would be taken for those of all
        for column, width in group:
            more = width - widths.get(column.id, -GAP)
            if more <= left:
                widths[column.id] = width
                left -= more
    shown = [column for column in columns if column.id in widths]
    names = shown[0]
    drawn = [column for column in shown[1:] if widths[column.id] == column.steps[-1][1]]
    for limit in (ROOMY_NAME, names.most):
        wider = max(min(limit, names.most, widths[names.id] + left) - widths[names.id], 0)
        widths[names.id] += wider
        left -= wider
        while left > 0 and (rest := [one for one in drawn if widths[one.id] < one.most]):
            for column in rest[:left]:
                widths[column.id] += 1
            left -= min(left, len(rest))
    return [(column, widths[column.id]) for column in shown]
