"""The subject *rating*: rating sets, and the screen on which a person rates blind."""

from __future__ import annotations

from pathlib import Path

from tabwb.workbench.shell.commands import Command, PageSpec, Subject

SETS = ("sets",)
PAGE = (
    Command("administer.start-rating", "Rate…", "Rate", "r", SETS, 1,
            "Choose who rates, and open the rating screen, which is blind to the source."),
    Command("administer.leave-sets", "Back", "Back", "escape", SETS, 12,
            "Return to the page before."),
)  # fmt: skip
COMMANDS = (
    Command("file.rating-sets", "Rating sets", "Rate", "r", ("home", "explorer"), 10,
            "Sets of responses that people rate, blind to the source."),
)  # fmt: skip
SUBJECT = Subject(
    "rating",
    pages=(
        PageSpec("sets", "tabwb.workbench.rating.page:SetsPage", PAGE, title="the rating sets"),
    ),
    commands=COMMANDS,
    actions="tabwb.workbench.rating.actions:RatingActions",
    controller="tabwb.workbench.rating.controller:RatingController",
    styles=(Path(__file__).with_name("sets.tcss"),),
)
