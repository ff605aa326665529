"""The new-administration dialog: which battery, to whom, under which conditions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import cast

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus
from textual.widget import Widget
from textual.widgets import Button, Input, Select, Static

from tabwb.records.conditions import ItemOrder, OptionOrder
from tabwb.records.errors import TabwbError
from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.shell.choice_field import Choice
from tabwb.workbench.shell.combo import Combo, Known, known_judges
from tabwb.workbench.shell.dialog import Dialog
from tabwb.workbench.shell.wording import AMBER, QUIET, name_of
from tabwb.workbench.trial.draft import Draft, FieldError, StartPreview

ORDERS: dict[str, tuple[tuple[str, str], ...]] = {
    "kind": (("a model", "model"), ("a person", "speaker")),
    "item_order": (("as given", "as-given"), ("shuffled", "shuffled")),
    "option_order": (
        ("as given", "as-given"),
        ("shuffled", "shuffled"),
        ("in all rotations", "rotated"),
    ),
    "context": (("fresh for each", "fresh"), ("one conversation", "conversation")),
    "protocol": (
        ("written freely (generate)", "generate"),
        ("held to the options (enforced)", "enforced"),
        ("the likeliest option (likelihood)", "likelihood"),
    ),
}
SETTLED_S = 0.3
"""So long after the last change it is looked ahead."""
HELPS = {
    "battery": "the battery's id, or the path of a battery.toml; down lists those installed",
    "kind": "a model answers by itself; a person types the answers here, or names pictures aloud",
    "model": "ID[:NAME][@key=value,...]; down lists the back ends that are registered",
    "speaker": "a participant code such as S-014, never a person's name",
    "research_protocol": "the approved protocol under which this battery is given to a person",
    "transcriber": "what hears the responses, a draft; or none: descriptions are then typed",
    "microphone": "which one listens, or nothing for the system's own; down lists those there are",
    "rater": "the rater code of the person who scores by ear; may be empty",
    "seed": "for orders and for sampling",
    "replicates": "how often each item is given",
    "item_order": "items keep to their subtest",
    "option_order": "in all rotations: each item once for every rotation of its options",
    "temperature": "0 is greedy decoding",
    "top_p": "nucleus mass, above 0 to 1",
    "max_tokens": "token limit of every reply; empty: the battery's limits (256 where it has none)",
    "stop": "stop sequences: texts that end a reply, two spaces between them; \\n is a new line",
    "context": "one conversation: earlier items and answers stand before each prompt",
    "protocol": "how items with options are answered; the others are always answered freely",
    "judges": "specs of judges with spaces between, or none; down lists them; one that asks a "
    "model is named with it (tab-2026:gemini:gemini-2.5-flash) and judges afterwards",
}


def help_text(name: str) -> str:
    """F1 help of a field."""
    words = HELPS.get(name, "")
    return f"# {name.replace('_', ' ').capitalize()}\n\n{words}.\n\n**tab** goes to the next field."


class Field(Input):
    """One line to type in."""

    def __init__(self, name: str, value: str, placeholder: str = "") -> None:
        super().__init__(value, placeholder, id=name, compact=True)
        self.help_text = help_text(name)


class Selection(Select[str]):
    """One of a few."""

    def __init__(self, name: str, value: str) -> None:
        super().__init__(ORDERS[name], id=name, value=value, allow_blank=False, compact=True)
        self.help_text = help_text(name)


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
        check: Callable[[Draft], None],
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
            Known(one.id, one.id, f"{one.title} {one.version}".strip(), one.problem)
            for one in self._catalogue.batteries
        ]
        models = [
            Known(
                one.spec,
                one.shape,
                ". ".join(filter(None, (one.title, one.remarks))),
                one.hindrance,
            )
            for one in self._catalogue.models
        ]
        transcribers = [
            Known(one.spec, one.shape, one.title, one.hindrance)
            for one in self._catalogue.transcribers
        ]
        with Vertical(classes="dialog"):
            yield Static("New administration", classes="dialog-title")
            with VerticalScroll(can_focus=False, id="fields"):
                yield from _row(
                    "Battery", Combo("battery", draft.battery, batteries, help_text("battery"))
                )
                yield from _row("Given to", Selection("kind", draft.kind))
                yield from _row(
                    "Model", Combo("model", draft.model, models, help_text("model")), "model"
                )
                yield from _row(
                    "Participant", Field("speaker", draft.speaker, "participant code"), "person"
                )
                yield from _row(
                    "Protocol ID", Field("research_protocol", draft.research_protocol), "person"
                )
                heard_by = Combo(
                    "transcriber", draft.transcriber, transcribers, help_text("transcriber")
                )
                yield from _row("Transcriber", heard_by, "aloud")
                listens = Combo("microphone", draft.microphone, (), help_text("microphone"))
                yield from _row("Microphone", listens, "aloud")
                yield from _row("Scored by", Field("rater", draft.rater), "aloud")
                yield Static("", classes="gap")
                with Horizontal(classes="pair"):
                    yield from _row("Seed", Field("seed", draft.seed))
                    yield from _row(
                        "Replicates", Field("replicates", draft.replicates), "not-aloud"
                    )
                with Horizontal(classes="pair"):
                    yield from _row("Items", Selection("item_order", draft.item_order))
                    yield from _row(
                        "Options", Selection("option_order", draft.option_order), "not-aloud"
                    )
                with Horizontal(classes="pair model"):
                    yield from _row("Temperature", Field("temperature", draft.temperature))
                    yield from _row("Top p", Field("top_p", draft.top_p))
                with Horizontal(classes="pair model"):
                    limit = Field("max_tokens", draft.max_tokens, "as in the battery")
                    yield from _row("Max tokens", limit)
                    yield from _row("Stop at", Field("stop", draft.stop))
                with Horizontal(classes="pair model"):
                    context = "conversation" if draft.conversation else "fresh"
                    yield from _row("Context", Selection("context", context))
                yield from _row("Answers", Selection("protocol", draft.protocol), "model")
                yield from _row("Judges", self._judges("judges"), "model")
                with Horizontal(classes="pair person typed"):
                    yield from _row("Judges", self._judges("judges_person"))
                yield Static("", id="judges-later", markup=False)
                yield Static("", id="design", markup=False)
                yield Static("", id="notices", markup=False)
            yield Static("", id="message")
            with Horizontal(classes="dialog-buttons"):
                yield Begin("Begin", id="begin", compact=True)
                yield Choice("Cancel", id="cancel")

    def _judges(self, name: str) -> Combo:
        known = known_judges(self._catalogue.judges)
        return Combo(name, self._draft.judges, known, help_text("judges"), several=True)

    def on_mount(self) -> None:
        """Show the rows that apply."""
        self.query_one("#microphone", Input).placeholder = "the system's own"
        self._show_kind(self._draft.kind)
        self._tell_about_open()
        self._look_ahead()

    # ---------------------------------------------------------------- what is shown

    def _show_kind(self, kind: str) -> None:
        for widget in self.query(".model"):
            widget.display = kind == "model"
        for widget in self.query(".person"):
            widget.display = kind == "speaker"
        aloud, typed = self._aloud is not False, self._aloud is not True
        for widget in self.query(".aloud"):
            widget.display = kind == "speaker" and aloud
        for widget in self.query(".typed"):
            widget.display = kind == "speaker" and typed
        for widget in self.query(".not-aloud"):
            widget.display = kind == "model" or typed

    @property
    def _aloud(self) -> bool | None:
        """Whether the battery is named aloud; None where that is not known before it is read."""
        named = self.query_one("#battery", Input).value.strip()
        known = [one.aloud for one in self._catalogue.batteries if one.id == named]
        return known[0] if known else None

    def on_select_changed(self, event: Select.Changed) -> None:
        """A person needs other fields than a model."""
        if event.select.id == "kind":
            self._show_kind(str(event.value))
        self._clear()
        self._look_ahead()

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was wrong may be right now; what is named aloud is given to a person."""
        self._clear()
        if event.input.id == "battery":
            if self._aloud:
                self.query_one("#kind", Select).value = "speaker"
            self._show_kind(str(self.query_one("#kind", Select).value))
            if isinstance(self.focused, Begin):
                self._tell_about_open()
        self._look_ahead()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Say what the field is for."""
        widget = event.widget
        name = (widget.id or "").removesuffix("-list").removesuffix("_person")
        if name == "microphone" and not self._listed:
            self._listed = True
            self._list_microphones()
        if widget.has_class("-wrong"):
            return
        if name in HELPS:
            self._say(HELPS[name], QUIET)
        elif widget.id == "begin":
            self._tell_about_open()

    def _clear(self) -> None:
        for widget in self.query(".-wrong"):
            widget.remove_class("-wrong")

    def _say(self, text: str, style: str) -> None:
        self.query_one("#message", Static).update(Content.styled(text, style))

    def _tell_about_open(self) -> None:
        draft = self._read()
        who = draft.model if draft.kind == "model" else draft.speaker
        for one in self._catalogue.open:
            if one.battery == draft.battery and one.conditions.examinee == who:
                self._say(
                    f"#{one.id} {name_of(one)} is {one.status_word}, {one.answered} of "
                    f"{one.planned} answered. You can resume it instead (o).",
                    AMBER,
                )
                return
        known = [one for one in self._catalogue.batteries if one.id == draft.battery]
        what = f"{known[0].title}, {known[0].n_items} items. " if known else ""
        self._say(f"{what}enter begins; then space gives the first item.", QUIET)

    def _look_ahead(self) -> None:
        """Tell, a moment after the last change, of consents, of judges, and of the design."""
        self._tell_ahead(self._read())

    @work(group="ahead", exclusive=True)
    async def _tell_ahead(self, draft: Draft) -> None:
        told = StartPreview()
        if (
            draft.battery.strip()
            and (draft.model if draft.kind == "model" else draft.speaker).strip()
        ):
            await asyncio.sleep(SETTLED_S)
            with suppress(TabwbError):  # what is wrong is told when it is to be begun
                told = await asyncio.to_thread(self._preview, draft)
        for name, words, style in (
            ("judges-later", told.judging, QUIET),
            ("design", told.design, QUIET),
            ("notices", told.notices, AMBER),
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
            if self.is_attached:
                self._say(str(error), AMBER)
            return
        known = [
            Known(one.name, title(one), "the system's own" if one.default else "")
            for one in devices
        ]
        if not known:
            remedy = "plug one in, or use tabwb name --input FOLDER"
            known = [Known("", "none was found", "", remedy)]
        for listed in self.query("#microphone-combo").results(Combo):
            listed.offer(known)

    # ---------------------------------------------------------------- beginning

    def _read(self) -> Draft:
        def typed(name: str) -> str:
            return self.query_one(f"#{name}", Input).value

        def chosen(name: str) -> str:
            return str(self.query_one(f"#{name}", Select).value)

        person = chosen("kind") == "speaker"
        return replace(
            self._draft,
            kind="speaker" if person else "model",
            conversation=chosen("context") == "conversation",
            protocol=chosen("protocol"),
            item_order=cast("ItemOrder", chosen("item_order")),
            option_order=cast("OptionOrder", chosen("option_order")),
            judges=typed("judges_person" if person else "judges"),
            battery=typed("battery"),
            model=typed("model"),
            speaker=typed("speaker"),
            research_protocol=typed("research_protocol"),
            transcriber=typed("transcriber"),
            microphone=typed("microphone").strip(),
            rater=typed("rater"),
            seed=typed("seed"),
            replicates=typed("replicates"),
            temperature=typed("temperature"),
            max_tokens=typed("max_tokens"),
            top_p=typed("top_p"),
            stop=typed("stop"),
        )

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
        parts = [error.message]
        if error.allowed:
            parts.append(f"allowed: {error.allowed}")
        if error.hint:
            parts.append(error.hint)
        if isinstance(error, FieldError):
            name = error.field
            if name == "judges" and draft.kind == "speaker":
                name = "judges_person"
            field = self.query_one(f"#{name}", Widget)
            field.add_class("-wrong")
            field.focus()
        self.call_after_refresh(self._say, "\n".join(parts), AMBER)


def _row(label: str, field: Widget, kind: str = "") -> Iterator[Widget]:
    yield Horizontal(
        Static(label, classes="label", markup=False), field, classes=f"row {kind}".strip()
    )
