"""Tables of groups as a document has them: captions, notes, and the sentence about research."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabwb.media.studied import Studied, studied
from tabwb.records.words import RESEARCH_ONLY
from tabwb.report.summaries.groups import Grouped
from tabwb.report.tables.captioned import Captioned, Footnote, column_named
from tabwb.report.tables.compact import compact_table
from tabwb.tables.table import Table


def captioned_groups(
    rows: Sequence[Grouped], columns: Sequence[str] | None = None
) -> tuple[Captioned, ...]:
    """Return the compact table of groups for each battery, with the sentence about research."""
    tables = compact_of(studied(rows, study_ids=True))
    if columns is not None:
        tables = tuple(table.select(columns) for table in tables)
    return tables


def compact_of(about: Studied, *, disclaimers: bool = True) -> tuple[Captioned, ...]:
    """Return the compact table for each battery of what a report is about."""
    made = []
    for battery in about.batteries:
        found = compact_table(about.rows_of(battery), about.group_names)
        sentences = (RESEARCH_ONLY, battery.disclaimer) if disclaimers else ()
        below = (Footnote(sentence) for sentence in sentences if sentence)
        made.append(replace(found, notes=(*found.notes, *below)))
    return tuple(made)


def checked_columns(table: Table, names: Sequence[str] | None) -> Table:
    """Return a table with some of its columns, in this order."""
    if names is None:
        return table
    return table.select(list(dict.fromkeys(column_named(name, table.names) for name in names)))
