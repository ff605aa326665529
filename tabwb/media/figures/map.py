"""Targets by layers: a measure under a lesion of each, or its difference to the intact model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabwb.lesion.values import row_of
from tabwb.media.figures.estimates import Record, batteries_note, records
from tabwb.media.figures.kind import FigureKind, FigureOption, Options
from tabwb.media.figures.lettering import line_height, text_width, wrapped
from tabwb.media.figures.shades import HATCH, shade, shade_bar
from tabwb.media.figures.style import INK, MARGIN, NORMAL, RULE, SMALL, text_on
from tabwb.records.errors import UsageError
from tabwb.report.measures import ACCURACY, BURDEN, FEATURE_RATE, WORDS_MEAN
from tabwb.report.tables.dose_values import SURPRISAL, USABLE
from tabwb.report.tables.lesion_map import COLUMNS, NOTES, map_cells
from tabwb.tables.rounding import fixed
from tabwb.tables.table import Table, records_table

if TYPE_CHECKING:
    from tabwb.media.figures.page import Page
    from tabwb.report.summaries.groups import Grouped

TALL = 0.22
"""Inches: the height of a row."""
WIDEST = 0.6
"""Inches: the width of a column at most."""


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    found = list(map_cells(one for row in groups for one in row.group.members))
    measures = dict.fromkeys(one.cell.measure for one in found)
    measure = options["measure"] or (BURDEN.id if BURDEN.id in measures else ACCURACY.id)
    chosen = [
        one
        for one in found
        if one.cell.measure == measure
        and (measure != FEATURE_RATE.id or one.cell.feature == options["feature"])
        and one.cell.rater == (one.cell.rater if measure != USABLE else "")
    ]
    if not chosen:
        features = dict.fromkeys(
            one.cell.feature for one in found if one.cell.measure == FEATURE_RATE.id
        )
        raise UsageError(
            f"there is no map of '{measure}'"
            + (f" with the feature '{options['feature']}'" if measure == FEATURE_RATE.id else ""),
            allowed=", ".join(features if measure == FEATURE_RATE.id else measures),
        )
    shown = "less that of the intact model" if options["show"] == "difference" else "itself"
    notes = [
        f"Number: mean over seeds of the {measure.replace('_', ' ')} {shown}. Shade: its size "
        "without the sign, from 0 to the largest of the panel.",
        NOTES[0],
        batteries_note(groups),
    ]
    return records_table("map", COLUMNS, chosen, notes)


def _draw(table: Table, page: Page, options: Options) -> None:
    value = "difference" if options["show"] == "difference" else "value"
    panels: dict[tuple[str, ...], list[Record]] = {}
    for record in records(table):
        place = tuple(
            filter(None, (record[name] for name in ("part", "feature", "rater", "series")))
        )
        panels.setdefault(place, []).append(record)
    top = MARGIN
    for place, own in panels.items():
        top = _panel(page, top, ", ".join(place), own, value) + 0.12
    page.finish(page.caption(top))


def _panel(page: Page, top: float, title: str, own: Sequence[Record], value: str) -> float:
    """Draw one map; return where it ends."""
    from matplotlib.patches import Rectangle

    targets = list(dict.fromkeys(row_of(record["target"], record["unit"]) for record in own))
    layers = sorted({record["layer"] for record in own}, key=lambda layer: (layer < 0, layer))
    cells = {
        (row_of(record["target"], record["unit"]), record["layer"]): record[value] for record in own
    }
    top = page.lines(
        MARGIN, top, wrapped(title, NORMAL, page.width - 2 * MARGIN), NORMAL, color=INK
    )
    left = MARGIN + max(text_width(target, SMALL) for target in targets) + 0.12
    each = min((page.width - MARGIN - left) / len(layers), WIDEST)
    largest = max((abs(found) for found in cells.values() if found is not None), default=0.0)
    page.text(left, top + 0.13, "layer", SMALL)
    top += 0.13 + line_height(SMALL)
    for at, layer in enumerate(layers):
        page.text(left + (at + 0.5) * each, top - 0.02, str(layer), SMALL, ha="center")
    for at, target in enumerate(targets):
        page.text(
            left - 0.06, top + (at + 0.5) * TALL + 0.01, target, SMALL, ha="right",
            va="center_baseline",
        )  # fmt: skip
    axes = page.axes(left, top, each * len(layers), TALL * len(targets), label="map")
    axes.set_xlim(0, len(layers))
    axes.set_ylim(len(targets), 0)
    axes.set_xticks([])
    axes.set_yticks([])
    for row, target in enumerate(targets):
        for column, layer in enumerate(layers):
            found = cells.get((target, layer))
            colour = "white" if found is None or not largest else shade(abs(found) / largest)
            axes.add_patch(
                Rectangle(
                    (column, row), 1, 1, facecolor=colour, edgecolor=RULE, linewidth=0.4,
                    hatch=HATCH if found is None else None, gid="cell",
                )
            )  # fmt: skip
            if found is not None:
                words = fixed(found, 2, "+" if value == "difference" else "")
                if text_width(words, SMALL) <= each:
                    axes.text(
                        column + 0.5, row + 0.5, words, fontsize=SMALL, ha="center",
                        va="center_baseline", color=text_on(colour), gid="value",
                    )  # fmt: skip
    bottom = top + TALL * len(targets)
    undefined = None in cells.values() or len(cells) < len(targets) * len(layers)
    words = "size of the difference" if value == "difference" else "value"
    return shade_bar(
        page, left, bottom + 0.08, words, undefined=undefined, ends=("0", f"{largest:.2g}")
    )


FIGURE = FigureKind(
    id="map",
    title="Map of lesions",
    shows="A measure under lesions of one target in one layer each, or of single heads, or its "
    "difference to the intact model: targets or heads by layers.",
    data='Administrations under such lesions (layers = ["each"] in the grid of a sweep, of heads '
    'also heads = ["each"]), and of the intact model.',
    table=_table,
    draw=_draw,
    options=(
        FigureOption(
            "measure",
            "burden where a judge has judged, else accuracy",
            "",
            ("", BURDEN.id, ACCURACY.id, FEATURE_RATE.id, WORDS_MEAN.id, USABLE, SURPRISAL),
        ),
        FigureOption("feature", "the feature whose rate is drawn"),
        FigureOption(
            "show", "the difference to the intact model, or the value", "difference",
            ("difference", "value"),
        ),
    ),
    by="administration",
    judged=True,
)  # fmt: skip
