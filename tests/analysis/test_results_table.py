"""The table of results against the summaries that it is made from."""

from __future__ import annotations

import pytest
from scipy.stats import beta

from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.tables.results import results_table
from tabwb.tables.table import Table
from tests.analysis.given import CONDITIONS
from tests.analysis.test_grouping import given


def table_of_groups() -> tuple[tuple[Grouped, ...], Table]:
    rows = summarised(grouped([given(1, CONDITIONS)], "model"))
    return rows, results_table(rows)


def test_a_row_is_one_value_of_one_group() -> None:
    _, table = table_of_groups()
    keys = ("group", "part", "rater", "measure", "feature", "policy")
    named = list(table.select(keys).rows())
    assert len(named) == len(set(named))


def test_accuracies_are_those_of_the_answers() -> None:
    _, table = table_of_groups()
    words = table.where(part="words", measure="accuracy", policy="exact", feature=None)
    ((value, low, high, n, items),) = words.select(("value", "low", "high", "n", "n_items")).rows()
    # One of three, with the exact interval of Clopper and Pearson.
    assert (value, n, items) == (pytest.approx(1 / 3), 3, 3)
    assert (low, high) == pytest.approx((beta.ppf(0.025, 1, 3), beta.ppf(0.975, 2, 2)))


def test_the_rates_of_the_features_add_up_to_the_burden() -> None:
    rows, table = table_of_groups()
    (judge,) = rows[0].results.judges
    own = table.where(rater=judge.terms.rater)
    ((burden,),) = own.where(measure="burden").select(("value",)).rows()
    rates = own.where(measure="rate")["value"].to_list()
    assert burden == pytest.approx(sum(rates))
    assert len(rates) == len(judge.terms.features)
    counts = own.where(measure="category_count")["value"].to_list()
    assert sum(count or 0 for count in counts) == pytest.approx(burden)


def test_an_undefined_value_has_a_reason_and_no_number() -> None:
    _, table = table_of_groups()
    undefined = table.where(status="undefined")
    assert len(undefined)
    assert all(value is None for value in undefined["value"].to_list())
    assert all(undefined["reason"].to_list())
    assert not any(table.where(status="value")["reason"].to_list())
