"""The rank correlation of two judges' burdens, against scipy and by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import atanh, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr
from tabwb_builtin.burdens import STATISTIC, rank_correlations

from tabwb.plugin_api import Responses
from tabwb.records.columns import Column
from tabwb.tables.table import table_of
from tests.report.given import BATTERY

COLUMNS = (
    Column("subtest", "", ""),
    Column("item", "", ""),
    Column("usable", "", "", "boolean"),
)
FEATURES = ("anomia", "jargon", "retracing")


def given(items: Sequence[str], judges: dict[str, Any], usable: Sequence[bool] = ()) -> Responses:
    """Responses to items, with the ratings of each judge: (responses, features)."""
    rows = zip(["text"] * len(items), items, usable or [True] * len(items), strict=True)
    ratings = {judge: np.asarray(values, float) for judge, values in judges.items()}
    return Responses(
        BATTERY,
        table_of("responses", COLUMNS, rows),
        dict.fromkeys(judges, FEATURES),
        lambda judge, feature: ratings[judge][:, FEATURES.index(feature)],
        dict.fromkeys(judges, FEATURES),
    )


def test_it_is_that_of_scipy_over_the_mean_burdens_of_items() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 2, (2, 40, 3))
    second[::2] = first[::2]
    items = [f"i{at % 10}" for at in range(40)]
    (value,) = rank_correlations(given(items, {"a": first, "b": second}))
    means = [each.sum(axis=1).reshape(4, 10).mean(axis=0) for each in (first, second)]
    expected = spearmanr(*means).statistic
    assert value.of == "a, b" and value.n == 40 and value.value == pytest.approx(expected)
    assert value.low is not None and value.high is not None and value.low < expected < value.high
    half = 1.96 * sqrt((1 + expected**2 / 2) / 7)
    assert atanh(value.high) - atanh(value.low) == pytest.approx(2 * half)


def test_a_response_without_a_burden_by_both_is_left_out() -> None:
    first = np.eye(3)[[0, 0, 1, 2, 1]] * [1, 1, 0]
    second = first.copy()
    second[0, 1] = np.nan
    items, usable = list("abcde"), [True, False, True, True, True]
    (value,) = rank_correlations(given(items, {"a": first, "b": second}, usable))
    assert value.n == 3 and value.low is None and "fewer than 5 items" in value.reason


def test_equal_burdens_have_no_correlation() -> None:
    (value,) = rank_correlations(given(list("abcde"), {"a": np.ones((5, 3)), "b": np.eye(5, 3)}))
    assert value.value is None and "are equal" in value.reason


def test_it_needs_two_judges() -> None:
    assert STATISTIC.judges == 2
    assert list(rank_correlations(given(["a"], {"a": np.ones((1, 3))}))) == []
