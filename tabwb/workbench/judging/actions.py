"""Lets judges judge stored answers."""

from __future__ import annotations

from tabwb.workbench.engine.messages import JudgesPending, VerdictsWanted
from tabwb.workbench.judging.controller import JudgingProgress
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.subject import Actions


class JudgingActions(Actions):
    """Runs the commands that judge."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._open: int | None = None
        """The administration for which the dialog is open."""
        desk.listen(JudgingProgress, self.progress)
        desk.listen(JudgesPending, self.pending)

    def judge(self) -> None:
        """Judge the answers whose results are shown."""
        number = self.desk.current.administration()
        if number is not None:
            self.open_dialog(number)

    def open_dialog(self, number: int, judges: tuple[str, ...] = ()) -> None:
        """Open the dialog for one administration; with several judges one after the other."""
        from tabwb.workbench.judging.dialog import JudgingScreen

        def closed(_: None) -> None:
            self._open = None
            if judges[1:]:
                self.open_dialog(number, judges[1:])

        self._open = number
        judge = judges[0] if judges else ""
        self.desk.app.push_screen(JudgingScreen(self.desk, number, judge), closed)

    def progress(self, message: JudgingProgress) -> None:
        """Tell how judging ended when the dialog was closed."""
        if message.number != self._open and message.phase != "running":
            self.desk.notify(f"Judging: {message.words}", timeout=8, markup=False)

    def pending(self, message: JudgesPending) -> None:
        """Offer to judge with the judges of an administration that is over."""
        self.open_dialog(message.number, message.judges)

    def judges(self) -> None:
        """Show what every judge says of the response on the item pane."""
        work, item = self.desk.work, self.desk.current.shown_item()
        if work is not None and item is not None:
            self.desk.tell(VerdictsWanted(work.administration.id, item.place[0]))
