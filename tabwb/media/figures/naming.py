"""Texts of a figure without the folders of this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tabwb.records.visible import visible
from tabwb.report.file_names import file_names, named
from tabwb.report.names import judge_names
from tabwb.report.summaries.groups import specs_of
from tabwb.tables.table import Series, Table

if TYPE_CHECKING:
    from tabwb.report.summaries.groups import Grouped


def without_paths(table: Table, groups: Sequence[Grouped]) -> Table:
    """Return a table with files named without their folders, and judges by their short names.

    The column ``rater`` keeps the specs of judges.
    """
    names = spec_names(groups)
    short = {**names, **_judges(groups)}
    series = {}
    for name in table.names:
        given = table[name]
        if given.labels is not None:
            own = names if name == "rater" else short
            labels = [
                _plain(label, own) if isinstance(label, str) else label for label in given.labels
            ]
            given = Series(given.values, labels, given.missing)  # type: ignore[arg-type]
        series[name] = given
    return Table(table.name, table.columns, series, [_plain(note, short) for note in table.notes])


def _judges(groups: Sequence[Grouped]) -> dict[str, str]:
    """Return the short names of judges, where they are others than their specs."""
    raters = (judge.terms.rater for group in groups for judge in group.summary.judges)
    return {rater: name for rater, name in judge_names(raters).items() if name != rater}


def _plain(text: str, names: Mapping[str, str]) -> str:
    """Return a text on one line, without folders; control characters are shown as escapes."""
    return visible(named(text, names)).replace("\n", " ").replace("\t", " ")


def spec_names(groups: Sequence[Grouped]) -> dict[str, str]:
    """Return what a figure calls the models, lesions and judges whose specs name a folder."""
    return file_names(specs_of(groups))
