"""The filter of the results by model, and how many lines each of its panes gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.workbench.comparison.heat import AROUND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tabwb.analysis.grouping import Grouped
    from tabwb.workbench.comparison.page import ModelsPage

LEAST_LOWER = 8
"""The least lines of a pane below the table, with its frame."""
TABLE_PART = 45
"""Most per cent of the lines for the table where others are below it."""


FILTER_HELP = """\
# Filter

Only models whose names have every word are shown. **enter** goes back to the table, **esc** shows
all again.
"""


def share_room(page: ModelsPage, rows: Sequence[Grouped]) -> None:
    """Give each pane its lines: the table what it needs, then features, and plots the rest."""
    n = len(rows)
    table, features, named, plot, detail = (
        page.query_one(f"#{name}-pane")
        for name in ("models", "features", "named-items", "plot", "detail")
    )
    named.display = False
    frame = 2 if table.styles.border_bottom[0] else 1
    lines = max(page.query_one("#models-body").size.height, 2 * LEAST_LOWER)
    table.display = not page.plotting
    if not n or page.plotting:
        features.display, plot.display = False, bool(n)
        detail.display = bool(n) and page.detail_shown and page.beside
        table.styles.height = plot.styles.height = "1fr"
        return
    rated = page.basis is not None and page.basis.terms is not None
    wanted = min(n + 1 + frame, max(lines * TABLE_PART // 100, 4))
    left = lines - wanted
    if not page.beside:
        plot.display = False
        table.styles.height, detail.styles.height, features.styles.height = wanted, left, "1fr"
        features.display = page.shown_below == "features" and rated
        detail.display = not features.display
        return
    detail.display = page.detail_shown
    detail.styles.height = plot.styles.height = "1fr"
    features.display = left >= LEAST_LOWER and rated
    strip = n + AROUND + frame if features.display else 0
    items = {item.item for row in rows for part in row.results.named for item in part.items}
    if items and not rated and left >= LEAST_LOWER:
        named.display, strip = True, len(items) + 1 + frame
    plot.display = left - strip >= LEAST_LOWER or left >= 3 * LEAST_LOWER
    lower = features.display or named.display
    table.styles.height = wanted if lower or plot.display else "1fr"
    for pane in (features, named):
        pane.styles.height = min(strip, left // 2) if plot.display else "1fr"
