"""Export formats: JSON lines (one per counted response), CSV and Parquet (one row per rating).

All are written whole or not at all, together with a text file that explains the figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.host.writing import TextFile
from tabwb.plugin_api import write_pieces
from tabwb.plugin_api.components import Exporter
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.ratings import Once
from tabwb.records.specs import Spec
from tabwb.records.words import CSV_CELLS, CSV_END, CsvLines
from tabwb_builtin.columns import (
    ANSWERED,
    COLUMNS,
    GIVEN,
    RATED,
    TABLE,
    Column,
    Notices,
    Part,
    Rated,
    answered,
    rated,
)
from tabwb_builtin.lines import JsonLinesExporter

if TYPE_CHECKING:
    from pydantic import BaseModel


class CsvExporter(Exporter):
    """Long, tidy: one row per rating, with every condition in its own columns."""

    suffix = ".csv"
    mediatype = "text/csv"
    columns = TABLE

    def export_stream(self, documents: Iterable[Part], out: Path) -> None:
        """Write every rating of the counted responses of documents, each as it is read."""
        notices = Notices(CSV_NOTE, CSV_CELLS, DICTIONARY)

        def write(file: TextFile) -> None:
            file.write(CsvLines().line(COLUMNS) + CSV_END)
            for lines in _csv_lines(notices.heard(documents)):
                file.write(lines)

        write_pieces(out, write, notices.notes)


CSV_NOTE = (
    "One row per rating of a counted response, RFC 4180, UTF-8; empty cells have no value. A "
    "response without ratings has one row. Rows with practice = true belong into no score."
)
DICTIONARY = "Columns:\n" + "\n".join(f"- {column.told}" for column in TABLE)
"""The content of each column, for the notes of a table."""


def _csv_lines(documents: Iterable[Part]) -> Iterator[str]:
    """Yield the lines of each response: they differ in the columns of the rating only."""
    made = CsvLines()
    texts = Once(partial(json.dumps, ensure_ascii=False))

    def cells(columns: Sequence[Column], part: object) -> str:
        return made.line([_cell(column.value(part), texts) for column in columns])

    def ends(given: Iterable[Rated]) -> list[str]:
        return [f",{cells(RATED, one)}{CSV_END}" for one in given]

    shared = Once(lambda ratings: ends(Rated(rating, {}) for rating in ratings))
    for document in documents:
        given = cells(GIVEN, document["administration"])
        for trial in answered(document):
            begin = f"{given},{cells(ANSWERED, trial)}"
            judged = trial.get("judgements") or not trial["ratings"]
            yield begin + begin.join(ends(rated(trial)) if judged else shared.of(trial["ratings"]))


def _cell(value: object, texts: Once[str]) -> object:
    if value is None or value.__class__ is str:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return texts.of(value) if isinstance(value, (list, tuple, dict)) else value


def _made(exporter: Callable[[], Any]) -> Callable[[Spec, Any], Any]:
    return lambda spec, options: exporter()


def _parquet(spec: Spec, options: Any) -> Any:
    from tabwb_builtin.parquet import ParquetExporter, WideParquetExporter
    from tabwb_builtin.partitions import check_keys

    by = [name for name in options.partition_by.split("+") if name]
    return (WideParquetExporter if options.wide else ParquetExporter)(check_keys(by))


def _parquet_options() -> type[BaseModel]:
    from pydantic import BaseModel, ConfigDict, Field

    class Options(BaseModel):
        """Options of Parquet."""

        model_config = ConfigDict(extra="forbid")
        wide: bool = Field(
            default=False, description="one row per response instead of one per rating"
        )
        partition_by: str = Field(
            default="", description="columns whose values become folders, joined by +"
        )

    return Options


EXPORTERS: tuple[Descriptor, ...] = (
    Descriptor("jsonl", "JSON lines, one per counted response", _made(JsonLinesExporter)),
    Descriptor("csv", "CSV, one row per rating with every condition", _made(CsvExporter)),
    Descriptor(
        "parquet",
        "Parquet, the same table as CSV with typed columns",
        _parquet,
        options=_parquet_options,
        needs=("tables",),
    ),
)
"""The exporters of this plugin."""
