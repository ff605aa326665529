"""The summary of one administration, or of several pooled, and its JSON (``format: 1``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tabwb.analysis.administrations import AdministrationData, subtests_of
from tabwb.battery.model import Battery
from tabwb.records.languages import NO_SPACES, is_unspaced_language
from tabwb.records.ratings import FailedRater
from tabwb.report.plain import Json, picked, plain
from tabwb.report.summaries.judges import JudgeSummary
from tabwb.report.summaries.raters import RaterSummary, raters_of
from tabwb.report.summaries.subtests import FoilErrors, Measured, Share, SubtestSummary
from tabwb.scoring.burden import NONE_COUNTED, CategoryBurden, Usable
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimate, EstimatedInterval

if TYPE_CHECKING:
    from tabwb.report.summaries.naming import NamedSubtest
    from tabwb.report.summaries.statistics import StatisticResult


@dataclass(frozen=True, slots=True)
class Answers:
    """All responses that count, whatever the subtest.

    Attributes:
        n_distinct: different texts, responses named aloud left out; None where all are.
        inexact: greedy responses whose text may depend on the batch, because two tokens were no
            further apart than rounding (the back end's note ``batch_exact=no``).
        empty_causes: why empty responses are empty (the back end's note ``cause``), to number.
        shared_streams: drawn from a random stream that others share.
        repeated_draws: left out because the same draw of another administration counts.
        with_reasoning: with the model's reasoning in them, which that version did not keep apart.
    """

    n: int
    n_distinct: int | None
    words_mean: Estimate
    statuses: Mapping[str, int]
    inexact: int
    empty_causes: Mapping[str, int] = field(default_factory=dict)
    usable: Usable = NONE_COUNTED
    shared_streams: int = 0
    repeated_draws: int = 0
    with_reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """What is said of all responses that count: together, subtest by subtest, judge by judge."""

    subtests: tuple[SubtestSummary, ...]
    judges: tuple[JudgeSummary, ...]
    answers: Answers
    others: Mapping[str, Mapping[str, Measured]] = field(default_factory=dict)
    named: tuple[NamedSubtest, ...] = ()
    failed: tuple[FailedRater, ...] = ()
    raters: tuple[RaterSummary, ...] = ()
    statistics: tuple[StatisticResult, ...] = ()

    def to_json(self) -> Json:
        """Return plain data; whatever is undefined is None, with its reason beside it."""
        named = {subtest.id: subtest.to_json() for subtest in self.named}
        return {
            "subtests": [
                _subtest(subtest) | ({"naming": named[subtest.id]} if subtest.id in named else {})
                for subtest in self.subtests
            ],
            "judges": [_judge(judge) for judge in self.judges],
            "other_measures": [
                {
                    "rater": rater,
                    "measures": {name: _measured(value) for name, value in measures.items()},
                }
                for rater, measures in self.others.items()
            ],
            "failed_raters": plain(self.failed),
            "raters": [rater.to_json() for rater in self.raters],
            "statistics": [result.to_json() for result in self.statistics],
            "answers": {
                **self.answers.usable.to_json(),
                "batch_inexact": self.answers.inexact,
                **picked(
                    self.answers,
                    *("n_distinct", "words_mean", "statuses", "empty_causes"),
                    *("shared_streams", "repeated_draws", "with_reasoning"),
                ),
            },
        }


def load() -> None:
    """Import what :func:`pool` needs, before it is called: numpy alone takes 0.1 s."""
    import tabwb.report.summaries.columns.answers
    import tabwb.report.summaries.columns.judged
    import tabwb.report.summaries.columns.subtests
    import tabwb.report.summaries.statistics  # noqa: F401


def pool(sources: Sequence[AdministrationData], *, interval: bool = False) -> Summary:
    """Return the summary of administrations of one battery: responses are pooled, not averaged."""
    if len({(source.battery.id, source.battery.content_hash) for source in sources}) != 1:
        raise ValueError("only administrations of one battery version can be pooled")
    from tabwb.report.summaries.columns import answers, judged, subtests
    from tabwb.report.summaries.columns.table import table_of
    from tabwb.report.summaries.statistics import statistics_of

    table = table_of(sources)
    chosen = subtests_of(sources)
    summary = Summary(
        subtests=subtests.summarise_subtests(table, chosen),
        judges=tuple(
            judge
            for judge in judged.summarise_judges(table, interval=interval)
            if chosen is None or judge.burden.n_responses or judge.not_judged
        ),
        answers=answers.answers_of(table),
        others=answers.others_of(table),
        named=named_of(table.sources),
        failed=answers.failures_of(table),
        raters=raters_of(table.sources, answers.rated_by(table)),
        statistics=statistics_of(table) if interval else (),
    )
    return with_words(summary, sources[0].battery)


def with_words(summary: Summary, battery: Battery) -> Summary:
    """Return a summary without mean words where the language is written without spaces."""
    if not is_unspaced_language(battery.language):
        return summary
    none = Estimate(None, NO_SPACES)
    return replace(
        summary,
        answers=replace(summary.answers, words_mean=none),
        judges=tuple(
            replace(judge, burden=replace(judge.burden, words_mean=none))
            for judge in summary.judges
        ),
    )


def named_of(sources: Sequence[AdministrationData]) -> tuple[NamedSubtest, ...]:
    """Return what is said of the pictures that a speaker named."""
    if not sources[0].battery.coded or not sources[0].is_speaker:
        return ()
    from tabwb.report.summaries.naming import named_subtests

    chosen = subtests_of(sources)
    named = named_subtests([replace(source, trials=source.own_trials) for source in sources])
    return named if chosen is None else tuple(one for one in named if one.id in chosen)


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
