"""Reading tables of transcripts: tab-separated text with a line of headings.

People edit these tables in spreadsheets: a byte order mark, CRLF, quotes around a cell and blank
lines are accepted; any other error is reported with its line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from tabwb.records.errors import TabwbError
from tabwb.records.files import read_file

MAX_BYTES: Final = 200_000_000
"""Larger files are refused; a million utterances have less."""

_NAMED: Final = 10

_CONTROL: Final = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_TRUE, _FALSE = ("true", "t", "1", "yes", "1.0"), ("false", "f", "0", "no", "0.0")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: its place ``FILE:LINE``, and column to trimmed value."""

    where: str
    cells: Mapping[str, str]

    def truth(self, column: str) -> bool | None:
        """Return a cell as true or false; None where it is empty."""
        value = self.cells[column].lower()
        if not value:
            return None
        if value in _TRUE or value in _FALSE:
            return value in _TRUE
        raise TabwbError(
            f"'{self.cells[column]}' in column '{column}' is neither true nor false",
            where=self.where,
            allowed="TRUE, FALSE, 1, 0, yes, no, or nothing",
        )

    def number(self, column: str) -> float | None:
        """Return a cell as a number; None where it is empty."""
        value = self.cells[column]
        if not value:
            return None
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not abs(number) < float("inf"):
            raise TabwbError(f"'{value}' in column '{column}' is not a number", where=self.where)
        return number


@dataclass(frozen=True, slots=True)
class Table:
    """A tab-separated file with a line of headings."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def __contains__(self, column: str) -> bool:
        return column in self.columns

    def need(self, *columns: str) -> None:
        """Check that columns exist."""
        for column in columns:
            if column not in self.columns:
                near = get_close_matches(column, self.columns, n=1)
                raise TabwbError(
                    f"there is no column '{column}'",
                    where=f"{self.name}:1",
                    allowed="the columns are " + ", ".join(f"'{name}'" for name in self.columns),
                    hint=f"is '{near[0]}' meant? Headings are compared exactly" if near else None,
                )

    def by_id(self, column: str = "utterance_id") -> dict[str, Row]:
        """Return the rows by their id."""
        self.need(column)
        rows: dict[str, Row] = {}
        twice: Counter[str] = Counter()
        for row in self.rows:
            name = row.cells[column]
            if not name:
                raise TabwbError(f"'{column}' is empty", where=row.where)
            if name in rows:
                twice[name] += 1
            rows.setdefault(name, row)
        if twice:
            first = rows[next(iter(twice))].where
            raise TabwbError(
                f"ids occur more than once: {named(twice)}",
                where=self.name,
                hint=f"the first of them is already in {first}; ids must differ",
            )
        return rows


def named(names: Iterable[str]) -> str:
    """Return the names in a message; after ten only how many more there are.

    >>> named(["a", "b"])
    'a, b'
    """
    every = list(names)
    more = len(every) - _NAMED
    return ", ".join(every[:_NAMED]) + (f", and {more} more" if more > 0 else "")


def read_table(path: Path, left_out: list[TabwbError] | None = None) -> Table:
    """Read a tab-separated file; ``-`` is standard input.

    A row with a control character, or with too few or too many cells, is refused; with
    ``left_out`` it goes there instead.
    """
    name = str(path)
    text = _text(path)
    lines = list(_lines(text))
    if left_out is None or (lines and _CONTROL.search(lines[0][1])):
        _check_characters(text, name)
    if not lines:
        raise TabwbError("the file is empty", where=name, allowed="a line of headings, then rows")
    (first, head), *others = lines
    columns = tuple(_cells(head))
    _check_columns(columns, f"{name}:{first}")
    rows = []
    for number, line in others:
        where = f"{name}:{number}"
        try:
            _check_characters(line, name, number)
            rows.append(Row(where, _row(columns, line, where)))
        except TabwbError as error:
            if left_out is None:
                raise
            left_out.append(error)
    return Table(name, columns, tuple(rows))


def _row(columns: tuple[str, ...], line: str, where: str) -> dict[str, str]:
    cells = _cells(line)
    if len(cells) != len(columns):
        raise TabwbError(
            f"{len(cells)} columns, where the headings have {len(columns)}",
            where=where,
            hint="columns are separated by one tab; an empty last one needs its tab too",
        )
    return dict(zip(columns, cells, strict=True))


def _check_columns(columns: tuple[str, ...], where: str) -> None:
    if len(columns) == 1 and ("," in columns[0] or ";" in columns[0]):
        raise TabwbError(
            "the headings hold no tab, but commas or semicolons",
            where=where,
            hint="columns are separated by tabs; export the sheet as TSV",
        )
    twice = [column for column, times in Counter(columns).items() if times > 1 and column]
    if twice:
        raise TabwbError(f"headings occur more than once: {named(twice)}", where=where)


def table_text(path: Path) -> str:
    """Return the text of a table as it is in the file; ``-`` is standard input."""
    text = _text(path)
    _check_characters(text, str(path))
    return text


def _text(path: Path) -> str:
    name = str(path)
    if path.is_dir():
        raise TabwbError("this is a folder", where=name, allowed="a table")
    try:
        # A pipe has no size, a device no end.
        content = read_file(path, MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise TabwbError(f"the table cannot be read: {reason}", where=name) from error
    if len(content) > MAX_BYTES:
        raise TabwbError(
            "the file is too large for a table", where=name, allowed=f"up to {MAX_BYTES:,} bytes"
        )
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TabwbError("the file is UTF-16", where=name, hint="save it as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TabwbError(
            f"byte 0x{content[error.start]:02x} is not valid UTF-8",
            where=f"{name}:{line}",
            hint="save the file as UTF-8",
        ) from error


def _check_characters(text: str, name: str, first: int = 1) -> None:
    """Refuse control characters: in a terminal they would be obeyed, not shown."""
    control = _CONTROL.search(text)
    if control is not None:
        line = text.count("\n", 0, control.start()) + first
        raise TabwbError(
            f"the control character U+{ord(control[0]):04X} is not allowed", where=f"{name}:{line}"
        )


def _lines(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines(): it breaks at characters that may occur in a cell.
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(whole.split("\n"), 1):
        if line.strip():
            yield number, line


def _cells(line: str) -> list[str]:
    return [_unquoted(cell.strip()) for cell in line.split("\t")]


def _unquoted(cell: str) -> str:
    """Return a cell without the enclosing quotes of spreadsheets."""
    if len(cell) >= 2 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"').strip()
    return cell
