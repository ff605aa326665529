"""Lets judges judge stored answers."""

from __future__ import annotations

from tabwb.operations.judge import JudgeRun
from tabwb.workbench.engine.messages import JudgesPending, VerdictsWanted
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions


class JudgingActions(Actions):
    """Runs the commands that judge."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        desk.listen(JudgesPending, self.pending)

    def judge(self) -> None:
        """Judge the answers whose results are shown."""
        number = self.desk.current.administration()
        if number is not None:
            self.open_dialog(number)

    def open_dialog(self, number: int, judges: tuple[str, ...] = ()) -> None:
        """Open the dialog for one administration; with several judges one after the other."""
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        def closed(_: None) -> None:
            if judges[1:]:
                self.open_dialog(number, judges[1:])

        screen = OperationScreen(
            self.desk, JudgeRun, f"Judge #{number}", ids=(number,), judge=judges[:1]
        )
        self.desk.app.push_screen(screen, closed)

    def pending(self, message: JudgesPending) -> None:
        """Offer to judge with the judges of an administration that is over."""
        self.open_dialog(message.number, message.judges)

    def judges(self) -> None:
        """Show what every judge says of the response on the item pane."""
        work, item = self.desk.work, self.desk.current.shown_item()
        if work is not None and item is not None:
            self.desk.tell(VerdictsWanted(work.administration.id, item.place[0]))
