"""Export formats: JSON lines (one per counted response), CSV and Parquet (one row per rating).

All are written whole or not at all, together with a text file that explains the figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.writing import TextFile, write_pieces
from tabwb.records.once import Once
from tabwb.records.specs import Spec
from tabwb.records.visible import CSV_CELLS, CSV_END, CsvLines
from tabwb.records.words import RESEARCH_ONLY
from tabwb_builtin.columns import (
    ANSWERED,
    COLUMNS,
    GIVEN,
    RATED,
    TABLE,
    Column,
    Part,
    Rated,
)

LINE_KEYS = (
    "subtest",
    "item",
    "replicate",
    "prompt",
    "response",
    "status",
    "latency_s",
)
"""Keys of a line after ``administration`` (its uid), in their order; ``ratings`` follow.

``replay:FILE`` reads them."""
GIVEN_KEYS = (
    "battery", "battery_version", "battery_hash", "examinee", "kind", "session_date", "lesion",
    "seed",
)  # fmt: skip
"""Keys of the administration that follow."""
STATUS_KEYS = ("effective_status", "usable")
"""The status under which the response counts, and whether it is usable."""
ITEM_KEYS = ("options", "expected", "tags", "foils", "foil", "stop_reason")
"""Keys of the trial after these."""


class JsonLinesExporter:
    """One JSON object per counted response; ``replay:FILE`` reads the file back."""

    suffix = ".jsonl"

    def export(self, document: Part, out: Path) -> None:
        """Write the counted responses of all administrations of ``document``."""
        self.export_stream(documents_of(document), out)

    def export_stream(self, documents: Iterable[Part], out: Path) -> None:
        """Write the counted responses of documents, each as it is read."""
        notices = Notices(JSONL_NOTE)

        def write(file: TextFile) -> None:
            for line in _lines(notices.heard(documents)):
                file.write(line)

        write_pieces(out, write, notices.notes)


class CsvExporter:
    """Long, tidy: one row per rating, with every condition in columns of its own."""

    suffix = ".csv"

    def export(self, document: Part, out: Path) -> None:
        """Write every rating of every counted response of ``document``."""
        self.export_stream(documents_of(document), out)

    def export_stream(self, documents: Iterable[Part], out: Path) -> None:
        """Write every rating of the counted responses of documents, each as it is read."""
        notices = Notices(CSV_NOTE, CSV_CELLS, DICTIONARY)

        def write(file: TextFile) -> None:
            file.write(CsvLines().line(COLUMNS) + CSV_END)
            for lines in _csv_lines(notices.heard(documents)):
                file.write(lines)

        write_pieces(out, write, notices.notes)


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


class Notices:
    """Collects what is said of documents while they are written.

    Args:
        explanation: what is said of the format.
    """

    def __init__(self, *explanation: str) -> None:
        self._explanation = explanation
        self._heard: dict[str, None] = {RESEARCH_ONLY: None}

    def heard(self, documents: Iterable[Part]) -> Iterator[Part]:
        """Yield the documents again, after noting what is said of each."""
        for document in documents:
            self._heard.update(dict.fromkeys(document.get("notices", ())))
            yield document

    def notes(self) -> list[str]:
        """Return the program's purpose, the cautions, the explanation."""
        return [*self._heard, *self._explanation]


def documents_of(document: Part) -> Sequence[Part]:
    """Return the documents of administrations: itself, or those under ``documents``."""
    several = document.get("documents")
    return [document] if several is None else several


def answered(document: Part) -> Iterator[Part]:
    """Yield the trials whose responses count."""
    return (trial for trial in document["trials"] if trial["state"] == "answered")


def rated(trial: Part) -> list[Rated]:
    """Return the ratings of a trial with the calls of judges; one without any if it has none."""
    calls = {call["rater"]: call for call in trial.get("judgements", ()) if call["repeat"] == 0}
    if not trial["ratings"]:
        return [Rated({}, calls.get(None, {}))]
    return [Rated(rating, calls.get(rating["rater"], {})) for rating in trial["ratings"]]


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _lines(documents: Iterable[Part]) -> Iterator[str]:
    one = Once(_json, 20_000)
    ratings = Once(lambda given: f"[{', '.join(map(one.of, given))}]")
    for document in documents:
        administration = document["administration"]
        given = {key: administration[key] for key in GIVEN_KEYS}
        given["origin"] = administration["origin"]
        if administration["participant"]:
            given["participant"] = administration["participant"]
        begin = _json({"administration": administration["uid"]})[:-1]
        told = _json(given)[1:-1]
        for trial in answered(document):
            head = _json({key: trial[key] for key in LINE_KEYS})[1:-1]
            rest = {key: trial.get(key) for key in (*STATUS_KEYS, *ITEM_KEYS)}
            rest["reply"] = trial.get("reply")
            if trial.get("practice"):
                rest["practice"] = True
            yield (
                f'{begin}, {head}, "ratings": {ratings.of(trial["ratings"])}, {told}, '
                f"{_json(rest)[1:]}\n"
            )


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
