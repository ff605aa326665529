"""Headings of tables that people are shown, and what is left out of them."""

from __future__ import annotations

from typing import Any

import pytest

from tabwb.cli.result_formats import print_tables
from tabwb.report.tables import contrasts, positions
from tabwb.report.tables.views import VIEWS
from tabwb.tables.table import Column, table_of


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("positions", positions.POSITIONS),
        ("foils", positions.FOILS),
        ("differences", contrasts.AGAINST),
    ],
)
def test_no_two_columns_have_one_heading(name: str, columns: Any) -> None:
    shown = [column.title for column, _ in columns if column.name in VIEWS[name].shown.split()]
    assert len(shown) > 5
    assert len(set(shown)) == len(shown)


def test_a_column_without_any_value_is_left_out_and_the_reason_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    columns = (
        Column("group", "Model", "the name"),
        Column("rate", "Rate", "a rate", "number"),
        Column("p", "p", "of no difference", "number"),
        Column("reason", "Reason", "why there is no test"),
    )
    table = table_of(
        "given", columns, [("a", 0.5, None, "one item"), ("b", None, None, "one item")]
    )
    print_tables([(table, "Rates")], "markdown", "group,rate,p")
    assert "p |" in capsys.readouterr().out
    print_tables([(table.select(["group", "rate", "p", "reason"]), "Rates")], "markdown", None)
    out = capsys.readouterr().out
    assert " p |" not in out and "Why there is no test: one item." in out
