"""Dialogs: their base with its style sheets, and those that ask a question or for words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath
from typing import Any, ClassVar, TypeVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from tabwb.records.words import RESEARCH_ONLY
from tabwb.workbench.engine.view_models import Catalogue, ErrorReport
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.row_list import Below, RowList
from tabwb.workbench.shell.wording import QUIET

R = TypeVar("R")


def read_styles(app: App[Any], paths: Iterable[PurePath]) -> None:
    """Read style sheets that the application does not have yet.

    Textual reads those of a screen too, but then parses every other one again and updates the
    styles of all widgets. Ours concern only what is inside their own page or dialog.
    """
    for path in paths:
        place = str(path), ""
        if not app.stylesheet.has_source(*place):  # its read() would leave the rules found before
            css = Path(path).read_text(encoding="utf-8")
            app.stylesheet.add_source(css, read_from=place)


def prepare_styles(screen: Screen[Any]) -> None:
    """Read the styles of a screen, and give it the class for the height of the window.

    Textual gives the class after the first layout, and updates all styles for it.
    """
    app = screen.app
    read_styles(app, screen.css_path)
    least = [at for at in app.VERTICAL_BREAKPOINTS or () if at[0] <= app.size.height]
    if least:
        screen.add_class(max(least)[1], update=False)


class Dialog(ModalScreen[ScreenResultType]):
    """Base of the dialogs: esc closes, ? shows help (F1 too, also in a text field)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False),
        Binding("question_mark", "app.help_for_focus", "Help", show=False),
        Binding("ctrl+o", "app.jump", "Jump", show=False),
    ]

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        prepare_styles(self)


class Choice(Button):
    """A button."""

    HELP = "# Choice\n\n**enter** chooses; **tab** moves on; **esc** closes."

    def __init__(self, words: str, *, id: str) -> None:
        super().__init__(words, id=id, compact=True)

    def watch_label(self) -> None:
        """Take the width of other words."""
        self.refresh(layout=True)


class ScrollPane(VerticalScroll, can_focus=True):
    """A part of a dialog or page that can be focused to scroll it."""

    def __init__(self, *children: Widget, id: str, help_text: str) -> None:
        super().__init__(*children, id=id)
        self.help_text = help_text


def labelled(label: str, field: Widget, classes: str = "") -> Horizontal:
    """Return a row of a dialog: a label and a field."""
    words = Static(label, classes="label", markup=False)
    return Horizontal(words, field, classes=f"row {classes}")


class ChoiceScreen(Dialog[str | None]):
    """Returns the id of what was chosen; None when closed with esc."""

    CSS_PATH = "choice.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]

    def __init__(
        self,
        title: str,
        text: str | Content,
        choices: Sequence[tuple[str, str]],
        *,
        alone: bool = False,
    ) -> None:
        super().__init__(classes="-alone" if alone else None)
        self._title, self._text, self._choices = title, text, choices

    def compose(self) -> ComposeResult:
        """Yield title, text and buttons."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            with VerticalScroll(can_focus=False, classes="dialog-text"):
                yield Static(self._text, markup=False)
            with Horizontal(classes="dialog-buttons"):
                for name, words in self._choices:
                    yield Choice(words, id=name)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Return the id of the button."""
        self.dismiss(event.button.id)


def report_text(report: ErrorReport) -> Content:
    """Return what is wrong, where, what is allowed and what to do."""
    lines = [Content.styled(report.where, QUIET)] if report.where else []
    lines.append(Content(report.message))
    if report.allowed:
        lines.append(Content.assemble(("allowed: ", QUIET), report.allowed))
    if report.hint:
        lines.append(Content(f"\n{report.hint}"))
    return Content("\n").join(lines)


def about_text(catalogue: Catalogue | None) -> Content:
    """Return version, store, network, problems of plugins and the research-only sentence."""
    import tabwb

    lines = [Content.styled(f"tabwb {tabwb.__version__}", "bold")]
    if catalogue is not None:
        network = (
            "offline: no other machine is contacted"
            if catalogue.offline
            else "allowed: a model or judge that needs it may use it; tabwb --offline forbids it"
        )
        facts = [("results are kept in", catalogue.store or "-"), ("network", network)]
        facts += [("problem", text) for text in catalogue.problems]
        lines += [Content.assemble((f"{name}  ", QUIET), text) for name, text in facts]
    return Content("\n").join([*lines, Content(f"\n{RESEARCH_ONLY}")])


CLOSE = "[@click=screen.dismiss]esc Close[/]"
"""The end of a line of keys; a click closes too."""


class Words(Input):
    """The text field."""

    HELP = "# A few words\n\nThey are kept in the store. **enter** accepts, **esc** closes."


class AskWords(Dialog[str | None]):
    """Returns the words; None when closed with esc."""

    CSS_PATH = "ask_words.tcss"

    def __init__(self, title: str, label: str, text: str = "", *, optional: bool = False) -> None:
        super().__init__()
        self._title, self._text, self._optional = title, text, optional
        self._label = f"{label} (may stay empty)" if optional else label

    def compose(self) -> ComposeResult:
        """Yield title, field and keys."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            if self._text:
                yield Static(self._text, classes="dialog-note", markup=False)
            yield Words(placeholder=self._label, id="words", compact=True)
            keys = f"[@click=screen.accept]enter Accept[/]   {CLOSE}"
            yield Static(keys, id="words-message", classes="dialog-note")

    async def action_accept(self) -> None:
        """Do what enter does in the field."""
        await self.query_one(Words).action_submit()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the words, if there are any."""
        words = event.value.strip()
        if words or self._optional:
            self.dismiss(words)
            return
        message = self.query_one("#words-message", Static)
        message.update(f"{self._label}: a text is needed   {CLOSE}")
        message.add_class("-error")


class Picks(RowList):
    """The rows of which one is picked."""

    AT_ONCE = True
    HELP = "# Pick one\n\nArrows move, **enter** picks, **esc** closes."


LINE: Sequence[Column[Any]] = (Column("", lambda line: line, least=20, end=True),)
"""The only column of lines."""


class PickScreen(Dialog[int | None]):
    """Returns the place of the chosen row; None when closed with esc."""

    CSS_PATH = "pick.tcss"

    def __init__(
        self,
        title: str,
        rows: Sequence[Any],
        at: int = 0,
        columns: Sequence[Column[Any]] = LINE,
        below: Below | None = None,
    ) -> None:
        super().__init__()
        self._title, self._rows, self._at = title, rows, at
        self._columns, self._below = columns, below

    def compose(self) -> ComposeResult:
        """Yield title and rows."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Picks(id="lines", opens=False)
            yield Static(f"enter Pick   {CLOSE}", classes="dialog-note")

    def on_mount(self) -> None:
        """Show the rows, at the present one."""
        self.query_one(RowList).show(
            self._columns, self._rows, current=self._at, below=self._below, ids=id
        )

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Return the place of the row."""
        self.dismiss(event.row)


def pick(
    app: App[Any],
    title: str,
    rows: Sequence[R],
    then: Callable[[R], object],
    *,
    at: int = 0,
    columns: Sequence[Column[R]] = LINE,
    below: Below | None = None,
) -> None:
    """Let one of some rows be picked, and call a function with it."""

    def picked(place: int | None) -> None:
        if place is not None:
            then(rows[place])

    app.push_screen(PickScreen(title, rows, at, columns, below), picked)
