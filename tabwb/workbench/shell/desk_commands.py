"""The commands of the desk and of the open administration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tabwb.records.states import TrialState
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.commands import Command, Situation
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ChoiceScreen, about_text
from tabwb.workbench.shell.explorer import ExplorerFilter
from tabwb.workbench.shell.page import Page, Subject
from tabwb.workbench.shell.widgets import Pane, panes_on

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk


COPIED = (
    "home", "explorer", "trial", "scores", "naming", "results", "models", "report", "lesions",
    "sweep", "curves", "sets", "adjudication", "participants", "jobs", "extension",
)  # fmt: skip
"""Pages whose command is copied alone: that of the dial writes a page too."""
STEP = 4
"""Columns by which a dock is made wider or narrower."""


def _toggle_scores(desk: Desk) -> None:
    if not desk.current.toggle_side():
        desk.docks.toggle("scores")


def _filter(desk: Desk) -> None:
    if desk.catalogue is not None:
        desk.run_worker(desk.finder.warm(desk.catalogue.administrations))
        if not desk.query_one("#explorer-dock").display:
            desk.docks.toggle("explorer")
        desk.query_one(ExplorerFilter).open()


def _next_theme(desk: Desk) -> None:
    name = settings.next_theme(desk.workbench.theme, desk.workbench.theme_names)
    desk.workbench.take_theme(name)
    desk.notify(f"Theme: {name.replace('-', ' ')}", timeout=2)


def _focus_next(desk: Desk) -> None:
    """Focus the pane after the focused one; a page without panes counts as one."""
    inside = [] if desk.focused is None else desk.focused.ancestors_with_self
    areas: list[Pane | Page] = list(panes_on(desk))
    if desk.current not in areas and not any(desk.current in pane.ancestors for pane in areas):
        areas.insert(desk.query_one("#explorer-dock").display, desk.current)
    at = next((place for place, area in enumerate(areas) if area in inside), -1)
    chosen = areas[(at + 1) % len(areas)]
    (desk.current if chosen.has_class("-main") else chosen).focus_inside()


async def _home(desk: Desk) -> None:
    """Leave the page; an open administration is paused."""
    if desk.work is not None:
        desk.do(desk.sessions.leave)
    else:
        desk.do(desk.sessions.engine.refresh)  # another terminal may have added to the store
        await desk.go("home")


def _enlarge(desk: Desk) -> None:
    """Show the focused pane alone, or all panes again."""
    if desk.maximized is not None:
        desk.minimize()
    elif desk.focused is not None:
        inside = desk.focused.ancestors_with_self
        pane = next((one for one in inside if isinstance(one, Pane)), None)
        if pane is not None:
            desk.maximize(pane, container=False)


def _copy(desk: Desk) -> None:
    if command := desk.current.command():
        desk.app.copy_to_clipboard(command)
        desk.notify(f"Copied: {command}", timeout=4, markup=False)


def _keys(desk: Desk) -> None:
    from tabwb.workbench.shell.help import KeysScreen

    titles = {page.id: page.title for subject in desk.subjects for page in subject.pages}
    desk.app.push_screen(KeysScreen(desk.table, desk.situation(), titles[desk.page]))


def _menu(desk: Desk) -> None:
    giving = desk.work is not None and desk.page == desk.work.page
    desk.open_menu("administer" if giving else "file")


def _about(desk: Desk) -> None:
    text = about_text(desk.catalogue)
    desk.app.push_screen(ChoiceScreen("About tabwb", text, (("close", "Close"),)))


COMMANDS = (
    Command("view.explorer", "Explorer", "Explorer", "f3", 22,
            "Show or hide the explorer; without room beside the page it opens over it.",
            run=lambda desk: desk.docks.toggle("explorer")),
    Command("view.scores", "Scores", "Scores", "f4", 21,
            "Show or hide the scores; without room beside the page they open over it.",
            run=_toggle_scores),
    Command("view.theme", "Next theme", "Theme", "f5", 0,
            "Dark, light, high contrast.", run=_next_theme, section="look"),
    Command("view.focus", "Next pane", "Pane", "f6", 0,
            "Move to the next pane: explorer, those of the page, scores.", run=_focus_next,
            section="focus"),
    Command("view.jump", "Jump to a part", "Jump", "semicolon", 0,
            "Draw a letter over each pane and field; the letter moves the focus there.",
            also=("ctrl+o",), run=lambda desk: desk.workbench.action_jump(), section="focus"),
    Command("view.filter", "Filter the explorer", "Filter", "slash", 3,
            "List only lines with all typed words: number, name, state, condition, date.",
            run=_filter,
            where=("explorer",), section="focus"),
    Command("view.explorer-wider", "Explorer wider", "", "right_square_bracket", 0,
            "Make the explorer wider (or drag its border).",
            run=lambda desk: desk.docks.widen("explorer", STEP), section="size"),
    Command("view.explorer-narrower", "Explorer narrower", "", "left_square_bracket", 0,
            "Make the explorer narrower.", run=lambda desk: desk.docks.widen("explorer", -STEP),
            section="size"),
    Command("view.scores-wider", "Scores wider", "", "right_curly_bracket", 0,
            "Make the scores wider (or drag their border).",
            run=lambda desk: desk.docks.widen("scores", STEP), section="size"),
    Command("view.scores-narrower", "Scores narrower", "", "left_curly_bracket", 0,
            "Make the scores narrower.", run=lambda desk: desk.docks.widen("scores", -STEP),
            section="size"),
    Command("view.enlarge", "Enlarge the pane, or show all again", "", "plus", 0,
            "Show the focused pane alone; again, or esc: all panes.", run=_enlarge,
            section="size"),
    Command("view.copy-command", "Copy the command", "Copy", "y", 19,
            "Copy the command line that prints what this page shows.", run=_copy,
            where=COPIED, section="focus"),
    Command("view.home", "Home", "Home", "f8", 0,
            "Leave this page; an open administration is paused.", run=_home, section="leave"),
    Command("help.focused", "Help for what is focused", "Help", "f1", 0,
            "Explain the focused part and its keys.",
            run=lambda desk: desk.workbench.action_help_for_focus()),
    Command("help.keys", "All keys", "Keys", "question_mark", 20,
            "This table.", run=_keys),
    Command("help.menu", "Menu", "Menu", "f10", 16,
            "The menus; arrows move, enter chooses.", run=_menu),
    Command("help.commands", "Commands", "Commands", "ctrl+p", 18,
            "Find a command, administration, model, participant, item or help text.",
            run=lambda desk: desk.workbench.action_command_palette()),
    Command("help.about", "About tabwb", "", "f9", 0,
            "What tabwb is for, and where results are kept.", run=_about),
    Command("file.quit", "Quit", "Quit", "ctrl+q", 0,
            "Leave. Everything is stored; an open administration is paused.",
            run=lambda desk: desk.workbench.action_leave(), section="leave"),
)  # fmt: skip
SUBJECT = Subject(__name__, COMMANDS, controller="item_search:ItemSearch")


DISCONTINUED = "discontinued: u takes that back, space shows the results, F8 goes home"
DONE = "complete: no items are left; space shows the results, F8 goes home"


def unchangeable(now: Situation) -> str:
    """Return why the item shown cannot be changed."""
    if now.answered:
        return f"item {now.item} is answered: u takes it back, v declares it void"
    if now.state in {TrialState.SKIPPED, TrialState.VOID}:
        return f"item {now.item} is {now.state.value} already: u takes that back"
    return f"item {now.item} cannot be changed now: space continues"


def _note(desk: Desk) -> None:
    """Write a note on the item shown now, also when others follow while it is written."""
    item = desk.current.shown_item()
    number = item.trial.plan.number if item is not None else None
    desk.ask_words("Note", "Note", partial(desk.sessions.note, number))


def _void(desk: Desk) -> None:
    """Declare void the item shown now, also when others follow while the reason is typed."""
    item = desk.current.shown_item()
    number = item.trial.plan.number if item is not None else None
    title = "Declare this item void" if number is None else f"Declare item {number} void"
    desk.ask_words(title, "Reason", partial(desk.sessions.void, number=number))


def _pause(desk: Desk) -> None:
    desk.sessions.auto = False
    desk.current.pausing()
    desk.do(desk.sessions.pause)


def _discontinue(desk: Desk) -> None:
    text = "Items that were not given get the state 'not administered'. u takes it back."
    desk.ask_words("Discontinue the administration", "Reason", desk.sessions.discontinue, text)


def _results(desk: Desk) -> None:
    if desk.work is not None:
        desk.request("results", "show", desk.work.administration.id)


_SESSION = (
    Command("administer.skip", "Skip…", "Skip", "s", 4,
            "Pass over this item, with a reason.",
            run=lambda desk: desk.ask_words("Skip this item", "Reason", desk.sessions.skip),
            section="mark"),
    Command("administer.undo", "Undo", "Undo", "u", 6,
            "Take back the last answer, skip, void or discontinuation. Nothing is deleted.",
            run=lambda desk: desk.do(desk.sessions.undo), section="mark"),
    Command("administer.note", "Note…", "Note", "n", 7,
            "Write a note on this item.", run=_note, section="mark"),
    Command("administer.pause", "Pause", "Pause", "p", 8,
            "Pause the administration after the current answer; space continues it.", run=_pause,
            section="whole"),
    Command("administer.void", "Void…", "Void", "v", 10,
            "Declare this item void, with a reason: its answer stays and does not count.",
            run=_void, section="mark"),
    Command("administer.discontinue", "Discontinue…", "Discontinue", "d", 11,
            "End the administration early, with a reason.", run=_discontinue, section="whole"),
    Command("administer.results", "Results so far", "Results", "g", 12,
            "Show the results so far.", run=_results, section="whole"),
)  # fmt: skip
"""Commands on the open session that every page on which a session is given has."""


def session_commands(
    check: Callable[[str, Situation], str | None], where: tuple[str, ...] = ()
) -> tuple[Command, ...]:
    """Return the commands on the open session for a page on which a session is given."""
    return tuple(
        replace(command, where=where, unavailable=partial(check, command.method))
        for command in _SESSION
    )
