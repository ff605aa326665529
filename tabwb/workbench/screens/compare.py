"""Two models side by side: measures with a test of the difference, then what both said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tabwb.battery.model import Battery
from tabwb.report.difference import Compared, Difference, SideBySide
from tabwb.report.wording import chance, figure, signed
from tabwb.workbench.screens.dialog import Dialog
from tabwb.workbench.widgets.painted import Painted
from tabwb.workbench.wording import ACCENT, QUIET

GAP = 3
MOST = 5
LEAST = 20
"""Nothing is laid out narrower, also before there is any room."""
"""So many different responses to one item are shown of each side."""
CHANCE = (
    "p: two-sided, signs flipped over items. From few items it says little, and many comparisons "
    "find something by chance."
)
SIZES = (8, 8, 8, 8, 7)


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
        titles = {subtest.id: subtest.title for subtest in self._battery.subtests}
        room = max(width - sum(SIZES), 12)
        heads = ("A", "B", "A - B", "p", "items")
        yield Content.styled("measure".ljust(room) + _cells(heads), QUIET)
        yield Content.styled("─" * width, "$line")
        for each in found.compared:
            yield from _measure(each, titles.get(each.subtest, ""), room)
        for rater, why in found.left_out:
            yield from _folded(f"{rater}: {why}", width)
        yield from _folded(CHANCE, width)
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


def _cells(cells: tuple[str, ...]) -> str:
    return "".join(cell.rjust(size) for cell, size in zip(cells, SIZES, strict=True))


def _measure(each: Compared, title: str, room: int) -> Iterator[Content]:
    name = (
        f"{title}, share right"
        if each.terms is None
        else f"symptom burden, {each.rater}, {each.terms}"
    )
    test = each.test
    cells = (
        figure(each.first),
        figure(each.second),
        signed(None if test is None else test.difference),
        chance(None if test is None else test.p),
        str(each.items),
    )
    first, *more = wrap(name, room - 1, subsequent_indent="  ") or [""]
    at = room + SIZES[0] + SIZES[1]
    yield Content(first.ljust(room) + _cells(cells)).stylize("bold", at, at + SIZES[2])
    for line in more:
        yield Content(line)


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

First the measures over the items that both have: mean of A, of B, the difference, its p value
(permutation test over items), how many items. Then what both said to each item, side by side:
**a** changes between those answered differently and all. Arrows scroll, **esc** closes.
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
