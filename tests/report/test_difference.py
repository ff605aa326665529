"""Two sides on the same items: means over items, exact p values, what cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tabwb.battery.model import Battery, Feature, Item, Subtest
from tabwb.records.errors import UsageError
from tabwb.records.ratings import Rating, undefined, valued
from tabwb.records.states import (
    AttemptState,
    ResponseKind,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import Attempt, PlannedTrial, Trial
from tabwb.report.counted import Source
from tabwb.report.difference import Difference, difference

FEATURES = ("anomia", "jargon")
BATTERY = Battery(
    id="pair",
    title="Pair",
    version="1",
    language="en",
    license="MIT",
    subtests=(
        Subtest(
            "words",
            "Words",
            ResponseKind.CHOICE,
            tuple(Item(f"w{n}", f"Which {n}?", options=("a", "b"), expected="a") for n in range(4)),
            scorers=("choice",),
        ),
        Subtest(
            "text", "Text", ResponseKind.CONNECTED_TEXT, (Item("t0", "Tell."), Item("t1", "Say."))
        ),
    ),
    features=tuple(Feature(id=name, key=name, title=name, definition=name) for name in FEATURES),
    content_hash="one",
)
Said = Mapping[str, Sequence[str]]
JUDGE = "a-judge"


def rated(item: str, response: str) -> tuple[Rating, ...]:
    if item.startswith("w"):
        return (valued("choice", "exact", response == "a"),)
    return tuple(valued(JUDGE, name, name in response) for name in FEATURES)


def source(said: Said, *, battery: Battery = BATTERY) -> Source:
    trials: list[Trial] = []
    for subtest in battery.subtests:
        for item in subtest.items:
            for replicate, response in enumerate(said.get(item.id, ())):
                attempt = Attempt(
                    1, response, AttemptState.OK, ResponseStatus.OK, StopReason.END, 0.1
                )
                plan = PlannedTrial(
                    len(trials) + 1, subtest.id, item.id, replicate, item.options, item.prompt
                )
                trials.append(
                    Trial(plan, TrialState.ANSWERED, (attempt,), rated(item.id, response))
                )
    return Source(battery, trials)


def compare(one: Said, other: Said) -> Difference:
    return difference([source(one)], [source(other)], ("A", "B"))


ALL_RIGHT = {f"w{n}": ["a"] for n in range(4)}
ALL_WRONG = {f"w{n}": ["b"] for n in range(4)}


def test_four_items_right_and_wrong_give_two_of_sixteen() -> None:
    (accuracy,) = compare(ALL_RIGHT, ALL_WRONG).compared
    assert (accuracy.first, accuracy.second, accuracy.items) == (1.0, 0.0, 4)
    assert accuracy.test is not None and accuracy.test.exact
    assert (accuracy.test.difference, accuracy.test.p) == (1.0, 2 / 16)


def test_responses_to_one_item_are_averaged_first() -> None:
    (accuracy,) = compare({"w0": ["a", "b"], "w1": ["a"]}, {"w0": ["b"], "w1": ["a"]}).compared
    assert (accuracy.first, accuracy.second, accuracy.items) == (0.75, 0.5, 2)
    assert accuracy.test is not None and accuracy.test.difference == 0.25


def test_only_shared_items_are_compared() -> None:
    (accuracy,) = compare({"w0": ["a"], "w1": ["b"]}, {"w0": ["a"]}).compared
    assert (accuracy.items, accuracy.first) == (1, 1.0)


def test_burdens_of_one_set_are_compared() -> None:
    found = compare({"t0": ["anomia jargon"], "t1": ["anomia"]}, {"t0": ["anomia"], "t1": ["fine"]})
    (burden,) = found.compared
    assert (burden.measure, burden.rater, burden.features) == ("symptom burden", JUDGE, FEATURES)
    assert (burden.first, burden.second) == (1.5, 0.5)
    assert burden.test is not None and burden.test.p == 2 / 4


def test_a_response_with_an_undefined_feature_has_no_burden() -> None:
    one = source({"t0": ["anomia"], "t1": ["fine"]})
    first = one.trials[0]
    odd = Trial(
        first.plan,
        first.state,
        first.attempts,
        (valued(JUDGE, "anomia", 1.0), undefined(JUDGE, "jargon", "why")),
    )
    found = difference(
        [Source(BATTERY, [odd, one.trials[1]])], [source({"t0": ["x"], "t1": ["x"]})], ("A", "B")
    )
    burdens = [each for each in found.compared if each.features == FEATURES]
    assert all(each.items == 1 and each.first == 0.0 for each in burdens)


def test_a_judge_of_one_side_is_left_out_and_named() -> None:
    found = compare({"t0": ["anomia"]}, {"w0": ["a"]})
    assert found.left_out == ((JUDGE, "judged only one side"),)


def test_what_both_said_stands_side_by_side() -> None:
    found = compare({"w0": ["a", "a", "b"], "w1": ["a"]}, {"w0": ["b"], "w1": ["a"]})
    first, second = found.items
    assert (first.first, first.second, first.differs) == (("a", "b"), ("b",), True)
    assert first.first_right == pytest.approx(2 / 3) and first.second_right == 0.0
    assert not second.differs


def test_nothing_shared_is_undefined_not_zero() -> None:
    (accuracy,) = compare({"w0": ["a"]}, {"w1": ["a"]}).compared
    assert (accuracy.first, accuracy.second, accuracy.test) == (None, None, None)
    compared = compare({"w0": ["a"]}, {"w1": ["a"]}).to_json()["compared"]
    assert isinstance(compared, list) and compared[0]["status"] == "undefined"


def test_different_batteries_are_refused() -> None:
    from dataclasses import replace

    other = replace(BATTERY, version="2", content_hash="two")
    with pytest.raises(UsageError, match="pair 1 and pair 2"):
        difference([source(ALL_RIGHT)], [source(ALL_RIGHT, battery=other)], ("A", "B"))
