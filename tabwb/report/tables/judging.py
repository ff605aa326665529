"""The table of what judging took."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.administer.judging.calls import Tally
from tabwb.tables.table import Column, Table, records_table


def judgements_table(rows: Sequence[tuple[int, str, Tally]]) -> Table:
    """Return one row for each judge and administration, with what judging took."""
    return records_table("judging", COLUMNS, rows)


COLUMNS = (
    (Column("id", "Id", "the administration's number", "integer"), lambda row: row[0]),
    (Column("rater", "Rater", "the judge's stored name"), lambda row: row[1]),
    (
        Column("judged", "Judged", "judgements recorded", "integer"),
        lambda row: row[2].judged,
    ),
    (
        Column("from_store", "From the store", "of these, without a request", "integer"),
        lambda row: row[2].from_store,
    ),
    (
        Column("unparsed", "Unparsed", "of these, with a reply that cannot be read", "integer"),
        lambda row: row[2].unparsed,
    ),
    (
        Column("requests", "Requests", "sent", "integer"),
        lambda row: row[2].requests,
    ),
    (
        Column("cost", "Cost", "missing where the price is unknown", "number", "US dollars"),
        lambda row: row[2].cost,
    ),
)
