"""The subject *adjudication*: verdicts of raters side by side, and the value that settles each."""

from __future__ import annotations

from pathlib import Path

from tabwb.workbench.shell.commands import Command, PageSpec, Subject

HERE = ("adjudication",)
PAGE = (
    Command("administer.take-value", "Settle…", "Settle", "enter", HERE, 1,
            "Take a value for this answer, with a reason."),
    Command("administer.undo-settled", "Undo", "Undo", "u", HERE, 3,
            "Take back what was settled last here."),
    Command("administer.listen", "Listen", "Listen", "l", HERE, 2,
            "Play the response as raters heard it, or stop."),
    Command("administer.withdraw", "Take back…", "Take back", "x", HERE, 4,
            "Take back what settles this answer; what settled it before holds again."),
    Command("administer.which-answers", "Open, settled or all", "Turn", "t", HERE, 5,
            "Show the answers that are open, those that are settled, or all."),
    Command("administer.which-question", "One question…", "Filter", "slash", HERE, 6,
            "Show the answers to one question, or to all."),
    Command("administer.leave-adjudication", "Back", "Back", "escape", HERE, 12,
            "Return to the page before."),
)  # fmt: skip
COMMANDS = (
    Command("file.adjudicate", "Settle disagreements…", "Disputed", "d",
            ("sets",), 11,
            "What raters and judges of a rating set differ on most, verdicts side by side."),
)  # fmt: skip
SUBJECT = Subject(
    "adjudication",
    pages=(
        PageSpec(
            "adjudication",
            "tabwb.workbench.adjudication.page:AdjudicationPage",
            PAGE,
            title="the disagreements of a rating set",
        ),
    ),
    commands=COMMANDS,
    actions="tabwb.workbench.adjudication.actions:AdjudicationActions",
    controller="tabwb.workbench.adjudication.controller:AdjudicationController",
    styles=(Path(__file__).with_name("page.tcss"),),
)
