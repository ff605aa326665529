"""The lines above and below the pages: title bar with its menus, footer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, MouseMove
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tabwb.workbench.shell.commands import GROUPS, Command, CommandTable, Situation, key_label
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.shortening import shortened
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET, RECORDING, spread

NAME = "tabwb"
MENU_GAP = 2
MENU_WIDTH = 38
HINT_GAP = 3
LEAST_MARK = 26
"""Columns that a mark in the title bar has at least."""
AMBER_BOLD = f"bold {AMBER}"
TIPS = {
    "offline": "No other machine is contacted.",
    "network allowed": "A model or judge that needs a network may use it; "
    "tabwb --offline forbids it.",
    "saved": "Everything so far is on disk.",
    "! not saved": "The store could not record something; earlier records are unchanged.",
}
"""What the states at the right of the title bar mean."""
RECORDS = "The microphone records."


def menu_places() -> dict[str, int]:
    """Return the column at which each menu's title begins.

    >>> menu_places()["file"], menu_places()["administer"]
    (7, 13)
    """
    places = {}
    at = len(NAME) + MENU_GAP
    for group in GROUPS:
        places[group] = at
        at += len(group) + MENU_GAP
    return places


def menu_at(column: int) -> str | None:
    """Return the menu whose title, with a column on each side, is at a column.

    >>> menu_at(6), menu_at(11), menu_at(12), menu_at(0)
    ('file', 'file', 'administer', None)
    """
    places = menu_places().items()
    return next((group for group, at in places if at - 1 <= column <= at + len(group)), None)


class TitleState(NamedTuple):
    """What the title bar shows; None or an empty text shows nothing."""

    open: str = ""
    offline: bool | None = None
    saved: bool | None = None
    narrow: bool = False
    recording: str = ""
    marks: tuple[str, ...] = ()


class TitleBar(WidthAwareWidget):
    """One line; on a narrow terminal it shows what is open instead of the menus."""

    state: reactive[TitleState] = reactive(TitleState())

    @dataclass
    class MenuWanted(Message):
        """A menu's title was clicked."""

        group: str

    def __init__(self) -> None:
        super().__init__(id="title-bar")
        self._marks: dict[str, str] = {}
        """Each mark as it is drawn, with its whole words."""

    def paint(self, width: int) -> Content:
        """Return name and menus at the left, states at the right."""
        title, offline, saved, narrow, recording, marks = self.state
        left: Content = Content.styled(NAME, f"bold {ACCENT}")
        if narrow:
            left = Content.assemble(left, (f" · {title}" if title else "", "$foreground"))
        else:
            for group in GROUPS:
                left = Content.assemble(left, " " * MENU_GAP, (group.title(), "$foreground"))
        states: list[tuple[str, str]] = []
        if recording:
            states.append((f"{RECORDING} {recording}", AMBER_BOLD))
        if offline is not None and not ((recording or marks) and narrow):
            states.append((("offline" if offline else "network allowed"), QUIET))
        if saved is not None:
            states.append(("saved", QUIET) if saved else ("! not saved", AMBER_BOLD))
        # Marks have the room that is left, and are shortened where it is not enough.
        rest = width - left.cell_length - 1 - sum(len(words) + 3 for words, _ in states)
        room = max(rest // max(len(marks), 1) - 3, LEAST_MARK)
        self._marks = {shortened(mark, room): mark for mark in marks}
        states = [*((mark, AMBER_BOLD) for mark in self._marks), *states]
        return spread(left, Content("   ").join(Content.styled(*state) for state in states), width)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Let the tooltip explain the state under the pointer."""
        line = self.paint(self.content_size.width).plain
        column = event.x - self.styles.padding.left
        self.tooltip = None
        told = {**TIPS, **({self.state.recording: RECORDS} if self.state.recording else {})}
        for words, tip in (*told.items(), *self._marks.items()):
            at = line.rfind(words)
            if 0 <= at <= column < at + len(words):
                self.tooltip = Content(tip)
                return

    def on_click(self, event: Click) -> None:
        """Open the menu that was clicked."""
        group = menu_at(event.x - self.styles.padding.left)
        if self.state.narrow:
            group = GROUPS[0]
        if group is not None:
            self.post_message(self.MenuWanted(group))


class MenuBar(WidthAwareWidget):
    """The menus' titles, the open one marked."""

    group: reactive[str] = reactive("")

    def __init__(self) -> None:
        super().__init__(id="menu-bar")

    def paint(self, width: int) -> Content:
        """Return the titles of the menus in one line."""
        line: Content = Content.styled(NAME, f"bold {ACCENT}")
        for group in GROUPS:
            if group == self.group:
                style = "bold $on-accent on $accent"
                line = Content.assemble(line, " " * (MENU_GAP - 1), (f" {group.title()} ", style))
            else:
                gap = " " * MENU_GAP if not line.plain.endswith(" ") else " " * (MENU_GAP - 1)
                line = Content.assemble(line, gap, group.title())
        return line


class MenuList(OptionList):
    """One menu's commands."""

    HELP = (
        "# Menu\n\nUp and down move, **enter** chooses, left and right change the menu, **esc** "
        "closes. Commands that cannot be used now are dimmed."
    )


class MenuScreen(Dialog[str | None]):
    """Returns the id of the command that was chosen."""

    CSS_PATH = "menu.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f10", "dismiss(None)", "Close", show=False),
        Binding("left", "turn(-1)", show=False),
        Binding("right", "turn(1)", show=False),
    ]

    def __init__(self, group: str, table: CommandTable, situation: Situation) -> None:
        super().__init__()
        self._group, self._table, self._situation = group, table, situation

    def compose(self) -> ComposeResult:
        """Yield the bar and the list."""
        yield MenuBar()
        yield MenuList(id="menu-list", compact=True)

    def on_mount(self) -> None:
        """Open the first menu."""
        self._open(self._group)

    def action_turn(self, step: int) -> None:
        """Open the menu beside this one."""
        self._open(GROUPS[(GROUPS.index(self._group) + step) % len(GROUPS)])

    def _open(self, group: str) -> None:
        self._group = group
        self.query_one(MenuBar).group = group
        options = self.query_one(MenuList)
        lines: list[Option | None] = []
        for section in self._table.menu(group, self._situation):
            lines += [None, *map(self._line, section)]
        options.set_options(lines[1:])
        options.styles.offset = (menu_places()[group], 0)
        options.highlighted = next(
            (at for at, option in enumerate(options.options) if not option.disabled), None
        )
        options.focus()

    def _line(self, command: Command) -> Option:
        name = command.key_on(self._situation.page)
        key = Content.styled(key_label(name) if name else "", QUIET)
        words = spread(Content(command.title), key, MENU_WIDTH - 5)
        disabled = command.reason(self._situation) is not None
        return Option(words, id=command.id, disabled=disabled)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the command that was chosen."""
        self.dismiss(event.option.id)

    def on_click(self, event: Click) -> None:
        """Open another menu, or close."""
        widget, _ = self.get_widget_at(event.screen_x, event.screen_y)
        group = menu_at(event.screen_x - 1) if isinstance(widget, MenuBar) else None
        if group is not None:
            self._open(group)
        elif not isinstance(widget, MenuList):
            self.dismiss(None)


class Hint(NamedTuple):
    """One key in the footer.

    Attributes:
        key: as it is written for people.
        run: what a click does; None where it does nothing.
        always: it keeps its place however narrow the footer is.
        tip: shown where the pointer rests.
    """

    key: str
    word: str
    run: Callable[[], object] | None = None
    always: bool = False
    tip: str | None = None


def _width(hint: Hint) -> int:
    return len(hint.key) + 1 + len(hint.word) + HINT_GAP


def fitting(hints: Sequence[Hint], width: int) -> list[Hint]:
    """Return the hints that fit, in their order; those to keep always have priority.

    >>> menu = Hint("F10", "Menu", always=True)
    >>> [hint.word for hint in fitting([Hint("s", "Skip"), Hint("n", "Note"), menu], 18)]
    ['Skip', 'Menu']
    """
    room = width + HINT_GAP - sum(_width(hint) for hint in hints if hint.always)
    kept = []
    for hint in hints:
        if not hint.always:
            room -= _width(hint)
        if hint.always or room >= 0:
            kept.append(hint)
    return kept


class Foot(WidthAwareWidget):
    """Keys and words; a click on a hint runs it."""

    def __init__(self) -> None:
        super().__init__(id="foot")
        self._hints: tuple[Hint, ...] = ()

    def show(self, hints: Sequence[Hint]) -> None:
        """Show hints, most needed first."""
        before, self._hints = self._hints, tuple(hints)
        if [hint[:2] for hint in before] != [hint[:2] for hint in hints]:
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the hints that fit."""
        parts = [
            Content.assemble((hint.key, f"bold {ACCENT}"), " ", (hint.word, QUIET))
            for hint in fitting(self._hints, width)
        ]
        return Content(" " * HINT_GAP).join(parts)

    def _hint_at(self, column: int) -> Hint | None:
        column -= self.styles.padding.left
        for hint in fitting(self._hints, self.content_size.width):
            if 0 <= column < _width(hint) - HINT_GAP:
                return hint
            column -= _width(hint)
        return None

    def on_click(self, event: Click) -> None:
        """Run the hint that was clicked."""
        hint = self._hint_at(event.x)
        if hint is not None and hint.run is not None:
            hint.run()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Let the tooltip say what the hint under the pointer does."""
        hint = self._hint_at(event.x)
        self.tooltip = hint.tip if hint is not None else None
