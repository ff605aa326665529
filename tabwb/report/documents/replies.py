"""What stands with one reply in documents and exports: its item, what was sent, how it came."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping

from tabwb.administer.session.choosing import LOG_PROBABILITIES, OPTIONS
from tabwb.administer.session.exchange import token_limit
from tabwb.battery.model import Battery, Subtest
from tabwb.records.condition_table import decoding_columns
from tabwb.records.condition_values import ColumnType
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import NOT_SENT
from tabwb.records.states import TrialState
from tabwb.records.trials import Attempt, Trial
from tabwb.report.plain import Json
from tabwb.report.summaries.draws import REPLAYED
from tabwb.scoring.choice import read_reason


def item_json(battery: Battery, trial: Trial) -> Json:
    """Return what the battery says of a trial's item, and which kind of foil was chosen.

    ``foil`` is read from the stored verdict of the policy *extracted*: the kind of the foil that
    was chosen, ``other-option``, ``ambiguous`` or ``no-option``; None for a right answer and where
    there is no such verdict.

    Args:
        battery: of the administration.
        trial: one of its trials.
    """
    subtest = battery.subtest(trial.plan.subtest)
    item = subtest.item(trial.plan.item)
    return {
        "expected": item.expected,
        "tags": list(item.tags),
        "foils": dict(item.foils),
        "foil": _foil(subtest, trial, item.expected, item.foils),
        **({"reference": item.reference} if item.reference else {}),
        **({"item_metadata": dict(item.metadata)} if item.metadata else {}),
    }


def reply_json(battery: Battery, conditions: Conditions, trial: Trial) -> Json:
    """Return what was sent for the reply that counts, and what came with it.

    Keys: ``attempt`` (its number), ``decoding`` (what was sent: ``max_tokens``, ``temperature``,
    ``top_p``, ``stop``, ``seed``; None where it was not sent or is not known; None as a whole for a
    person), ``model_version`` (as the service resolved it), ``prompt_tokens``, ``reply_tokens``
    (reasoning included), ``reasoning_tokens``, ``finish_reason`` (in the service's word),
    ``cause`` (why there is no text) and ``option_log_probabilities`` (natural logarithms, summed
    over the tokens of each option). Empty where no reply counts.

    Args:
        battery: of the administration.
        conditions: of the administration.
        trial: one of its trials.
    """
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
        "prompt_tokens": _read(int, noted.get("prompt_tokens")),
        "reply_tokens": _read(int, noted.get("reply_tokens")),
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
    """Return option to log probability, from the options and their sums, in one order.

    Earlier versions kept one object with an option's sum under its name.
    """
    try:
        found = json.loads(noted.get(LOG_PROBABILITIES, "null"))
        options = json.loads(noted.get(OPTIONS, "null"))
    except ValueError:
        return None
    if isinstance(found, list) and isinstance(options, list):
        found = dict(zip(options, found, strict=False))
    if not isinstance(found, dict):
        return None
    sums = {
        str(option): one.get("sum") if isinstance(one, dict) else one
        for option, one in found.items()
    }
    return {
        option: float(value) if isinstance(value, int | float) and math.isfinite(value) else None
        for option, value in sums.items()
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
