"""The results of one administration: its head; below it the body for what was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from tabwb.workbench.results.actions import ResultsActions
from tabwb.workbench.results.responses import ResponsesView, ResultsBody
from tabwb.workbench.results.stored import Results, note_trial, rescore, void_trial
from tabwb.workbench.results.subject import ResultsShown
from tabwb.workbench.results.written import WrittenBody
from tabwb.workbench.shell.commands import Command, Situation
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.widgets import Line
from tabwb.workbench.shell.wording import QUIET, conditions_words, name_of, status_words

if TYPE_CHECKING:
    from tabwb.workbench.engine.session_controller import SessionController
    from tabwb.workbench.results.naming_body import NamingBody

LAST_IN_FOOT = 14


class ResultsPage(Page):
    """Head and body."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "app.focus_next", show=False)]

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self.results: Results | None = None
        self.body: ResultsBody | None = None

    def compose(self) -> ComposeResult:
        """Head; a body is mounted when there are results for it."""
        yield Line(id="results-head")
        yield Static(id="results-conditions", markup=False)

    def _body_of(self, results: Results) -> ResultsBody:
        """Return the body that shows these results."""
        kind: type[NamingBody | WrittenBody] = WrittenBody
        if results.summary.named:
            from tabwb.workbench.results.naming_body import NamingBody

            kind = NamingBody
        return next(iter(self.query(kind)), None) or kind(self.desk)

    def update_page(self) -> None:
        """Show the results that were opened last."""
        results = self.desk.actions(ResultsActions).results
        if results is None:
            return
        self.results = results
        given = results.administration
        title = Content.assemble(
            (f"#{given.id}  {given.battery_title}", "bold"),
            (f"  {results.battery.version}", QUIET),
        )
        self.query_one("#results-head", Line).show(title, status_words(given))
        facts = [name_of(given), *filter(None, (given.title, ", ".join(given.tags)))]
        facts += [*conditions_words(given), *(f"note: {note}" for note in given.notes)]
        if given.reason:
            facts.append(f"reason: {given.reason}")
        words = Content.styled(" · ".join(facts), QUIET)
        self.query_one("#results-conditions", Static).update(words)
        self.body = self._body_of(results)
        for other in self.query(ResultsBody):
            other.display = other is self.body
        self.body.show(results)
        if not self.body.is_attached:
            self.mount(self.body)

    def open_summary(self) -> None:
        """What is opened next begins with its summary, from its first line."""
        if self.body is not None:
            self.body.show_summary()

    def open_trial(self, trial: int) -> None:
        """Show the response to one trial."""
        if self.body is not None:
            self.body.open_trial(trial)
            self.desk.show_foot()

    def focus_inside(self) -> None:
        """Give the focus to summary or responses."""
        if self.body is not None:
            self.body.focus_inside()

    def refill(self) -> None:
        """Show the responses again: who may see what has changed."""
        if self.body is not None:
            self.body.refill()

    def toggle_side(self) -> bool:
        """Show or hide the features beside the accuracies, the response beside the list."""
        if self.body is not None:
            self.body.toggle_class("-alone")
            self.body.focus_inside()
            self.call_after_refresh(self.body.view.fill)
        return self.body is not None

    def escape(self) -> bool:
        """Leave a special view of the body; return whether there was one."""
        return self.body is not None and self.body.escape()

    def open_title(self) -> str | None:
        """Return whose results are shown."""
        return None if self.results is None else f"results · {name_of(self.results.administration)}"

    def administration(self) -> int | None:
        """Return the number of the administration whose results are shown."""
        return None if self.results is None else self.results.administration.id

    def administrations(self) -> tuple[int, ...]:
        """Return the number of the one whose results are shown."""
        return () if self.results is None else (self.results.administration.id,)

    def foot_word(self, command: Command) -> str:
        """Return the word of a command in the footer."""
        back = command.id == "results.responses" and bool(self.body and self.body.responses_shown)
        return "Summary" if back else command.foot

    def foot_rank(self, command: Command) -> int:
        """Return a command's place in the footer; other results are not what is needed most."""
        return LAST_IN_FOOT if command.id == "file.open" else super().foot_rank(command)

    def situation(self, situation: Situation) -> Situation:
        """Return the situation with what the page shows."""
        listed = self.body is not None and self.body.responses_shown
        there = self.body is not None and self.body.view.is_mounted
        heard = self._view.row if there else None
        row = heard if listed else None
        attempt = heard.item.attempt if heard is not None else None
        named = self.results is not None and bool(self.results.summary.named)
        recorded = attempt is not None and "recording" in attempt.metadata
        shown = ResultsShown(listed, row is not None, named, recorded)
        return replace(situation, extension=shown)

    @property
    def _view(self) -> ResponsesView:
        """The responses, which are shown when a command on them is run."""
        assert self.body is not None
        return self.body.view

    def next(self) -> None:
        """Mark the next response."""
        self._view.action_step(1)

    def compare_with(self) -> None:
        """Compare with another administration."""
        self.desk.request("comparison", "compare_with", self.administration())

    def listen(self) -> None:
        """Play the marked response, or stop; the summary says which that is."""
        row, number = self._view.row, self.administration()
        if row is not None and number is not None:
            if self.body is not None and not self.body.responses_shown:
                words = f"item {row.item.place[0]}, {row.item.trial.plan.item}: t lists all"
                self.desk.notify(words, timeout=4, markup=False)
            self.desk.request("naming", "playback", number, row.item.place[0])

    def filter(self) -> None:
        """Ask for words to filter the responses by."""
        self._view.filter()

    def sort(self) -> None:
        """Sort the responses by the next column."""
        self._view.sort()

    def reverse(self) -> None:
        """Reverse the order of the responses."""
        self._view.reverse()

    def exact(self) -> None:
        """Show the exact prompt, or that of the item again."""
        if isinstance(self.body, WrittenBody):
            self.body.exact()

    def raw(self) -> None:
        """Show the judges' reasons and raw replies, or their verdicts again."""
        if isinstance(self.body, WrittenBody):
            self.body.raw()

    def _ask(
        self,
        title: str,
        label: str,
        job: Callable[[SessionController, int, int, str], None],
    ) -> None:
        """Ask for words about the marked response; then a job is queued with them."""
        row, number = self._view.row, self.administration()
        if row is not None and number is not None:
            trial = row.item.place[0]
            told = partial(job, self.desk.sessions, number, trial)
            self.desk.ask_words(title.format(trial), label, told)

    def void(self) -> None:
        """Declare the marked response void."""
        self._ask("Declare item {} void", "Reason", void_trial)

    def note(self) -> None:
        """Write a note on the marked response."""
        self._ask("Note on item {}", "Note", note_trial)

    def responses(self) -> None:
        """Change between summary and responses."""
        if self.body is not None:
            self.body.show_responses(not self.body.responses_shown)
            self.desk.show_foot()

    def export(self) -> None:
        """Write the responses to a file."""
        if self.results is not None:
            given = self.results.administration
            name, judges = f"administration-{given.id}", self.results.summary.judges
            judge = judges[0].rater if judges else ""
            self.desk.request(
                "results", "export", (given.id,), f"#{given.id}", name, figures=self._figures(),
                judge=judge,
            )  # fmt: skip

    def _figures(self) -> tuple[str, ...]:
        """The figures of one administration: of pictures named aloud others than of text."""
        assert self.results is not None
        if self.results.summary.named:
            return ("confusion", "latency")
        several = len(self.results.summary.judges) > 1
        return ("burden", "accuracy", "profile", *(("agreement",) if several else ()), "latency")

    def rescore(self) -> None:
        """Score again."""
        if self.results is not None:
            desk, number = self.desk, self.results.administration.id
            desk.do(partial(rescore, desk.sessions, number))

    async def back(self) -> None:
        """Return to where the results were opened, to the open administration, or home."""
        desk = self.desk
        if not self.escape() and not desk.docks.leave_drawer():
            await desk.back()
