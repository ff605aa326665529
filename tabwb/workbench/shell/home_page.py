"""The page that is shown when nothing is open: how to begin, unfinished administrations."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tabwb.records.words import RESEARCH_ONLY
from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.shell.explorer import Entry
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET, glyph_of, name_of, special_words

MOST = 6


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
        with Vertical(id="home-column"):
            yield Static(
                Content.assemble(
                    ("tabwb", f"bold {ACCENT}"), "\n", ("A workbench for aphasia batteries.", QUIET)
                ),
                id="home-title",
            )
            yield Static(id="home-begin")
            yield Static(Content.styled("CONTINUE", f"bold {QUIET}"), id="home-open-title")
            yield OpenList(id="home-open", compact=True)
            yield Static(Content.styled(RESEARCH_ONLY, QUIET), id="home-notice")

    def on_mount(self) -> None:
        """Hide the list until the store is open."""
        self.query_one("#home-open-title").display = False
        self.query_one(OpenList).display = False
        self.query_one("#home-begin", Static).update(Content.styled("… opening the store", QUIET))

    def show(self, catalogue: Catalogue) -> None:
        """Show what can be done with a catalogue."""
        lines = [
            ("n", "begin an administration"),
            ("o", f"open ({len(catalogue.administrations)})"),
            ("?", "all keys"),
        ]
        if catalogue.administrations:
            lines.insert(2, ("m", "results by model"))
        else:
            del lines[1]
        self.query_one("#home-begin", Static).update(
            Content("\n").join(
                [
                    Content.assemble((key, f"bold {ACCENT}"), "   ", (word, "$foreground"))
                    for key, word in lines
                ]
            )
        )
        options = self.query_one(OpenList)
        open_ = catalogue.open[:MOST]
        self.query_one("#home-open-title").display = bool(open_)
        options.display = bool(open_)
        options.set_options(
            Option(
                Content.assemble(
                    f"{glyph_of(one)} {one.status_word:<8}",
                    (f" #{one.id:<4}", "bold"),
                    f" {name_of(one)}",
                    (f"   {one.answered} of {one.planned}", QUIET),
                    (f"   {', '.join(special_words(one))}".rstrip(), QUIET),
                    (
                        "   ! interrupted" if one.id in catalogue.interrupted else "",
                        AMBER,
                    ),
                ),
                id=str(one.id),
            )
            for one in open_
        )
        options.highlighted = 0 if open_ else None
        if open_ and self.has_focus and self.display:
            options.focus()

    def on_focus(self) -> None:
        """Focus the list of open administrations, if there are any."""
        options = self.query_one(OpenList)
        if options.display:
            options.focus()

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
