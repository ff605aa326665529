"""Items from a CSV file: rows to the tables of a battery, problems with their lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.battery.files import read_text
from tabwb.battery.problems import BatteryProblems, Problem, located
from tabwb.battery.starting_points import subtest_table
from tabwb.records.problems import KeyPath
from tabwb.records.words import near

COLUMNS = ("subtest", "response", "prompt", "options", "expected", "tags", "id")
"""Columns of an items CSV; only ``prompt`` is needed.

``options`` and ``tags`` are separated by ``|``. Without ``subtest`` an item belongs to the subtest
``items``, without ``id`` it is numbered. Where no row of a subtest says its ``response``, it is
choice where there are options, yes-no where every expected answer is Yes or No in any case,
verbatim where every prompt contains its expected answer, free where there are other expected
answers, else connected-text.
"""
_YES_NO = {"yes": "Yes", "no": "No"}


@dataclass(frozen=True, slots=True)
class Row:
    """One item of the CSV: the line it begins on and its cells, outer white space removed."""

    line: int
    cells: dict[str, str]

    def cell(self, column: str) -> str:
        """Return a cell, empty where the CSV has no such column."""
        return self.cells.get(column, "")

    def parts(self, column: str) -> list[str]:
        """Return the parts of a cell that ``|`` separates."""
        return [part.strip() for part in self.cell(column).split("|") if part.strip()]


def read_items(path: Path, battery: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a battery with the items of a CSV file."""
    subtests: dict[str, list[Row]] = {}
    for row in csv_rows(path, COLUMNS, "prompt"):
        subtests.setdefault(row.cell("subtest") or "items", []).append(row)
    tables = []
    for subtest, rows in subtests.items():
        response = _response(str(path), subtest, rows)
        items = [_item(row, number, response) for number, row in enumerate(rows, start=1)]
        tables.append(subtest_table(subtest, response, items))
    content = {"battery": battery, "subtest": tables}
    check_rows(path, content, list(subtests.values()), COLUMNS)
    return content


def check_rows(
    path: Path, content: dict[str, Any], rows: Sequence[Sequence[Row]], columns: Sequence[str]
) -> None:
    """Check the tables made of the rows of a CSV; a problem is reported at its row and column."""
    from tabwb.battery.validation import validate

    def column(where: KeyPath) -> str:
        """Return the column that a key came from, or nothing."""
        names = [part for part in where if isinstance(part, str)]
        if names == ["subtest", "id"]:
            return "subtest"
        return next((part for part in names if part in columns and part != "subtest"), "")

    lines: dict[KeyPath, int] = {}
    for number, own in enumerate(rows):
        lines[("subtest", number)] = own[0].line
        lines |= {("subtest", number, "item", at): row.line for at, row in enumerate(own)}
    # Validation may change what it gets where a type is wrong; then nothing is returned.
    _, broken = validate(content)
    if broken:
        raise BatteryProblems(located(str(path), lines, broken, column))


def csv_rows(path: Path, columns: Sequence[str], needed: str) -> Iterator[Row]:
    """Yield the items of a CSV with these columns, one of which must be there."""
    name = str(path)
    text = read_text(path, f"a column '{needed}' and items")
    if isinstance(text, Problem):
        raise BatteryProblems([text])
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(
        io.StringIO(text.replace("\r\n", "\n"), newline=""), strict=True, delimiter=delimiter
    )
    header: list[str] = []
    has_header = False
    while True:
        line = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            break
        except csv.Error as error:
            problem = Problem(name, line, "", f"this is not valid CSV: {error}")
            raise BatteryProblems([problem]) from error
        if not any(cells):
            continue
        if not header:
            header = _header(name, line, cells, columns, needed)
        elif len(cells) > len(header):
            what = "more cells than columns (a cell that holds the separator needs quotes)"
            raise BatteryProblems(
                [Problem(name, line, "", what, str(len(cells)), f"up to {len(header)}")]
            )
        else:
            has_header = True
            # A spreadsheet leaves out the empty cells at the end of a row.
            cells += [""] * (len(header) - len(cells))
            yield Row(line, dict(zip(header, cells, strict=True)))
    if not has_header:
        raise BatteryProblems([Problem(name, line, "", "there are no items")])


def _header(
    name: str, line: int, header: list[str], columns: Sequence[str], needed: str
) -> list[str]:
    allowed = ", ".join(columns)
    problems = [
        Problem(
            name, line, "", "there is no such column", repr(column), allowed, near(column, columns)
        )
        for column in header
        if column not in columns
    ]
    problems += [
        Problem(name, line, "", "this column is given twice", repr(column))
        for column in dict.fromkeys(header)
        if header.count(column) > 1 and column in columns
    ]
    if needed not in header and not any(problem.suggestion == needed for problem in problems):
        problems.append(Problem(name, line, "", f"there is no column '{needed}'", "", allowed))
    if problems:
        raise BatteryProblems(problems)
    return header


def _response(name: str, subtest: str, rows: Sequence[Row]) -> str:
    named = [row for row in rows if row.cell("response")]
    for row in named:
        first, this = named[0].cells["response"], row.cells["response"]
        if this != first:
            problem = f"'{subtest}' has response '{first}' in line {named[0].line}"
            raise BatteryProblems(
                [Problem(name, row.line, "response", problem, repr(this), "one kind in a subtest")]
            )
    if named:
        return named[0].cells["response"]
    expected = [row.cells["expected"] for row in rows if row.cell("expected")]
    if any(row.cell("options") for row in rows):
        return "choice"
    if not expected:
        return "connected-text"
    if all(answer.casefold() in _YES_NO for answer in expected):
        return "yes-no"
    repeated = all(row.cell("expected") in row.cells["prompt"] for row in rows)
    return "verbatim" if repeated else "free"


def _item(row: Row, number: int, response: str) -> dict[str, Any]:
    item: dict[str, Any] = {"id": row.cell("id") or f"i{number}", "prompt": row.cells["prompt"]}
    for column in ("options", "tags"):
        if parts := row.parts(column):
            item[column] = parts
    if answer := row.cell("expected"):
        yes_no = _YES_NO if response == "yes-no" else {}
        item["expected"] = yes_no.get(answer.casefold(), answer)
    return item
