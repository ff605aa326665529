"""The two demonstrations."""

from __future__ import annotations

from tabwb.workbench.engine.messages import NewWanted
from tabwb.workbench.home.controller import HomeController
from tabwb.workbench.shell.dialogs import ChoiceScreen
from tabwb.workbench.shell.page import Actions

NAMING = "naming-demo"
ABOUT = """\
tabwb gives the Text Aphasia Battery (20 items) to the small language model that comes with it, \
and scores its answers. Nothing is sent over a network.

space gives the next item, a gives all. The answers are stored as a new administration."""


class HomeActions(Actions):
    """Begins the demonstrations."""

    def demonstration(self) -> None:
        """Give TAB to the bundled model, after a word about what that does."""
        desk = self.desk

        def chosen(choice: str | None) -> None:
            if choice == "begin":
                desk.do(desk.controller(HomeController).demonstrate)

        if desk.saved is None:
            desk.notify("The store is not open yet.")
            return
        choices = (("begin", "Begin"), ("close", "Not now"))
        desk.app.push_screen(ChoiceScreen("Demonstration", ABOUT, choices), chosen)

    def naming_demonstration(self) -> None:
        """Open the dialog for the naming demonstration."""
        self.desk.tell(NewWanted(NAMING, "", ""))
