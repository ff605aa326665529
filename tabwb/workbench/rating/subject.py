"""The subject *rating*: rating sets, and the screen on which a person rates blind."""

from __future__ import annotations

from tabwb.workbench.shell.commands import ON_HOME, Command
from tabwb.workbench.shell.page import PageSpec, Subject

PAGE = (
    Command("administer.start-rating", "Rate…", "Rate", "space", 1,
            "Choose who rates, and open the rating screen, which is blind to the source."),
    Command("administer.plan-ratings", "Plan a set…", "Plan", "p", 2,
            "Plan a rating set of stored responses: form, raters, samples, presentation."),
    Command("administer.change-set", "Links, close, export…", "Links", "L", 3,
            "Make or revoke links of the set, close it or open it again, export its ratings."),
    Command("administer.leave-sets", "Back", "Back", "escape", 12,
            "Return to the page before."),
)  # fmt: skip
COMMANDS = (
    Command("file.rating-sets", "Rating sets", "Rate", "r", 10,
            "Sets of responses that people rate, blind to the source.", where=ON_HOME,
            run=lambda desk: desk.go("sets")),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    pages=(PageSpec("sets", "page:SetsPage", "the rating sets", PAGE),),
    needs="tabwb.administer.rating",
)
