"""Shows results of administrations and single responses, has them judged, and exports them."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.operations.judge import JudgeRun
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.engine.messages import Changed, Stored
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions

if TYPE_CHECKING:
    from tabwb.workbench.results.page import ResultsPage
    from tabwb.workbench.results.stored import Results


HIDDEN = "Scores and transcripts of others are shown after your score."
RENEW_S = 0.3
"""Results that change are read again after so many seconds at the earliest."""
SHARE = 10
"""They are read again only after this many times the time that reading them took."""


class ResultsActions(Actions):
    """What other subjects ask of the results; keeps those that are shown as they are stored."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.results: Results | None = None
        """The results that were opened last."""
        self.listeners: dict[int, str] = {}
        """Who scores responses afterwards, by administration, where another person gave it."""
        self._renewing: set[int] = set()
        """The administrations whose results will be read again."""
        self._took_s = 0.0
        desk.listen(Changed, self.changed)
        desk.listen(Stored, self.stored)

    async def show(self, number: int, trial: int | None = None) -> None:
        """Read the results of an administration, then show them, or the response to a trial."""
        self.results = await self._read(number)
        if (page := self._page) is not None:
            page.open_summary()
        await self.desk.go("results", keep_return=True)
        if trial is not None and (page := self._page) is not None:
            page.open_trial(trial)
        self.desk.show_frame()

    async def _read(self, number: int) -> Results:
        from tabwb.workbench.results.stored import read_results

        def timed() -> tuple[Results, float]:
            started = time.monotonic()
            return read_results(self.desk.engine, number), time.monotonic() - started

        results, self._took_s = await self.desk.ask(timed)
        return results

    # ---------------------------------------------------------------- read again

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
            soon_s = max(RENEW_S, SHARE * self._took_s)
            self.desk.set_timer(soon_s, partial(self.desk.start, self._again, number))

    async def _again(self, number: int) -> None:
        """Show results that were read again where they are shown already."""
        self._renewing.discard(number)
        results = await self._read(number)
        if self._shows(number):
            self.results = results
            if self.desk.page == "results":
                self.desk.current.update_page()
        self.desk.show_frame()

    @property
    def _page(self) -> ResultsPage | None:
        from tabwb.workbench.results.page import ResultsPage

        return next(iter(self.desk.query(ResultsPage)), None)

    # ---------------------------------------------------------------- what is done with them

    def listener_changed(self, number: int, rater: str) -> None:
        """Hide what others said of an administration's responses until this rater has scored."""
        self.listeners[number] = rater
        if (page := self._page) is not None:
            page.refill()

    def sessions_dial(self, speaker: str, battery: str, item: str = "") -> None:
        """Show the sessions of a speaker on the dial, unless another rater listens blind."""
        if any(self.listeners.values()):  # the dial has the scores of all sessions
            self.desk.current.show_message(HIDDEN)
        else:
            self.desk.request("lesions", "dial_sessions", speaker, battery, item)

    def judge(self, number: int | None = None, judges: tuple[str, ...] = ()) -> None:
        """Let judges judge the answers of an administration, one after the other."""
        number = self.desk.current.administration() if number is None else number
        if number is not None:
            self.desk.start(self._judge, number, judges)

    async def _judge(self, number: int, judges: tuple[str, ...]) -> None:
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        for at in range(max(len(judges), 1)):
            title, judge = f"Judge #{number}", judges[at : at + 1]
            screen = OperationScreen(self.desk, JudgeRun, title, ids=(number,), judge=judge)
            await self.desk.app.push_screen_wait(screen)

    def export(
        self,
        numbers: tuple[int, ...],
        what: str,
        name: str,
        *,
        figures: tuple[str, ...],
        drawn: tuple[int, ...] = (),
        by: str = "administration",
        judge: str = "",
    ) -> None:
        """Open the dialog that writes responses, a report or table, or a figure to a file.

        ``name`` is the proposed file's, without its ending; ``drawn`` are the administrations that
        figures show, if not those that are exported, ``judge`` whose burdens they show.
        """
        from tabwb.operations.files import DrawFigure, ExportResults, WriteReport
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        shown: dict[str, Any] = {
            "ids": drawn or numbers, "by": by, "judge": judge or None, "figures": figures,
        }  # fmt: skip
        figure = next(iter(figures), "burden")
        grouped = "administration" if len(numbers) == 1 else "model"
        self.desk.app.push_screen(
            OperationScreen(
                self.desk, ExportResults, f"Export {what}",
                others=(
                    (WriteReport, {"ids": numbers, "by": grouped, "out": f"{name}.html"}),
                    (DrawFigure, {**shown, "name": figure, "out": f"{name}-{figure}.pdf"}),
                ),
                then=self._written, ids=numbers, out=f"{name}.jsonl",
            )
        )  # fmt: skip

    def _written(self, state: JobState) -> None:
        """Say which files were written."""
        files = (state.document or {}).get("written", ())
        words = ", ".join(str(Path(one).absolute()) for one in files)
        self.desk.notify(f"Written: {words}", timeout=10, markup=False)
