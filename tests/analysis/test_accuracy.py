"""Accuracies, what stands beside them, and what is counted, from the stored verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given as with_any
from hypothesis import strategies as st
from scipy.stats import binomtest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.paired import compare_sides
from tabwb.analysis.statistics.accuracy import Tally
from tabwb.analysis.statistics.results import Part, Result, Results
from tabwb.analysis.statistics.summary import pool
from tabwb.media.documents.document import summary_json
from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Declaration, failed, undefined, valued
from tabwb.records.states import Protocol, ResponseStatus
from tabwb.records.trials import Trial
from tabwb.scoring.estimate import ONE_ITEM, ONE_RESPONSE, Estimand, clopper_pearson
from tabwb.scoring.intervals import korn_graubard, rate_interval
from tests.analysis.given import (
    ANIMALS,
    ANSWERS,
    BATTERY,
    CONDITIONS,
    SAMPLED,
    answered,
    data_of,
    summarise,
    trials,
)


def results_of(answers: Mapping[str, str], conditions: Conditions = CONDITIONS) -> Results:
    return summarise(BATTERY, trials(answers), conditions)


def part(results: Results, name: str) -> Part:
    found = results.part(name)
    assert found is not None
    return found


def part_of(name: str, *given: Trial, conditions: Conditions = CONDITIONS) -> Part:
    return part(summarise(BATTERY, given, conditions), name)


def found(of: Part, measure: str, policy: str = "exact", feature: str = "") -> Result:
    row = of.find(measure, policy, feature)
    assert row is not None
    return row


def test_the_interval_is_exact() -> None:
    interval = part(results_of(ANSWERS), "words").right.interval
    assert interval is not None
    # Clopper-Pearson, 1 of 3: 1 - (1 - 0.025)^(1/3) and its mirror image from tables.
    assert interval.low == pytest.approx(0.008403759, abs=1e-9)
    assert interval.high == pytest.approx(0.905700675, abs=1e-9)


def test_what_was_not_given_is_undefined_and_not_zero() -> None:
    words = part(results_of({}), "words")
    assert [row.total for row in words.policies("accuracy").values()] == [None] * 3
    assert words.right.value.value is None and words.right.interval is None
    assert words.baselines["always_first"].value is None


def test_errors_are_shown_by_foil_kind() -> None:
    words = part(results_of(ANSWERS), "words")
    # "Answer: lion. ..." names no option exactly; extracted, one that is not a listed foil.
    for kind, errors, of in (
        ("phonological", [1, 1, 1], 2),
        ("semantic", [0, 0, 0], 1),
        ("no-option", [1, 1, 0], 3),
        ("other-option", [0, 0, 1], 3),
    ):
        rows = words.policies("foil_errors", kind).values()
        assert ([row.total for row in rows], {row.n for row in rows}) == (errors, {of})


def test_baselines_and_rates_stand_beside_the_accuracy() -> None:
    results = results_of({**ANSWERS, "sc4": "Yes"})
    words, sentences = part(results, "words"), part(results, "sentences")
    assert words.baselines["always_first"].value == 1.0
    assert sentences.baselines["always_yes"].value == pytest.approx(2 / 3)
    assert sentences.value("yes_rate").value == 1.0
    assert sentences.value("balanced_accuracy").value == 0.5
    assert words.value("yes_rate").value is None
    turned = part_of("words", answered("wc1", "lion", options=ANIMALS[1:] + ANIMALS[:1]))
    assert (turned.baselines["always_first"].value, turned.right.total) == (0.0, 1)


def test_baselines_weigh_items_alike_as_the_accuracy_does() -> None:
    two = ("drum", "lion")
    given = [answered("wc1", "lion", number=at, options=two) for at in (1, 2, 3)]
    words = part_of("words", *given, answered("wc3", "boat", number=4))
    assert words.baselines["guessing"].value == pytest.approx((1 / 2 + 1 / 6) / 2)
    assert words.baselines["always_first"].value == 0.5
    closed = [answered("sc1", "Yes", number=at) for at in (1, 2, 3)]
    sentences = part_of("sentences", *closed, answered("sc2", "No", number=4))
    assert sentences.baselines["always_yes"].value == 0.5


def test_chance_is_corrected_only_where_an_answer_must_be_an_option() -> None:
    free = found(part(results_of(ANSWERS), "words"), "chance_corrected")
    assert "need not be one of the options" in free.value.reason and not free.intervals
    given = results_of(ANSWERS, replace(CONDITIONS, protocol=Protocol.ENFORCED))
    enforced = found(part(given, "words"), "chance_corrected")
    assert enforced.value.value == pytest.approx((1 / 3 - 1 / 6) / (1 - 1 / 6))
    exact = binomtest(1, 3).proportion_ci(method="exact")
    assert enforced.interval is not None
    assert (enforced.interval.low, enforced.interval.high) == pytest.approx(
        [(end - 1 / 6) / (1 - 1 / 6) for end in exact]
    )


def test_a_yes_rate_is_of_the_answers_that_are_yes_or_no() -> None:
    given = [answered("sc1", "Yes"), answered("sc2", "No"), answered("sc4", "Yes, it is one.")]
    made = part_of("sentences", *given)
    rate = found(made, "yes_rate")
    assert (rate.value.value, rate.n, rate.total, made.right.n) == (0.5, 2, 1, 3)
    assert rate.interval == clopper_pearson(1, 2)
    assert found(made, "yes_rate", "extracted").n == 3
    nothing = part_of("sentences", answered("sc1", "Perhaps."))
    assert nothing.value("yes_rate").reason == "neither answer was given exactly"


def test_a_policy_that_reads_nothing_in_a_language_says_so_and_counts_no_error() -> None:
    parts = tuple(replace(one, language="de") for one in BATTERY.subtests)
    german = replace(BATTERY, language="de", subtests=parts)

    def unread(trial: Trial, rater: str) -> Trial:
        missing = undefined(rater, "extracted", "not available in de")
        kept = (valued(rater, "exact", False, ""), valued(rater, "normalised", False, ""))
        return replace(trial, ratings=(*kept, missing))

    given = [unread(answered("wc3", "boat"), "choice"), unread(answered("sc1", "Ja"), "yes-no")]
    made = summarise(german, given, CONDITIONS)
    words, sentences = part(made, "words"), part(made, "sentences")
    assert words.value("accuracy", "extracted").reason == "not available in de"
    kinds = words.of("foil_errors")
    assert {found(words, "foil_errors", "extracted", kind).total for kind in kinds} == {None}
    assert found(words, "foil_errors", "normalised", "phonological").total is not None
    for measure in ("yes_rate", "balanced_accuracy"):
        assert sentences.value(measure, "extracted").reason == "not available in de"
    assert sentences.value("yes_rate").reason == "neither answer was given exactly"


def test_one_item_has_no_interval_however_often_it_is_answered() -> None:
    for n in (1, 4):
        assert Tally((n,), (n,)).intervals()[0].reason == ONE_ITEM


def test_the_share_of_a_kind_of_error_is_over_items_and_has_an_interval() -> None:
    said = (("wc1", "lion"), ("wc1", "giraffe"), ("wc3", "boat"), ("wc3", "boat"))
    given = [answered(item, text, number=at) for at, (item, text) in enumerate(said, 1)]
    words = part_of("words", *given, conditions=SAMPLED)
    none = found(words, "foil_errors", feature="no-option")
    assert none.tally is not None and (none.tally.hits, none.tally.sizes) == ((0, 0), (2, 2))
    assert none.value.value == 0.0
    assert none.intervals == tuple(rate_interval([0, 0], [2, 2], one) for one in Estimand)
    phonological = found(words, "foil_errors", feature="phonological")
    assert (phonological.total, phonological.n, phonological.value.value) == (2, 2, 1.0)
    assert phonological.interval_reason == ONE_ITEM


def test_an_error_without_a_kind_is_counted_as_such() -> None:
    ratings = tuple(
        valued("choice", policy, 0, "pointed at two")
        for policy in ("exact", "normalised", "extracted")
    )
    words = part_of("words", replace(answered("wc3", "boat"), ratings=ratings))
    untold = found(words, "foil_errors", feature="untold")
    assert (untold.total, untold.n, untold.intervals) == (1, 1, ())


def test_rotated_options_show_a_bias_for_a_position() -> None:
    """One item in all its rotations, answered with whatever stands first."""
    options = ("boot", "boat", "lion", "drum", "violin", "giraffe")
    turned = [options[at:] + options[:at] for at in range(6)]
    given = [answered("wc3", own[0], number=n, options=own) for n, own in enumerate(turned, 1)]
    words = part_of("words", *given, conditions=SAMPLED)
    # The key stands once at each place; it is named only where it stands first.
    keyed = [(one.n, one.total) for one in words.of("position_accuracy").values()]
    assert keyed == [(1, 1)] + [(1, 0)] * 5
    assert [one.total for one in words.of("position_share").values()] == [6, 0, 0, 0, 0, 0]
    # Guessing is known under free answers too, where nothing is corrected for it.
    assert words.value("guessing").value == pytest.approx(1 / 6)
    assert not words.value("chance_corrected").defined


def test_clusters_of_one_answer_each_change_no_interval() -> None:
    """A unit with one answer is exact, whether the battery names it or not."""
    apart = Tally((1, 1, 0, 1, 0), (1,) * 5)
    named, themes = replace(apart, clusters=tuple("abcde")), replace(apart, clusters=tuple("aabbc"))
    assert named.intervals() == apart.intervals()
    assert named.intervals()[0].interval == clopper_pearson(3, 5)
    assert themes.intervals()[0] == rate_interval([1, 1, 0, 1, 0], [1] * 5, clusters="aabbc")


@pytest.mark.parametrize(
    ("protocol", "notes", "n"),
    [
        ("likelihood", {"protocol": "likelihood"}, 1),
        ("likelihood", {}, 1),
        ("enforced", {"protocol": "enforced", "sampled": "no"}, 1),
        # A service that is held to the options draws among them.
        ("enforced", {"protocol": "enforced", "constrained": "yes"}, 4),
        # An item that had no options to hold to.
        ("likelihood", {"protocol": "generate"}, 4),
        ("generate", {"protocol": "generate"}, 4),
    ],
)
def test_what_is_drawn_from_nothing_counts_once_at_any_temperature(
    protocol: str, notes: dict[str, str], n: int
) -> None:
    conditions = replace(SAMPLED, protocol=Protocol(protocol))

    def counted(name: str, given: Sequence[Trial]) -> int:
        return int(part_of(name, *given, conditions=conditions).number("counted"))

    replicates = [answered("wc1", "lion", replicate=number) for number in range(4)]
    assert n == counted(
        "words",
        [replace(one, attempts=(replace(one.attempts[0], metadata=notes),)) for one in replicates],
    )
    assert counted("text", [answered("ct1", "We went.", replicate=at) for at in range(4)]) == 4
    once = 1 if protocol == "likelihood" else 4
    assert counted("sentences", [answered("sc1", "Yes", replicate=at) for at in range(4)]) == once


@pytest.mark.parametrize(
    ("rating", "cause"),
    [
        (failed("j", "jargon", "timeout"), "error"),
        (undefined("j", "jargon", "one-sided"), "jargon undefined: one-sided"),
        (undefined("j", "jargon", "not-language: not an English text"), "not-language"),
        (undefined("j", "jargon", "refused: no answer"), "refused"),
        (valued("j", "neologisms", 1), "not-rated"),
    ],
)
def test_why_a_response_has_no_burden_is_named(rating: object, cause: str) -> None:
    trial = replace(answered("ct1", "We went."), ratings=(rating,))  # type: ignore[arg-type]
    told = {"j": Declaration("j", ("jargon",))}
    (judge,) = summarise(BATTERY, [trial], CONDITIONS, declarations=told).judges
    assert judge.burden.no_burden == {cause: 1}
    assert judge.burden.symptom_burden.value is None


def test_the_gravest_of_several_causes_is_named() -> None:
    ratings = (
        undefined("j", "retracing", "one-sided"),
        undefined("j", "jargon", "refused: no answer"),
        failed("j", "neologisms", "timeout"),
    )
    for n, cause in ((1, "retracing undefined: one-sided"), (2, "refused"), (3, "error")):
        trial = replace(answered("ct1", "We went."), ratings=ratings[:n])
        features = tuple(one.measure for one in ratings[:n])
        told = {"j": Declaration("j", features)}
        (judge,) = summarise(BATTERY, [trial], CONDITIONS, declarations=told).judges
        assert judge.burden.no_burden == {cause: 1}


FIRST = "lion", "lion", "drum"
TEXT = ANSWERS["ct1"]


def speakers(*, again: bool = True) -> list[AdministrationData]:
    """Two speakers: one with three answers to wc1, and three texts to ct1 (or one of each)."""
    few = [answered("wc1", "lion"), answered("wc3", "boat"), answered("ct1", TEXT),
           answered("ct2", TEXT, features=("neologisms", "jargon"))]  # fmt: skip
    more = [answered("wc1", word, replicate=n, number=n) for n, word in enumerate(FIRST, 1)]
    more += [answered("ct1", TEXT, replicate=n, features=("neologisms",)) for n in (1, 2, 3)]
    own = more if again else [more[0], more[-1]]
    return [data_of(BATTERY, given, Conditions(who, "speaker"))
            for who, given in (("S-1", own), ("S-2", few))]  # fmt: skip


def test_pooled_speakers_have_the_mean_of_item_means_and_are_clusters_of_the_interval() -> None:
    pooled = pool(speakers(), interval=True)
    right = part(pooled, "words").right
    # wc1: 3 of 4 right, wc3: 0 of 1; without weights it would be 3 of 5.
    assert right.value.value == (Fraction(3, 4) + 0) / 2
    assert (right.n, right.n_items, right.total) == (5, 2, 3)
    # Of the first speaker 2 less three times 3/4, of the second 1 less 3/4, of 4 answers; the item
    # that one speaker alone answered is as far from the mean of all.
    values = [Fraction(3, 8) + (2 - 3 * Fraction(3, 4)) / 4,
              Fraction(3, 8) + (1 - Fraction(3, 4)) / 4 + (0 - Fraction(3, 8))]  # fmt: skip
    expected = korn_graubard([0.75, 0.0], [4, 1], 1, units=[float(one) for one in values])
    assert right.interval == expected
    (judge,) = pooled.judges
    # ct1: 1, 1, 1 and 0 features; ct2: 2.
    assert judge.burden.symptom_burden.value == (Fraction(3, 4) + 2) / 2
    assert judge.burden.rate("neologisms").value == (Fraction(3, 4) + 1) / 2
    assert judge.burden.categories["coherence"].count.value == Fraction(1, 2)
    assert judge.burden.n_items == 2
    low, high = judge.burden.interval.low, judge.burden.interval.high  # type: ignore[union-attr]
    assert low < 11 / 8 < high
    one, other = (pool([each]) for each in speakers())
    burdens = [each.judges[0].rows.burdens for each in (pooled, one, other)]
    # A difference takes the same means.
    assert compare_sides(burdens[0], burdens[2], 7).first == judge.burden.symptom_burden.value


def test_these_prompts_need_two_answers_of_one_speaker_to_an_item() -> None:
    for again in (True, False):
        pooled = pool(speakers(again=again), interval=True)
        right, burden = part(pooled, "words").right, pooled.judges[0].burden
        every = (right.intervals, burden.intervals, burden.rate_intervals("neologisms"),
                 burden.category_intervals("coherence", rate=False))  # fmt: skip
        assert all((both[1].interval is not None) == again for both in every)
        assert again or {both[1].reason for both in every} == {ONE_RESPONSE}


def test_balanced_accuracy_gives_each_item_one_weight() -> None:
    said = {"sc1": ("Yes", "No"), "sc2": ("Yes", "Yes", "No"), "sc4": ("No", "No", "No", "No")}
    given = [
        answered(item, text, number=number, replicate=number)
        for item, texts in said.items()
        for number, text in enumerate(texts, 1)
    ]
    sentences = part_of("sentences", *given, conditions=SAMPLED)
    # Yes questions 1/2 and 0/4, the no question 1/3; over responses 1/6 and 1/3.
    expected = (Fraction(1, 2) / 2 + Fraction(1, 3)) / 2
    assert sentences.value("balanced_accuracy").value == pytest.approx(float(expected))


def test_administrations_of_different_batteries_are_not_pooled() -> None:
    changed = replace(BATTERY, content_hash="1" * 64)
    with pytest.raises(ValueError, match="one battery version"):
        pool([data_of(BATTERY, (), None), data_of(changed, (), None)])


ANY_ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        item.id: st.sampled_from(["lion", "boot", "Yes", "No.", "", "house.", "We went. We went."])
        for subtest in BATTERY.subtests
        for item in subtest.items
    },
)


@with_any(ANY_ANSWERS, st.sampled_from(list(Protocol)))
def test_all_results_are_json_without_nan_and_within_their_bounds(
    answers: dict[str, str], protocol: Protocol
) -> None:
    results = results_of(answers, replace(CONDITIONS, protocol=protocol))
    json.dumps(summary_json(results), allow_nan=False)
    for one in results.parts:
        n, answered, planned = map(one.number, ("counted", "answered", "planned"))
        assert one.right.n <= n <= answered <= planned
        for row in one.policies("accuracy").values():
            assert row.total is None or 0 <= row.total <= n
        if one.right.n and one.of("foil_errors"):
            wrong = sum(row.total or 0 for row in one.of("foil_errors").values())
            assert wrong + (one.right.total or 0) == n


def test_a_reply_whose_limit_went_into_reasoning_has_no_burden() -> None:
    (attempt,) = answered("ct1", "").attempts
    cut = replace(
        attempt, status=ResponseStatus.TRUNCATED, metadata={"cause": "thinking used the limit"}
    )
    thought = replace(answered("ct1", ""), attempts=(cut,))
    results = summarise(BATTERY, [thought], CONDITIONS)
    assert results.of("empty")["thinking used the limit"].value.value == 1
    assert all(judge.burden.n_burden == 0 for judge in results.judges)
    assert results.number("usable") == 0
