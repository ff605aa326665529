"""The list of rating sets, with the raters of the highlighted one."""

from __future__ import annotations

from collections.abc import Iterator

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tabwb.workbench.rating.controller import RatingController, SetEntry, SetsKnown
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import PickScreen
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.width_aware import Line, WrappedText
from tabwb.workbench.shell.wording import LEAST, QUIET, bar, shortened

BESIDE_NAME = 51
"""Columns of a set's line beside its name."""
STATUS = {"open": "▸ open", "closed": "■ closed"}
NONE = """\
No rating set is planned in this store.

tabwb rate plan --help says how one is planned: which responses, which form, which raters."""


class SetList(OptionList):
    """Rating sets."""

    HELP = """\
# Rating sets

One line for each set: its form, its samples, how much of all raters' work is done. **enter** asks
who rates and opens the rating screen. It shows the text or the sound and the form, and nothing that
tells who or what gave them.
"""


class SetsPage(Page):
    """The page."""

    SCORES_DOCK = False

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._sets: tuple[SetEntry, ...] = ()

    def compose(self) -> ComposeResult:
        """Yield head, list, and the raters of the highlighted set."""
        yield Line(id="sets-head")
        yield SetList(id="sets-list", compact=True)
        yield WrappedText(self._raters, id="sets-raters")

    def show(self, message: SetsKnown) -> None:
        """Show the sets of the store."""
        listed = self.query_one(SetList)
        kept = listed.highlighted
        self._sets = message.sets
        listed.set_options(Option(line, id=str(one.id)) for one, line in self._lines())
        listed.highlighted = min(kept or 0, len(self._sets) - 1) if self._sets else None
        count = len(self._sets)
        words = f"{count} in this store" if count else ""
        self.query_one("#sets-head", Line).show(
            Content.styled("Rating sets", "bold"), Content.styled(words, QUIET)
        )
        self.query_one("#sets-raters", WrappedText).refresh(layout=True)

    def _lines(self) -> Iterator[tuple[SetEntry, Content]]:
        room = self.query_one(SetList).content_size.width - 2
        longest = max((len(one.name) for one in self._sets), default=0)
        width = min(longest, max(room - BESIDE_NAME, LEAST))
        for one in self._sets:
            yield (
                one,
                Content.assemble(
                    f"{STATUS.get(one.status, one.status):<9} ",
                    (shortened(one.name, width).ljust(width), "bold"),
                    f"  {one.samples:>5} samples  ",
                    bar(one.done / one.assigned if one.assigned else 0.0, 10),
                    f"  {one.done} of {one.assigned}",
                ).truncate(max(room, LEAST), ellipsis=True),
            )

    def _raters(self, width: int) -> Iterator[Content]:
        one = self.highlighted
        if one is None:
            yield from (Content.styled(line, QUIET) for line in NONE.splitlines())
            return
        yield Content.assemble(
            (f"RATERS OF {one.name}", f"bold {QUIET}"), (f"   {one.form}", QUIET)
        )
        column = max([12, *(len(rater.rater) for rater in one.raters)])
        for rater in one.raters:
            share = rater.done / rater.assigned if rater.assigned else 0.0
            yield Content.assemble(
                f"{rater.rater.ljust(column)} ",
                bar(share, 20),
                f"  {rater.done} of {rater.assigned}",
            )

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
        """Take the focus."""
        self.query_one(SetList).focus()

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return "rating sets"

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the raters of the highlighted set."""
        event.stop()
        self.query_one("#sets-raters", WrappedText).refresh(layout=True)

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
            self.show_message("no rating set is planned: see tabwb rate plan --help")
            return
        if one.status == "closed":
            self.show_message(f"rating set {one.name} is closed: tabwb rate reopen {one.name}")
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

    async def leave_sets(self) -> None:
        """Return to the page before."""
        work = self.desk.work
        await self.desk.go("home" if work is None else work.page)
