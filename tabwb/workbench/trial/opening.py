"""The desk's part that begins and opens administrations; it has the worker do it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.screen import Screen

from tabwb.records.states import AdministrationStatus
from tabwb.workbench.engine.snapshots import Catalogue, Results, Work
from tabwb.workbench.shell.wording import name_of, special_words

if TYPE_CHECKING:
    from tabwb.workbench.engine.session_controller import Bench
    from tabwb.workbench.engine.worker import Worker
    from tabwb.workbench.shell.commands import Page
    from tabwb.workbench.trial.draft import Draft


class Opening(Screen[None]):
    """What the commands of *File* do. The desk is one."""

    page: Page = "home"
    catalogue: Catalogue | None = None
    work: Work | None = None
    results: Results | None = None
    listeners: dict[int, str]
    """Administration to who scores its responses afterwards, where that is another than began."""
    _worker: Worker | None = None
    _done = 0
    queued = False
    """A model's turn was asked for and has not begun."""
    pausing = False
    """A pause follows the answer under way."""

    # ---------------------------------------------------------------- what the desk brings

    async def go(self, page: Page) -> None:
        """Put a page into the middle."""
        raise NotImplementedError

    def show_work(self) -> None:
        """Show the open administration."""
        raise NotImplementedError

    def close_drawer(self) -> bool:
        """Close an open drawer; whether there was one."""
        raise NotImplementedError

    @property
    def work_page(self) -> Page:
        """The page on which the open administration is given."""
        return "trial"

    # ---------------------------------------------------------------- the worker

    def start_worker(self, location: str | None, offline: bool) -> None:
        """Start the thread that owns the session."""
        from tabwb.workbench.engine.worker import Worker

        self._worker = Worker(self.post_message, location=location, offline=offline)
        self._worker.start()

    def close_worker(self) -> bool:
        """Stop it; an open administration is paused. Whether that was done in time."""
        worker = self._worker
        if worker is None:
            return True
        closed = worker.stop()
        self._worker = None
        return closed

    @property
    def bench(self) -> Bench:
        """The engine's side; its commands go through :meth:`do`."""
        assert self._worker is not None
        return self._worker.bench

    @property
    def settled(self) -> bool:
        """Whether the worker has done everything it was asked for, and it is shown."""
        return self._worker is None or self._done >= self._worker.accepted

    def on_settled(self) -> None:
        """A command is done."""
        self._done += 1

    def do(self, job: Callable[[], None]) -> None:
        """Queue a command."""
        if self._worker is not None:
            self._worker.do(job)

    def take_work(self, work: Work | None) -> None:
        """Keep the administration as it stands now."""
        self.work = work
        running = work is not None and work.status is AdministrationStatus.RUNNING
        if work is None or work.asking or not running:
            self.queued = False
        if work is None or not work.asking:
            self.pausing = False

    # ---------------------------------------------------------------- file

    def open_dialog(
        self,
        *,
        battery: str | None = None,
        model: str | None = None,
        examinee: str | None = None,
    ) -> None:
        """The new-administration dialog, with these filled in."""
        if self.catalogue is None or self._worker is None:
            self.notify("The store is not open yet.")
            return
        from tabwb.workbench.trial.new_administration import NewAdministration

        draft = self.drafted(self.catalogue)
        if battery:
            draft = replace(draft, battery=battery)
        if model:
            draft = replace(draft, model=model)
        if examinee:
            kinds = {
                one.conditions.examinee: one.conditions for one in self.catalogue.administrations
            }
            if kinds[examinee].kind == "model":
                draft = replace(draft, model=examinee)
            else:
                draft = replace(
                    draft,
                    kind="speaker",
                    speaker=examinee,
                    research_protocol=kinds[examinee].research_protocol or "",
                )

        def begun(draft: Draft | None) -> None:
            if draft is not None:
                self.begin(draft)

        bench = self.bench
        self.app.push_screen(
            NewAdministration(self.catalogue, draft, bench.check, bench.ahead), begun
        )

    def drafted(self, catalogue: Catalogue) -> Draft:
        """What the dialog is filled in with."""
        from tabwb.workbench.trial.draft import default_draft

        return default_draft(catalogue)

    def begin(self, draft: Draft) -> None:
        """Begin what the dialog asks for."""
        self.do(partial(self.bench.begin, draft))

    def action_file_new(self) -> None:
        """Begin an administration."""
        self.open_dialog()

    def action_file_open(self) -> None:
        """Find an administration."""
        if self.catalogue is None:
            return
        from tabwb.workbench.trial.open import OpenScreen

        def chosen(number: int | None) -> None:
            if number is not None:
                self.offer(number)

        self.app.push_screen(OpenScreen(self.catalogue.administrations), chosen)

    def offer(self, number: int) -> None:
        """Open an administration: results, or the offer to go on with it."""
        if self.catalogue is None:
            return
        one = next((one for one in self.catalogue.administrations if one.id == number), None)
        if one is None:
            return
        self.close_drawer()
        if self.work is not None and self.work.administration.id == number:
            self.run_worker(self.go(self.work_page))
            return
        over = one.status in {AdministrationStatus.DONE, AdministrationStatus.DISCONTINUED}
        broken = number in self.catalogue.interrupted
        if over and not broken:
            self.do(partial(self.bench.results, number))
            return
        from tabwb.workbench.shell.choice import ChoiceScreen

        def chosen(what: str | None) -> None:
            if what in {"resume", "keep"} and broken:
                self.do(partial(self.bench.keep_interrupted, number))
            if what == "resume":
                self.do(partial(self.bench.resume, number))
            elif what == "results":
                self.do(partial(self.bench.results, number))

        whose = " · ".join([name_of(one), *special_words(one)])
        words = (
            f"{whose}\n{one.battery_title} is {one.status_word}: {one.answered} of "
            f"{one.planned} answered. Nothing that was answered is asked again."
        )
        choices = [("results", "Results so far"), ("close", "Not now")]
        if broken:
            words += "\n\nIts recording was interrupted; what was recorded until then can be kept."
            choices.insert(0, ("keep", "Keep it"))
        if not over:
            choices.insert(0, ("resume", "Resume"))
        title = f"#{number}" if over else f"Resume #{number}?"
        self.app.push_screen(ChoiceScreen(title, words, tuple(choices)), chosen)
