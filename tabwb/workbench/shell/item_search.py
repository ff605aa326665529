"""The items of all batteries, which the palette finds."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content

from tabwb.battery.loader import load_battery
from tabwb.records.errors import TabwbError
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.shell.wording import QUIET


class ItemEntry(NamedTuple):
    """One item of a battery, as it is found and shown."""

    battery: str
    subtest: str
    id: str
    prompt: str
    options: tuple[str, ...]
    expected: str | None


class ItemSearch(Controller):
    """Reads the items of all batteries, once.

    Attributes:
        items: those that were read; a tuple that is replaced, so any thread may read it.
    """

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self.items: tuple[ItemEntry, ...] = ()

    def read(self) -> None:
        """Read the items; a battery with a problem has none."""
        if self.items:
            return
        found = []
        for source in self.plugins.batteries():
            try:
                battery = load_battery(source.path)
            except TabwbError:
                continue  # the catalogue shows its problem
            found += [
                ItemEntry(
                    battery.id, subtest.title, item.id, item.prompt, item.options, item.expected
                )
                for subtest in battery.subtests
                for item in subtest.items
            ]
        self.items = tuple(found)


def item_text(item: ItemEntry) -> Content:
    """Return an item in lines: where it is, its prompt, its options, the right answer."""
    lines = [
        Content.styled(f"{item.battery}, {item.subtest}", QUIET),
        Content(""),
        Content(item.prompt),
    ]
    if item.options:
        lines += [Content(""), Content("   ".join(item.options))]
    if item.expected is not None:
        lines += [Content(""), Content.assemble(("expected  ", QUIET), item.expected)]
    return Content("\n").join(lines)
