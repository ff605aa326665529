"""The base of the pages, and the home page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tabwb.records.trials import Administration
from tabwb.records.words import RESEARCH_ONLY
from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.shell.docks import Entry, ShownScores
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET, glyph_of, name_of, special_words

if TYPE_CHECKING:
    from tabwb.workbench.shell.commands import Command, Situation
    from tabwb.workbench.shell.desk import Desk
    from tabwb.workbench.shell.frame import Hint

MOST = 6
"""The number of unfinished administrations on the home page."""


class Page(Vertical):
    """A page. The desk mounts it when it is opened first, and hides it afterwards."""

    LEAST_WIDTH: ClassVar[int] = 72
    """The least columns of the page between docks."""
    EXPLORER_DOCK: ClassVar[bool] = True
    """Whether the explorer is shown beside the page; else it is a drawer over it."""
    SCORES_DOCK: ClassVar[bool] = True
    """Whether the score panel is shown beside the page."""
    KEYS_IN_TURN: ClassVar[bool] = False
    """Whether each key waits until everything is done that the key before it asked for."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(id=f"{page}-page", classes="page")
        self.desk = desk
        desk.table.bind(self, page)

    def update_page(self) -> None:
        """Show what the desk knows now."""

    def focus_inside(self) -> None:
        """Take the focus."""
        self.focus()

    def open_title(self) -> str | None:
        """Return what the title bar says is open; None for the open administration."""
        return None

    def administration(self) -> int | None:
        """Return the number of the administration that the page shows."""
        return None if self.desk.work is None else self.desk.work.administration.id

    def administrations(self) -> tuple[int, ...]:
        """Return the numbers of those whose results the page shows; none: it shows no results."""
        return ()

    def rating_set(self) -> int | None:
        """Return the id of the rating set that the page shows."""
        return None

    def state_words(self) -> str:
        """Return what the title bar shows as state, for example a recording; may be empty."""
        return ""

    def shown_scores(self) -> ShownScores:
        """Return what the score panel shows."""
        return ShownScores() if self.desk.work is None else ShownScores(self.desk.work.scores)

    def situation(self, situation: Situation) -> Situation:
        """Return the situation with what only the page knows."""
        return situation

    def hints(self) -> Sequence[Hint] | None:
        """Return the footer's hints; None for those of the commands."""
        return None

    def foot_word(self, command: Command) -> str:
        """Return the word of a command in the footer."""
        return command.foot

    def foot_rank(self, command: Command) -> int:
        """Return the place of a command in the footer; 0: it is not there."""
        return command.rank

    def show_message(self, words: str) -> None:
        """Show a short message, such as the reason why a command cannot be used."""
        self.desk.notify(words, timeout=4, markup=False)

    def pausing(self) -> None:
        """Show that a pause follows the running command."""

    def failed(self) -> None:
        """Get ready again after a command has failed."""

    def escape(self) -> bool:
        """Leave a special view; return whether there was one."""
        return False

    def toggle_side(self) -> bool:
        """Show or hide the page's own side panel; return False where it has none."""
        return False

    def keys_done(self) -> bool:
        """Return whether the page has done what the last key asked for."""
        return True

    def refuses_keys(self) -> bool:
        """Return whether keys are ignored now; the page has told the user why."""
        return False


class HomePage(Page, can_focus=True):
    """The first page."""

    SCORES_DOCK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
    ]
    HELP = """\
# Home

**n** begins a new administration; enter in its dialog accepts what is filled in. Administrations
that are running or paused are listed: choose one to continue it. **o** opens any administration.

At the right of the title bar *offline* says that nothing but this machine is reached; *network
allowed* that a model or judge which needs a network may use it (`tabwb --offline` forbids it).
*Saved* says that everything so far is on disk.
"""

    def compose(self) -> ComposeResult:
        """Yield title, how to begin, unfinished administrations, the research-only sentence."""
        title = Content.assemble(
            ("tabwb", f"bold {ACCENT}"), "\n", ("A workbench for aphasia batteries.", QUIET)
        )
        with Vertical(id="home-column"):
            yield Static(title, id="home-title")
            yield Static(Content.styled("… opening the store", QUIET), id="home-begin")
            yield Static(Content.styled("CONTINUE", f"bold {QUIET}"), id="home-open-title")
            yield OpenList(id="home-open", compact=True)
            yield Static(Content.styled(RESEARCH_ONLY, QUIET), id="home-notice")

    def on_mount(self) -> None:
        """Hide the list until the store is open."""
        self._show_open(())

    def show(self, catalogue: Catalogue) -> None:
        """Show what can be done with a catalogue."""
        hints = [("n", "begin an administration")]
        if catalogue.administrations:
            hints += [
                ("o", f"open ({len(catalogue.administrations)})"),
                ("m", "results by model"),
            ]
        hints += [("b", "laboratory of lesions"), ("r", "rating sets"), ("?", "all keys")]
        lines = [
            Content.assemble((key, f"bold {ACCENT}"), "   ", (word, "$foreground"))
            for key, word in hints
        ]
        self.query_one("#home-begin", Static).update(Content("\n").join(lines))
        self._show_open(catalogue.open[:MOST], catalogue.interrupted)

    def _show_open(
        self, administrations: Sequence[Administration], interrupted: Sequence[int] = ()
    ) -> None:
        options = self.query_one(OpenList)
        self.query_one("#home-open-title").display = bool(administrations)
        options.display = bool(administrations)
        options.set_options(
            Option(
                Content.assemble(
                    f"{glyph_of(administration)} {administration.status_word:<8}",
                    (f" #{administration.id:<4}", "bold"),
                    f" {name_of(administration)}",
                    (f"   {administration.answered} of {administration.planned}", QUIET),
                    (f"   {', '.join(special_words(administration))}".rstrip(), QUIET),
                    ("   ! interrupted" if administration.id in interrupted else "", AMBER),
                ),
                id=str(administration.id),
            )
            for administration in administrations
        )
        options.highlighted = 0 if administrations else None
        if self.has_focus and self.display:
            self.focus_inside()

    def on_focus(self) -> None:
        """Focus the list of open administrations, if there are any."""
        if self.query_one(OpenList).display:
            self.focus_inside()

    def focus_inside(self) -> None:
        """Take the focus."""
        options = self.query_one(OpenList)
        (options if options.display else self).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Offer to resume the administration."""
        event.stop()
        self.desk.tell(Entry("administration", event.option.id or ""))


class OpenList(OptionList):
    """Unfinished administrations."""

    HELP = HomePage.HELP
