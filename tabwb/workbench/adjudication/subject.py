"""The subject *adjudication*: verdicts of raters side by side, and the value that settles each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.page import PageSpec, Subject

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk

PAGE = (
    Command("administer.take-value", "Settle…", "Settle", "enter", 1,
            "Settle this answer with a value and a reason."),
    Command("administer.undo-settled", "Undo", "Undo", "u", 3,
            "Take back the last settled value of this session."),
    Command("administer.listen", "Listen", "Listen", "l", 2,
            "Play the response as raters heard it, or stop."),
    Command("administer.withdraw", "Take back…", "Take back", "x", 4,
            "Take back the settled value; the one before it counts again."),
    Command("administer.which-answers", "Open, settled or all", "Turn", "t", 5,
            "Show the answers that are open, those that are settled, or all."),
    Command("administer.which-question", "One question…", "Filter", "slash", 6,
            "Show the answers to one question, or to all."),
    Command("administer.leave-adjudication", "Back", "Back", "escape", 12,
            "Return to the page before."),
)  # fmt: skip


def _adjudicate(desk: Desk) -> None:
    """Show the disagreements of the rating set that is shown, or of one that is picked."""
    from tabwb.workbench.adjudication.page import adjudicate

    desk.start(adjudicate, desk, desk.current.rating_set())


COMMANDS = (
    Command("file.adjudicate", "Settle disagreements…", "Disputed", "d", 11,
            "The answers on which raters and judges of a rating set differ most.",
            where=("sets",), run=_adjudicate),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    pages=(
        PageSpec(
            "adjudication", "page:AdjudicationPage", "the disagreements of a rating set", PAGE
        ),
    ),
    needs="tabwb.administer.rating",
)
