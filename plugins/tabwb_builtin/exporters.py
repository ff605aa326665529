"""Export formats: JSON lines (one per counted response), CSV and Parquet (one row per rating).

All are written whole or not at all, together with a text file that explains the figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.host.writing import TextFile
from tabwb.plugin_api import write_pieces
from tabwb.plugin_api.components import Exporter
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.declared_conditions import CONDITIONS
from tabwb.records.ratings import Once
from tabwb.records.speakers import Column as Recorded
from tabwb.records.specs import Spec
from tabwb.records.words import CSV_CELLS, CSV_END, CsvLines
from tabwb_builtin.columns import (
    ANSWERED,
    GIVEN,
    RATED,
    TABLE,
    Column,
    Notices,
    Part,
    Rated,
    answered,
    of_participants,
    rated,
)

if TYPE_CHECKING:
    from pydantic import BaseModel


_TABLE = {column.name: column for column in TABLE}
_CONDITIONS = {column.name for column in GIVEN}
RATINGS = Column(
    "ratings",
    "list of JSON",
    "of the response: rater, measure, value, status (value, undefined, unparsed, error), reason",
    itemgetter("ratings"),
    required=True,
)
REPLY = Column(
    "reply",
    "JSON",
    "what was sent for this response (decoding: max_tokens, temperature, top_p, stop, seed) and "
    "what came with it (model_version, tokens, finish_reason, cause, option_log_probabilities in "
    "nats, recorded_at); a value is null where it was not sent or is not known",
    lambda trial: trial.get("reply"),
)
LABELS = Column(
    "labels",
    "JSON",
    "family, tuning and parameters, from the model's profile",
    itemgetter("labels"),
    scope="administration",
)
FACTS = Column(
    "model_facts",
    "JSON",
    "what the back end said of the model: weights, dtype, template",
    itemgetter("model_facts"),
    scope="administration",
)
DECODING = Column(
    "run_decoding",
    "JSON",
    "decoding of the whole run; null where it is not known",
    itemgetter("decoding"),
    scope="administration",
)
HEAD = (
    *(_TABLE[name] for name in ("subtest", "item", "replicate", "prompt", "response")),
    replace(_TABLE["trial_status"], name="status"),
    _TABLE["latency_s"],
)
"""Columns of a line after ``administration`` (its uid); ``ratings`` follow.

``replay:FILE`` reads them."""
FIRST = (
    "battery", "battery_version", "battery_hash", "examinee", "kind", "session_date", "lesion",
    "seed", "origin", "participant",
)  # fmt: skip
LATER = (
    *(one.id for one in CONDITIONS if one.id in _CONDITIONS and one.id not in FIRST),
    "created_at", "administration_status", "administration_title", "administration_tags",
)  # fmt: skip
TOLD = (*(_TABLE[name] for name in (*FIRST, *LATER)), LABELS, FACTS, DECODING)
"""Columns of the administration that follow."""
REST = (
    *(
        _TABLE[name]
        for name in (
            "system", "reasoning", "effective_status", "usable", "drawn", "options", "expected",
            "tags", "foils", "foil", "stop_reason",
        )
    ),
    REPLY,
    _TABLE["practice"],
)  # fmt: skip
"""Columns of the trial after these."""
LINE = (_TABLE["administration"], *HEAD, RATINGS, *TOLD, *REST)
"""Every column of a line, in order."""

RECORD = Column(
    "participant_record",
    "JSON",
    "what the record of the participant says, and what follows from it",
    lambda administration: administration.get("speaker"),
    scope="administration",
)
"""The column of an export that has records of participants."""

JSONL_NOTE = (
    "One line per counted response, UTF-8. origin, and of a person's responses participant, are "
    'honoured by replay:FILE. A line with "practice": true belongs into no score. A null has no '
    "value."
)


class JsonLinesExporter(Exporter):
    """One JSON object per counted response; ``replay:FILE`` reads the file back."""

    suffix = ".jsonl"
    mediatype = "application/jsonl"
    columns = LINE

    def expect_participants(self, columns: Sequence[Recorded]) -> None:
        """Add what is recorded of participants to the lines, where there are some."""
        self.columns = (*LINE, RECORD) if columns else LINE

    def export_stream(self, documents: Iterable[Part], out: Path) -> None:
        """Write the counted responses of documents, each as it is read."""
        notices = Notices(JSONL_NOTE, _told("Keys of a line", self.columns))
        told = [column for column in self.columns if column in (*TOLD, RECORD)]

        def write(file: TextFile) -> None:
            for line in _lines(notices.heard(documents), told):
                file.write(line)

        write_pieces(out, write, notices.notes)


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode


def _told(title: str, columns: Sequence[Column]) -> str:
    """Return what each column holds, for the notes."""
    return f"{title}:\n" + "\n".join(f"- {column.told}" for column in columns)


def _lines(documents: Iterable[Part], columns: Sequence[Column]) -> Iterator[str]:
    one = Once(_json, 20_000)
    ratings = Once(lambda given: f"[{', '.join(map(one.of, given))}]")
    for document in documents:
        administration = document["administration"]
        given = {column.name: column.value(administration) for column in columns}
        given["participant"] = given["participant"] or ""
        begin = _json({"administration": administration["uid"]})[:-1]
        told = _json(given)[1:-1]
        for trial in answered(document):
            head = _json({column.name: column.value(trial) for column in HEAD})[1:-1]
            rest = {column.name: column.value(trial) for column in REST}
            yield (
                f'{begin}, {head}, "ratings": {ratings.of(trial["ratings"])}, {told}, '
                f"{_json(rest)[1:]}\n"
            )


class CsvExporter(Exporter):
    """Long, tidy: one row per rating, with every condition in its own columns."""

    suffix = ".csv"
    mediatype = "text/csv"
    columns = TABLE
    given = GIVEN

    def expect_participants(self, columns: Sequence[Recorded]) -> None:
        """Add a column for each that the records of participants have."""
        self.given = (*GIVEN, *of_participants(columns))
        self.columns = (*self.given, *ANSWERED, *RATED)

    def export_stream(self, documents: Iterable[Part], out: Path) -> None:
        """Write every rating of the counted responses of documents, each as it is read."""
        notices = Notices(CSV_NOTE, CSV_CELLS, _told("Columns", self.columns))

        def write(file: TextFile) -> None:
            file.write(CsvLines().line([one.name for one in self.columns]) + CSV_END)
            for lines in _csv_lines(notices.heard(documents), self.given):
                file.write(lines)

        write_pieces(out, write, notices.notes)


CSV_NOTE = (
    "One row per rating of a counted response, RFC 4180, UTF-8; empty cells have no value. A "
    "response without ratings has one row. Rows with practice = true belong into no score."
)


def _csv_lines(documents: Iterable[Part], columns: Sequence[Column]) -> Iterator[str]:
    """Yield the lines of each response: they differ in the columns of the rating only."""
    made = CsvLines()
    texts = Once(partial(json.dumps, ensure_ascii=False))

    def cells(columns: Sequence[Column], part: object) -> str:
        return made.line([_cell(column.value(part), texts) for column in columns])

    def ends(given: Iterable[Rated]) -> list[str]:
        return [f",{cells(RATED, one)}{CSV_END}" for one in given]

    shared = Once(lambda ratings: ends(Rated(rating, {}) for rating in ratings))
    for document in documents:
        given = cells(columns, document["administration"])
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
    from tabwb_builtin.parquet import ParquetExporter, WideParquetExporter, check_keys

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
