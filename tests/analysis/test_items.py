"""Items of groups: difficulty, discrimination, models; against counts by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import grouped, summarised
from tabwb.analysis.tables.items import (
    ONE_EXAMINEE,
    analyse_items,
    item_models_table,
    items_table,
)
from tabwb.records.conditions import Conditions
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
