"""The subject *home*: the first page, and the two demonstrations."""

from __future__ import annotations

from pathlib import Path

from tabwb.workbench.shell.commands import Command, PageSpec, Subject

_WHERE = ("home", "explorer")
COMMANDS = (
    Command("file.demonstration", "Demonstration: TAB, bundled model", "Demo", "d", _WHERE, 3,
            "Give TAB to the bundled model: one minute, no network."),
    Command("file.naming-demonstration", "Demonstration: naming", "Naming demo", "D", _WHERE, 4,
            "A person names six pictures, into the microphone."),
)  # fmt: skip
SUBJECT = Subject(
    "home",
    pages=(PageSpec("home", "tabwb.workbench.home.page:HomePage", title="the first page"),),
    commands=COMMANDS,
    actions="tabwb.workbench.home.actions:HomeActions",
    controller="tabwb.workbench.home.controller:HomeController",
    styles=(Path(__file__).with_name("home.tcss"),),
)
