"""Opens the list of rating sets, and the rating screen."""

from __future__ import annotations

from tabwb.workbench.rating.controller import SetsKnown
from tabwb.workbench.rating.page import SetsPage
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions

OPEN = "An administration is open, and its messages could reveal sources: F8 leaves it."
BUSY = "A job is running, and its messages could reveal sources: rate when it has ended."


class RatingActions(Actions):
    """Runs the commands of rating sets."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._place: str | None = None
        desk.listen(SetsKnown, self.known)

    async def rating_sets(self) -> None:
        """Show the list of rating sets."""
        await self.desk.go("sets")

    def known(self, message: SetsKnown) -> None:
        """Show rating sets that were read."""
        self._place = message.place
        self.desk.query_one(SetsPage).show(message)

    def refused(self) -> bool:
        """Return whether nobody can rate now; then the page says why."""
        desk = self.desk
        if desk.work is None and not desk.jobs:
            return False
        desk.current.show_message(OPEN if desk.work is not None else BUSY)
        return True

    def rate(self, set_id: int, rater: str) -> None:
        """Open the rating screen over everything."""
        from tabwb.workbench.rating.screen import RatingScreen
        from tabwb.workbench.rating.worker import connection

        desk = self.desk
        if self.refused():
            return

        def closed(_: None) -> None:
            desk.workbench.show_held_back()
            desk.current.update_page()

        screen = RatingScreen(connection(self._place, set_id, rater))
        desk.app.push_screen(screen, closed)
