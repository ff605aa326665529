"""The commands of the desk itself: views, themes, help, leaving."""

from __future__ import annotations

from textual.widget import Widget

from tabwb.workbench.shell import themes
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.dialogs import ChoiceScreen, about_text
from tabwb.workbench.shell.explorer import Explorer
from tabwb.workbench.shell.score_panel import ScorePanel
from tabwb.workbench.shell.subject import Actions, PageSpec, Subject

STEP = 4
"""Columns by which a dock is made wider or narrower."""
_ALL = ("everywhere",)

COMMANDS = (
    Command("view.explorer", "Explorer", "Explorer", "f3", _ALL, 22,
            "Show or hide the explorer; below 100 columns it is a drawer."),
    Command("view.scores", "Scores", "Scores", "f4", _ALL, 21,
            "Show or hide the scores; below 100 columns they are a drawer."),
    Command("view.theme", "Next theme", "Theme", "f5", _ALL, 0,
            "Dark, light, high contrast."),
    Command("view.focus", "Next pane", "Pane", "f6", _ALL, 0,
            "Move between explorer, item and scores."),
    Command("view.explorer-wider", "Explorer wider", "", "right_square_bracket", _ALL, 0,
            "Make the explorer wider (or drag its border)."),
    Command("view.explorer-narrower", "Explorer narrower", "", "left_square_bracket", _ALL, 0,
            "Make the explorer narrower."),
    Command("view.scores-wider", "Scores wider", "", "right_curly_bracket", _ALL, 0,
            "Make the scores wider (or drag their border)."),
    Command("view.scores-narrower", "Scores narrower", "", "left_curly_bracket", _ALL, 0,
            "Make the scores narrower."),
    Command("view.home", "Home", "Home", "f8", _ALL, 0,
            "Leave this page; an open administration is paused."),
    Command("help.focused", "Help for what is focused", "Help", "f1", _ALL, 0,
            "What the focused part is for and what it can do."),
    Command("help.keys", "All keys", "Keys", "question_mark", _ALL, 20,
            "This table."),
    Command("help.menu", "Menu", "Menu", "f10", _ALL, 16,
            "The menus; arrows move, enter chooses."),
    Command("help.commands", "Commands", "Commands", "ctrl+p", _ALL, 18,
            "Find any command by its name."),
    Command("help.about", "About tabwb", "", "f9", _ALL, 0,
            "What tabwb is, what it is not, and where results are kept."),
    Command("file.quit", "Quit", "Quit", "ctrl+q", _ALL, 0,
            "Leave. Everything recorded is safe; an open administration is paused."),
)  # fmt: skip


class DeskActions(Actions):
    """Runs the commands of the desk."""

    def explorer(self) -> None:
        """Show or hide the explorer."""
        self.desk.docks.toggle("explorer", self.desk.query_one(Explorer))

    def scores(self) -> None:
        """Show or hide the scores, or the page's own side panel."""
        if not self.desk.current.toggle_side():
            self.desk.docks.toggle("scores", self.desk.query_one(ScorePanel))

    def theme(self) -> None:
        """Use the next theme."""
        name = themes.after(self.desk.app.theme)
        self.desk.workbench.take_theme(name)
        self.desk.notify(f"Theme: {name.replace('-', ' ')}", timeout=2)

    def focus(self) -> None:
        """Focus the next visible pane."""
        desk = self.desk
        panes: list[Widget] = [desk.query_one("#pages")]
        if desk.query_one("#explorer-dock").display:
            panes.insert(0, desk.query_one(Explorer))
        if desk.query_one("#scores-dock").display:
            panes.append(desk.query_one(ScorePanel))
        inside = [] if desk.focused is None else desk.focused.ancestors_with_self
        at = next((place for place, pane in enumerate(panes) if pane in inside), -1)
        chosen = panes[(at + 1) % len(panes)]
        (desk.current.focus_inside if chosen.id == "pages" else chosen.focus)()

    def explorer_wider(self) -> None:
        """Make the explorer wider."""
        self.desk.docks.widen("explorer", STEP)

    def explorer_narrower(self) -> None:
        """Make the explorer narrower."""
        self.desk.docks.widen("explorer", -STEP)

    def scores_wider(self) -> None:
        """Make the scores wider."""
        self.desk.docks.widen("scores", STEP)

    def scores_narrower(self) -> None:
        """Make the scores narrower."""
        self.desk.docks.widen("scores", -STEP)

    async def home(self) -> None:
        """Leave the page; an open administration is paused."""
        desk = self.desk
        if desk.work is not None:
            desk.do(desk.sessions.leave)
        else:
            desk.do(desk.sessions.engine.refresh)  # another terminal may have added to the store
            await desk.go("home")

    def focused(self) -> None:
        """Show help for what is focused."""
        self.desk.workbench.action_help_for_focus()

    def keys(self) -> None:
        """Show all keys."""
        from tabwb.workbench.shell.help import KeysScreen

        self.desk.app.push_screen(KeysScreen(self.desk.table, self.desk.situation()))

    def menu(self) -> None:
        """Open the menu of the page."""
        work = self.desk.work
        giving = work is not None and self.desk.page == work.page
        self.desk.open_menu("administer" if giving else "file")

    def commands(self) -> None:
        """Open the palette."""
        self.desk.app.action_command_palette()

    def about(self) -> None:
        """Show what tabwb is."""
        text = about_text(self.desk.catalogue)
        self.desk.app.push_screen(ChoiceScreen("About tabwb", text, (("close", "Close"),)))

    async def quit(self) -> None:
        """Quit."""
        await self.desk.workbench.action_leave()


SUBJECT = Subject(
    "desk",
    pages=(PageSpec("home", "tabwb.workbench.shell.home_page:HomePage"),),
    commands=COMMANDS,
    actions="tabwb.workbench.shell.desk_commands:DeskActions",
)
