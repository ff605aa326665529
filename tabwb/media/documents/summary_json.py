"""The results of one administration, or of several pooled, as JSON (``format: 1``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tabwb.analysis.plain import Json, picked, picked_or_none, plain
from tabwb.analysis.statistics.accuracy import NOT_SCORED
from tabwb.analysis.statistics.results import Part, Result, Results
from tabwb.scoring.burden import NONE_COUNTED, CategoryBurden
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimate, EstimatedInterval

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge

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


def _foil(rows: Mapping[str, Result]) -> Json:
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
        "response": part.subtest.response.value,
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
            kind: _foil(part.policies("foil_errors", kind)) for kind in part.of("foil_errors")
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
