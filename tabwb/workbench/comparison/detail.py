"""One model under one judge, and the features of all models as a strip of heat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, MouseMove
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from tabwb.analysis.grouping import Grouped
from tabwb.analysis.tables.said import borrowed_line
from tabwb.battery.model import Feature
from tabwb.media.wording import (
    FEW,
    baselines_of,
    between,
    figure,
    number,
    numbered,
    plain,
    right_of,
    size_of,
    tally,
)
from tabwb.records.words import NONE
from tabwb.scoring.naming.summary import NamingSummary
from tabwb.workbench.comparison.table import Basis, drawn_share, key_of
from tabwb.workbench.shell.columns import Column, Fitted, Heading, shortened_apart
from tabwb.workbench.shell.drawn import heat, interval_bar, share_bar
from tabwb.workbench.shell.row_list import EDGE, RowList
from tabwb.workbench.shell.widgets import Line, content_of
from tabwb.workbench.shell.wording import QUIET, head_words, seconds, sentence, spread

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge


CODE_BAR = 10
"""Columns of the bar of a code."""
HELP = """\
# One model

Right answers with their 95 % interval and baselines, mean features per answer in each category (of
how many features), then in how many responses each feature of the judge's set is present, ├─●─┤
with the 95 % interval of the share. **enter** on a feature shows the responses on which judges
differ about it, the most disputed first. **tab** moves to the next pane.
"""
MOST_STATISTICS = 200
TITLES = 26
"""Columns beside drawn intervals."""
LEAST_AXIS, MOST_AXIS = 8, 24
"""Columns of a drawn interval."""


class ModelDetail(RowList):
    """The features can be chosen; everything else is between them."""

    HELP = HELP
    ENTER_WORD = "Differ"

    def __init__(self) -> None:
        super().__init__(id="model-detail")
        self._shown: tuple[Grouped | None, Basis | None, int] = (None, None, 0)

    def show_model(self, row: Grouped | None, basis: Basis | None) -> None:
        """Show a model."""
        width = max(self.size.width - EDGE - 1, 24)
        if (row, basis, width) == self._shown:
            return
        before, self._shown = self._shown[0], (row, basis, width)
        same = before is not None and row is not None and before.label == row.label
        judge = None if row is None or basis is None else row.judge(basis.terms)
        columns = () if row is None or judge is None else _columns(row, judge)
        lines = [] if row is None or basis is None else [*_lines(row, basis, judge, width)]
        current = None if same and self.current >= 0 else 0 if self.has_focus else -1
        self.show(columns, lines, current=current)
        if not same:
            self.scroll_to(y=0, animate=False)

    def on_resize(self) -> None:
        """Lay out again."""
        self.show_model(*self._shown[:2])
        super().on_resize()

    def to_features(self) -> None:
        """Take the keys, with as many features in sight as there is room for below their head."""
        self.focus()
        self.call_after_refresh(self._show_features)

    def _show_features(self) -> None:
        at = self.rows.index(self.first) if self.first is not None else -1
        if self.current in (-1, at):
            self.go(min(at + max(self.size.height - 3, 0), self._last))
            self.go(at)

    @property
    def _last(self) -> int:
        return self._row_from(len(self.rows) - 1, -1)

    def on_focus(self) -> None:
        """Mark the first feature."""
        if self.current < 0:
            self.action_edge(0)
        super().on_focus()

    def action_move(self, step: int) -> None:
        """Move; from the first feature to the text above it."""
        if step < 0 and (self.current < 0 or self.chosen == self.first):
            self.scroll_up()
        else:
            super().action_move(step)


def _columns(row: Grouped, judge: Judge) -> Sequence[Column[str]]:
    """Return the columns of features: in how many responses each is present."""
    burden = judge.burden
    titles = {feature.id: feature.title for feature in row.battery.features}

    def drawn(feature: str, width: int) -> Content:
        like = burden.rate_intervals(feature)[0].interval if burden.n_burden else None
        ends = (None, None) if like is None else (like.low, like.high)
        return interval_bar(ends[0], burden.rate(feature).value, ends[1], width=width)

    def count(feature: str) -> str:
        return f"{tally(burden.present[feature])}/{burden.n_burden}" if burden.n_burden else NONE

    return (
        Column("", lambda feature: titles.get(feature) or feature, least=20, end=True),
        Column("", drawn, grow=(LEAST_AXIS, MOST_AXIS)),
        Column("", count, right=True),
    )


def _lines(row: Grouped, basis: Basis, judge: Judge | None, width: int) -> Iterator[str | Heading]:
    """Yield the features that are present, with everything else above and below."""
    lines = [*(_quiet(fact, width) for fact in _facts(row)), Content("")]
    lines += [*_answers(row, width), Content("")]
    if judge is not None:
        lines += _judged(row, judge, width)
    elif not row.battery.coded:
        who = "No judge" if basis.terms is None else "This judge"
        words = "has" if basis.terms is None else "has not"
        lines.append(_quiet(f"{who} {words} rated these responses.", width))
    yield from _headings(lines)
    if judge is not None:
        present = judge.burden.present
        yield from sorted(present, key=lambda feature: -present[feature])
    yield from _headings(_statistics(row, width))


def _headings(lines: Iterable[Content]) -> Iterator[Heading]:
    return (Heading(part) for line in lines for part in line.split("\n", allow_blank=True))


def _facts(row: Grouped) -> Iterator[str]:
    numbers = [member.administration.id for member in row.group.members]
    if len(numbers) <= 6:
        for member in row.group.members:
            words = " · ".join(head_words(member.administration))
            yield f"#{member.administration.id}  {words}"
    else:
        yield f"{numbered(numbers[:6])} and {len(numbers) - 6} more"
    labels = [
        size_of(value) if name == "parameters" else f"{plain(name)} {value}"
        for name, value in row.group.labels.items()
    ]
    if labels:
        yield ", ".join(labels)
    for name, values in row.group.mixed.items():
        yield f"pooled over {plain(name)}: {' | '.join(values)}"


def _named_figures(summary: NamingSummary, width: int) -> Iterator[Content]:
    """Yield the latency of right names, and how often each code was given or proposed."""
    if summary.latency_median_s is not None:
        figures = f"{seconds(summary.latency_median_s)}  n={summary.latency_n}"
        yield spread(Content("median latency, right names"), Content(figures), width)
    for title, codes in (("CODES, LISTENER", summary.codes), ("CODES PROPOSED", summary.proposed)):
        total = sum(codes.values())
        if total:
            yield _head(title)
        for code, n in sorted(codes.items(), key=lambda pair: -pair[1]):
            drawn = Content.assemble(share_bar(n / total, CODE_BAR), f" {n:>3}/{total}")
            yield spread(Content(plain(code)), drawn, width)
    if words := borrowed_line(summary):
        yield from (Content.styled(line, QUIET) for line in wrap(words, width))


def _answers(row: Grouped, width: int) -> Iterator[Content]:
    for named in row.results.named:
        counted = named.summary.accuracy[0]
        yield _head(f"{named.title.upper()}, NAMES RIGHT")
        figures = f"{counted.correct}/{counted.n}  {between(counted.interval)}"
        yield spread(Content("rule or listener"), Content(figures), width)
        yield from _named_figures(named.summary, width)
    parts = [part for part in row.results.parts if part.right.n]
    if not parts:
        return
    yield _head("RIGHT (exact)")
    room = max(min(width - TITLES - 2, MOST_AXIS), 0)
    for part in parts:
        figures = f"{right_of(part)}  {between(part.right.interval)}"
        yield spread(Content(part.title), Content(figures), width)
        beside = baselines_of(part)
        balanced = part.value("balanced_accuracy")
        if balanced.defined:
            beside = f"balanced {number(balanced)}, {beside}"
        line = Content.styled(f"  {beside}" if beside else "", QUIET)
        drawn = drawn_share(part, room) if room >= LEAST_AXIS else Content("")
        if beside or room >= LEAST_AXIS:
            yield spread(line, drawn, width)


def _statistics(row: Grouped, width: int) -> Iterator[Content]:
    rows = [one for one in row.results if one.statistic is not None]
    if not rows:
        return
    from tabwb.analysis.names import judge_names  # loads numpy

    yield Content("")
    yield _head("STATISTICS")
    short = judge_names(judge.terms.rater for judge in row.results.judges)
    for one in rows[:MOST_STATISTICS]:
        shown = one.declared.column.format
        figure = shown(one.value.value)
        if one.interval is not None:
            joint = " to " if one.interval.low < 0 else "-"
            figure += f"  {shown(one.interval.low)}{joint}{shown(one.interval.high)}"
        name = ", ".join(filter(None, (one.declared.title, one.part, one.feature)))
        for rater, called in short.items():
            name = name.replace(rater, called)
        if len(name) + 2 + len(figure) > width:  # its end tells two values of a statistic apart
            yield _quiet(name, width)
            name = ""
        yield spread(Content(name), Content(figure), width)
        if not one.value.defined:
            yield _quiet(one.value.reason, width)
    if len(rows) > MOST_STATISTICS:
        yield _quiet(f"{len(rows):,} values: tabwb results --json has all", width)


def _judged(row: Grouped, judge: Judge, width: int) -> Iterator[Content]:
    from tabwb.media.views.administration import burden_view, category_titles  # loads numpy

    yield content_of(burden_view(judge, category_titles(row.battery)), width)
    if judge.burden.usable.few:
        yield Content.styled(f"{FEW}: the burden is not ranked", "$warning")
    if judge.caution:
        yield Content("")
        yield _quiet(sentence(judge.caution), width)
    yield Content("")
    yield _head(f"FEATURES PRESENT (of {judge.burden.n_burden} responses)")
    yield _quiet("enter: where judges differ", width)


def _head(text: str) -> Content:
    return Content.styled(text, f"bold {QUIET}")


def _quiet(text: str, width: int) -> Content:
    return Content.styled("\n".join(wrap(text, width)) or text, QUIET)


LEAST_NAME, MOST_NAME = 10, 40
"""Columns of a model's name, at least and at most."""
CELLS = (10, 7, 5, 3, 2, 1)
"""Columns of a cell, the widest that fits: with a number and a bar, a number, a bar.

The first, which has room for most heads, is used where names are not cut.
"""
HEADS = 2
"""Lines of the heads."""
AROUND = HEADS + 1
"""Lines beside those of the models."""
MARKED = "bold reverse $accent"
"""The style of the marked cell."""
MAP_HELP = """\
# Features by model

A row for each model and a column for each feature of the judge's set: the share of responses in
which it is present, as a shade and as a bar or a number. The line below says what the marked cell
shows, with the 95 % interval for prompts like these.

Arrows move, **enter** shows the responses on which judges differ about the feature.
"""


def abbreviated(titles: Sequence[str]) -> list[str]:
    """Return the word of each title that tells it from the others, else its first one.

    >>> abbreviated(["Anomia", "Omission of bound morphemes", "Omission of function words"])
    ['Anomia', 'bound', 'function']
    """
    words = [title.split() for title in titles]
    first = [own[:1] for own in words]
    made = []
    for own in words:
        if first.count(own[:1]) == 1:
            made.append(own[0])
            continue
        apart = [
            word for word in own if len(word) > 2 and sum(word in other for other in words) == 1
        ]
        made.append(next(iter(apart), " ".join(own)))
    return made


class FeatureCells(RowList):
    """A row of cells for each model; one cell is marked."""

    HELP = MAP_HELP
    ENTER_WORD = "Differ"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "beside(-1)", show=False),
        Binding("right", "beside(1)", show=False),
    ]
    column = reactive(0)
    """The marked cell of the current row."""

    class Turned(Message):
        """Another cell of the row is marked."""

    def __init__(self) -> None:
        super().__init__(id="feature-cells")
        self.names: dict[object, str] = {}
        self.shares: dict[object, list[float | None]] = {}
        """By row, in the order of the columns."""
        self.n = 0
        self.room, self.wide = 1, CELLS[-1]
        """Columns of a name, and of a cell."""

    def watch_column(self) -> None:
        """Tell which cell is marked."""
        self.post_message(self.Turned())

    def action_beside(self, step: int) -> None:
        """Mark the cell beside."""
        self.column = min(max(self.column + step, 0), self.n - 1)

    def line_of(self, row: Any, fitted: Fitted[Any]) -> Content:
        """Return the name of a model, then the cells."""
        name = self.names[key_of(row)]
        cells = [heat(share, width=self.wide) for share in self.shares[key_of(row)]]
        if self.has_focus and self.rows[self.current] is row and cells:
            cells[self.column] = Content.styled(cells[self.column].plain, MARKED)
        return Content.assemble(name, " " * (self.room + 1 - cell_len(name)), *cells)

    def cell_at(self, x: int, y: int) -> tuple[Grouped, int] | None:
        """Return the model and the column of a place in the list."""
        row, at = y + self.scroll_offset.y, (x - EDGE - self.room - 1) // self.wide
        there = 0 <= row < len(self.rows) and 0 <= at < self.n
        return (self.rows[row], at) if there else None

    def on_click(self, event: Click) -> None:
        """Mark the cell that was clicked."""
        at = event.get_content_offset(self)
        if at is not None and (found := self.cell_at(at.x, at.y)) is not None:
            self.column = found[1]
        super().on_click(event)


class FeatureMap(Vertical):
    """Heads, cells, and the marked cell in words."""

    def __init__(self) -> None:
        super().__init__(id="feature-map")
        self._judges: dict[object, Judge | None] = {}
        self._features: tuple[Feature, ...] = ()
        self._asked: tuple[Sequence[Grouped], Basis] | None = None

    def compose(self) -> ComposeResult:
        """Yield heads, cells and the line in words."""
        yield Static(id="feature-heads")
        yield FeatureCells()
        yield Line(id="feature-told")

    @property
    def _cells(self) -> FeatureCells:
        return self.query_one(FeatureCells)

    @property
    def feature(self) -> str | None:
        """The id of the marked feature."""
        return self._features[self._cells.column].id if self._features else None

    def show(self, rows: Sequence[Grouped], basis: Basis, current: Grouped | None) -> None:
        """Show the features of these; the marked column stays, the row follows the other table."""
        self._asked = rows, basis
        self._judges = {key_of(row): row.judge(basis.terms) for row in rows}
        asked = () if basis.terms is None else basis.terms.features
        self._features = tuple(
            feature for feature in (rows[0].battery.features if rows else ()) if feature.id in asked
        )
        cells, n = self._cells, max(len(self._features), 1)
        width = self.size.width - EDGE - 2
        longest = max((len(row.label) for row in rows), default=0)
        names_least = {CELLS[0]: min(longest, MOST_NAME)}
        cells.wide = next(
            (c for c in CELLS if names_least.get(c, LEAST_NAME) + 1 + c * n <= width), CELLS[-1]
        )
        cells.room = max(min(width - cells.wide * n - 1, MOST_NAME, longest), 1)
        cells.shares = {
            key: [_share(judge, feature.id) for feature in self._features]
            for key, judge in self._judges.items()
        }
        cells.n, cells.column = len(self._features), min(cells.column, n - 1)
        labels = shortened_apart([row.label for row in rows], cells.room)
        cells.names = dict(zip(map(key_of, rows), labels, strict=True))
        key = None if current is None else key_of(current)
        at = next((at for at, row in enumerate(rows) if key_of(row) == key), 0)
        cells.show((), rows, current=at, ids=key_of)
        self._show_heads(cells.room)
        self.tell()

    def on_resize(self) -> None:
        """Lay out again."""
        if self._asked is not None:
            self.show(*self._asked, self.marked)

    def mark(self, current: Grouped | None) -> None:
        """Mark the row of a model."""
        if current is not None:
            self._cells.choose(key_of(current))

    def _show_heads(self, room: int) -> None:
        """Show abbreviations above the cells, in turn on each of the lines, so that they fit."""
        wide = self._cells.wide
        lines = [" " * (EDGE + room + 1) for _ in range(HEADS)]
        titles, most = [feature.title for feature in self._features], max(HEADS * wide - 1, 1)
        for at, (title, word) in enumerate(zip(titles, abbreviated(titles), strict=True)):
            line = at % HEADS
            start = EDGE + room + 1 + at * wide
            head = Content(title if len(title) <= most else word).truncate(most, ellipsis=True)
            lines[line] = lines[line].ljust(start) + head.plain
        heads = Content.styled("\n".join(lines), QUIET)
        self.query_one("#feature-heads", Static).update(heads)

    @property
    def marked(self) -> Grouped | None:
        """The row of the marked cell."""
        rows, at = self._cells.rows, self._cells.current
        return rows[at] if 0 <= at < len(rows) else None

    @on(RowList.Highlighted)
    @on(FeatureCells.Turned)
    def tell(self) -> None:
        """Say what the marked cell shows."""
        told, more = Content(""), Content("")
        if (row := self.marked) is not None and self._features:
            feature = self._features[self._cells.column]
            told = Content.assemble((feature.title, "bold"), (f"  {row.label}", QUIET))
            more = Content(rate_words(self._judges[key_of(row)], feature.id))
        self.query_one("#feature-told", Line).show(told, more)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say what the cell under the pointer shows."""
        at = event.get_content_offset(self._cells)
        found = None if at is None else self._cells.cell_at(at.x, at.y)
        words: Content | None = None
        if found is not None:
            row, feature = found[0], self._features[found[1]]
            told = rate_words(self._judges[key_of(row)], feature.id)
            words = Content(f"{feature.title}, {row.label}: {told}")
        if words != self._cells.tooltip:
            self._cells.tooltip = words


def _share(judge: Judge | None, feature: str) -> float | None:
    if judge is None or not judge.burden.n_burden:
        return None
    return judge.burden.rate(feature).value


def rate_words(judge: Judge | None, feature: str) -> str:
    """Return in how many responses a feature is present, with the share and its interval."""
    if judge is None:
        return "not judged"
    burden = judge.burden
    if not burden.n_burden:
        return "undefined: no response has a burden"
    like = burden.rate_intervals(feature)[0]
    return (
        f"{tally(burden.present[feature])} of {burden.n_burden} responses, "
        f"{figure(burden.rate(feature).value)} ({between(like.interval)})"
    )
