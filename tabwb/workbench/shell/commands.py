"""Commands, which say what a user can do, and the subjects that declare them.

Keys, menus, palette, footer and help are made of commands. Keys are those that survive tmux, ssh
and an editor's terminal; every command is in a menu and in the palette too. A subject is a folder
beside this one: its ``subject.py`` holds ``SUBJECT``, which :mod:`tabwb.workbench.subjects` lists.
Classes are named by path (``module:Class``), because they are imported only when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.binding import BindingsMap

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.engine.messages import ResultsWanted
from tabwb.workbench.engine.view_models import UNFINISHED, Work

if TYPE_CHECKING:
    from textual.widget import Widget

    from tabwb.workbench.shell.desk import Desk

GROUPS = ("file", "administer", "results", "view", "help")
"""The menus, in order."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides which commands can be used now.

    Attributes:
        page: id of the page in the middle.
        kind, status: of the open administration's examinee, or empty; of itself, or None.
        item, state: number and state of the item shown, or None before the first.
        awaiting: an item waits for its answer.
        asking: the model is answering, or was asked to.
        answered: the item shown has an answer that counts.
        undoable: there is something to take back.
        hidden: verdicts are hidden from the person who types.
        stored: the store holds administrations.
        extension: what the extension of the open session shows, or None.
        elsewhere: the item shown is an earlier or a later one than the current.
    """

    page: str = "home"
    kind: str = ""
    status: AdministrationStatus | None = None
    item: int | None = None
    state: TrialState | None = None
    awaiting: bool = False
    asking: bool = False
    loading: bool = False
    answered: bool = False
    undoable: bool = False
    hidden: bool = False
    stored: bool = False
    extension: object | None = None
    elsewhere: bool = False

    @property
    def running(self) -> bool:
        """Whether the open administration is running."""
        return self.status is AdministrationStatus.RUNNING

    @property
    def unfinished(self) -> bool:
        """Whether the open administration is running or paused."""
        return self.status in UNFINISHED


def situation_of(page: str, work: Work | None, *, stored: bool) -> Situation:
    """Return the situation, as far as it does not depend on the page itself.

    Args:
        page: id of the page in the middle.
        work: the open administration, or None.
        stored: the store holds administrations.
    """
    if work is None:
        return Situation(page, stored=stored)
    item = work.item
    return Situation(
        page,
        kind=work.administration.conditions.kind,
        status=work.status,
        item=item.place[0] if item else None,
        state=item.trial.state if item else None,
        awaiting=work.awaiting,
        asking=work.asking,
        loading=bool(work.loading),
        answered=item is not None and item.attempt is not None,
        undoable=work.undoable,
        stored=stored,
        extension=work.extension,
    )


Check = Callable[[Situation], str | None]
"""Returns None where a command can be used, else the reason why not; empty: nothing is said."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that a user can do.

    Attributes:
        id: ``group.verb``; the group is the menu.
        title: in the menu and, in lower case after the group, in the palette.
        foot: the one word in the footer.
        key: the key, as Textual names it.
        where: where the key works: ids of pages, ``explorer``, ``scores``, ``everywhere``.
        rank: place in the footer, most needed first; 0 keeps it out.
        help: one line for the table of keys.
        unavailable: the check.
        also: second keys, which work everywhere.
        pages: the only pages on which it can be used; empty for all.
        run: what it does; None calls the method of its owner that is named as the verb.
        owner: the subject whose actions have that method, or the widget's id of the page.
    """

    id: str
    title: str
    foot: str
    key: str
    where: tuple[str, ...]
    rank: int
    help: str
    unavailable: Check = lambda situation: None
    also: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    run: Callable[[Desk], object] | None = None
    owner: str = ""

    @property
    def group(self) -> str:
        """The menu."""
        return self.id.partition(".")[0]

    @property
    def method(self) -> str:
        """The verb as the name of a method."""
        return self.id.partition(".")[2].replace("-", "_")

    @property
    def palette(self) -> str:
        """``group: verb``."""
        return f"{self.group}: {self.title.rstrip('…').lower()}"

    def reason(self, situation: Situation) -> str | None:
        """Return None if the command can be used now, else why not (empty: not worth a word)."""
        if self.pages and situation.page not in self.pages:
            return ""
        return self.unavailable(situation)


_LABELS = {
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "slash": "/",
    "escape": "esc",
    "exclamation_mark": "!",
    "semicolon": ";",
    "greater_than_sign": ">",
    "less_than_sign": "<",
}


def key_label(key: str) -> str:
    """Return a key as it is written for people.

    >>> key_label("f10"), key_label("question_mark"), key_label("ctrl+p"), key_label("space")
    ('F10', '?', 'ctrl+p', 'space')
    """
    if key in _LABELS:
        return _LABELS[key]
    return key.upper() if key[0] == "f" and key[1:].isdigit() else key


def on_page(page: str, *commands: Command) -> tuple[Command, ...]:
    """Return commands that can be used on one page only."""
    return tuple(replace(command, pages=(page,)) for command in commands)


class CommandTable:
    """All commands of all subjects."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self.commands = tuple(commands)

    def find(self, name: str, page: str) -> Command | None:
        """Return the command with an id; where several pages have one, that of this page."""
        same = [command for command in self.commands if command.id == name]
        here = [command for command in same if page in command.pages]
        return next(iter(here or same), None)

    def listed(self, group: str, page: str) -> tuple[Command, ...]:
        """Return the commands of a menu; where several pages have one id, those of this page."""
        commands = [command for command in self.commands if command.group == group]
        if group == "administer":
            pages = [name for command in commands for name in command.pages]
            shown = page if page in pages else next(iter(pages), "")
            return tuple(command for command in commands if shown in command.pages)
        return tuple(command for command in commands if self.find(command.id, page) is command)

    def bind(self, widget: Widget, where: str) -> None:
        """Bind the keys of a :attr:`Command.where` to a widget, to run the desk's ``command``."""
        keys: BindingsMap = widget._bindings
        for command in self.commands:
            chosen = [command.key] if where in command.where else []
            chosen += command.also if where == "everywhere" else ()
            if chosen:
                keys.bind(
                    ",".join(chosen),
                    f"screen.command('{command.id}')",
                    command.foot or command.title,
                    show=False,
                    priority=command.id == "file.quit",
                )


DISCONTINUED = "discontinued: u takes that back, space shows the results"
DONE = "complete: nothing is left to give; space shows the results"


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
    text = "Items not yet given will read: not administered. u takes it back."
    desk.ask_words("Discontinue the administration", "Reason", desk.sessions.discontinue, text)


def _results(desk: Desk) -> None:
    if desk.work is not None:
        desk.tell(ResultsWanted(desk.work.administration.id))


_SESSION = (
    Command("administer.skip", "Skip…", "Skip", "s", (), 4,
            "Pass over this item, with a reason.",
            run=lambda desk: desk.ask_words("Skip this item", "Reason", desk.sessions.skip)),
    Command("administer.undo", "Undo", "Undo", "u", (), 6,
            "Take back the last answer, skip, void or discontinuation. Nothing is erased.",
            run=lambda desk: desk.do(desk.sessions.undo)),
    Command("administer.note", "Note…", "Note", "n", (), 7,
            "Write a note on this item.", run=_note),
    Command("administer.pause", "Pause", "Pause", "p", (), 8,
            "Pause the administration after the current answer; space resumes it.", run=_pause),
    Command("administer.void", "Void…", "Void", "v", (), 10,
            "Declare this item void, with a reason: its answer stays and does not count.",
            run=_void),
    Command("administer.discontinue", "Discontinue…", "Discontinue", "d", (), 11,
            "End the administration early, with a reason.", run=_discontinue),
    Command("administer.results", "Results so far", "Results", "g", (), 12,
            "Show the results so far.", run=_results),
)  # fmt: skip
"""Commands on the open session that every page on which a session is given has."""


def session_commands(
    where: tuple[str, ...], check: Callable[[str, Situation], str | None]
) -> tuple[Command, ...]:
    """Return the commands on the open session for a page on which a session is given.

    Args:
        where: where their keys work.
        check: given a command's verb and the situation, returns why it is unavailable, or None.
    """
    return tuple(
        replace(command, where=where, unavailable=partial(check, command.method))
        for command in _SESSION
    )


@dataclass(frozen=True, slots=True)
class PageSpec:
    """A page that a subject brings.

    Attributes:
        id: its name; the widget's id is ``ID-page``.
        path: of its class, a :class:`tabwb.workbench.shell.page.Page`.
        commands: commands which the page runs; they can be used on this page only.
        title: what the page shows, in a sentence: ``the results of an administration``.
    """

    id: str
    path: str
    commands: tuple[Command, ...] = ()
    title: str = ""

    @property
    def name(self) -> str:
        """What names the page in a sentence."""
        return self.title or f"the page {self.id}"


@dataclass(frozen=True, slots=True)
class Subject:
    """One subject of the workbench.

    Attributes:
        id: the name of its folder.
        commands: commands which its actions run.
        actions: path of its :class:`Actions`, or empty.
        controller: path of its :class:`tabwb.workbench.engine.engine.Controller`, or empty; it is
            called with the engine and the session controller.
        styles: paths of style sheets that its pages need.
        prefetch: modules to import after the start, so that they open at once.
    """

    id: str
    pages: tuple[PageSpec, ...] = ()
    commands: tuple[Command, ...] = ()
    actions: str = ""
    controller: str = ""
    styles: tuple[Path, ...] = ()
    prefetch: tuple[str, ...] = ()

    @property
    def all_commands(self) -> tuple[Command, ...]:
        """The commands of the pages, then those of the actions."""
        of_pages = (
            replace(command, pages=(page.id,), owner=f"{page.id}-page")
            for page in self.pages
            for command in page.commands
        )
        return (*of_pages, *(replace(command, owner=self.id) for command in self.commands))


class Actions:
    """Base of a subject's actions: they run its commands and handle its messages.

    Methods that commands name take no argument and may be coroutines.
    """

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
