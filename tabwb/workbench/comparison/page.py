"""Results by model: one table, features and plots below it, one model's detail."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.theme import Theme
from textual.timer import Timer
from textual.widgets import Input, Static

from tabwb.analysis.differing import in_series
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.keys import Filter, words_and_filters
from tabwb.records.errors import UsageError
from tabwb.records.series import Series
from tabwb.records.trials import Administration
from tabwb.records.words import NONE
from tabwb.workbench.comparison.actions import ComparisonActions
from tabwb.workbench.comparison.detail import AROUND, FeatureMap, ModelDetail
from tabwb.workbench.comparison.plots import PlotPane, PlotScroll
from tabwb.workbench.comparison.table import (
    LEAST_ROWS,
    RIGHT,
    Basis,
    Key,
    ModelsTable,
    Names,
    Order,
    ReadRows,
    bases,
    chosen,
    columns_of,
    first_given,
    key_of,
    series_lines,
)
from tabwb.workbench.shell.columns import WIDE, Column, laid, shortened_apart
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import FilterField
from tabwb.workbench.shell.drawn import share_bar
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Line, Pane, WrappedText
from tabwb.workbench.shell.wording import QUIET

LEAST_LOWER = 8
"""The least lines of a pane below the table, with its frame."""
TABLE_PART = 45
"""Most per cent of the lines for the table where others are below it."""


FILTER_HELP = """\
# Filter

Only models whose names have every word are shown. **enter** goes back to the table, **esc** shows
all again. What compares a key is a filter, as after --where, and counts from **enter** on:
`AQ<50`, `site=York`, `severity="very severe"`, `temperature>0`.
"""


def share_room(page: ModelsPage, rows: Sequence[Grouped], n: int) -> None:
    """Give each pane its lines: the table of n what it needs, then features, plots the rest."""
    table, features, named, plot, detail = (
        page.query_one(f"#{name}-pane")
        for name in ("models", "features", "named-items", "plot", "detail")
    )
    named.display = False
    frame = 2 if table.styles.border_bottom[0] else 1
    lines = max(page.query_one("#models-body").size.height, 2 * LEAST_LOWER)
    table.display = not page.plotting
    if not n or page.plotting:
        features.display, plot.display = False, bool(n)
        detail.display = bool(n) and page.detail_shown and page.beside
        table.styles.height = plot.styles.height = "1fr"
        return
    rated = page.basis is not None and page.basis.terms is not None
    wanted = min(n + 1 + frame, max(lines * TABLE_PART // 100, 4))
    left = lines - wanted
    if not page.beside:
        plot.display = False
        table.styles.height, detail.styles.height, features.styles.height = wanted, left, "1fr"
        features.display = page.shown_below == "features" and rated
        detail.display = not features.display
        return
    detail.display = page.detail_shown
    detail.styles.height = plot.styles.height = "1fr"
    features.display = left >= LEAST_LOWER and rated
    strip = n + AROUND + frame if features.display else 0
    items = {item.item for row in rows for part in row.results.named for item in part.items}
    if items and not rated and left >= LEAST_LOWER:
        named.display, strip = True, len(items) + 1 + frame
    plot.display = left - strip >= LEAST_LOWER or left >= 3 * LEAST_LOWER
    lower = features.display or named.display
    table.styles.height = wanted if lower or plot.display else "1fr"
    for pane in (features, named):
        pane.styles.height = min(strip, left // 2) if plot.display else "1fr"


BAR = 8
"""Columns of the bar of a share."""
HEAD = 16
"""The most columns of an examinee's name."""
TITLE = "Items · names counted as right, of those scored; the hardest first"


class NamedItems:
    """Counts the names of pictures of some rows.

    Attributes:
        items: ids, the hardest first; those that are equally hard in the order given.
    """

    def __init__(self, rows: Sequence[Grouped]) -> None:
        self._labels = [row.label for row in rows]
        self._right: list[Counter[str]] = []
        self._scored: list[Counter[str]] = []
        self._targets: dict[str, str] = {}
        for row in rows:
            given = [item for part in row.results.named for item in part.items]
            self._targets |= {item.item: item.target for item in given}
            scored = [one for one in given if one.status == "answered" and one.outcome is not None]
            self._scored.append(Counter(one.item for one in scored))
            self._right.append(Counter(one.item for one in scored if one.outcome == "right"))
        self.items = sorted(self._targets, key=self._ease)

    def _ease(self, item: str) -> float:
        n = sum(scored[item] for scored in self._scored)
        return sum(right[item] for right in self._right) / n if n else 1.0

    def lines(self, width: int) -> Iterator[Content]:
        """Yield head and items, with a column for each row; the last ones go where room ends."""
        heads = shortened_apart(self._labels, HEAD)
        columns: list[Column[str]] = [
            Column("item", lambda item: Content.styled(item, "bold")),
            Column("target", lambda item: "" if (name := self._targets[item]) == item else name),
        ]
        columns += [Column(head, partial(self._cell, at), rank=at) for at, head in enumerate(heads)]
        yield from laid(columns, self.items, width)

    def _cell(self, at: int, item: str) -> Content:
        right, scored = self._right[at][item], self._scored[at][item]
        if not scored:
            return Content(NONE)
        return Content.assemble(f"{right}/{scored} ", share_bar(right / scored, BAR))


def _id(row: Grouped | Series[Grouped]) -> object:
    return row.key if isinstance(row, Series) else key_of(row)


FEATURES_TITLE = "Features · mean share over prompts · · 0  ▅ 0.50  █ 1"
FEW = 10
"""While more rows than these are read, features and plots are drawn every so many rows."""
TOGETHER_S = 0.2
"""Rows that are read within so many seconds are drawn together."""
BELOW = ("detail", "features", "right")
"""What is below the table where there is room for one thing; with the last, right answers lead."""


class ModelsPage(Page):
    """Many administrations, model by model."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
    ]

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._rows = ReadRows()
        self._names = Names(())
        self._first: Key | None = None
        """The row that was read first, on which the cursor is until it is moved."""
        self._drawing: Timer | None = None
        """Draws the rows that were read."""
        self._lower_at = 0
        """The number of rows read when features and plots were drawn."""
        self._wanted: Basis | None = None
        self._opened: object = None
        """The key of the sweep whose rows are shown alone."""
        self.where: tuple[Filter, ...] = ()
        """Which administrations are read."""
        self.order = Order()
        self.plotting = False
        self.detail_shown = True
        self.shown_below = BELOW[0]

    def compose(self) -> ComposeResult:
        """Head, filter, then table, features and plots with the detail beside or below."""
        yield Line(id="models-head")
        yield FilterField("models-filter", FILTER_HELP, "words of the name, or filters: AQ<50")
        with Container(id="models-body"):
            with Vertical(id="models-left"):
                yield Pane(ModelsTable(), Static(id="models-none", markup=False), id="models-pane")
                yield Pane(FeatureMap(), id="features-pane")
                with Pane(title=TITLE, id="named-items-pane"), VerticalScroll():
                    yield WrappedText(lambda width: (), id="named-items")
                yield Pane(PlotPane(), id="plot-pane")
            yield Pane(ModelDetail(), id="detail-pane")

    def on_mount(self) -> None:
        """Draw cells again in the colours of another theme."""
        self.app.theme_changed_signal.subscribe(self, self._theme_changed)

    def _theme_changed(self, theme: Theme) -> None:
        self.lay_out()

    # ---------------------------------------------------------------- what is shown

    @property
    def beside(self) -> bool:
        """Whether the detail is beside the table."""
        return self.size.width >= WIDE

    @property
    def done(self) -> bool:
        """Whether every model has been read."""
        return self._rows.complete

    @property
    def by(self) -> str:
        """The id of the key of the groups."""
        return self._rows.by

    @property
    def choices(self) -> tuple[Basis, ...]:
        """The batteries and judges that can be chosen."""
        return self._rows.choices

    @property
    def basis(self) -> Basis | None:
        """The one chosen, or the one of the first row, as it is now."""
        choices, wanted = self.choices, self._wanted
        for basis in choices:
            if wanted and (basis.battery_hash, basis.terms) == (wanted.battery_hash, wanted.terms):
                return basis
        here = wanted and any(one.battery_hash == wanted.battery_hash for one in choices)
        return wanted if here else choices[0] if choices else None

    @property
    def shown(self) -> list[Grouped]:
        """The rows in the table, in their order."""
        listed = self._listed
        opened = listed and isinstance(listed[0], Series) and listed[0].key == self._opened
        return [row for row in listed if isinstance(row, Grouped)] if opened else self._found

    @property
    def _found(self) -> list[Grouped]:
        basis, (words, _) = self.basis, self._asked()
        return [] if basis is None else chosen(self._rows.all, basis, words, self.order)

    @property
    def _sweeps(self) -> dict[Key, Series[Grouped]]:
        """The sweep that is shown for a row; with words to look for, or one sweep alone, none.

        Rows that are not read yet count, so that no row moves into a sweep while others are read.
        """
        known = [row for row in self._rows.known if self._in_basis(row)]
        rows = [] if self._asked()[0] else in_series(known, first_given, least=LEAST_ROWS)
        several = [row for row in rows if isinstance(row, Series)] if len(rows) > 1 else []
        return {key_of(row): series for series in several for row in series.members}

    def _folded(self, rows: Sequence[Grouped]) -> list[Grouped | Series[Grouped]]:
        """Return rows with those of a sweep as one; of the opened sweep its rows too, alone."""
        sweeps = self._sweeps
        own: dict[Hashable, list[Grouped]] = {}
        for row in rows:
            if (one := sweeps.get(key_of(row))) is not None:
                own.setdefault(one.key, []).append(row)
        several = {
            one.key: replace(one, members=tuple(own[one.key]))
            for one in sweeps.values()
            if one.key in own
        }
        for opened in several.values():
            if opened.key == self._opened:
                return [opened, *opened.members]
        return [*(row for row in rows if key_of(row) not in sweeps), *several.values()]

    @property
    def _listed(self) -> list[Grouped | Series[Grouped]]:
        """What the table has: rows and sweeps, or one sweep with its rows."""
        return self._folded(self._found)

    @property
    def current(self) -> Grouped | None:
        """The row under the cursor."""
        return self._rows.get(self.query_one(ModelsTable).chosen)

    @property
    def selected(self) -> list[Grouped]:
        """Those of the rows shown that are marked, in the order marked."""
        return self._rows.selected(self._found)

    def administrations(self) -> tuple[int, ...]:
        """Return the numbers of the marked models' administrations, or of all that are shown."""
        rows = self.selected or self.shown
        return tuple(member.administration.id for row in rows for member in row.group.members)

    def begin(self, by: str | None = None) -> None:
        """Everything is read again; rows stay until theirs has come, if the grouping is the
        same.
        """
        other = by is not None and by != self.by
        self._rows.begin(by or self.by)
        self._lower_at = 0
        if other:
            self.lay_out()
        else:
            self._head()

    def grow(
        self,
        row: Grouped | None,
        done: int,
        total: int,
        rater: str = "",
        known: Sequence[Grouped] = (),
    ) -> None:
        """One more model has been read."""
        if known:
            self._rows.expect(known)
        if row is not None and self._wanted is None:
            # Once, so that nothing that is read later changes what is shown.
            own = bases([row])
            judged = (one for one in own if one.terms is not None and one.terms.rater == rater)
            self._wanted = next(judged, own[0])
        if row is not None and not self._rows.all:
            self._first = key_of(row)
        self._rows.add(row, done, total)
        if row is None and total:
            self._head(self.shown)
        elif done in (1, total):
            self._draw()
        elif self._drawing is None:
            self._drawing = self.set_timer(TOGETHER_S, self._draw)

    def _draw(self) -> None:
        """Show what has been read."""
        if self._drawing is not None:
            self._drawing.stop()
            self._drawing = None
        done, total = self._rows.done, self._rows.total or 0
        lower = total <= FEW or done == total or done - self._lower_at >= FEW
        if lower:
            self._lower_at = done
        self.lay_out(lower=lower)
        table = self.query_one(ModelsTable)
        if done == total and self._first is not None and table.chosen == self._first:
            table.go(0)
        self._first = None if done == total else self._first

    def renew(self, rows: Sequence[Grouped]) -> None:
        """Show rows that were read again, because something was stored; nothing else moves."""
        self._rows.renew(rows)
        self.lay_out()

    def lay_out(self, *, lower: bool = True) -> None:
        """Show everything as it stands now; the cursor stays on its row."""
        basis, listed = self.basis, self._listed
        rows = [row for row in listed if not isinstance(row, Series)]
        self._head(self.shown)
        share_room(self, rows, len(listed))
        table, none = self.query_one(ModelsTable), self.query_one("#models-none", Static)
        table.set_class(not listed, "-empty")  # not hidden: it keeps the focus
        none.display = not listed
        if basis is None or not listed:
            table.show((), ())
            none.update(self._why_none())
            return
        right_first = self.shown_below == BELOW[2]
        known = [row for row in self._rows.known if self._in_basis(row)]
        self._names = names = Names(rows if self._asked()[0] else [
            row for row in self._folded(known) if isinstance(row, Grouped)
        ])  # fmt: skip
        columns = columns_of(
            rows, basis, self.by, self.order,
            marked=self._rows.marked, right_first=right_first, names=names,
        )  # fmt: skip
        if names.common:
            pane = self.query_one("#models-pane", Pane)
            pane.border_title = f"{pane.border_title} · {names.common}"
        table.opened = self._opened
        table.curves = {
            row.key: self._curves(row, basis) for row in listed if isinstance(row, Series)
        }
        table.show(columns, listed, ids=_id, measured=rows)
        named = [*map(names.renamed, rows)]
        if lower and self.query_one("#features-pane").display:
            self.query_one(FeatureMap).show(named, basis, self.current)
            if names.keys:
                pane = self.query_one("#features-pane", Pane)
                pane.border_title = f"{FEATURES_TITLE} · {', '.join(names.telling)}"
        if lower and self.query_one("#named-items-pane").display:
            self.query_one("#named-items", WrappedText).show(NamedItems(named).lines)
        if lower and self.query_one("#plot-pane").display:
            self.query_one(PlotPane).show(named, basis)
        self._detail()

    def _curves(self, series: Series[Grouped], basis: Basis) -> Content:
        """Return the small lines of a sweep, once all its rows are read."""
        if not self.done:
            return Content.styled("…", QUIET)
        judges = [row.judge(basis.terms) for row in series.members]
        burdens = [None if one is None else one.burden.symptom_burden.value for one in judges]
        return series_lines(
            [first_given(row) for row in series.members],
            {"burden": burdens, "right": [row.right.value for row in series.members]},
        )

    def _why_none(self) -> str:
        """Return why there is no row."""
        words = self.query_one(FilterField).value
        if self.basis is None:
            return "There are no answers yet; F2 begins an administration." if self.done else ""
        there = [row for row in self._rows.all if self._in_basis(row)]
        names = "\n".join(f"  {row.label}" for row in there)
        one = self.by if self.by == "model" else "group"
        return (
            f'No {one} has "{words}" in its name. esc in the field shows all {len(there)}:\n\n'
            f"{names}"
        )

    def _in_basis(self, row: Grouped) -> bool:
        return self.basis is not None and row.battery.content_hash == self.basis.battery_hash

    def _head(self, shown: Sequence[Grouped] = ()) -> None:
        state = self._rows.progress(shown)
        basis, column = self.basis, self.order.column
        marked = f"{len(self._rows.marked)} marked" if self._rows.marked else ""
        head = self.query_one("#models-head", Line)
        room = (head.content_size.width or self.size.width) - len(marked) - bool(marked)
        words = "" if basis is None else basis.line(room)
        head.show(Content.styled(words, QUIET), Content.styled(marked, "bold"))
        name = self.by if column == "model" else column.removeprefix(RIGHT)
        order = f"by {name.replace('-', ' ')} {self.order.arrow}"
        pane = self.query_one("#models-pane", Pane)
        pane.border_title = f"Results by {self.by} · {state} · {order}"
        self.query_one("#features-pane", Pane).border_title = FEATURES_TITLE

    def _detail(self) -> None:
        current = self.current
        pane = self.query_one("#detail-pane", Pane)
        room = pane.size.width - len("── ──")
        pane.border_title = "" if current is None else self._names.title(current, room)
        if pane.display:
            self.query_one(ModelDetail).show_model(current, self.basis)

    def on_resize(self, event: Resize) -> None:
        """Put the detail beside or below the table, which has its new width after that."""
        self.set_class(self.beside, "-beside")
        self.call_after_refresh(self.lay_out)

    def focus_inside(self) -> None:
        """Give the keys to table or plot."""
        (self.query_one(PlotScroll) if self.plotting else self.query_one(ModelsTable)).focus()

    # ---------------------------------------------------------------- what keys do

    def take(self, basis: Basis) -> None:
        """Show the burdens of this judge."""
        self._wanted = basis
        self.lay_out()

    def _sort_by(self, order: Order) -> None:
        if order != self.order:
            self.order = order
            self.lay_out()

    def sort(self) -> None:
        """Sort by the next column shown."""
        self._sort_by(self.order.after([one.name for one in self.query_one(ModelsTable).columns]))

    def reverse(self) -> None:
        """Reverse the order."""
        self._sort_by(self.order.chosen(self.order.column))

    def mark(self) -> None:
        """Mark the row under the cursor, or not any more."""
        if self.plotting:
            self.notify("Rows are marked in the table: g shows it.", markup=False)
            return
        if self.current is None:
            return
        key = key_of(self.current)
        self._rows.turn_mark(key)
        self.lay_out(lower=False)

    def plot(self) -> None:
        """From table to plots and back."""
        self.plotting = not self.plotting
        self.lay_out()
        self.focus_inside()

    def below(self) -> None:
        """Change the view: burdens or right answers first; where it is narrow, features too."""
        views = (BELOW[0], BELOW[2]) if self.beside else BELOW
        at = views.index(self.shown_below) if self.shown_below in views else 0
        self.shown_below = views[(at + 1) % len(views)]
        self.lay_out()
        self.focus_inside()

    def command(self) -> str:
        """Return the command line that prints the same table."""
        numbers, where = self._choosing()
        words = ["tabwb", "results", *numbers, "--by", self.by]
        words += [part for one in (*self.where, *where) for part in ("--where", str(one))]
        words += ["--store", self.desk.location] if self.desk.location else []
        return shlex.join(words)

    def _choosing(self) -> tuple[list[str], list[str]]:
        """Return numbers or filters that choose the rows of the opened sweep, and no others."""
        listed = self._listed
        if not listed or not isinstance(series := listed[0], Series) or series.key != self._opened:
            return [], []

        def given(rows: Iterable[Grouped]) -> list[Administration]:
            return [one.administration for row in rows for one in row.group.members]

        numbers = {one.id for one in given(series.members)}
        first = first_given(series.members[0])
        battery = first.battery, first.battery_version
        tagged = {
            one.id
            for one in given(self._rows.all)
            if series.name in one.tags and (one.battery, one.battery_version) == battery
        }
        if tagged == numbers:
            return [], [f"tag={series.name}", f"battery={' '.join(battery)}"]
        return [*map(str, sorted(numbers))], []

    def open_title(self) -> str | None:
        """Return what the page shows."""
        return f"results by {self.by}"

    def foot_rank(self, command: Command) -> int:
        """Return a command's place in the footer; what can be done with one row comes early."""
        if command.id == "results.basis" and len(self.choices) > 1:
            return 2
        if command.id == "results.group":
            return 1 if len(self._rows.all) == 1 else 5
        return super().foot_rank(command)

    def foot_word(self, command: Command) -> str:
        """Return the word of a command in the footer; the detail stands in place of the scores."""
        return "Detail" if command.id == "view.scores" else command.foot

    def toggle_side(self) -> bool:
        """Show or hide one model's detail in place of the score panel."""
        if self.beside:
            self.detail_shown = not self.detail_shown
            self.lay_out()
            self.focus_inside()
        else:
            self.below()
        return True

    def show_detail(self) -> None:
        """Show one model's detail, beside or below the table."""
        self.detail_shown = True
        if not self.beside:
            self.plotting, self.shown_below = False, BELOW[0]
        self.lay_out()

    def filter(self) -> None:
        """Ask for words."""
        self.query_one(FilterField).open()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Those that match."""
        event.stop()
        self.lay_out()

    def _asked(self) -> tuple[str, tuple[Filter, ...]]:
        """Return the words and the filters of the field; those before where it has an error."""
        text = self.query_one(FilterField).value
        try:
            return words_and_filters(text)
        except UsageError:  # it is being typed
            return "", self.where

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Back to the table, with what the filters choose; without words the field goes."""
        event.stop()
        try:
            _, where = words_and_filters(event.value)
        except UsageError as error:
            self.show_message(str(error))
            return
        if where != self.where:
            self.desk.actions(ComparisonActions).choose(where)
        self.query_one(FilterField).display = bool(event.value)
        self.lay_out()
        self.focus_inside()

    @on(RowList.Highlighted, "#models-table")
    def _show_current(self) -> None:
        """Show the model under the cursor."""
        self._detail()
        if self.query_one("#features-pane").display:
            self.query_one(FeatureMap).mark(self.current)

    @on(RowList.Highlighted, "#feature-cells")
    def _follow_cell(self, event: RowList.Highlighted) -> None:
        """Move to the model of the marked cell."""
        if event.list.has_focus:
            self.query_one(ModelsTable).choose(key_of(event.value))

    @on(RowList.Selected)
    def _open(self, event: RowList.Selected) -> None:
        """Open the results of a model; of a feature, the responses on which judges differ."""
        actions = self.desk.actions(ComparisonActions)
        if isinstance(event.list, ModelsTable) and isinstance(event.value, Series):
            self._opened = None if self._opened == event.value.key else event.value.key
            self.lay_out()
            self.query_one(ModelsTable).go(0 if self._opened is not None else event.row)
        elif isinstance(event.list, ModelsTable):
            if self.current is not None:
                actions.open_model(self.current)
        else:
            is_detail = isinstance(event.list, ModelDetail)
            feature = event.list.chosen if is_detail else self.query_one(FeatureMap).feature
            if feature is not None:
                actions.differ_on(feature)

    def on_row_list_head_clicked(self, event: RowList.HeadClicked) -> None:
        """Sort by what was clicked."""
        event.stop()
        self._sort_by(self.order.chosen(event.column.name))
