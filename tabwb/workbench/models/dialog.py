"""Models that can be examined: the back ends, profiles of one's own, and a first try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from tabwb.operations.model import AddProfile, RemoveProfile, TryModel
from tabwb.operations.operation import Operation, made
from tabwb.records.errors import TabwbError
from tabwb.records.specs import is_writable
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.engine.messages import Ready
from tabwb.workbench.engine.view_models import Catalogue, ModelEntry
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import Choice, Dialog, Fields, Selection, labelled
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.wording import AMBER, JOB_SIGNS, QUIET

HELPS = {
    "name": "A profile's name: a-z, 0-9 and hyphens. profile:NAME can be used instead of "
    "a spec. An existing profile with this name is replaced.",
    "spec": "ID[:NAME][@key=value,...], for example openai:llama3.2:1b@base_url=http://localhost:"
    "11434/v1",
    "family": "For example Llama-3.2. Results compare base and instruct models of one "
    "family and size.",
    "tuning": "Base or instruct; empty if neither applies.",
    "parameters": "The number of parameters: 1240000000, 1.24B or 360M.",
}
TUNINGS = (("unknown", ""), ("base", "base"), ("instruct", "instruct"))
WIDEST = 26
"""Columns of the specs at most."""
NOTE = "Enter copies the line to the fields. Write saves the profile. Try sends one question."

REMOVE = "Remove"


HELP = """\
# Models

Your profiles first, then the back ends. **enter** copies the chosen one into the fields below.
"""
MODELS: Sequence[Column[ModelEntry]] = (
    Column("", lambda one: one.shape, least=20, most=WIDEST),
    Column("", lambda one: one.note, least=20, end=True, style=QUIET),
)


FIELDS = Fields("profile-", HELPS)


class ModelsScreen(Dialog[None]):
    """Stays until it is closed, which stops a running try."""

    CSS_PATH = "dialog.tcss"
    AUTO_FOCUS = "#models-known"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close", show=False)]

    def __init__(self, desk: Desk, catalogue: Catalogue) -> None:
        super().__init__()
        self._desk, self._catalogue = desk, catalogue
        self._jobs = desk.sessions.jobs
        self._job = 0
        """The number of the latest job."""
        self._trying = False
        self._asked = ""
        """The profile that a second press of *Remove* takes away."""

    def compose(self) -> ComposeResult:
        """The list, fields, message, buttons."""
        with Vertical(classes="dialog"):
            yield Static("Models", classes="dialog-title")
            yield RowList(id="models-known", help_text=HELP, opens=False)
            yield labelled("Name", FIELDS.text("name"))
            yield labelled("Spec", FIELDS.text("spec"))
            with Horizontal(classes="pair"):
                yield labelled("Family", FIELDS.text("family"))
                yield labelled("Tuning", FIELDS.selection("tuning", TUNINGS))
            yield labelled("Size", FIELDS.text("parameters"))
            yield Static(Content.styled(NOTE, QUIET), id="models-message")
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Try", id="try")
                yield Choice("Write", id="write")
                yield Choice(REMOVE, id="remove")
                yield Choice("Close", id="close")

    def on_mount(self) -> None:
        """Fill the list; listen to new catalogues and to outcomes."""
        self._renew(self._catalogue)
        self._desk.news.subscribe(self, self._hear)

    def _hear(self, message: object) -> None:
        match message:
            case Ready(catalogue=catalogue):
                self._renew(catalogue)
            case JobState(number=self._job, phase=phase, words=words) if words:
                self._show(phase, words)

    def _renew(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.query_one(RowList).show(MODELS, catalogue.models, ids=lambda one: one.spec)

    def _show(self, phase: str, words: str) -> None:
        self._trying = phase in {"running", "stopping"}
        self._asked = ""
        sign = JOB_SIGNS.get(phase, "?")
        self._say(f"{sign} {words}", AMBER if phase in {"refused", "asked"} else "")

    def _say(self, words: str, style: str) -> None:
        self.query_one("#models-message", Static).update(Content.styled(words, style))

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Say all of what a narrow list cuts."""
        if event.list.has_focus and not self._trying:
            self._say(f"{event.value.note}\n{NOTE}", QUIET)

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Copy a model into all fields: nothing of another one stays."""
        for name, value in _fields(event.value).items():
            field = self.query_one(f"#profile-{name}")
            assert isinstance(field, Input | Selection)
            field.value = value
        self.query_one("#profile-spec", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another name must be asked about again."""
        if self._asked and self._typed("name") != self._asked:
            self._ask_no_more()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """On to the buttons."""
        self.query_one("#try", Choice).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Try, write, remove or close."""
        name, spec = self._typed("name"), self._typed("spec")
        asked = self._asked == name
        self._ask_no_more()
        match event.button.id:
            case "try" if self._needs(spec, "a spec"):
                self._show("running", f"opening {spec}")
                self._begin(TryModel, spec=spec)
            case "write" if self._needs(name, "a name") and self._needs(spec, "a spec"):
                tuning = self.query_one("#profile-tuning", Selection).value or None
                family, parameters = self._typed("family"), self._typed("parameters")
                self._begin(AddProfile, name=name, spec=spec, family=family, tuning=tuning,
                            parameters=parameters, force=True)  # fmt: skip
            case "remove" if self._needs(name, "the name of a profile"):
                if asked or not self._has(name):  # of what is not there nothing can be lost
                    self._begin(RemoveProfile, name=name)
                else:
                    self._show("asked", f"{REMOVE} again removes profile:{name} from your file")
                    self._asked = name
            case "close":
                self.action_leave()

    def action_leave(self) -> None:
        """Close; stop a running try."""
        if self._trying and self._job:
            self._jobs.stop(self._job)
        self.dismiss(None)

    def _begin(self, kind: type[Operation], **values: Any) -> None:
        self.run_worker(self._begun(made(kind, values)), exit_on_error=False)

    async def _begun(self, wanted: Operation) -> None:
        try:
            self._job = await self._desk.ask(self._jobs.begin, wanted)
        except TabwbError as error:
            self._show("refused", str(error))
            return
        if self._job:  # 0: the program ends
            state = self._jobs.all[self._job].state
            self._show(state.phase, state.words or f"opening {wanted.about}")

    def _has(self, name: str) -> bool:
        spec = f"profile:{name}"
        return any(model.profile and model.spec == spec for model in self._catalogue.models)

    def _ask_no_more(self) -> None:
        if self._asked:
            self._asked = ""
            self._say(NOTE, QUIET)

    def _typed(self, name: str) -> str:
        return self.query_one(f"#profile-{name}", Input).value.strip()

    def _needs(self, value: str, what: str) -> bool:
        if self._trying:
            return False
        if not value:
            self._show("refused", f"{what} is needed")
        return bool(value)


def _fields(model: ModelEntry) -> dict[str, str]:
    """Return the values of the fields; a profile whose values no spec can hold is its own spec."""
    profile = model.profile
    if profile is None:
        return {"name": "", "spec": model.spec, "family": "", "tuning": "", "parameters": ""}
    return {
        "name": model.spec.removeprefix("profile:"),
        "spec": str(profile.spec) if is_writable(profile.spec) else model.spec,
        "family": profile.family,
        "tuning": profile.tuning,
        "parameters": "" if profile.parameters is None else str(profile.parameters),
    }
