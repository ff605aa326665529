"""The menus, which drop down below the title bar."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tabwb.workbench.shell.commands import GROUPS, CommandTable, Situation, key_label
from tabwb.workbench.shell.dialog import Dialog
from tabwb.workbench.shell.title_bar import GAP, NAME, menu_places
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET, spread

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
                line = Content.assemble(line, " " * (GAP - 1), (f" {group.title()} ", style))
            else:
                gap = " " * GAP if not line.plain.endswith(" ") else " " * (GAP - 1)
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
