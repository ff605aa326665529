"""Opens the adjudication page for a rating set."""

from __future__ import annotations

from functools import partial

from textual.content import Content

from tabwb.workbench.adjudication.controller import AdjudicationController
from tabwb.workbench.adjudication.page import AdjudicationPage
from tabwb.workbench.adjudication.view_models import AdjudicationView, SetsListed
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import PickScreen
from tabwb.workbench.shell.page import Actions


class AdjudicationActions(Actions):
    """Runs the commands that open the page, and shows what the controller tells."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.came_from = "home"
        desk.listen(AdjudicationView, self.shown)
        desk.listen(SetsListed, self.listed)

    def adjudicate(self) -> None:
        """Show the disagreements of the rating set shown, or of one that is chosen."""
        desk = self.desk
        self.came_from = desk.page
        controller, shown = desk.controller(AdjudicationController), desk.current.rating_set()
        desk.do(controller.sets if shown is None else partial(controller.open, shown))

    def listed(self, message: SetsListed) -> None:
        """Open the only set, or ask which one."""
        desk, names = self.desk, message.names
        if not names:
            desk.notify("no rating set is planned: see tabwb rate plan --help", markup=False)
            return
        open_set = desk.controller(AdjudicationController).open
        if len(names) == 1:
            desk.do(partial(open_set, names[0]))
            return

        def picked(at: int | None) -> None:
            if at is not None:
                desk.do(partial(open_set, names[at]))

        lines = [Content(name) for name in names]
        desk.app.push_screen(PickScreen("Which rating set?", lines, len(names) - 1), picked)

    async def shown(self, message: AdjudicationView) -> None:
        """Show the page."""
        if self.desk.page != "adjudication":
            await self.desk.go("adjudication")
        self.desk.query_one(AdjudicationPage).show(message)
        self.desk.call_after_refresh(self.desk.show_frame)
