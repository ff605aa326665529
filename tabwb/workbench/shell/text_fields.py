"""Fields for one line of text."""

from __future__ import annotations

from glob import escape
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.strip import Strip
from textual.suggester import Suggester
from textual.widgets import Input


class TextField(Input):
    """A text field that shows the end of a long text while it has no focus: of a path, the file."""

    def __init__(
        self,
        name: str,
        value: str,
        help_text: str,
        placeholder: str = "",
        suggester: Suggester | None = None,
    ) -> None:
        # Validation would update the styles of each field once more; there is none.
        super().__init__(
            value, placeholder, id=name, compact=True, validate_on=(), suggester=suggester
        )
        self.help_text = help_text

    def on_resize(self) -> None:
        """Show the end in the new width."""
        self._show_end()

    def watch_value(self) -> None:
        """Show the end of a text that was filled in."""
        self.call_after_refresh(self._show_end)

    def on_blur(self) -> None:
        """Show the end when the focus has gone."""
        self.call_after_refresh(self._show_end)

    def _show_end(self) -> None:
        if not self.has_focus:
            self.cursor_position = len(self.value)
            self.scroll_to(x=self.max_scroll_x, animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        """Return the line; … stands for what is cut at the left."""
        line = super().render_line(y)
        if y or self.has_focus or not self.scroll_offset.x:
            return line
        cut = Strip([Segment("…", self.rich_style)])
        return Strip.join([cut, line.crop(1)])


class Paths(Suggester):
    """Suggests the first file or folder whose name begins with what was typed."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the whole path; a folder ends in ``/``."""
        head, slash, begin = value.rpartition("/")
        if not begin:
            return None
        try:
            found = min(Path(f"{head}{slash}" or ".").expanduser().glob(f"{escape(begin)}*"))
        except (ValueError, OSError):
            return None
        return f"{head}{slash}{found.name}{'/' if found.is_dir() else ''}"


class FilterField(TextField):
    """A field for words to filter a list by; hidden while it is not used.

    It submits its words: enter those that were typed, esc none.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear", show=False)]

    def __init__(self, name: str, help_text: str, placeholder: str) -> None:
        super().__init__(name, "", help_text, placeholder)
        self.display = False

    def open(self) -> None:
        """Show the field and take the focus."""
        self.display = True
        self.focus()

    def close(self) -> None:
        """Empty and hide the field."""
        self.value = ""
        self.display = False

    def action_clear(self) -> None:
        """Submit no words."""
        self.value = ""
        self.post_message(self.Submitted(self, ""))
