"""The JSON documents of results (``format: 1``), which scripts and exporters read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tabwb.records.condition_table import document_of
from tabwb.records.exchange import Message
from tabwb.records.trials import Administration, Trial
from tabwb.report.documents.trial_document import TrialDocuments, calls_by_trial
from tabwb.report.file_names import with_file_names
from tabwb.report.plain import Json, picked, plain
from tabwb.report.summaries.cautions import cautions, group_cautions
from tabwb.report.summaries.counted import effective_statuses
from tabwb.report.summaries.moved import moved
from tabwb.report.summaries.raters import declared_raters
from tabwb.report.summaries.summary import Summary, pool

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Pair
    from tabwb.report.summaries.groups import Grouped
    from tabwb.report.summaries.load import AdministrationData, Recorded

FORMAT = 1


def administration_document(
    data: AdministrationData,
    summary: Summary | None = None,
    *,
    interval: bool = False,
    messages: bool = False,
) -> Json:
    """Return what ``run``, ``resume``, ``name`` and ``results ID`` print with ``--json``."""
    administration, battery, trials = data.administration, data.battery, data.trials
    summary = summary or pool([data.source], interval=interval)
    calls = calls_by_trial(data.judged)
    spoken = _spoken(data)
    made = TrialDocuments(battery, administration.conditions)
    statuses = effective_statuses(battery, trials)
    return {
        "format": FORMAT,
        "administration": administration_part(data),
        "trials": [
            made.document(
                trial,
                status,
                calls.get(trial.plan.number, ()),
                spoken.get(trial.plan.number, {}),
                _sent(trial) if messages else None,
            )
            for trial, status in zip(trials, statuses, strict=True)
        ],
        **({"recordings": [_recorded_json(kept) for kept in data.recordings]} if spoken else {}),
        "summary": summary.to_json(),
        "moved": plain(moved(summary, [administration])),
        "notices": list(
            cautions(
                battery,
                summary,
                model=administration.conditions.kind == "model",
                lesion=administration.conditions.lesion is not None,
                given=[administration],
            )
        ),
    }


def _sent(trial: Trial) -> Sequence[Message]:
    return () if trial.counting is None else trial.counting.messages


def administration_part(data: AdministrationData) -> Json:
    """Return an administration as its document has it."""
    return {
        **administration_json(data.administration),
        "model_facts": dict(data.model_facts),
        **({"speaker": dict(data.speaker)} if data.speaker else {}),
        "rater_versions": declared_raters(data.declarations),
        "notes": list(data.notes),
        "disclaimer": data.battery.disclaimer,
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
    """Return what ``results ID ID`` and ``--by`` print with ``--json``."""
    from tabwb.analysis.contrast import over_families
    from tabwb.report.documents.contrasts import mean_json, pair_json

    return {
        "format": FORMAT,
        "groups": [
            {
                "by": dict(row.group.named),
                "name": row.label,
                "values": {one.key: one.value for one in row.group.values},
                "together": list(row.group.together),
                "apart": dict(row.group.apart),
                "moved": plain(
                    moved(row.summary, [one.administration for one in row.group.members])
                ),
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
        "pairs": list(map(pair_json, pairs)),
        "over_families": list(map(mean_json, over_families(pairs))),
        "notices": group_cautions(rows),
    }


def export_document(chosen: Iterable[AdministrationData], *, messages: bool = False) -> Json:
    """Return what exporters get: one document per administration, files without their folders."""
    documents = [administration_document(data, messages=messages) for data in chosen]
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
