"""Shows results of administrations and single responses, and exports them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.engine.messages import (
    Changed,
    ExportWanted,
    ListenerChanged,
    ResultsWanted,
    Stored,
    VerdictsWanted,
)
from tabwb.workbench.results.controller import (
    RepliesRead,
    ResultsController,
    ResultsReady,
)
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions

if TYPE_CHECKING:
    from tabwb.workbench.results.page import ResultsPage
    from tabwb.workbench.results.presenter import Results


RENEW_S = 0.3
"""Results that change are read again after so many seconds at the earliest."""
SHARE = 10
"""They are read again only after this many times the time that reading them took."""


class ResultsActions(Actions):
    """Handles what other subjects ask of the results."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.results: Results | None = None
        """The results that were opened last."""
        self.listeners: dict[int, str] = {}
        """Who scores responses afterwards, by administration, where another person gave it."""
        self._trial: int | None = None
        """The trial whose response is shown when its results have come."""
        self._renewing: set[int] = set()
        """The administrations whose results will be read again."""
        self._took_s = 0.0
        desk.listen(ResultsWanted, self.wanted)
        desk.listen(VerdictsWanted, self.verdicts_wanted)
        desk.listen(ResultsReady, self.ready)
        desk.listen(RepliesRead, self.replies_read)
        desk.listen(Changed, self.changed)
        desk.listen(Stored, self.stored)
        desk.listen(ExportWanted, self.export)
        desk.listen(ListenerChanged, self.listener_changed)

    @property
    def _controller(self) -> ResultsController:
        return self.desk.controller(ResultsController)

    def wanted(self, message: ResultsWanted) -> None:
        """Read the results of an administration; they are shown when they have come."""
        self._trial = None
        self.desk.do(partial(self._controller.show, message.number))

    def verdicts_wanted(self, message: VerdictsWanted) -> None:
        """Read results; the response to one trial is shown when they have come."""
        self._trial = message.trial
        self.desk.do(partial(self._controller.show, message.number))

    def replies_read(self, message: RepliesRead) -> None:
        """Show the replies of judges."""
        if (page := self._page) is not None:
            page.replies_read(message)

    def stored(self, message: Stored) -> None:
        """Read results that are shown again, after they have changed in the store."""
        if self._shows(message.number):
            self._renew(message.number)

    def changed(self, message: Changed) -> None:
        """Read the results of the open administration again while it runs."""
        work, shown = message.work, self.results
        if work is None or shown is None or self.desk.page != "results":
            return
        given = work.administration
        before = (shown.administration.status, shown.administration.answered)
        if self._shows(given.id) and (given.status, given.answered) != before:
            self._renew(given.id)

    def _shows(self, number: int) -> bool:
        return self.results is not None and self.results.administration.id == number

    def _renew(self, number: int) -> None:
        """Read results again, soon, and so seldom that reading takes a small part of the time."""
        if number not in self._renewing:
            self._renewing.add(number)
            self.desk.set_timer(max(RENEW_S, SHARE * self._took_s), partial(self._again, number))

    def _again(self, number: int) -> None:
        self._renewing.discard(number)
        self.desk.do(partial(self._controller.show, number, again=True))

    async def ready(self, message: ResultsReady) -> None:
        """Show results; those that were read again only where they are shown already."""
        new, shown = message.results, self.results
        self._took_s = message.took_s
        if not message.again:
            self.results = new
            if (page := self._page) is not None:
                page.open_summary()
            await self.desk.go("results", keep_return=True)
            if self._trial is not None and (page := self._page) is not None:
                page.open_trial(self._trial)
        elif shown is not None and shown.administration.id == new.administration.id:
            self.results = new
            if self.desk.page == "results":
                self.desk.current.update_page()
        self.desk.show_frame()

    @property
    def _page(self) -> ResultsPage | None:
        from tabwb.workbench.results.page import ResultsPage

        return next(iter(self.desk.query(ResultsPage)), None)

    def listener_changed(self, message: ListenerChanged) -> None:
        """Hide what others said of an administration's responses until this rater has scored."""
        self.listeners[message.number] = message.rater
        if (page := self._page) is not None:
            page.refill()

    def export(self, message: ExportWanted) -> None:
        """Open the dialog that writes responses, a report or table, or a figure to a file."""
        from tabwb.operations.files import DrawFigure, ExportResults, WriteReport
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        numbers, name = message.numbers, message.name
        drawn: dict[str, Any] = {
            "ids": message.drawn or numbers, "by": message.by, "judge": message.judge or None,
            "figures": message.figures,
        }  # fmt: skip
        figure = next(iter(message.figures), "burden")
        by = "administration" if len(numbers) == 1 else "model"
        self.desk.app.push_screen(
            OperationScreen(
                self.desk, ExportResults, f"Export {message.what}",
                others=(
                    (WriteReport, {"ids": numbers, "by": by, "out": f"{name}.html"}),
                    (DrawFigure, {**drawn, "name": figure, "out": f"{name}-{figure}.pdf"}),
                ),
                then=self._written, ids=numbers, out=f"{name}.jsonl",
            )
        )  # fmt: skip

    def _written(self, state: JobState) -> None:
        """Say which files were written."""
        files = (state.document or {}).get("written", ())
        words = ", ".join(str(Path(one).absolute()) for one in files)
        self.desk.notify(f"Written: {words}", timeout=10, markup=False)
