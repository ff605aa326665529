"""Two sides compared, as tables for the terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.battery.model import Battery
from tabwb.report.render.printing import print_view, table
from tabwb.report.summaries.difference import Difference, SideBySide
from tabwb.report.summaries.difference_rows import HEADINGS, lines, notes


def print_difference(found: Difference, battery: Battery, *, everything: bool = False) -> None:
    """Print the comparison; items that both sides answered alike only when asked for."""
    print_view(difference_view(found, battery, everything=everything))


def difference_view(
    found: Difference, battery: Battery, *, everything: bool = False
) -> RenderableType:
    """The comparison as one thing to print."""
    shown = [item for item in found.items if everything or item.differs]
    parts: list[RenderableType] = [
        Text.assemble(("A  ", "bold"), found.first),
        Text.assemble(("B  ", "bold"), found.second),
    ]
    if found.items or found.compared:
        parts.append(_measures(found, battery))
        parts += [Text(note, style="dim") for note in notes(found)]
        alike = len(found.items) - sum(item.differs for item in found.items)
        parts.append(Text(f"{len(found.items)} items, {alike} answered alike", style="dim"))
    if shown:
        parts.append(_items(shown))
    if found.named:
        from tabwb.report.render.naming_difference import naming_difference_views

        for named in found.named:
            parts += naming_difference_views(named, everything=everything)
    return Group(*parts)


def _measures(found: Difference, battery: Battery) -> Table:
    made = table(*HEADINGS, first="measure, and what it is for", fold=True)
    for line in lines(found, battery):
        cells = [Text(cell, style="bold" if line.leads else "") for cell in line.cells]
        made.add_row(Text(line.name, style="" if line.leads else "dim"), *cells)
    return made


def _items(items: list[SideBySide]) -> Table:
    made = Table(box=SIMPLE_HEAD, expand=True, pad_edge=False, padding=(0, 1, 0, 0))
    made.add_column("item", no_wrap=True)
    made.add_column("A", ratio=1, overflow="fold")
    made.add_column("B", ratio=1, overflow="fold")
    for item in items:
        made.add_row(
            item.item,
            _said(item.first, item.first_right),
            _said(item.second, item.second_right),
        )
        made.add_row("", "", "")
    return made


def _said(responses: tuple[str, ...], right: float | None) -> Text:
    if not responses:
        return Text("not answered", style="dim")
    text = Text()
    if right is not None:
        mark = "✓ " if right == 1 else "✗ " if right == 0 else f"{right:.0%} right "
        text.append(mark, style="bold")
    text.append(responses[0] or "(nothing)")
    if len(responses) > 1:
        text.append(f"  (and {len(responses) - 1} other)", style="dim")
    return text
