"""Item response models and correlations of items, against published fits, scipy and simulations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import minimize

from tabwb.scoring.item_response import (
    FEW_CORRELATED,
    REST_ALIKE,
    FittedItem,
    Model,
    compare_models,
    discrimination,
    discrimination_interval,
    fit_model,
)

# Bock and Lieberman, Psychometrika 35 (1970), 179: examinees with each of the 32 patterns of five
# items, in binary order (00000, 00001, ...); sections 6 and 7 of the Law School Admission Test.
# As printed in R's psych::bock (Revelle).
PATTERNS = [[(number >> (4 - item)) & 1 for item in range(5)] for number in range(32)]
LSAT6 = [
    *(3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15),
    *(10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298),
]
LSAT7 = [
    *(12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28),
    *(7, 39, 11, 34, 14, 51, 15, 90, 6, 25, 7, 35, 18, 136, 32, 308),
]


def given_by(counts: list[int]) -> list[list[int]]:
    """The answers of so many examinees with each pattern."""
    return [row for row, n in zip(PATTERNS, counts, strict=True) for _ in range(n)]


# Rizopoulos, Journal of Statistical Software 17 (2006), 5: rasch(LSAT) and ltm(LSAT ~ z1) of R's
# ltm. Thissen 1982 has the same common slope, 0.755.
RASCH6 = [-3.6153, -1.3224, -0.3176, -1.7301, -2.7802], 0.7551
RASCH6_ERRORS = [0.3266, 0.1422, 0.0977, 0.1691, 0.2510], 0.0694
TWO6 = [-3.3597, -1.3696, -0.2799, -1.8659, -3.1236], [0.8254, 0.7229, 0.8905, 0.6886, 0.6575]
TWO6_ERRORS = [0.8669, 0.3073, 0.0997, 0.4341, 0.8700], [0.2581, 0.1867, 0.2326, 0.1852, 0.2100]
# Chalmers, Journal of Statistical Software 48 (2012), 6: mirt(LSAT7, 1) of R's mirt, slopes and
# intercepts d = -a b.
TWO7 = [0.988, 1.081, 1.706, 0.765, 0.736], [1.856, 0.808, 1.804, 0.486, 1.855]


def parameters(items: tuple[FittedItem, ...]) -> tuple[list[float], list[float]]:
    """Difficulties and discriminations."""
    return (
        [item.difficulty for item in items if item.difficulty is not None],
        [item.discrimination for item in items if item.discrimination is not None],
    )


def errors(items: tuple[FittedItem, ...]) -> tuple[list[float], list[float]]:
    """Their standard errors."""
    return (
        [item.difficulty_se for item in items if item.difficulty_se is not None],
        [item.discrimination_se for item in items if item.discrimination_se is not None],
    )


def test_rasch_model_of_lsat_6_as_published() -> None:
    found = fit_model(given_by(LSAT6), "rasch")
    difficulties, slopes = parameters(found.items)
    assert difficulties == pytest.approx(RASCH6[0], abs=1e-4)
    assert slopes == pytest.approx([RASCH6[1]] * 5, abs=1e-4)
    assert errors(found.items)[0] == pytest.approx(RASCH6_ERRORS[0], abs=1e-4)
    assert errors(found.items)[1] == pytest.approx([RASCH6_ERRORS[1]] * 5, abs=1e-4)
    assert found.examinees == 1000 and found.parameters == 6
    assert found.log_likelihood == pytest.approx(-2466.938, abs=1e-3)
    assert found.aic == pytest.approx(4945.875, abs=2e-3)


def test_two_parameter_model_of_lsat_6_as_published() -> None:
    # ltm stops at a gradient of 0.024, so that its figures are right to two or three digits.
    found = fit_model(given_by(LSAT6), "2pl")
    for own, published in zip(parameters(found.items), TWO6, strict=True):
        assert own == pytest.approx(published, abs=3e-3)
    for own, published in zip(errors(found.items), TWO6_ERRORS, strict=True):
        assert own == pytest.approx(published, abs=3e-3)
    assert found.log_likelihood == pytest.approx(-2466.653, abs=1e-3)
    assert found.aic == pytest.approx(4953.307, abs=1e-3)
    assert found.bic == pytest.approx(5002.384, abs=2e-3)


def test_two_parameter_model_of_lsat_7_as_published() -> None:
    found = fit_model(given_by(LSAT7), "2pl")
    difficulties, slopes = parameters(found.items)
    assert slopes == pytest.approx(TWO7[0], abs=2e-3)
    intercepts = [-a * b for a, b in zip(slopes, difficulties, strict=True)]
    assert intercepts == pytest.approx(TWO7[1], abs=2e-3)
    assert found.log_likelihood == pytest.approx(-2658.805, abs=1e-3)


def test_slopes_of_lsat_7_differ_and_those_of_lsat_6_do_not() -> None:
    tests = [
        compare_models(fit_model(given_by(counts), "rasch"), fit_model(given_by(counts), "2pl"))
        for counts in (LSAT6, LSAT7)
    ]
    for made in tests:
        assert made is not None and made.df == 4
        assert made.p == pytest.approx(stats.chi2.sf(made.chi2, 4), rel=1e-9)
    alike, unlike = tests
    assert alike is not None and unlike is not None
    assert alike.chi2 == pytest.approx(2 * (2466.938 - 2466.653), abs=2e-3)
    assert alike.p > 0.9 and unlike.p < 0.05


def drawn(n: int, a: NDArray[np.float64], b: NDArray[np.float64], seed: int) -> list[list[float]]:
    """Answers of n examinees to items with these parameters."""
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-a * (rng.normal(size=(n, 1)) - b)))
    return (rng.random(p.shape) < p).astype(float).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("model", ["rasch", "2pl"])
def test_missing_answers_against_a_general_optimiser(model: Model) -> None:
    # Second derivation: Gauss-Hermite quadrature, numerical gradient, one likelihood per examinee.
    rng = np.random.default_rng(3)
    given = np.array(drawn(250, np.array([0.8, 1.2, 1.0, 1.6]), np.array([-1.0, 0, 0.5, 1]), 4))
    given[rng.random(given.shape) < 0.15] = np.nan
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    weights = weights / weights.sum()

    def minus_log_likelihood(values: NDArray[np.float64]) -> float:
        a, d = (values[:1], values[1:]) if model == "rasch" else (values[:4], values[4:])
        p = 1 / (1 + np.exp(-(nodes[:, None] * a + d)))
        each = np.where(
            np.isnan(given)[:, None], 1.0, np.where(given[:, None] == 1, p, 1 - p)
        ).prod(axis=2)
        return -float(np.log(each @ weights).sum())

    start = np.concatenate([np.ones(1 if model == "rasch" else 4), np.zeros(4)])
    other = minimize(minus_log_likelihood, start, method="BFGS", options={"gtol": 1e-5})
    rows = [[None if np.isnan(x) else float(x) for x in row] for row in given]
    found = fit_model(rows, model)
    difficulties, slopes = parameters(found.items)
    intercepts = [-a * b for a, b in zip(slopes, difficulties, strict=True)]
    own = [*(slopes[:1] if model == "rasch" else slopes), *intercepts]
    assert own == pytest.approx(other.x.tolist(), abs=2e-3)
    assert found.log_likelihood == pytest.approx(-other.fun, abs=1e-4)

    # Standard errors: the Hessian in terms of a and b by central differences, no delta method.
    def in_difficulties(values: NDArray[np.float64]) -> float:
        a, b = (values[:1], values[1:]) if model == "rasch" else (values[:4], values[4:])
        return minus_log_likelihood(np.concatenate([a, -a * b]))

    at = np.array([*(slopes[:1] if model == "rasch" else slopes), *difficulties])
    step = 2e-3 * np.eye(len(at))
    hessian = [
        [
            sum(i * j * in_difficulties(at + i * one + j * two) for i in (1, -1) for j in (1, -1))
            / 1.6e-5
            for two in step
        ]
        for one in step
    ]
    of_b, of_a = errors(found.items)
    own_errors = [*(of_a[:1] if model == "rasch" else of_a), *of_b]
    assert own_errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(hessian))), rel=2e-3)


def test_simulated_parameters_are_recovered_within_their_errors() -> None:
    a, b = np.array([0.7, 1.0, 1.4, 1.8, 1.1, 0.9]), np.array([-1.5, -0.8, 0.0, 0.4, 0.9, 1.6])
    off: list[float] = []
    for seed in range(20):
        found = fit_model(drawn(600, a, b, seed), "2pl")
        difficulties, slopes = parameters(found.items)
        of_b, of_a = errors(found.items)
        off += ((np.array(difficulties) - b) / of_b).tolist()
        off += ((np.array(slopes) - a) / of_a).tolist()
    assert np.mean(np.abs(off) < 1.96) == pytest.approx(0.95, abs=0.04)
    assert abs(np.mean(off)) < 0.25


def test_fit_is_about_1_and_tells_a_guessed_and_a_steep_item() -> None:
    b = np.linspace(-1.5, 1.5, 8)
    fits = [fit_model(drawn(400, np.full(8, 1.2), b, seed), "rasch").items for seed in range(10)]
    for name in ("infit", "outfit"):
        assert np.mean([[getattr(item, name) for item in made] for made in fits]) == pytest.approx(
            1.0, abs=0.01
        )
    slopes = np.full(8, 1.2)
    slopes[2], slopes[5] = 0.0, 4.0
    items = fit_model(drawn(1000, slopes, b, 2), "rasch").items
    outfits = [item.outfit or 0.0 for item in items]
    infits = [item.infit or 0.0 for item in items]
    assert infits.index(max(infits)) == 2 and outfits.index(max(outfits)) == 2
    assert infits.index(min(infits)) == 5 and outfits.index(min(outfits)) == 5


def test_two_parameter_items_have_no_rasch_fit() -> None:
    assert {item.infit for item in fit_model(given_by(LSAT6), "2pl").items} == {None}


def test_items_that_do_not_vary_have_no_parameters() -> None:
    rows: list[list[float | None]] = [
        [*map(float, pattern), 1.0, 0.0, None]
        for pattern, n in zip(PATTERNS, LSAT6, strict=True)
        for _ in range(n)
    ]
    found = fit_model(rows, "rasch")
    assert [item.reason for item in found.items[5:]] == [
        "everybody answered it right",
        "everybody answered it wrong",
        "nobody answered it",
    ]
    assert parameters(found.items[:5])[0] == pytest.approx(RASCH6[0], abs=1e-4)


def test_too_few_examinees_or_items() -> None:
    few = drawn(29, np.ones(5), np.zeros(5), 1)
    assert fit_model(few, "rasch").reason == "fitted from 30 examinees on; there are 29"
    more = drawn(199, np.ones(5), np.zeros(5), 1)
    assert fit_model(more, "2pl").reason == "fitted from 200 examinees on; there are 199"
    two = fit_model([row[:2] for row in more], "rasch")
    assert two.reason.startswith("3 items or more") and two.items == () and two.aic is None
    assert compare_models(two, two) is None


def test_examinees_who_do_not_differ_have_no_rasch_scale() -> None:
    # Every pattern as often as independence gives it, or rarer where answers agree.
    counts = [16 if 0 < sum(pattern) < 5 else 1 for pattern in PATTERNS]
    found = fit_model(given_by(counts), "rasch")
    assert found.reason == "examinees do not differ more than their answers vary by chance"
    assert found.log_likelihood is None


def test_an_item_that_decides_alone_has_no_finite_slope() -> None:
    # Two items that always agree: the likelihood grows with both slopes.
    rows = [[row[0], *row] for row in drawn(300, np.full(3, 0.4), np.zeros(3), 8)]
    assert "grows without limit" in fit_model(rows, "2pl").reason


@pytest.mark.parametrize("model", ["rasch", "2pl"])
@pytest.mark.parametrize(
    "rows",
    [
        [[1] * right + [0] * (5 - right) for right in range(6)] * 40,  # Guttman's scale
        [[1] * 5] * 120 + [[0] * 5] * 120,
    ],
)
def test_answers_without_chance_have_no_finite_slope(rows: list[list[int]], model: Model) -> None:
    found = fit_model(rows, model)
    assert found.items == () and "grows without limit" in found.reason


@pytest.mark.parametrize("right", [0, 1])
def test_examinees_who_are_all_alike_have_no_model(right: int) -> None:
    found = fit_model([[right] * 5] * 40, "rasch")
    assert found.items == () and found.reason.startswith("3 items or more must be answered right")


def test_bad_answers_are_refused() -> None:
    with pytest.raises(ValueError, match="1 \\(right\\), 0 \\(wrong\\) or None"):
        fit_model([[0.5, 1, 0]], "rasch")
    with pytest.raises(ValueError, match="an entry for every item"):
        fit_model([[1, 0, 1], [1, 0]], "rasch")


def test_a_discrimination_below_two_standard_errors_is_cautioned() -> None:
    steep = FittedItem(0.1, 0.2, 1.0, 0.49)
    flat = FittedItem(0.1, 0.2, 1.0, 0.51)
    assert steep.caution == "" and "below 2 SE" in flat.caution
    assert FittedItem(reason="all alike").caution == ""


def test_is_the_point_biserial_correlation_with_the_other_items() -> None:
    rng = np.random.default_rng(1)
    rows = (rng.random((40, 6)) < rng.random((40, 1))).astype(float)
    for item in range(6):
        rest = np.delete(rows, item, axis=1).sum(axis=1)
        expected = stats.pointbiserialr(rows[:, item], rest).statistic
        assert discrimination(rows.tolist(), item).value == pytest.approx(expected)


def test_interval_is_fishers() -> None:
    rng = np.random.default_rng(2)
    rows = (rng.random((30, 5)) < rng.random((30, 1))).astype(float)
    rest = rows[:, 1:].mean(axis=1)
    expected = stats.pearsonr(rows[:, 0], rest).confidence_interval(0.95)
    found = discrimination_interval(rows.tolist(), 0)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_missing_answers_are_left_out_of_the_mean() -> None:
    rows: list[list[float | None]] = [[1, 1, 0], [0, None, 0], [1, 1, 1], [0, 0, 1], [1, 0, None]]
    expected = np.corrcoef([1, 0, 1, 0, 1], [0.5, 0, 1, 0.5, 0])[0, 1]
    assert discrimination(rows, 0).value == pytest.approx(expected)
    assert discrimination([*rows[:4], [None, 1, 1]], 0).reason == FEW_CORRELATED


def test_correlations_of_what_does_not_vary_or_is_perfect_have_no_interval() -> None:
    rows: list[list[float]] = [[1, 1], [0, 1], [1, 1], [0, 1], [0, 1]]
    assert discrimination(rows, 0).reason == REST_ALIKE
    assert discrimination_interval(rows, 0) is None
    rows = [[1, 1], [0, 0], [1, 1], [0, 0], [0, 0]]
    assert discrimination(rows, 0).value == pytest.approx(1.0)
    assert discrimination_interval(rows, 0) is None
