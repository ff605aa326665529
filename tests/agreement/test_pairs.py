"""Coefficients of two raters and of many: published examples, other libraries, definitions."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tabwb.agreement.many import binary_alpha, fleiss_kappa, krippendorff_alpha
from tabwb.agreement.pairs import (
    cohen_kappa,
    gwet_ac1,
    mean_of_defined,
    percent_agreement,
    samples,
    specific_agreement,
    tables_of,
    weighted_kappa,
)

PUBLISHED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "agreement_published.json").read_text(encoding="utf-8")
)
MEASURES = {
    "cohen_kappa": cohen_kappa,
    "gwet_ac1": gwet_ac1,
    "percent_agreement": percent_agreement,
}


@pytest.mark.parametrize(
    ("case", "measure"),
    [(case, measure) for case in PUBLISHED["tables"] for measure in MEASURES if measure in case],
    ids=lambda value: value["name"] if isinstance(value, dict) else value,
)
def test_published_tables(case: dict[str, Any], measure: str) -> None:
    found = float(MEASURES[measure](np.array(case["table"])))
    digits = len(str(case[measure]).partition(".")[2])
    assert round(found, digits) == case[measure]


def test_where_neither_varies_kappa_is_undefined_and_ac1_is_not() -> None:
    same = np.zeros((10, 1))
    table = tables_of(same, same)
    assert np.isnan(cohen_kappa(table)[0])
    assert gwet_ac1(table)[0] == percent_agreement(table)[0] == 1.0
    # Nor where one always says present and the other never does.
    opposite = tables_of(same, same + 1)
    assert np.isnan([cohen_kappa(opposite)[0], weighted_kappa(opposite)[0]]).all()
    assert (gwet_ac1(opposite)[0], percent_agreement(opposite)[0]) == (-1.0, 0.0)


def test_where_one_is_constant_kappa_is_zero() -> None:
    other = np.zeros((10, 1))
    other[-1] = 1.0
    table = tables_of(np.zeros((10, 1)), other)
    assert cohen_kappa(table)[0] == pytest.approx(0.0, abs=1e-12)
    assert round(float(gwet_ac1(table)[0]), 4) == 0.8895
    assert percent_agreement(table)[0] == 0.9


@pytest.mark.parametrize(
    ("table", "kappa"), [([[111_999, 1], [0, 0]], 0.0), ([[199_999, 0], [0, 1]], 1.0)]
)
def test_one_sample_among_many_is_not_rounded_away(table: list[list[int]], kappa: float) -> None:
    assert float(cohen_kappa(np.array(table))) == kappa


def test_without_samples_everything_is_undefined() -> None:
    table = tables_of(np.full((3, 1), np.nan), np.ones((3, 1)))
    assert samples(table).tolist() == [0]
    for measure in MEASURES.values():
        assert np.isnan(measure(table)[0])
    assert mean_of_defined(cohen_kappa(table)) == (None, 0)


def test_agreement_on_a_category_that_nobody_used_is_undefined() -> None:
    table = np.array([[10, 0], [0, 0]])
    assert np.isnan(specific_agreement(table, 1))
    assert specific_agreement(table, 0) == 1.0


def test_arrays_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="one shape"):
        tables_of(np.zeros((2, 1)), np.zeros((3, 1)))


verdicts = arrays(np.float64, (12, 3), elements=st.sampled_from([0.0, 1.0, float("nan")]))


@given(verdicts, verdicts)
def test_raters_can_be_exchanged_and_percent_bounds_the_coefficients(
    one: np.ndarray, other: np.ndarray
) -> None:
    table, turned = tables_of(one, other), tables_of(other, one)
    for measure in MEASURES.values():
        np.testing.assert_allclose(measure(table), measure(turned), equal_nan=True)
        defined = ~np.isnan(measure(table))
        assert (measure(table)[defined] <= percent_agreement(table)[defined] + 1e-12).all()


@given(verdicts)
def test_a_rater_agrees_with_itself(one: np.ndarray) -> None:
    table = tables_of(one, one)
    counted = samples(table) > 0
    assert (percent_agreement(table)[counted] == 1.0).all()
    assert np.nan_to_num(cohen_kappa(table), nan=1.0) == pytest.approx(np.ones(3))


KRIPPENDORFF, FLEISS = PUBLISHED["raw"]
CODERS = np.array(KRIPPENDORFF["ratings"], dtype=np.float64)


def test_published_alpha_of_four_coders_with_gaps() -> None:
    assert round(krippendorff_alpha(CODERS, "nominal"), 3) == KRIPPENDORFF["alpha_nominal"]
    assert round(krippendorff_alpha(CODERS, "ordinal"), 3) == KRIPPENDORFF["alpha_ordinal"]
    # Interval alpha of the same data: Krippendorff 2011, page 9.
    assert round(krippendorff_alpha(CODERS, "interval"), 3) == 0.849


def test_published_fleiss_kappa() -> None:
    assert round(fleiss_kappa(np.array(FLEISS["counts"])), 2) == FLEISS["fleiss_kappa"]


def test_fleiss_needs_the_same_number_of_ratings_of_each_sample() -> None:
    assert np.isnan(fleiss_kappa(np.array([[2, 0], [1, 2]])))
    assert np.isnan(fleiss_kappa(np.array([[1, 0], [0, 1]])))
    assert np.isnan(fleiss_kappa(np.array([[3, 0], [3, 0]])))
    assert fleiss_kappa(np.array([[2, 0], [0, 2], [0, 0]])) == 1.0


def test_where_all_ratings_are_equal_alpha_is_undefined() -> None:
    assert np.isnan(krippendorff_alpha(np.ones((3, 5))))
    assert np.isnan(krippendorff_alpha(np.full((2, 2), np.nan)))
    assert np.isnan(binary_alpha(np.zeros((3, 5, 1), np.int8))).all()


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="nominal, ordinal or interval"):
        krippendorff_alpha(CODERS, "ratio")  # type: ignore[arg-type]


marks = arrays(np.int8, (3, 8, 2), elements=st.sampled_from([-2, -1, 0, 1]))


@settings(deadline=None)
@given(marks)
def test_alpha_of_verdicts_is_nominal_alpha(given_: np.ndarray) -> None:
    numbers = np.where(given_ < 0, np.nan, given_.astype(np.float64))
    expected = [krippendorff_alpha(numbers[:, :, at]) for at in range(2)]
    np.testing.assert_allclose(binary_alpha(given_), expected, atol=1e-12, equal_nan=True)


@settings(deadline=None, max_examples=50)
@given(arrays(np.float64, (3, 5), elements=st.sampled_from([0.0, 1.0, 3.0, np.nan])))
def test_interval_alpha_is_what_its_pairs_say(ratings: np.ndarray) -> None:
    """Alpha as 1 - mean squared difference within units / between all ratings."""
    units = [column[~np.isnan(column)] for column in ratings.T]
    units = [unit for unit in units if len(unit) > 1]
    every = np.concatenate(units) if units else np.array([])
    between = sum((a - b) ** 2 for a, b in permutations(every, 2))
    if not between:
        assert np.isnan(krippendorff_alpha(ratings, "interval"))
        return
    within = sum(sum((a - b) ** 2 for a, b in permutations(u, 2)) / (len(u) - 1) for u in units)
    expected = 1 - (within / len(every)) / (between / len(every) / (len(every) - 1))
    assert krippendorff_alpha(ratings, "interval") == pytest.approx(expected)


def test_published_weighted_kappa() -> None:
    case = PUBLISHED["tables"][0]
    table = np.array(case["table"])
    assert round(float(weighted_kappa(table, 1)), 3) == case["cohen_kappa_linear"]
    assert round(float(weighted_kappa(table, 2)), 3) == case["cohen_kappa_quadratic"]


@given(arrays(np.int8, (2, 12, 1), elements=st.sampled_from([-1, 0, 1])))
def test_weighted_kappa_of_two_categories_is_kappa(both: np.ndarray) -> None:
    table = tables_of(*both)
    np.testing.assert_allclose(weighted_kappa(table, 2), cohen_kappa(table), atol=1e-12)


def test_kappas_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    first = rng.integers(0, 5, (60, 1)).astype(np.int8)
    second = np.clip(first + rng.integers(-1, 2, first.shape), 0, 4).astype(np.int8)
    table = tables_of(first, second, 5)
    for weights, found in (
        (None, cohen_kappa(table)),
        ("linear", weighted_kappa(table, 1)),
        ("quadratic", weighted_kappa(table, 2)),
    ):
        theirs = metrics.cohen_kappa_score(first.ravel(), second.ravel(), weights=weights)
        assert float(found[0]) == pytest.approx(theirs)
