"""A field in which anything can be typed, with a list of what is known: down opens it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, Key
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from tabwb.workbench.wording import QUIET


class Known(NamedTuple):
    """One entry of the list; what has a hindrance is shown and cannot be chosen."""

    value: str
    label: str
    text: str
    hindrance: str = ""


class ComboList(OptionList):
    """What is known."""

    HELP = """\
# List

What is known. **enter** takes one; **esc**, or typing on, goes back to the field.
"""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "fold", show=False)]

    @property
    def _field(self) -> ComboInput:
        return self.screen.query_one(f"#{(self.id or '').removesuffix('-list')}", ComboInput)

    def action_fold(self) -> None:
        """Back to the field."""
        self._field.go_on()

    def on_key(self, event: Key) -> None:
        """Who types means the field."""
        field = self._field
        if event.is_printable and event.character is not None:
            field.replace(event.character, *field.selection)
        elif event.key == "backspace":
            field.action_delete_left()
        else:
            return
        event.stop().prevent_default()
        field.go_on()


class ComboInput(Input):
    """The field."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "unfold", show=False)]
    help_text = ""

    class Unfold(Message):
        """The list is wanted."""

    def go_on(self) -> None:
        """Back from the list: what is typed next is added, it replaces nothing."""
        self.select_on_focus = False
        self.focus()

    def on_blur(self) -> None:
        """Who comes anew types a new value over the old one, as in other fields."""
        self.select_on_focus = True

    def action_unfold(self) -> None:
        """Open the list."""
        self.post_message(self.Unfold())

    def on_click(self, event: Click) -> None:
        """A click opens the list too."""
        self.post_message(self.Unfold())


class Combo(Vertical):
    """Field and list; the field's id is the combo's without ``-combo``."""

    DEFAULT_CSS = """
    Combo { height: 1; width: 1fr; }
    Combo ComboInput { width: 1fr; }
    Combo ComboList {
        overlay: screen; constrain: none inside; display: none;
        height: auto; max-height: 10; width: 1fr;
        background: $panel; border: round $line; padding: 0 1;
    }
    """

    def __init__(self, name: str, value: str, known: Sequence[Known], help_text: str) -> None:
        super().__init__(id=f"{name}-combo")
        self._name, self._value, self._known = name, value, tuple(known)
        self._help = help_text

    def compose(self) -> ComposeResult:
        """Field, then the list that lies over what is below."""
        field = ComboInput(self._value, id=self._name, compact=True)
        field.help_text = self._help
        yield field
        yield ComboList(id=f"{self._name}-list", compact=True)

    def offer(self, known: Sequence[Known]) -> None:
        """List these from now on."""
        self._known = tuple(known)
        options = self.query_one(ComboList)
        if options.display:
            self._list(options)

    def on_combo_input_unfold(self, event: ComboInput.Unfold) -> None:
        """Open the list at the value that stands."""
        event.stop()
        options = self.query_one(ComboList)
        options.display = True
        self._list(options)
        options.focus()

    def _list(self, options: ComboList) -> None:
        width = max((len(one.label) for one in self._known), default=0)
        options.set_options(
            Option(
                Content.assemble(one.label.ljust(width), "  ", (one.hindrance or one.text, QUIET)),
                disabled=bool(one.hindrance),
            )
            for one in self._known
        )
        values = [one.value for one in self._known]
        field = self.query_one(ComboInput)
        options.highlighted = values.index(field.value) if field.value in values else 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take it."""
        event.stop()
        field = self.query_one(ComboInput)
        field.value = self._known[event.option_index].value
        field.go_on()
        field.cursor_position = len(field.value)

    def on_descendant_blur(self) -> None:
        """The list goes when nobody is in it."""
        self.call_after_refresh(self._fold)

    def _fold(self) -> None:
        # By then the dialog may have been closed, with everything in it.
        for options in self.query(ComboList):
            if not options.has_focus:
                options.display = False
