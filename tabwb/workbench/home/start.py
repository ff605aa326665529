"""What can be begun from the first page: keys and words, each clickable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from textual.content import Content
from textual.events import Click
from textual.style import Style

from tabwb.workbench.shell.commands import Command, key_label
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk

FIRST = ("n", "d", "D", "i")
"""Keys of the commands that begin something."""
PLACES = ("o", "m", "p", "r", "b", "w", "l", "J")
"""Keys of the commands that open a place."""
GAP = 3


@dataclass(frozen=True, slots=True)
class StartHint:
    """One command; ``usable`` says whether it can be used now."""

    command: Command
    usable: bool

    @property
    def title(self) -> str:
        """The name of the command."""
        return self.command.title.rstrip("…")

    def shown(self, width: int = 0) -> Content:
        """Return key and title, ``width`` columns wide; without a width key and short word."""
        key = key_label(self.command.key)
        words = (width and self.title) or self.command.foot or self.title
        words = f"{words:<{max(width - len(key) - 1, 0)}}"
        styles = (f"bold {ACCENT}", "$foreground") if self.usable else (QUIET, QUIET)
        text = Content.assemble((key, styles[0]), " ", (words, styles[1]))
        if not self.usable:
            return text
        return text.stylize(Style.from_meta({"command": self.command.id}))


class Start(WidthAwareWidget):
    """The commands; in a tall window each has a line with what it does."""

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(id=id)
        self.desk = desk
        self._hints: tuple[tuple[StartHint, ...], ...] = ((), ())
        self._tall = self._new = False

    def show(
        self, first: Sequence[StartHint], places: Sequence[StartHint], *, tall: bool, new: bool
    ) -> None:
        """Show commands."""
        state = (tuple(first), tuple(places))
        if (state, tall, new) != (self._hints, self._tall, self._new):
            self._hints, self._tall, self._new = state, tall, new
            self.refresh(layout=True)

    def on_click(self, event: Click) -> None:
        """Run the command that was clicked."""
        if name := event.style.meta.get("command"):
            self.desk.perform(name)

    def paint(self, width: int) -> Content:
        """Return the commands."""
        if self._new:
            shown = self._hints if self._tall else self._hints[:1]
            column = _widest([hint for row in shown for hint in row])
            blocks = (Content("\n").join(self._in_full(row, width, column)) for row in shown)
            return Content("\n\n").join(blocks)
        if self._tall:
            return Content("\n").join(self._side_by_side(width))
        return Content("\n").join(line for row in self._hints for line in _flow(row, width))

    def _explained(self, hints: Sequence[StartHint], width: int, column: int) -> Iterator[Content]:
        """Yield a line for each command, with what it does after a column where all of it fits."""
        longest = max((len(hint.command.help) for hint in hints), default=0)
        for hint in hints:
            line = hint.shown(column)
            if column + GAP + longest <= width:
                line = Content.assemble(line, " " * GAP, (hint.command.help, QUIET))
            yield line

    def _in_full(self, hints: Sequence[StartHint], width: int, column: int) -> Iterator[Content]:
        """Yield what each command does too, below it where there is no room beside it."""
        for hint, line in zip(hints, self._explained(hints, width, column), strict=True):
            yield line
            if hint.command.help not in line.plain:
                yield from folded(hint.command.help, width, QUIET, indent=2)

    def _side_by_side(self, width: int) -> Iterator[Content]:
        every = [hint for row in self._hints for hint in row]
        half = (len(every) + 1) // 2
        room = (width - GAP) // 2
        left = list(self._explained(every[:half], room, _widest(every[:half])))
        right = list(self._explained(every[half:], room, _widest(every[half:])))
        for one, other in zip_longest(left, right, fillvalue=Content("")):
            yield Content.assemble(one, " " * (room + GAP - one.cell_length), other)


def _widest(hints: Sequence[StartHint]) -> int:
    return max((hint.shown(1).cell_length for hint in hints), default=0)


def _flow(hints: Sequence[StartHint], width: int) -> Iterator[Content]:
    line: list[Content] = []
    used = 0
    for hint in hints:
        shown = hint.shown()
        if line and used + GAP + shown.cell_length > width:
            yield Content(" " * GAP).join(line)
            line, used = [], 0
        used += shown.cell_length + (GAP if line else 0)
        line.append(shown)
    yield Content(" " * GAP).join(line)
