"""JSON Lines: one object per counted response, with its ratings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from tabwb.host.writing import TextFile
from tabwb.plugin_api import write_pieces
from tabwb.plugin_api.components import Exporter
from tabwb.records.declared_conditions import CONDITIONS
from tabwb.records.ratings import Once
from tabwb_builtin.columns import GIVEN, TABLE, Column, Notices, Part, answered

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

JSONL_NOTE = (
    "One line per counted response, UTF-8. origin, and of a person's responses participant, are "
    'honoured by replay:FILE. A line with "practice": true belongs into no score. A null has no '
    "value."
)
DICTIONARY = "Keys of a line:\n" + "\n".join(f"- {column.told}" for column in LINE)
"""The content of each key, for the notes."""


class JsonLinesExporter(Exporter):
    """One JSON object per counted response; ``replay:FILE`` reads the file back."""

    suffix = ".jsonl"
    mediatype = "application/jsonl"
    columns = LINE

    def export_stream(self, documents: Iterable[Part], out: Path) -> None:
        """Write the counted responses of documents, each as it is read."""
        notices = Notices(JSONL_NOTE, DICTIONARY)

        def write(file: TextFile) -> None:
            for line in _lines(notices.heard(documents)):
                file.write(line)

        write_pieces(out, write, notices.notes)


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode


def _lines(documents: Iterable[Part]) -> Iterator[str]:
    one = Once(_json, 20_000)
    ratings = Once(lambda given: f"[{', '.join(map(one.of, given))}]")
    for document in documents:
        administration = document["administration"]
        given = {column.name: column.value(administration) for column in TOLD}
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
