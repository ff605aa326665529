"""Base and instruct models of one family compared, as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tabwb.report.summaries.pairs import Gap, Pair
from tabwb.report.tables.captioned import Captioned, Footnote
from tabwb.tables.table import Column, table_of

COLUMNS = (
    Column("pair", "Base - instruct", "the names of the two models"),
    Column("measure", "Measure", "symptom burden, or accuracy under the policy exact"),
    Column("part", "Subtest or judge", "the subtest of an accuracy, the judge of a burden"),
    Column("items", "Items", "items for which both have a value", "integer"),
    Column("base", "Base", "mean over these items", "number", "", 2),
    Column("instruct", "Instruct", "mean over these items", "number", "", 2),
    Column("difference", "Difference", "base - instruct, mean over these items", "number", "", 2),
    Column(
        "difference_low", "Low", "lower end of its 95 % interval for prompts like these", "number",
        "", 2,
    ),
    Column(
        "difference_high", "High", "upper end of its 95 % interval for prompts like these",
        "number", "", 2,
    ),
)  # fmt: skip


def pairs_table(pairs: Sequence[Pair], name: Callable[[str], str] = str) -> Captioned | None:
    """Return the differences of pairs; None where no pair can be compared."""
    rows = [
        (
            f"{name(pair.base)} - {name(pair.instruct)}",
            gap.measure,
            gap.title or gap.rater,
            gap.sides.items,
            gap.sides.first,
            gap.sides.second,
            gap.difference,
            *_ends(gap),
        )
        for pair in pairs
        for gap in pair.gaps
    ]
    if not rows:
        return None
    notes = [
        Footnote(
            "Differences are means over items. Their intervals are paired t intervals over items, "
            "at least as wide as the draws alone make them."
        )
    ]
    notes += [
        Footnote(
            f"{name(pair.base)} - {name(pair.instruct)}: not comparable, {', '.join(names)} "
            f"{'differs' if len(names) == 1 else 'differ'} too."
        )
        for pair in pairs
        if (names := [name for name, _, _ in pair.unlike])
    ]
    caption = "Base and instruct models of one family and size, over the items that both have."
    return Captioned(table_of("base_instruct", COLUMNS, rows), caption, tuple(notes))


def _ends(gap: Gap) -> tuple[float | None, float | None]:
    interval = gap.sides.like.interval
    return (None, None) if interval is None else (interval.low, interval.high)
