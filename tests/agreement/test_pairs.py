"""Coefficients of two raters against published worked examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tabwb.agreement.pairs import (
    cohen_kappa,
    gwet_ac1,
    mean_of_defined,
    percent_agreement,
    samples,
    specific_agreement,
    tables_of,
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
