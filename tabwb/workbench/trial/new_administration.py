"""The dialog for a new administration."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar, Protocol

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click, DescendantFocus
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from tabwb.lesion.declared import PRESETS
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
    Text,
)
from tabwb.records.errors import TabwbError
from tabwb.records.trials import Administration
from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import BatteryEntry, Catalogue, ModelEntry
from tabwb.workbench.shell.dialogs import Choice, Combo, Dialog, Known, Selection, known_judges
from tabwb.workbench.shell.wording import AMBER, QUIET, folded, name_of, state_word
from tabwb.workbench.trial.draft import (
    PROTOCOL,
    Draft,
    FieldError,
    KnownParticipant,
    StartPreview,
    advanced_rows,
    audience_of,
    first_fields,
    folded_words,
)

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
        case Text() if name == "lesion":
            presets = [Known(spec, *words) for spec, words in PRESETS.items()]
            return Combo(name, text, presets, help_text(name), placeholder="none")
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


SETTLED_S = 0.3
"""So long after the last change it is looked ahead."""
AS_TYPED = {"lesion"}
"""Fields whose errors are shown while they are typed."""


class Drafts(Protocol):
    """What examines a draft; called in a thread."""

    def preview(self, draft: Draft) -> StartPreview:
        """Return what a user should know of a draft before it begins."""

    def problems(self, draft: Draft) -> Sequence[TabwbError]:
        """Return everything that is wrong with a draft."""

    def participants(self) -> Sequence[KnownParticipant]:
        """Return everybody in the store."""


class Begin(Button):
    """Begins the administration."""

    HELP = "# Begin\n\n**enter** begins; the first item is given when you press space."


class NewAdministration(Dialog[Draft | int | None]):
    """Returns the draft, or the number of an administration to continue; None when closed."""

    CSS_PATH = "new_administration.tcss"
    AUTO_FOCUS = "#begin"

    def __init__(self, catalogue: Catalogue, draft: Draft, drafts: Drafts, *, usual: Draft) -> None:
        super().__init__()
        self._catalogue, self._drafts = catalogue, drafts
        self._usual = self._for_whom(usual)
        self._draft = draft = self._for_whom(draft)
        self._battery = self._known_battery(draft.battery)
        self._preview = StartPreview(self._battery)
        self._last = draft
        self._touched: set[str] = set()
        """Fields that were changed, whose errors are shown once they are left."""
        self._refused = False
        """Whether all errors are shown, because the user has asked to begin."""
        self._checking = self._unfolded = False
        self._listed: set[str] = set()

    def compose(self) -> ComposeResult:
        """Yield the rows, the line of the folded fields, what is told, buttons."""
        with Vertical(classes="dialog"):
            yield Static("New administration", classes="dialog-title")
            with VerticalScroll(can_focus=False, id="fields"):
                for name in self._first_names(audience_of(self._draft.kind, self._battery)):
                    yield first_row(name, self._catalogue, self._draft)
                yield Advanced()
            yield Static("", id="preview", markup=False)
            yield Static("", id="message", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Begin("Begin", id="begin", compact=True)
                yield Choice("Continue", id="continue")
                yield Choice("Defaults", id="defaults")
                yield Choice("Cancel", id="cancel")

    def on_mount(self) -> None:
        """Show the fields that apply."""
        self._show_kind()
        if not self._draft.examinee:
            self.call_after_refresh(self.query_one("#speaker", Input).focus)
        self._changed()

    # ---------------------------------------------------------------- what is shown

    @property
    def _rows(self) -> list[Row]:
        return list(self.query(Row))

    @property
    def _audience(self) -> Audience:
        return audience_of(self.query_one("#kind", Selection).value, self._battery)

    def _known_battery(self, name: str) -> BatteryEntry | None:
        known = (battery for battery in self._catalogue.batteries if battery.id == name.strip())
        return next(known, None)

    def _for_whom(self, draft: Draft) -> Draft:
        """Return a draft whose battery is made for its examinee, unless a protocol is named."""
        battery = self._known_battery(draft.battery)
        if battery is None:
            return draft
        if "model" not in battery.examinees:
            return replace(draft, kind="speaker")
        if draft.kind == "model" or "speaker" in battery.examinees:
            return draft
        if draft.value("research_protocol"):
            return draft
        fitting = (one for one in self._catalogue.batteries if "speaker" in one.examinees)
        other = next(fitting, battery)
        return replace(draft, battery=other.id)

    def _first_names(self, audience: Audience) -> tuple[str, ...]:
        return ("battery", "kind", *first_fields(audience, self._battery))

    def _show_kind(self) -> None:
        """Show the fields that suit battery and examinee; those that were not yet are made."""
        audience = self._audience
        first = self._first_names(audience)
        folded = self.query_one(Advanced)
        self.set_class(folded.is_open, "-unfolded")
        there = {name for row in self._rows for name in row.names}
        for name in first:
            if name not in there:
                row = first_row(name, self._catalogue, self._draft)
                self.query_one("#fields").mount(row, before=folded)
        for row in self._rows:
            row.show_for(audience)
            if not folded.is_open and set(first).isdisjoint(row.names):
                row.display = False

    def on_selection_changed(self, event: Selection.Changed) -> None:
        """Show the fields that a model or a participant needs."""
        name = event.selection.id or ""
        self._touch(name)
        if name == "kind":
            self._show_kind()

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was wrong may be right now; what is named aloud is given to a participant."""
        name = event.input.id or ""
        if self._touch(name) and name == "battery":
            self._take_battery(self._known_battery(event.value))
            self._changed()

    def _take_battery(self, battery: BatteryEntry | None) -> None:
        self._battery = battery
        if battery is not None and "model" not in battery.examinees:
            self.query_one("#kind", Selection).value = "speaker"
        self._show_kind()

    def _touch(self, name: str) -> bool:
        """Note a change by the user; a field also tells of its first value."""
        if self.read() == self._last:
            return False
        self._touched.add(name)
        self._changed()
        return True

    def _changed(self) -> None:
        draft = self._last = self.read()
        self.query_one(Advanced).words = folded_words(draft, self._audience, self._battery)
        open_one = self._open_one(draft)
        button = self.query_one("#continue", Choice)
        button.display = open_one is not None
        if open_one is not None:
            button.label = f"Continue #{open_one.id}"
        self.query_one("#defaults").display = bool(draft.differing(self._usual))
        self._look_ahead(draft)
        self._tell()

    def _open_one(self, draft: Draft) -> Administration | None:
        same = (draft.battery.strip(), draft.examinee)
        return next(
            (one for one in self._catalogue.open if (one.battery, one.conditions.examinee) == same),
            None,
        )

    async def on_advanced_turned(self, event: Advanced.Turned) -> None:
        """Show or hide the folded fields; they are made when they are opened first."""
        if event.is_open:
            await self.unfold()
        self._show_kind()

    async def unfold(self) -> None:
        """Make the folded fields."""
        fields = self.query_one("#fields")
        if not self._unfolded:
            self._unfolded = True
            audience = self._audience
            for names in [(PROTOCOL,), *advanced_rows()]:
                if not self.query(f"#{names[0]}"):
                    widgets = [field_of(name, self._catalogue, self._draft) for name in names]
                    row = Row(names, widgets)
                    row.show_for(audience)
                    await fields.mount(row)

    # ---------------------------------------------------------------- what is told

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Say what the field is for, and list what is known of it."""
        name = (event.widget.id or "").removesuffix("-list")
        if name in {"microphone", "speaker"} and name not in self._listed:
            self._listed.add(name)
            (self._list_microphones if name == "microphone" else self._list_participants)()
        self._tell()
        self._show_errors()

    @property
    def _focused_field(self) -> str:
        return (self.focused.id or "").removesuffix("-list") if self.focused is not None else ""

    def _tell(self) -> None:
        """Say what the focused field is for, or what enter does."""
        name, style = self._focused_field, QUIET
        names = {name for row in self._rows for name in row.names}
        wrong = {error.field: error for error in self._shown_errors()}
        if name in wrong:
            words, style = whole_words(wrong[name]), AMBER
        elif name in names:
            words = f"{words_of(name)[1]}."
        elif name == "advanced":
            words = "Enter shows or hides the other fields."
        elif name == "defaults":
            words = "Enter sets all fields to their defaults."
        elif unplaced := [
            problem for problem in self._preview.problems if not isinstance(problem, FieldError)
        ]:
            words, style = whole_words(unplaced[0]), AMBER
        elif (open_one := self._open_one(self.read())) is not None:
            style = AMBER
            words = (
                f"#{open_one.id} {name_of(open_one)} is {state_word(open_one)}, "
                f"{open_one.answered} of {open_one.planned} answered: you can continue it instead."
            )
        else:
            battery = self._battery
            size = f"{battery.title}, {battery.n_items} items. " if battery is not None else ""
            words = f"{size}Enter begins; then space gives the first item."
        self._say(words, style)

    def _say(self, text: str, style: str) -> None:
        said = Content.styled(text, style)
        for line in self.query("#message").results(Static):  # none once it is closed
            if not (isinstance(line.content, Content) and said.is_same(line.content)):
                line.update(said)

    @work(group="ahead", exclusive=True)
    async def _look_ahead(self, draft: Draft) -> None:
        """Tell, a moment after the last change, what is wrong, of consents, judges, design."""
        await asyncio.sleep(SETTLED_S)
        preview = await asyncio.to_thread(self._drafts.preview, draft)
        if self.query("#preview"):  # none once it is closed, though it may still be attached
            self._show_preview(preview)

    def _show_preview(self, preview: StartPreview) -> None:
        self._preview = preview
        if self._battery is None and preview.battery is not None:  # named by its path
            self._take_battery(preview.battery)
        self._show_errors()
        self._tell()
        parts = [
            *(Content.styled(words, AMBER) for words in preview.notices),
            *(Content.styled(words, QUIET) for words in (*preview.judging, *preview.design)),
        ]
        line = self.query_one("#preview", Static)
        line.display = bool(parts)
        fields = self.query_one("#fields")  # they have less room; nothing in them looks different
        fields.set_class(bool(parts), "-told", update=False)
        self.app.stylesheet.apply(fields)
        line.update(Content("\n").join(parts))

    def _shown_errors(self) -> list[FieldError]:
        """Return the errors of fields that were changed and left; once refused, all of them."""
        focused = self._focused_field
        settled = {name for name in self._touched if name != focused or name in AS_TYPED}
        return [
            error
            for error in self._preview.problems
            if isinstance(error, FieldError) and (self._refused or error.field in settled)
        ]

    def _show_errors(self) -> None:
        """Show each error at its field."""
        for row, those in by_row(self._shown_errors(), self._rows).items():
            row.show_errors(those)

    @work(group="microphones")
    async def _list_microphones(self) -> None:
        from tabwb.speech.process import inputs, title

        try:
            devices = await asyncio.to_thread(inputs)
        except TabwbError as error:
            self._say(str(error), AMBER)
            return
        known = [
            Known(device.name, title(device), "the system's default" if device.default else "")
            for device in devices
        ]
        remedy = "plug one in, or use tabwb name --input FOLDER"
        self._offer("microphone", known or [Known("", "none was found", "", remedy)])

    @work(group="participants")
    async def _list_participants(self) -> None:
        people = await asyncio.to_thread(self._drafts.participants)
        none = [Known("", "none is known yet", "", "type a new code")]
        self._offer("speaker", [known_participant(one) for one in people] or none)

    def _offer(self, name: str, known: Sequence[Known]) -> None:
        for combo in self.query(f"#{name}-combo").results(Combo):  # the dialog may be closed by now
            combo.offer(known)

    # ---------------------------------------------------------------- beginning

    def read(self) -> Draft:
        """Return what the fields hold; what is folded and was never opened stays as it was."""
        texts: dict[str, str] = {}
        for row in self._rows:
            texts |= row.texts
        return self._draft.filled(**texts)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a field begins too."""
        self._begin()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Begin, continue another, or close."""
        if event.button.id == "begin":
            self._begin()
        elif event.button.id == "continue":
            open_one = self._open_one(self.read())
            self.dismiss(None if open_one is None else open_one.id)
        elif event.button.id == "defaults":
            self._set_defaults()
        else:
            self.dismiss(None)

    def _set_defaults(self) -> None:
        """Set all fields to their defaults; the participant stays."""
        self._draft = replace(self._usual, speaker=self.read().speaker)
        for row in self._rows:
            for name, one in row.inputs.items():
                if isinstance(one, Input | Selection):
                    one.value = self._draft.value(name)
        self.query_one(Begin).focus()

    def _begin(self) -> None:
        if not self._checking:
            self._checking = True
            self.run_worker(self._check_and_close(self.read()), group="begin", exclusive=True)

    async def _check_and_close(self, draft: Draft) -> None:
        self._say("… checking", QUIET)
        try:
            problems = await asyncio.to_thread(self._drafts.problems, draft)
            if problems:
                await self._refuse(problems)
            else:
                self.dismiss(draft)
        finally:
            self._checking = False

    async def _refuse(self, problems: Sequence[TabwbError]) -> None:
        """Show all errors, each at its field, and go to the first."""
        fields = {error.field for error in problems if isinstance(error, FieldError)}
        shown = {name for row in self._rows if row.display for name in row.names}
        if fields - shown:
            await self.unfold()
            self.query_one(Advanced).is_open = True
            self._show_kind()
        self._refused = True
        self._preview = replace(self._preview, problems=tuple(problems))
        self._show_errors()
        in_order = [name for row in self._rows for name in row.names if name in fields]
        if in_order:
            field = self.query_one(f"#{in_order[0]}", Widget)
            field.focus()
            self.call_after_refresh(field.scroll_visible)
        self.call_after_refresh(self._tell)
