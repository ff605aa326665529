"""Dialogs of the page of participants: record, consent, printed form, deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Static

from tabwb.administer.consent import consent_form
from tabwb.administer.participants import DeletionPreview, Participant
from tabwb.records.errors import TabwbError
from tabwb.records.speakers import REASONS, SCOPES, Column, Scope, Study, check_id, read_day
from tabwb.workbench.participants.lines import SIGNS, sign
from tabwb.workbench.shell.columns import clipped
from tabwb.workbench.shell.dialogs import Choice, Dialog, ScrollPane, TextField, labelled
from tabwb.workbench.shell.widgets import WrappedText
from tabwb.workbench.shell.wording import LEAST, wrapped

Check = Callable[[str], object]
"""Raises a :class:`TabwbError` where a text is not valid."""
REASON_WORDS = {
    "withdrawn": "withdrawn: the participant withdrew",
    "retention-ended": "retention-ended: the retention period is over",
    "entered-by-mistake": "entered-by-mistake: the code may be used again",
    "other": "other",
}


MOST_HINT = 50
"""Characters in an empty field: as many as a window of 80 columns has room for."""


class FormField(Vertical):
    """A field with its label, and below it what is wrong with it."""

    DEFAULT_CSS = """
    FormField { height: auto; }
    FormField > .problem { display: none; color: $warning; margin: 0 0 0 20; }
    """

    def __init__(
        self, name: str, label: str, value: str, check: Check, *, allowed: str, help_text: str
    ) -> None:
        super().__init__(id=f"{name}-field")
        self.field = TextField(name, value, help_text, clipped(allowed, MOST_HINT))
        self._label, self._check = label, check

    def compose(self) -> ComposeResult:
        """Yield label, field and the line for a problem."""
        yield labelled(self._label, self.field)
        yield Static(classes="problem", markup=False)

    @property
    def text(self) -> str:
        """What was typed, without blanks around it."""
        return self.field.value.strip()

    def problem(self) -> str:
        """Return what is wrong with the field, and show it below; empty where it is valid."""
        words = ""
        try:
            self._check(self.text)
        except TabwbError as error:
            words = error.message + (f": {error.allowed}" if error.allowed else "")
        line = self.query_one(".problem", Static)
        line.update(words)
        line.display = bool(words)
        return words


class Form(Dialog[Mapping[str, Any] | None]):
    """Base of the dialogs with fields: every invalid field says why, all at once."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]

    def valid(self) -> Mapping[str, str] | None:
        """Return the texts by field, or None while one is not valid; the first one is focused."""
        fields = list(self.query(FormField))
        wrong = [field for field in fields if field.problem()]
        if wrong:
            wrong[0].field.focus()
            return None
        return {field.field.id or "": field.text for field in fields}

    def on_input_changed(self, event: Input.Changed) -> None:
        """Check a field again that was wrong."""
        field = event.input.parent and event.input.parent.parent
        if isinstance(field, FormField) and field.query_one(".problem").display:
            field.problem()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a field accepts the dialog."""
        self.accept()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Accept, close, or do what another button is for."""
        if event.button.id == "accept":
            self.accept()
        elif event.button.id == "close":
            self.dismiss(None)
        else:
            self.pressed(event.button)

    def pressed(self, button: Button) -> None:
        """Do what a further button is for."""

    def accept(self) -> None:
        """Return what was typed, if it is valid."""
        if (texts := self.valid()) is not None:
            self.dismiss(texts)


def _label(name: str) -> str:
    """Return the name of a column in words.

    >>> _label("months_post_onset"), _label("AQ"), _label("ipa")
    ('Months post onset', 'AQ', 'IPA')
    """
    words = name.replace("_", " ")
    return words.upper() if len(words) < 4 else words[:1].upper() + words[1:]


def _optional(check: Check) -> Check:
    return lambda text: check(text) if text else None


GONE = "of a plugin that is not installed; no other value"
"""The title of a column that the study does not have any more."""


class RecordForm(Form):
    """Returns the code as ``code``, and the texts of the record's columns by their names."""

    def __init__(self, study: Study, participant: Participant | None) -> None:
        super().__init__()
        self._study, self._participant = study, participant

    def compose(self) -> ComposeResult:
        """Yield the fields."""
        known = self._participant
        values = known.speaker.values if known else {}
        with Vertical(classes="dialog"):
            title = f"Record of {known.id}" if known else "Add a participant"
            yield Static(title, classes="dialog-title", markup=False)
            with VerticalScroll(can_focus=False, classes="fields"):
                if known is None:
                    yield FormField(
                        "code", "Participant code", "", check_id,
                        allowed="for example S-014",
                        help_text="# Participant code\n\nThe study's ID, never a person's name.",
                    )  # fmt: skip
                own = {column.name for column in self._study.columns}
                gone = [
                    Column(name, "choice", choices=(str(values[name]),), title=GONE)
                    for name in values
                    if name not in own
                ]
                for column in (*self._study.columns, *gone):
                    value = values.get(column.name, "")
                    yield FormField(
                        f"column-{column.name}",
                        _label(column.name),
                        str(value),
                        _optional(column.read),
                        allowed=column.allowed,
                        help_text=f"# {column.name}\n\n{column.title or column.name}: "
                        f"{column.allowed}. Empty: not known.",
                    )  # fmt: skip
            yield Static("Empty fields are not stored. Earlier versions are kept.",
                         classes="dialog-note")  # fmt: skip
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Save", id="accept")
                yield Choice("Close", id="close")


class ScopeSwitch(Choice):
    """A switch for one scope."""

    HELP = "# Scope\n\n**enter** or **space** turns it on or off; **tab** moves on."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "press", show=False)]

    def __init__(self, scope: Scope, sign: str) -> None:
        super().__init__("", id=f"scope-{scope}")
        self.scope, self.on, self._sign = scope, False, sign

    def on_mount(self) -> None:
        """Show the state."""
        self._show()

    def turn(self) -> None:
        """Turn it on or off."""
        self.on = not self.on
        self._show()

    def _show(self) -> None:
        turned = "x" if self.on else " "
        self.label = f"({turned}) {self._sign} {self.scope:<10}  {SCOPES[self.scope]}"


class ConsentForm(Form):
    """Returns ``scopes`` (with blanks between), ``given`` (``yes``), day, document and note."""

    AUTO_FOCUS = "ScopeSwitch"

    def __init__(self, participant: Participant) -> None:
        super().__init__()
        self._participant = participant
        self._given = True

    def compose(self) -> ComposeResult:
        """Yield switches, fields and buttons."""
        person = self._participant
        with Vertical(classes="dialog"):
            yield Static(f"Consent of {person.id}", classes="dialog-title", markup=False)
            yield Choice("", id="given")
            for scope in SCOPES:
                yield ScopeSwitch(scope, sign(person, scope))
            yield Static(classes="problem", id="scopes-problem")
            yield Static(f"now: {SIGNS}", classes="dialog-note")
            yield FormField(
                "day", "Day", date.today().isoformat(), read_day, allowed="2026-11-21",
                help_text="# Day\n\nOn which consent was given or withdrawn.",
            )  # fmt: skip
            yield FormField(
                "document", "Signed form", "", lambda text: None, allowed="for example IRB-7/014",
                help_text="# Signed form\n\nWhere it is kept. tabwb does not store it.",
            )  # fmt: skip
            yield FormField(
                "note", "Note", "", lambda text: None, allowed="free text",
                help_text="# Note\n\nFree text; never a person's name.",
            )  # fmt: skip
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Record", id="accept")
                yield Choice("All scopes", id="every")
                yield Choice("Close", id="close")

    def on_mount(self) -> None:
        """Show what is recorded."""
        self._show_given()

    def _show_given(self) -> None:
        state = "(x) given   ( ) withdrawn" if self._given else "( ) given   (x) withdrawn"
        self.query_one("#given", Choice).label = state

    def pressed(self, button: Button) -> None:
        """Turn one switch or all."""
        switches = list(self.query(ScopeSwitch))
        if isinstance(button, ScopeSwitch):
            button.turn()
        elif button.id == "given":
            self._given = not self._given
            self._show_given()
        elif button.id == "every":
            off = [switch for switch in switches if not switch.on]
            for switch in off or switches:
                switch.turn()
        if any(switch.on for switch in switches):
            self.query_one("#scopes-problem").display = False

    def accept(self) -> None:
        """Return what was chosen, if it is valid."""
        scopes = [switch.scope for switch in self.query(ScopeSwitch) if switch.on]
        line = self.query_one("#scopes-problem", Static)
        line.update("" if scopes else "Choose at least one scope.")
        line.display = not scopes
        texts = self.valid()
        if texts is not None and scopes:
            self.dismiss({**texts, "scopes": scopes, "given": self._given})


class PrintedForm(Dialog[None]):
    """Shows the consent form as text, and writes it to a file."""

    CSS_PATH = "dialogs.tcss"
    HELP_TEXT = "# Consent form\n\nArrows scroll. **enter** in the field writes the file."

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code, self._text = code, consent_form(code)

    def compose(self) -> ComposeResult:
        """Yield text, field and buttons."""
        name = f"consent-{self._code}.txt" if self._code else "consent.txt"
        with Vertical(classes="dialog -wide"):
            yield Static("Consent form", classes="dialog-title")
            with ScrollPane(id="form-text", help_text=self.HELP_TEXT):
                yield Static(self._text, markup=False)
            yield labelled("File", TextField("file", name, self.HELP_TEXT))
            yield Static(classes="dialog-note", id="form-note", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Write", id="write")
                yield Choice("Close", id="close")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write the file."""
        self._write()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Write the file, or close."""
        if event.button.id == "write":
            self._write()
        else:
            self.dismiss(None)

    def _write(self) -> None:
        path = Path(self.query_one("#file", Input).value.strip() or ".").expanduser()
        note = self.query_one("#form-note", Static)
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(self._text)
        except FileExistsError:
            problem = f"{path} already exists: choose another name"
        except OSError as error:
            problem = f"{path} cannot be written: {error.strerror}"
        else:
            self.app.notify(f"Written: {path.resolve()}", markup=False)
            self.dismiss(None)
            return
        note.update(problem)
        note.add_class("-error")


class DeletionForm(Form):
    """Returns the reason as ``reason``; the code has to be typed again."""

    AUTO_FOCUS = "#confirm"

    def __init__(self, preview: DeletionPreview) -> None:
        super().__init__()
        self._preview = preview
        self._reason = 0

    def compose(self) -> ComposeResult:
        """Yield what goes and stays, the reason, the field, buttons."""
        preview = self._preview
        with Vertical(classes="dialog -wide"):
            yield Static(f"Delete {preview.speaker}", classes="dialog-title", markup=False)
            with ScrollPane(id="deletion-text", help_text="# Deletion\n\nArrows scroll."):
                yield WrappedText(lambda width: _deletion_lines(preview, width))
            yield Choice("", id="reason")
            yield FormField(
                "confirm", "Type the code", "", self._same, allowed=preview.speaker,
                help_text="# Type the code\n\nType the participant code. This cannot be undone.",
            )  # fmt: skip
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Delete permanently", id="accept")
                yield Choice("Close", id="close")

    def on_mount(self) -> None:
        """Show the reason."""
        self._show_reason()

    def _show_reason(self) -> None:
        words = REASON_WORDS[REASONS[self._reason]]
        self.query_one("#reason", Choice).label = f"Reason: {words}   (enter changes it)"

    def _same(self, text: str) -> None:
        if text != self._preview.speaker:
            raise TabwbError(f"'{text}' is not '{self._preview.speaker}'")

    def pressed(self, button: Button) -> None:
        """Take the next reason."""
        self._reason = (self._reason + 1) % len(REASONS)
        self._show_reason()

    def accept(self) -> None:
        """Return the reason, once the code was typed."""
        if self.valid() is not None:
            self.dismiss({"reason": REASONS[self._reason]})


def _deletion_lines(preview: DeletionPreview, width: int) -> Iterator[Content]:
    yield Content("DELETED PERMANENTLY:")
    yield from _bullets([f"{preview.goes}", "the sound files of these recordings"], width)
    yield Content("")
    yield Content("KEPT:")
    kept = [
        "the code, the day, the reason, who deleted, and these numbers",
        "the log: who did what and when, without details",
        *preview.stays,
    ]
    yield from _bullets(kept, width)


def _bullets(sentences: Sequence[str], width: int) -> Iterator[Content]:
    for words in sentences:
        for at, line in enumerate(wrapped(words, max(width - 4, LEAST))):
            yield Content(f"    {line}" if at else f"  · {line}")
