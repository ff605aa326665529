"""The JSON documents of results (``format: 1``): what scripts and exporters read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tabwb.records.condition_table import document_of
from tabwb.records.ratings import Judged, Rating, prompt_hash
from tabwb.records.states import ResponseKind, ResponseStatus, TrialState
from tabwb.records.trials import Administration, Attempt, Trial
from tabwb.report.documents.file_names import with_file_names
from tabwb.report.documents.replies import item_json, reply_json
from tabwb.report.plain import Json, picked
from tabwb.report.summaries.cautions import cautions
from tabwb.report.summaries.counted import effective_statuses, is_usable
from tabwb.report.summaries.summary import Summary, pool

if TYPE_CHECKING:
    from tabwb.report.summaries.groups import Grouped
    from tabwb.report.summaries.load import AdministrationData, Recorded
    from tabwb.report.summaries.pairs import Pair

FORMAT = 1


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
    summary = summary or pool([data.source], interval=interval)
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
                **item_json(battery, trial),
                "reply": reply_json(battery, administration.conditions, trial) or None,
                **spoken.get(trial.plan.number, {}),
                "judgements": [judgement_json(each) for each in calls.get(trial.plan.number, ())],
            }
            for trial, status in zip(trials, effective_statuses(battery, trials), strict=True)
        ],
        **({"recordings": [recorded_json(each) for each in data.recordings]} if spoken else {}),
        "summary": summary.to_json(),
        "notices": list(
            cautions(battery, summary, model=administration.conditions.kind == "model")
        ),
    }


def _spoken(data: AdministrationData) -> Mapping[int, Json]:
    """Return the spoken response of each trial; imported only for a battery with pictures."""
    if not data.battery.spoken:
        return {}
    from tabwb.report.documents.naming_document import spoken_json
    from tabwb.report.summaries.naming import namings

    return {naming.view.trial.plan.number: spoken_json(naming) for naming in namings(data.source)}


def recorded_json(recorded: Recorded) -> Json:
    """Return a recording of a person's voice; ``file`` is its path where that was asked for."""
    keys = ("uid", "sha256", "seconds", "rate", "channels", "role", "recorded_at")
    file = None if recorded.file is None else str(recorded.file)
    return {**picked(recorded.kept, *keys), "file": file}


def list_document(administrations: Iterable[Administration]) -> Json:
    """Return what ``results`` without an id prints with ``--json``."""
    return {
        "format": FORMAT,
        "administrations": [administration_json(one) for one in administrations],
    }


def groups_document(made: Sequence[Grouped], pairs: Sequence[Pair] = ()) -> Json:
    """Return what ``results ID ID`` and ``--by`` print with ``--json``.

    Args:
        made: the groups.
        pairs: base and instruct models among them.
    """
    from tabwb.report.summaries.pairs import over_families

    said = (
        sentence
        for one in made
        for sentence in cautions(one.battery, one.summary, model=one.group.has_model)
    )
    return {
        "format": FORMAT,
        "groups": [
            {
                "by": {one.group.by: one.group.label},
                "apart": dict(one.group.apart),
                "kind": "model" if one.group.has_model else "speaker",
                "labels": dict(one.group.labels),
                "tunings": list(one.group.tunings) if one.group.has_model else [],
                "mixed": {name: list(values) for name, values in one.group.mixed.items()},
                "administrations": [
                    administration_json(member.administration) for member in one.group.members
                ],
                "summary": one.summary.to_json(),
            }
            for one in made
        ],
        "pairs": [pair.to_json() for pair in pairs],
        "over_families": [one.to_json() for one in over_families(pairs)],
        "notices": list(dict.fromkeys(said)),
    }


def export_document(chosen: Iterable[AdministrationData]) -> Json:
    """Return what exporters get: one document per administration, files without their folders."""
    document: Json = with_file_names(
        {
            "format": FORMAT,
            "documents": [administration_document(data) for data in chosen],
        }
    )
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
        **picked(administration, "planned", "answered", "versions"),
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
    plan = trial.plan
    counting = trial.counting if trial.state is TrialState.ANSWERED else None
    return {
        "number": plan.number,
        "subtest": plan.subtest,
        "item": plan.item,
        "replicate": plan.replicate,
        "practice": plan.practice,
        "options": list(plan.options),
        "prompt": plan.prompt,
        "response": None if counting is None else counting.response,
        "state": trial.state.value,
        "reason": trial.reason,
        "status": None if counting is None or counting.status is None else counting.status.value,
        "effective_status": None if effective is None else effective.value,
        "usable": None if counting is None else is_usable(effective, kind),
        "stop_reason": None if counting is None else counting.stop_reason.value,
        "latency_s": None if counting is None else counting.latency_s,
        "attempts": [attempt_json(attempt) for attempt in trial.attempts],
        "ratings": [rating_json(rating) for rating in trial.ratings],
        "notes": list(trial.notes),
    }


def attempt_json(attempt: Attempt) -> Json:
    """Return an attempt."""
    return {
        "n": attempt.number,
        "response": attempt.response,
        "state": attempt.state.value,
        "status": None if attempt.status is None else attempt.status.value,
        "stop_reason": attempt.stop_reason.value,
        "latency_s": attempt.latency_s,
        "error": attempt.error,
        "metadata": dict(attempt.metadata),
        "recorded_at": attempt.recorded_at,
    }


def judgement_json(judged: Judged) -> Json:
    """Return a call of a judge that asks a model: the reply, and how it was obtained."""
    call = judged.judgement
    return {
        "attempt": judged.attempt,
        "rater": call.rater,
        "repeat": call.repeat,
        "raw": call.raw,
        "first_raw": call.first_raw or None,
        "repaired": call.repaired,
        "structured": call.structured,
        "stop_reason": call.stop_reason.value,
        "requests": call.requests,
        "prompt_tokens": call.prompt_tokens,
        "reply_tokens": call.reply_tokens,
        "latency_s": call.latency_s,
        "prompt_sha256": prompt_hash(call.prompt_text),
        "same_as": call.same_as,
        "recorded_at": call.recorded_at,
    }


def rating_json(rating: Rating) -> Json:
    """Return a rating."""
    return {
        "rater": rating.rater,
        "measure": rating.measure,
        "value": rating.value,
        "status": rating.status.value,
        "reason": rating.reason,
    }
