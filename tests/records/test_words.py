"""CSV that a spreadsheet shows and does not run."""

from __future__ import annotations

import csv
import io

import pytest

from tabwb.records.words import csv_text


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("http://a")', "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1"]
)
def test_no_cell_is_a_formula(text: str) -> None:
    (_, (cell,)) = csv.reader(io.StringIO(csv_text(["a"], [[text]]), newline=""))
    assert cell == f"'{text}"


@pytest.mark.parametrize("value", [-1.5, 3, "-1.5", "+2", "word", "", "a=b", True])
def test_numbers_and_other_texts_stay(value: object) -> None:
    (_, (cell,)) = csv.reader(io.StringIO(csv_text(["a"], [[value]]), newline=""))
    assert cell == str(value)
