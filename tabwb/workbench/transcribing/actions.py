"""Opens the dialog that transcribes; starts what other subjects ask for."""

from __future__ import annotations

from functools import partial

from tabwb.workbench.engine.messages import TranscribingWanted
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions
from tabwb.workbench.transcribing.controller import TranscribingController, TranscribingWish


class TranscribingActions(Actions):
    """Handles what other subjects ask of transcribing."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        desk.listen(TranscribingWanted, self.wanted)

    def wanted(self, message: TranscribingWanted) -> None:
        """Transcribe in the background; ask with which transcriber where none is named."""
        number, catalogue = message.number, self.desk.catalogue
        if message.transcriber:
            self._begin(number, TranscribingWish(message.transcriber, quiet=True))
        elif catalogue is not None:
            from tabwb.workbench.transcribing.dialog import TranscribingScreen

            given = (one for one in catalogue.administrations if one.id == number)
            spec = next((one.conditions.transcriber for one in given), None)
            screen = TranscribingScreen(number, spec or "", catalogue, self._controller.check)
            self.desk.app.push_screen(screen, partial(self._begin, number))

    def _begin(self, number: int, wish: TranscribingWish | None) -> None:
        if wish is not None:
            self.desk.do(partial(self._controller.transcribe, number, wish))

    @property
    def _controller(self) -> TranscribingController:
        return self.desk.controller(TranscribingController)
