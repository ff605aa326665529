"""The JSON documents of results (``format: 1``), which scripts and exporters read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tabwb.administer.session.drive import LOG_PROBABILITIES, OPTIONS
from tabwb.administer.session.exchange import token_limit
from tabwb.analysis.administrations import (
    declared_raters,
    is_fixed,
    is_usable,
    protocol_of,
)
from tabwb.analysis.cautions import cautions, group_cautions, moved
from tabwb.analysis.draws import REPLAYED
from tabwb.analysis.plain import Json, picked, picked_or_none, plain
from tabwb.analysis.statistics.accuracy import NOT_SCORED
from tabwb.analysis.statistics.results import Part, Result, Results
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.records.conditions import Conditions, decoding_columns, document_of
from tabwb.records.declared_conditions import ColumnType
from tabwb.records.exchange import NOT_SENT, REASONING, Message
from tabwb.records.ratings import Judged, Once, Rating, prompt_hash
from tabwb.records.states import ResponseStatus, TrialState
from tabwb.records.trials import Administration, Attempt, Trial
from tabwb.scoring.burden import NONE_COUNTED, CategoryBurden
from tabwb.scoring.choice import POLICIES, read_reason
from tabwb.scoring.estimate import Estimate, EstimatedInterval

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData, Recorded
    from tabwb.analysis.contrast import Pair
    from tabwb.analysis.grouping import Grouped
    from tabwb.analysis.statistics.burden import Judge
    from tabwb.analysis.statistics.results import Results

ESTIMATES = (
    ("chance_corrected", "exact"),
    *((measure, policy) for measure in ("yes_rate", "balanced_accuracy") for policy in POLICIES),
)
"""Measures of a subtest's answers beside the accuracy, with the policies of each."""


def summary_json(results: Results) -> Json:
    """Return plain data; whatever is undefined is None, with its reason beside it."""
    named: dict[str, Json] = {}
    if results.named:
        from tabwb.media.documents.naming_document import named_json

        named = {subtest.id: named_json(subtest) for subtest in results.named}
    statistics: dict[tuple[str, str], list[Result]] = {}
    for row in results:
        if row.statistic is not None:
            statistics.setdefault((row.measure, row.part), []).append(row)
    words = results.find("words_mean")
    usable = NONE_COUNTED if words is None or words.usable is None else words.usable
    answers = {"words_mean": words, "n_distinct": results.find("distinct")}
    undefined = _reasons({name: row.value for name, row in answers.items() if row is not None})
    return {
        "subtests": [
            _subtest(part) | ({"naming": named[part.id]} if part.id in named else {})
            for part in results.parts
        ],
        "judges": [_judge(results, judge) for judge in results.judges],
        "other_measures": [
            {
                "rater": rater,
                "measures": {name: _measured(results, row) for name, row in rows.items()},
            }
            for rater, rows in results.others.items()
        ],
        "failed_raters": plain(results.failed),
        "raters": [rater.to_json() for rater in results.raters],
        "statistics": [_statistic(rows) for rows in statistics.values()],
        "answers": {
            **usable.to_json(),
            "batch_inexact": results.number("inexact"),
            "n_distinct": results.number("distinct"),
            "words_mean": results.value("words_mean"),
            "statuses": _values(results.of("status")),
            "empty_causes": _values(results.of("empty")),
            **{
                name: results.number(name)
                for name in ("shared_streams", "repeated_draws", "with_reasoning")
            },
            **({"undefined": undefined} if undefined else {}),
        },
    }


def interval_json(interval: EstimatedInterval) -> Json:
    """Return an interval with its estimand as plain data."""
    return {**picked(interval, "estimand", "interval"), "interval_reason": interval.reason}


def _estimated(intervals: Iterable[EstimatedInterval]) -> list[Json]:
    return [picked(interval, "estimand", "interval", "reason") for interval in intervals]


def _values(rows: Mapping[str, Result]) -> Json:
    return {name: row.value.value for name, row in rows.items()}


def _key(name: str, policy: str) -> str:
    return name if policy == "exact" else f"{name}_{policy}"


def _by_policy(name: str, rows: Mapping[str, Result], field: str) -> Json:
    return {_key(name, policy): plain(getattr(row, field)) for policy, row in rows.items()}


def _reasons(estimates: Mapping[str, Estimate]) -> Json:
    return {name: one.reason for name, one in estimates.items() if not one.defined}


def _status(value: Estimate) -> str:
    return "value" if value.defined else "undefined"


def _share(part: Part, tag: str = "") -> Json:
    """Return the accuracies of a subtest, or of its items with a tag."""
    rows = part.policies("accuracy", tag)
    exact = rows["exact"]
    return {
        "n": part.number("counted", tag),
        "n_scored": exact.n,
        **_by_policy("correct", rows, "total"),
        "accuracy": exact.value.value,
        **_by_policy("interval", rows, "interval"),
        "intervals": _estimated(exact.intervals),
        "undefined": {
            **{
                _key("correct", policy): row.value.reason
                for policy, row in rows.items()
                if row.value.reason not in ("", NOT_SCORED)
            },
            **_reasons({"accuracy": exact.value}),
            **{
                _key("interval", policy): row.interval_reason
                for policy, row in rows.items()
                if row.interval is None
            },
        },
    }


def _foils(rows: Mapping[str, Result]) -> Json:
    exact = rows["exact"]
    return {
        **_by_policy("errors", rows, "total"),
        "of": exact.n,
        "rate": exact.value.value,
        "intervals": _estimated(exact.intervals),
        "undefined": _reasons({_key("errors", name): row.value for name, row in rows.items()}),
    }


def _measured(results: Results, row: Result) -> Json:
    of = {"part": row.part, "rater": row.rater, "feature": row.measure}
    return {
        **(picked(row, "rater", "measure", "kind") if row.part else {}),
        "status": _status(row.value),
        "mean": row.value.value,
        **picked(row, "total", "n"),
        **{name: results.number(name, **of) for name in ("nonzero", "undefined")},
    }


def _subtest(part: Part) -> Json:
    right, share = part.right, _share(part)
    yes, corrected = part.find("yes_rate"), part.find("chance_corrected")
    estimates = {_key(*one): part.value(*one) for one in ESTIMATES}
    baselines = part.baselines
    return {
        "response": str(part.subtest.response),
        **picked(part, "id", "title"),
        **{name: part.number(name) for name in ("planned", "answered", "repeated")},
        **share,
        "status": _status(right.value),
        "baselines": plain(baselines),
        "statuses": _values(part.of("status")),
        **plain(estimates),
        "yes_rate_of": yes.n if yes is not None and part.subtest.task.answers else None,
        "yes_rate_intervals": [] if yes is None else _estimated(yes.intervals),
        "chance_corrected_intervals": [] if corrected is None else _estimated(corrected.intervals),
        "undefined": {
            **share["undefined"],
            **_reasons(estimates),
            **_reasons({f"baselines.{name}": one for name, one in baselines.items()}),
        },
        "by_tag": {tag: _share(part, tag) for tag in part.of("accuracy")},
        "by_foil": {
            kind: _foils(part.policies("foil_errors", kind)) for kind in part.of("foil_errors")
        },
        "measures": {name: _measured(part.results, row) for name, row in part.measures.items()},
        "positions": [
            {
                "position": int(number),
                "keyed": row.n,
                "correct": row.total,
                "accuracy": row.value.value,
                "chosen": chosen.total,
                "share": chosen.value.value,
            }
            for (number, row), chosen in zip(
                part.of("position_accuracy").items(),
                part.of("position_share").values(),
                strict=True,
            )
        ],
        **part.usable.to_json(),
    }


def _categories(categories: Mapping[str, CategoryBurden]) -> Json:
    return {
        name: {
            **picked(category, "count", "rate", "of"),
            "status": _status(category.count),
        }
        for name, category in categories.items()
    }


def _judge(results: Results, judge: Judge) -> Json:
    burden, terms = judge.burden, judge.terms
    rates = results.of("rate", rater=terms)
    return {
        "rater": judge.rater,
        "scope": terms.scope,
        "declared": judge.declared,
        "prompt_hash": terms.prompt_hash,
        **picked(judge, "other_prompts", "caution"),
        **burden.usable.to_json(),
        **picked(
            burden,
            *("features", "n_responses", "n_distinct", "n_burden", "words_mean", "no_burden"),
            *("symptom_burden", "interval", "interval_reason"),
        ),
        "present": {feature: row.total for feature, row in rates.items()},
        "calibration": {
            feature: burden.calibration[feature].to_json()
            for feature in judge.features
            if feature in burden.calibration
        },
        "n_features": len(burden.features),
        "n_not_judged": judge.not_judged,
        "status": _status(burden.symptom_burden),
        "reason": burden.symptom_burden.reason,
        "intervals": _estimated(burden.intervals),
        "bounds": plain(burden.bounds),
        "n_items": burden.n_items,
        "categories": _categories(burden.categories),
        "category_intervals": {
            name: {
                what: _estimated(burden.category_intervals(name, rate=what == "rate"))
                for what in ("count", "rate")
            }
            for name in burden.categories
            if burden.intervals
        },
        "groupings": {
            name: _categories(categories) for name, categories in judge.groupings.items()
        },
        "rates": _values(rates),
        "rate_intervals": {
            feature: _estimated(row.intervals) for feature, row in rates.items() if burden.intervals
        },
        "rate_bounds": {
            feature: plain(row.bounds) for feature, row in rates.items() if burden.bounds
        },
        "features_found": burden.found,
        "most_features": burden.most,
        "feature_correlation": burden.feature_correlation,
    }


def _statistic(rows: Sequence[Result]) -> Json:
    """Return the values of a statistic."""
    return {
        **picked(rows[0].statistic, "id", "title", "meaning", "unit"),
        "subtest": rows[0].part or None,
        "values": [
            {
                "of": row.feature or None,
                "value": row.value.value,
                **picked_or_none(row.interval, "low", "high"),
                "n": row.n,
                "status": _status(row.value),
                "reason": row.value.reason,
            }
            for row in rows
        ],
    }


FORMAT = 1


def administration_document(
    data: AdministrationData,
    results: Results | None = None,
    *,
    interval: bool = False,
    messages: bool = False,
) -> Json:
    """Return what ``run``, ``resume``, ``name`` and ``results ID`` print with ``--json``."""
    from tabwb.analysis.frame import effective_statuses

    if results is None:
        from tabwb.analysis.statistics.summary import pool  # loads numpy

        results = pool([data], interval=interval)
    calls = calls_by_trial(data.judged)
    spoken = _spoken(data)
    made = TrialDocuments(data.battery, data.administration.conditions)
    statuses = effective_statuses(data.battery, data.trials)
    trials = [
        made.document(
            trial,
            status,
            calls.get(trial.plan.number, ()),
            spoken.get(trial.plan.number, {}),
            _messages(trial) if messages else None,
        )
        for trial, status in zip(data.trials, statuses, strict=True)
    ]
    recordings = [_recorded_json(kept) for kept in data.recordings]
    return around(data, results, trials, recordings if spoken else None)


def around(
    data: AdministrationData,
    results: Results,
    trials: Sequence[Json],
    recordings: Sequence[Json] | None = None,
) -> Json:
    """Return a document with these trials."""
    administration = data.administration
    conditions = administration.conditions
    told = cautions(data.battery, results, model=conditions.kind == "model",
                    lesion=conditions.lesion is not None, given=[administration])  # fmt: skip
    return {
        "format": FORMAT,
        "administration": administration_part(data),
        "trials": trials,
        **({} if recordings is None else {"recordings": recordings}),
        "summary": summary_json(results),
        **_norms(data, results),
        "moved": plain(moved(results, [administration])),
        "notices": list(told),
    }


def _norms(data: AdministrationData, results: Results) -> Json:
    """Return a person's values compared with norms, where there are any."""
    if data.administration.conditions.kind == "model":
        return {}
    from tabwb.analysis.norms import norms_of

    table = norms_of(data.administration.conditions.examinee, data.battery.id, results)
    return {} if table is None else {"norms": table.to_dicts()}


def _messages(trial: Trial) -> Sequence[Message]:
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
    from tabwb.analysis.statistics.naming import namings
    from tabwb.media.documents.naming_document import spoken_json

    return {naming.view.trial.plan.number: spoken_json(naming) for naming in namings(data)}


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
    from tabwb.media.documents.contrasts import mean_json, pair_json

    return {
        "format": FORMAT,
        "groups": [
            {
                "by": dict(row.group.named),
                "name": row.label,
                "values": {one.key: one.told for one in row.group.values},
                "together": list(row.group.together),
                "apart": dict(row.group.apart),
                "moved": plain(
                    moved(row.results, [one.administration for one in row.group.members])
                ),
                "kind": "model" if row.group.has_model else "speaker",
                "labels": dict(row.group.labels),
                "tunings": list(row.group.tunings) if row.group.has_model else [],
                "mixed": {name: list(values) for name, values in row.group.mixed.items()},
                "administrations": [
                    administration_json(member.administration) for member in row.group.members
                ],
                "summary": summary_json(row.results),
            }
            for row in rows
        ],
        "pairs": list(map(pair_json, pairs)),
        "over_families": list(map(mean_json, over_families(pairs))),
        "notices": group_cautions(rows),
    }


def export_document(chosen: Iterable[AdministrationData], *, messages: bool = False) -> Json:
    """Return what exporters get: one document per administration, files without their folders."""
    from tabwb.analysis.file_names import with_file_names

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


T = TypeVar("T")
SHARED = (
    "options",
    "ratings",
    "expected",
    "tags",
    "cluster",
    "foils",
    "reference",
    "item_metadata",
)
"""Keys of a trial's document whose values several documents may share."""
_KEPT = 20_000
"""Ratings that are remembered, because most repeat an earlier one."""


def calls_by_trial(judged: Iterable[Judged]) -> dict[int, list[Judged]]:
    """Return calls of judges by the number of their trial."""
    calls: dict[int, list[Judged]] = {}
    for call in judged:
        calls.setdefault(call.trial, []).append(call)
    return calls


class TrialDocuments:
    """Makes the documents of the trials of one administration.

    What belongs to an item, and equal lists of ratings, are made once and shared between documents.
    """

    def __init__(
        self,
        battery: Battery,
        conditions: Conditions,
        named: Callable[[Any], Any] | None = None,
        ratings: Once[list[Json]] | None = None,
    ) -> None:
        self._conditions = conditions
        self._named = named
        self._items = {
            (subtest.id, item.id): (subtest, item, *self._parts(item))
            for subtest in battery.subtests
            for item in subtest.items
        }
        self._options: dict[tuple[str, ...], list[str]] = {}
        self._ratings = ratings or shared_ratings(named)
        self._columns = decoding_columns()

    def document(
        self,
        trial: Trial,
        effective: ResponseStatus | None,
        calls: Sequence[Judged] = (),
        spoken: Mapping[str, object] | None = None,
        sent: Sequence[Message] | None = None,
        system: Sequence[Message] | None = None,
    ) -> Json:
        """Return the document of a trial."""
        plan = trial.plan
        subtest, item, own, others = self._items[plan.subtest, plan.item]
        if plan.options not in self._options:
            self._options[plan.options] = self._shared(list(plan.options))
        given = _counting(trial)
        made = _trial_json(
            trial,
            effective,
            subtest.response,
            self._ratings.of(trial.ratings),
            self._options[plan.options],
        )
        made.update(own)
        made["foil"] = _foil(subtest, trial, item)
        made["drawn"] = None if given is None else self._is_drawn(subtest, trial, given)
        made.update(others)
        messages = system if system is not None else () if given is None else given.messages
        told = [message.content for message in messages if message.role == "system"]
        made["system"] = "\n\n".join(told) or None
        made["reply"] = None if given is None else self._reply(subtest, given)
        if sent is not None:
            made["messages"] = [picked(message, "role", "content") for message in sent]
        if spoken:
            made.update(spoken)
        made["judgements"] = [_judgement_json(call) for call in calls]
        return made

    def _parts(self, item: Item) -> tuple[Json, Json]:
        own = picked(item, "expected", "tags", "cluster", "foils")
        others: Json = {"reference": item.reference} if item.reference else {}
        if item.metadata:
            others["item_metadata"] = dict(item.metadata)
        return self._shared(own), self._shared(others)

    def _shared(self, part: T) -> T:
        return part if self._named is None else self._named(part)

    def _is_drawn(self, subtest: Subtest, trial: Trial, attempt: Attempt) -> bool:
        conditions = self._conditions
        if conditions.kind != "model":
            return True
        protocol = protocol_of(conditions.protocol, subtest, trial, attempt)
        return not is_fixed(conditions, protocol, attempt)

    def _reply(self, subtest: Subtest, attempt: Attempt) -> Json:
        """Return what was sent for the reply that counts, and what came with it."""
        noted = attempt.metadata
        return {
            "attempt": attempt.number,
            "decoding": self._decoding(subtest, attempt),
            # Earlier versions kept OpenAI's under "model".
            "model_version": noted.get("model_version") or noted.get("model"),
            "prompt_tokens": _read(int, noted.get("prompt_tokens")),
            "reply_tokens": _read(int, noted.get("reply_tokens")),
            "reasoning_tokens": _read(int, noted.get("thought_tokens")),
            "finish_reason": noted.get("finish_reason"),
            "cause": noted.get("cause"),
            "option_log_probabilities": _log_probabilities(noted),
            "recorded_at": attempt.recorded_at,
        }

    def _decoding(self, subtest: Subtest, attempt: Attempt) -> Json | None:
        noted, conditions = attempt.metadata, self._conditions
        if conditions.kind != "model" or conditions.origin not in {None, "model"}:
            return None
        columns = self._columns
        if "max_tokens" in noted or conditions.is_imported:
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


def shared_ratings(
    named: Callable[[Any], Any] | None = None,
) -> Once[list[Json]]:
    """Return what makes lists of ratings: of one tuple one list, of equal ratings one object."""
    make = _rating_json if named is None else lambda rating: named(_rating_json(rating))
    one = Once(make, _KEPT)
    return Once(lambda ratings: [one.of(rating) for rating in ratings])


def _rating_json(rating: Rating) -> Json:
    """Return a rating."""
    return {
        "rater": rating.rater,
        "measure": rating.measure,
        "value": rating.value,
        "status": rating.status.value,
        "reason": rating.reason,
    }


def _counting(trial: Trial) -> Attempt | None:
    return trial.counting if trial.state is TrialState.ANSWERED else None


def _trial_json(
    trial: Trial,
    effective: ResponseStatus | None,
    kind: str,
    ratings: list[Json],
    options: list[str],
) -> Json:
    """Return a trial; response, status and latency are of the attempt that counts, or None."""
    plan, counting = trial.plan, _counting(trial)
    # The attribute _value_ of an enumeration is read five times faster than its property value.
    response = status = stop_reason = latency_s = usable = reasoning = None
    if counting is not None:
        response, latency_s = counting.response, counting.latency_s
        reasoning = counting.reasoning or None
        status = counting.status and counting.status._value_
        stop_reason = counting.stop_reason._value_
        usable = is_usable(effective, kind, response)
    return {
        "number": plan.number,
        "subtest": plan.subtest,
        "item": plan.item,
        "replicate": plan.replicate,
        "practice": plan.practice,
        "options": options,
        "prompt": plan.prompt,
        "response": response,
        "reasoning": reasoning,
        "state": trial.state._value_,
        "reason": trial.reason,
        "status": status,
        "effective_status": effective and effective._value_,
        "usable": usable,
        "stop_reason": stop_reason,
        "latency_s": latency_s,
        "attempts": [_attempt_json(attempt) for attempt in trial.attempts],
        "ratings": ratings,
        "notes": list(trial.notes),
    }


def _attempt_json(attempt: Attempt) -> Json:
    return {
        "n": attempt.number,
        "response": attempt.response,
        "reasoning": attempt.reasoning or None,
        "state": attempt.state._value_,
        "status": attempt.status and attempt.status._value_,
        "stop_reason": attempt.stop_reason._value_,
        "latency_s": attempt.latency_s,
        "error": attempt.error,
        "metadata": {name: value for name, value in attempt.metadata.items() if name != REASONING},
        "recorded_at": attempt.recorded_at,
    }


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
    if LOG_PROBABILITIES not in noted:
        return None
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


def _foil(subtest: Subtest, trial: Trial, item: Item) -> str | None:
    if item.expected is None or not subtest.task.options:
        return None
    for rating in trial.ratings:
        if rating.measure == "extracted" and rating.rater in subtest.scorers:
            if rating.value is None:
                return None
            correct = rating.value == 1.0
            return read_reason(
                correct, rating.reason, item.expected, trial.plan.options, item.foils
            ).error
    return None
