"""The page: answers that raters differ on, most first, and everything said of the marked one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Resize

from tabwb.analysis.names import judge_names
from tabwb.records.words import plural
from tabwb.workbench.adjudication.controller import SIGNS, WHICH, AdjudicationController
from tabwb.workbench.adjudication.view_models import AdjudicationView, Row
from tabwb.workbench.shell.columns import Column, shortened
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import AskWords, PickScreen, ScrollPane
from tabwb.workbench.shell.drawn import bar
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Line, Pane, WrappedText
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded, key_lines

HELP = """\
# Adjudication

One line for each answer on which raters differ; those on which people differ most come first. A
line shows the share of pairs of people who differ, the share of pairs of a person and a judge who
differ, the answer of each person and of each judge. ▣ present, □ absent, ? cannot
tell, - not rated; ✓ settled. Below (at the right in a wide window) are the text as raters saw it,
every verdict with confidence and note, and what was settled. The source of a text is not shown.

**enter** takes a value and asks for the reason. Ratings are not changed; who settled what, when and
why is kept, and **u** or **x** takes it back. **l** plays a spoken response.
"""
BESIDE = 124
"""From so many columns on the details are beside the list."""
NONE = {
    "open": "Nothing is open: raters agree so far, or everything is settled.",
    "settled": "Nothing is settled.",
    "all": "All raters agree.",
}
ABOUT = (
    "Answers on which raters and judges of a rating set differ are settled here: each gets one "
    "value with a reason, and the ratings stay as they are. An answer is listed when two raters "
    "differ on it."
)
KEYS = (
    ("enter", "settle the marked answer: present, absent or cannot tell, with a reason"),
    ("t", "show the answers that are open, those that are settled, or all"),
    ("/", "show the answers to one question"),
    ("esc", "return to the rating sets, where r opens the rating screen"),
)
"""What can be done, while no answer is listed."""


class AdjudicationPage(Page):
    """The page."""

    EXPLORER_DOCK = False  # it lists who answered

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._view: AdjudicationView | None = None
        self._judges: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        """Yield head, list and details."""
        yield Line(id="adjudication-head")
        with Container(id="adjudication-body"):
            with Pane(id="disputed-pane"):
                yield RowList(id="adjudication-list", help_text=HELP, opens=False)
            with Pane(id="dispute-pane"), ScrollPane(id="adjudication-pane", help_text=HELP):
                yield WrappedText(self._details, id="adjudication-details")

    def on_resize(self, event: Resize) -> None:
        """Put the details beside the list where there is room."""
        self.query_one("#adjudication-body").set_class(event.size.width >= BESIDE, "-wide")

    def show(self, view: AdjudicationView) -> None:
        """Show the answers, and keep the mark where it is."""
        listed = self.query_one(RowList)
        before, kept = self.marked, listed.current
        self._view = view
        self._judges = judge_names(judge for row in view.rows for judge, _ in row.dispute.judges)
        places = [row.place for row in view.rows]
        at = places.index(before.place) if before and before.place in places else kept
        listed.show(ANSWERS, view.rows, current=at)
        self._show_head(view)
        self._show_details()
        self.focus_inside()
        self.desk.show_foot()
        if view.told:
            self.show_message(view.told)

    def _show_head(self, view: AdjudicationView) -> None:
        shown = [view.which, view.measure]
        left = Content.assemble(
            (f"Disputed  {view.name}", "bold"),
            (f"  {', '.join(filter(None, shown))}; {view.counts} counts", QUIET),
        )
        right = Content.assemble(
            bar(view.settled / view.of if view.of else 0.0, 6),
            f"  {view.settled:,} of {view.of:,} settled",
        )
        self.query_one("#adjudication-head", Line).show(left, right)
        self.query_one("#disputed-pane", Pane).border_title = _counted(view.rows)

    def _show_details(self) -> None:
        row = self.marked
        self.query_one("#dispute-pane", Pane).border_title = (
            "Answer" if row is None else f"Sample {row.dispute.sample} · {row.dispute.title}"
        )
        self.query_one("#adjudication-details", WrappedText).refresh(layout=True)
        self.query_one(ScrollPane).scroll_home(animate=False)

    def _details(self, width: int) -> Iterator[Content]:
        row, width = self.marked, min(width, 100)
        if row is None:
            which = "open" if self._view is None else self._view.which
            yield Content.styled(NONE[which], "bold")
            yield Content("")
            yield from folded(ABOUT, width)
            yield Content("")
            yield from key_lines(KEYS, width)
            return
        yield from _details_of(row, width, self._judges)

    @property
    def marked(self) -> Row | None:
        """The marked answer."""
        rows = () if self._view is None else self._view.rows
        at = self.query_one(RowList).current
        return rows[at] if 0 <= at < len(rows) else None

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Show the details of the marked answer."""
        event.stop()
        self._show_details()
        self.desk.show_foot()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Take a value for it."""
        event.stop()
        self.take_value()

    def focus_inside(self) -> None:
        """Give the keys to the list."""
        self.query_one(RowList).focus()

    def foot_rank(self, command: Command) -> int:
        """Return the place in the footer; 0 keeps out what cannot be done with this answer."""
        row = self.marked
        usable = {
            "administer.take-value": row is not None,
            "administer.listen": row is not None and row.shown.seconds is not None,
            "administer.withdraw": row is not None and row.dispute.settled is not None,
            "administer.undo-settled": self._view is not None and self._view.settled > 0,
        }
        return super().foot_rank(command) if usable.get(command.id, True) else 0

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return "adjudication" if self._view is None else f"adjudication of {self._view.name}"

    # ---------------------------------------------------------------- commands

    @property
    def _controller(self) -> AdjudicationController:
        return self.desk.controller(AdjudicationController)

    def take_value(self) -> None:
        """Ask for the value and the reason."""
        row = self.marked
        if row is None:
            return
        lines = [
            _choice_line(row, choice.answer, choice.words, self._judges) for choice in row.choices
        ]
        if row.free:
            lines.append(Content("other words …"))
        title = f"Sample {row.dispute.sample}, {row.dispute.title}: which value?"

        def picked(at: int | None) -> None:
            if at is None:
                return
            if at < len(row.choices):
                choice = row.choices[at]
                self._ask_reason(row, choice.answer, choice.words)
            else:
                self.app.push_screen(AskWords(title, "Words, or phonemes"), typed)

        def typed(words: str | None) -> None:
            if words is not None:
                self._ask_reason(row, words, f"'{words}'")

        self.app.push_screen(PickScreen(title, lines), picked)

    def _ask_reason(self, row: Row, answer: str | float, words: str) -> None:
        def given(reason: str | None) -> None:
            if reason is not None:
                self.desk.do(partial(self._controller.settle, row.place, answer, reason))

        title = f"Sample {row.dispute.sample}, {row.dispute.title}: {words}"
        self.app.push_screen(AskWords(title, "Reason"), given)

    def listen(self) -> None:
        """Play the marked sample, or stop."""
        if (row := self.marked) is not None:
            self.desk.do(partial(self._controller.listen, row.dispute.sample))

    def undo_settled(self) -> None:
        """Take back the last settled value of this session."""
        self.desk.do(self._controller.undo)

    def withdraw(self) -> None:
        """Take back what settles the marked answer."""
        row = self.marked
        if row is None or row.dispute.settled is None:
            self.show_message("this answer is not settled")
            return
        self.desk.do(partial(self._controller.withdraw, row.place))

    def which_answers(self) -> None:
        """Show the open answers, the settled ones, or all."""
        if (view := self._view) is not None:
            after = WHICH[([*WHICH].index(view.which) + 1) % len(WHICH)]  # type: ignore[arg-type]
            self.desk.do(partial(self._controller.choose, after, view.measure))

    def which_question(self) -> None:
        """Ask for the question whose answers are shown."""
        view = self._view
        if view is None:
            return
        names = ["", *(measure for measure, _ in view.measures)]
        lines = [Content("all questions"), *(Content(title) for _, title in view.measures)]

        def picked(at: int | None) -> None:
            if at is not None:
                self.desk.do(partial(self._controller.choose, view.which, names[at]))

        self.app.push_screen(
            PickScreen("Answers to which question?", lines, names.index(view.measure)), picked
        )

    async def leave_adjudication(self) -> None:
        """Return to the page from which this one was opened."""
        from tabwb.workbench.adjudication.actions import AdjudicationActions

        await self.desk.go(self.desk.actions(AdjudicationActions).came_from)


def _counted(rows: Sequence[Row]) -> str:
    """Return how many answers are listed: people differ on some, and judges from people on others.

    Only the former are counted as settled or not.
    """
    people = sum(bool(row.dispute.people_differ) for row in rows)
    judges = sum(not row.dispute.people_differ and row.dispute.is_disputed for row in rows)
    told = [f"people differ on {people:,}"] * bool(people)
    told += [f"only judges on {judges:,}"] * bool(judges)
    return ": ".join(filter(None, (plural(len(rows), "answer"), ", ".join(told))))


def _sign(words: str) -> str:
    sign = words.partition(" ")[0]
    return sign if sign in SIGNS.values() else words


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _signs(words: Sequence[str]) -> str:
    return " ".join(map(_sign, words))


PAIRS = "share of pairs of {} who differ"
ANSWERS: Sequence[Column[Row]] = (
    Column("", lambda row: "✓" if row.settled else "", style=ACCENT),
    Column("sample", lambda row: str(row.dispute.sample), right=True),
    Column("question", lambda row: row.dispute.title, least=12, style="bold"),
    Column(
        "people differ",
        lambda row: _share(row.dispute.people_differ),
        right=True,
        rank=1,
        style=QUIET,
        tip=PAIRS.format("people"),
    ),
    Column(
        "judges differ",
        lambda row: _share(row.dispute.judges_differ),
        right=True,
        rank=2,
        style=QUIET,
        tip=PAIRS.format("a person and a judge"),
    ),
    Column("answers", lambda row: _signs(row.said), least=8, end=True, tip="of each person"),
    Column(
        "of judges",
        lambda row: _signs(row.judged),
        least=6,
        end=True,
        style=QUIET,
        tip="the answer of each judge",
    ),
)
"""The columns of the list."""


def _choice_line(row: Row, answer: str | float, words: str, judges: Mapping[str, str]) -> Content:
    who = [said.rater for said in row.dispute.verdicts if said.answer == answer]
    who += [judges[judge] for judge, value in row.dispute.judges if value == answer]
    return Content.assemble(words.ljust(18), (", ".join(who), QUIET))


def _details_of(row: Row, width: int, judges: Mapping[str, str]) -> Iterator[Content]:
    one, shown = row.dispute, row.shown
    yield from folded(row.definition, width, QUIET)
    if one.settled is not None:
        held = one.settled
        yield Content.assemble(("settled  ", ACCENT), (row.settled, "bold"))
        when = held.recorded_at[:16].replace("T", " ")
        yield from folded(f"{held.who}, {when} UTC: {held.reason}", width, "", 2)
    yield Content("")
    yield from folded(shown.prompt, width, QUIET)
    for text, style in (
        (shown.context_before, QUIET),
        (shown.text, ""),
        (shown.context_after, QUIET),
        (f"target {shown.target}" if shown.target else "", QUIET),
    ):
        yield from folded(text, width, style)
    yield Content("")
    names = [said.rater for said in one.verdicts] + [judges[judge] for judge, _ in one.judges]
    column = min(max(map(len, names), default=0), 30) + 2
    for said, words in zip(one.verdicts, row.said, strict=True):
        facts = ["not looked at"] * (said.looked_at is False)
        facts += [] if said.confidence is None else [f"confidence {said.confidence} of 3"]
        sure = ", ".join(facts)
        yield Content.assemble((said.rater.ljust(column), "bold"), words.ljust(18), (sure, QUIET))
        yield from folded(said.note, width, QUIET, column)
    for (judge, _), words in zip(one.judges, row.judged, strict=True):
        name = shortened(judges[judge], column - 2)
        yield Content.assemble(name.ljust(column), words.ljust(18), ("judge", QUIET))
    facts = [
        f"pairs of people differ {_share(one.people_differ)}",
        f"people and judges {_share(one.judges_differ)}",
        f"majority {row.majority or 'none'}",
    ]
    yield Content("")
    yield from folded(", ".join(facts), width, QUIET)
