"""Begins and opens administrations: the commands *New* and *Open*, choices in explorer and home."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tabwb.records.trials import Administration
from tabwb.workbench.engine.messages import KeepRecordings, ResultsWanted
from tabwb.workbench.engine.view_models import UNFINISHED, Catalogue
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ChoiceScreen
from tabwb.workbench.shell.docks import Entry
from tabwb.workbench.shell.subject import Actions
from tabwb.workbench.shell.wording import name_of, special_words
from tabwb.workbench.trial.controller import TrialController
from tabwb.workbench.trial.draft import Draft, default_draft


class TrialActions(Actions):
    """Begins and opens administrations."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        desk.listen(Entry, self.entry_chosen)

    def open(self) -> None:
        """Open the dialog that finds an administration."""
        if self.desk.catalogue is None:
            return
        from tabwb.workbench.trial.open import OpenScreen

        def chosen(number: int | None) -> None:
            if number is not None:
                self.offer(number)

        self.desk.app.push_screen(OpenScreen(self.desk.catalogue.administrations), chosen)

    def entry_chosen(self, entry: Entry) -> None:
        """Open what was chosen in the explorer or on the home page."""
        match entry.kind:
            case "administration":
                self.offer(int(entry.name))
            case "battery":
                self.new(battery=entry.name)
            case "examinee":
                self.new(examinee=entry.name)
            case "more":
                self.open()

    def new(
        self,
        *,
        battery: str | None = None,
        model: str | None = None,
        examinee: str | None = None,
    ) -> None:
        """Open the dialog for a new administration.

        Args:
            battery: to fill in.
            model: to fill in.
            examinee: one that was examined before, to fill in.
        """
        desk = self.desk
        if desk.catalogue is None or not desk.started:
            desk.notify("The store is not open yet.")
            return
        from tabwb.workbench.trial.new_administration import NewAdministration

        draft = default_draft(desk.catalogue)
        draft = replace(
            draft,
            microphone=desk.workbench.remembered.microphone,
            battery=battery or draft.battery,
            model=model or draft.model,
        )
        if examinee:
            draft = _of_examinee(draft, desk.catalogue, examinee)

        def closed(draft: Draft | None) -> None:
            if draft is not None:
                self.begin(draft)

        controller = desk.controller(TrialController)
        dialog = NewAdministration(desk.catalogue, draft, controller.check, controller.preview)
        desk.app.push_screen(dialog, closed)

    def begin(self, draft: Draft) -> None:
        """Begin an administration, and remember its microphone."""
        workbench = self.desk.workbench
        if draft.microphone != workbench.remembered.microphone:
            workbench.remember(microphone=draft.microphone)
        self.desk.do(partial(self.desk.controller(TrialController).begin, draft))

    def offer(self, number: int) -> None:
        """Open an administration: show its results, or offer to resume it."""
        desk = self.desk
        if desk.catalogue is None:
            return
        administrations = {one.id: one for one in desk.catalogue.administrations}
        if (administration := administrations.get(number)) is None:
            return
        desk.docks.leave_drawer()
        interrupted = number in desk.catalogue.interrupted
        over = administration.status not in UNFINISHED
        if desk.work is not None and desk.work.administration.id == number:
            desk.run_worker(desk.go(desk.work.page))
        elif over and not interrupted:
            desk.tell(ResultsWanted(number))
        else:
            self._ask(administration, over=over, interrupted=interrupted)

    def _ask(self, administration: Administration, *, over: bool, interrupted: bool) -> None:
        desk, number = self.desk, administration.id

        def chosen(what: str | None) -> None:
            if what in {"resume", "keep"} and interrupted:
                desk.tell(KeepRecordings(number))
            if what == "resume":
                desk.call_later(desk.do, partial(desk.sessions.resume, number))
            elif what == "results":
                desk.tell(ResultsWanted(number))

        whose = " · ".join([name_of(administration), *special_words(administration)])
        words = (
            f"{whose}\n{administration.battery_title} is {administration.status_word}: "
            f"{administration.answered} of {administration.planned} answered. "
            "Nothing that was answered is asked again."
        )
        choices = [("results", "Results so far"), ("close", "Not now")]
        if interrupted:
            words += "\n\nIts recording was interrupted; what was recorded until then can be kept."
            choices.insert(0, ("keep", "Keep it"))
        if not over:
            choices.insert(0, ("resume", "Resume"))
        title = f"#{number}" if over else f"Resume #{number}?"
        desk.app.push_screen(ChoiceScreen(title, words, tuple(choices)), chosen)


def _of_examinee(draft: Draft, catalogue: Catalogue, examinee: str) -> Draft:
    """Return a draft for an examinee that was examined before."""
    conditions = {one.conditions.examinee: one.conditions for one in catalogue.administrations}
    earlier = conditions[examinee]
    if earlier.kind == "model":
        return replace(draft, model=examinee)
    protocol = earlier.research_protocol or ""
    return draft.filled(kind="speaker", speaker=examinee, research_protocol=protocol)
