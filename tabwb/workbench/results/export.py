"""Writes results to a file: which format, where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from tabwb.media.figures import figure_kind
from tabwb.workbench.engine.messages import ExportWanted
from tabwb.workbench.engine.view_models import ErrorReport
from tabwb.workbench.results.controller import Exported, ResultsController
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import Choice, Dialog, report_text
from tabwb.workbench.shell.wording import AMBER, QUIET

NOTE = "Enter writes the file. Existing files are never overwritten."


class Formats(OptionList):
    """The export formats that plugins bring, reports and tables, and figures."""

    HELP = """\
# Format

What the file will hold. JSONL can be read again by the model `replay:FILE`. A report has methods,
tables and figures in one file. A figure's file is named `.pdf`, `.svg` or `.png`. **enter** moves
to the file's name.
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

    HELP = "# File\n\nA new file. Existing files are never overwritten. **enter** writes it."


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: its line in the list, and the proposed name.

    Attributes:
        name: of the exporter, or of the report or table; empty for a figure.
        figure: its name; empty for an export of responses.
    """

    title: str
    file: str
    name: str = ""
    figure: str = ""

    def line(self, *, chosen: bool) -> str:
        """Return its line of the list."""
        return f"{'▸' if chosen else ' '} {self.name or 'figure':<10} {self.title}"


def _kinds_of(wanted: ExportWanted, formats: Sequence[tuple[str, str]]) -> tuple[Kind, ...]:
    """Return the kinds of files that can be written: formats of exporters, then figures."""
    stem = wanted.name
    return (
        *(Kind(title, f"{stem}.{name}", name=name) for name, title in formats),
        *(
            Kind(figure_kind(name).title, f"{stem}-{name}.pdf", figure=name)
            for name in wanted.figures
        ),
    )


class ExportScreen(Dialog[str | None]):
    """Stays until the file is written, and returns its path, or until it is closed."""

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
        self._desk, self._wanted = desk, wanted
        self._kinds = _kinds_of(wanted, formats)
        self._within = False
        self._writing = False

    def compose(self) -> ComposeResult:
        """Formats, path, message, buttons."""
        with Vertical(classes="dialog"):
            yield Static(f"Export {self._wanted.what}", classes="dialog-title", markup=False)
            yield Formats(
                *(
                    Option(kind.line(chosen=False), id=kind.name or kind.figure)
                    for kind in self._kinds
                ),
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
        names = [kind.name for kind in self._kinds]
        if names:
            self.query_one(Formats).highlighted = names.index("jsonl") if "jsonl" in names else 0

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """The format is marked; the name follows it, as long as it was not typed over."""
        for at, kind in enumerate(self._kinds):
            line = kind.line(chosen=at == event.option_index)
            event.option_list.replace_option_prompt_at_index(at, line)
        chosen = self._kinds[event.option_index]
        what = self._wanted.drawn_words if chosen.figure else ""
        title = self.query_one(".dialog-title", Static)
        title.update(Content(f"{'Figure of' if what else 'Export'} {what or self._wanted.what}"))
        field = self.query_one(Path)
        if not field.value or field.value in {kind.file for kind in self._kinds}:
            field.value = chosen.file

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
        controller, wanted = self._desk.controller(ResultsController), self._wanted
        kind = self._kinds[formats.highlighted]
        if kind.figure:
            job = partial(controller.draw, wanted, kind.figure)
        else:
            job = partial(controller.export, wanted.numbers, kind.name)
        self._desk.do(partial(job, path, within_study=self._within))

    def _tell(self, content: Content) -> None:
        self.query_one("#export-message", Static).update(content)


def _within(yes: bool) -> str:
    return f"({'x' if yes else ' '}) stays within the study that collected it"
