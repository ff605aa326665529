"""The desk's part that gives administrations: it turns keys into commands for the worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING

from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Trial
from tabwb.workbench.shell.commands import BY_ID, available
from tabwb.workbench.shell.reasons import why_not
from tabwb.workbench.trial.opening import Opening

if TYPE_CHECKING:
    from tabwb.workbench.naming.results import NamedResponse
    from tabwb.workbench.results.page import ResultsPage
    from tabwb.workbench.shell.commands import Situation
    from tabwb.workbench.trial.page import TrialPage


Action = Callable[["Administering"], None]


def _possible(action: Action) -> Action:
    """Say why a command cannot be used now instead of doing it."""
    name = action.__name__.removeprefix("action_").replace("_", ".", 1)

    @wraps(action)
    def checked(self: Administering) -> None:
        now = self.situation()
        if available(BY_ID[name], now):
            action(self)
        else:
            self.say(why_not(name, now))

    return checked


class Administering(Opening):
    """What the commands of *Administer* and *Results* do. The desk is one."""

    # ---------------------------------------------------------------- what the desk brings

    def situation(self) -> Situation:
        """What decides which commands make sense now."""
        raise NotImplementedError

    def focus_page(self) -> None:
        """Give the keys to the page."""
        raise NotImplementedError

    def ask_for_verdicts(self, number: int, trial: Trial) -> None:
        """Show what every judge says of one response."""
        raise NotImplementedError

    def say_by_ear(self, at: tuple[int, int], named: NamedResponse, what: str) -> None:
        """Score or code a response afterwards, or write down what was heard."""
        raise NotImplementedError

    def say(self, words: str) -> None:
        """Say something in the place of the hint."""
        self.trial_page.say(words)

    @property
    def trial_page(self) -> TrialPage:
        """The item pane; mounted when the first administration is opened."""
        from tabwb.workbench.trial.page import TrialPage

        return self.query_one(TrialPage)

    @property
    def results_page(self) -> ResultsPage:
        """The results; mounted when they are first shown."""
        from tabwb.workbench.results.page import ResultsPage

        return self.query_one(ResultsPage)

    def _turn(self, job: Callable[[], None]) -> None:
        work = self.work
        if work is not None and work.administration.conditions.kind == "model":
            self.queued = work.status in {
                AdministrationStatus.RUNNING,
                AdministrationStatus.PAUSED,
            }
        self.do(job)

    # ---------------------------------------------------------------- administer

    @_possible
    def action_administer_next(self) -> None:
        """Next item."""
        self._turn(self.bench.next)

    def action_administer_answer(self) -> None:
        """Put the cursor into the answer field."""
        self.trial_page.enter_answer()

    def on_trial_page_answered(self, message: TrialPage.Answered) -> None:
        """A person recorded an answer."""
        self.do(partial(self.bench.answer, message.text, message.latency_s))

    @_possible
    def action_administer_repeat(self) -> None:
        """Ask again."""
        self._turn(self.bench.repeat)

    @_possible
    def action_administer_auto(self) -> None:
        """Auto-run on or off."""
        on = self.work is not None and not self.work.auto
        if not on:
            # Seen by the worker before its next turn, whatever stands in its queue.
            self.bench.auto = False
        self.do(partial(self.bench.set_auto, on))

    def action_administer_stop(self) -> None:
        """Stop the answer, or the loading, that is under way."""
        if self.close_drawer():
            return
        self.bench.auto = False
        self.bench.interrupt(loading=bool(self.work and self.work.loading))

    @_possible
    def action_administer_undo(self) -> None:
        """Undo."""
        self.do(self.bench.undo)

    @_possible
    def action_administer_pause(self) -> None:
        """Pause after what is under way, or go on."""
        self.bench.auto = False
        if self.work is not None and self.work.asking:
            self.pausing = True
            self.show_work()
        self.do(self.bench.pause)

    @_possible
    def action_administer_skip(self) -> None:
        """Skip with a reason."""
        self._ask_words("Skip this item", "Reason", self.bench.skip)

    @_possible
    def action_administer_void(self) -> None:
        """Declare void with a reason."""
        self._ask_words("Declare this item void", "Reason", self.bench.void)

    @_possible
    def action_administer_discontinue(self) -> None:
        """Discontinue with a reason."""
        self._ask_words(
            "Discontinue the administration", "Reason", self.bench.discontinue,
            "Items not yet given will read: not administered. u takes it back.",
        )  # fmt: skip

    def action_administer_note(self) -> None:
        """Write a note on the item shown now, also when others follow while it is written."""
        item = self.work.item if self.work is not None else None
        number = item.trial.plan.number if item is not None else None
        self._ask_words("Note", "Note", partial(self.bench.note, number))

    def action_administer_sent(self) -> None:
        """Show or hide the exact prompt."""
        self.trial_page.sent_shown = not self.trial_page.sent_shown
        self.show_work()

    def action_administer_verdicts(self) -> None:
        """Show or hide verdicts."""
        self.trial_page.verdicts_shown = self.trial_page.hidden
        self.show_work()

    def action_administer_results(self) -> None:
        """Results so far."""
        if self.work is not None:
            self.do(partial(self.bench.results, self.work.administration.id))

    def _ask_words(
        self, title: str, label: str, job: Callable[[str], None], text: str = ""
    ) -> None:
        from tabwb.workbench.shell.ask_words import AskWords

        def given(words: str | None) -> None:
            if words is not None:
                self.do(partial(job, words))

        self.app.push_screen(AskWords(title, label, text), given)

    # ---------------------------------------------------------------- results

    def action_results_responses(self) -> None:
        """Summary or responses."""
        page = self.results_page
        page.show_responses(not page.responses_shown)

    def action_results_export(self) -> None:
        """Write to a file."""
        if self.results is None or self.catalogue is None:
            return
        from tabwb.workbench.results.export import ExportScreen

        given = self.results.administration
        self.app.push_screen(
            ExportScreen(
                f"#{given.id}",
                self.catalogue.exporters,
                partial(self.export, (given.id,)),
                name=f"administration-{given.id}",
                people=given.conditions.guarded,
            )
        )

    def export(self, numbers: Sequence[int], format_id: str, path: str, within: bool) -> None:
        """Have administrations written to a file."""
        self.do(partial(self.bench.export, numbers, format_id, path, within_study=within))

    def action_results_rescore(self) -> None:
        """Score again."""
        if self.results is not None:
            self.do(partial(self.bench.rescore, self.results.administration.id))

    def action_results_back(self) -> None:
        """Leave the results: to the administration if it is open, else home."""
        if self.close_drawer():
            return
        self.run_worker(self.go(self.work_page if self.work is not None else "home"))

    def on_results_page_chosen(self, message: ResultsPage.Chosen) -> None:
        """Open one response."""
        if self.results is None:
            return
        from tabwb.workbench.results.response import ResponseScreen

        given = self.results.administration
        number, trial = given.id, message.row.item.place[0]

        def chosen(what: str | None) -> None:
            if what == "void":
                self._ask_words(
                    f"Declare item {trial} void",
                    "Reason",
                    partial(self.bench.void_trial, number, trial),
                )
            elif what == "note":
                self._ask_words(
                    f"Note on item {trial}", "Note", partial(self.bench.note_trial, number, trial)
                )
            elif what == "judges":
                self.ask_for_verdicts(number, message.row.item.trial)

        listen = partial(self.bench.play_response, number, trial)
        self.app.push_screen(
            ResponseScreen(
                message.row,
                (number, trial),
                listen=lambda: self.do(listen),
                by_ear=partial(self.say_by_ear, (number, trial)),
                rater=self.listeners.get(number, given.conditions.rater),
            ),
            chosen,
        )
