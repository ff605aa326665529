"""Commands on the open session that every page on which a session is given has."""

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

DISCONTINUED = "discontinued: u takes that back, space shows the results"
DONE = "done: nothing is left to give; space shows the results"


def unchangeable(now: Situation) -> str:
    """Return why the item shown cannot be changed."""
    if now.answered:
        return f"item {now.item} is answered: u takes it back, v declares it void"
    if now.state in {TrialState.SKIPPED, TrialState.VOID}:
        return f"item {now.item} is {now.state.value} already: u takes that back"
    return f"item {now.item} cannot be changed now: space continues"


def skip(desk: Desk) -> None:
    """Skip the item, with a reason."""
    desk.ask_words("Skip this item", "Reason", desk.sessions.skip)


def undo(desk: Desk) -> None:
    """Take back what was done last."""
    desk.do(desk.sessions.undo)


def note(desk: Desk) -> None:
    """Write a note on the item shown now, also when others follow while it is written."""
    item = desk.work.item if desk.work is not None else None
    number = item.trial.plan.number if item is not None else None
    desk.ask_words("Note", "Note", partial(desk.sessions.note, number))


def pause(desk: Desk) -> None:
    """Pause after what is under way, or resume."""
    desk.sessions.auto = False
    desk.current.pausing()
    desk.do(desk.sessions.pause)


def void(desk: Desk) -> None:
    """Declare the item void, with a reason."""
    desk.ask_words("Declare this item void", "Reason", desk.sessions.void)


def discontinue(desk: Desk) -> None:
    """Discontinue the administration, with a reason."""
    desk.ask_words(
        "Discontinue the administration", "Reason", desk.sessions.discontinue,
        "Items not yet given will read: not administered. u takes it back.",
    )  # fmt: skip


def results(desk: Desk) -> None:
    """Show the results so far."""
    if desk.work is not None:
        desk.tell(ResultsWanted(desk.work.administration.id))


COMMANDS = (
    Command("administer.skip", "Skip…", "Skip", "s", (), 4,
            "Pass over this item, with a reason.", run=skip),
    Command("administer.undo", "Undo", "Undo", "u", (), 6,
            "Take back the last answer, skip, void or discontinuation. Nothing is erased.",
            run=undo),
    Command("administer.note", "Note…", "Note", "n", (), 7,
            "Write a note on this item.", run=note),
    Command("administer.pause", "Pause", "Pause", "p", (), 8,
            "Pause the administration after the current answer; space resumes it.", run=pause),
    Command("administer.void", "Void…", "Void", "v", (), 10,
            "Declare this item void, with a reason: its answer stays and does not count.",
            run=void),
    Command("administer.discontinue", "Discontinue…", "Discontinue", "d", (), 11,
            "End the administration early, with a reason.", run=discontinue),
    Command("administer.results", "Results so far", "Results", "g", (), 12,
            "Show the results as they stand.", run=results),
)  # fmt: skip


def session_commands(
    where: tuple[str, ...], check: Callable[[str, Situation], str | None]
) -> tuple[Command, ...]:
    """Return the commands for a page on which a session is given.

    Args:
        where: where their keys work.
        check: given a command's verb and the situation, returns why it is unavailable, or None.
    """
    return tuple(
        replace(command, where=where, unavailable=partial(check, command.method))
        for command in COMMANDS
    )
