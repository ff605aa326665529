"""Export formats: JSON lines (one per counted response) and CSV (one row per rating).

Both are written whole or not at all, with a text file beside them that says what the figures are.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tabwb.extend.components import Descriptor
from tabwb.records.errors import TabwbError
from tabwb.records.specs import Spec
from tabwb.records.words import RESEARCH_ONLY

LINE_KEYS = ("subtest", "item", "replicate", "prompt", "response", "status", "latency_s", "ratings")
"""Keys of a line after ``administration`` (its uid), in their order."""

CONDITIONS = (
    "id",
    "battery",
    "battery_version",
    "battery_hash",
    "examinee",
    "kind",
    "model",
    "lesion",
    "seed",
    "replicates",
    "protocol",
    "conversation",
    "item_order",
    "option_order",
    "research_protocol",
    "created_at",
)
DECODING = ("temperature", "top_p", "max_tokens", "stop", "seed")
TRIAL = (
    "number",
    "subtest",
    "item",
    "replicate",
    "practice",
    "options",
    "prompt",
    "response",
    "status",
    "stop_reason",
    "latency_s",
)
RATING = ("rater", "measure", "value", "status", "reason")
COLUMNS = (
    "administration",
    *CONDITIONS,
    *(f"decoding_{name}" for name in DECODING),
    *(f"trial_{name}" if name in ("number", "status") else name for name in TRIAL),
    *(f"rating_{name}" if name in ("status", "reason") else name for name in RATING),
)


class JsonLinesExporter:
    """One JSON object per counted response; ``replay:FILE`` reads the file back."""

    suffix = ".jsonl"

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        """Write the counted responses of all administrations of ``document``."""
        _write(out, "".join(_lines(document)), document, JSONL_NOTE)


class CsvExporter:
    """Long, tidy: one row per rating, with every condition in columns of its own."""

    suffix = ".csv"

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        """Write every rating of every counted response of ``document``."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        writer.writerows(_rows(document))
        _write(out, text.getvalue(), document, CSV_NOTE)


JSONL_NOTE = (
    "One line per counted response: administration (uid), subtest, item, replicate, prompt "
    "(exactly as sent), response, status, latency_s (seconds), ratings. A practice item's line "
    'also says "practice": true and belongs into no score.'
)
CSV_NOTE = (
    "One row per rating of a counted response, RFC 4180, UTF-8; empty cells have no value. A "
    "response without ratings has one row. Rows with practice = true belong into no score."
)


def _documents(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The administrations of a document: itself, or those under ``documents``."""
    several = document.get("documents")
    return [document] if several is None else several


def _counted(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for one in _documents(document):
        for trial in one["trials"]:
            if trial["state"] == "answered":
                yield one["administration"], trial


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    for administration, trial in _counted(document):
        line = {"administration": administration["uid"]}
        line.update({key: trial[key] for key in LINE_KEYS})
        if trial.get("practice"):
            line["practice"] = True
        yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def _rows(document: Mapping[str, Any]) -> Iterator[list[object]]:
    for administration, trial in _counted(document):
        decoding = administration["decoding"] or {}
        conditions = [
            administration["uid"],
            *(administration[name] for name in CONDITIONS),
            *(decoding.get(name) for name in DECODING),
            *(trial[name] for name in TRIAL),
        ]
        for rating in trial["ratings"] or [dict.fromkeys(RATING)]:
            yield [_cell(value) for value in (*conditions, *(rating[name] for name in RATING))]


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return json.dumps(value, ensure_ascii=False)
    return value


def _write(out: Path, text: str, document: Mapping[str, Any], explanation: str) -> None:
    said = (sentence for one in _documents(document) for sentence in one.get("notices", ()))
    notes = [*dict.fromkeys((RESEARCH_ONLY, *said)), explanation]
    # The explanation first: an export never lies about without it, nor it without an export.
    beside = out.with_name(out.name + ".README.txt")
    stood = beside.exists()
    _replace(beside, "\n\n".join(notes) + "\n")
    try:
        _replace(out, text)
    except TabwbError:
        if not stood:
            beside.unlink(missing_ok=True)
        raise


def _replace(out: Path, text: str) -> None:
    """Write a file whole or not at all: beside it first, then put in its place."""
    beside = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        try:
            with beside.open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(out)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise TabwbError(
            f"cannot be written: {error.strerror or error}",
            where=str(out),
            hint="choose another place with --out",
        ) from error
    except UnicodeEncodeError as error:
        raise TabwbError(
            f"a response holds a character that is no text ({error.reason})", where=str(out)
        ) from error


def _made(exporter: Callable[[], Any]) -> Callable[[Spec, Any], Any]:
    return lambda spec, options: exporter()


EXPORTERS: tuple[Descriptor, ...] = (
    Descriptor("jsonl", "JSON lines, one per counted response", _made(JsonLinesExporter)),
    Descriptor("csv", "CSV, one row per rating with every condition", _made(CsvExporter)),
)
"""What this plugin registers as exporters."""
