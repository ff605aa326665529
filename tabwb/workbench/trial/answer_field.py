"""The field in which a person types an answer."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea


class AnswerField(TextArea):
    """Grows with the text; the text is recorded exactly as it was typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "record", "Record", show=False, priority=True),
        Binding("escape", "give_back", "Keys", show=False, priority=True),
        Binding("ctrl+j,alt+enter", "new_line", "New line", show=False, priority=True),
    ]
    HELP = """\
# Answer

Type the answer; it is recorded exactly as typed, with the time since the item was drawn.

- **enter** records it; if nothing is typed, a second **enter** records *no response*
- **ctrl+j** begins a new line (**alt+enter** too, where the terminal tells it from enter)
- **esc** leaves the field for the commands: skip, note, pause; **enter** comes back here
"""

    class Recorded(Message):
        """An answer was given."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    class NothingTyped(Message):
        """The state of :attr:`AnswerField.nothing_typed` has changed."""

    class GivenBack(Message):
        """The user has left the field."""

    def __init__(self) -> None:
        super().__init__(
            id="answer",
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder="Type the answer; enter records it",
        )
        self.nothing_typed = False

    def empty(self) -> None:
        """Empty the field for the next answer."""
        self.text = ""
        self.read_only = False
        self.nothing_typed = False

    def action_record(self) -> None:
        """Record the answer, once; an empty one only when enter was pressed twice."""
        if self.read_only:
            return
        if not self.text.strip() and not self.nothing_typed:
            self._ask(True)
            return
        self.read_only = True
        self.post_message(self.Recorded(self.text))

    def action_give_back(self) -> None:
        """Leave the field; its text stays."""
        self._ask(False)
        self.post_message(self.GivenBack())

    def action_new_line(self) -> None:
        """Insert a new line."""
        self.insert("\n")

    def on_text_area_changed(self) -> None:
        """Withdraw the question whether to record nothing."""
        self._ask(False)

    def _ask(self, on: bool) -> None:
        if on != self.nothing_typed:
            self.nothing_typed = on
            self.post_message(self.NothingTyped())
