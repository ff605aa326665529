"""The subject *home*: the first page, and the two demonstrations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tabwb.workbench.shell.commands import ON_HOME, Command, on_page
from tabwb.workbench.shell.page import PageSpec, Subject

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk

NAMING = "naming-demo"
ABOUT = """\
tabwb gives the Text Aphasia Battery (20 items) to the small language model that comes with it, \
and scores its answers. Nothing is sent over a network.

space gives the next item, a gives all. The answers are stored as a new administration."""


def _demonstration(desk: Desk) -> None:
    """Give TAB to the bundled model, after a word about what that does."""
    from tabwb.workbench.home.page import demonstrate
    from tabwb.workbench.shell.dialogs import ChoiceScreen

    def chosen(choice: str | None) -> None:
        if choice == "begin":
            desk.do(partial(demonstrate, desk.engine, desk.sessions))

    if desk.saved is None:
        desk.notify("The store is not open yet.")
        return
    choices = (("begin", "Begin"), ("close", "Not now"))
    desk.app.push_screen(ChoiceScreen("Demonstration", ABOUT, choices), chosen)


COMMANDS = (
    *on_page(
        "home",
        Command("file.listen", "Listen to the marked session, or stop", "Listen", "l", 0,
                "Play the first recording of the marked administration, or stop.",
                owner="home-page", section="begin"),
    ),
    Command("file.demonstration", "Demonstration: TAB, bundled model", "Demo", "d", 3,
            "Give TAB to the bundled model: one minute, no network.", where=ON_HOME,
            run=_demonstration, section="begin"),
    Command("file.naming-demonstration", "Demonstration: naming", "Naming demo", "D", 4,
            "A person names six pictures, into the microphone.", where=ON_HOME,
            run=lambda desk: desk.request("trial", "new", battery=NAMING), section="begin"),
)  # fmt: skip
SUBJECT = Subject(__name__, COMMANDS, pages=(PageSpec("home", "page:HomePage", "the first page"),))
