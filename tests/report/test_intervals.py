"""Every interval of the results has its estimand, and is that of docs/uncertainty.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Group

from tabwb.records.trials import Trial
from tabwb.report.render.tables import summary_view
from tabwb.report.summaries.cautions import DETERMINISTIC, PROMPTS_LIKE_THESE, UNRELIABLE, cautions
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.summary import Summary, pool
from tabwb.scoring.estimate import Estimand, clopper_pearson
from tabwb.scoring.intervals import burden_interval, rate_interval
from tests.report.given import BATTERY, CONDITIONS, DECLARED, SAMPLED, answered, summarise
from tests.report.test_tables import printed, unwrapped

LIKE, THESE = Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_PROMPTS
FOUND = ("retracing",)


def texts(replicates: int, present: Sequence[int]) -> list[Trial]:
    """Replicates of two texts; of each so many have one feature."""
    made: list[Trial] = []
    for item, hits in zip(("ct1", "ct2"), present, strict=True):
        for n in range(replicates):
            features = FOUND if n < hits else ()
            text = f"We went to place {n} of {item} and came home late in the evening."
            number = len(made) + 1
            made.append(answered(item, text, number=number, replicate=n, features=features))
    return made


def summary(trials: Sequence[Trial], *, greedy: bool = False) -> Summary:
    conditions = CONDITIONS if greedy else SAMPLED
    return summarise(BATTERY, trials, conditions, declarations=DECLARED, interval=True)


def test_a_burden_has_both_estimands_where_it_has_replicates() -> None:
    (judge,) = summary(texts(4, (1, 3))).judges
    values = [[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]]
    assert judge.burden.intervals == tuple(burden_interval(values, 7, one) for one in (LIKE, THESE))
    assert judge.burden.intervals[1].interval is not None
    assert judge.burden.rate_intervals("retracing") == tuple(
        rate_interval([1, 3], [4, 4], one) for one in (LIKE, THESE)
    )


def test_without_replicates_there_is_no_interval_for_these_prompts() -> None:
    (judge,) = summary(texts(1, (1, 0))).judges
    like, these = judge.burden.intervals
    assert like.interval is not None
    assert (these.interval, these.reason.split(":")[0]) == (None, "one response per item")


def test_greedy_answers_are_deterministic_for_these_prompts() -> None:
    found = summary(texts(1, (1, 0)), greedy=True)
    assert found.judges[0].burden.intervals[1].deterministic
    assert DETERMINISTIC in cautions(BATTERY, found, model=True)
    view = Group(*summary_view(found, BATTERY))
    assert "deterministic for these prompts" in unwrapped(printed(view))


@pytest.mark.parametrize("n", [1, 5])
def test_no_interval_of_a_burden_has_zero_width(n: int) -> None:
    for hits in (0, n):
        (judge,) = summary(texts(n, (hits, hits))).judges
        assert judge.burden.interval is not None
        assert judge.burden.interval.low < judge.burden.interval.high


def test_replicates_are_no_independent_answers_in_the_interval_of_an_accuracy() -> None:
    said = ("lion", "lion", "lion", "drum"), ("boat", "boot", "boat", "boat")
    trials = [
        answered(item, text, number=4 * place + n, replicate=n)
        for place, (item, answers) in enumerate(zip(("wc1", "wc3"), said, strict=True))
        for n, text in enumerate(answers)
    ]
    words = next(one for one in summary(trials).subtests if one.id == "words")
    assert words.share.intervals() == (
        rate_interval([3, 1], [4, 4]),
        rate_interval([3, 1], [4, 4], THESE),
    )
    assert words.share.interval() != clopper_pearson(4, 8)
    once = next(one for one in summary(trials[::4]).subtests if one.id == "words")
    assert once.share.interval() == clopper_pearson(1, 2)


def test_items_are_the_clusters_of_pooled_models() -> None:
    sources = [
        Source(BATTERY, texts(1, hits), replace(SAMPLED, examinee=name), DECLARED)
        for name, hits in (("one", (1, 0)), ("two", (1, 1)))
    ]
    (judge,) = pool(sources, interval=True).judges
    assert judge.burden.sizes == (2, 2)
    assert judge.burden.intervals[0] == burden_interval([[1.0, 1.0], [0.0, 1.0]], 7)


def test_every_interval_of_the_document_names_its_estimand() -> None:
    found = summary(texts(2, (1, 2)))
    document: Any = found.to_json()
    judge = document["judges"][0]
    assert [one["estimand"] for one in judge["intervals"]] == [LIKE.value, THESE.value]
    assert judge["intervals"][0]["interval"] == judge["interval"]
    rates = judge["rate_intervals"]["retracing"]
    assert [one["estimand"] for one in rates] == [LIKE.value, THESE.value]
    said = list(cautions(BATTERY, found, model=True))
    assert PROMPTS_LIKE_THESE in said and UNRELIABLE in said
