"""Models that can be examined: the back ends, profiles of one's own, and a first try."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.signal import Signal
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Select, Static
from textual.widgets.option_list import Option

from tabwb.records.specs import is_writable
from tabwb.workbench.engine.messages import Ready
from tabwb.workbench.engine.view_models import Catalogue, ModelEntry
from tabwb.workbench.models.controller import ModelTold
from tabwb.workbench.shell.dialogs import Choice, Dialog
from tabwb.workbench.shell.wording import AMBER, QUIET

HELPS = {
    "name": "A profile's name: a-z, 0-9 and hyphens. profile:NAME stands wherever a model's spec "
    "can. A name that is there is replaced.",
    "spec": "ID[:NAME][@key=value,...], for example openai:llama3.2:1b@base_url=http://localhost:"
    "11434/v1",
    "family": "For example Llama-3.2. Base and instruct models of one family and size are set "
    "side by side in results.",
    "tuning": "Base, or instruct; empty where that makes no sense.",
    "parameters": "How many the model has: 1240000000, 1.24B or 360M.",
}
TUNINGS = (("not said", ""), ("base", "base"), ("instruct", "instruct"))
LINE = 64
"""Columns of the list, without its bar and the gap."""
WIDEST = 26
"""Columns of the specs at most."""
NOTE = "enter copies it below; Write saves the profile; Try sends one question"

REMOVE = "Remove"


@dataclass(frozen=True, slots=True)
class ModelActions:
    """What the dialog can ask for; the outcome comes as a message."""

    write: Callable[[str, str, str, str, str], None]
    remove: Callable[[str], None]
    try_: Callable[[str], None]
    stop: Callable[[], None]


class Known(OptionList):
    """What can be examined."""

    HELP = """\
# Models

Your profiles first, then the back ends. **enter** copies the chosen one into the fields below.
"""


class Field(Input):
    """One line to type in."""

    def __init__(self, name: str) -> None:
        super().__init__(id=f"profile-{name}", compact=True)
        self.help_text = f"# {name.capitalize()}\n\n{HELPS[name]}\n\n**tab** moves on."


class Tuning(Select[str]):
    """Base or instruct."""

    def __init__(self) -> None:
        super().__init__(TUNINGS, id="profile-tuning", value="", allow_blank=False, compact=True)
        self.help_text = f"# Tuning\n\n{HELPS['tuning']}"


class ModelsScreen(Dialog[None]):
    """Stays until it is closed; a try that is under way is stopped then.

    Args:
        catalogue: what there is.
        actions: what can be asked for.
        news: publishes the worker's messages.
    """

    CSS_PATH = "dialog.tcss"
    AUTO_FOCUS = "#models-known"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close", show=False)]

    def __init__(self, catalogue: Catalogue, actions: ModelActions, news: Signal[object]) -> None:
        super().__init__()
        self._news = news
        self._catalogue, self._actions = catalogue, actions
        self._trying = False
        self._asked = ""
        """The profile that a second press of *Remove* takes away."""

    def compose(self) -> ComposeResult:
        """The list, fields, message, buttons."""
        with Vertical(classes="dialog"):
            yield Static("Models", classes="dialog-title")
            yield Known(id="models-known", compact=True)
            yield from _row("Name", Field("name"))
            yield from _row("Spec", Field("spec"))
            with Horizontal(classes="pair"):
                yield from _row("Family", Field("family"))
                yield from _row("Tuning", Tuning())
            yield from _row("Size", Field("parameters"))
            yield Static(Content.styled(NOTE, QUIET), id="models-message")
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Try", id="try")
                yield Choice("Write", id="write")
                yield Choice(REMOVE, id="remove")
                yield Choice("Close", id="close")

    def on_mount(self) -> None:
        """Fill the list; listen to new catalogues and to outcomes."""
        self.renew(self._catalogue)
        self._news.subscribe(self, self._hear)

    def _hear(self, message: object) -> None:
        match message:
            case Ready(catalogue=catalogue):
                self.renew(catalogue)
            case ModelTold(phase=phase, words=words):
                self.tell(phase, words)

    def renew(self, catalogue: Catalogue) -> None:
        """Show what there is now."""
        self._catalogue = catalogue
        known = self.query_one(Known)
        at = known.highlighted or 0
        width = min(max((len(one.shape) for one in catalogue.models), default=0), WIDEST)
        known.set_options(
            Option(
                Content.assemble(
                    _fit(one.shape, width).ljust(width),
                    "  ",
                    (_fit(_beside(one), LINE - width), QUIET),
                )
            )
            for one in catalogue.models
        )
        known.highlighted = min(at, len(catalogue.models) - 1) if catalogue.models else None

    def tell(self, phase: str, words: str) -> None:
        """Say what came of a deed."""
        self._trying = phase == "trying"
        self._asked = ""
        sign = {"trying": "…", "refused": "!", "asked": "?"}.get(phase, "✓")
        text = f"{sign} {words}"
        self.query_one("#models-message", Static).update(
            Content.styled(text, AMBER) if phase in {"refused", "asked"} else Content(text)
        )

    # ---------------------------------------------------------------- keys and buttons

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take one over into the fields, all of them: nothing of another one stays."""
        for name, value in _fields(self._catalogue.models[event.option_index]).items():
            if name == "tuning":
                self.query_one(Tuning).value = value
            else:
                self.query_one(f"#profile-{name}", Input).value = value
        self.query_one("#profile-spec", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another name is to be asked about anew."""
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
                self.tell("trying", f"opening {spec}")
                self._actions.try_(spec)
            case "write" if self._needs(name, "a name") and self._needs(spec, "a spec"):
                tuning = str(self.query_one("#profile-tuning", Select).value)
                self._actions.write(
                    name, spec, self._typed("family"), tuning, self._typed("parameters")
                )
            case "remove" if self._needs(name, "the name of a profile"):
                if asked or not self._has(name):  # of what is not there nothing can be lost
                    self._actions.remove(name)
                else:
                    self.tell("asked", f"{REMOVE} again takes profile:{name} out of your file")
                    self._asked = name
            case "close":
                self.action_leave()

    def action_leave(self) -> None:
        """Close; stop what is under way."""
        if self._trying:
            self._actions.stop()
        self.dismiss(None)

    def _has(self, name: str) -> bool:
        return any(one.profile and one.spec == f"profile:{name}" for one in self._catalogue.models)

    def _ask_no_more(self) -> None:
        if self._asked:
            self._asked = ""
            self.query_one("#models-message", Static).update(Content.styled(NOTE, QUIET))

    def _typed(self, name: str) -> str:
        return self.query_one(f"#profile-{name}", Input).value.strip()

    def _needs(self, value: str, what: str) -> bool:
        if self._trying:
            return False
        if not value:
            self.tell("refused", f"{what} is needed")
        return bool(value)


def _fields(one: ModelEntry) -> dict[str, str]:
    """What stands in each field when this one is taken over.

    A profile whose values no spec can hold stands for itself.
    """
    profile = one.profile
    if profile is None:
        return {"name": "", "spec": one.spec, "family": "", "tuning": "", "parameters": ""}
    return {
        "name": one.spec.removeprefix("profile:"),
        "spec": str(profile.spec) if is_writable(profile.spec) else one.spec,
        "family": profile.family,
        "tuning": profile.tuning,
        "parameters": "" if profile.parameters is None else str(profile.parameters),
    }


def _beside(one: ModelEntry) -> str:
    """What stands beside a spec; a hindrance without the name that stands there already."""
    return one.hindrance.removeprefix(f"'{one.id}' ") or one.title


def _fit(words: str, room: int) -> str:
    return words if len(words) <= room else f"{words[: room - 1]}…"


def _row(label: str, field: Widget) -> Iterator[Widget]:
    yield Horizontal(Static(label, classes="label", markup=False), field, classes="row")
