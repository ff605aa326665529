"""The list of rating sets, with the raters and the questions of the highlighted one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Resize

from tabwb.battery.forms import Form, form_from_canonical
from tabwb.media.wording import between, counts_of, figure
from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import RatingSet
from tabwb.records.words import NONE, plural
from tabwb.scoring.estimate import Interval
from tabwb.store.store import Store
from tabwb.tables.table import Row
from tabwb.workbench.engine.engine import Engine
from tabwb.workbench.shell.columns import Column, laid
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane, pick
from tabwb.workbench.shell.drawn import bar, interval_bar
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Pane, WrappedText
from tabwb.workbench.shell.wording import ACCENT, LEAST, QUIET, folded

if TYPE_CHECKING:
    from tabwb.analysis.agreement import Agreement
    from tabwb.analysis.rating_sets import RaterProgress
    from tabwb.operations.operation import Operation

OPEN = "An administration is open, and its messages could reveal sources: F8 leaves it."
BUSY = "A job is running, and its messages could reveal sources: rate when it has ended."
READING = "… reading"
LOWEST = -0.25
"""The left end of the axis of kappas."""
BESIDE = 110
"""From so many columns on the highlighted set is beside the list."""
UNPLANNED = """\
No rating set is planned in this store. A rating set has stored responses that people rate with a \
form, blind to their source.

p plans one here. Commands in a terminal do too, for example:"""
COMMANDS = (
    ("tabwb rate forms list", "the forms, by default the 19 features of connected text"),
    ("tabwb rate plan pilot --raters R1,R2 --dry-run", "samples and minutes of each rater"),
    ("tabwb rate plan pilot --raters R1,R2", "plans the set; then enter here asks who rates"),
)


def none_lines(width: int) -> Iterator[Content]:
    """Yield how a set is planned, for a store without sets."""
    yield from folded(UNPLANNED, width)
    for command, words in COMMANDS:
        yield Content("")
        yield from folded(command, width, "bold", indent=2)
        yield from folded(words, width, QUIET, indent=2)


class SetEntry(NamedTuple):
    """One rating set of the list, with how far each rater is."""

    set: RatingSet
    form: Form
    samples: int
    raters: tuple[RaterProgress, ...]

    @property
    def assigned(self) -> int:
        """The samples that all raters have to rate."""
        return sum(one.assigned for one in self.raters)

    @property
    def done(self) -> int:
        """The complete ones."""
        return sum(one.done for one in self.raters)


def read_sets(engine: Engine) -> tuple[SetEntry, ...]:
    """Return the rating sets of the store, oldest first."""
    from tabwb.analysis.rating_sets import progress_of  # loads numpy

    store = engine.store
    return tuple(
        SetEntry(
            one,
            form_from_canonical(one.form),
            len(store.sets.samples(one.id)),
            tuple(progress_of(store, one)),
        )
        for one in store.sets.all()
    )


def _share(of: RaterProgress | SetEntry, width: int) -> Content:
    return bar(of.done / of.assigned if of.assigned else 0.0, width)


RATERS: Sequence[Column[RaterProgress]] = (
    Column("", lambda one: one.rater, least=6, style="bold"),
    Column("", _share, grow=(8, 30), rank=1),
    Column("", lambda one: f"{one.done}/{one.assigned}", right=True),
    Column("", lambda one: f"{one.begun} begun" if one.begun else "", style=QUIET),
    Column("", lambda one: f"{one.minutes:.0f} min" if one.minutes else "", rank=4, style=QUIET),
    Column(
        "",
        lambda one: "" if one.median_seconds is None else f"median {one.median_seconds:.2f} s",
        rank=3,
        style=QUIET,
    ),
    Column("", lambda one: f"{one.flagged} flagged" if one.flagged else "", style=QUIET),
    Column(
        "",
        lambda one: f"last {one.last[:10]}" if one.last else "",
        rank=2,
        style=QUIET,
    ),
    Column(
        "",
        lambda one: f"link {one.link_state}" if one.link_state else "no link",
        rank=5,
        style=QUIET,
    ),
    Column(
        "",
        lambda one: f"made {one.link_made_at[:10]}" if one.link_made_at else "",
        rank=6,
        style=QUIET,
    ),
)
"""The columns of raters; no answer is shown."""


def interval_words(row: Row) -> str:
    """Return the interval of a kappa; where few samples allow none, the counts in its place."""
    low, high = row["kappa_low"], row["kappa_high"]
    if low is None or high is None:
        return counts_of(row) if row.get("few") else NONE
    return between(Interval(low, high))


MEASURES: Sequence[Column[Row]] = (
    Column("", lambda row: row["title"], least=16, end=True, style="bold"),
    Column("kappa", lambda row: figure(row["kappa"]), right=True),
    Column(
        "",
        lambda row, width: interval_bar(
            row["kappa_low"], row["kappa"], row["kappa_high"], width=width, lowest=LOWEST
        ),
        grow=(12, 40),
        rank=2,
    ),
    Column("95 %", interval_words, right=True, rank=1),
    Column("N", lambda row: str(row["n"]), right=True, style=QUIET),
)
"""The columns of features and other questions: rows of the tables of agreement."""
COUNTS = """\
Counts instead of an interval: both say present / first alone / second alone / neither. In every \
pair a category has 3 samples or fewer."""
WHO: Sequence[Column[RaterProgress]] = (
    Column("", lambda one: one.rater, least=12),
    Column("", lambda one: f"{one.done}/{one.assigned}", style=QUIET),
)
"""The columns of the raters who can be picked."""
SETS: Sequence[Column[SetEntry]] = (
    Column("", lambda one: one.set.status),
    Column("", lambda one: one.set.name, least=20, style="bold"),
    Column("", _share, grow=(6, 20), rank=1),
    Column("", lambda one: f"{one.done}/{one.assigned}", right=True),
)


def next_words(entry: SetEntry) -> str:
    """Return what is to be done next with a set."""
    left = [
        f"{one.rater} {one.assigned - one.done}" for one in entry.raters if one.done < one.assigned
    ]
    if entry.set.status == "open" and left:
        return f"next: samples left are {', '.join(left)}; space rates, L makes links"
    closes = " or closes the set" if entry.set.status == "open" else ""
    return f"next: d settles disagreements, L exports the ratings{closes}"


def read_agreement(place: str | None, number: int) -> Agreement | str:
    """Return how far the people of a set agree so far, as ``tabwb agreement`` does; else why not.

    For a thread of its own.
    """
    from tabwb.analysis.agreement import agreement_of
    from tabwb.analysis.stored_ratings import rated_set

    with Store.open(place, create=False) as store:
        try:
            found = agreement_of(rated_set(store, number))
        except TabwbError as error:
            return error.message
    return found if found.of_people else "Fewer than two people have rated samples."


def agreement_lines(found: Agreement | str, width: int) -> Iterator[Content]:
    """Yield how far people agree so far, with the measures on which they agree least first."""
    yield Content.styled("AGREEMENT SO FAR", f"bold {QUIET}")
    if isinstance(found, str):
        yield from folded(found, width, QUIET)
        return
    from tabwb.analysis.agreement import WEIGHTED  # loads numpy

    measures = [row for row in found.measures if row["kappa"] is not None]
    if not measures:
        reasons = dict.fromkeys(row.get("reason") for row in found.measures)
        yield from folded(f"no kappa: {', '.join(filter(None, reasons))}", width, QUIET)
        return
    for mean in found.rows("means", design="main", mean=WEIGHTED):
        told = f", {plural(mean['kappa_features'], 'feature')}, weighted by how often present"
        ends = f" ({words})" if (words := interval_words(mean)) != NONE else ""
        value = (f"{figure(mean['kappa'])}{ends}", "bold")
        yield from Content.assemble(("kappa ", QUIET), value, (told, QUIET)).wrap(width)
    lowest = f"lowest: {measures[0]['title']} {figure(measures[0]['kappa'])}"
    yield from folded(f"{lowest}; d settles what people differ on", width, ACCENT)
    yield from laid(MEASURES, measures, width)
    if any(row.get("few") for row in measures):
        yield from folded(COUNTS, width, QUIET)


def question_lines(form: Form, width: int) -> Iterator[Content]:
    """Yield the questions of a form with their definitions, by group."""
    yield Content.styled(plural(len(form.questions), "question").upper(), f"bold {QUIET}")
    titles = {group.id: group.title for group in form.groups}
    before = ""
    for question in form.questions:
        if question.group != before and question.group in titles:
            yield Content.styled(titles[question.group], ACCENT)
        before = question.group
        text = Content.assemble((question.title, "bold"), "  ", (question.definition, QUIET))
        yield from text.wrap(width)


HELP = """\
# Rating sets

One line for each set: how much of all raters' work is done. Beside or below it are the raters of
the marked set, when each got a link and saved an answer last, how far they agree so far (as **tabwb
agreement** computes it, the lowest kappa first), and the questions; **tab** goes there to scroll.
**enter** or **space** asks who rates and opens the rating screen. It shows the text or the sound
and the form, and nothing that tells who or what gave them. **p** plans a set. **L** makes links to
the marked set, closes it or exports its ratings; **d** settles what people differ on.
"""


def _state(entry: SetEntry) -> tuple[object, ...]:
    return (entry.set.id, *((one.done, one.last) for one in entry.raters))


class SetsPage(Page):
    """The page."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._sets: tuple[SetEntry, ...] = ()
        self._agreement: dict[tuple[object, ...], Agreement | str] = {}
        """How far raters agree, by set and how far each rater was."""

    def compose(self) -> ComposeResult:
        """Yield the list, and the highlighted set with its raters and questions."""
        with Container(id="sets-body"):
            with Pane(id="sets-pane"):
                yield RowList(id="sets-list", help_text=HELP, opens=False)
            with Pane(id="set-pane"), ScrollPane(id="set-scroll", help_text=HELP):
                yield WrappedText(self._details, id="set-details")

    def on_resize(self, event: Resize) -> None:
        """Put the set beside the list where there is room."""
        self.query_one("#sets-body").set_class(event.size.width >= BESIDE, "-wide")

    async def _read(self) -> None:
        """Show the sets of the store."""
        self._sets = await self.desk.ask(read_sets, self.desk.engine)
        count = len(self._sets)
        title = f"Rating sets · {count}" if count else "Rating sets"
        self.query_one("#sets-pane", Pane).border_title = title
        self.query_one("#sets-pane", Pane).display = bool(count)
        self.query_one(RowList).show(SETS, self._sets, ids=lambda one: one.set.id)
        self._show_details()
        if self.query_one("#sets-body").has_focus_within or not self.screen.focused:
            self.focus_inside()

    def _show_details(self) -> None:
        one = self.highlighted
        self.query_one("#set-pane", Pane).border_title = (
            "Rating sets" if one is None else one.set.name
        )
        self.query_one("#set-details", WrappedText).refresh(layout=True)
        if one is not None and _state(one) not in self._agreement:
            self._agreement[_state(one)] = READING
            self.desk.start(self._read_agreement, one)

    async def _read_agreement(self, one: SetEntry) -> None:
        place = self.desk.engine.store_place
        found = await self.desk.ask(read_agreement, place, one.set.id, aside=True)
        self._agreement[_state(one)] = found
        self.query_one("#set-details", WrappedText).refresh(layout=True)

    def _details(self, width: int) -> Iterator[Content]:
        one = self.highlighted
        width = max(min(width, 100), LEAST)
        if one is None:
            yield from none_lines(width)
            return
        yield Content.styled(one.form.title, "bold")
        facts = [
            one.set.status,
            f"planned on {one.set.created_at[:10]}",
            plural(one.samples, "sample"),
            plural(len(one.raters), "rater"),
            f"{one.set.counts} counts",
            "guidelines are read first" if one.set.guidelines else "no guidelines",
        ]
        yield from folded(" · ".join(facts), width, QUIET)
        if one.form.shows:
            shown = ", ".join(part.replace("-", " ") for part in one.form.shows)
            yield from folded(f"raters get: {shown}", width, QUIET)
        yield Content("")
        yield Content.styled("RATERS", f"bold {QUIET}")
        yield from laid(RATERS, one.raters, width)[1:]
        yield from folded(next_words(one), width, ACCENT)
        yield Content("")
        yield from agreement_lines(self._agreement.get(_state(one), READING), width)
        yield Content("")
        yield from question_lines(one.form, width)

    @property
    def highlighted(self) -> SetEntry | None:
        """The highlighted set."""
        at = self.query_one(RowList).current
        return self._sets[at] if 0 <= at < len(self._sets) else None

    def rating_set(self) -> int | None:
        """Return the id of the highlighted set."""
        return None if self.highlighted is None else self.highlighted.set.id

    def update_page(self) -> None:
        """Read the sets again."""
        self.desk.start(self._read, group="sets")

    def focus_inside(self) -> None:
        """Focus the list, or without sets what is said of them."""
        self.query_one(RowList if self._sets else ScrollPane).focus()

    def command(self) -> str:
        """Return the command line that prints who has rated what."""
        name = [] if self.highlighted is None else [self.highlighted.set.name]
        place = ["--store", self.desk.location] if self.desk.location else []
        return shlex.join(["tabwb", "rate", "status" if name else "list", *name, *place])

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return "rating sets"

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Show the highlighted set."""
        self._show_details()
        self.query_one("#set-scroll").scroll_home(animate=False)

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Ask who rates."""
        self.start_rating()

    # ---------------------------------------------------------------- commands

    def start_rating(self) -> None:
        """Ask who rates the highlighted set, and open the rating screen."""
        one, desk = self.highlighted, self.desk
        if one is None:
            self.show_message("no rating set is planned: p plans one")
        elif one.set.status == "closed":
            self.show_message(f"rating set {one.set.name} is closed: L opens it again")
        elif desk.work is not None or desk.jobs:
            self.show_message(OPEN if desk.work is not None else BUSY)
        else:
            then = partial(self._rate, one.set.id)
            pick(self.app, f"Who rates '{one.set.name}'?", one.raters, then, columns=WHO)

    def _rate(self, set_id: int, rater: RaterProgress) -> None:
        """Open the rating screen over everything."""
        from tabwb.workbench.rating.screen import RatingScreen
        from tabwb.workbench.rating.worker import connection

        def closed(_: None) -> None:
            self.desk.workbench.show_held_back()
            self.update_page()

        place = self.desk.engine.store_place
        self.app.push_screen(RatingScreen(connection(place, set_id, rater.rater)), closed)

    def plan_ratings(self) -> None:
        """Plan a rating set."""
        from tabwb.operations.rate import PlanRatings

        self._operate(PlanRatings, "Plan a rating set")

    def change_set(self) -> None:
        """Make or revoke links of the highlighted set, close or reopen it, export its ratings."""
        from tabwb.operations.rate import (
            CloseSet,
            ExportRatings,
            MakeLinks,
            ReopenSet,
            RevokeLinks,
        )

        one = self.highlighted
        if one is None:
            self.show_message("no rating set is planned: p plans one")
            return
        known = {"reference": one.set.id}
        marked = ReopenSet if one.set.status == "closed" else CloseSet
        out = {**known, "out": f"{one.set.name}.csv"}
        others = [(marked, known), (RevokeLinks, known), (ExportRatings, out)]
        self._operate(MakeLinks, f"Rating set {one.set.name}", others=others, **known)

    def _operate(self, kind: type[Operation], title: str, **known: Any) -> None:
        """Open the dialog of an operation; the sets are read again when it is closed."""
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        screen = OperationScreen(self.desk, kind, title, **known)
        self.app.push_screen(screen, lambda _: self.update_page())

    async def leave_sets(self) -> None:
        """Return to the page before."""
        await self.desk.back()
