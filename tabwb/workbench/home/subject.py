"""The subject *home*: the first page, and the two demonstrations."""

from __future__ import annotations

from tabwb.workbench.shell.commands import ON_HOME, Command
from tabwb.workbench.shell.page import PageSpec, Subject

COMMANDS = (
    Command("file.demonstration", "Demonstration: TAB, bundled model", "Demo", "d", 3,
            "Give TAB to the bundled model: one minute, no network.", where=ON_HOME,
            section="begin"),
    Command("file.naming-demonstration", "Demonstration: naming", "Naming demo", "D", 4,
            "A person names six pictures, into the microphone.", where=ON_HOME, section="begin"),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    pages=(PageSpec("home", "page:HomePage", "the first page"),),
    actions="actions:HomeActions",
    controller="controller:HomeController",
)
