"""The title bar with the menus, the footer, what both show, and the docks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Click, MouseDown, MouseMove, MouseUp
from textual.keys import key_to_character
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, TextArea

from tabwb.workbench.engine.view_models import Scores
from tabwb.workbench.shell.columns import Column, Heading, shortened
from tabwb.workbench.shell.commands import GROUPS, Command, CommandTable, Situation, key_label
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.drawn import compact
from tabwb.workbench.shell.explorer import Explorer
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.settings import EXPLORER, MAX_WIDTH
from tabwb.workbench.shell.widgets import Pane, WidthAwareWidget
from tabwb.workbench.shell.wording import (
    ACCENT,
    AMBER,
    LINE,
    QUIET,
    RECORDING,
    lesion_mark,
    name_of,
    spread,
)

if TYPE_CHECKING:
    from textual.widget import Widget

    from tabwb.workbench.shell.desk import Desk


NAME = "tabwb"
MENU_GAP = 2
MENU_WIDTH = 42
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

    def __init__(self, open_menu: Callable[[str], object]) -> None:
        super().__init__(id="title-bar")
        self._open_menu = open_menu
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
            self._open_menu(group)


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


class MenuList(RowList):
    """One menu's commands."""

    AT_ONCE = True
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
        yield MenuList(id="menu-list", opens=False)

    def on_mount(self) -> None:
        """Open the first menu."""
        self._open(self._group)

    def action_turn(self, step: int) -> None:
        """Open the menu beside this one."""
        self._open(GROUPS[(GROUPS.index(self._group) + step) % len(GROUPS)])

    def _open(self, group: str) -> None:
        self._group = group
        self.query_one(MenuBar).group = group
        rows: list[Command | Heading] = []
        for section in self._table.menu(group, self._situation):
            rows += [Heading(Content.styled("─" * (MENU_WIDTH - 5), LINE)), *section]
        listed = self.query_one(MenuList)
        listed.show(self._columns, rows[1:], current=0, usable=self._is_usable)
        listed.styles.offset = (menu_places()[group], 0)
        listed.focus()

    @property
    def _columns(self) -> Sequence[Column[Command]]:
        def key(command: Command) -> str:
            name = command.key_on(self._situation.page)
            return key_label(name) if name else ""

        title: Column[Command] = Column(
            "", lambda command, width: Content(command.title), grow=(20, MENU_WIDTH)
        )
        return (title, Column("", key, right=True, style=QUIET))

    def _is_usable(self, command: Command) -> bool:
        return command.reason(self._situation) is None

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Return the command that was chosen."""
        self.dismiss(event.value.id)

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


def title_state(desk: Desk) -> TitleState:
    """Return what the title bar shows: what is open, and the states of program and page."""
    page, work = desk.current, desk.work
    administration = work.administration if work is not None else None
    title = page.open_title()
    if title is None:
        title = name_of(administration) if administration is not None else ""
    return TitleState(
        title,
        offline=desk.catalogue.offline if desk.catalogue else None,
        saved=desk.saved,
        narrow=desk.docks.narrow,
        recording=page.state_words(),
        marks=tuple(filter(None, (lesion_mark(administration), *desk.marks.values()))),
    )


def foot_hints(desk: Desk) -> Sequence[Hint]:
    """Return the footer's hints: those of the page, or of the commands that can be used now."""
    focused, page = desk.focused, desk.current
    hints = page.hints()
    if hints is not None:
        return hints
    situation = desk.situation()
    where = "explorer" if isinstance(focused, Explorer) else desk.page
    usable = [
        command
        for command in desk.table.commands
        if page.foot_rank(command) and (where in command.where or "everywhere" in command.where)
        if command.reason(situation) is None and not _typed(focused, command.key)
    ]
    shown = []
    empty = isinstance(focused, RowList) and not focused.rows
    known = any(command.key == "enter" for command in usable)
    if focused is not None and focused.has_class("enter-opens") and not empty and not known:
        shown.append(Hint("enter", getattr(focused, "ENTER_WORD", "Open")))
    if isinstance(focused, Input | TextArea):
        shown.insert(0, Hint("esc", "Leave field", partial(desk.app.simulate_key, "escape")))
        usable = [command for command in usable if command.key != "escape"]
    shown += [
        Hint(
            key_label(command.key),
            page.foot_word(command),
            partial(desk.perform, command.id),
            always=command.id in {"help.menu", "help.keys"},
            tip=command.help,
        )
        for command in sorted(usable, key=page.foot_rank)
    ]
    return shown


def _typed(focused: Widget | None, key: str) -> bool:
    """Return whether a key types in the focused text field, or moves its cursor."""
    if not isinstance(focused, Input | TextArea):
        return False
    own = focused._bindings.key_to_bindings
    return focused.check_consume_key(key, key_to_character(key)) or key in own


DRAWER_WIDTH = 46
NARROW = 100
"""With fewer columns the title bar shows what is open in place of the menus."""
ROOMY, ROOMY_EXPLORER = 200, 34
"""In a window of so many columns the explorer has so many, unless its width was changed."""
LEAST_EXPLORER, LEAST_SCORES = 24, 30
"""The least columns of each dock beside a page."""


class Dock(Pane):
    """A pane beside the page; its border towards the page is dragged to resize it."""

    @dataclass
    class Resized(Message):
        """A dock was resized with the mouse."""

        name: str
        width: int

    def __init__(
        self, content: Widget, side: Literal["left", "right"], title: str, *above: Widget
    ) -> None:
        name = f"{content.id}-dock"
        super().__init__(*above, content, title=title, id=name, classes=f"dock -{side}")
        self.content, self.side = content, side

    def lay(self, *, shown: bool, drawer: bool, width: int) -> None:
        """Place the dock beside the page, or as a drawer over it, which has its own width."""
        self.display = shown
        self.set_class(drawer, "-drawer")
        self.styles.width = min(DRAWER_WIDTH, self.app.size.width - 8) if drawer else width

    def _at_edge(self, event: MouseDown | MouseMove) -> bool:
        edge = self.region.right - 1 if self.side == "left" else self.region.x
        return event.screen_x == edge

    def on_mouse_down(self, event: MouseDown) -> None:
        """Start dragging."""
        if self._at_edge(event):
            self.capture_mouse()
            self.add_class("-dragged")

    def on_mouse_up(self, event: MouseUp) -> None:
        """Stop dragging."""
        self.release_mouse()
        self.remove_class("-dragged")

    def on_leave(self) -> None:
        """Draw the border as usual."""
        self.remove_class("-edge")

    def on_mouse_move(self, event: MouseMove) -> None:
        """Move the border, or show that it can be dragged."""
        if self.has_class("-dragged"):
            column = event.screen_x
            width = column + 1 if self.side == "left" else self.app.size.width - column
            self.post_message(self.Resized(self.content.id or "", width))
        else:
            self.set_class(self._at_edge(event), "-edge")


def beside(width: int, least: int, explorer: int, scores: int) -> tuple[int, int]:
    """Return the columns of explorer and scores beside a page; 0 where one has no room.

    >>> beside(160, 72, 28, 44), beside(100, 72, 28, 44), beside(95, 72, 28, 44)
    ((28, 44), (28, 0), (0, 0))
    >>> beside(132, 72, 28, 44), beside(112, 72, 0, 44)
    ((28, 32), (0, 40))
    """
    left = min(explorer, width - least)
    left = left if left >= min(explorer, LEAST_EXPLORER) else 0
    right = min(scores, width - least - left)
    return left, right if right >= min(scores, LEAST_SCORES) else 0


class DockLayout:
    """Lays out the docks ``explorer`` and ``scores`` on a desk.

    Attributes:
        narrow: the window has less than :data:`NARROW` columns.
        scores_stand: whether the score panel is visible beside the page.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._drawer = ""
        """The drawer that is open, or empty."""
        self._room: dict[str, int] = {}
        """Columns of each dock beside the page, were it shown; 0: it can only be a drawer."""
        self.narrow = self.scores_stand = False

    def apply(self) -> None:
        """Place the docks for the present size and page."""
        desk, page, kept = self._desk, self._desk.current, self._desk.workbench.remembered
        width, least = desk.size.width, page.LEAST_WIDTH
        self.narrow = width < NARROW
        left, right = beside(
            width,
            least,
            self._wanted("explorer") * page.EXPLORER_DOCK * kept.explorer,
            kept.scores_width * page.SCORES_DOCK * kept.scores,
        )
        self.scores_stand = right > 0
        self._room = {
            "explorer": beside(width, least, self._wanted("explorer") * page.EXPLORER_DOCK, 0)[0],
            "scores": beside(width, least, left, kept.scores_width * page.SCORES_DOCK)[1],
        }
        for name, columns in (("explorer", left), ("scores", right)):
            drawer = self._drawer == name and not columns
            desk.query_one(f"#{name}-dock", Dock).lay(
                shown=drawer or columns > 0, drawer=drawer, width=columns
            )
            if self._drawer == name and not drawer:
                self._drawer = ""
        desk.show_frame()

    def toggle(self, name: str) -> None:
        """Show or hide a dock or drawer."""
        desk = self._desk
        content = desk.query_one(f"#{name}")
        if name == "scores" and not desk.current.SCORES_DOCK:
            desk.current.show_message("This page has no score panel.")
        elif not self._room[name]:
            self._drawer = "" if self._drawer == name else name
            self.apply()
            (content.focus if self._drawer else desk.current.focus_inside)()
        else:
            desk.workbench.remember(**{name: not getattr(desk.workbench.remembered, name)})
            if content.has_focus:
                desk.current.focus_inside()
            self.apply()
            desk.current.update_page()

    def close_drawer(self) -> bool:
        """Close an open drawer without laying out; return whether there was one."""
        was_open, self._drawer = bool(self._drawer), ""
        return was_open

    def leave_drawer(self) -> bool:
        """Close an open drawer and focus the page; return whether there was one."""
        if not self.close_drawer():
            return False
        self.apply()
        self._desk.current.focus_inside()
        return True

    def widen(self, name: str, step: int) -> None:
        """Make a dock so many columns wider; with a negative number, narrower."""
        self.set_width(name, self._wanted(name) + step)

    def _wanted(self, name: str) -> int:
        """Return the columns that a dock should have."""
        kept: int = getattr(self._desk.workbench.remembered, f"{name}_width")
        roomy = name == "explorer" and kept == EXPLORER and self._desk.size.width >= ROOMY
        return ROOMY_EXPLORER if roomy else kept

    def set_width(self, name: str, width: int) -> None:
        """Change the width of a dock, within limits."""
        least = LEAST_EXPLORER if name == "explorer" else LEAST_SCORES
        self._desk.workbench.remember(**{f"{name}_width": min(max(width, least), MAX_WIDTH)})
        self.apply()


class ShownScores(NamedTuple):
    """What the score panel shows: a function that lays lines out for a width, and its argument."""

    lay_out: Callable[[Any, int], Iterator[Content]]
    view: object


class ScoreSheet(WidthAwareWidget):
    """The scores as lines."""

    shown: reactive[ShownScores | None] = reactive(None, layout=True)

    def paint(self, width: int) -> Content:
        """Return all lines."""
        if self.shown is None:
            return Content.styled("Scores appear here as responses arrive.", QUIET)
        return Content("\n").join(self.shown.lay_out(self.shown.view, width))


SIGNS = (
    "✓ right   ✗ wrong   ● given, nothing to be right or wrong\n"
    "· not given   › skipped   ∅ void   - not administered   ! in error"
)


class ScorePanel(VerticalScroll):
    """The scores in the dock; can be focused to scroll."""

    HELP = """\
# Scores

One mark for each item: ✓ right, ✗ wrong, ● given (nothing to be right or wrong), · still to come,
› skipped, ∅ void, ! in error. *Right* is the policy *exact*.

**Features** are those that the judge named: for each a bar for every one of the latest responses,
high where it is present, and the number of responses with it. **Burden** is the mean number of
features present per response, over the judge's fixed set of features; responses without one are
counted below.

Arrows scroll. While a person types, verdicts are hidden; **t** shows and hides them.
"""

    def __init__(self) -> None:
        super().__init__(ScoreSheet(), id="scores")
        self.tooltip = SIGNS


class CompactScores(WidthAwareWidget):
    """The live scores in one line, for narrow terminals."""

    shown: reactive[tuple[Scores, bool]] = reactive((Scores(), False))
    """The scores; whether only the items that were given are shown."""

    def __init__(self) -> None:
        super().__init__(id="compact-scores")

    def paint(self, width: int) -> Content:
        """Return the line."""
        scores, hidden = self.shown
        words = ""
        if scores.judges:
            from tabwb.media.wording import number  # not before the first frame

            burden = scores.judges[0].burden
            usable = f"usable {burden.usable.usable}/{burden.usable.n}"
            words = f"{usable} burden {number(burden.symptom_burden)} over {len(burden.features)}"
        return compact(scores.subtests, words, width, hidden=hidden)
