"""Begins and opens administrations: *New*, *Open* and its dialog, choices in explorer and home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from tabwb.records.trials import Administration
from tabwb.workbench.engine.view_models import UNFINISHED, Catalogue
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.dialogs import AskWords, ChoiceScreen, Dialog
from tabwb.workbench.shell.explorer import Entry, Finder
from tabwb.workbench.shell.page import Actions
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.wording import QUIET, glyph_of, name_of, special_words, state_word
from tabwb.workbench.trial.draft import Draft, TrialController, default_draft, remembered


class TrialActions(Actions):
    """Begins and opens administrations."""

    def open(self) -> None:
        """Open the dialog that finds an administration."""
        if self.desk.catalogue is None:
            return

        def chosen(number: int | None) -> None:
            if number is not None:
                self.offer(number)

        dialog = OpenScreen(self.desk.catalogue.administrations, self.desk.finder)
        self.desk.app.push_screen(dialog, chosen)

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
        lesion: str = "",
    ) -> None:
        """Open the dialog for a new administration with these fields filled in.

        The others are as in the administration that was begun last; with both ``battery`` and
        ``model`` they have their defaults. An empty ``examinee`` is a person who is named yet.
        """
        desk = self.desk
        if desk.catalogue is None or not desk.started:
            desk.notify("The store is not open yet.")
            return
        from tabwb.workbench.trial.new_administration import NewAdministration

        catalogue, kept = desk.catalogue, desk.workbench.remembered
        usual = replace(default_draft(catalogue), microphone=kept.microphone)

        def filled(draft: Draft) -> Draft:
            draft = replace(draft, battery=battery or draft.battery)
            if model:
                draft = replace(draft, model=model, kind="model")
            if lesion:
                draft = draft.filled(lesion=lesion)
            return draft if examinee is None else _of_examinee(draft, catalogue, examinee)

        draft = usual if battery and model else remembered(usual, kept.begun, battery)

        def closed(chosen: Draft | int | None) -> None:
            if isinstance(chosen, int):
                self.offer(chosen)
            elif chosen is not None:
                desk.workbench.remember(microphone=chosen.microphone, begun=chosen.differing(usual))
                self.begin(chosen)

        drafts = desk.controller(TrialController)
        dialog = NewAdministration(catalogue, filled(draft), drafts, usual=filled(usual))
        desk.app.push_screen(dialog, closed)

    def auto_run_complete(self, number: int) -> None:
        """An auto-run has given the last item of an administration."""
        from tabwb.workbench.trial.page import TrialPage

        for page in self.desk.query(TrialPage):
            page.auto_run_complete(number)

    def begin(self, draft: Draft) -> None:
        """Begin an administration."""
        self.desk.do(partial(self.desk.controller(TrialController).begin, draft))

    def offer(self, number: int) -> None:
        """Open an administration: show its results, or offer to resume it."""
        desk = self.desk
        if desk.catalogue is None:
            return
        listed = desk.catalogue.administrations
        administration = next((entry for entry in listed if entry.id == number), None)
        if administration is None:
            return
        desk.docks.leave_drawer()
        interrupted = number in desk.catalogue.interrupted
        over = administration.status not in UNFINISHED
        if desk.work is not None and desk.work.administration.id == number:
            desk.run_worker(desk.go(desk.work.page))
        elif over and not interrupted:
            desk.request("results", "show", number)
        else:
            self._ask(administration, over=over, interrupted=interrupted)

    def _ask(self, administration: Administration, *, over: bool, interrupted: bool) -> None:
        desk, number = self.desk, administration.id

        def chosen(choice: str | None) -> None:
            if choice in {"resume", "keep"} and interrupted:
                desk.request("naming", "keep_recordings", number)
            if choice == "resume":
                desk.call_later(desk.do, partial(desk.sessions.resume, number))
            elif choice == "moved":
                text = (
                    f"#{number} began with {administration.conditions.examinee}. The model at the "
                    "other path must have the same weights and the same tokenizer."
                )
                asked = AskWords("Continue with the model at another path", "Model's spec", text)
                desk.app.push_screen(asked, moved)
            elif choice == "results":
                desk.request("results", "show", number)

        def moved(spec: str | None) -> None:
            if spec:
                desk.call_later(desk.do, partial(desk.sessions.resume, number, model=spec))

        whose = " · ".join([name_of(administration), *special_words(administration)])
        words = (
            f"{whose}\n{administration.battery_title} is {state_word(administration)}: "
            f"{administration.answered} of {administration.planned} answered. "
            "Answered items are not given again."
        )
        choices = [("results", "Results"), ("close", "Not now")]
        if interrupted:
            words += "\n\nIts recording was interrupted; the recorded part can be kept."
            choices.insert(0, ("keep", "Keep it"))
        if not over:
            if administration.conditions.kind == "model":
                words += "\n'Model moved' continues with the same model at another path."
                choices.insert(0, ("moved", "Model moved"))
            choices.insert(0, ("resume", "Continue"))
        title = f"#{number}" if over else f"Continue #{number}?"
        desk.app.push_screen(ChoiceScreen(title, words, tuple(choices)), chosen)


def _of_examinee(draft: Draft, catalogue: Catalogue, examinee: str) -> Draft:
    conditions = {
        administration.conditions.examinee: administration.conditions
        for administration in catalogue.administrations
    }
    earlier = conditions.get(examinee)
    if earlier is not None and earlier.kind == "model":
        return replace(draft, model=examinee, kind="model")
    protocol = (earlier and earlier.research_protocol) or ""
    return draft.filled(kind="speaker", speaker=examinee, research_protocol=protocol)


MOST = 500
"""The number of administrations listed."""


class Filter(Input):
    """The search field."""

    HELP = """\
# Open

Type parts of a number, battery, examinee, status or date. **down** goes to the
list, **enter** opens the one that is marked.
"""


FOUND: Sequence[Column[Administration]] = (
    Column("", lambda one: str(one.id), right=True, style="bold"),
    Column("", lambda one: f"{glyph_of(one)} {state_word(one)}"),
    Column("", lambda one: f"{one.answered}/{one.planned}", right=True, style=QUIET),
    Column("", lambda one: one.given_at, style=QUIET),
    Column("", lambda one: " · ".join([name_of(one), *special_words(one)]), least=24),
)


class Found(RowList):
    """The administrations found, the latest first."""

    AT_ONCE = True
    HELP = Filter.HELP


class OpenScreen(Dialog[int | None]):
    """Returns the number of the administration that was chosen."""

    CSS_PATH = "open.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "to_list", show=False)]

    def __init__(self, administrations: Sequence[Administration], finder: Finder) -> None:
        super().__init__()
        self._administrations, self._finder = tuple(administrations), finder

    def compose(self) -> ComposeResult:
        """Yield the field and the list."""
        with Vertical(classes="dialog"):
            yield Static("Open an administration", classes="dialog-title")
            yield Filter(placeholder="number, battery, examinee, status, date", compact=True)
            yield Found(id="found", opens=False)
            yield Static("", id="found-count", classes="dialog-note")

    def on_mount(self) -> None:
        """List all administrations."""
        self._find("")
        self.run_worker(self._finder.warm(self._administrations))

    def on_input_changed(self, event: Input.Changed) -> None:
        """List the administrations that match."""
        self._find(event.value)

    def _find(self, words: str) -> None:
        rows = self._finder.ranked(self._administrations, words)
        self.query_one(Found).show(FOUND, rows[:MOST], current=0)
        more = f", the latest {MOST} are listed" if len(rows) > MOST else ""
        self.query_one("#found-count", Static).update(
            f"{len(rows)} of {len(self._administrations)}{more}   enter Open   esc Close"
        )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Choose the highlighted administration."""
        self.query_one(Found).action_select()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Return the administration that was chosen."""
        self.dismiss(event.value.id)

    def action_to_list(self) -> None:
        """Move the focus to the list."""
        self.query_one(Found).focus()
