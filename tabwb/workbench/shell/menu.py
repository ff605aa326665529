"""The menus, which drop down below the title bar, and the command palette."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.events import Click
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tabwb.workbench.shell import themes
from tabwb.workbench.shell.commands import GROUPS, CommandTable, Situation, key_label
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.frame import MENU_GAP, NAME, menu_places
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET, spread

if TYPE_CHECKING:
    from tabwb.workbench.shell.app import Workbench

WIDTH = 38


class MenuBar(WidthAwareWidget):
    """The menus' titles, the open one marked."""

    def __init__(self, group: str) -> None:
        super().__init__(id="menu-bar")
        self.group = group

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
        "closes. Commands that cannot be used now are quiet."
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
        yield MenuBar(self._group)
        yield MenuList(id="menu-list", compact=True)

    def on_mount(self) -> None:
        """Open the first menu."""
        self._open(self._group)

    def action_turn(self, step: int) -> None:
        """Open the menu beside this one."""
        self._open(GROUPS[(GROUPS.index(self._group) + step) % len(GROUPS)])

    def _open(self, group: str) -> None:
        self._group = group
        bar = self.query_one(MenuBar)
        bar.group = group
        bar.refresh()
        options = self.query_one(MenuList)
        options.set_options(
            Option(
                spread(
                    Content(command.title),
                    Content.styled(key_label(command.key), QUIET),
                    WIDTH - 5,
                ),
                id=command.id,
                disabled=command.reason(self._situation) is not None,
            )
            for command in self._table.listed(group, self._situation.page)
        )
        options.styles.offset = (menu_places()[group], 0)
        options.highlighted = next(
            (at for at, option in enumerate(options.options) if not option.disabled), None
        )
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the command that was chosen."""
        self.dismiss(event.option.id)

    def on_click(self, event: Click) -> None:
        """Open another menu, or close."""
        widget, _ = self.get_widget_at(event.screen_x, event.screen_y)
        if isinstance(widget, MenuBar):
            for group, at in menu_places().items():
                if at - 1 <= event.screen_x - 1 <= at + len(group):
                    self._open(group)
                    return
        if not isinstance(widget, MenuList):
            self.dismiss(None)


class Commands(Provider):
    """The commands that can be used now, then the themes by name."""

    def _entries(self) -> list[tuple[str, str, object]]:
        app = cast("Workbench", self.app)
        desk = app.desk
        situation = desk.situation()
        entries: list[tuple[str, str, object]] = [
            (
                command.palette,
                f"{key_label(command.key)}   {command.help}",
                partial(desk.perform, command.id),
            )
            for command in desk.table.commands
            if command.id != "help.commands" and command.reason(situation) is None
        ]
        entries += [
            (f"view: theme {name}", f"Use the theme {name}.", partial(app.take_theme, name))
            for name in themes.NAMES
        ]
        return entries

    async def discover(self) -> Hits:
        """Yield all of them, before anything is typed."""
        for title, text, run in self._entries():
            yield DiscoveryHit(title, run, help=text)  # type: ignore[arg-type]

    async def search(self, query: str) -> Hits:
        """Yield those that match."""
        matcher = self.matcher(query)
        for title, text, run in self._entries():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, matcher.highlight(title), run, help=text)  # type: ignore[arg-type]
