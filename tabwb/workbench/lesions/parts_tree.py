"""The parts of a model as a tree with sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from tabwb.lesion.declared import TARGETS, Part
from tabwb.records.words import plural
from tabwb.workbench.shell.wording import LESIONED

GUIDE = 2
"""Columns by which a branch is indented."""
NOTHING = "no model is loaded"
NAME = 20
"""Columns of names with their guides."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a line of the tree stands for.

    Attributes:
        target: of a lesion; empty: any.
        layer: its layer; None: all.
    """

    target: str = ""
    layer: int | None = None


class PartsTree(Tree[Chosen], inherit_bindings=False):
    """The parts; enter puts the one under the cursor into the fields."""

    HELP = """\
# Parts of the model

The parts of the model that can be lesioned, with their numbers of parameters.

- **enter** on a part makes it the target; on a layer, the lesion is limited to that layer; on the
  model it acts in all layers
- **left**, **right** close and open a branch
- **tab** goes to the fields, **space** gives the item
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor_up", show=False),
        Binding("down", "cursor_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
        Binding("enter", "select_cursor", show=False),
        Binding("left", "fold", show=False),
        Binding("right", "unfold", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(NOTHING, id="lab-parts")
        self.guide_depth = GUIDE
        self.auto_expand = self.root.allow_expand = False
        self._parts: Sequence[Part] = ()
        self._marked: frozenset[str] = frozenset()
        self._labelled: list[tuple[TreeNode[Chosen], frozenset[str], Text]] = []
        """Each line with the parts it stands for, and its words without a mark."""

    def show(self, model: str, parts: Sequence[Part]) -> None:
        """Show the parts of a model; the same parts stay as they are."""
        if parts == self._parts and str(self.root.label) == model:
            return
        self._parts, self._marked = parts, frozenset()
        self._labelled = []
        self.clear()
        self.root.set_label(Text(model if parts else NOTHING, no_wrap=True))
        self.root.data = Chosen() if parts else None
        self.root.allow_expand = bool(parts)
        layers: dict[int | None, TreeNode[Chosen]] = {None: self.root}
        for part in sorted(parts, key=lambda one: -1 if one.layer is None else one.layer):
            if part.layer not in layers:
                own = [one for one in parts if one.layer == part.layer]
                weights = sum(
                    one.parameters for one in own if TARGETS[one.target].unit == "weight"
                )  # fmt: skip
                label = _numbered(f"layer {part.layer}", weights, depth=2)
                chosen = Chosen("", part.layer)
                layers[part.layer] = self.root.add(label, chosen, expand=not part.layer)
                names = frozenset(one.name for one in own)
                self._labelled.append((layers[part.layer], names, label))
            label = _label(part)
            leaf = layers[part.layer].add_leaf(label, Chosen(part.target, part.layer))
            self._labelled.append((leaf, frozenset([part.name]), label))
        self.root.expand()
        self.cursor_line = 0

    def mark(self, names: frozenset[str]) -> None:
        """Mark the parts that a lesion changes, and their layers."""
        if names == self._marked:
            return
        for node, own, label in self._labelled:
            if bool(own & names) != bool(own & self._marked):
                node.set_label(_marked(label) if own & names else label)
        self._marked = names

    def action_fold(self) -> None:
        """Close the branch, or go to its head."""
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded and node.allow_expand:
            node.collapse()
        elif node.parent is not None:
            self.move_cursor(node.parent)

    def action_unfold(self) -> None:
        """Open the branch."""
        if self.cursor_node is not None and self.cursor_node.allow_expand:
            self.cursor_node.expand()


def _marked(label: Text) -> Text:
    return Text.assemble(label, ("  " + LESIONED, "bold"), no_wrap=True)


def _label(part: Part) -> Text:
    unit = TARGETS[part.target].unit
    units = "" if unit == "weight" else plural(part.units, unit)
    return _numbered(part.target, part.parameters, units, depth=1 if part.layer is None else 2)


def _numbered(name: str, number: int, units: str = "", *, depth: int) -> Text:
    """Return a line whose number ends in the same column at every depth of the tree."""
    room = NAME - depth * GUIDE
    words = f"{number:>11,}" + (f"  {units}" if units else "")
    return Text.assemble(f"{name:<{room}}", (words, "dim"), no_wrap=True)
