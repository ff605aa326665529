"""Two sides compared, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.battery.model import Battery
from tabwb.report.difference import Compared, Difference, SideBySide
from tabwb.report.printing import print_view, table
from tabwb.report.wording import chance, figure, signed


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
        _measures(found, battery),
    ]
    parts += [Text(f"{rater}: {why}", style="dim") for rater, why in found.left_out]
    alike = len(found.items) - sum(item.differs for item in found.items)
    parts.append(Text(f"{len(found.items)} items, {alike} answered alike", style="dim"))
    if shown:
        parts.append(_items(shown))
    parts.append(
        Text(
            "p: two-sided, signs flipped over items. From few items it says little, and many "
            "comparisons find something by chance.",
            style="dim",
        )
    )
    return Group(*parts)


def _measures(found: Difference, battery: Battery) -> Table:
    made = table("A", "B", "A - B", "p", "items", first="measure", fold=True)
    titles = {subtest.id: subtest.title for subtest in battery.subtests}
    for each in found.compared:
        made.add_row(*_row(each, titles.get(each.subtest, "")))
    return made


def _row(each: Compared, title: str) -> Iterator[str | Text]:
    if each.terms is None:
        yield f"{title}, share right"
    else:
        yield f"symptom burden, {each.rater}, {each.terms}"
    yield figure(each.first)
    yield figure(each.second)
    yield Text(signed(None if each.test is None else each.test.difference), style="bold")
    yield chance(None if each.test is None else each.test.p)
    yield str(each.items)


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
