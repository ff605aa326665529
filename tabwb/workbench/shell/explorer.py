"""The explorer: batteries, examinees, administrations."""

from __future__ import annotations

from typing import NamedTuple

from rich.text import Text
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration
from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.shell.wording import glyph_of

MOST = 60
"""The number of administrations listed; *Open* finds all of them."""


class Entry(NamedTuple):
    """What a node represents: ``battery``, ``examinee``, ``administration`` or ``more``."""

    kind: str
    name: str


class Explorer(Tree[Entry]):
    """The tree."""

    HELP = """\
# Explorer

What there is: batteries, examinees, administrations (the latest first).

- **enter** on a battery or an examinee begins a new administration with it
- **enter** on an administration opens it: one that is running or paused is offered for resumption,
  a finished one shows its results
- **space** folds a branch; arrows move; **n** begins a new administration, **o** finds one by name
"""

    class Opened(Message):
        """An entry was chosen."""

        def __init__(self, entry: Entry) -> None:
            self.entry = entry
            super().__init__()

    def __init__(self) -> None:
        super().__init__("tabwb", id="explorer", classes="enter-opens")
        self.show_root = False
        self.guide_depth = 2
        self._branches: dict[str, TreeNode[Entry]] = {}
        self._catalogue: Catalogue | None = None
        self._current: int | None = None

    def on_mount(self) -> None:
        """Add the three branches."""
        for title in ("Batteries", "Examinees", "Administrations"):
            self._branches[title] = self.root.add(Text(title, style="bold"), expand=True)

    def show(self, catalogue: Catalogue, current: int | None) -> None:
        """Show a catalogue; ``current`` is the number of the open administration."""
        if catalogue == self._catalogue and current == self._current:
            return
        self._catalogue, self._current = catalogue, current
        line = self.cursor_line
        self._fill("Batteries", [(one.id, Entry("battery", one.id)) for one in catalogue.batteries])
        self._fill(
            "Examinees", [(name, Entry("examinee", name)) for name in catalogue.examinees[:MOST]]
        )
        ones = catalogue.administrations
        rows = [
            (_label(one, current), Entry("administration", str(one.id)))
            for one in reversed(ones[-MOST:])
        ]
        if len(ones) > MOST:
            rows.append((f"… {len(ones) - MOST} older", Entry("more", "")))
        self._fill("Administrations", rows)
        self.cursor_line = min(line, self.last_line)

    def update_current(self, one: Administration) -> None:
        """Update the progress of the open administration without rebuilding the tree."""
        for node in self._branches["Administrations"].children:
            if node.data == Entry("administration", str(one.id)):
                label = Text(_label(one, one.id), no_wrap=True)
                if node.label != label:
                    node.set_label(label)
                return

    def _fill(self, title: str, rows: list[tuple[str, Entry]]) -> None:
        branch = self._branches[title]
        branch.remove_children()
        for label, entry in rows or [("none yet", Entry("none", ""))]:
            quiet = entry.kind in {"none", "more"}
            branch.add_leaf(Text(label, style="dim" if quiet else "", no_wrap=True), entry)

    def on_tree_node_selected(self, event: Tree.NodeSelected[Entry]) -> None:
        """Open what was chosen."""
        if event.node.data is not None:
            self.post_message(self.Opened(event.node.data))


def _label(one: Administration, current: int | None) -> str:
    progress = "" if one.status is AdministrationStatus.DONE else f" {one.answered}/{one.planned}"
    mark = "●" if one.id == current else glyph_of(one)
    return f"{mark} {one.id}  {one.status_word}{progress}"
