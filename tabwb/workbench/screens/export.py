"""Writes results to a file: which format, where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from tabwb.workbench.widgets.choice import Choice


class Formats(OptionList):
    """The export formats that plugins bring."""

    HELP = "# Format\n\nWhat the file will hold. JSONL can be read again by the model replay:FILE."


class Path(Input):
    """Where to."""

    HELP = "# File\n\nA new file; one that is there is never overwritten. **enter** writes it."


class ExportScreen(ModalScreen[tuple[str, str] | None]):
    """Returns (format, path)."""

    CSS_PATH = "export.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False)
    ]

    def __init__(self, number: int, formats: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._number, self._formats = number, tuple(formats)

    def compose(self) -> ComposeResult:
        """Formats, path, button."""
        with Vertical(classes="dialog"):
            yield Static(f"Export #{self._number}", classes="dialog-title")
            yield Formats(
                *(Option(f"{name:<8} {title}", id=name) for name, title in self._formats),
                id="formats",
                compact=True,
            )
            yield Path(id="export-path", compact=True)
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Write", id="write")
                yield Choice("Cancel", id="cancel")

    def on_mount(self) -> None:
        """JSONL if it is there."""
        names = [name for name, _ in self._formats]
        formats = self.query_one(Formats)
        if names:
            formats.highlighted = names.index("jsonl") if "jsonl" in names else 0
        self.query_one(Path).focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """The name follows the format, as long as it was not typed over."""
        field = self.query_one(Path)
        names = {f"administration-{self._number}.{name}" for name, _ in self._formats}
        if not field.value or field.value in names:
            field.value = f"administration-{self._number}.{event.option.id}"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """On to the name."""
        self.query_one(Path).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write."""
        self._write()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Write or not."""
        if event.button.id == "write":
            self._write()
        else:
            self.dismiss(None)

    def _write(self) -> None:
        formats = self.query_one(Formats)
        path = self.query_one(Path).value.strip()
        if formats.highlighted is not None and path:
            self.dismiss((self._formats[formats.highlighted][0], path))
