"""The JSON documents of results (``format: 1``), which scripts and exporters read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tabwb.administer.session.choosing import LOG_PROBABILITIES, OPTIONS
from tabwb.administer.session.exchange import token_limit
from tabwb.battery.model import Battery, Subtest
from tabwb.records.condition import ColumnType
from tabwb.records.condition_table import decoding_columns, document_of
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import NOT_SENT
from tabwb.records.ratings import Judged, prompt_hash
from tabwb.records.states import ResponseKind, ResponseStatus, TrialState
from tabwb.records.trials import Administration, Attempt, Trial
from tabwb.report.file_names import with_file_names
from tabwb.report.plain import Json, picked, picked_or_none, plain
from tabwb.report.summaries.cautions import cautions
from tabwb.report.summaries.counted import effective_statuses, is_usable
from tabwb.report.summaries.draws import REPLAYED
from tabwb.report.summaries.live.summary import summarise
from tabwb.report.summaries.summary import Summary
from tabwb.scoring.choice import read_reason

if TYPE_CHECKING:
    from tabwb.report.summaries.groups import Grouped
    from tabwb.report.summaries.load import AdministrationData, Recorded
    from tabwb.report.summaries.pairs import Pair

FORMAT = 1
_RATING_KEYS = ("rater", "measure", "value", "status", "reason")


def administration_document(
    data: AdministrationData, summary: Summary | None = None, *, interval: bool = False
) -> Json:
    """Return what ``run``, ``resume``, ``name`` and ``results ID`` print with ``--json``.

    Args:
        data: the administration with its battery and trials.
        summary: of the trials, where there is one already.
        interval: compute the intervals of burdens too, in a summary that is made here.
    """
    administration, battery, trials = data.administration, data.battery, data.trials
    summary = summary or summarise([data.source], interval=interval)
    calls: dict[int, list[Judged]] = {}
    for call in data.judged:
        calls.setdefault(call.trial, []).append(call)
    spoken = _spoken(data)
    return {
        "format": FORMAT,
        "administration": {
            **administration_json(administration),
            "model_facts": dict(data.model_facts),
            **({"speaker": dict(data.speaker)} if data.speaker else {}),
            "notes": list(data.notes),
            "disclaimer": battery.disclaimer,
        },
        "trials": [
            {
                **trial_json(trial, status, battery.subtest(trial.plan.subtest).response),
                **_item_json(battery, trial),
                "reply": _reply_json(battery, administration.conditions, trial) or None,
                **spoken.get(trial.plan.number, {}),
                "judgements": [_judgement_json(call) for call in calls.get(trial.plan.number, ())],
            }
            for trial, status in zip(trials, effective_statuses(battery, trials), strict=True)
        ],
        **({"recordings": [_recorded_json(kept) for kept in data.recordings]} if spoken else {}),
        "summary": summary.to_json(),
        "notices": list(
            cautions(battery, summary, model=administration.conditions.kind == "model")
        ),
    }


def _spoken(data: AdministrationData) -> Mapping[int, Json]:
    if not data.battery.spoken:
        return {}
    from tabwb.report.documents.naming_document import spoken_json
    from tabwb.report.summaries.naming import namings

    return {naming.view.trial.plan.number: spoken_json(naming) for naming in namings(data.source)}


def _recorded_json(recorded: Recorded) -> Json:
    """Return a recording of a person's voice; ``file`` is its path where that was asked for."""
    keys = ("uid", "sha256", "seconds", "rate", "channels", "role", "recorded_at")
    file = None if recorded.file is None else str(recorded.file)
    return {**picked(recorded.kept, *keys), "file": file}


def list_document(administrations: Iterable[Administration]) -> Json:
    """Return what ``results`` without an id prints with ``--json``."""
    return {"format": FORMAT, "administrations": list(map(administration_json, administrations))}


def groups_document(rows: Sequence[Grouped], pairs: Sequence[Pair] = ()) -> Json:
    """Return what ``results ID ID`` and ``--by`` print with ``--json``.

    Args:
        rows: the groups.
        pairs: base and instruct models among them.
    """
    from tabwb.report.summaries.pairs import over_families

    notices = (
        sentence
        for row in rows
        for sentence in cautions(row.battery, row.summary, model=row.group.has_model)
    )
    return {
        "format": FORMAT,
        "groups": [
            {
                "by": dict(row.group.named),
                "name": row.label,
                "values": {one.key: one.value for one in row.group.values},
                "together": list(row.group.together),
                "apart": dict(row.group.apart),
                "kind": "model" if row.group.has_model else "speaker",
                "labels": dict(row.group.labels),
                "tunings": list(row.group.tunings) if row.group.has_model else [],
                "mixed": {name: list(values) for name, values in row.group.mixed.items()},
                "administrations": [
                    administration_json(member.administration) for member in row.group.members
                ],
                "summary": row.summary.to_json(),
            }
            for row in rows
        ],
        "pairs": [pair.to_json() for pair in pairs],
        "over_families": [mean.to_json() for mean in over_families(pairs)],
        "notices": list(dict.fromkeys(notices)),
    }


def export_document(chosen: Iterable[AdministrationData]) -> Json:
    """Return what exporters get: one document per administration, files without their folders."""
    documents = list(map(administration_document, chosen))
    document: Json = with_file_names({"format": FORMAT, "documents": documents})
    return document


def administration_json(administration: Administration) -> Json:
    """Return an administration with all its conditions."""
    conditions = administration.conditions
    return {
        **picked(
            administration,
            *("id", "uid", "status", "interrupted", "reason"),
            *("battery", "battery_version", "battery_hash", "battery_title"),
        ),
        "examinee": conditions.examinee,
        "kind": conditions.kind,
        "origin": conditions.made_by,
        "participant": conditions.study_id,
        "model": conditions.examinee if conditions.kind == "model" else None,
        "labels": dict(conditions.labels),
        **document_of(conditions),
        "created_at": administration.created_at,
        "session_date": administration.session_date or None,
        **picked(administration, "planned", "answered", "versions", "title", "tags", "notes"),
    }


def trial_json(
    trial: Trial,
    effective: ResponseStatus | None = None,
    kind: ResponseKind = ResponseKind.FREE,
) -> Json:
    """Return a trial; response, status and latency are of the attempt that counts, or None.

    Args:
        trial: one of the administration.
        effective: the status under which its answer counts; ``status`` is the stored one.
        kind: of its subtest.
    """
    counting = trial.counting if trial.state is TrialState.ANSWERED else None
    return {
        **picked(trial.plan, "number", "subtest", "item", "replicate", "practice"),
        **picked(trial.plan, "options", "prompt"),
        **picked_or_none(counting, "response"),
        **picked(trial, "state", "reason"),
        **picked_or_none(counting, "status"),
        "effective_status": plain(effective),
        "usable": None if counting is None else is_usable(effective, kind),
        **picked_or_none(counting, "stop_reason", "latency_s"),
        "attempts": [_attempt_json(attempt) for attempt in trial.attempts],
        "ratings": [picked(rating, *_RATING_KEYS) for rating in trial.ratings],
        "notes": list(trial.notes),
    }


def _attempt_json(attempt: Attempt) -> Json:
    keys = ("response", "state", "status", "stop_reason", "latency_s", "error", "metadata")
    return {"n": attempt.number, **picked(attempt, *keys, "recorded_at")}


def _judgement_json(judged: Judged) -> Json:
    call = judged.judgement
    return {
        "attempt": judged.attempt,
        **picked(call, "rater", "repeat", "raw"),
        "first_raw": call.first_raw or None,
        **picked(call, "repaired", "structured", "stop_reason", "requests"),
        **picked(call, "prompt_tokens", "reply_tokens", "latency_s"),
        "prompt_sha256": prompt_hash(call.prompt_text),
        **picked(call, "same_as", "recorded_at"),
    }


def _item_json(battery: Battery, trial: Trial) -> Json:
    subtest = battery.subtest(trial.plan.subtest)
    item = subtest.item(trial.plan.item)
    return {
        **picked(item, "expected", "tags", "foils"),
        "foil": _foil(subtest, trial, item.expected, item.foils),
        **({"reference": item.reference} if item.reference else {}),
        **({"item_metadata": dict(item.metadata)} if item.metadata else {}),
    }


def _reply_json(battery: Battery, conditions: Conditions, trial: Trial) -> Json:
    """Return what was sent for the reply that counts, and what came with it, or nothing."""
    attempt = trial.counting if trial.state is TrialState.ANSWERED else None
    if attempt is None:
        return {}
    noted = attempt.metadata
    subtest = battery.subtest(trial.plan.subtest)
    return {
        "attempt": attempt.number,
        "decoding": _decoding(conditions, subtest, attempt),
        # Earlier versions kept OpenAI's under "model".
        "model_version": noted.get("model_version") or noted.get("model"),
        **{name: _read(int, noted.get(name)) for name in ("prompt_tokens", "reply_tokens")},
        "reasoning_tokens": _read(int, noted.get("thought_tokens")),
        "finish_reason": noted.get("finish_reason"),
        "cause": noted.get("cause"),
        "option_log_probabilities": _log_probabilities(noted),
        "recorded_at": attempt.recorded_at,
    }


def _decoding(conditions: Conditions, subtest: Subtest, attempt: Attempt) -> Json | None:
    noted = attempt.metadata
    if conditions.kind != "model" or conditions.origin is not None:
        return None
    columns = decoding_columns()
    if "max_tokens" in noted:
        return {name: _sent(column, noted.get(name)) for name, column in columns.items()}
    if REPLAYED in noted:
        return dict.fromkeys(columns)
    # Of an earlier version: what was sent follows from the conditions, but for the seed.
    asked = conditions.decoding
    return {
        **dict.fromkeys(columns),
        "max_tokens": token_limit(subtest, conditions),
        "temperature": asked.temperature,
        "top_p": None if asked.greedy else asked.top_p,
        "stop": list(asked.stop),
    }


def _sent(column: ColumnType, text: str | None) -> object:
    """Return a part of the decoding from the metadata of a reply; None where it was not sent."""
    match column:
        case "integer":
            return _read(int, text)
        case "number":
            return _read(float, text)
        case "list of text":
            return _stops(text)
    return None if text == NOT_SENT else text


def _read(kind: Callable[[str], float], text: str | None) -> float | None:
    """Return a stored string as a number; None where it is not one, as where it was not sent."""
    if text is None or text == NOT_SENT:
        return None
    try:
        number = kind(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _stops(text: str | None) -> list[str] | None:
    try:
        stops = json.loads(text or "null")
    except ValueError:
        return None
    return [str(stop) for stop in stops] if isinstance(stops, list) else None


def _log_probabilities(noted: Mapping[str, str]) -> dict[str, float | None] | None:
    """Return option to log probability; earlier versions kept an object with an option's sum."""
    try:
        sums = json.loads(noted.get(LOG_PROBABILITIES, "null"))
        options = json.loads(noted.get(OPTIONS, "null"))
    except ValueError:
        return None
    if isinstance(sums, list) and isinstance(options, list):
        sums = dict(zip(options, sums, strict=False))
    if not isinstance(sums, dict):
        return None
    values = {
        str(option): given.get("sum") if isinstance(given, dict) else given
        for option, given in sums.items()
    }
    return {
        option: float(value) if isinstance(value, int | float) and math.isfinite(value) else None
        for option, value in values.items()
    }


def _foil(
    subtest: Subtest, trial: Trial, expected: str | None, foils: Mapping[str, str]
) -> str | None:
    if not subtest.task.options or expected is None:
        return None
    for rating in trial.ratings:
        if rating.rater in subtest.scorers and rating.measure == "extracted":
            if rating.value is None:
                return None
            correct = rating.value == 1.0
            return read_reason(correct, rating.reason, expected, trial.plan.options, foils).error
    return None
