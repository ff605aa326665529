"""What stands beside an accuracy comes from the stored verdicts, so that it cannot disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabwb.records.ratings import undefined, valued
from tabwb.records.trials import Trial
from tabwb.report.documents.summary_json import _subtest
from tabwb.report.summaries.subtests import Share, SubtestSummary
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import ONE_ITEM, Estimand, EstimatedInterval, clopper_pearson
from tabwb.scoring.intervals import rate_interval
from tests.report.given import BATTERY, CONDITIONS, SAMPLED, answered, summarise


def summary_of(name: str, *trials: Trial) -> SubtestSummary:
    made = summarise(BATTERY, trials, CONDITIONS)
    return next(one for one in made.subtests if one.id == name)


def rescored(trial: Trial, rater: str, correct: bool, reason: str) -> Trial:
    """The trial as another version of its scorer, or a person, read it."""
    ratings = tuple(
        valued(rater, policy, correct, reason) for policy in ("exact", "normalised", "extracted")
    )
    return replace(trial, ratings=ratings)


def test_a_yes_rate_is_of_the_answers_that_are_yes_or_no() -> None:
    given = [answered("sc1", "Yes"), answered("sc2", "No"), answered("sc4", "Yes, it is one.")]
    made = summary_of("sentences", *given)
    assert made.said_yes is not None
    assert made.said_yes.by_item["exact"] == ((1, 1), (0, 1))
    assert made.said_yes.of("exact") == 2 and made.share.scored == 3
    assert made.estimate("yes_rate").value == 0.5
    like = made.said_yes.interval()
    assert like == clopper_pearson(1, 2)
    assert made.said_yes.of("extracted") == 3
    nothing = summary_of("sentences", answered("sc1", "Perhaps."))
    assert nothing.estimate("yes_rate").reason == "neither answer was given exactly"


def test_a_policy_that_reads_nothing_in_a_language_says_so_and_counts_no_error() -> None:
    parts = tuple(replace(one, language="de") for one in BATTERY.subtests)
    german = replace(BATTERY, language="de", subtests=parts)

    def unread(trial: Trial, rater: str) -> Trial:
        missing = undefined(rater, "extracted", "not available in de")
        kept = (valued(rater, "exact", False, ""), valued(rater, "normalised", False, ""))
        return replace(trial, ratings=(*kept, missing))

    trials = [unread(answered("wc3", "boat"), "choice"), unread(answered("sc1", "Ja"), "yes-no")]
    made = {one.id: one for one in summarise(german, trials, CONDITIONS).subtests}
    words, sentences = made["words"], made["sentences"]
    assert words.share.accuracy("extracted").reason == "not available in de"
    assert {one.errors["extracted"] for one in words.by_foil.values()} == {None}
    assert words.by_foil["phonological"].errors["normalised"] is not None
    for measure in ("yes_rate", "balanced_accuracy"):
        assert sentences.estimate(measure, "extracted").reason == "not available in de"
    assert sentences.estimate("yes_rate", "exact").reason == "neither answer was given exactly"


def test_one_item_has_no_interval_however_often_it_is_answered() -> None:
    for n in (1, 4):
        share = Share(n, dict.fromkeys(POLICIES, ((n, n),)))
        assert share.intervals()[0].reason == ONE_ITEM


def test_the_share_of_a_kind_of_error_is_over_items_and_has_an_interval() -> None:
    said = {"wc1": ("lion", "giraffe"), "wc3": ("boat", "boat")}
    given = [
        replace(answered(item, text), plan=replace(answered(item, text).plan, number=at))
        for at, (item, text) in enumerate(
            ((item, text) for item, texts in said.items() for text in texts), start=1
        )
    ]
    words = next(one for one in summarise(BATTERY, given, SAMPLED).subtests if one.id == "words")
    none = words.by_foil["no-option"]
    assert none.share.by_item["exact"] == ((0, 2), (0, 2))
    assert none.rate("exact").value == 0.0
    assert none.intervals("exact") == rate_interval_pair([0, 0], [2, 2])
    phonological = words.by_foil["phonological"]
    assert (phonological.errors["exact"], phonological.of) == (2, 2)
    assert phonological.intervals("exact")[0].reason == ONE_ITEM
    plain = _subtest(words)
    assert plain["by_foil"]["phonological"]["rate"] == 1.0
    assert len(plain["by_foil"]["no-option"]["intervals"]) == 2


def rate_interval_pair(hits: list[int], sizes: list[int]) -> tuple[EstimatedInterval, ...]:
    return tuple(rate_interval(hits, sizes, estimand) for estimand in Estimand)


def test_an_error_without_a_kind_is_counted_as_such() -> None:
    trial = rescored(answered("wc3", "boat"), "choice", False, "pointed at two")
    untold = summary_of("words", trial).by_foil["untold"]
    assert (untold.errors["exact"], untold.of) == (1, 1)


def test_every_policy_is_divided_by_its_own_verdicts() -> None:
    # A verdict under ``exact`` failed for two answers; ``normalised`` has all 99.
    share = Share(99, {"exact": ((1, 1),) * 97, "normalised": ((1, 1),) * 99})
    assert share.accuracy("normalised").value == 1.0
    interval = share.interval("normalised")
    assert interval is not None and interval.high == 1.0


def rotations() -> list[Trial]:
    """One item in all its rotations, answered with whatever stands first."""
    options = ("boot", "boat", "lion", "drum", "violin", "giraffe")
    turned = [options[at:] + options[:at] for at in range(6)]
    return [
        answered("wc3", shown[0], number=number, options=shown)
        for number, shown in enumerate(turned, 1)
    ]


def test_rotated_options_show_a_bias_for_a_position() -> None:
    summary = summarise(BATTERY, rotations(), SAMPLED)
    words = next(one for one in summary.subtests if one.id == "words")
    # The key stands once at each place; it is named only where it stands first.
    assert [(one.keyed, one.correct) for one in words.positions] == [(1, 1)] + [(1, 0)] * 5
    assert [one.chosen for one in words.positions] == [6, 0, 0, 0, 0, 0]
    # Guessing is shown under free answers too, where nothing is corrected for it.
    assert words.baselines["guessing"].value == pytest.approx(1 / 6)
    assert not words.estimate("chance_corrected").defined


def test_clusters_of_one_answer_each_change_no_interval() -> None:
    """A unit with one answer is exact, whether the battery names it or not."""
    answers = tuple((right, 1) for right in (1, 1, 0, 1, 0))
    apart = Share(5, dict.fromkeys(POLICIES, answers))
    named = replace(apart, clusters=dict.fromkeys(POLICIES, tuple("abcde")))
    assert named.intervals() == apart.intervals()
    assert named.interval() == clopper_pearson(3, 5)
    themes = replace(apart, clusters=dict.fromkeys(POLICIES, tuple("aabbc")))
    assert themes.interval() == rate_interval([1, 1, 0, 1, 0], [1] * 5, clusters="aabbc").interval


def test_baselines_weigh_items_alike_as_the_accuracy_does() -> None:
    two = ("drum", "lion")
    given = [answered("wc1", "lion", number=at, options=two) for at in (1, 2, 3)]
    words = summary_of("words", *given, answered("wc3", "boat", number=4))
    assert words.baselines["guessing"].value == pytest.approx((1 / 2 + 1 / 6) / 2)
    assert words.baselines["always_first"].value == 0.5
    closed = [answered("sc1", "Yes", number=at) for at in (1, 2, 3)]
    sentences = summary_of("sentences", *closed, answered("sc2", "No", number=4))
    assert sentences.baselines["always_yes"].value == 0.5
