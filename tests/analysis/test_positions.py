"""Positions of options and kinds of foils of groups, against counts by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.draws import SHARED
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.tables.positions import foils_of, foils_table, positions_of, positions_table
from tabwb.battery.model import Item
from tabwb.records.errors import UsageError
from tabwb.records.trials import Trial
from tests.analysis.given import BATTERY, SAMPLED, administration, answered

ITEMS = {item.id: item for item in BATTERY.subtest("words").items if not item.practice}
Answer = Callable[[Item, tuple[str, ...]], str]


def rotated(answer: Answer, number: int = 1, *, seeds: bool = True) -> AdministrationData:
    """All rotations of the three items, answered by a function of item and options shown."""
    trials: list[Trial] = []
    for item in ITEMS.values():
        for at in range(len(item.options)):
            shown = item.options[at:] + item.options[:at]
            said = answer(item, shown)
            trial = answered(item.id, said, number=len(trials) + 1, options=shown)
            if not seeds:
                attempts = tuple(replace(given, metadata={}) for given in trial.attempts)
                trial = replace(trial, attempts=attempts)
            trials.append(trial)
    conditions = replace(SAMPLED, examinee=f"local:m{number}", option_order="rotated")
    return AdministrationData(administration(number, conditions), BATTERY, tuple(trials))


def rows(*given: AdministrationData) -> tuple[Grouped, ...]:
    return summarised(grouped(given, "model"))


def test_a_model_that_takes_the_first_option() -> None:
    ((_, bias),) = positions_of([rotated(lambda _, shown: shown[0])])
    assert bias is not None and (bias.items, bias.answers) == (3, 18)
    first, *others = bias.positions
    assert (first.keyed, first.correct, first.chosen, first.of) == (3, 3, 18, 18)
    assert {(place.keyed, place.correct, place.chosen) for place in others} == {(3, 0, 0)}
    assert first.expected.value == pytest.approx(1 / 6)
    assert (bias.choices.p or 1) < 0.001 and first.p_chosen is not None


def test_a_model_that_names_the_option_at_an_odd_place_in_words() -> None:
    # "The answer is X." is read by the policy extracted, and is not right by exact.
    ((_, bias),) = positions_of([rotated(lambda _, shown: f"The answer is {shown[2]}.")])
    assert bias is not None
    assert [place.chosen for place in bias.positions] == [0, 0, 18, 0, 0, 0]
    assert {place.correct for place in bias.positions} == {0}


def test_replicates_of_one_stream_have_no_test_on_these_prompts() -> None:
    ((_, bias),) = positions_of([rotated(lambda _, shown: shown[0], seeds=False)])
    assert bias is not None and bias.choices.p is None
    assert bias.choices.reason == SHARED
    assert {place.chosen_these.reason for place in bias.positions} == {SHARED}


def test_table_of_positions_has_a_row_for_each_model_and_position() -> None:
    table = positions_table(
        rows(rotated(lambda _, shown: shown[0]), rotated(lambda _, shown: shown[-1], 2))
    )
    assert table["group"].to_list() == ["m1"] * 6 + ["m2"] * 6
    assert table["position"].to_list() == [1, 2, 3, 4, 5, 6] * 2
    assert table["position_share"].to_list() == [1.0, *[0.0] * 10, 1.0]
    assert table["expected"].to_list() == pytest.approx([1 / 6] * 12)
    assert table["position_share_low"].to_list()[0] > 0.5


def test_options_in_one_order_have_no_positions() -> None:
    given = AdministrationData(
        administration(1, SAMPLED), BATTERY, (answered("wc1", "lion"), answered("wc3", "boot"))
    )
    ((_, bias),) = positions_of([given])
    assert bias is None
    with pytest.raises(UsageError, match="no item was given with its options in several orders"):
        positions_table(rows(given))


def test_kinds_of_foils_against_chance() -> None:
    # giraffe (semantic) for wc1, boat (phonological) for wc3, lion (no kind) for wc4.
    said = {"lion": "giraffe", "boot": "boat", "knife": "lion"}
    given = rotated(lambda item, _: said[item.expected or ""])
    semantic, phonological, other = foils_of([given])
    assert [kind[2].kind for kind in (semantic, phonological, other)] == [
        "semantic", "phonological", "other-option",
    ]  # fmt: skip
    assert (semantic[1], semantic[2].errors, semantic[2].of) == (6, 6, 6)
    assert (phonological[1], phonological[2].errors, phonological[2].of) == (12, 6, 12)
    assert (other[1], other[2].errors, other[2].of) == (18, 6, 18)
    assert semantic[2].chance.value == pytest.approx(0.2) and other[
        2
    ].chance.value == pytest.approx(0.8)
    assert semantic[2].p_these == pytest.approx(2 * 0.2**6)


def test_table_of_foils_and_right_answers_alone() -> None:
    table = foils_table(rows(rotated(lambda *_: "giraffe")))
    assert table["kind"].to_list() == ["semantic", "phonological", "other-option"]
    # "giraffe" is a foil of wc1 and an option without a kind elsewhere.
    assert table["errors"].to_list() == [6, 0, 12]
    assert table["foil_share"].to_list() == [1.0, 0.0, 12 / 18]
    table = foils_table(rows(rotated(lambda item, _: item.expected or "")))
    assert table["foil_share"].is_missing.all() and table["answers"].to_list() == [6, 12, 18]
    assert set(table["reason"].to_list()) == {
        "no wrong option was named where this kind is offered"
    }
