"""The subject *home*: the first page, and the two demonstrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.workbench.shell.commands import ON_HOME, Command, on_page
from tabwb.workbench.shell.page import PageSpec, Subject

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk

NAMING = "naming-demo"
DEMONSTRATION = ("tab", "bundled")
"""Battery and model of the demonstration."""
ABOUT = """\
The small language model that comes with tabwb is asked for a few sentences, intact and with more \
and more of its numbers set to 0. On the dial you turn the amount. Then tabwb gives it the Text \
Aphasia Battery (20 items) twice, intact and lesioned, in the background: both are stored as \
administrations. Nothing is sent over a network."""


def _demonstration(desk: Desk) -> None:
    """Give TAB to the bundled model, intact and lesioned, after a word about what that does."""
    from tabwb.workbench.shell.dialogs import ChoiceScreen

    battery, model = DEMONSTRATION

    def chosen(choice: str | None) -> None:
        if choice == "begin" and any(one.id == "lesions" for one in desk.subjects):
            desk.request("lesions", "demonstrate", battery, model)
        elif choice == "begin":
            desk.request("trial", "new", battery=battery, model=model)

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
            "Turn the dial; give TAB to the bundled model, intact and lesioned.", where=ON_HOME,
            run=_demonstration, section="begin"),
    Command("file.naming-demonstration", "Demonstration: naming", "Naming demo", "D", 4,
            "A person names six pictures, into the microphone.", where=ON_HOME,
            run=lambda desk: desk.request("trial", "new", battery=NAMING), section="begin"),
)  # fmt: skip
SUBJECT = Subject(__name__, COMMANDS, pages=(PageSpec("home", "page:HomePage", "the first page"),))
