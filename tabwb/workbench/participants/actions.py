"""Opens the page of participants."""

from __future__ import annotations

from tabwb.workbench.engine.messages import ParticipantWanted
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions


class ParticipantsActions(Actions):
    """Opens the page, for the list or for one participant."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.wanted = ""
        """The participant to be shown first."""
        desk.listen(ParticipantWanted, self.participant_wanted)

    async def participants(self) -> None:
        """Open the page."""
        await self.desk.go("participants")

    async def participant_wanted(self, message: ParticipantWanted) -> None:
        """Open the page at one participant."""
        self.wanted = message.code
        await self.desk.go("participants")
