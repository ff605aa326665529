"""Commands, which say what a user can do.

Keys, menus, palette, footer and help are made of commands. Keys are those that survive tmux, ssh
and an editor's terminal; every command is in a menu and in the palette too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.binding import BindingsMap

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.engine.view_models import UNFINISHED, Work

if TYPE_CHECKING:
    from textual.widget import Widget

    from tabwb.workbench.shell.desk import Desk

ON_HOME = ("home", "explorer")
"""Where the keys work that lead from the first page to others."""
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
    """Return the situation, as far as it does not depend on the page itself."""
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
        rank: place in the footer, most needed first; 0 keeps it out.
        help: one line for the table of keys.
        unavailable: the check.
        where: where the key works: ids of pages, ``explorer``, ``scores``, ``everywhere``. If it is
            not declared: on the page of the command, or everywhere.
        also: second keys, which work everywhere.
        pages: the only pages on which it can be used; empty for all.
        run: what it does; None calls the method of its owner that is named as the verb.
        owner: the subject whose actions have that method, or the widget's id of the page.
        section: commands of a menu with the same one are together, with a line before the next.
    """

    id: str
    title: str
    foot: str
    key: str
    rank: int
    help: str
    unavailable: Check = lambda situation: None
    where: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    run: Callable[[Desk], object] | None = None
    owner: str = ""
    section: str = ""

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

    def keys_on(self, page: str) -> tuple[str, ...]:
        """Return the keys that work on a page."""
        works = {page, "everywhere"} & {*self.where}
        return (self.key, *self.also) if works else self.also

    def reason(self, situation: Situation) -> str | None:
        """Return None if the command can be used now, else why not (empty: not worth a word)."""
        if self.pages and situation.page not in self.pages:
            return ""
        return self.unavailable(situation)

    def key_on(self, page: str) -> str:
        """Return the key that runs the command on a page; empty where none does.

        >>> begin = Command("file.new", "New…", "New", "n", 1, "", where=("home",), also=("f9",))
        >>> begin.key_on("home"), begin.key_on("results")
        ('n', 'f9')
        """
        where = {*self.where}
        if page in self.pages or {page, "everywhere"} & where or where <= {"explorer", "scores"}:
            return self.key
        return next(iter(self.also), "")


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
    "plus": "+",
    "minus": "-",
    "underscore": "_",
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
    return tuple(
        replace(command, pages=(page,), where=command.where or (page,)) for command in commands
    )


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

    def menu(self, group: str, now: Situation) -> tuple[tuple[Command, ...], ...]:
        """Return the sections of a menu: those of this page first, and last what leaves it.

        Commands that only other pages have, or that what is shown has no use for, are left out;
        the palette and the table of keys have them.
        """
        sections: dict[tuple[bool, bool, str], list[Command]] = {}
        for command in self.listed(group, now.page):
            here = now.page in command.pages
            if command.reason(now) != "" if here else group == "administer" or not command.pages:
                leaves = command.key == "escape" and not command.section
                place = leaves, not command.pages, command.section
                sections.setdefault(place, []).append(command)
        return tuple(tuple(sections[at]) for at in sorted(sections, key=lambda at: at[:2]))

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
