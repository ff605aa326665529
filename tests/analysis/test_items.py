"""Items, positions of options and kinds of foils of groups, against counts by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.draws import SHARED
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.tables.items import ONE_EXAMINEE, analyse_items, item_models_table, items_table
from tabwb.analysis.tables.positions import foils_of, foils_table, positions_of, positions_table
from tabwb.battery.model import Item
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.trials import Trial
from tabwb.scoring.estimate import DETERMINISTIC, ONE_RESPONSE
from tabwb.scoring.intervals import beta_binomial
from tabwb.scoring.item_response import FEW_CORRELATED, fit_model
from tests.analysis.given import BATTERY, CONDITIONS, SAMPLED, administration, answered

KEYS = {"wc1": "lion", "wc3": "boot", "wc4": "knife"}


def answers(number: int, conditions: Conditions, *rows: Sequence[int]) -> AdministrationData:
    """One administration: for each replicate, whether wc1, wc3 and wc4 are right."""
    trials: list[Trial] = []
    for replicate, row in enumerate(rows):
        for (item, key), right in zip(KEYS.items(), row, strict=True):
            at = len(trials) + 1
            said = key if right else f"no idea {at}"
            trials.append(answered(item, said, number=at, replicate=replicate))
    return AdministrationData(administration(number, conditions), BATTERY, tuple(trials))


def models(*rows: Sequence[Sequence[int]]) -> list[AdministrationData]:
    """Administrations of as many models."""
    return [
        answers(number, replace(SAMPLED, examinee=f"local:m{number}"), *own)
        for number, own in enumerate(rows, start=1)
    ]


SIX = models(
    [(1, 1, 0), (1, 0, 0)], [(1, 1, 1), (1, 1, 1)], [(0, 0, 0), (1, 0, 0)],
    [(1, 1, 0), (1, 1, 1)], [(1, 0, 0), (0, 0, 0)], [(1, 1, 1), (1, 0, 1)],
)  # fmt: skip


def test_counts_and_intervals_of_items() -> None:
    (words,) = analyse_items(list(SIX))
    assert words.subtest.id == "words" and words.examinees == 6
    first, second, _ = words.items()
    assert (first.item, first.n, first.right, first.examinees) == ("wc1", 12, 10, 6)
    # Examinees are the clusters: 2, 2, 1, 2, 1, 2 of 2 each.
    assert first.like.interval == beta_binomial(((1, 2), (1, 2), *((2, 2),) * 4))
    assert first.these.interval is not None and second.share.value == 6 / 12


def test_discrimination_is_over_the_examinees_mean_scores() -> None:
    (words,) = analyse_items(list(SIX))
    scores = np.array([[1, 0.5, 0], [1, 1, 1], [0.5, 0, 0], [1, 1, 0.5], [0.5, 0, 0], [1, 0.5, 1]])
    for at, item in enumerate(words.items()):
        rest = np.delete(scores, at, axis=1).mean(axis=1)
        assert item.discrimination.value == pytest.approx(np.corrcoef(scores[:, at], rest)[0, 1])
        assert item.discrimination_interval is not None


def test_one_examinee_has_a_share_and_nothing_about_examinees() -> None:
    (words,) = analyse_items([SIX[0]])
    (item, _, _) = words.items()
    assert item.share.value == 1.0 and item.like.reason == ONE_EXAMINEE
    assert item.these.interval is not None and item.discrimination.reason == FEW_CORRELATED
    assert item.rasch.reason == "fitted from 30 examinees on; there are 1"


def test_greedy_answers_have_no_error_for_these_examinees() -> None:
    greedy = [
        answers(number, replace(CONDITIONS, examinee=f"local:m{number}"), (1, 1, 0))
        for number in (1, 2)
    ]
    (words,) = analyse_items(list(greedy))
    assert {item.these.reason for item in words.items()} == {DETERMINISTIC}


def test_people_answer_once() -> None:
    people = [
        answers(number, Conditions(f"S-{number}", "speaker"), (1, number % 2, 0))
        for number in range(1, 7)
    ]
    (words,) = analyse_items(list(people))
    assert {item.these.reason for item in words.items()} == {ONE_RESPONSE}
    assert [item.examinees for item in words.items()] == [6, 6, 6]


def many() -> list[AdministrationData]:
    rng = np.random.default_rng(1)
    ability = rng.normal(size=(60, 1, 1))
    right = rng.random((60, 2, 3)) < 1 / (1 + np.exp(-1.5 * (ability - [-0.5, 0.0, 0.8])))
    return models(*right.astype(int).tolist())


def test_models_are_fitted_to_each_examinees_first_answers() -> None:
    given = many()
    (words,) = analyse_items(list(given))
    first = [[float(trial.ratings[0].value or 0) for trial in data.trials[:3]] for data in given]
    expected = fit_model(first, "rasch")
    assert words.first_answers == first and words.rasch == expected
    assert [item.rasch for item in words.items()] == list(expected.items)
    assert words.two_parameter.reason == "fitted from 200 examinees on; there are 60"
    assert words.comparison is None


def test_tables_of_items_and_models() -> None:
    rows = summarised(grouped(many(), "battery"))
    table = items_table(rows)
    assert table["item"].to_list() == ["wc1", "wc3", "wc4"]
    assert table["examinees"].to_list() == [60] * 3
    difficulties = table["rasch_difficulty"].to_list()
    assert sorted(difficulties) == difficulties and table["infit"].to_list()[0] > 0
    assert table["slope"].is_missing.all()
    assert table["reason"].to_list()[0] == "2-PL: fitted from 200 examinees on; there are 60"
    rasch, two = item_models_table(rows).rows()
    names = item_models_table(rows).names
    assert dict(zip(names, rasch, strict=True))["parameters"] == 4
    assert dict(zip(names, two, strict=True))["log_likelihood"] is None


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
