"""The rows of the new-administration dialog: labels, fields, errors below their fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input

from tabwb.records.conditions import declared
from tabwb.records.declared_conditions import (
    ANYBODY,
    MODEL,
    PERSON,
    SPOKEN,
    Audience,
    Component,
    Components,
    OneOf,
    Switch,
)
from tabwb.records.errors import TabwbError
from tabwb.records.trials import Administration
from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import Catalogue, ModelEntry
from tabwb.workbench.shell.fields import Combo, Known, Selection, known_judges
from tabwb.workbench.shell.wording import AMBER, QUIET, folded
from tabwb.workbench.trial.controller import KnownParticipant
from tabwb.workbench.trial.draft import Draft, FieldError

LABEL = 16
"""Columns of a label."""
SHORT = 60
"""The most characters of what is allowed that stand below a field."""
KINDS = (("a model", "model"), ("a participant", "speaker"))
OTHER_FIELDS: dict[str, tuple[str, str, frozenset[Audience]]] = {
    "battery": (
        "Battery",
        "The battery's id, or the path of a battery.toml; down lists the installed batteries",
        ANYBODY,
    ),
    "kind": (
        "Given to",
        "A model answers by itself; a participant types the answers here or names pictures aloud",
        ANYBODY,
    ),
    "model": (
        "Model",
        "ID[:NAME][@key=value,...]; down lists back ends, profiles and earlier models",
        MODEL,
    ),
    "speaker": (
        "Participant",
        "A participant code such as S-014, never a person's name; down lists the known codes",
        PERSON,
    ),
    "microphone": (
        "Microphone",
        "The microphone; empty: the system's default. Down lists the microphones",
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
    words = condition.field.help
    return condition.field.label, words[:1].upper() + words[1:], condition.given_to


def applies(name: str, audience: Audience) -> bool:
    """Return whether a field is shown for those who are given the battery."""
    return audience in words_of(name)[2]


def help_text(name: str) -> str:
    """Return the F1 help of a field."""
    label, words, _ = words_of(name)
    return f"# {label}\n\n{words}.\n\n**tab** goes to the next field, **enter** begins."


class Field(Input):
    """One line to type in."""

    def __init__(self, name: str, value: str, placeholder: str = "") -> None:
        super().__init__(value, placeholder, id=name, compact=True, validate_on=())
        self.help_text = help_text(name)


class Row(Widget):
    """Fields side by side; the row draws their labels, and below them what is wrong.

    A widget for each label and message would be slow.
    """

    def __init__(self, names: Sequence[str], fields: Sequence[Widget], label: str = "") -> None:
        super().__init__(*fields, classes="row -one-label" if label else "row")
        self.names, self._fields, self._label = tuple(names), tuple(fields), label
        inputs = (field.field if isinstance(field, Combo) else field for field in fields)
        self.inputs = dict(zip(names, inputs, strict=True))
        """What holds the value of each field."""
        self._errors: tuple[tuple[str, str], ...] = ()

    @property
    def texts(self) -> dict[str, str]:
        """The text of each field."""
        inputs = self.inputs.items()
        return {name: one.value for name, one in inputs if isinstance(one, Input | Selection)}

    def show_for(self, audience: Audience) -> None:
        """Show the fields that apply, or hide the row where there is none."""
        for name, field in zip(self.names, self._fields, strict=True):
            field.display = applies(name, audience)
        self.display = any(field.display for field in self._fields)

    def show_errors(self, errors: Sequence[FieldError]) -> None:
        """Show what is wrong with its fields, below them."""
        found = tuple((error.field, _short(error)) for error in errors)
        if found != self._errors:
            self._errors = found
            for name in self.names:
                wrong = any(field == name for field, _ in found)
                self.inputs[name].set_class(wrong, "-wrong")
            self.styles.height = 1 + len(self._error_lines())
            self.refresh(layout=True)

    def _error_lines(self) -> list[Content]:
        several = len([field for field in self._fields if field.display]) > 1
        lines: list[Content] = []
        for field, words in self._errors:
            label = f"{words_of(field)[0]}: " if several and not self._label else ""
            width = self.content_size.width or self.screen.size.width // 2
            lines += folded(f"! {label}{words}", width, AMBER, LABEL + 1)
        return lines

    def render(self) -> Content:
        """Return labels and errors."""
        line = Content(self._label)
        if not self._label:
            for name, field in zip(self.names, self._fields, strict=True):
                if field.display:
                    at = field.region.x - self.content_region.x - LABEL
                    at += at > 0  # beside the edge of the field before
                    gap = " " * max(at - line.cell_length, 0)
                    line = Content.assemble(line, gap, words_of(name)[0])
        return Content("\n").join([line, *self._error_lines()])

    def on_resize(self) -> None:
        """Fold the errors to the new width."""
        height = 1 + len(self._error_lines())
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height


def _short(error: FieldError) -> str:
    """Return an error for the line below its field; a long list is told while it is focused."""
    allowed = error.allowed or ""
    return f"{error.message}; allowed: {allowed}" if 0 < len(allowed) <= SHORT else error.message


def whole_words(error: TabwbError) -> str:
    """Return everything that an error says."""
    allowed = f"allowed: {error.allowed}" if error.allowed else None
    return "\n".join(filter(None, (error.message, allowed, error.hint)))


class Advanced(Widget, can_focus=True):
    """The line of the folded fields: what they are set to; enter opens and closes them."""

    HELP = (
        "# Advanced\n\nThe values of the other fields. **enter** or **space** opens them and "
        "closes them again; **tab** goes to the next field."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "turn", show=False),
        Binding("right", "turn(True)", show=False),
        Binding("left", "turn(False)", show=False),
    ]
    words = reactive("")
    is_open = reactive(False)

    @dataclass
    class Turned(Message):
        """The fields are to be shown or hidden."""

        is_open: bool

    def __init__(self) -> None:
        super().__init__(id="advanced")
        self.tooltip = "enter or a click shows all other fields"

    def render(self) -> Content:
        """Return the line."""
        sign = "▾" if self.is_open else "▸"
        line = Content.assemble(
            f"{sign} Advanced".ljust(LABEL + 1),
            (self.words, AMBER if self.words[:1] == "!" else QUIET),
        )
        return line.truncate(max(self.content_size.width, 1), ellipsis=True)

    def action_turn(self, is_open: bool | None = None) -> None:
        """Show the fields, or hide them."""
        wanted = not self.is_open if is_open is None else is_open
        if wanted != self.is_open:
            self.is_open = wanted
            self.post_message(self.Turned(wanted))

    def on_click(self, event: Click) -> None:
        """Show or hide them by mouse."""
        self.action_turn()


def first_row(name: str, catalogue: Catalogue, draft: Draft) -> Row:
    """Return a row that is not folded; that of ``kind`` holds the examinee too."""
    if name == "kind":
        models = [*map(known_model, catalogue.models), *given_models(catalogue)]
        code = "participant code"
        examinee = [
            Selection(KINDS, draft.kind, id="kind", help_text=help_text("kind")),
            Combo("model", draft.model, models, help_text("model")),
            Combo("speaker", draft.speaker, (), help_text("speaker"), placeholder=code),
        ]
        return Row(["kind", "model", "speaker"], examinee, words_of("kind")[0])
    return Row([name], [field_of(name, catalogue, draft)])


def known_model(model: ModelEntry) -> Known:
    """Return the entry of a back end or a profile."""
    words = ". ".join(filter(None, (model.title, model.remarks)))
    return Known(model.spec, model.shape, words, model.unavailable_reason)


def given_models(catalogue: Catalogue) -> list[Known]:
    """Return the models of the store whose specs are not those of the back ends, latest first."""
    registered = {model.spec for model in catalogue.models}
    given: dict[str, list[Administration]] = {}
    for administration in reversed(catalogue.administrations):
        conditions = administration.conditions
        if conditions.kind == "model" and conditions.examinee not in registered:
            given.setdefault(conditions.examinee, []).append(administration)
    return [
        Known(spec, spec, f"given before: {plural(len(those), 'administration')}")
        for spec, those in given.items()
    ]


def known_participant(participant: KnownParticipant) -> Known:
    """Return the entry of a participant."""
    words = "no administration yet"
    if participant.administrations:
        count = plural(participant.administrations, "administration")
        words = f"{count}, the last {participant.last}"
    return Known(participant.code, participant.code, words)


def field_of(name: str, catalogue: Catalogue, draft: Draft) -> Widget:
    """Return the widget of a field that is not of the examinee."""
    if name == "battery":
        batteries = [
            Known(one.id, one.id, f"{one.title} {one.version}".strip(), one.problem)
            for one in catalogue.batteries
        ]
        return Combo(name, draft.battery, batteries, help_text(name))
    if name == "microphone":
        own = "the system's default"
        return Combo(name, draft.microphone, (), help_text(name), placeholder=own)
    condition = declared(name)
    assert condition.field is not None
    text = draft.text(condition)
    match condition.kind:
        case OneOf(values=values) | Switch(values=values):
            pairs = ((words, value) for value, words in values.items())
            return Selection(pairs, text, id=name, help_text=help_text(name))
        case Components():
            known = known_judges(catalogue.judges)
            return Combo(name, text, known, help_text(name), several=True)
        case Component():
            transcribers = [
                Known(one.spec, one.shape, one.title, one.unavailable_reason)
                for one in catalogue.transcribers
            ]
            return Combo(name, text, transcribers, help_text(name))
    return Field(name, text, condition.field.placeholder)


def by_row(errors: Sequence[FieldError], rows: Sequence[Row]) -> dict[Row, list[FieldError]]:
    """Return the errors of each row; those of fields that no row has are left out."""
    place = {name: row for row in rows for name in row.names}
    found: dict[Row, list[FieldError]] = {row: [] for row in rows}
    for field, those in groupby(errors, lambda error: error.field):
        if field in place:
            found[place[field]] += those
    return found
