"""Hours, segments and speakers of responses by split and stratum (the paper's tables 1 and 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tabwb.records.columns import Column
from tabwb.tables.table import Table, table_of
from tabwb_psst.groups import Key, Stratum, order_of

ALL = "all"
QUANTITIES = ("hours", "segments", "speakers")


class Amount(NamedTuple):
    """One response, and the strata that it is in."""

    speaker: str
    split: str
    seconds: float
    strata: tuple[Stratum, ...]


def amounts_table(
    name: str,
    amounts: Iterable[Amount],
    splits: Sequence[str],
    keys: Sequence[Key],
    notes: Sequence[str] = (),
) -> Table:
    """Return how much each split has, then how much of it each stratum has.

    The shares of a row of all strata are those of the corpus, as in table 1; the shares of a
    stratum are those of its split, as in table 7. A speaker counts in each stratum in which there
    is a response. A split without responses has no shares.

    Args:
        name: of the table.
        amounts: one for each response.
        splits: in their order.
        keys: of the strata; none: rows of whole splits alone.
        notes: of the table.
    """
    given = list(amounts)
    strata = sorted({stratum for one in given for stratum in one.strata}, key=order_of(keys))
    whole = _sums(given)
    rows: list[tuple[object, ...]] = []
    for split in splits:
        own = [one for one in given if one.split == split]
        total = _sums(own)
        rows.append((split, *(ALL for _ in keys), *_cells(total, whole)))
        for stratum in strata if keys else ():
            part = _sums([one for one in own if stratum in one.strata])
            rows.append((split, *stratum, *_cells(part, total)))
    columns = [
        Column("split", "Split", "the part of the corpus"),
        *(key.column("the stratum, or all") for key in keys),
    ]
    for what in QUANTITIES:
        column = Column(what, what.capitalize(), f"{what} of the row", "integer")
        if what == "hours":
            column = Column(what, "Hours", "hours of sound of the row", "number", "hours", 2)
        share = f"the share of the {what} of the split; of a row of all, that of the corpus"
        columns += [
            column, Column(f"{what}_share", "Share", share, "number", "share", 1, percent=True)
        ]  # fmt: skip
    return table_of(name, columns, rows, notes)


def _sums(amounts: Sequence[Amount]) -> tuple[float, int, int]:
    seconds = sum(one.seconds for one in amounts)
    return seconds / 3600, len(amounts), len({one.speaker for one in amounts})


def _cells(part: Sequence[float], whole: Sequence[float]) -> list[float | None]:
    shares = [own / all_ if all_ else None for own, all_ in zip(part, whole, strict=True)]
    return [cell for pair in zip(part, shares, strict=True) for cell in pair]
