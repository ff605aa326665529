"""Every interval of the results has its estimand, and is that of docs/uncertainty.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Group

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.cautions import bounds_words, cautions, correlation_notes, moved
from tabwb.analysis.contrast import members_compared, of_judge, showable
from tabwb.analysis.draws import REPLAYED, SHARED
from tabwb.analysis.measures import FEATURE_RATE
from tabwb.analysis.moved import Moved, moved_words
from tabwb.analysis.statistics.results import Results
from tabwb.analysis.statistics.summary import pool
from tabwb.battery.model import Battery, Item
from tabwb.media.documents.document import administration_document, summary_json
from tabwb.media.views.administration import summary_view
from tabwb.records.columns import ends_of
from tabwb.records.conditions import Conditions
from tabwb.records.trials import Trial
from tabwb.scoring.detectable import Design
from tabwb.scoring.estimate import Estimand, clopper_pearson
from tabwb.scoring.intervals import burden_interval, former_interval, korn_graubard, rate_interval
from tests.analysis.given import (
    BATTERY,
    CONDITIONS,
    DECLARED,
    SAMPLED,
    administration,
    answered,
    data_of,
    printed,
    summarise,
    unwrapped,
    with_seeds,
)

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


def summary(trials: Sequence[Trial], *, greedy: bool = False) -> Results:
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
    words = summary(trials).find("accuracy", "words")
    assert words is not None and words.intervals == (
        rate_interval([3, 1], [4, 4]),
        rate_interval([3, 1], [4, 4], THESE),
    )
    assert words.interval != clopper_pearson(4, 8)
    assert summary(trials[::4]).interval("accuracy", "words") == clopper_pearson(1, 2)


def test_items_are_the_clusters_of_pooled_models() -> None:
    sources = [
        data_of(BATTERY, texts(1, hits), replace(SAMPLED, examinee=name), DECLARED)
        for name, hits in (("one", (1, 0)), ("two", (1, 1)))
    ]
    (judge,) = pool(sources, interval=True).judges
    assert judge.burden.sizes == (2, 2)
    assert judge.burden.intervals[0] == burden_interval([[1.0, 1.0], [0.0, 1.0]], 7)


def unequal(lost: int) -> list[Trial]:
    """Return six responses to each of two texts; so many of the second are empty."""
    made = texts(6, (1, 6))
    empty = [
        answered("ct2", "", number=one.plan.number, replicate=one.plan.replicate)
        for one in made[6 : 6 + lost]
    ]
    return [*made[:6], *empty, *made[6 + lost :]]


def test_a_result_and_a_difference_have_one_number_where_responses_are_missing() -> None:
    trials = unequal(4)
    said = [
        answered(item, text, number=50 + n, replicate=n % 4)
        for n, (item, text) in enumerate([("wc1", "lion")] * 4 + [("wc3", "boat"), ("wc3", "boot")])
    ]
    source = data_of(BATTERY, [*said, *trials], SAMPLED, DECLARED)
    found = pool([source], interval=True)
    (judge,) = found.judges
    assert judge.burden.symptom_burden.value == pytest.approx((1 / 6 + 1) / 2)
    rows = members_compared([source], [source]).found.rows
    (row,) = (one for one in rows if one.judge and not one.feature)
    assert row.first == judge.burden.symptom_burden.value
    compared = {(one.subtest, one.policy): one.first for one in rows}
    assert found.value("accuracy", "words") == compared["words", "exact"] == 0.75
    assert judge.burden.rate("retracing").value == pytest.approx((1 / 6 + 1) / 2)


def test_bounds_stand_beside_a_burden_where_more_than_a_tenth_has_none() -> None:
    few = summary(unequal(1)).judges[0].burden
    assert sum(few.lost) == 1 and few.bounds is None and bounds_words(few) == ()
    many = summary(unequal(2)).judges[0].burden
    assert many.bounds is not None
    # 1 of 6 and 4 of 6 with one feature; the two others none, or all seven.
    assert many.bounds.low == pytest.approx((1 / 6 + 4 / 6) / 2)
    assert many.bounds.high == pytest.approx((1 / 6 + (4 + 14) / 6) / 2)
    rate = many.rate_bounds("retracing")
    assert rate is not None and (rate.low, rate.high) == pytest.approx((5 / 12, 7 / 12))
    every: Any = summary_json(summary(unequal(6)))
    bounds = every["judges"][0]["bounds"]
    assert bounds == pytest.approx([1 / 12, (1 / 6 + 7) / 2])
    assert bounds_words(many)[0] in unwrapped(
        printed(Group(*summary_view(summary(unequal(2)), BATTERY)))
    )


def test_what_an_interval_takes_for_granted_is_said_once() -> None:
    nothing = summary(texts(4, (0, 0))).judges[0].burden
    few = summary(texts(4, (1, 3))).judges[0].burden
    many = summary(texts(20, (10, 10))).judges[0].burden
    assert (nothing.found, few.found, many.found) == (0, 4, 20)
    assert (few.few_found, many.few_found) == (True, False)
    high = korn_graubard([0.0, 0.0], [4, 4], 7).high
    zero, share = correlation_notes([nothing])
    assert f"{high:.2f}" in zero and "0.38" in share and "8" in share
    assert len(list(correlation_notes([few]))) == 2
    (of_many,) = correlation_notes([many])
    assert "0.07" in of_many
    assert len(list(correlation_notes([nothing, few, many, nothing]))) == 3


def test_the_cluster_of_items_is_the_unit_of_intervals_and_sign_flips() -> None:
    """Eight texts of four themes: intervals and tests of four units, means of eight items."""
    rates = (3, 3, 0, 0, 2, 2, 1, 1)
    items = tuple(Item(f"t{n}", f"Tell me about {n}.", cluster=f"c{n // 2}") for n in range(8))
    (text, *others) = BATTERY.subtests
    themes = replace(BATTERY, subtests=(replace(text, items=items), *others))
    apart = replace(
        themes,
        subtests=(replace(text, items=tuple(replace(one, cluster="") for one in items)), *others),
    )

    def found(battery: Battery, hits: Sequence[int]) -> Results:
        trials = []
        for at, present in enumerate(hits):
            for n in range(4):
                said = f"We went to place {n} of {at} and came home late."
                features = FOUND if n < present else ()
                made = answered("ct1", said, number=4 * at + n, replicate=n, features=features)
                trials.append(replace(made, plan=replace(made.plan, item=f"t{at}")))
        return summarise(battery, trials, SAMPLED, declarations=DECLARED, interval=True)

    (one,), (other,) = found(themes, rates).judges, found(apart, rates).judges
    assert one.burden.symptom_burden == other.burden.symptom_burden
    values = [[1.0] * n + [0.0] * (4 - n) for n in rates]
    pairs = [first + second for first, second in zip(values[::2], values[1::2], strict=True)]
    assert one.burden.intervals[0] == burden_interval(values, 7, clusters="aabbccdd")
    assert one.burden.intervals[0] != other.burden.intervals[0]
    assert one.burden.intervals[1] == other.burden.intervals[1]
    assert one.burden.rate_intervals("retracing")[0] == rate_interval(
        [int(sum(pair)) for pair in pairs], [8] * 4
    )
    (lower,) = found(themes, (0,) * 8).judges
    (clustered,) = of_judge(one, lower)
    assert (clustered.items, clustered.units) == (8, 4)
    # Three units differ: all signs alike in 2 of 2^4 flips, and the zero difference of one unit.
    assert clustered.smallest_p == 2 ** (1 - 4)
    assert clustered.design == Design(4, 8, "clusters")
    assert showable(clustered).reason == "sign flips over 4 clusters never reach .05"
    assert clustered.like.p is not None and clustered.like.p >= 2 ** (1 - 3)


def test_an_older_administration_says_which_printed_numbers_have_moved() -> None:
    trials = unequal(4)
    found = summary(trials)
    (judge,) = found.judges
    given = replace(administration(1, SAMPLED), versions={})

    def by(version: str) -> list[Moved]:
        return list(moved(found, [replace(given, versions={"tabwb": version})]))

    assert by("0.2.0") == by("1.0") == [] == list(moved(found, [given]))
    burden, *others = by("0.1.9")
    like = next(one for one in others if one.detail == THESE)
    # 1 of 6 and 2 of 2 responses: (1 + 2)/8 by responses, (1/6 + 1)/2 by items.
    assert (burden.measure, burden.of, burden.was, burden.now) == (
        "burden", judge.rater, "0.38", "0.58",
    )  # fmt: skip
    was = former_interval(judge.burden.totals, 7, THESE)
    assert was is not None and like.was == " to ".join(ends_of(was.low, was.high, 2))
    rates = [one.detail for one in by("0.1.9") if one.measure == FEATURE_RATE.id]
    assert rates == ["retracing"]
    (sentence,) = moved_words([by("0.1.9")])
    assert "0.38" in sentence and "0.58" in sentence
    (several,) = moved_words([by("0.1.9"), []])
    assert f"{len(by('0.1.9'))} numbers of 1 of 2 groups" in several
    alike = summary(texts(20, (10, 10)))
    measures = {one.measure for one in moved(alike, [replace(given, versions={"tabwb": "0.1.0"})])}
    assert measures <= {"interval"}
    data = AdministrationData(replace(given, versions={"tabwb": "0.1.9"}), BATTERY, trials)
    made = administration_document(replace(data, declarations=DECLARED), interval=True)
    assert made["moved"][0]["was"] == "0.38" and sentence in made["notices"]


TEXTS = ("We went to the sea and swam.", "I bake bread in the morning, every day.")


def old(trial: Trial) -> Trial:
    """The same as an earlier version stored it: without a seed."""
    (attempt,) = trial.attempts
    return replace(trial, attempts=(replace(attempt, metadata={}),))


def given() -> list[Trial]:
    numbered = [
        (item, text, replicate)
        for replicate in range(3)
        for item, text in zip(("ct1", "ct2"), TEXTS, strict=True)
    ]
    return [
        answered(item, f"{text} {replicate}", number=n, replicate=replicate)
        for n, (item, text, replicate) in enumerate(numbered, start=1)
    ]


def summary_of(trials: list[Trial], conditions: Conditions = SAMPLED) -> Results:
    return summarise(BATTERY, trials, conditions, declarations=DECLARED, interval=True)


def these_prompts(summary: Results) -> list[str]:
    return [
        each.reason
        for judge in summary.judges
        for each in judge.burden.intervals
        if each.estimand is Estimand.THESE_PROMPTS
    ]


def test_replicates_of_one_stream_say_nothing_of_how_draws_differ() -> None:
    summary = summary_of([old(trial) for trial in given()])
    assert summary.number("shared_streams") == 6
    assert these_prompts(summary) == [SHARED]
    said = list(cautions(BATTERY, summary, model=True))
    assert any("6 of 6 responses were sampled by an earlier version" in one for one in said)


def test_replies_with_seeds_of_their_own_have_no_caution() -> None:
    summary = summary_of(given())
    assert summary.number("shared_streams") == 0
    assert SHARED not in these_prompts(summary)
    said = list(cautions(BATTERY, summary, model=True))
    assert not any("earlier version" in one for one in said)


def test_greedy_answers_people_and_replays_share_no_stream() -> None:
    assert summary_of([old(trial) for trial in given()], CONDITIONS).number("shared_streams") == 0
    person = Conditions("S-001", "speaker")
    assert summary_of([old(trial) for trial in given()], person).number("shared_streams") == 0
    sampled = old(answered("ct1", TEXTS[0]))
    assert summary_of([sampled], SAMPLED).number("shared_streams") == 1
    assert summary_of([sampled], replace(SAMPLED, origin="model")).number("shared_streams") == 0
    (attempt,) = sampled.attempts
    attempt = replace(attempt, metadata={"seed": "not sent", "replayed_line": "1"})
    replayed = replace(sampled, attempts=(attempt,))
    assert summary_of([replayed], SAMPLED).number("shared_streams") == 0


# The same draws in two administrations ------------------------------------------------------------


def counts(*given: tuple[Conditions, Sequence[Trial]]) -> int:
    sources = [data_of(BATTERY, trials, conditions) for conditions, trials in given]
    return int(pool(sources).number("responses"))


def test_a_run_that_is_repeated_with_its_seed_counts_once() -> None:
    once = given()
    assert counts((SAMPLED, once), (SAMPLED, once)) == 6
    more = [*once, answered("ct1", "It rained for a week.", number=7, replicate=3)]
    assert counts((SAMPLED, once), (SAMPLED, more), (SAMPLED, once)) == 7
    answers = pool([data_of(BATTERY, one, SAMPLED) for one in (once, more)])
    assert (answers.number("responses"), answers.number("repeated_draws")) == (7, 6)


def test_the_interval_for_these_prompts_does_not_narrow_where_a_run_is_repeated() -> None:
    sources = [data_of(BATTERY, given(), SAMPLED, DECLARED)]
    once, twice = (pool(one, interval=True) for one in (sources, sources * 2))
    assert twice.judges[0].burden.intervals == once.judges[0].burden.intervals
    assert once.judges[0].burden.intervals[1].interval is not None


def test_other_seeds_models_texts_and_persons_are_draws_of_their_own() -> None:
    once, person = given(), Conditions("S-001", "speaker")
    # A back end that once gave another text does not keep to seeds.
    other = [*once[:-1], answered("ct2", "Not the same.", number=6, replicate=2)]
    for second in (
        (SAMPLED, with_seeds(once, 100)),
        (replace(SAMPLED, examinee="another"), once),
        (SAMPLED, [old(trial) for trial in once]),
        (SAMPLED, other),
    ):
        assert counts((SAMPLED, once), second) == 12
    assert counts((person, once), (person, once)) == 12


def test_neighbouring_seeds_of_an_earlier_version_are_the_same_draws() -> None:
    # Replicates 0, 1, 2 of seed 5 are the streams 5, 6, 7; of seed 6 they are 6, 7, 8.
    def run(seed: int) -> tuple[Conditions, list[Trial]]:
        trials = [
            answered("ct1", f"It rained {seed + r} times.", number=r + 1, replicate=r)
            for r in range(3)
        ]
        decoding = replace(SAMPLED.decoding, seed=seed)
        return replace(SAMPLED, decoding=decoding), [old(trial) for trial in trials]

    assert counts(run(5), run(6)) == 4
    assert counts(run(5), run(5)) == 3
    assert counts(run(5), run(8)) == 6


def replayed(trials: Sequence[Trial], uid: str = "0189") -> list[Trial]:
    """The same as replayed from an export of a sampled administration."""
    noted = {"replayed_administration": uid, "replayed_sampled": "yes", "seed": "not sent"}
    return [
        replace(
            trial,
            attempts=(
                replace(trial.attempts[0], metadata={**noted, REPLAYED: str(trial.plan.number)}),
            ),
        )
        for trial in trials
    ]


def test_an_export_that_is_replayed_twice_counts_once() -> None:
    once = given()
    assert counts((CONDITIONS, replayed(once)), (CONDITIONS, replayed(once))) == 6
    assert counts((CONDITIONS, replayed(once)), (CONDITIONS, replayed(once, "another"))) == 12


def test_a_file_of_unnamed_administrations_that_is_replayed_twice_counts_once() -> None:
    def run(digest: str) -> AdministrationData:
        made = data_of(BATTERY, replayed(given(), ""), CONDITIONS, DECLARED)
        return replace(made, model_facts={"file_sha256": digest} if digest else {})

    for files, n in ((["a", "a"], 6), (["a", "b"], 12), (["", ""], 12)):
        summary = pool([run(file) for file in files])
        assert (summary.number("responses"), summary.number("repeated_draws")) == (n, 12 - n)


def test_how_many_draws_came_again_is_said() -> None:
    source = data_of(BATTERY, given(), SAMPLED, DECLARED)
    assert pool([source]).number("repeated_draws") == 0
    summary = pool([source] * 3)
    assert (summary.number("responses"), summary.number("repeated_draws")) == (6, 12)
    said = list(cautions(BATTERY, summary, model=True))
    assert any(one.startswith("12 responses repeat a draw that counts already") for one in said)
