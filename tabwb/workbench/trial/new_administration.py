"""The new-administration dialog: which battery, to whom, under which conditions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from tabwb.records.condition import ANYBODY, MODEL, NAMED, PERSON, SPOKEN, TYPED, Audience
from tabwb.records.condition_kinds import Component, Components, OneOf, Switch
from tabwb.records.condition_table import declared
from tabwb.records.errors import TabwbError
from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.shell.dialogs import Choice, Dialog
from tabwb.workbench.shell.fields import Combo, Known, Selection, known_judges
from tabwb.workbench.shell.wording import AMBER, QUIET, name_of
from tabwb.workbench.trial.controller import Draft, FieldError, StartPreview, rows

KINDS = (("a model", "model"), ("a person", "speaker"))
SETTLED_S = 0.3
"""So long after the last change it is looked ahead."""
AS_TYPED = {"lesion"}
"""Fields whose errors are shown while they are typed."""
OTHER_FIELDS: dict[str, tuple[str, str, frozenset[Audience]]] = {
    "battery": (
        "Battery",
        "the battery's id, or the path of a battery.toml; down lists those installed",
        ANYBODY,
    ),
    "kind": (
        "Given to",
        "a model answers by itself; a person types the answers here, or names pictures aloud",
        ANYBODY,
    ),
    "model": (
        "Model",
        "ID[:NAME][@key=value,...]; down lists the back ends that are registered",
        MODEL,
    ),
    "speaker": ("Participant", "a participant code such as S-014, never a person's name", PERSON),
    "microphone": (
        "Microphone",
        "which one listens, or nothing for the system's own; down lists those there are",
        SPOKEN,
    ),
}
"""Fields that are not conditions: label, help, and for whom they are shown."""


def words_of(name: str) -> tuple[str, str, frozenset[Audience]]:
    """Return label and help of a field, and for whom it is shown."""
    if name in OTHER_FIELDS:
        return OTHER_FIELDS[name]
    condition = declared(name)
    assert condition.field is not None
    return condition.field.label, condition.field.help, condition.given_to


def help_text(name: str) -> str:
    """Return the F1 help of a field."""
    title = name.replace("_", " ").capitalize()
    return f"# {title}\n\n{words_of(name)[1]}.\n\n**tab** goes to the next field."


class Field(Input):
    """One line to type in."""

    def __init__(self, name: str, value: str, placeholder: str = "") -> None:
        super().__init__(value, placeholder, id=name, compact=True)
        self.help_text = help_text(name)


class Row(Widget):
    """A field with its label, which the row draws itself: a widget for each would be slow."""

    def __init__(self, widget: Widget) -> None:
        super().__init__(widget, classes="row")
        self.field = (widget.id or "").removesuffix("-combo")

    def render(self) -> Content:
        """Return the label."""
        return Content(words_of(self.field)[0])


class Begin(Button):
    """Begins the administration."""

    HELP = "# Begin\n\n**enter** begins; the first item is given when you press space."


class NewAdministration(Dialog[Draft | None]):
    """Returns the checked draft; None when closed.

    Args:
        catalogue: what there is.
        draft: what is filled in.
        check: raises when a draft cannot be begun; called in a thread.
        preview: returns what to tell of a draft before it begins; likewise.
    """

    CSS_PATH = "new_administration.tcss"
    AUTO_FOCUS = "#begin"

    def __init__(
        self,
        catalogue: Catalogue,
        draft: Draft,
        check: Callable[[Draft], object],
        preview: Callable[[Draft], StartPreview],
    ) -> None:
        super().__init__()
        self._catalogue, self._draft = catalogue, draft
        self._check, self._preview = check, preview
        self._checking = False
        self._listed = False

    def compose(self) -> ComposeResult:
        """Rows of labels and fields, a message, buttons."""
        draft = self._draft
        batteries = [
            Known(
                battery.id,
                battery.id,
                f"{battery.title} {battery.version}".strip(),
                battery.problem,
            )
            for battery in self._catalogue.batteries
        ]
        models = [
            Known(
                model.spec,
                model.shape,
                ". ".join(filter(None, (model.title, model.remarks))),
                model.unavailable_reason,
            )
            for model in self._catalogue.models
        ]
        with Vertical(classes="dialog"):
            yield Static("New administration", classes="dialog-title")
            with VerticalScroll(can_focus=False, id="fields"):
                yield Row(Combo("battery", draft.battery, batteries, help_text("battery")))
                yield Row(Selection(KINDS, draft.kind, id="kind", help_text=help_text("kind")))
                yield Row(Combo("model", draft.model, models, help_text("model")))
                yield Row(Field("speaker", draft.speaker, "participant code"))
                for names in rows():
                    row = [Row(self._field(name)) for name in names]
                    if len(row) == 1:
                        yield row[0]
                    else:
                        yield Horizontal(*row, classes="pair" if row else "gap")
                for name in ("judges-later", "design", "notices"):
                    yield Static("", id=name, markup=False)
            yield Static("", id="message")
            with Horizontal(classes="dialog-buttons"):
                yield Begin("Begin", id="begin", compact=True)
                yield Choice("Cancel", id="cancel")

    def _field(self, name: str) -> Widget:
        if name == "microphone":
            return Combo(name, self._draft.microphone, (), help_text(name))
        condition = declared(name)
        assert condition.field is not None
        text = self._draft.text(condition)
        match condition.kind:
            case OneOf(values=values) | Switch(values=values):
                pairs = ((words, value) for value, words in values.items())
                return Selection(pairs, text, id=name, help_text=help_text(name))
            case Components():
                known = known_judges(self._catalogue.judges)
                return Combo(name, text, known, help_text(name), several=True)
            case Component():
                known = [
                    Known(
                        transcriber.spec,
                        transcriber.shape,
                        transcriber.title,
                        transcriber.unavailable_reason,
                    )
                    for transcriber in self._catalogue.transcribers
                ]
                return Combo(name, text, known, help_text(name))
        return Field(name, text, condition.field.placeholder)

    def on_mount(self) -> None:
        """Show the rows that apply."""
        self.query_one("#microphone", Input).placeholder = "the system's own"
        self._show_kind(self._draft.kind)
        self._tell_about_open()
        self._look_ahead(self._read())

    # ---------------------------------------------------------------- what is shown

    def _show_kind(self, kind: str) -> None:
        audience = MODEL
        if kind != "model":
            audience = {None: PERSON, True: NAMED, False: TYPED}[self._aloud]
        for row in self.query(".row").results(Row):
            row.display = bool(words_of(row.field)[2] & audience)
        for pair in self.query(".pair"):
            pair.display = any(row.display for row in pair.query(".row"))

    @property
    def _aloud(self) -> bool | None:
        """Whether the battery is named aloud; None where that is not known before it is read."""
        named = self.query_one("#battery", Input).value.strip()
        known = [battery.aloud for battery in self._catalogue.batteries if battery.id == named]
        return known[0] if known else None

    def on_selection_changed(self, event: Selection.Changed) -> None:
        """Show the fields that a person or a model needs."""
        if event.selection.id == "kind":
            self._show_kind(event.selection.value)
        self._clear()
        self._look_ahead(self._read())

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was wrong may be right now; what is named aloud is given to a person."""
        self._clear()
        if event.input.id in AS_TYPED:
            self._say(words_of(event.input.id)[1], QUIET)
        if event.input.id == "battery":
            if self._aloud:
                self.query_one("#kind", Selection).value = "speaker"
            self._show_kind(self.query_one("#kind", Selection).value)
            if isinstance(self.focused, Begin):
                self._tell_about_open()
        self._look_ahead(self._read())

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Say what the field is for."""
        widget = event.widget
        name = (widget.id or "").removesuffix("-list")
        if name == "microphone" and not self._listed:
            self._listed = True
            self._list_microphones()
        if widget.has_class("-wrong"):
            return
        if widget.id == "begin":
            self._tell_about_open()
        elif name in self._names:
            self._say(words_of(name)[1], QUIET)

    def _clear(self) -> None:
        for widget in self.query(".-wrong"):
            widget.remove_class("-wrong")

    def _say(self, text: str, style: str) -> None:
        for line in self.query("#message").results(Static):  # none once it is closed
            line.update(Content.styled(text, style))

    def _tell_about_open(self) -> None:
        draft = self._read()
        for administration in self._catalogue.open:
            examinee = administration.conditions.examinee
            if (administration.battery, examinee) == (draft.battery, draft.examinee):
                name = f"#{administration.id} {name_of(administration)}"
                progress = f"{administration.answered} of {administration.planned} answered"
                words = f"{name} is {administration.status_word}, {progress}."
                self._say(f"{words} You can resume it instead (o).", AMBER)
                return
        known = [battery for battery in self._catalogue.batteries if battery.id == draft.battery]
        size = f"{known[0].title}, {known[0].n_items} items. " if known else ""
        self._say(f"{size}enter begins; then space gives the first item.", QUIET)

    @work(group="ahead", exclusive=True)
    async def _look_ahead(self, draft: Draft) -> None:
        """Tell, a moment after the last change, of consents, of judges, and of the design."""
        preview = StartPreview()
        if draft.battery.strip() and draft.examinee:
            await asyncio.sleep(SETTLED_S)
            try:
                preview = await asyncio.to_thread(self._preview, draft)
            except FieldError as error:
                if error.field in AS_TYPED and self.query(f"#{error.field}:focus"):
                    self._say(_words(error), AMBER)
            except TabwbError:  # is shown when the user begins
                pass
        for name, words, style in (
            ("judges-later", preview.judging, QUIET),
            ("design", preview.design, QUIET),
            ("notices", preview.notices, AMBER),
        ):
            for line in self.query(f"#{name}").results(Static):  # the dialog may be closed by now
                line.display = bool(words)
                line.update(Content.styled("\n".join(words), style))

    @work(group="microphones")
    async def _list_microphones(self) -> None:
        from tabwb.speech.devices import inputs, title

        try:
            devices = await asyncio.to_thread(inputs)
        except TabwbError as error:
            self._say(str(error), AMBER)
            return
        known = [
            Known(device.name, title(device), "the system's own" if device.default else "")
            for device in devices
        ]
        remedy = "plug one in, or use tabwb name --input FOLDER"
        for combo in self.query("#microphone-combo").results(Combo):
            combo.offer(known or [Known("", "none was found", "", remedy)])

    # ---------------------------------------------------------------- beginning

    @property
    def _names(self) -> list[str]:
        return [row.field for row in self.query(".row").results(Row)]

    def _read(self) -> Draft:
        texts: dict[str, str] = {}
        for name in self._names:
            field = self.query_one(f"#{name}", Widget)
            assert isinstance(field, Input | Selection)
            texts[name] = field.value
        return self._draft.filled(**texts)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a field begins too."""
        self._begin()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Begin or not."""
        if event.button.id == "begin":
            self._begin()
        else:
            self.dismiss(None)

    def _begin(self) -> None:
        if not self._checking:
            self._checking = True
            self.run_worker(self._check_and_close(self._read()), exclusive=True)

    async def _check_and_close(self, draft: Draft) -> None:
        self._say("… checking", QUIET)
        try:
            await asyncio.to_thread(self._check, draft)
        except TabwbError as error:
            self._refuse(error, draft)
        else:
            self.dismiss(draft)
        finally:
            self._checking = False

    def _refuse(self, error: TabwbError, draft: Draft) -> None:
        if isinstance(error, FieldError):
            field = self.query_one(f"#{error.field}", Widget)
            field.add_class("-wrong")
            field.focus()
        self.call_after_refresh(self._say, _words(error), AMBER)


def _words(error: TabwbError) -> str:
    allowed = f"allowed: {error.allowed}" if error.allowed else None
    return "\n".join(filter(None, (error.message, allowed, error.hint)))
