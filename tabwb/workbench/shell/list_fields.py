"""Fields with a list of values, which is created when it is opened.

Textual's ``Select`` creates six widgets, list included, and a dialog with several of them opens
slowly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Key
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from tabwb.workbench.shell.text_fields import TextField
from tabwb.workbench.shell.wording import QUIET, spread


class ListField(Widget):
    """Base of the fields: opens the list, and closes it when it loses the focus."""

    DEFAULT_CSS = """
    ListField { height: 1; width: 1fr; }
    ListField OptionList {
        overlay: screen; constrain: none inside; display: none;
        height: auto; max-height: 10; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis;
        background: $panel; border: round $accent; padding: 0 1;
    }
    """

    def make_list(self) -> OptionList:
        """Return the list; called when it is opened first."""
        raise NotImplementedError

    def fill(self, options: OptionList) -> None:
        """Show the values and the present one in the list that is opened."""
        raise NotImplementedError

    async def action_open(self) -> None:
        """Open the list at the present value."""
        if not self.query(OptionList):
            await self.mount(self.make_list())
        options = self.query_one(OptionList)
        options.display = True
        self.fill(options)
        options.focus()

    async def on_click(self, event: Click) -> None:
        """Open the list."""
        if not isinstance(event.widget, OptionList):
            await self.action_open()

    def on_descendant_blur(self) -> None:
        """Close the list when it loses the focus."""
        self.call_after_refresh(self._close)

    def _close(self) -> None:
        # By then the dialog may have been closed, with everything in it.
        for options in self.query(OptionList):
            if not options.has_focus:
                options.display = False


class Known(NamedTuple):
    """One entry of the list; an entry with an ``unavailable_reason`` cannot be chosen."""

    value: str
    label: str
    text: str
    unavailable_reason: str = ""


def known_judges(judges: Iterable[tuple[str, str]]) -> list[Known]:
    """Return the judges of a catalogue as entries."""
    return [Known(begins, begins.removesuffix(":"), title) for begins, title in judges]


class ComboList(OptionList):
    """The list of known values."""

    HELP = """\
# List

The known values. **enter** takes one; **esc**, or typing, goes back to the field.
"""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    @property
    def _field(self) -> ComboInput:
        assert self.parent is not None
        return self.parent.query_one(ComboInput)

    def action_leave(self) -> None:
        """Return to the field."""
        self._field.go_on()

    def on_key(self, event: Key) -> None:
        """Pass letters on to the field."""
        field = self._field
        if event.is_printable and event.character is not None:
            field.replace(event.character, *field.selection)
        elif event.key == "backspace":
            field.action_delete_left()
        else:
            return
        event.stop().prevent_default()
        field.go_on()


class ComboInput(TextField):
    """The text field."""

    def go_on(self) -> None:
        """Take the focus from the list, without selecting the text."""
        self.select_on_focus = False
        self.focus()

    def on_blur(self) -> None:
        """Select the text, as other fields do, except when the focus comes from the list."""
        super().on_blur()
        self.select_on_focus = True


class Combo(ListField):
    """A text field with a list of known values, which the key down opens.

    The field's id is the combo's without ``-combo``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "open", show=False)]

    def __init__(
        self,
        name: str,
        value: str,
        known: Sequence[Known],
        help_text: str,
        *,
        several: bool = False,
        placeholder: str = "",
    ) -> None:
        field = ComboInput(name, value, help_text, placeholder)
        super().__init__(field, id=f"{name}-combo")
        self._field, self._known, self._several = field, tuple(known), several

    @property
    def field(self) -> Input:
        """The text field, also before the combo is mounted."""
        return self._field

    def offer(self, known: Sequence[Known]) -> None:
        """Replace the entries of the list."""
        self._known = tuple(known)
        for options in self.query(ComboList):
            if options.display:
                self.fill(options)

    def make_list(self) -> OptionList:
        """Return the list."""
        return ComboList(id=f"{self._field.id}-list", compact=True)

    def fill(self, options: OptionList) -> None:
        """Show the entries, at the one that was typed."""
        width = max((len(known.label) for known in self._known), default=0)
        options.set_options(
            Option(
                Content.assemble(
                    known.label.ljust(width), "  ", (known.unavailable_reason or known.text, QUIET)
                ),
                disabled=bool(known.unavailable_reason),
            )
            for known in self._known
        )
        typed = self._field.value
        options.highlighted = nearest(
            self._known, typed.rpartition(" ")[2] if self._several else typed
        )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Fill in the entry that was chosen."""
        event.stop()
        field, chosen = self._field, self._known[event.option_index].value
        field.value = joined(field.value, chosen) if self._several else taken(field.value, chosen)
        field.go_on()
        field.cursor_position = len(field.value)


def nearest(known: Sequence[Known], typed: str) -> int | None:
    """Return the place of the entry for a typed text, or None.

    The one that was typed, by itself or with more behind it; else the first that begins with what
    was typed, else the first that has it somewhere, else the first.

    >>> known = [Known(one, one, "") for one in ("rules-2", "tab-2026:", "tab-2026+likelihood:")]
    >>> [nearest(known, one) for one in ("tab", "LIKE", "tab-2026+likelihood:echo", "", "zz")]
    [1, 2, 2, 0, 0]
    """
    typed = typed.strip().lower()
    values = [entry.value.lower() for entry in known]
    tests = (
        lambda value: value == typed,
        lambda value: opens(value, typed),
        lambda value: value.startswith(typed),
        lambda value: typed in value,
        lambda value: True,
    )
    return next((values.index(value) for test in tests for value in values if test(value)), None)


def opens(value: str, typed: str) -> bool:
    """Return whether a typed text is an entry followed by a name or options.

    >>> opens("tab-2026:", "tab-2026:echo"), opens("echo", "echo@delay=1"), opens("echo", "echo2")
    (True, True, False)
    """
    behind = typed.removeprefix(value) if value and typed.startswith(value) else ""
    return bool(behind) and (value.endswith(":") or behind[0] in ":@")


def taken(typed: str, value: str) -> str:
    """Return the text of the field after an entry was chosen; a typed name stays.

    >>> taken("tab-2026:echo", "tab-2026:"), taken("tab", "tab-2026:"), taken("echo2", "echo")
    ('tab-2026:echo', 'tab-2026:', 'echo')
    """
    return typed.strip() if opens(value, typed.strip()) else value


def joined(typed: str, value: str) -> str:
    """Return the text of a field with several values: the last is completed, or one is added.

    >>> joined("rules tab", "tab-2026:"), joined("rules", "tab-2026:"), joined("none", "rules")
    ('rules tab-2026:', 'rules tab-2026:', 'rules')
    >>> joined("rules tab-2026:echo", "tab-2026:"), joined("rules", "rules"), joined("", "rules")
    ('rules tab-2026:echo', 'rules', 'rules')
    """
    words = [word for word in typed.split() if word != "none"]
    if words and value.lower().startswith(words[-1].lower()):
        words.pop()
    if any(word == value or opens(value, word) for word in words):
        return " ".join(words)
    return " ".join([*words, value])


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


class Selection(ListField, can_focus=True):
    """A field whose value is one of a few."""

    DEFAULT_CSS = """
    Selection { color: $foreground; }
    Selection SelectionList { margin: 1 0 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,down,space,up", "open", show=False)]
    value = reactive("", init=False)

    @dataclass
    class Changed(Message):
        """Another value was chosen."""

        selection: Selection

    def __init__(
        self, values: Iterable[tuple[str, str]], value: str, *, id: str, help_text: str
    ) -> None:
        super().__init__(id=id)
        self._words = {value: words for words, value in values}
        self.help_text = help_text
        self.set_reactive(Selection.value, value)

    def watch_value(self) -> None:
        """Tell the dialog."""
        self.post_message(self.Changed(self))

    def render(self) -> Content:
        """Return the words of the value."""
        return spread(Content(self._words[self.value]), Content("▼"), self.content_size.width)

    def make_list(self) -> OptionList:
        """Return the list."""
        return SelectionList(*self._words.values(), id=f"{self.id}-list", compact=True)

    def fill(self, options: OptionList) -> None:
        """Highlight the present value."""
        options.highlighted = list(self._words).index(self.value)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the value that was chosen."""
        event.stop()
        self.value = list(self._words)[event.option_index]
        self.focus()
