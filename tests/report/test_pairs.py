"""Base and instruct models of one family and size, with differences counted by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Declaration
from tabwb.records.states import Protocol
from tabwb.records.trials import Trial
from tabwb.report.documents.document import groups_document
from tabwb.report.render.groups import groups_view
from tabwb.report.summaries.draws import SHARED
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import summarised
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.pairs import Pair, pairs_of
from tabwb.scoring.estimate import ONE_ITEM, ONE_RESPONSE, Estimand, Interval
from tabwb.scoring.rules.verdicts import FEATURES
from tests.report.given import BATTERY, DECLARED, SAMPLED, administration, answered
from tests.report.test_judges import MODEL, judged
from tests.report.test_tables import printed, unwrapped


def conditions(tuning: str, family: str = "L-1", parameters: str = "1240000000") -> Conditions:
    labels = {"family": family, "tuning": tuning, "parameters": parameters}
    return replace(SAMPLED, examinee=f"local:{family}-{tuning}", labels=labels)


def texts(*present: list[str]) -> tuple[Trial, ...]:
    return tuple(
        answered(item, f"We went there {number} times.", number=number, features=found)
        for number, (item, found) in enumerate(zip(("ct1", "ct2"), present, strict=True), 1)
    )


def words(*said: str) -> tuple[Trial, ...]:
    items = ("wc1", "wc3", "wc4")
    return tuple(
        answered(item, text, number=number)
        for number, (item, text) in enumerate(zip(items, said, strict=True), 3)
    )


def given(number: int, conditions: Conditions, *answers: Trial) -> AdministrationData:
    return AdministrationData(
        administration(number, conditions), BATTERY, answers, declarations=DECLARED
    )


BASE = given(1, conditions("base"), *texts(["retracing", "jargon"], []), *words("lion", "a", "b"))
INSTRUCT = given(
    2, conditions("instruct"), *texts(["jargon"], ["jargon"]), *words("lion", "boot", "knife")
)


def pairs(*chosen: AdministrationData) -> tuple[Pair, ...]:
    return pairs_of(summarised(grouped(chosen, "model")))


def test_a_pair_has_the_difference_of_its_burdens_with_an_interval() -> None:
    (pair,) = pairs(INSTRUCT, BASE)
    assert (pair.family, pair.parameters, pair.lesion) == ("L-1", "1240000000", None)
    assert (pair.base, pair.instruct) == ("local:L-1-base", "local:L-1-instruct")
    burden = pair.gaps[0]
    assert (burden.measure, burden.rater) == ("symptom burden", "rules-2")
    assert (burden.sides.first, burden.sides.second, burden.difference) == (1.0, 1.0, 0.0)
    assert (burden.sides.n_first, burden.sides.n_second) == (2, 2)
    # d = (1, -1): var(d)/k = 1; t with one degree of freedom is 12.7, the set has 7 features.
    assert (burden.sides.items, burden.sides.like.estimand) == (2, Estimand.PROMPTS_LIKE_THESE)
    assert burden.sides.like.interval == Interval(-7.0, 7.0)
    assert burden.sides.these.reason == ONE_RESPONSE


def test_a_pair_has_the_differences_of_its_accuracies() -> None:
    (pair,) = pairs(BASE, INSTRUCT)
    (accuracy,) = pair.gaps[1:]
    assert (accuracy.measure, accuracy.subtest, accuracy.rater) == ("accuracy", "words", "choice")
    assert accuracy.sides.first == pytest.approx(1 / 3)
    assert accuracy.sides.second == 1.0
    assert accuracy.difference == pytest.approx(-2 / 3)
    # d = (0, -1, -1): var(d)/k = 1/9, below the floor of the draws; t with 2 df is 4.303.
    floor = 0.375 * 0.625 / 3 + 0.875 * 0.125 / 3
    assert accuracy.sides.like.interval is not None
    assert accuracy.sides.like.interval.low == -1.0
    assert accuracy.sides.like.interval.high == pytest.approx(-2 / 3 + 4.302653 * floor**0.5)


def test_all_wrong_against_all_right_has_an_interval_with_a_width() -> None:
    # Once printed as -1.00 to -1.00: 0 of 3 against 9 of 9.
    again = tuple(
        replace(trial, plan=replace(trial.plan, number=number, replicate=number // 3))
        for number, trial in enumerate(words("lion", "boot", "knife") * 3)
    )
    (pair,) = pairs(
        given(1, conditions("base"), *words("a", "a", "a")),
        given(2, conditions("instruct"), *again),
    )
    (gap,) = pair.gaps
    assert (gap.difference, gap.sides.n_first, gap.sides.n_second) == (-1.0, 3, 9)
    assert gap.sides.like.interval is not None
    assert gap.sides.like.interval.low == -1.0 and gap.sides.like.interval.high > -0.5


def test_one_item_has_a_difference_but_no_interval() -> None:
    one = given(1, conditions("base"), answered("wc1", "boat"))
    other = given(2, conditions("instruct"), answered("wc1", "lion"))
    (pair,) = pairs(one, other)
    (gap,) = pair.gaps
    assert (gap.difference, gap.sides.like.interval) == (-1.0, None)
    assert gap.sides.like.reason == ONE_ITEM


@pytest.mark.parametrize(
    "other",
    [
        conditions("instruct", family="L-2"),
        conditions("instruct", parameters="8000000000"),
        conditions("base"),
        replace(conditions("instruct"), lesion="noise:0.1"),
        replace(conditions("instruct"), labels={"family": "L-1", "tuning": "instruct"}),
        Conditions("S-01", "speaker"),
    ],
    ids=["family", "size", "tuning", "lesion", "size not said", "person"],
)
def test_whatever_differs_makes_no_pair(other: Conditions) -> None:
    assert pairs(BASE, given(2, other, *INSTRUCT.trials)) == ()


def test_both_with_the_same_lesion_are_a_pair() -> None:
    both = (
        given(number, replace(conditions(tuning), lesion="noise:0.1"), *BASE.trials)
        for number, tuning in enumerate(("base", "instruct"), 1)
    )
    (pair,) = pairs(*both)
    assert pair.lesion == "noise:0.1"


def test_a_model_whose_profile_changed_its_mind_is_in_no_pair() -> None:
    relabelled = replace(
        conditions("base"), labels={**conditions("base").labels, "tuning": "instruct"}
    )
    assert pairs(BASE, given(3, relabelled, *BASE.trials), INSTRUCT) == ()


def test_only_administrations_that_a_profile_labelled_count_and_the_others_are_named() -> None:
    bare = given(3, replace(conditions("base"), labels={}), *texts(["anomia"], ["jargon"]))
    made = summarised(grouped([BASE, bare, INSTRUCT], "model"))
    (pair,) = pairs_of(made)
    (alone,) = pairs(BASE, INSTRUCT)
    assert pair.gaps == alone.gaps
    assert (pair.base_from, pair.instruct_from, pair.unsaid) == ((1,), (2,), (3,))
    text = unwrapped(printed(groups_view(made, [pair])))
    assert "local:L-1-base: #1" in text
    assert "not included, because no profile states the family: #3" in text


def test_only_burdens_under_the_same_terms_are_set_against_each_other() -> None:
    def by_model(one: AdministrationData, prompt: str) -> AdministrationData:
        told = Declaration(MODEL.rater, FEATURES, prompt_text=prompt)
        answers = tuple(judged(trial, ["anomia"]) for trial in one.trials[:2])
        return replace(one, trials=answers, declarations={**DECLARED, MODEL.rater: told})

    (same,) = pairs(by_model(BASE, "old"), by_model(INSTRUCT, "old"))
    assert [gap.rater for gap in same.gaps] == ["rules-2", MODEL.rater]
    (other,) = pairs(by_model(BASE, "old"), by_model(INSTRUCT, "new"))
    assert [gap.rater for gap in other.gaps] == ["rules-2"]
    ((rater, why),) = other.left_out
    assert rater == MODEL.rater and why.startswith("judged under other terms")


def test_what_else_the_two_differ_in_is_said() -> None:
    scored = replace(conditions("base"), protocol=Protocol.LIKELIHOOD)
    (pair,) = pairs(given(1, scored, *BASE.trials), INSTRUCT)
    assert pair.unlike == (("protocol", "likelihood", "generate"),)
    # A base and an instruct model under unlike conditions once had a spurious difference.
    assert pair.gaps == ()
    text = unwrapped(printed(groups_view(summarised(grouped([INSTRUCT], "model")), [pair])))
    assert "Not comparable: protocol differs too (likelihood | generate)" in text


def test_like_is_compared_with_like_where_both_are_there() -> None:
    rotated = [
        given(number, replace(conditions(tuning), option_order="rotated"), *BASE.trials)
        for number, tuning in ((3, "base"), (4, "instruct"))
    ]
    found = pairs(BASE, INSTRUCT, *rotated)
    assert [(pair.base_from, pair.instruct_from) for pair in found] == [((1,), (2,)), ((3,), (4,))]
    assert all(pair.unlike == () and pair.gaps for pair in found)
    (alone,) = pairs(BASE, rotated[1])
    assert alone.unlike == (("options", "as-given", "rotated"),)


def test_the_document_holds_every_pair() -> None:
    made = summarised(grouped([BASE, INSTRUCT], "model"))
    document: Any = json.loads(json.dumps(groups_document(made, pairs_of(made)), allow_nan=False))
    (pair,) = document["pairs"]
    assert pair.keys() == {
        "battery", "family", "parameters", "lesion", "base", "instruct", "base_from",
        "instruct_from", "unsaid", "differences", "left_out", "unlike", "shared_streams",
    }  # fmt: skip
    assert pair["parameters"] == 1_240_000_000
    burden, accuracy = pair["differences"]
    assert burden["features"] == list(made[0].summary.judges[0].burden.features)
    assert (burden["difference"], burden["interval"]) == (0.0, [-7.0, 7.0])
    assert [one["estimand"] for one in burden["intervals"]] == list(Estimand)
    assert (burden["scope"], accuracy["scope"]) == ("connected-text", None)
    assert (accuracy["subtest"], accuracy["status"]) == ("words", "value")


def test_a_pair_is_printed_below_the_table() -> None:
    made = summarised(grouped([BASE, INSTRUCT], "model"))
    text = printed(groups_view(made, pairs_of(made)))
    assert max(map(len, text.splitlines())) <= 80
    assert "L-1, 1,240,000,000 parameters: base - instruct" in text
    shown = unwrapped(text)
    assert "symptom burden, rules-2, 7 features, 1.00 2 1.00 2 0.00 connected text" in shown
    assert "prompts like these -7.00 to +7.00 these prompts - " in shown
    assert "Word Comprehension, share right 0.33 3 1.00 3 -0.67" in shown
    assert "prompts like these -1.00 to +0.79" in shown


def test_a_pair_with_shared_random_streams_says_nothing_for_these_prompts() -> None:
    def replicates(seeded: bool) -> tuple[Trial, ...]:
        made = [
            answered(item, text, number=number, replicate=number // 3)
            for number, (item, text) in enumerate(
                zip(
                    ("wc1", "wc3", "wc4") * 2, ("lion", "boot", "knife", "a", "b", "c"), strict=True
                )
            )
        ]
        return tuple(
            trial if seeded else replace(trial, attempts=(replace(trial.attempts[0], metadata={}),))
            for trial in made
        )

    (seeded,) = pairs(
        given(1, conditions("base"), *replicates(True)),
        given(2, conditions("instruct"), *replicates(True)),
    )
    assert seeded.gaps[0].sides.these.interval is not None
    (pair,) = pairs(
        given(1, conditions("base"), *replicates(True)),
        given(2, conditions("instruct"), *replicates(False)),
    )
    assert pair.shared_streams == ((0, 6), (6, 6))
    assert pair.gaps[0].sides.these.reason == SHARED
    assert pair.gaps[0].sides.like.interval is not None
    assert pair.to_json()["shared_streams"] == {"base": 0, "instruct": 6}
