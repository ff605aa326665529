"""Ledgers of papers: how printed values are read, computed again and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tabwb.analysis import ledger
from tabwb.analysis.ledger import (
    CANNOT,
    DIFFERS,
    REPRODUCED,
    STAND_IN,
    Compared,
    Done,
    LedgerProblems,
    compared,
    entries_table,
    found,
    load_ledger,
    printed,
)

PAPER = """
[paper]
id = "ours"
title = "A study"
citation = "Us (2026)"

[[data]]
id = "ratings"
title = "Ratings"
source = "our cupboard"

[[step]]
id = "agreement"
run = "agreement"
needs = ["ratings"]
values = { ratings = "{ratings}/ratings.csv" }

[[entry]]
at = "Table 1"
title = "Counts and shares"
columns = ["n", "share", "kappa"]
rows = [
  ["women", "2", "66.7 %", "0.25"], ["men", "1", "33.4 %", "not printed"], ["all", "3", "", ""],
]
step = "agreement"
found = { kappa = "by[of={row}].kappa" }
[[entry.check]]
column = "share"
formula = 'n / cell("Table 1", "all", "n")'
note = "a misprint"
[[entry.check]]
column = "n"
rows = ["all"]
formula = 'total("Table 1", "n", "*men")'
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "ours.toml"
    path.write_text(text, encoding="utf-8")
    return path


def rows_of(found: list[Compared]) -> dict[tuple[str, str], tuple[str, str]]:
    return {(one.row, one.column): (one.status, one.ours) for one in found}


@pytest.mark.parametrize("own", ["n", 'cell("Table 1", "{row}", "n")'])
def test_values_are_compared_as_they_are_printed(tmp_path: Path, own: str) -> None:
    file = load_ledger(written(tmp_path, PAPER.replace("formula = 'n ", f"formula = '{own} ")))
    document = {"by": [{"of": "men", "kappa": 0.5}, {"of": "women", "kappa": 0.2549}]}
    values = rows_of(compared(file, {"agreement": Done("tabwb agreement", document)}))
    assert values["women", "share"] == (REPRODUCED, "66.67 %")
    assert values["men", "share"] == (DIFFERS, "33.33 %")
    assert values["all", "n"] == (REPRODUCED, "3")
    assert values["women", "kappa"] == (REPRODUCED, "0.255")
    assert values["men", "kappa"] == (CANNOT, "0.5")
    assert ("all", "share") not in values


def test_without_data_nothing_is_reproduced(tmp_path: Path) -> None:
    file = load_ledger(written(tmp_path, PAPER))
    missing = compared(file, {"agreement": Done("tabwb agreement", reason="needs ratings")})
    assert rows_of(missing)["women", "kappa"] == (CANNOT, "")
    made = {"by": [{"of": "women", "kappa": 0.25}]}
    on_made = compared(file, {"agreement": Done("tabwb agreement", made, stand_in=True)})
    assert rows_of(on_made)["women", "kappa"][0] == STAND_IN
    (row,) = entries_table(on_made).to_dicts()
    assert (row["reproduced"], row["differs"], row["stand_in"], row["cannot"]) == (2, 1, 1, 3)


def test_places_in_documents() -> None:
    rows = [
        {"split": split, "severity": severity, "n": n}
        for split, severity, n in (("train", "mild", 2), ("train", "all", 5), ("test", "mild", 3))
    ]
    document = {"tables": [{"rows": rows}], "Y1.0": {"per": 0.5}}
    places = {
        "tables[0].rows[split={row},severity=mild].n": 3, "tables[0].rows[+severity=mild].n": 5,
        "tables[0].rows.#": 3, "tables[0].rows[severity=severe].n": None, "tables[1]": None,
        "tables[0].rows[+].n": 10, "tables.rows": None,
    }  # fmt: skip
    assert {place: found(document, place, "test") for place in places} == places
    assert found(document, "{row}.per", "Y1.0") == 0.5  # a name with a dot


@pytest.mark.parametrize(
    ("document", "place"),
    [(["a"], "[of=a]"), ([1], "[+of=a]"), (["a", "b"], "[+]"), ([1], f"[{'9' * 5000}]")],
)
def test_places_that_a_document_has_not(document: object, place: str) -> None:
    assert found(document, place, "") is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_a_computed_value_that_is_not_finite_cannot_be_compared(
    tmp_path: Path, value: float
) -> None:
    text = PAPER.replace('"2", "66.7 %", "0.25"', '"2", "66.7 %", "25"')
    file = load_ledger(written(tmp_path, text))
    document = {"by": [{"of": "women", "kappa": value}]}
    values = rows_of(compared(file, {"agreement": Done("tabwb agreement", document)}))
    assert values["women", "kappa"] == (CANNOT, "")


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("0.900", 0.8995, 0.9005), ("3,291", 3291, 3291), ("18 %", 0.175, 0.185), ("~30", 29.5, 30.5),
     ("-0.5", -0.55, -0.45), (".25", 0.245, 0.255)],
)  # fmt: skip
def test_the_last_digit_tells_the_tolerance(text: str, low: float, high: float) -> None:
    number = printed(text)
    assert number is not None
    assert number.of == pytest.approx((low, high))


def test_values_that_are_cut_lie_above_what_is_printed() -> None:
    number = printed("44.5 %", "cut")
    assert number is not None
    assert number.of.low <= 33 / 74 < number.of.high
    rounded = printed("44.5 %")
    assert rounded is not None
    assert not rounded.of.low <= 33 / 74 <= rounded.of.high


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ('title = "Ratings"', 'titel = "Ratings"', 9, "data[1].titel"),
        ('needs = ["ratings"]', 'needs = ["rating"]', 15, "step[1].needs[1]"),
        ('"1", "33.4 %"', '"33.4 %"', 23, "entry[1].rows[2]"),
        ("formula = 'n / ", "formula = 'm / ", 29, "entry[1].check[1].formula"),
        ("formula = 'n / ", "formula = '__import__(1) / ", 29, "entry[1].check[1].formula"),
        ("formula = 'n / ", "formula = 'n ** ", 29, "entry[1].check[1].formula"),
        ("formula = 'n / ", "formula = 'log / ", 29, "entry[1].check[1].formula"),
        ("formula = 'n / ", f"formula = '1{'0' * 400} / ", 29, "entry[1].check[1].formula"),
        ("formula = 'n / ", f"formula = '{'-' * 900}n / ", 29, "entry[1].check[1].formula"),
        ('cell("Table 1", ', 'cell("Table 2", ', 29, "entry[1].check[1].formula"),
        ('cell("Table 1", "all"', 'cell("Table 1"', 29, "entry[1].check[1].formula"),
        ('cell("Table 1", "all"', 'cell("Table 1", "{row}s"', 29, "entry[1].check[1].formula"),
        ('"n", "*men"', '"n", "*person"', 34, "entry[1].check[2].formula"),
        ('["men", "1"', '["women", "1"', 23, "entry[1].rows[2]"),
        ('step = "agreement"', 'step = "agreements"', 25, "entry[1].step"),
        ("found = { kappa", "found = { kapa", 26, "entry[1].found.kapa"),
    ],
)
def test_problems_are_located(tmp_path: Path, old: str, new: str, line: int, key: str) -> None:
    with pytest.raises(LedgerProblems) as caught:
        load_ledger(written(tmp_path, PAPER.replace(old, new, 1)))
    places = [(one.line, one.key) for one in caught.value.problems]
    assert (line, key) in places


def test_a_total_is_computed_once_for_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f'["s{n}", "{n}", "", ""],' for n in range(100))
    start, end = PAPER.index("rows = ["), PAPER.index('step = "agreement"\nfound')
    text = f"{PAPER[:start]}rows = [{rows}]\n{PAPER[end : PAPER.index('[[entry.check]]')]}"
    text += '[[entry.check]]\ncolumn = "n"\nformula = \'n + 0 * total("Table 1", "n")\'\n'
    text += '[[entry.check]]\ncolumn = "n"\nformula = \'total("Table 1", "share")\'\n'
    file, asked, of = load_ledger(written(tmp_path, text)), list[str](), ledger._total

    def total(entries: Any, at: str, column: str, rows: str) -> ledger.Interval | str:
        asked.append(column)
        return of(entries, at, column, rows)

    monkeypatch.setattr(ledger, "_total", total)
    found = compared(file, {"agreement": Done("tabwb agreement", reason="needs ratings")})
    assert asked == ["n", "share"]
    assert [one.status for one in found].count(REPRODUCED) == 100
    assert [one.status for one in found].count(CANNOT) == 100
