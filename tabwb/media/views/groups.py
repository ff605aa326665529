"""Groups of administrations side by side: TAB's table 2, with what belongs beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from tabwb.analysis.cautions import group_cautions
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.tables.captioned import Captioned
from tabwb.media.views.contrasts import pair_parts
from tabwb.media.views.results import SECTIONS, GroupNames, Groups, burden_tables, compact_table
from tabwb.media.views.typed import captioned_view

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Pair

LESS = ("these_prompts",)
"""Columns of burdens that are shown with ``--details`` alone."""
ALWAYS = ("Naming", "Statistics")
"""Sections that are shown without ``--details`` too."""


def groups_view(
    groups: Sequence[Grouped],
    pairs: Sequence[Pair] = (),
    *,
    details: bool = False,
    written: Callable[[Iterable[str]], str] = "\n".join,
) -> RenderableType:
    """Return, for each battery, its tables of groups and pairs of models."""
    if not groups:
        return Text("There are no administrations to show.")
    parts: list[RenderableType] = []
    for battery in dict.fromkeys(group.battery.content_hash for group in groups):
        chosen = [group for group in groups if group.battery.content_hash == battery]
        given = chosen[0].battery
        parts.append(Text(f"{given.title} {given.version}\n", style="bold"))
        tables = shown_tables(Groups(chosen, GroupNames(examinees=True)), details=details)
        parts += map(captioned_view, tables)
        if details and any(row.results.named for row in chosen):
            from tabwb.media.views.naming import naming_tables

            for row in chosen:
                parts.append(Text(row.label, style="bold reverse"))
                tables = chain.from_iterable(map(naming_tables, row.results.named))
                parts += map(captioned_view, tables)
        own = [pair for pair in pairs if pair.battery == f"{given.id} {given.version}"]
        parts += (view for _, view in pair_parts(own))
    if not details:
        hint = "--details shows features, subtests and errors of each.\n"
        parts.append(Text(hint, style="dim"))
    return Group(*parts, Text(written(group_cautions(groups)), style="dim"))


def shown_tables(groups: Groups, *, details: bool) -> Iterator[Captioned]:
    """Yield the tables of groups of one battery that a terminal shows."""
    for table in burden_tables(groups):
        yield table if details else table.select([one for one in table.columns if one not in LESS])
    yield compact_table(groups, burdens=False)
    for section in [*SECTIONS][1:] if details else ALWAYS:
        yield from SECTIONS[section](groups)
