"""The cells of a table of ratings as numbers: each text once, millions of rows in seconds."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabwb.phonology.transcripts import named, table_text
from tabwb.records.errors import TabwbError
from tabwb.records.words import near

COLUMNS = ("response", "rater", "measure", "value")
OPTIONAL = ("speaker", "occasion", "flag")
_CHUNK = 1_000
"""Rows at a time; of more the garbage collector goes through all of them again and again."""
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Columns of a table.

    Attributes:
        path: of the file.
        text: of the file.
        codes: of each column and row, the place of the cell's text in ``texts``.
        texts: the different texts of each column, without blanks around them.
    """

    path: Path
    text: str
    codes: Mapping[str, Codes]
    texts: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.codes["value"])

    def line(self, row: int) -> str:
        """Return where a row is, ``FILE:LINE``."""
        return f"{self.path}:{next(islice(_rows(self.path, self.text), row + 1, None))[0]}"


class _Numbers(dict[str, int]):
    """Cell to the number of its text; a new text gets the next number."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._known: dict[str, int] = {}

    def __missing__(self, cell: str) -> int:
        text = cell.strip()
        number = self._known.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        self[cell] = number
        return number

    def of(self, cells: Sequence[str]) -> Codes:
        """Return the numbers of cells."""
        return np.fromiter(map(self.__getitem__, cells), np.int32, len(cells))


def read_cells(path: Path) -> Cells:
    """Read a table with the columns of ratings; cells are separated by commas, semicolons or
    tabs.
    """
    text = table_text(path)
    rows = _rows(path, text)
    line, head = next(rows, (1, []))
    columns = _columns(head, f"{path}:{line}")
    numbers = {name: _Numbers() for name in columns}
    parts: dict[str, list[Codes]] = {name: [np.empty(0, np.int32)] for name in columns}
    width = len(head)
    while chunk := list(islice(rows, _CHUNK)):
        cells = [row for _, row in chunk]
        if set(map(len, cells)) != {width}:
            cells = [_filled(row, width, f"{path}:{line}") for line, row in chunk]
        by_column = list(zip(*cells, strict=True))
        for name, place in columns.items():
            parts[name].append(numbers[name].of(by_column[place]))
    codes = {name: np.concatenate(part) for name, part in parts.items()}
    if not len(codes["value"]):
        raise TabwbError("there are no ratings, only headings", where=str(path))
    return Cells(path, text, codes, {name: numbers[name].texts for name in columns})


def _rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, with their lines."""
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    try:
        for row in reader:
            if row and (row[0].strip() or any(map(str.strip, row))):
                yield reader.line_num, row
    except csv.Error as error:
        where = f"{path}:{reader.line_num}"
        raise TabwbError(f"this is not valid CSV: {error}", where=where) from error


def _columns(head: Sequence[str], where: str) -> dict[str, int]:
    """Return the columns that are used, and their places."""
    names = [cell.strip() for cell in head]
    if twice := {name for name in names if name and names.count(name) > 1}:
        raise TabwbError(f"headings occur more than once: {named(sorted(twice))}", where=where)
    for name in COLUMNS:
        if name not in names:
            meant = near(name, names)
            raise TabwbError(
                f"there is no column '{name}'",
                where=where,
                allowed=f"{', '.join(COLUMNS)}; also {', '.join(OPTIONAL)}",
                hint=f"is '{meant}' meant?" if meant else "one row for each rating",
            )
    return {name: names.index(name) for name in (*COLUMNS, *OPTIONAL) if name in names}


def _filled(row: list[str], width: int, where: str) -> list[str]:
    """Return a row with the empty cells at its end that spreadsheets leave out."""
    if len(row) > width:
        raise TabwbError(
            f"{len(row)} cells, where there are {width} headings",
            where=where,
            hint="a cell that holds the separator needs quotes",
        )
    return row + [""] * (width - len(row))
