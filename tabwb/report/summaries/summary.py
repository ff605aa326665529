"""The summary of one administration, or of several pooled, and its JSON (``format: 1``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tabwb.analysis.administrations import AdministrationData, subtests_of
from tabwb.analysis.raters import RaterSummary, raters_of
from tabwb.battery.model import Battery
from tabwb.records.languages import NO_SPACES, is_unspaced_language
from tabwb.records.ratings import FailedRater
from tabwb.report.summaries.judges import JudgeSummary
from tabwb.report.summaries.subtests import Measured, SubtestSummary
from tabwb.scoring.burden import NONE_COUNTED, Usable
from tabwb.scoring.estimate import Estimate

if TYPE_CHECKING:
    from tabwb.analysis.statistics.results import Results
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


@dataclass(frozen=True)
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

    @cached_property
    def results(self) -> Results:
        """Every value as a row, found by what was measured."""
        from tabwb.analysis.statistics.made import results_of

        return results_of(self)


def load() -> None:
    """Import what :func:`pool` needs, before it is called: numpy alone takes 0.1 s."""
    import tabwb.analysis.answers
    import tabwb.analysis.judged
    import tabwb.analysis.subtests
    import tabwb.report.summaries.statistics  # noqa: F401


def pool(sources: Sequence[AdministrationData], *, interval: bool = False) -> Summary:
    """Return the summary of administrations of one battery: responses are pooled, not averaged."""
    if len({(source.battery.id, source.battery.content_hash) for source in sources}) != 1:
        raise ValueError("only administrations of one battery version can be pooled")
    from tabwb.analysis import answers, judged, subtests
    from tabwb.analysis.frame import table_of
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
