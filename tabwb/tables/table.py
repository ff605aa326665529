"""A table: named columns of one length, with the meaning, the type and the unit of each.

Every figure of a result is computed once, in :mod:`tabwb.analysis`, and put into a table;
files, reports, figures and the Python interface take it from there. Values are numpy arrays. A
value that is missing is None for whoever reads it, and never 0 or nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from tabwb.records.columns import Column
from tabwb.records.declared_conditions import ColumnType
from tabwb.records.words import did_you_mean

Row = dict[str, Any]
"""Values by the names of columns."""


def columns_of(lines: str) -> tuple[Column, ...]:
    """Return columns that are declared as lines ``name type title | meaning``.

    ``number`` has two decimal places, ``estimate`` is a number with the columns of its interval.

    >>> [column.name for column in columns_of("kappa estimate Kappa | Cohen's")]
    ['kappa', 'kappa_low', 'kappa_high']
    """
    found: list[Column] = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        declared, _, meaning = line.partition(" | ")
        name, kind, title = declared.split(maxsplit=2)
        if kind in ("number", "estimate"):
            found.append(Column(name, title, meaning, "number", "", 2))
        else:
            types: dict[str, ColumnType] = {"integer": "integer", "boolean": "boolean",
                                            "texts": "list of text", "text": "text"}  # fmt: skip
            found.append(Column(name, title, meaning, types[kind]))
        if kind == "estimate":
            for which, words in (("low", f"lower end of the 95 % interval of {name}"),
                                 ("high", "upper end")):  # fmt: skip
                column = Column(f"{name}_{which}", which.capitalize(), words, "number", "", 2)
                found.append(column)
    return tuple(found)


def ended(name: str, value: float | None, ends: Sequence[float | None] | None) -> dict[str, Any]:
    """Return the cells of an estimate of :func:`columns_of`: its value, and its ends if both are.

    >>> ended("kappa", 0.5, (0.25, float("nan")))
    {'kappa': 0.5, 'kappa_low': None, 'kappa_high': None}
    """
    low, high = (None, None) if ends is None else (defined(end) for end in ends)
    if low is None or high is None:
        low = high = None
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def defined(value: float | None) -> float | None:
    """Return a number, or None for NaN."""
    return None if value is None or math.isnan(value) else float(value)


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The values of one column.

    Attributes:
        values: one for each row. Numbers: float64, nan where there is none. Integers: int64; truth
            values: bool. Texts and lists of texts: int32, places in ``labels``, -1 where there is
            none.
        labels: the different texts (or tuples of texts) of a coded column, else None.
        missing: of integers and truth values, True where there is none; None: nowhere.
    """

    values: NDArray[Any]
    labels: Sequence[str] | Sequence[tuple[str, ...]] | None = None
    missing: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """True where there is no value; shape (rows,)."""
        if self.labels is not None:
            return np.asarray(self.values < 0)
        if self.values.dtype == np.float64:
            return np.asarray(np.isnan(self.values))
        return np.zeros(len(self), bool) if self.missing is None else self.missing

    def take(self, rows: NDArray[Any]) -> Series:
        """Return the values of some rows: their numbers, or True for each that is wanted."""
        missing = None if self.missing is None else self.missing[rows]
        return Series(self.values[rows], self.labels, missing)

    def to_list(self) -> list[Any]:
        """Return the values as Python's own: numbers, truth values, texts, tuples, None."""
        absent = self.is_missing.tolist()
        labels = self.labels
        given = self.values.tolist()
        if labels is not None:
            return [
                None if gone else labels[value] for value, gone in zip(given, absent, strict=True)
            ]
        return [None if gone else value for value, gone in zip(given, absent, strict=True)]


def series_of(values: Iterable[Any], kind: ColumnType) -> Series:
    """Return values as a series.

    >>> series_of(["a", None, "a"], "text").to_list()
    ['a', None, 'a']
    >>> series_of([1, None], "integer").to_list()
    [1, None]
    """
    given = list(values)
    if kind in ("text", "list of text"):
        places: dict[Any, int] = {}
        codes = [
            -1 if value is None else places.setdefault(_label(value), len(places))
            for value in given
        ]
        return Series(np.array(codes, np.int32), list(places))
    if kind == "number":
        if not all(value is None or math.isfinite(value) for value in given):
            raise ValueError("a number is infinite or nan: a missing value is None")
        return Series(np.array([math.nan if value is None else value for value in given], float))
    missing = np.array([value is None for value in given], bool)
    filled: NDArray[Any] = np.array(
        [value or 0 for value in given], np.int64 if kind == "integer" else np.bool_
    )
    return Series(filled, None, missing if missing.any() else None)


def _label(value: Any) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else tuple(value)


class Table:
    """Columns of one length.

    Args:
        name: kebab-case (``results``), for files.
        columns: their declarations, in order.
        series: column name to values.
        notes: sentences that belong with the table: what is counted, cautions.

    Raises:
        ValueError: a column has no values, or columns differ in length.

    >>> table = table_of("example", [Column("n", "N", "responses", "integer")], [(3,), (4,)])
    >>> len(table), table["n"].to_list(), list(table.rows())
    (2, [3, 4], [(3,), (4,)])
    """

    def __init__(
        self,
        name: str,
        columns: Sequence[Column],
        series: Mapping[str, Series],
        notes: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.columns = tuple(columns)
        self.notes = tuple(notes)
        self._series = {
            column.name: series[column.name] for column in columns if column.name in series
        }
        if len(self._series) != len(self.columns):
            without = [column.name for column in columns if column.name not in series]
            raise ValueError(f"columns without values, or twice: {without or self.names}")
        lengths = {len(values) for values in self._series.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of different length: {sorted(lengths)}")
        self._length = lengths.pop() if lengths else 0

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, name: str) -> Series:
        return self._series[self._known(name)]

    def __iter__(self) -> NoReturn:
        raise TypeError("a table is not iterated itself: use rows(), to_dicts() or names")

    def __repr__(self) -> str:
        return f"<Table {self.name}: {len(self)} rows, {len(self.columns)} columns>"

    def __str__(self) -> str:
        from tabwb.tables.html import text_of

        return text_of(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """Return the declaration of a column."""
        return self.columns[self.names.index(self._known(name))]

    def _known(self, name: object) -> str:
        if not isinstance(name, str):
            raise TypeError(
                f"a column has a name, not {name!r:.40}; rows() and to_dicts() have rows"
            )
        if name not in self._series:
            near = did_you_mean(name, self.names)
            raise KeyError(f"there is no column '{name}'; there are {', '.join(self.names)}{near}")
        return name

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield each row as Python's own values, None where one is missing."""
        return zip(*(self._series[name].to_list() for name in self.names), strict=True)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each row as a dictionary by column name, None where a value is missing."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows()]

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``; see :func:`tabwb.tables.frames.pandas_frame`."""
        from tabwb.tables.frames import pandas_frame

        return pandas_frame(self)

    def to_polars(self) -> Any:
        """Return a ``polars.DataFrame``; see :func:`tabwb.tables.frames.polars_frame`."""
        from tabwb.tables.frames import polars_frame

        return polars_frame(self)

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``; see :func:`tabwb.tables.frames.arrow_table`."""
        from tabwb.tables.frames import arrow_table

        return arrow_table(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule for Arrow libraries; see :func:`tabwb.tables.frames.arrow_stream`."""
        from tabwb.tables.frames import arrow_stream

        return arrow_stream(self, requested_schema)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from tabwb.tables.html import html_of

        return html_of(self)

    def take(self, rows: NDArray[Any]) -> Table:
        """Return some rows: their numbers, or True for each that is wanted."""
        series = {name: values.take(rows) for name, values in self._series.items()}
        return Table(self.name, self.columns, series, self.notes)

    def select(self, names: str | Sequence[str]) -> Table:
        """Return some columns, in the order named; one name is one column."""
        chosen = [names] if isinstance(names, str) else names
        return Table(self.name, [self.column(name) for name in chosen], self._series, self.notes)

    def where(self, **values: object) -> Table:
        """Return the rows in which columns have these values; None: no value; a list: any of them.

        A value that no row has gives a table without rows, also where it is misspelt.

        Raises:
            KeyError: there is no such column; the message has a near match.

        >>> table = table_of("example", [Column("n", "N", "responses", "integer")], [(3,), (4,)])
        >>> table.where(n=4)["n"].to_list()
        [4]
        """
        wanted = np.ones(len(self), bool)
        for name, value in values.items():
            # Where a value is a tuple of texts, a tuple is one value.
            is_tuple = isinstance(value, tuple) and self.column(name).type != "list of text"
            many = is_tuple or isinstance(value, list | set | frozenset)
            several: Iterable[Any] = value if many else [value]  # type: ignore[assignment]
            wanted &= np.any([_equal(self[name], one) for one in several], axis=0)
        return self.take(wanted)


def _equal(series: Series, value: Any) -> NDArray[np.bool_]:
    if value is None:
        return series.is_missing
    if series.labels is not None:
        labels = list(series.labels)
        return np.asarray(series.values == (labels.index(value) if value in labels else -2))
    return np.asarray((series.values == value) & ~series.is_missing)


def table_of(
    name: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Any]],
    notes: Sequence[str] = (),
) -> Table:
    """Return a table from rows of Python's own values, None where one is missing.

    Args:
        name: kebab-case, for files.
        columns: their declarations, in order.
        rows: each with one value for each column.
        notes: sentences that belong with the table.

    >>> table = table_of("words", [Column("item", "Item", "its id")], [("rp1",), (None,)])
    >>> table.to_dicts()
    [{'item': 'rp1'}, {'item': None}]
    """
    given = list(rows)
    made = zip(*given, strict=True) if given else ([] for _ in columns)
    series = {
        column.name: series_of(values, column.type)
        for column, values in zip(columns, made, strict=True)
    }
    return Table(name, columns, series, notes)


def table_of_dicts(
    name: str,
    columns: Sequence[Column],
    rows: Iterable[Mapping[str, Any]],
    notes: Sequence[str] = (),
) -> Table:
    """Return a table from rows by column name; what a row does not name is missing."""
    given = [[row.get(column.name) for column in columns] for row in rows]
    return table_of(name, columns, given, notes)


class RecordColumn(NamedTuple):
    """A column, and the function that takes its value from a record."""

    column: Column
    value: Callable[[Any], Any]


def records_table(
    name: str,
    columns: Sequence[RecordColumn],
    records: Iterable[Any],
    notes: Sequence[str] = (),
) -> Table:
    """Return a table from records, and for each column a function that takes its value from one."""
    rows = [[one.value(record) for one in columns] for record in records]
    return table_of(name, [one.column for one in columns], rows, notes)
