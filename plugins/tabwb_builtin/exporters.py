"""Export formats: JSON lines (one per counted response), CSV and Parquet (one row per rating).

All are written whole or not at all, together with a text file that explains the figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.writing import write_text
from tabwb.records.specs import Spec
from tabwb.records.visible import CSV_CELLS, csv_text
from tabwb.records.words import RESEARCH_ONLY
from tabwb_builtin.columns import COLUMNS, TABLE, Row

LINE_KEYS = (
    "subtest",
    "item",
    "replicate",
    "prompt",
    "response",
    "status",
    "latency_s",
    "ratings",
)
"""Keys of a line after ``administration`` (its uid), in their order; kept for ``replay:FILE``."""
GIVEN_KEYS = (
    "battery", "battery_version", "battery_hash", "examinee", "kind", "session_date", "lesion",
    "seed",
)  # fmt: skip
"""Keys of the administration that follow."""
STATUS_KEYS = ("effective_status", "usable")
"""The status under which the response counts, and whether it is usable."""
ITEM_KEYS = ("options", "expected", "tags", "foils", "foil", "stop_reason")
"""Keys of the trial after these."""
RATING = ("rater", "measure", "value", "status", "reason")


class JsonLinesExporter:
    """One JSON object per counted response; ``replay:FILE`` reads the file back."""

    suffix = ".jsonl"

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        """Write the counted responses of all administrations of ``document``."""
        write_text(out, "".join(_lines(document)), notes_of(document, JSONL_NOTE))


class CsvExporter:
    """Long, tidy: one row per rating, with every condition in columns of its own."""

    suffix = ".csv"

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        """Write every rating of every counted response of ``document``."""
        text = csv_text(COLUMNS, _rows(document))
        write_text(out, text, [*notes_of(document, CSV_NOTE), CSV_CELLS, DICTIONARY])


JSONL_NOTE = (
    "One line per counted response: administration (uid), subtest, item, replicate, prompt "
    "(exactly as sent), response, status (as stored), latency_s (seconds), ratings; "
    "effective_status, "
    "under which it counts, and usable, whether its features do; the battery (id, version, "
    "SHA-256), examinee, kind, session_date (null where it is not known), lesion and the run's "
    "seed; origin, who made the response (human, model, unknown), and of a person's the "
    "participant, both honoured by replay:FILE; the item's options in the order shown, "
    "expected answer, tags and foils, and foil, the kind of error under the policy extracted; and "
    "reply: what was sent for this response (decoding: max_tokens, temperature, top_p, stop, seed; "
    "null where it was not sent or is not known) and what came with it (model_version, tokens, "
    "finish_reason, option_log_probabilities in nats). A practice item's line also says "
    '"practice": true and belongs into no score.'
)
CSV_NOTE = (
    "One row per rating of a counted response, RFC 4180, UTF-8; empty cells have no value. A "
    "response without ratings has one row. Rows with practice = true belong into no score."
)
DICTIONARY = "Columns:\n" + "\n".join(f"- {column.told}" for column in TABLE)
"""The content of each column, for the notes of a table."""


def notes_of(document: Mapping[str, Any], explanation: str) -> list[str]:
    """Return the notes of an export: the program's purpose, the cautions, the explanation.

    Args:
        document: the results documents.
        explanation: of the format.
    """
    notices = (notice for part in _documents(document) for notice in part.get("notices", ()))
    return [*dict.fromkeys((RESEARCH_ONLY, *notices)), explanation]


def _documents(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the documents of administrations: itself, or those under ``documents``."""
    several = document.get("documents")
    return [document] if several is None else several


def _counted(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for part in _documents(document):
        for trial in part["trials"]:
            if trial["state"] == "answered":
                yield part["administration"], trial


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    for administration, trial in _counted(document):
        line = {"administration": administration["uid"]}
        line.update({key: trial[key] for key in LINE_KEYS})
        line.update({key: administration[key] for key in GIVEN_KEYS})
        line["origin"] = administration["origin"]
        if administration["participant"]:
            line["participant"] = administration["participant"]
        line.update({key: trial.get(key) for key in (*STATUS_KEYS, *ITEM_KEYS)})
        line["reply"] = trial.get("reply")
        if trial.get("practice"):
            line["practice"] = True
        yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def _rows(document: Mapping[str, Any]) -> Iterator[list[object]]:
    for row in table(document):
        yield [_cell(value) for value in row]


def table(document: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the long table: one per rating, with the values of :data:`COLUMNS`."""
    for administration, trial in _counted(document):
        judged = {
            call["rater"]: call for call in trial.get("judgements", ()) if call["repeat"] == 0
        }
        for rating in trial["ratings"] or [dict.fromkeys(RATING)]:
            row = Row(administration, trial, rating, judged.get(rating["rater"], {}))
            yield tuple(column.value(row) for column in TABLE)


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False)
    return value


def _made(exporter: Callable[[], Any]) -> Callable[[Spec, Any], Any]:
    return lambda spec, options: exporter()


def _parquet(spec: Spec, options: Any) -> Any:
    from tabwb_builtin.parquet import ParquetExporter

    return ParquetExporter()


EXPORTERS: tuple[Descriptor, ...] = (
    Descriptor("jsonl", "JSON lines, one per counted response", _made(JsonLinesExporter)),
    Descriptor("csv", "CSV, one row per rating with every condition", _made(CsvExporter)),
    Descriptor(
        "parquet",
        "Parquet, the same table as CSV with typed columns",
        _parquet,
        needs=("tables",),
    ),
)
"""The exporters of this plugin."""
