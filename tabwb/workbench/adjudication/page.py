"""The page: answers that raters differ on, most first, and everything said of the marked one.

It gets verdicts and texts, and nothing that tells where a text is from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Resize

from tabwb.administer.rating.adjudication import Adjudicator, Dispute, Which
from tabwb.administer.rating.session import Shown
from tabwb.analysis.names import judge_names
from tabwb.battery.forms import SOURCE, Question
from tabwb.media.wording import figure
from tabwb.records.rating_sets import CANNOT_TELL, Answer, RatingSet, quoted
from tabwb.records.words import plural
from tabwb.workbench.engine.engine import Engine
from tabwb.workbench.shell.columns import Column, Heading, laid
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import AskWords, ScrollPane, pick
from tabwb.workbench.shell.drawn import bar
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Line, Pane, WrappedText
from tabwb.workbench.shell.wording import ABSENT, ACCENT, PRESENT, QUIET, folded, key_lines

if TYPE_CHECKING:
    from tabwb.speech.playback import Playback

SIGNS = {"present": PRESENT, "absent": ABSENT, "cannot tell": "?", "not rated": "-"}
WHICH: tuple[Which, ...] = ("open", "settled", "all")
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
    ("esc", "return to the rating sets, where space opens the rating screen"),
)
"""What can be done, while no answer is listed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that can be taken: as stored, and in words."""

    answer: str | float
    words: str


@dataclass(frozen=True, slots=True)
class Row:
    """One answer of one sample.

    Attributes:
        definition: of the question.
        said: of each person in order the answer in words, with a sign where it has one.
        judged: of each judge.
        majority, settled: in words; empty without one.
        choices: values that can be taken; of words and phonemes those that people gave.
        free: whether other words can be taken too.
    """

    dispute: Dispute
    shown: Shown
    definition: str
    said: tuple[str, ...]
    judged: tuple[str, ...]
    majority: str
    settled: str
    choices: tuple[Choice, ...]
    free: bool

    @property
    def place(self) -> tuple[int, str]:
        """Sample and measure."""
        return self.dispute.sample, self.dispute.measure


@dataclass(frozen=True, slots=True)
class AdjudicationView:
    """What the page shows.

    Attributes:
        name: of the rating set.
        counts: whose ratings count.
        settled, of: answers that people differ on, and how many of them are settled.
        which: ``open``, ``settled`` or ``all``.
        measure: the only one shown; empty: all.
        measures: (measure, title) of every question.
        rows: most different first.
        told: what was done last, in words; may be empty.
    """

    name: str
    counts: str
    settled: int
    of: int
    which: Which
    measure: str
    measures: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    told: str = ""


class Settling:
    """Reads what raters of a set, by id or name, differ on, and settles it: in the worker's thread.

    What changes something returns what the page shows then.
    """

    def __init__(self, engine: Engine, reference: int | str) -> None:
        self._adjudicator = Adjudicator(engine.store, engine.plugins, reference)
        self._playing: Playback | None = None

    def view(self, which: Which = "open", measure: str = "", told: str = "") -> AdjudicationView:
        """Return some answers; an empty measure is all."""
        adjudicator = self._adjudicator
        found = adjudicator.disputes(which=which, measures=(measure,) if measure else ())
        settled, of = adjudicator.progress()
        return AdjudicationView(
            adjudicator.set.name,
            adjudicator.set.counts,
            settled,
            of,
            which,
            measure,
            tuple(
                (one.measure, one.title)
                for one in adjudicator.form.questions
                if one.measure != SOURCE
            ),
            tuple(map(self._row, found)),
            told,
        )

    def settle(self, place: tuple[int, str], answer: str | float, reason: str) -> str:
        """Take a value; return what was done."""
        adjudicator = self._adjudicator
        if isinstance(answer, str) and answer != CANNOT_TELL:
            answer = adjudicator.read(place[1], answer)
        adjudicator.settle(*place, answer, reason)
        return f"sample {place[0]}, {place[1]}: {adjudicator.words(place[1], answer)}"

    def withdraw(self, place: tuple[int, str]) -> str:
        """Take back what settles an answer; return what was done."""
        self._adjudicator.take_back(*place)
        return f"taken back: sample {place[0]}, {place[1]}"

    def undo(self) -> str:
        """Take back the last settled value of this session; return what was done."""
        place = self._adjudicator.undo()
        if place is None:
            return "nothing was settled since the page was opened"
        return f"taken back: sample {place[0]}, {place[1]}"

    def listen(self, sample: int) -> str:
        """Play a sample, or stop what is heard; return why that is not possible."""
        if self.stop():
            return ""
        cut = self._adjudicator.audio(sample)
        if cut is None:
            return "there is no recording to play"
        from tabwb.speech.playback import Playback

        self._playing = Playback(*cut)
        self._playing.start()
        return ""

    def stop(self) -> bool:
        """Stop what is heard; return whether something was."""
        playing, self._playing = self._playing, None
        if playing is None or not playing.playing:
            return False
        playing.stop()
        return True

    def _row(self, dispute: Dispute) -> Row:
        adjudicator = self._adjudicator
        question = adjudicator.form.question(dispute.measure.partition("#")[0])

        def words(answer: Answer) -> str:
            given = adjudicator.words(dispute.measure, answer)
            return f"{SIGNS[given]} {given}" if given in SIGNS else given

        held = dispute.settled
        return Row(
            dispute,
            adjudicator.shown(dispute.sample),
            question.definition,
            tuple(words(said.answer) for said in dispute.verdicts),
            tuple(words(value) for _, value in dispute.judges),
            "" if dispute.majority is None else words(dispute.majority),
            "" if held is None else words(held.answer),
            tuple(
                Choice(answer, words(answer))
                for answer in _choices(question, dispute)
                if answer is not None
            ),
            question.kind in {"text", "phonemes"},
        )


def _choices(question: Question, dispute: Dispute) -> tuple[Answer, ...]:
    if question.kind in {"text", "phonemes"}:
        given = (said.answer for said in dispute.verdicts if said.answer not in {None, CANNOT_TELL})
        return (*dict.fromkeys(given), *question.values)
    return question.values


class AdjudicationPage(Page):
    """The page."""

    EXPLORER_DOCK = False  # it lists who answered

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._settling: Settling | None = None
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

    def open(self, settling: Settling, view: AdjudicationView) -> None:
        """Show what raters of a set differ on."""
        self._settling = settling
        self._show(view)

    def on_unmount(self) -> None:
        """Stop what is heard."""
        if self._settling is not None:
            self._settling.stop()

    def _do(self, job: Callable[..., str], *values: Any) -> None:
        """Let a change be made, and show the answers as they are then."""
        if (view := self._view) is not None:
            self.desk.start(self._show_again, partial(job, *values), view.which, view.measure)

    def _choose(self, which: Which, measure: str) -> None:
        self.desk.start(self._show_again, lambda: "", which, measure)

    async def _show_again(self, job: Callable[[], str], which: Which, measure: str) -> None:
        assert self._settling is not None
        view = self._settling.view
        self._show(await self.desk.ask(lambda: view(which, measure, job())))

    def _show(self, view: AdjudicationView) -> None:
        """Show the answers, and keep the mark where it is."""
        listed = self.query_one(RowList)
        before, kept = self.marked, listed.current
        self._view = view
        self._judges = judge_names(judge for row in view.rows for judge, _ in row.dispute.judges)
        places = [row.place for row in view.rows]
        at = places.index(before.place) if before and before.place in places else kept
        listed.show(ANSWERS, view.rows, current=max(at, 0))
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

    def take_value(self) -> None:
        """Ask for the value and the reason."""
        row = self.marked
        if row is None:
            return
        title = f"Sample {row.dispute.sample}, {row.dispute.title}: which value?"
        columns: Sequence[Column[Choice]] = (
            Column("", lambda one: one.words, least=18, end=True),
            Column("", lambda one: self._who_said(row, one), end=True, least=10, style=QUIET),
        )

        def typed(words: str | None) -> None:
            if words is not None:
                self._ask_reason(row, Choice(words, f"'{words}'"))

        def picked(choice: Choice) -> None:
            if choice.answer == "":
                self.app.push_screen(AskWords(title, "Words, or phonemes"), typed)
            else:
                self._ask_reason(row, choice)

        choices = [*row.choices, *([Choice("", "other words …")] if row.free else [])]
        pick(self.app, title, choices, picked, columns=columns)

    def _who_said(self, row: Row, choice: Choice) -> str:
        who = [one.rater for one in row.dispute.verdicts if one.answer == choice.answer]
        who += [self._judges[one] for one, value in row.dispute.judges if value == choice.answer]
        return ", ".join(who)

    def _ask_reason(self, row: Row, choice: Choice) -> None:
        settling = self._settling
        assert settling is not None

        def given(reason: str | None) -> None:
            if reason is not None:
                self._do(settling.settle, row.place, choice.answer, reason)

        title = f"Sample {row.dispute.sample}, {row.dispute.title}: {choice.words}"
        self.app.push_screen(AskWords(title, "Reason"), given)

    def listen(self) -> None:
        """Play the marked sample, or stop."""
        if (row := self.marked) is not None and self._settling is not None:
            self._do(self._settling.listen, row.dispute.sample)

    def undo_settled(self) -> None:
        """Take back the last settled value of this session."""
        if self._settling is not None:
            self._do(self._settling.undo)

    def withdraw(self) -> None:
        """Take back what settles the marked answer."""
        row = self.marked
        if row is None or row.dispute.settled is None:
            self.show_message("this answer is not settled")
        elif self._settling is not None:
            self._do(self._settling.withdraw, row.place)

    def which_answers(self) -> None:
        """Show the open answers, the settled ones, or all."""
        if (view := self._view) is not None:
            after = WHICH[(WHICH.index(view.which) + 1) % len(WHICH)]
            self._choose(after, view.measure)

    def which_question(self) -> None:
        """Ask for the question whose answers are shown."""
        view = self._view
        if view is None:
            return
        measures = [("", "all questions"), *view.measures]
        columns: Sequence[Column[tuple[str, str]]] = (Column("", lambda one: one[1], least=20),)
        at = [measure for measure, _ in measures].index(view.measure)

        def picked(one: tuple[str, str]) -> None:
            self._choose(view.which, one[0])

        pick(self.app, "Answers to which question?", measures, picked, at=at, columns=columns)

    async def leave_adjudication(self) -> None:
        """Return to the page from which this one was opened."""
        await self.desk.back()


async def adjudicate(desk: Desk, reference: int | None) -> None:
    """Show the disagreements of a rating set; of None, the only one or one that is picked."""
    if reference is None:
        store = desk.engine.store
        sets = await desk.ask(lambda: tuple(store.sets.all()))
        if not sets:
            desk.notify("no rating set is planned: see tabwb rate plan --help", markup=False)
            return
        if len(sets) > 1:
            names: Sequence[Column[RatingSet]] = (Column("", lambda one: one.name, least=20),)

            def picked(one: RatingSet) -> None:
                desk.start(adjudicate, desk, one.id)

            pick(desk.app, "Which rating set?", sets, picked, at=len(sets) - 1, columns=names)
            return
        reference = sets[0].id
    settling = await desk.ask(Settling, desk.engine, reference)
    view = await desk.ask(settling.view)
    came_from = desk.page
    await desk.go("adjudication")
    desk.return_to = came_from
    desk.query_one(AdjudicationPage).open(settling, view)
    desk.call_after_refresh(desk.show_frame)


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


def _signs(words: Sequence[str]) -> str:
    return " ".join(map(_sign, words))


SAID: Sequence[Column[tuple[Content, str, str]]] = (
    Column("", lambda one: one[0], least=12, most=30),
    Column("", lambda one: one[1], least=18, end=True),
    Column("", lambda one: one[2], end=True, style=QUIET),
)
"""The columns of what people and judges say of an answer."""
PAIRS = "share of pairs of {} who differ"
ANSWERS: Sequence[Column[Row]] = (
    Column("", lambda row: "✓" if row.settled else "", style=ACCENT),
    Column("sample", lambda row: str(row.dispute.sample), right=True),
    Column("question", lambda row: row.dispute.title, least=12, style="bold"),
    Column(
        "differ",
        lambda row: figure(row.dispute.people_differ),
        right=True,
        rank=1,
        style=QUIET,
        tip=PAIRS.format("people"),
    ),
    Column(
        "judges",
        lambda row: figure(row.dispute.judges_differ),
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
    rows: list[tuple[Content, str, str] | Heading] = []
    for said, words in zip(one.verdicts, row.said, strict=True):
        facts = ["not looked at"] * (said.looked_at is False)
        facts += [] if said.confidence is None else [f"confidence {said.confidence} of 3"]
        rows.append((Content.styled(said.rater, "bold"), words, ", ".join(facts)))
        if said.evidence:
            marked = f"“{quoted(shown.text, said.evidence)}”"
            rows += map(Heading, folded(marked, width, QUIET, 4))
        rows += map(Heading, folded(said.note, width, QUIET, 4))
    for (judge, _), words in zip(one.judges, row.judged, strict=True):
        rows.append((Content(judges[judge]), words, "judge"))
    yield from laid(SAID, rows, width)[1:]
    facts = [
        f"pairs of people differ {figure(one.people_differ)}",
        f"people and judges {figure(one.judges_differ)}",
        f"majority {row.majority or 'none'}",
    ]
    yield Content("")
    yield from folded(", ".join(facts), width, QUIET)
