"""The page that shows a table of results, or what a plugin built."""

from __future__ import annotations

from rich.console import RenderableType
from textual.app import ComposeResult
from textual.content import Content

from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.widgets import Line, Pane, ReportView
from tabwb.workbench.shell.wording import QUIET

HELP = """\
# Table of results, or page of a plugin

It was built from the responses named above it. Arrows scroll, **esc** goes back.
"""


class ExtensionPage(Page):
    """The title, the administrations, and the view below."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._title = ""

    def compose(self) -> ComposeResult:
        """Yield head and view."""
        yield Line(id="extension-head")
        with Pane(id="extension-frame"), ScrollPane(id="extension-pane", help_text=HELP):
            yield ReportView(id="extension-view")

    def show(self, title: str, about: str, what: str, view: RenderableType) -> None:
        """Show what was built."""
        self._title = title
        self.query_one(Line).show(Content.styled(about, QUIET), Content.styled(what, QUIET))
        self.query_one(Pane).border_title = title
        self.query_one(ReportView).show(view)
        self.focus_inside()

    def open_title(self) -> str | None:
        """Return the title of the page."""
        return self._title

    def focus_inside(self) -> None:
        """Give the keys to the view."""
        pane = self.query_one(ScrollPane)
        pane.focus()
        pane.scroll_home(animate=False)
