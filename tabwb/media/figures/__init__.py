"""Figures for papers, drawn by matplotlib, which is imported when one is made.

:func:`make` returns a figure of groups, :func:`save` writes it, :func:`figure_kind` declares it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tabwb.media.figures.kind import FigureKind
from tabwb.media.figures.saving import figure_bytes, format_of
from tabwb.media.figures.style import MM, width_mm
from tabwb.records.errors import UsageError
from tabwb.records.installation import need
from tabwb.records.words import RESEARCH_ONLY, near

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tabwb.media.figures.page import PaperFigure
    from tabwb.report.summaries.groups import Grouped
    from tabwb.tables.table import Table

FIGURES: Final = (
    *("burden", "accuracy", "profile", "differences", "dose", "agreement"),
    *("latency", "change", "confusion", "map"),
)
"""The ids of all figures; each is declared by ``FIGURE`` in the module of its name."""
MOST_GROUPS: Final = 200
"""Groups that a figure with a row for each can show."""


def figure_kind(name: str) -> FigureKind:
    """Return the declaration of a figure."""
    if name not in FIGURES:
        meant = near(name, FIGURES)
        raise UsageError(
            f"there is no figure '{name}'",
            allowed=", ".join(FIGURES),
            hint=f"did you mean '{meant}'?" if meant else "tabwb figure --list",
        )
    module = import_module(f"tabwb.media.figures.{name.replace('-', '_')}")
    kind: FigureKind = module.FIGURE
    return kind


def figure_table(name: str, groups: Sequence[Grouped], **options: str) -> Table:
    """Return the numbers that a figure draws."""
    from tabwb.media.figures.naming import without_paths

    kind = figure_kind(name)
    chosen = kind.checked(options)
    if not groups:
        raise UsageError(
            "there are no administrations to draw", hint="tabwb run BATTERY --model SPEC"
        )
    if len(groups) > MOST_GROUPS and kind.by != "administration":
        raise UsageError(
            f"{len(groups)} groups are more than a figure can show",
            allowed=f"{MOST_GROUPS} or fewer",
            hint="choose some with --where or --limit, or group by fewer keys",
        )
    return without_paths(kind.table(groups, chosen), groups)


def make(
    name: str,
    groups: Sequence[Grouped],
    *,
    width: str | float = "single",
    caption: bool = True,
    footer: bool = False,
    command: str = "",
    **options: str,
) -> PaperFigure:
    """Return a figure of groups."""
    from tabwb.media.figures.naming import spec_names
    from tabwb.report.file_names import named

    need("matplotlib", "a figure", "figures")
    width_mm(width)
    table = figure_table(name, groups, **options)
    uids = (member.administration.uid for group in groups for member in group.group.members)
    return drawn(
        name,
        table,
        width=width,
        caption=caption,
        footer=footer,
        command=named(command, spec_names(groups)),
        uids=tuple(dict.fromkeys(uids)),
        **options,
    )


def drawn(
    name: str,
    table: Table,
    *,
    width: str | float = "single",
    caption: bool = True,
    footer: bool = False,
    command: str = "",
    uids: tuple[str, ...] = (),
    **options: str,
) -> PaperFigure:
    """Return a figure of a table that its kind has made."""
    need("matplotlib", "a figure", "figures")
    from tabwb.media.figures.page import Facts, Page, fixed_style

    kind = figure_kind(name)
    chosen = kind.checked(options)
    with fixed_style():
        page = Page(width_mm(width) * MM)
        if caption:
            page.notes += table.notes
        if footer:
            page.notes.append(RESEARCH_ONLY)
        kind.draw(table, page, chosen)
        # Ticks are made now, in this style, and not when the figure is shown in another one.
        page.figure.draw_without_rendering()
    page.figure.facts = Facts(name, kind.title, table, table.notes, command, uids)
    return page.figure


def save(figure: Figure, path: str | Path, *, dpi: float = 300.0, force: bool = False) -> Path:
    """Write a figure and return its file: the same bytes each time, fonts embedded.

    Consent is not asked for: ``tabwb figure`` does that for people's data.
    """
    from tabwb.plugin_api.writing import write_bytes
    from tabwb.report.destination import check_destination

    format_id = format_of(Path(path))
    place = check_destination(Path(path), force=force)
    write_bytes(place, figure_bytes(figure, format_id, dpi=dpi))
    return place
