"""What the results page shows of a naming administration: figures, or responses one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from tabwb.workbench.engine.messages import (
    ListenerInput,
    Playing,
    ResultsWanted,
)
from tabwb.workbench.results.actions import ResultsActions
from tabwb.workbench.results.body import ResultsBody
from tabwb.workbench.results.controller import ResultsController
from tabwb.workbench.results.naming_columns import columns_of
from tabwb.workbench.results.naming_detail import title_of
from tabwb.workbench.results.naming_pane import NamedDetail
from tabwb.workbench.results.naming_sound import Correction, SoundReady
from tabwb.workbench.results.naming_summary import NamingSummary, Sessions
from tabwb.workbench.results.presenter import ResponseRow
from tabwb.workbench.results.responses import ResponsesView
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.waveform import Waveform


class NamingBody(ResultsBody):
    """Summary, or the list of responses with the marked one."""

    def __init__(self, desk: Desk) -> None:
        self._summary, self._detail = NamingSummary(id="named-summary"), NamedDetail()
        view = ResponsesView(self._columns, self._detail, self._show_detail)
        super().__init__(desk, "named-results", self._summary, view)
        self._asked: tuple[int, int] | None = None
        """The response whose sound was asked for: administration and trial."""

    def on_mount(self) -> None:
        """Listen to what the worker has read."""
        self.desk.news.subscribe(self, self._hear)

    # ---------------------------------------------------------------- what is shown

    def update_results(self, *, new: bool) -> None:
        """Show the results."""
        if self.results is not None:
            self._summary.show(self.results, arpabet=self.arpabet)
            self.view.show(self._rows(), new=new)

    @property
    def arpabet(self) -> bool:
        """Whether phonemes are shown in ARPAbet; else in IPA."""
        return self.desk.workbench.remembered.arpabet

    @property
    def rater(self) -> str:
        """The ID of the one who listens from now on; empty: the one who gave it."""
        number = 0 if self.results is None else self.results.administration.id
        return self.desk.actions(ResultsActions).listeners.get(number, "")

    def _rows(self) -> list[ResponseRow]:
        return [] if self.results is None else [self._seen(row) for row in self.results.responses]

    def _seen(self, row: ResponseRow) -> ResponseRow:
        """Return a response without what others said, until who listens has scored too."""
        if row.named is None or not self.rater:
            return row
        named = row.named.seen_by(self.rater)
        return row if named is row.named else replace(row, named=named, verdict="", glyph="open")

    def refill(self) -> None:
        """Show the responses again: who may see what has changed."""
        self.view.show(self._rows(), new=False)

    def _columns(self, rows: Sequence[ResponseRow]) -> Sequence[Column[ResponseRow]]:
        return columns_of(rows, arpabet=self.arpabet)

    def _show_detail(self, row: ResponseRow | None) -> str:
        """Show the marked response, and have its picture and sound read."""
        results = self.results
        if results is None or row is None:
            self._asked = None
            self._detail.show(None)
            return "Response"
        asked = results.administration.id, row.item.place[0]
        rater = self.rater or results.administration.conditions.rater
        new = asked != self._asked
        self._detail.show(row, rater, arpabet=self.arpabet, new=new)
        self._asked = asked
        if row.named is not None:
            read = self.desk.controller(ResultsController).read_sound
            battery, hidden = results.administration.battery_hash, row.named.hidden
            self.desk.do(partial(read, asked[0], battery, row.named.naming, hidden=hidden))
        return title_of(row)

    def _hear(self, message: object) -> None:
        """Show picture and sound of the marked response, and where it is played."""
        match message:
            case SoundReady(number=number, trial=trial) if (number, trial) == self._asked:
                self._detail.show_sound(message.pixels, message.sound, message.trouble)
            case Playing(number=number, trial=trial) if (number, trial) == self._asked:
                self._detail.follow(message.position)

    def on_sessions_wanted(self, message: Sessions.Wanted) -> None:
        """Show the results of another session of the speaker."""
        message.stop()
        self.desk.tell(ResultsWanted(message.number))

    # ---------------------------------------------------------------- commands

    def say(self, what: str) -> None:
        """Score or code the marked response, or write what was heard; ``rater``: who listens."""
        row = self.view.row
        if row is None or row.named is None or self._asked is None:
            return
        named = row.named
        self.desk.tell(
            ListenerInput(
                *self._asked,
                what,
                self.rater,
                target=named.item.target,
                code=named.item.code,
                flags=named.flags,
                rules_seen=named.listed,
            )
        )

    def on_waveform_onset_moved(self, message: Waveform.OnsetMoved) -> None:
        """Keep the onset where it was moved to."""
        self._correct(onset_s=message.at_s)

    def on_waveform_limits_moved(self, message: Waveform.LimitsMoved) -> None:
        """Keep the limits where they were moved to."""
        self._correct(limits=(message.start_s, message.end_s))

    def _correct(
        self, onset_s: float | None = None, limits: tuple[float, float] | None = None
    ) -> None:
        if self._asked is not None:
            made = Correction(*self._asked, self.rater, onset_s, limits)
            self.desk.do(partial(self.desk.controller(ResultsController).correct, made))

    def undo(self) -> None:
        """Take back the latest correction of the marked response."""
        if self._asked is not None:
            job = self.desk.controller(ResultsController).undo_correction
            self.desk.do(partial(job, *self._asked))

    def turn_notation(self) -> None:
        """Show phonemes in ARPAbet, or in IPA again."""
        self.desk.workbench.remember(arpabet=not self.arpabet)
        self.update_results(new=False)
