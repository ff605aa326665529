"""The results of one administration: its head; below it the body for what was given."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from tabwb.workbench.engine.messages import ExportWanted
from tabwb.workbench.results.actions import ResultsActions
from tabwb.workbench.results.body import ResultsBody
from tabwb.workbench.results.controller import ResultsController
from tabwb.workbench.results.presenter import Results
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.docks import ShownScores
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.width_aware import Line
from tabwb.workbench.shell.wording import QUIET, conditions_words, name_of, status_words


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
        from tabwb.workbench.results.naming_body import NamingBody

        return next(iter(self.query(NamingBody)), None) or NamingBody(self.desk)

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
        facts = [name_of(given), *conditions_words(given)]
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

    def focus_inside(self) -> None:
        """Give the focus to summary or responses."""
        if self.body is not None:
            self.body.focus_inside()

    def refill(self) -> None:
        """Show the responses again: who may see what has changed."""
        if self.body is not None:
            self.body.refill()

    def escape(self) -> bool:
        """Leave a special view of the body; return whether there was one."""
        return self.body is not None and self.body.escape()

    def open_title(self) -> str | None:
        """Return whose results are shown."""
        return None if self.results is None else f"results · {name_of(self.results.administration)}"

    def administration(self) -> int | None:
        """Return the number of the administration whose results are shown."""
        return None if self.results is None else self.results.administration.id

    def shown_scores(self) -> ShownScores:
        """Return the scores of the results."""
        if self.results is None:
            return ShownScores()
        return ShownScores(self.results.scores, title="Scores", present=True)

    def administrations(self) -> tuple[int, ...]:
        """Return the number of the one whose results are shown."""
        return () if self.results is None else (self.results.administration.id,)

    def foot_word(self, command: Command) -> str:
        """Return the word of a command in the footer."""
        back = command.id == "results.responses" and bool(self.body and self.body.responses_shown)
        return "Summary" if back else command.foot

    def responses(self) -> None:
        """Change between summary and responses."""
        if self.body is not None:
            self.body.show_responses(not self.body.responses_shown)

    def export(self) -> None:
        """Write the responses to a file."""
        if self.results is not None:
            given = self.results.administration
            name, people = f"administration-{given.id}", given.conditions.guarded
            what, judges = f"#{given.id}", self.results.summary.judges
            judge = judges[0].rater if judges else ""
            self.desk.tell(
                ExportWanted(
                    (given.id,), what, name, people, self._figures(), judge=judge, drawn_words=what
                )
            )

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
            job = self.desk.controller(ResultsController).rescore
            self.desk.do(partial(job, self.results.administration.id))

    async def back(self) -> None:
        """Return to where the results were opened, to the open administration, or home."""
        desk = self.desk
        if not desk.docks.leave_drawer():
            work = desk.work
            await desk.go(desk.return_to or ("home" if work is None else work.page))
