"""The list of rating sets, with the raters and the questions of the highlighted one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Resize
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tabwb.battery.forms import Form
from tabwb.records.words import plural
from tabwb.workbench.rating.controller import RatingController, SetEntry, SetsKnown
from tabwb.workbench.shell.columns import shortened
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import PickScreen, ScrollPane
from tabwb.workbench.shell.drawn import bar
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.widgets import Pane, WrappedText
from tabwb.workbench.shell.wording import ACCENT, LEAST, QUIET, folded

if TYPE_CHECKING:
    from tabwb.analysis.rating_sets import RaterProgress
    from tabwb.operations.operation import Operation

BESIDE_NAME = 32
"""Columns of a set's line beside its name."""
BESIDE = 110
"""From so many columns on the highlighted set is beside the list."""
NONE = """\
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
    yield from folded(NONE, width)
    for command, words in COMMANDS:
        yield Content("")
        yield from folded(command, width, "bold", indent=2)
        yield from folded(words, width, QUIET, indent=2)


def rater_lines(raters: Sequence[RaterProgress], width: int) -> Iterator[Content]:
    """Yield how far each rater of a set is; no answer is shown."""
    yield Content.styled("RATERS", f"bold {QUIET}")
    column = max([6, *(len(one.rater) for one in raters)])
    for one in raters:
        share = one.done / one.assigned if one.assigned else 0.0
        facts = [f"{one.begun} begun"] * bool(one.begun)
        facts += [f"{one.minutes:.0f} min"] * bool(one.minutes)
        if one.median_seconds is not None:
            facts.append(f"median {one.median_seconds:.2f} s")
        facts += [f"{one.flagged} flagged"] * bool(one.flagged)
        if one.last:
            facts.append(f"last {one.last[:16].replace('T', ' ')}")
        line = Content.assemble(
            (one.rater.ljust(column), "bold"),
            " ",
            bar(share, min(max(width - 60, 10), 30)),
            f"  {one.done} of {one.assigned}  ",
            (", ".join(facts), QUIET),
        )
        yield line.truncate(width, ellipsis=True)


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


class SetList(OptionList):
    """Rating sets."""

    HELP = """\
# Rating sets

One line for each set: how much of all raters' work is done. Beside or below it are the raters and
the questions of the marked set; **tab** goes there to scroll. **enter** asks who rates and opens
the rating screen. It shows the text or the sound and the form, and nothing that tells who or what
gave them. **p** plans a set. **m** makes links to the marked set, closes it or exports its ratings.
"""


class SetsPage(Page):
    """The page."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._sets: tuple[SetEntry, ...] = ()

    def compose(self) -> ComposeResult:
        """Yield the list, and the highlighted set with its raters and questions."""
        with Container(id="sets-body"):
            with Pane(id="sets-pane"):
                yield SetList(id="sets-list", compact=True)
            with Pane(id="set-pane"), ScrollPane(id="set-scroll", help_text=SetList.HELP):
                yield WrappedText(self._details, id="set-details")

    def on_resize(self, event: Resize) -> None:
        """Put the set beside the list where there is room."""
        self.query_one("#sets-body").set_class(event.size.width >= BESIDE, "-wide")
        self.call_after_refresh(self._list)

    def show(self, message: SetsKnown) -> None:
        """Show the sets of the store."""
        self._sets = message.sets
        count = len(self._sets)
        title = f"Rating sets · {count}" if count else "Rating sets"
        self.query_one("#sets-pane", Pane).border_title = title
        self.query_one("#sets-pane", Pane).display = bool(count)
        self._list()
        if self.query_one("#sets-body").has_focus_within or not self.screen.focused:
            self.focus_inside()

    def _list(self) -> None:
        listed = self.query_one(SetList)
        kept = listed.highlighted
        listed.set_options(Option(line, id=str(one.id)) for one, line in self._lines())
        listed.highlighted = min(kept or 0, len(self._sets) - 1) if self._sets else None
        self._show_details()

    def _show_details(self) -> None:
        one = self.highlighted
        self.query_one("#set-pane", Pane).border_title = "Rating sets" if one is None else one.name
        self.query_one("#set-details", WrappedText).refresh(layout=True)

    def _lines(self) -> Iterator[tuple[SetEntry, Content]]:
        room = self.query_one(SetList).content_size.width - 2
        longest = max((len(one.name) for one in self._sets), default=0)
        width = min(longest, max(room - BESIDE_NAME, LEAST))
        for one in self._sets:
            yield (
                one,
                Content.assemble(
                    f"{one.status:<7} ",
                    (shortened(one.name, width).ljust(width), "bold"),
                    "  ",
                    bar(one.done / one.assigned if one.assigned else 0.0, 10),
                    f" {one.done}/{one.assigned}",
                ).truncate(max(room, LEAST), ellipsis=True),
            )

    def _details(self, width: int) -> Iterator[Content]:
        one = self.highlighted
        width = max(min(width, 100), LEAST)
        if one is None:
            yield from none_lines(width)
            return
        yield Content.styled(one.form.title, "bold")
        facts = [
            one.status,
            f"planned on {one.created}",
            plural(one.samples, "sample"),
            plural(len(one.raters), "rater"),
            f"{one.counts} counts",
            "guidelines are read first" if one.guidelines else "no guidelines",
        ]
        yield from folded(" · ".join(facts), width, QUIET)
        if one.form.shows:
            shown = ", ".join(part.replace("-", " ") for part in one.form.shows)
            yield from folded(f"raters get: {shown}", width, QUIET)
        yield Content("")
        yield from rater_lines(one.raters, width)
        yield Content("")
        yield from question_lines(one.form, width)

    @property
    def highlighted(self) -> SetEntry | None:
        """The highlighted set."""
        at = self.query_one(SetList).highlighted
        return None if at is None or at >= len(self._sets) else self._sets[at]

    def rating_set(self) -> int | None:
        """Return the id of the highlighted set."""
        return None if self.highlighted is None else self.highlighted.id

    def update_page(self) -> None:
        """Read the sets again."""
        self.desk.do(self.desk.controller(RatingController).read)

    def focus_inside(self) -> None:
        """Focus the list, or without sets what is said of them."""
        self.query_one(SetList if self._sets else ScrollPane).focus()

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return "rating sets"

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the highlighted set."""
        event.stop()
        self._show_details()
        self.query_one("#set-scroll").scroll_home(animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Ask who rates."""
        event.stop()
        self.start_rating()

    # ---------------------------------------------------------------- commands

    def start_rating(self) -> None:
        """Ask who rates the highlighted set, and open the rating screen."""
        from tabwb.workbench.rating.actions import RatingActions

        one = self.highlighted
        if one is None:
            self.show_message("no rating set is planned: p plans one")
            return
        if one.status == "closed":
            self.show_message(f"rating set {one.name} is closed: m opens it again")
            return
        if self.desk.actions(RatingActions).refused():
            return
        column = max([12, *(len(rater.rater) for rater in one.raters)]) + 2
        lines = [
            Content.assemble(
                rater.rater.ljust(column), (f"{rater.done} of {rater.assigned}", QUIET)
            )
            for rater in one.raters
        ]

        def chosen(at: int | None) -> None:
            if at is not None:
                self.desk.actions(RatingActions).rate(one.id, one.raters[at].rater)

        self.app.push_screen(PickScreen(f"Who rates {one.name}?", lines), chosen)

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
        known = {"reference": one.id}
        marked = ReopenSet if one.status == "closed" else CloseSet
        out = {**known, "out": f"{one.name}.csv"}
        others = [(marked, known), (RevokeLinks, known), (ExportRatings, out)]
        self._operate(MakeLinks, f"Rating set {one.name}", others=others, **known)

    def _operate(self, kind: type[Operation], title: str, **known: Any) -> None:
        """Open the dialog of an operation; the sets are read again when it is closed."""
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        screen = OperationScreen(self.desk, kind, title, **known)
        self.app.push_screen(screen, lambda _: self.update_page())

    async def leave_sets(self) -> None:
        """Return to the page before."""
        await self.desk.back()
