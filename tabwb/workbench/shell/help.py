"""Help of the focused widget, the index of all help texts, and jumping to panes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, Key, Resize
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input, Label, Markdown, Static

from tabwb.workbench.shell.commands import GROUPS, Command, CommandTable, Situation, key_label
from tabwb.workbench.shell.dialogs import ScrollPane, prepare_styles
from tabwb.workbench.shell.widgets import Pane, WidthAwareWidget, WrappedText
from tabwb.workbench.shell.wording import ACCENT, QUIET

KEY_WIDTH = 8
TITLE_WIDTH, WIDE_TITLE, WIDE = 26, 34, 90
"""Columns of a title; in a table of so many columns, the second."""
CLOSING: list[BindingType] = [
    Binding("escape,q,question_mark,enter", "dismiss", "Close", show=False)
]
OF_HELP = "# Help\n\nArrows scroll, **esc** closes."
KEYS_HELP = """\
# All keys

The keys of this page come first. Those that cannot be used now are dimmed, with the reason. Type
words, or one key, to list fewer. Arrows scroll, **esc** closes.
"""
GENERAL = """\
# tabwb

F10 opens the menus, ctrl+p finds commands, administrations, models, participants, items and help,
? lists all keys, tab moves the focus, ctrl+o (or ;) draws a letter over each part to focus it.
"""


def help_for(screen: Screen[object]) -> str:
    """Return the help text of the focused widget, or of the nearest ancestor that has one."""
    focused = screen.focused
    for widget in [] if focused is None else focused.ancestors_with_self:
        text = getattr(widget, "help_text", None) or widget.HELP
        if text:
            return text
    return GENERAL


class HelpScreen(ModalScreen[None]):
    """Shows one help text."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = CLOSING

    def __init__(self, text: str) -> None:
        super().__init__()
        prepare_styles(self)
        self._text = text

    def compose(self) -> ComposeResult:
        """Yield the text."""
        with Vertical(classes="dialog"):
            yield ScrollPane(Markdown(self._text), id="help-text", help_text=OF_HELP)
            yield Static("esc Close", classes="dialog-note")


class KeysFilter(Input):
    """The filter above the table of keys."""

    HELP = KEYS_HELP

    def on_key(self, event: Key) -> None:
        """Close the table with the key that opened it, as long as nothing is typed."""
        if event.key == "question_mark" and not self.value:
            event.stop().prevent_default()
            self.screen.dismiss()


class KeysScreen(ModalScreen[None]):
    """The table of keys: this page first, then by menu; those of no use now are dimmed."""

    CSS_PATH = "keys.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "dismiss", "Close", show=False),
        Binding("up", "turn('scroll_up')", show=False, priority=True),
        Binding("down", "turn('scroll_down')", show=False, priority=True),
        Binding("pageup", "turn('scroll_page_up')", show=False, priority=True),
        Binding("pagedown", "turn('scroll_page_down')", show=False, priority=True),
    ]

    def __init__(self, table: CommandTable, situation: Situation, page: str) -> None:
        super().__init__()
        prepare_styles(self)
        self._table, self._situation, self._title = table, situation, page
        self._words: list[str] = []

    def compose(self) -> ComposeResult:
        """Yield filter and table."""
        with Vertical(classes="dialog"):
            yield Static("All keys", classes="dialog-title")
            yield KeysFilter(placeholder="filter: a key, or words", compact=True, id="keys-filter")
            yield ScrollPane(WrappedText(self._lines), id="key-list", help_text=KEYS_HELP)
            yield Static(
                "esc Close   (in a text field, esc returns the keys to the page)",
                classes="dialog-note",
            )

    def on_input_changed(self, event: Input.Changed) -> None:
        """List only what has all words, or the key that was typed."""
        self._words = event.value.lower().split()
        self.query_one(WrappedText).refresh(layout=True)

    def action_turn(self, verb: str) -> None:
        """Scroll the table; the filter keeps the focus."""
        getattr(self.query_one(ScrollPane), verb)(animate=False)

    def _lines(self, width: int) -> Iterator[Content]:
        page = self._situation.page
        commands = [
            command
            for group in GROUPS
            for command in self._table.listed(group, page)
            if self._is_wanted(command)
        ]
        here = [command for command in commands if page in (*command.where, *command.pages)]
        blocks = {f"This page: {self._title}": here}
        for group in GROUPS:
            blocks[group.title()] = [
                one for one in commands if one.group == group and one not in here
            ]
        for title, block in blocks.items():
            if block:
                yield Content.styled(title, f"bold {QUIET}")
                yield from (self._line(command, width) for command in block)
                yield Content("")
        if not commands:
            yield Content.styled("No command has all these words.", QUIET)

    def _is_wanted(self, command: Command) -> bool:
        labels = [key_label(key).lower() for key in (command.key, *command.also)]
        text = f"{command.title} {command.help}".lower()
        return self._words[:1] == labels[:1] or all(word in text for word in self._words)

    def _line(self, command: Command, width: int) -> Content:
        titles = WIDE_TITLE if width >= WIDE else TITLE_WIDTH
        indent = KEY_WIDTH + titles + 4
        reason = command.reason(self._situation)
        key = " ".join(map(key_label, (command.key, *command.also))).rjust(KEY_WIDTH)
        title = Content(command.title.rstrip("…")).truncate(titles, ellipsis=True, pad=True)
        text = f"{command.help} Not now: {reason}." if reason else command.help
        if "home" in command.where and command.key not in command.keys_on(self._situation.page):
            text += f" {key_label(command.key)} works on the first page."
        words = ("\n" + " " * indent).join(wrap(text, max(width - indent, 24)))
        return Content.assemble(
            (key, f"bold {ACCENT}" if reason is None else QUIET),
            "  ",
            title if reason is None else title.stylize(QUIET),
            "  ",
            (words, QUIET),
        )


class SizeNotice(WidthAwareWidget):
    """The size of the terminal and the size that is needed."""

    can_focus = True
    HELP = "# Too little room\n\nMake the terminal at least 80 columns wide and 24 lines high."

    def paint(self, width: int) -> Content:
        """Return a few short lines."""
        size = self.app.size
        return Content.assemble(
            ("tabwb needs 80x24", "bold"),
            f"\nthis terminal is {size.width}x{size.height}\n\n",
            ("Make the terminal larger;\nnothing is lost.", "$quiet"),
        )


class TooSmall(ModalScreen[None]):
    """Covers the screen until the terminal is large enough."""

    DEFAULT_CSS = """
    TooSmall { align: center middle; background: $background; }
    TooSmall SizeNotice { width: 100%; height: auto; text-align: center; }
    """

    def compose(self) -> ComposeResult:
        """Yield the notice."""
        yield SizeNotice()

    def on_screen_resume(self) -> None:
        """Look at the size again: the terminal may have grown under a dialog of an error."""
        size = self.app.size
        self.app.post_message(Resize(size, size))


FOLDER = Path(__file__).parents[1]
"""The package of the workbench."""
_TEXT = re.compile(
    r'^( *)\w*HELP = (""".*?"""|".*?"$|\(.*?^\1\)$)',
    re.DOTALL | re.MULTILINE,
)
"""A help text where it is declared: a literal in triple quotes, in one line, or in brackets."""


class Topic(NamedTuple):
    """One help text with its title."""

    title: str
    text: str


@cache
def topics() -> tuple[Topic, ...]:
    """Return every help text once, by title; it takes some milliseconds."""
    found = {topic.title: topic for path in sorted(FOLDER.rglob("*.py")) for topic in _topics(path)}
    return tuple(found[title] for title in sorted(found))


def _topics(path: Path) -> Iterator[Topic]:
    source = path.read_text(encoding="utf-8")
    for declared in _TEXT.finditer(source) if "HELP = " in source else ():
        text = ast.literal_eval(declared[2])
        title, _, rest = text.partition("\n")
        if title.startswith("# ") and rest.strip():
            yield Topic(title.removeprefix("# "), text)


LETTERS = "asdfghjklqwertyuiopzxcvbnm1234567890"
"""Those under the fingers come first."""


def targets(screen: Screen[Any]) -> Iterator[tuple[Offset, Widget]]:
    """Yield what can take the focus and is to be seen, and where its letter is drawn.

    The letter of what fills a pane is drawn over the pane's title.
    """
    visible = screen.region
    taken = set()
    for widget in screen.focus_chain:
        region = widget.region
        if not region.size or not visible.overlaps(region):
            continue
        place = region.offset
        pane = next((one for one in widget.ancestors if isinstance(one, Pane)), None)
        if pane is not None and pane.focusable_inside is widget:
            place = pane.region.offset
        elif pane is None:
            main = next((one for one in widget.query(Pane) if one.has_class("-main")), None)
            place = place if main is None else main.region.offset
        place = Offset(max(place.x, 0), max(place.y, 0))
        while place in taken:
            place += (1, 0)
        taken.add(place)
        yield place, widget


class JumpScreen(ModalScreen[Widget | None]):
    """Returns the widget whose letter was pressed."""

    DEFAULT_CSS = """
    JumpScreen { align: left top; background: $background 30%; }
    JumpScreen Label {
        position: absolute; padding: 0 1; text-style: bold;
        background: $warning; color: $background;
    }
    JumpScreen #jump-note { dock: bottom; position: relative; background: $panel; color: $quiet; }
    """

    def __init__(self, below: Screen[Any]) -> None:
        super().__init__()
        self._targets = dict(zip(LETTERS, targets(below), strict=False))

    def compose(self) -> ComposeResult:
        """Yield a label with each letter."""
        for letter, (place, _) in self._targets.items():
            label = Label(letter)
            label.styles.offset = place
            yield label
        yield Label(
            "A letter moves the focus to its pane, field or button; esc closes.", id="jump-note"
        )

    def on_key(self, event: Key) -> None:
        """Return the widget of a letter; any other key closes."""
        event.stop().prevent_default()
        found = self._targets.get((event.character or "").lower())
        self.dismiss(found[1] if found else None)

    def on_click(self, event: Click) -> None:
        """Return the widget whose letter was clicked, or close."""
        clicked = str(event.widget.content) if isinstance(event.widget, Label) else ""
        found = self._targets.get(clicked)
        self.dismiss(found[1] if found else None)
