"""The summary of one administration, or of several pooled, as JSON (``format: 1``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tabwb.records.ratings import rule_of
from tabwb.report.plain import Json, picked, picked_or_none, plain
from tabwb.report.summaries.judges import JudgeSummary
from tabwb.report.summaries.naming import NamedDifference, NamedSubtest, facts_of
from tabwb.report.summaries.naming_agreement import code_agreements, rater_agreements
from tabwb.report.summaries.subtests import FoilErrors, Measured, Share, SubtestSummary
from tabwb.report.summaries.summary import Summary
from tabwb.scoring.burden import CategoryBurden
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import EstimatedInterval

if TYPE_CHECKING:
    from tabwb.report.summaries.statistics import StatisticResult


def summary_json(summary: Summary) -> Json:
    """Return plain data; whatever is undefined is None, with its reason beside it."""
    named = {subtest.id: _named(subtest) for subtest in summary.named}
    return {
        "subtests": [
            _subtest(subtest) | ({"naming": named[subtest.id]} if subtest.id in named else {})
            for subtest in summary.subtests
        ],
        "judges": [_judge(judge) for judge in summary.judges],
        "other_measures": [
            {
                "rater": rater,
                "measures": {name: _measured(value) for name, value in measures.items()},
            }
            for rater, measures in summary.others.items()
        ],
        "failed_raters": plain(summary.failed),
        "raters": [rater.to_json() for rater in summary.raters],
        "statistics": [_statistic(result) for result in summary.statistics],
        "answers": {
            **summary.answers.usable.to_json(),
            "batch_inexact": summary.answers.inexact,
            **picked(
                summary.answers,
                *("n_distinct", "words_mean", "statuses", "empty_causes"),
                *("shared_streams", "repeated_draws", "with_reasoning"),
            ),
        },
    }


def interval_json(interval: EstimatedInterval) -> Json:
    """Return an interval with its estimand as plain data."""
    return {**picked(interval, "estimand", "interval"), "interval_reason": interval.reason}


def _estimated(intervals: Sequence[EstimatedInterval]) -> list[Json]:
    return [picked(interval, "estimand", "interval", "reason") for interval in intervals]


def _key(name: str, policy: str) -> str:
    return name if policy == "exact" else f"{name}_{policy}"


def _by_policy(name: str, values: Mapping[str, object]) -> Json:
    return {_key(name, policy): values[policy] for policy in POLICIES}


def _share(share: Share) -> Json:
    lacking = {
        _key("interval", policy): share.interval_reason(policy)
        for policy in POLICIES
        if share.interval(policy) is None
    }
    accuracy = share.accuracy()
    return {
        "n": share.n,
        "n_scored": share.scored,
        **_by_policy("correct", share.correct),
        "accuracy": accuracy.value,
        **_by_policy("interval", {name: plain(share.interval(name)) for name in POLICIES}),
        "intervals": _estimated(share.intervals()),
        "undefined": {
            **{_key("correct", policy): why for policy, why in share.unread.items()},
            **({} if accuracy.defined else {"accuracy": accuracy.reason}),
            **lacking,
        },
    }


def _foil(errors: FoilErrors) -> Json:
    rates = {policy: errors.rate(policy) for policy in POLICIES}
    return {
        **_by_policy("errors", errors.errors),
        "of": errors.of,
        "rate": rates["exact"].value,
        "intervals": _estimated(errors.intervals("exact")),
        "undefined": {
            _key("errors", policy): rate.reason
            for policy, rate in rates.items()
            if not rate.defined
        },
    }


def _measured(measured: Measured) -> Json:
    return {
        **(picked(measured, "rater", "measure", "kind") if measured.rater else {}),
        "status": "value" if measured.mean.defined else "undefined",
        **picked(measured, "mean", "total", "n", "nonzero", "undefined"),
    }


def _subtest(subtest: SubtestSummary) -> Json:
    estimates = {
        _key(measure, policy): value
        for measure, by_policy in subtest.estimates.items()
        for policy, value in by_policy.items()
    }
    share = _share(subtest.share)
    reasons = {
        **estimates,
        **{f"baselines.{name}": value for name, value in subtest.baselines.items()},
    }
    return {
        "response": subtest.kind.value,
        **picked(subtest, "id", "title", "planned", "answered", "repeated"),
        **share,
        "status": "value" if subtest.share.accuracy().defined else "undefined",
        **picked(subtest, "baselines", "statuses"),
        **{name: value.value for name, value in estimates.items()},
        "yes_rate_of": None if subtest.said_yes is None else subtest.said_yes.scored,
        "yes_rate_intervals": (
            [] if subtest.said_yes is None else _estimated(subtest.said_yes.intervals())
        ),
        "chance_corrected_intervals": _estimated(subtest.chance_corrected_intervals),
        "undefined": {
            **share["undefined"],
            **{name: value.reason for name, value in reasons.items() if not value.defined},
        },
        "by_tag": {tag: _share(share) for tag, share in subtest.by_tag.items()},
        "by_foil": {kind: _foil(errors) for kind, errors in subtest.by_foil.items()},
        "measures": {name: _measured(value) for name, value in subtest.measures.items()},
        "positions": [
            {
                "position": position.number,
                **picked(position, "keyed", "correct", "accuracy", "chosen", "share"),
            }
            for position in subtest.positions
        ],
        **subtest.usable.to_json(),
    }


def _categories(categories: Mapping[str, CategoryBurden]) -> Json:
    return {
        name: {
            **picked(category, "count", "rate", "of"),
            "status": "value" if category.count.defined else "undefined",
        }
        for name, category in categories.items()
    }


def _judge(judge: JudgeSummary) -> Json:
    burden = judge.burden
    return {
        **picked(judge, "rater", "scope", "declared", "prompt_hash", "other_prompts", "caution"),
        **burden.usable.to_json(),
        **picked(
            burden,
            *("features", "n_responses", "n_distinct", "n_burden", "words_mean", "no_burden"),
            *("symptom_burden", "interval", "interval_reason"),
        ),
        "present": {feature: burden.present[feature] for feature in judge.features},
        "calibration": {
            feature: burden.calibration[feature].to_json()
            for feature in judge.features
            if feature in burden.calibration
        },
        "n_features": len(burden.features),
        "n_not_judged": judge.not_judged,
        "status": "value" if burden.symptom_burden.defined else "undefined",
        "reason": burden.symptom_burden.reason,
        "intervals": _estimated(burden.intervals),
        "bounds": plain(burden.bounds),
        "n_items": len(burden.sizes),
        "categories": _categories(judge.burden.categories),
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
        "rates": {feature: burden.rate(feature).value for feature in judge.features},
        "rate_intervals": {
            feature: _estimated(burden.rate_intervals(feature)) for feature in judge.features
        }
        if burden.intervals
        else {},
        "rate_bounds": {feature: plain(burden.rate_bounds(feature)) for feature in judge.features}
        if burden.bounds
        else {},
        "features_found": burden.found,
        "most_features": burden.most,
        "feature_correlation": burden.feature_correlation,
    }


def _named(subtest: NamedSubtest) -> Json:
    """Return plain data; what is not known is None."""
    summary = subtest.summary
    return {
        "rule": subtest.rules.rule,
        "primary_rater": None if rule_of(subtest.primary) else subtest.primary or None,
        "counts": rule_of(subtest.primary) or ("primary" if subtest.primary else "first"),
        "scored_by_several": sum(bool(item.other_scores) for item in subtest.items),
        "accuracy": {
            share.basis: {
                **picked(share, "correct", "n", "open", "rate", "interval"),
                "status": "undefined" if share.rate is None else "value",
            }
            for share in summary.accuracy
        },
        "items": dict(summary.statuses),
        **picked(
            summary,
            "codes",
            "borrowed",
            "proposed",
            "flags",
            "cues",
            "latency_median_s",
            "latency_n",
        ),
        "by_tag": {
            tag: picked(share, "correct", "n", "rate", "interval")
            for tag, share in subtest.by_tag.items()
        },
        "agreement": [one.to_json() for one in rater_agreements(subtest.items)],
        "code_agreement": [one.to_json() for one in code_agreements(subtest.items)],
        "decided_by": {"listener": summary.by_listener, "rule": summary.by_rule},
    }


def naming_difference_json(difference: NamedDifference) -> Json:
    """Return plain data; what is not known is None."""
    return {
        "subtest": difference.id,
        "changed": [
            {
                **picked(changed, "basis", "items", "left_out"),
                "first_right": changed.first,
                "second_right": changed.second,
                **picked_or_none(changed.test, "gained", "lost", "p", "mid_p"),
                "test": None if changed.test is None else "McNemar, exact, two-sided",
                "status": "undefined" if changed.test is None else "value",
            }
            for changed in difference.changed
        ],
        "codes": dict(zip(("first", "second"), map(dict, difference.codes), strict=True)),
        "items": [
            {
                **picked(pair, "item", "target", "differs"),
                "first": list(map(facts_of, pair.first)),
                "second": list(map(facts_of, pair.second)),
            }
            for pair in difference.pairs
        ],
    }


def _statistic(result: StatisticResult) -> Json:
    """Return plain data."""
    return {
        **picked(result.statistic, "id", "title", "meaning", "unit"),
        "subtest": result.part or None,
        "values": [
            {
                "of": value.of or None,
                **picked(value, "value", "low", "high", "n"),
                "status": "undefined" if value.value is None else "value",
                "reason": value.reason,
            }
            for value in result.values
        ],
    }
