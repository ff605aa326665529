"""Writes results to a file: which format, where."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from tabwb.workbench.engine.messages import ExportWanted
from tabwb.workbench.engine.view_models import ErrorReport
from tabwb.workbench.results.controller import Exported, ResultsController
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import Choice, Dialog, report_text
from tabwb.workbench.shell.wording import AMBER, QUIET

NOTE = "enter writes; a file that is there is never overwritten"


class Formats(OptionList):
    """The export formats that plugins bring, reports and tables."""

    HELP = """\
# Format

What the file will hold. JSONL can be read again by the model `replay:FILE`. A report has methods,
tables and figures in one file. **enter** moves to the file's name.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "before", show=False),
        Binding("down", "after", show=False),
    ]

    def action_before(self) -> None:
        """The format above; the first has none."""
        if self.highlighted:
            self.action_cursor_up()

    def action_after(self) -> None:
        """The format below; after the last the file's name."""
        if self.highlighted == self.option_count - 1:
            self.screen.focus_next()
        else:
            self.action_cursor_down()


class Path(Input):
    """Where to."""

    HELP = "# File\n\nA new file; one that is there is never overwritten. **enter** writes it."


class ExportScreen(Dialog[str | None]):
    """Stays until the file is written, and returns its path, or until it is closed.

    Args:
        formats: (id, title) of each exporter.
    """

    CSS_PATH = "export.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,left", "app.focus_previous", show=False),
        Binding("down,right", "app.focus_next", show=False),
    ]
    AUTO_FOCUS = "#export-path"

    def __init__(
        self, desk: Desk, wanted: ExportWanted, formats: Sequence[tuple[str, str]]
    ) -> None:
        super().__init__()
        self._desk, self._wanted, self._formats = desk, wanted, formats
        self._within = False
        self._writing = False

    def compose(self) -> ComposeResult:
        """Formats, path, message, buttons."""
        with Vertical(classes="dialog"):
            yield Static(f"Export {self._wanted.what}", classes="dialog-title", markup=False)
            yield Formats(
                *(Option(_line(name, title, False), id=name) for name, title in self._formats),
                id="formats",
                compact=True,
            )
            yield Path(id="export-path", compact=True)
            if self._wanted.people:
                yield Choice(_within(False), id="within")
            yield Static(Content.styled(NOTE, QUIET), id="export-message")
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Write", id="write")
                yield Choice("Cancel", id="cancel")

    def on_mount(self) -> None:
        """Mark JSONL if it is there; listen to the result of writing."""
        self._desk.news.subscribe(self, self._hear)
        names = [name for name, _ in self._formats]
        if names:
            self.query_one(Formats).highlighted = names.index("jsonl") if "jsonl" in names else 0

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """The format is marked; the name follows it, as long as it was not typed over."""
        for at, (name, title) in enumerate(self._formats):
            chosen = at == event.option_index
            event.option_list.replace_option_prompt_at_index(at, _line(name, title, chosen))
        field = self.query_one(Path)
        stem = self._wanted.name
        if not field.value or field.value in {f"{stem}.{name}" for name, _ in self._formats}:
            field.value = f"{stem}.{event.option.id}"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """On to the name."""
        self.query_one(Path).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was wrong may be right now."""
        self._writing = False
        self._tell(Content.styled(NOTE, QUIET))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write."""
        self._write()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Write or not."""
        match event.button.id:
            case "write":
                self._write()
            case "within":
                self._within = not self._within
                event.button.label = _within(self._within)
            case _:
                self.dismiss(None)

    def _hear(self, message: object) -> None:
        if isinstance(message, Exported):
            if message.refused is None:
                self.dismiss(message.path)
            else:
                self._refuse(message.refused)

    def _refuse(self, error: ErrorReport) -> None:
        self._writing = False
        self._tell(report_text(error).stylize(AMBER))
        self.query_one(Path).focus()

    def _write(self) -> None:
        formats = self.query_one(Formats)
        path = self.query_one(Path).value.strip()
        if formats.highlighted is None or self._writing:
            return
        if not path:
            self._refuse(ErrorReport("", "a file name is needed"))
            return
        self._writing = True
        self._tell(Content.styled("… writing", QUIET))
        export = self._desk.controller(ResultsController).export
        format_id = self._formats[formats.highlighted][0]
        numbers = self._wanted.numbers
        self._desk.do(partial(export, numbers, format_id, path, within_study=self._within))

    def _tell(self, content: Content) -> None:
        self.query_one("#export-message", Static).update(content)


def _line(name: str, title: str, chosen: bool) -> str:
    return f"{'▸' if chosen else ' '} {name:<10} {title}"


def _within(yes: bool) -> str:
    return f"({'x' if yes else ' '}) stays within the study that collected it"
