"""Two models side by side: measures with a test of the difference, then what both said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tabwb.battery.model import Battery
from tabwb.report.render.difference import HEADINGS, Line, lines, notes
from tabwb.report.summaries.difference import Difference, SideBySide
from tabwb.workbench.shell.dialog import Dialog
from tabwb.workbench.shell.width_aware import Painted
from tabwb.workbench.shell.wording import ACCENT, QUIET

if TYPE_CHECKING:
    from tabwb.report.summaries.naming import NamedDifference

GAP = 3
MOST = 5
"""So many different responses to one item are shown of each side."""
LEAST = 20
"""Nothing is laid out narrower, also before there is any room."""
LEADING = (6, 6, 7, 7)
"""Columns of a measure: A, B, A - B, items."""
BELOW = (18, 8, 8)
"""Columns of an estimand: interval, p, corrected p."""


class Comparison(Painted):
    """Everything as lines; both columns scroll together because they are the same lines."""

    def __init__(self, found: Difference, battery: Battery) -> None:
        super().__init__(id="comparison")
        self._found, self._battery = found, battery
        self.everything = False

    def paint(self, width: int) -> Content:
        """All lines."""
        return Content("\n").join(self._lines(max(width, LEAST)))

    def _lines(self, width: int) -> Iterator[Content]:
        found = self._found
        for named in found.named:
            yield from _named(named, width, everything=self.everything)
        if found.named and not found.items:
            return
        for heading in (Line("measure", HEADINGS, True), Line("  for", HEADINGS, False)):
            yield from (Content.styled(row.plain, QUIET) for row in _measure(heading, width))
        yield Content.styled("─" * width, "$line")
        for line in lines(found, self._battery):
            yield from _measure(line, width)
        for note in notes(found):
            yield from _folded(note, width)
        yield Content("")
        shown = [item for item in found.items if self.everything or item.differs]
        alike = sum(not item.differs for item in found.items)
        what = "all" if self.everything else "those that differ"
        yield Content.styled(
            f"{len(found.items)} items, {alike} answered alike; shown: {what}", QUIET
        )
        column = (width - GAP) // 2
        for item in shown:
            yield Content("")
            yield from _item(item, column, width)


def _measure(line: Line, width: int) -> Iterator[Content]:
    """Yield one line of the table: of a measure the means, of an estimand interval and p."""
    sizes = LEADING if line.leads else BELOW
    cells = (*line.cells[:3], line.cells[6]) if line.leads else line.cells[3:6]
    room = max(width - sum(sizes), 12)
    first, *more = wrap(line.name, room - 1, subsequent_indent="  ") or [""]
    indent = "" if line.leads else "  "
    figures = "".join(cell.rjust(size) for cell, size in zip(cells, sizes, strict=True))
    told = Content((indent + first.strip()).ljust(room) + figures)
    at = room + sum(sizes[:2])
    yield told.stylize("bold", at, at + sizes[2]) if line.leads else told
    for rest in more:
        yield Content(rest)


def _named(named: NamedDifference, width: int, *, everything: bool) -> Iterator[Content]:
    """A subtest that was named aloud, as the command line prints it."""
    from io import StringIO

    from rich.console import Console

    from tabwb.report.render.difference import naming_difference_views

    text = StringIO()
    Console(file=text, width=width, color_system=None).print(
        *naming_difference_views(named, everything=everything), sep="\n"
    )
    for line in text.getvalue().splitlines():
        yield Content(line.rstrip())


def _folded(text: str, width: int) -> Iterator[Content]:
    for line in wrap(text, width):
        yield Content.styled(line, QUIET)


def _item(item: SideBySide, column: int, width: int) -> Iterator[Content]:
    expected = f"   expected: {item.expected}" if item.expected else ""
    yield Content.assemble((f"{item.item}  ", "bold"), (item.prompt + expected, QUIET)).truncate(
        width, ellipsis=True
    )
    sides = (
        _said(item.first, item.first_right, column),
        _said(item.second, item.second_right, column),
    )
    for one, other in zip_longest(*sides, fillvalue=""):
        yield Content.assemble(
            one.ljust(column), (" │ ", "$line" if item.differs else QUIET), other
        )


def _said(responses: tuple[str, ...], right: float | None, column: int) -> list[str]:
    if not responses:
        return ["not answered"]
    lines: list[str] = []
    mark = ""
    if right is not None:
        mark = "✓ " if right == 1 else "✗ " if right == 0 else f"{right:.0%} right  "
    for response in responses[:MOST]:
        text = mark + (" ".join(response.split()) or "(nothing)")
        lines += wrap(text, column, subsequent_indent="  " if len(responses) > 1 else "")
        mark = ""
    if len(responses) > MOST:
        lines.append(f"and {len(responses) - MOST} other")
    return lines


class ComparisonPane(VerticalScroll, can_focus=True):
    """Scrolls both sides together."""

    HELP = """\
# Two models

First the measures over the items that both have: mean of A, of B, the difference, how many items.
Below each, for **prompts like these** and for **these prompts**: the 95 % interval of the
difference, its p value, and p corrected for the other tests. Then what both said to each item, side
by side: **a** changes between those answered differently and all. Arrows scroll, **esc** closes.
"""


class CompareScreen(Dialog[None]):
    """Two models side by side."""

    CSS_PATH = "compare.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "everything", "All", show=False),
        Binding("enter,q,c", "dismiss(None)", "Close", show=False),
    ]

    def __init__(self, found: Difference, battery: Battery) -> None:
        super().__init__()
        self._found, self._battery = found, battery

    def compose(self) -> ComposeResult:
        """Who A and B are, then everything else."""
        with Vertical(classes="dialog"):
            for side, name in (("A", self._found.first), ("B", self._found.second)):
                yield Static(
                    Content.assemble((f"{side}  ", f"bold {ACCENT}"), (name, "bold")),
                    classes="side",
                )
            with ComparisonPane(id="comparison-pane"):
                yield Comparison(self._found, self._battery)
            yield Static(
                "a All or those that differ   arrows Scroll   esc Close", classes="dialog-note"
            )

    def action_everything(self) -> None:
        """All items, or only those that differ."""
        comparison = self.query_one(Comparison)
        comparison.everything = not comparison.everything
        comparison.refresh(layout=True)
