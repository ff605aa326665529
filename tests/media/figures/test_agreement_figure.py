"""The agreement of two judges as a figure, and the intervals of its coefficients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from tabwb.agreement.intervals import dirichlet_intervals, least_positives
from tabwb.agreement.pairs import cohen_kappa, gwet_ac1, percent_agreement
from tabwb.media.figures import figure_table, make
from tabwb.media.figures.estimates import records
from tabwb.records.errors import UsageError
from tabwb.records.ratings import Declaration, Rating, valued
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import Grouped, summarised
from tabwb.report.summaries.load import AdministrationData
from tests.media.figures.looks import faults
from tests.media.figures.test_numbers import panels
from tests.report.given import BATTERY, SAMPLED, administration, answered

FEATURES = ("anomia", "jargon", "retracing")


def test_the_interval_of_a_share_is_the_beta_quantile_of_its_sum() -> None:
    """The diagonal of a Dirichlet(n + 1/2) is Beta(agreed + 1, disagreed + 1)."""
    tables = np.array([[[20, 5], [10, 15]], [[3, 0], [1, 2]]])
    ends = dirichlet_intervals(tables, percent_agreement, draws=40_000)
    for table, (low, high) in zip(tables, ends, strict=True):
        agreed = np.trace(table)
        expected = stats.beta(agreed + 1, table.sum() - agreed + 1).ppf([0.025, 0.975])
        assert [low, high] == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("coefficient", [cohen_kappa, gwet_ac1])
def test_intervals_cover_the_true_coefficient(coefficient: object) -> None:
    shares = np.array([[0.55, 0.1], [0.1, 0.25]])
    true = float(coefficient(shares))  # type: ignore[operator]
    drawn = np.random.Generator(np.random.PCG64(3)).multinomial(60, shares.ravel(), 300)
    ends = dirichlet_intervals(drawn.reshape(-1, 2, 2), coefficient, draws=800)  # type: ignore[arg-type]
    assert 0.91 <= float(((ends[:, 0] <= true) & (true <= ends[:, 1])).mean()) <= 0.99


def test_an_empty_table_has_no_interval_and_equal_calls_are_equal() -> None:
    tables = np.array([[[0, 0], [0, 0]], [[4, 1], [1, 4]]])
    first, second = (dirichlet_intervals(tables, cohen_kappa) for _ in range(2))
    assert np.isnan(first[0]).all() and not np.isnan(first[1]).any()
    assert np.array_equal(first, second, equal_nan=True)


def test_the_fewest_positives_are_those_of_the_rater_with_fewer() -> None:
    assert least_positives(np.array([[[20, 5], [1, 2]], [[9, 0], [8, 4]]])).tolist() == [3, 4]


def judged(n: int, second: str = "b:2") -> Grouped:
    """Two judges of n texts: anomia in every second, jargon in two, retracing by the first."""
    said: dict[str, Callable[[int], dict[str, float]]] = {
        "a:1": lambda at: {"anomia": at % 2, "jargon": at < 2, "retracing": at % 3 == 0},
        second: lambda at: {"anomia": (at + at // 9) % 2, "jargon": at < 3, "retracing": False},
    }
    trials = []
    for at in range(n):
        trial = answered("ct1", f"We went there {at} times.", number=at + 1, replicate=at)
        ratings: list[Rating] = [
            valued(rater, name, bool(value))
            for rater, of in said.items()
            for name, value in of(at).items()
        ]
        trials.append(type(trial)(trial.plan, trial.state, trial.attempts, tuple(ratings)))
    data = AdministrationData(
        administration(1, SAMPLED),
        BATTERY,
        tuple(trials),
        declarations={rater: Declaration(rater, FEATURES) for rater in said},
    )
    (group,) = summarised(grouped([data], ("administration",)))
    return group


def test_coefficients_are_those_of_the_table_of_verdicts() -> None:
    rows = records(figure_table("agreement", [judged(30)]))
    kappa = {row["feature"]: row for row in rows if row["measure"] == "kappa"}
    table = np.array(
        [[kappa["anomia"]["both_absent"], kappa["anomia"]["second_present"]],
         [kappa["anomia"]["first_present"], kappa["anomia"]["both_present"]]]
    )  # fmt: skip
    assert table.tolist() == [[10, 5], [7, 8]]
    assert kappa["anomia"]["value"] == pytest.approx(0.2)
    assert kappa["anomia"]["low"] < 0.2 < kappa["anomia"]["high"]


def test_three_positives_or_fewer_have_their_table_instead() -> None:
    figure = make("agreement", [judged(30)])
    rows = {row["feature"]: row for row in records(figure.facts.table)}
    assert rows["jargon"]["value"] is None and rows["jargon"]["positive"] == 0.8
    assert rows["retracing"]["reason"] == "a judge calls 3 responses or fewer present"
    (axes,) = panels(figure)
    words = [text.get_text() for text in axes.texts if text.get_gid() == "undefined"]
    assert sorted(words) == ["0/10/0/20, 0.00", "2/0/1/27, 0.80"]
    assert len([line for line in axes.lines if line.get_gid() == "value"]) == 2


def test_without_two_judges_there_is_no_agreement() -> None:
    from tests.media.figures.test_differences import FAMILIES, models

    with pytest.raises(UsageError, match="no two judges"):
        make("agreement", models(*FAMILIES[:1]))
    with pytest.raises(UsageError, match="no two judges are called 'a:1,c:3'") as refused:
        make("agreement", [judged(5)], judges="a:1,c:3")
    assert refused.value.allowed == "a:1,b:2"


@pytest.mark.parametrize("called", ["a:1,b:m@x=1,y=2", "b, a:1", "a,b:m"])
def test_judges_are_called_by_spec_short_name_or_id(called: str) -> None:
    table = figure_table("agreement", [judged(5, "b:m@x=1,y=2")], judges=called)
    assert table.notes[0] == "Agreement of a:1 and b:m on each feature."


def test_texts_have_their_own_place() -> None:
    assert faults(make("agreement", [judged(30)])) == []
