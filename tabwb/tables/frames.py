"""Tables as data frames of pandas and polars. Neither needs pyarrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tabwb.records.errors import MissingPackage
from tabwb.records.system import is_installed

if TYPE_CHECKING:
    from tabwb.records.columns import Column
    from tabwb.records.declared_conditions import ColumnType
    from tabwb.tables.table import Series, Table

PANDAS: Mapping[ColumnType, str] = {"integer": "Int64", "boolean": "boolean"}
"""Types of pandas for whole numbers and truth values of which some are missing."""


def _check(package: str, what: str) -> None:
    if not is_installed(package):
        raise MissingPackage(f"a table as a data frame of {what}", package)


def pandas_frame(table: Table) -> Any:
    """Return the table as a ``pandas.DataFrame``; the notes are in its ``attrs``."""
    _check("pandas", "pandas")
    import pandas as pd

    columns = {column.name: _pandas(pd, column, table[column.name]) for column in table.columns}
    frame = pd.DataFrame(columns, index=pd.RangeIndex(len(table)))
    frame.attrs.update(table=table.name, notes=list(table.notes))
    return frame


def _pandas(pd: Any, column: Column, series: Series) -> Any:
    missing = series.is_missing
    if series.labels is not None and column.type == "list of text":
        lists = np.empty(len(series), object)
        lists[:] = [None if given is None else list(given) for given in series.to_list()]
        return lists
    if series.labels is not None:
        # Before version 3, texts are objects in pandas.
        kind = "str" if int(pd.__version__.split(".")[0]) >= 3 else object
        labels = pd.array(list(series.labels), dtype=kind)
        return labels.take(series.values, allow_fill=True)
    if missing.any() and column.type in PANDAS:
        values = pd.array(series.values, dtype=PANDAS[column.type])
        values[missing] = pd.NA
        return values
    return series.values.copy()


def polars_frame(table: Table) -> Any:
    """Return the table as a ``polars.DataFrame``."""
    _check("polars", "polars")
    import polars as pl

    return pl.DataFrame(
        [_polars(pl, column, table[column.name]).alias(column.name) for column in table.columns]
    )


def _polars(pl: Any, column: Column, series: Series) -> Any:
    missing = series.is_missing
    if series.labels is not None:
        kind = pl.List(pl.String) if column.type == "list of text" else pl.String
        labels = pl.Series([*series.labels, None], dtype=kind)
        # One label more, which is null, for rows without a value.
        return labels.gather(pl.Series(np.where(missing, len(series.labels), series.values)))
    if not missing.any():
        return pl.Series(series.values)
    values = pl.Series(series.values)
    absent = pl.repeat(None, len(series), dtype=values.dtype, eager=True)
    return values.zip_with(pl.Series(~missing), absent)
