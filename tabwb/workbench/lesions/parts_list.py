"""The parts of a model with sizes, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from tabwb.lesion.declared import TARGETS, Part
from tabwb.records.words import plural
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.wording import LESIONED, QUIET

NOTHING = "no model is loaded"


@dataclass(frozen=True, slots=True)
class Line:
    """The model, a layer or a part.

    Attributes:
        target: of a lesion; empty: any.
        layer: its layer; None: all.
        names: the parts for which it stands.
        parameters: their number; None: not told.
    """

    words: str
    depth: int = 0
    target: str = ""
    layer: int | None = None
    names: frozenset[str] = frozenset()
    parameters: int | None = None
    units: str = ""

    @property
    def folds(self) -> bool:
        """Whether parts are below it."""
        return not self.target and bool(self.names)

    @property
    def key(self) -> tuple[int, str, int | None]:
        """What tells it from others."""
        return self.depth, self.target, self.layer


def lines_of(model: str, parts: Sequence[Part]) -> Iterator[Line]:
    """Yield the model, parts of no layer, then each layer with its parts."""
    if not parts:
        yield Line(NOTHING)
        return
    yield Line(model, names=frozenset(part.name for part in parts))
    layers: dict[int | None, list[Part]] = {}
    for part in sorted(parts, key=lambda one: -1 if one.layer is None else one.layer):
        layers.setdefault(part.layer, []).append(part)
    for layer, own in layers.items():
        depth = 1 if layer is None else 2
        if layer is not None:
            weights = [one.parameters for one in own if TARGETS[one.target].unit == "weight"]
            names = frozenset(one.name for one in own)
            yield Line(f"layer {layer}", 1, "", layer, names, sum(weights))
        for one in own:
            unit = TARGETS[one.target].unit
            units = "" if unit == "weight" else plural(one.units, unit)
            only = frozenset([one.name])
            yield Line(one.target, depth, one.target, layer, only, one.parameters, units)


class PartsList(RowList):
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
        Binding("left", "fold", show=False),
        Binding("right", "unfold", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="lab-parts", opens=False)
        self._parts: Sequence[Part] = ()
        self._lines: tuple[Line, ...] = (Line(NOTHING),)
        self._open: set[tuple[int, str, int | None]] = set()
        self._marked: frozenset[str] = frozenset()

    def on_mount(self) -> None:
        """Say that there is no model yet."""
        self._fill()

    def show_parts(self, model: str, parts: Sequence[Part]) -> None:
        """Show the parts of a model; the same parts stay as they are."""
        lines = tuple(lines_of(model, parts))
        if lines == self._lines:
            return
        self._lines, self._marked = lines, frozenset()
        self._open = {line.key for line in lines if line.folds and not line.layer}
        self._fill(0)

    def mark(self, names: frozenset[str]) -> None:
        """Mark the parts that a lesion changes, and their layers."""
        if names != self._marked:
            self._marked = names
            self._fill()

    def _fill(self, current: int | None = None) -> None:
        rows = [line for line in self._lines if self._is_seen(line)]
        columns: Sequence[Column[Line]] = (
            Column("", self._titled, least=8),
            Column("", _parameters, right=True, style=QUIET),
            Column("", lambda line: line.units, rank=1, style=QUIET),
            Column("", self._mark_of, style="bold"),
        )
        self.show(columns, rows, current=current, ids=lambda line: line.key)

    def _is_seen(self, line: Line) -> bool:
        layer = (1, "", line.layer)
        return not line.depth or (
            (0, "", None) in self._open and (line.depth < 2 or layer in self._open)
        )

    def _titled(self, line: Line) -> Content:
        sign = ("▾ " if line.key in self._open else "▸ ") if line.folds else "  "
        return Content.assemble("  " * line.depth, (sign, QUIET), line.words)

    def _mark_of(self, line: Line) -> str:
        return LESIONED if line.depth and line.names & self._marked else ""

    @property
    def line(self) -> Line:
        """The line under the cursor."""
        row: Line = self.rows[max(self.current, 0)]
        return row

    def action_fold(self) -> None:
        """Close the branch, or go to its head."""
        line = self.line
        if line.key in self._open:
            self._open.discard(line.key)
            self._fill()
        elif line.depth:
            self.choose((1, "", line.layer) if line.depth == 2 else (0, "", None))

    def action_unfold(self) -> None:
        """Open the branch."""
        if self.line.folds:
            self._open.add(self.line.key)
            self._fill()


def _parameters(line: Line) -> str:
    return "" if line.parameters is None else f"{line.parameters:,}"
