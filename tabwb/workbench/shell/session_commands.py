"""Commands on the open session, for every page on which a session is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tabwb.records.states import TrialState
from tabwb.workbench.engine.messages import ResultsWanted
from tabwb.workbench.shell.commands import Command, Situation

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk

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
        desk.tell(ResultsWanted(desk.work.administration.id))


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
