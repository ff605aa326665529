"""Which responses judges differ on, and how far."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.judges import disagreements, distance
from tabwb.records.ratings import Declaration, Rating, failed, valued
from tests.report.given import BATTERY, DECLARED, SAMPLED, answered, data_of

ONE = Declaration("one", ("anomia", "jargon"))
TWO = Declaration("two", ("anomia",))
LIKELY = Declaration("likely", ("anomia",))
SAID = {**DECLARED, **{each.rater: each for each in (ONE, TWO, LIKELY)}}


def source(*ratings: tuple[Rating, ...]) -> AdministrationData:
    """One connected text after the other, each with these ratings of anomia."""
    trials = [
        replace(trial, ratings=(*trial.ratings, *given))
        for at, given in enumerate(ratings)
        for trial in [answered("ct1", f"We went to the sea {at}.", number=at + 1, replicate=at)]
    ]
    return data_of(BATTERY, trials, SAMPLED, SAID)


def anomia(rater: str, value: float) -> Rating:
    return valued(rater, "anomia", value, f"{rater} says so")


def test_distance_is_the_share_of_pairs_that_disagree() -> None:
    # Of six pairs of four judges four disagree when two say one thing and two the other.
    assert distance([1, 1, 0, 0]) == pytest.approx(4 / 6)
    assert distance([1, 1, 1]) == 0.0
    assert distance([]) is None


def test_the_most_disputed_response_stands_first_and_agreement_is_left_out() -> None:
    found = disagreements(
        [
            source(
                (anomia("one", 1), anomia("two", 1), anomia("likely", 1)),
                (anomia("one", 1), anomia("two", 0), anomia("likely", 1)),
                (anomia("one", 0), anomia("two", 0), anomia("likely", 0)),
            )
        ],
        "anomia",
    )
    assert (found.judges, found.compared) == (("one", "two", "likely"), 3)
    (disputed,) = found.disputed
    assert disputed.response == "We went to the sea 1."
    assert disputed.distance == pytest.approx(2 / 3)
    assert [said.verdict.reason for said in disputed.said if said.verdict] == [
        "one says so",
        "two says so",
        "likely says so",
    ]


def test_a_probability_stands_for_its_verdict_and_a_split_comes_before_it() -> None:
    def likely(value: float) -> tuple[Rating, Rating]:
        verdict = anomia("likely", value > 0.5)
        return verdict, valued("likely", "anomia.probability", value)

    found = disagreements(
        [source((anomia("one", 0), *likely(0.49)), (anomia("one", 1), *likely(0.48)))], "anomia"
    )
    assert [round(one.distance, 2) for one in found.disputed] == [0.52, 0.49]
    assert [one.split for one in found.disputed] == [True, False]


def test_a_failed_verdict_is_no_absence() -> None:
    found = disagreements(
        [source((anomia("one", 1), failed("two", "anomia", "timeout")))], "anomia"
    )
    assert (found.compared, found.disputed) == (0, ())


def test_a_judge_without_the_feature_in_its_set_takes_no_part() -> None:
    given = source((anomia("one", 1), valued("one", "jargon", 1), anomia("two", 0)))
    assert disagreements([given], "jargon").judges == ("rules-2", "one")
    assert disagreements([given], "anomia").judges == ("one", "two")
