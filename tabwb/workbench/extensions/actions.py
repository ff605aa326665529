"""Asks which page of a plugin is wanted, and shows it."""

from __future__ import annotations

from functools import partial

from textual.content import Content

from tabwb.records.words import plural
from tabwb.workbench.extensions.controller import ExtensionController, PageBuilt
from tabwb.workbench.extensions.page import ExtensionPage
from tabwb.workbench.shell.commands import Actions
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import PickScreen
from tabwb.workbench.shell.wording import QUIET

NONE = "No plugin adds a result page. docs/plugins.md describes how to write one."


class ExtensionActions(Actions):
    """Runs the commands of the pages of plugins."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._from = "home"
        desk.listen(PageBuilt, self.built)

    def plugin_page(self) -> None:
        """Choose a page; it is shown when the plugin has built it."""
        desk = self.desk
        pages = () if desk.catalogue is None else desk.catalogue.pages
        if not pages:
            desk.notify(NONE, markup=False)
            return
        numbers = desk.current.administrations()
        what = plural(len(numbers), "administration") if numbers else "all administrations"
        self._from = desk.page

        def picked(at: int | None) -> None:
            if at is not None:
                desk.notify(f"{pages[at].title}: computing …", timeout=2, markup=False)
                build = desk.controller(ExtensionController).build
                desk.do(partial(build, pages[at], numbers, what))

        lines = [
            Content.assemble((page.title, "bold"), (f"\n  {page.help}", QUIET)) for page in pages
        ]
        desk.app.push_screen(PickScreen(f"Pages of plugins, {what}", lines), picked)

    async def built(self, message: PageBuilt) -> None:
        """Show the page."""
        await self.desk.go("extension")
        self.desk.query_one(ExtensionPage).show(message.title, message.what, message.view)
        self.desk.show_frame()

    async def leave_page(self) -> None:
        """Return to where the page was asked for."""
        await self.desk.go(self._from)
