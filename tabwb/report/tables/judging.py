"""The table of what judging took."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.administer.judging.calls import Tally
from tabwb.report.tables.declared import number, text, whole
from tabwb.tables.table import Table, records_table


def judgements_table(rows: Sequence[tuple[int, str, Tally]]) -> Table:
    """Return one row for each judge and administration, with what judging took."""
    return records_table("judging", COLUMNS, rows)


COLUMNS = (
    whole("id", "Id", "the administration's number", lambda row: row[0]),
    text("rater", "Rater", "the judge's stored name", lambda row: row[1]),
    whole("judged", "Judged", "judgements recorded", lambda row: row[2].judged),
    whole("from_store", "From the store", "of these, without a request",
          lambda row: row[2].from_store),
    whole("unparsed", "Unparsed", "of these, with a reply that cannot be read",
          lambda row: row[2].unparsed),
    whole("requests", "Requests", "sent", lambda row: row[2].requests),
    number("cost", "Cost", "missing where the price is unknown", lambda row: row[2].cost,
           unit="US dollars", digits=None),
)  # fmt: skip
