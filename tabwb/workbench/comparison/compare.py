"""The dialogs of two models side by side, and of responses on which judges differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.console import Group
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from tabwb.analysis.measures import BURDEN
from tabwb.analysis.paired import Contrast, Tested
from tabwb.battery.model import Battery
from tabwb.media.views.contrasts import Named, means, measures, notes, tests
from tabwb.media.views.naming import naming_difference
from tabwb.media.wording import figure, signed
from tabwb.scoring.word_difference import Piece, word_difference
from tabwb.workbench.shell.columns import Column, Heading, laid
from tabwb.workbench.shell.dialogs import Dialog, ScrollPane
from tabwb.workbench.shell.drawn import interval_bar
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Pane, ReportView, WrappedText
from tabwb.workbench.shell.wording import (
    ACCENT,
    LINE,
    QUIET,
    folded,
    side_by_side,
    spread,
    styled,
    verdict_words,
)

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Compared, Difference, SideBySide
    from tabwb.analysis.judges import Disagreements, Disputed


VERDICTS_BESIDE = 120
"""From so many columns on a response is beside the list of responses."""
MOST_DISPUTED = 500
DIFFERING_HELP = """\
# Where judges differ

The responses that at least two judges have judged, the most disputed first. The number is the mean
absolute difference between all pairs of judges: of probabilities where a judge gives one, else of
its verdict (present 1, absent 0). Beside or below the list are the marked response and each judge's
verdict and reason.

Up and down move, **tab** goes to the response to scroll it, **esc** closes.
"""


def verdicts(disputed: Disputed, width: int) -> Iterator[Content]:
    """Yield one response with every judge's verdict."""
    width = min(width, 100)
    yield from folded(disputed.item.prompt.replace("\n", " "), width, QUIET)
    yield from folded(disputed.response or "(nothing)", width)
    for judge in disputed.said:
        words = verdict_words(judge.verdict, judge.probability)
        yield Content("")
        yield Content.assemble((words, "bold"), "  ", judge.judge)
        if judge.verdict is not None and judge.verdict.reason:
            yield from folded(judge.verdict.reason.replace("\n", " "), width, QUIET, 4)


def _present(disputed: Disputed) -> str:
    present = sum(bool(judge.verdict and judge.verdict.value) for judge in disputed.said)
    asked = sum(judge.score is not None for judge in disputed.said)
    return f"{present} of {asked} present"


DISPUTED: Sequence[Column[Disputed]] = (
    Column("", lambda one: figure(one.distance), right=True, style="bold"),
    Column("", _present),
    Column("", lambda one: one.item.id, style=QUIET),
    Column("", lambda one: " ".join(one.response.split())[:200], least=20, end=True),
)


class DifferingScreen(Dialog[None]):
    """A list of responses, and below it the one that is marked."""

    CSS_PATH = "differing.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "dismiss(None)", "Close", show=False),
        Binding("tab", "app.focus_next", show=False),
    ]

    def __init__(self, disagreements: Disagreements, battery: Battery, label: str) -> None:
        super().__init__()
        self._disagreements, self._label = disagreements, label
        titles = {feature.id: feature.title for feature in battery.features}
        self._title = titles.get(disagreements.feature, disagreements.feature)

    def compose(self) -> ComposeResult:
        """Title, list, text."""
        title = f"Where judges differ on {self._title}"
        with Vertical(classes="dialog"):
            yield Static(title, classes="dialog-title", markup=False)
            yield Static(self._counts(), id="differing-told", markup=False)
            with Container(id="differing-body"):
                yield Pane(
                    RowList(id="disputed", help_text=DIFFERING_HELP, opens=False),
                    title="Responses, most disputed first",
                    id="disputed-pane",
                )
                text = WrappedText(lambda width: (), id="verdicts")
                scroll = ScrollPane(text, id="verdict-scroll", help_text=DIFFERING_HELP)
                yield Pane(scroll, title="Response and verdicts", id="verdict-pane")
            yield Static("arrows Move   tab Response   esc Close", classes="dialog-note")

    def on_mount(self) -> None:
        """The most disputed one."""
        disputed = self._disagreements.disputed
        self.query_one("#differing-body").display = bool(disputed)
        self.query_one(RowList).show(DISPUTED, disputed[:MOST_DISPUTED], ids=id)

    def on_resize(self, event: Resize) -> None:
        """Put the response beside the list where there is room."""
        self.set_class(event.size.width >= VERDICTS_BESIDE, "-beside")

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Show that one below."""
        disputed = event.value
        at, n = event.row + 1, len(self._disagreements.disputed)
        self.query_one(
            "#verdict-pane", Pane
        ).border_title = (
            f"{disputed.item.id} · {at} of {n} · mean difference {figure(disputed.distance)}"
        )
        self.query_one(WrappedText).show(partial(verdicts, disputed))
        self.query_one(ScrollPane).scroll_home(animate=False)

    def _counts(self) -> Content:
        judges, disputed = self._disagreements.judges, self._disagreements.disputed
        if len(judges) < 2:
            who = f"only {judges[0]} has" if judges else "no judge has"
            return Content(
                f"{self._label}: {who} this feature in its set. Another judge can be added "
                "with: tabwb judge run ID --judge SPEC"
            )
        split = sum(response.split for response in disputed)
        words = (
            f"{self._label}: of {self._disagreements.compared} responses with two or more "
            f"verdicts, verdicts are split on {split}"
        )
        if len(disputed) > split:
            words += f", and only probabilities differ on {len(disputed) - split}"
        if len(disputed) > MOST_DISPUTED:
            words += f"; the first {MOST_DISPUTED} are listed"
        return Content.styled(f"{words}.", QUIET)


WIDE_TABLE = 100
"""From so many columns on a measure and its test are in one line."""
AXIS = (20, 48)
"""The least and the most columns of a drawn interval in a wide window."""
BESIDE = 60
"""From so many columns on the two answers are side by side."""
MOST_COLUMNS = 72
"""The most columns of one answer."""
MOST_ANSWERS = 5
"""So many different responses of each side to one item are shown."""


def difference_lines(found: Compared, compared: Sequence[Named], width: int) -> Iterator[Content]:
    """Yield each measure with its difference, the drawn interval and the test; then notes."""
    rows = [row for _, row in compared if row is not None]
    burdens = [row for row in rows if row.measure is BURDEN]
    ends = [
        abs(end)
        for row in burdens
        for end in (row.difference, *row.like.ends, *row.these.ends)
        if end
    ]
    most = max(ends, default=1.0)
    columns = [*_columns(most)]
    if width >= WIDE_TABLE and compared:
        yield from laid(columns, [*_rows(compared, width)], width)
    elif compared:
        yield from laid(columns[1:5], [*_narrow(compared, width)], width)
    reasons = {tests(row.these)[0] for row in rows if row.these.ends[0] is None} - {""}
    if compared:
        yield Content("")
        told = ["│ no difference; intervals are for prompts like these unless said otherwise"]
        if burdens:
            told.append(
                f"axis of burdens from {signed(-most)} to {signed(most)}, of shares from -1 to +1"
            )
        told += [f"these prompts: {reason}" for reason in sorted(reasons)]
        for note in (*told, *notes(found)):
            yield from folded(note, min(width, 100), QUIET)


class _Row(NamedTuple):
    """A line of the table: one test of a measure."""

    title: str
    row: Contrast
    tested: Tested

    @property
    def again(self) -> bool:
        """Whether the line above has the same measure, for prompts like these."""
        return self.tested is not self.row.like


def _rows(compared: Sequence[Named], width: int) -> Iterator[_Row | Heading]:
    for title, row in compared:
        if row is None:
            yield from map(Heading, folded(title, width, QUIET))
            continue
        yield _Row(title, row, row.like)
        if row.these.ends[0] is not None:
            yield _Row(f"  {row.these.interval.estimand.value}", row, row.these)


def _columns(most: float) -> Iterator[Column[_Row]]:
    """Yield the columns of a wide table; the axis of burdens ends at ``most``."""
    yield Column("measure", lambda one: _told(one, one.title), least=20)
    for at, head in enumerate(("A", "B", "A - B")):
        yield Column(head, partial(_mean, at), right=True, style="bold")
    yield Column(
        lambda width: spread(Content("A lower"), Content("A higher"), width).stylize(QUIET),
        lambda one, width: _bar(one.row, one.tested, most, width),
        grow=AXIS,
    )
    for at, head in enumerate(("95 %", "p", "corr.")):
        yield Column(head, partial(_test, at), right=True)


def _told(one: _Row, words: str) -> Content:
    return Content.styled(words, QUIET if one.again else "")


def _mean(at: int, one: _Row) -> str:
    return "" if one.again else means(one.row)[at]


def _test(at: int, one: _Row) -> Content:
    return _told(one, tests(one.tested)[at])


def _narrow(compared: Sequence[Named], width: int) -> Iterator[_Row | Heading]:
    """Yield each measure between its title and its tests in words."""
    for title, row in compared:
        yield from map(Heading, folded(title, width, QUIET if row is None else ""))
        if row is None:
            continue
        yield _Row("", row, row.like)
        for tested in (row.like, row.these):
            if tested is row.like or tested.ends[0] is not None:
                interval, p, adjusted = tests(tested)
                what = "95 %" if tested is row.like else tested.interval.estimand.value
                told = [f"p {p}"] * bool(p) + [f"corrected {adjusted}"] * bool(adjusted)
                words = f"{what} {', '.join((interval, *told))}"
                yield from map(Heading, folded(words, width, QUIET, 2))


def _bar(row: Contrast, tested: Tested, most: float, width: int) -> Content:
    """Return a difference with its interval around 0, which has its own stroke."""
    end = most if row.measure is BURDEN else 1.0
    low, high = tested.ends
    value = row.difference
    drawn = interval_bar(low, value, high, width=width, lowest=-end, highest=end)
    zero = round((width - 1) / 2)
    sign = {" ": ("│", LINE), "─": ("┼", ACCENT)}.get(drawn.plain[zero])
    return Content.assemble(drawn[:zero], sign, drawn[zero + 1 :]) if sign else drawn


def mark_of(responses: Sequence[str], right: float | None) -> str:
    """Return the sign of a side's responses to an item: the share right of several.

    >>> mark_of(["boat"], 1.0), mark_of(["boat"], None), mark_of(["a", "b"], 0.5), mark_of([], None)
    ('✓', '●', '0.50', '·')
    """
    if not responses:
        return "·"
    return {None: "●", 1.0: "✓", 0.0: "✗"}.get(right, figure(right))


def answer_lines(item: SideBySide, width: int) -> Iterator[Content]:
    """Yield an item with the responses of both sides, words underlined that the other one lacks."""
    yield from folded(item.prompt.replace("\n", " "), min(width, 100), QUIET)
    if item.expected:
        yield from folded(f"expected: {item.expected}", width, QUIET)
    room = min((width - 3) // 2, MOST_COLUMNS)
    beside = width >= BESIDE
    for at in range(min(max(len(item.first), len(item.second)), MOST_ANSWERS) or 1):
        yield Content("")
        texts = [side[at] if at < len(side) else None for side in (item.first, item.second)]
        pieces: list[tuple[Piece, ...]] = [(Piece(text or "", False),) for text in texts]
        told = ""
        if texts[0] is not None and texts[1] is not None:
            found = word_difference(texts[0], texts[1])
            pieces = [found.first, found.second]
            told = found.words.replace("the first", "A").replace("the second", "B")
        column = room if beside else min(width, MOST_COLUMNS)
        first = _side("A", item, texts[0], pieces[0], column)
        second = _side("B", item, texts[1], pieces[1], column)
        yield from side_by_side(first, second, room) if beside else (*first, *second)
        yield from folded(told, width, QUIET)
    for name, side in (("A", item.first), ("B", item.second)):
        if len(side) > MOST_ANSWERS:
            yield Content.styled(f"{name}: {len(side) - MOST_ANSWERS} other responses", QUIET)


def _side(
    name: str, item: SideBySide, text: str | None, pieces: Sequence[Piece], width: int
) -> list[Content]:
    given, right = (
        (item.first, item.first_right) if name == "A" else (item.second, item.second_right)
    )
    mark = Content(mark_of(given, right))
    head = spread(Content.styled(name, f"bold {ACCENT}"), mark, width)
    if text is None:
        return [head, Content.styled("not answered" if not given else "-", QUIET)]
    return [head, *(styled(pieces, width) if text else [Content.styled("(nothing)", QUIET)])]


WIDE = 120
"""From so many columns on the list of items is wide enough for their prompts."""
TALL = 34
"""From so many lines on differences and answers are shown at once."""
HELP = """\
# Two models

Above are the measures over the items that both have: mean of A, of B, the difference with its 95 %
interval drawn from A lower to A higher (│ no difference), its p value, and p corrected for the
other tests. Below are the items and both answers: words that the other answer lacks are
underlined; ✓ right, ✗ wrong, ● nothing to be right or wrong.

**a** changes between the items answered differently and all; **t** changes between differences and
items where there is not room for both; **up** and **down** go through the items, **tab** to the
next pane; **esc** closes.
"""


class CompareScreen(Dialog[None]):
    """Two models side by side."""

    CSS_PATH = "compare.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "everything", "All", show=False),
        Binding("t", "turn", "Turn", show=False),
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
        Binding("q,c", "dismiss(None)", "Close", show=False),
    ]

    def __init__(
        self, difference: Difference, battery: Battery, conditions: Sequence[str] = ("", "")
    ) -> None:
        super().__init__()
        self._difference, self._conditions = difference, conditions
        self._measures = tuple(measures(difference.found, battery))
        self._everything = False
        self._items_first = False
        self._listed: tuple[SideBySide, ...] = ()

    def compose(self) -> ComposeResult:
        """Yield who A and B are, differences, items, answers, keys."""
        difference = self._difference
        with Vertical(classes="dialog"):
            names = (difference.found.first, difference.found.second)
            for side, name, words in zip("AB", names, self._conditions, strict=True):
                title = Content.assemble(
                    (f"{side}  ", f"bold {ACCENT}"), (name, "bold"), (f"  {words}", QUIET)
                )
                yield Static(title, classes="side")
            differences = WrappedText(self._differences, id="comparison")
            yield Pane(
                ScrollPane(
                    differences,
                    ReportView(id="comparison-named"),
                    id="comparison-pane",
                    help_text=HELP,
                ),
                title="Differences · A - B",
                id="differences-pane",
            )
            with Horizontal(id="compared-items"):
                with Pane(id="items-pane"):
                    yield RowList(id="items-list", help_text=HELP, opens=False)
                with Pane(id="answers-pane"), ScrollPane(id="answers-scroll", help_text=HELP):
                    yield WrappedText(self._answers, id="answers")
            yield Static(id="compare-keys", classes="dialog-note")

    def on_mount(self) -> None:
        """Show the items that are answered differently."""
        self._list()
        self._lay_out()

    def on_resize(self, event: Resize) -> None:
        """Show both parts, and prompts of items, where there is room for them."""
        self._lay_out()

    def _lay_out(self) -> None:
        items = bool(self._difference.items)
        slim = self.size.width < WIDE
        self.set_class(slim, "-slim")
        unlike, n = (
            sum(item.differs for item in self._difference.items),
            len(self._difference.items),
        )
        title = (
            f"{unlike} of {n} differ" if slim else f"Items · {unlike} of {n} answered differently"
        )
        self.query_one("#items-pane", Pane).border_title = title
        both = self.size.height >= TALL and items
        shown, list_shown = self.query_one("#differences-pane"), self.query_one("#compared-items")
        shown.display = both or not items or not self._items_first
        list_shown.display = both or (items and self._items_first)
        turn = "" if both or not items else "t Differences or items   "
        self.query_one("#compare-keys", Static).update(
            f"a All items or those that differ   {turn}tab Next pane   esc Close"
        )

    def _list(self) -> None:
        items = self._difference.items
        self._listed = tuple(item for item in items if self._everything or item.differs)
        self.query_one(RowList).show(ITEMS, self._listed, current=0)
        self._show()
        views = [
            view
            for named in self._difference.named
            for view in naming_difference(named, everything=self._everything)
        ]
        self.query_one("#comparison-named", ReportView).show(Group(*views))

    def _differences(self, width: int) -> Iterator[Content]:
        yield from difference_lines(self._difference.found, self._measures, max(width, 40))

    def _answers(self, width: int) -> Iterator[Content]:
        item = self._marked
        if item is None:
            yield Content.styled("All items are answered alike; a shows them.", QUIET)
        else:
            yield from answer_lines(item, max(width, 30))

    @property
    def _marked(self) -> SideBySide | None:
        at = self.query_one(RowList).current
        return self._listed[at] if 0 <= at < len(self._listed) else None

    def _show(self) -> None:
        item = self._marked
        self.query_one("#answers-pane", Pane).border_title = "" if item is None else item.item
        self.query_one("#answers", WrappedText).refresh(layout=True)
        self.query_one("#answers-scroll").scroll_home(animate=False)

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Show what both said to the marked item."""
        event.stop()
        self._show()

    def action_everything(self) -> None:
        """List all items, or only those that differ."""
        self._everything = not self._everything
        self._list()

    def action_turn(self) -> None:
        """Show differences or items, where there is not room for both."""
        self._items_first = not self._items_first
        self._lay_out()
        target = RowList if self._items_first else "#comparison-pane"
        self.query_one(target).focus()


ITEMS: Sequence[Column[SideBySide]] = (
    Column("item", lambda item: item.item),
    Column("A", lambda item: mark_of(item.first, item.first_right), right=True),
    Column("B", lambda item: mark_of(item.second, item.second_right), right=True),
    Column("prompt", lambda item: item.prompt, rank=1, least=16, end=True, style=QUIET),
)
"""The columns of the items."""
