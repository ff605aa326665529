"""The base of what the results page shows below its head, for one kind of administrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tabwb.workbench.results.naming_summary import NamingSummary
    from tabwb.workbench.results.presenter import Results
    from tabwb.workbench.results.responses import ResponsesView
    from tabwb.workbench.results.written_summary import WrittenSummary
    from tabwb.workbench.shell.desk import Desk


class ResultsBody(Vertical):
    """A summary and a list of responses, of which one is shown.

    The page mounts a body when results of its kind are shown first, and hides it while another
    kind is shown. A body that has just been mounted shows its results as soon as it is composed.

    Attributes:
        results: those that are shown; None before the first.
        responses_shown: whether the list of responses is shown instead of the summary.
    """

    def __init__(
        self, desk: Desk, name: str, summary: WrittenSummary | NamingSummary, view: ResponsesView
    ) -> None:
        super().__init__(id=name, classes="results-body")
        self.desk, self.summary, self.view = desk, summary, view
        self.results: Results | None = None
        self.responses_shown = False
        self._composed = self._focus_wanted = False
        self._wanted_trial: int | None = None

    def compose(self) -> ComposeResult:
        """Yield summary and responses, of which one is shown."""
        yield self.summary
        yield self.view

    def on_mount(self) -> None:
        """Show the results that came before the widgets were there."""
        self._composed = True
        self._update(new=True)
        if self._focus_wanted:
            self.focus_inside()

    def show(self, results: Results) -> None:
        """Show results; those of another administration begin with their summary."""
        shown = self.results
        new = shown is None or shown.administration.id != results.administration.id
        self.results = results
        if new:
            self.responses_shown = False
        if self._composed:
            self._update(new=new)

    def _update(self, *, new: bool) -> None:
        self.update_results(new=new)
        self.show_responses(self.responses_shown, focus=False)
        if self._wanted_trial is not None:
            trial, self._wanted_trial = self._wanted_trial, None
            self.open_trial(trial)

    def focus_inside(self) -> None:
        """Give the focus to summary or responses."""
        if self._composed:
            self.show_responses(self.responses_shown)
        else:
            self._focus_wanted = True

    def open_trial(self, trial: int) -> None:
        """Show the response to one trial, as soon as that can be done."""
        if self._composed:
            self.show_responses(shown=True)
            self.mark(trial)
        else:
            self._wanted_trial = trial

    def update_results(self, *, new: bool) -> None:
        """Show :attr:`results`."""
        raise NotImplementedError

    def show_responses(self, shown: bool, *, focus: bool = True) -> None:
        """Show the list of responses, or the summary."""
        inside = self.has_focus_within
        self.responses_shown = shown
        self.view.display, self.summary.display = shown, not shown
        if focus or inside:
            if not shown:
                self.summary.focus_inside()
            elif not self.view.has_focus_within:
                self.view.focus_inside()

    def show_summary(self) -> None:
        """Show the summary from its first line; the first response is marked."""
        self.responses_shown = False
        self.summary.to_first_lines()

    def mark(self, trial: int) -> None:
        """Mark the response to one trial."""
        self.view.mark(trial)

    def refill(self) -> None:
        """Fill the list of responses again: who may see what has changed."""

    def escape(self) -> bool:
        """Go back from a response to the list; return whether the response had the focus."""
        return self.responses_shown and self.view.escape()
