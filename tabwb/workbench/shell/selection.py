"""A field with a few fixed values, whose list is created when it is opened.

Textual's ``Select`` creates six widgets, list included, and a dialog with several of them opens
slowly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import OptionList

from tabwb.workbench.shell.wording import spread


class SelectionList(OptionList):
    """The values."""

    HELP = "# List\n\nArrows move, **enter** chooses, **esc** goes back to the field."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def action_leave(self) -> None:
        """Return to the field."""
        if isinstance(self.parent, Selection):
            self.parent.focus()

    def on_key(self, event: Key) -> None:
        """Highlight the first value that begins with a typed letter."""
        letter = (event.character or "").lower()
        if letter.isalnum():
            event.stop()
            for at, option in enumerate(self.options):
                if str(option.prompt).lower().startswith(letter):
                    self.highlighted = at
                    return


class Selection(Widget, can_focus=True):
    """A field whose value is one of a few.

    Args:
        values: words and value of each.
        value: the first value.
        id: of the field.
        help_text: of the field.
    """

    DEFAULT_CSS = """
    Selection { height: 1; width: 1fr; padding: 0 1; background: $panel; color: $foreground; }
    Selection:focus { background: $hover; }
    Selection SelectionList {
        overlay: screen; constrain: none inside; display: none; margin: 1 0 0 0;
        height: auto; max-height: 10; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis;
        background: $panel; border: round $line; padding: 0 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,down,space,up", "open", show=False)]
    value = reactive("", init=False)

    class Changed(Message):
        """Another value was chosen."""

        def __init__(self, selection: Selection) -> None:
            self.selection = selection
            super().__init__()

    def __init__(
        self, values: Iterable[tuple[str, str]], value: str, *, id: str, help_text: str
    ) -> None:
        super().__init__(id=id)
        self._values = tuple(values)
        self.help_text = help_text
        self.set_reactive(Selection.value, value)

    def validate_value(self, value: str) -> str:
        """Refuse a value that is not in the list.

        Raises:
            ValueError: it is not.
        """
        if value not in dict(self._values).values():
            raise ValueError(f"'{value}' is not a value of {self.id}")
        return value

    def watch_value(self) -> None:
        """Tell the dialog."""
        self.post_message(self.Changed(self))

    def render(self) -> Content:
        """Return the words of the value."""
        words = next((words for words, value in self._values if value == self.value), "")
        return spread(Content(words), Content("▼"), self.content_size.width)

    async def action_open(self) -> None:
        """Open the list at the present value."""
        if not self.query(SelectionList):
            words = [words for words, _ in self._values]
            await self.mount(SelectionList(*words, id=f"{self.id}-list", compact=True))
        options = self.query_one(SelectionList)
        options.highlighted = [value for _, value in self._values].index(self.value)
        options.display = True
        options.focus()

    async def on_click(self) -> None:
        """Open the list."""
        if not any(options.display for options in self.query(SelectionList)):
            await self.action_open()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the value that was chosen."""
        event.stop()
        self.value = self._values[event.option_index][1]
        self.focus()

    def on_descendant_blur(self) -> None:
        """Close the list when it loses the focus."""
        self.call_after_refresh(self._close)

    def _close(self) -> None:
        for options in self.query(SelectionList):
            if not options.has_focus:
                options.display = False
