"""Base and instruct models of one family and size, with differences counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.contrast import Pair, over_families, pairs_of
from tabwb.analysis.grouping import grouped, summarised
from tabwb.records.conditions import Conditions
from tabwb.records.trials import Trial
from tabwb.scoring.differences import family_interval, sampling_floor
from tabwb.scoring.estimate import ONE_RESPONSE, Estimand, Interval
from tests.analysis.given import BATTERY, DECLARED, SAMPLED, administration, answered, changed


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
    assert (pair.found.first, pair.found.second) == ("local:L-1-base", "local:L-1-instruct")
    burden = pair.found.rows[0]
    assert (burden.measure.title, burden.rater) == ("symptom burden", "rules-2")
    assert (burden.first, burden.second, burden.difference) == (1.0, 1.0, 0.0)
    assert (burden.n_first, burden.n_second) == (2, 2)
    # d = (1, -1): var(d)/k = 1; t with one degree of freedom is 12.7, the set has 7 features.
    assert (burden.items, burden.like.interval.estimand) == (2, Estimand.PROMPTS_LIKE_THESE)
    assert burden.like.interval.interval == Interval(-7.0, 7.0)
    assert burden.these.interval.reason == ONE_RESPONSE


def test_a_pair_has_the_differences_of_its_accuracies() -> None:
    (pair,) = pairs(BASE, INSTRUCT)
    (accuracy,) = pair.found.rows[1:]
    assert (accuracy.measure.title, accuracy.subtest, accuracy.rater) == (
        "accuracy",
        "words",
        "choice",
    )
    assert accuracy.first == pytest.approx(1 / 3)
    assert accuracy.second == 1.0
    assert accuracy.difference == pytest.approx(-2 / 3)
    # d = (0, -1, -1): var(d)/k = 1/9, below the floor of the draws; t with 2 df is 4.303.
    floor = 0.375 * 0.625 / 3 + 0.875 * 0.125 / 3
    assert accuracy.like.interval.interval is not None
    assert accuracy.like.interval.interval.low == -1.0
    assert accuracy.like.interval.interval.high == pytest.approx(-2 / 3 + 4.302653 * floor**0.5)


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
    # Nor has a model one whose profile changed its mind.
    labels = {**conditions("base").labels, "tuning": "instruct"}
    assert pairs(BASE, changed(BASE, 3, labels=labels), INSTRUCT) == ()


def test_only_administrations_that_a_profile_labelled_count_and_the_others_are_named() -> None:
    bare = given(3, replace(conditions("base"), labels={}), *texts(["anomia"], ["jargon"]))
    made = summarised(grouped([BASE, bare, INSTRUCT], "model"))
    (pair,) = pairs_of(made)
    (alone,) = pairs(BASE, INSTRUCT)
    assert pair.found.rows == alone.found.rows
    assert (pair.base_from, pair.instruct_from, pair.unsaid) == ((1,), (2,), (3,))


def test_like_is_compared_with_like_where_both_are_there() -> None:
    rotated = [
        given(number, replace(conditions(tuning), option_order="rotated"), *BASE.trials)
        for number, tuning in ((3, "base"), (4, "instruct"))
    ]
    found = pairs(BASE, INSTRUCT, *rotated)
    assert [(pair.base_from, pair.instruct_from) for pair in found] == [((1,), (2,)), ((3,), (4,))]
    assert all(pair.found.unlike == () and pair.found.rows for pair in found)
    # Under unlike conditions there once was a spurious difference.
    (alone,) = pairs(BASE, rotated[1])
    assert alone.found.unlike == (("options", "as-given", "rotated"),)
    assert alone.found.rows == ()


RIGHT = ("lion", "boot", "knife")


def family(name: str, at: int, base: tuple[str, ...]) -> list[AdministrationData]:
    return [
        given(2 * at + 1, conditions("base", family=name), *words(*base)),
        given(2 * at + 2, conditions("instruct", family=name), *words(*RIGHT)),
    ]


MADE = [
    *family("L-1", 0, ("lion", "a", "a")),
    *family("L-2", 1, ("lion", "boot", "a")),
    *family("L-3", 2, ("a", "a", "a")),
]


def test_three_families_have_a_mean_difference_with_an_interval() -> None:
    (found,) = over_families(pairs_of(summarised(grouped(MADE, "model"))))
    assert (found.families, found.items) == (("L-1", "L-2", "L-3"), 3)
    rows = [[0.0, -1.0, -1.0], [0.0, 0.0, -1.0], [-1.0, -1.0, -1.0]]
    assert found.difference == pytest.approx(-6 / 9)
    floors = [
        sampling_floor(mean, 3, None) + sampling_floor(1.0, 3, None) for mean in (1 / 3, 2 / 3, 0)
    ]
    assert found.like.interval == family_interval(rows, sum(floors) / 9, 1.0)
    # An item that one family lacks is left out.
    short = given(1, conditions("base", family="L-1"), *words("lion", "a", "a")[:2])
    (found,) = over_families(pairs_of(summarised(grouped([short, *MADE[1:]], "model"))))
    assert found.items == 2


def test_two_families_are_too_few_and_sizes_of_one_family_are_one() -> None:
    large = {**conditions("base").labels, "parameters": "8000000000"}
    larger = [
        changed(one, one.administration.id + 10, examinee=f"local:large-{tuning}",
                labels={**large, "tuning": tuning})
        for one, tuning in zip(MADE[:2], ("base", "instruct"), strict=True)
    ]  # fmt: skip
    made = pairs(*MADE[:4], *larger)
    assert (len(made), over_families(made[:2]), over_families(made)) == (3, (), ())
