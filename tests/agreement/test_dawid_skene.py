"""Dawid-Skene: rates that went in come out, and what cannot be known stays undefined."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tabwb.agreement.error_rates import (
    NEVER_ABSENT,
    NEVER_PRESENT,
    NO_RATINGS,
    NOT_IDENTIFIED,
    error_rates,
    simulate,
)

SENSITIVITY, SPECIFICITY = (0.9, 0.8, 0.7, 0.85), (0.95, 0.9, 0.8, 0.85)


def expected_study(prevalence: float, raters: int, samples: int) -> np.ndarray:
    """Every pattern as often as the model says, nothing drawn."""
    rows = []
    for pattern in product((0, 1), repeat=raters):
        hit = np.prod([s if x else 1 - s for x, s in zip(pattern, SENSITIVITY, strict=False)])
        miss = np.prod([1 - s if x else s for x, s in zip(pattern, SPECIFICITY, strict=False)])
        share = prevalence * hit + (1 - prevalence) * miss
        rows += [pattern] * round(share * samples)
    return np.array(rows, np.int8).T[..., None]


@pytest.mark.parametrize("raters", [3, 4])
def test_the_rates_of_expected_counts_come_back(raters: int) -> None:
    found = error_rates(expected_study(0.3, raters, 50_000), draws=0)
    assert found.prevalence[0] == pytest.approx(0.3, abs=1e-3)
    assert found.sensitivity[0] == pytest.approx(SENSITIVITY[:raters], abs=1e-3)
    assert found.specificity[0] == pytest.approx(SPECIFICITY[:raters], abs=1e-3)
    assert found.converged[0]
    assert found.same_maximum[0] == found.starts == 10
    assert np.isnan(found.sensitivity_ends).all()


def test_intervals_contain_what_went_in() -> None:
    """At least 40 of 45 rates; 95 % intervals contain fewer in 3 of 100 such tests."""
    rng = np.random.default_rng(8)
    inside = 0
    for _ in range(5):
        verdicts = simulate(0.3, SENSITIVITY, SPECIFICITY, 561, rng)
        verdicts[rng.random(verdicts.shape) < 0.2] = -1
        found = error_rates(verdicts, draws=200, starts=3)
        for ends, truth in (
            (found.sensitivity_ends[0], SENSITIVITY),
            (found.specificity_ends[0], SPECIFICITY),
            (found.prevalence_ends, [0.3]),
        ):
            inside += int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())
    assert inside >= 40


def test_the_probability_of_a_sample_is_bayes_rule() -> None:
    verdicts = expected_study(0.3, 3, 2_000)
    found = error_rates(verdicts, draws=0)
    p, hit, reject = found.prevalence[0], found.sensitivity[0], found.specificity[0]
    all_say = p * hit.prod()
    expected = all_say / (all_say + (1 - p) * (1 - reject).prod())
    everybody = (verdicts[..., 0] == 1).all(axis=0)
    assert found.probability[everybody, 0] == pytest.approx(expected, abs=1e-6)


def test_two_raters_are_not_identifiable() -> None:
    found = error_rates(expected_study(0.3, 2, 1_000), draws=50)
    assert found.reasons == (NOT_IDENTIFIED,)
    assert np.isnan(found.sensitivity).all()
    assert np.isnan(found.probability).all()


def test_three_raters_of_different_pairs_of_samples_are_not_identifiable() -> None:
    verdicts = expected_study(0.3, 3, 900)
    verdicts[np.arange(verdicts.shape[1]) % 3, np.arange(verdicts.shape[1])] = -1
    assert error_rates(verdicts, draws=0).reasons == (NOT_IDENTIFIED,)


def test_a_rater_of_other_samples_is_undefined_and_the_others_are_not() -> None:
    verdicts = expected_study(0.3, 3, 900)
    alone = np.full((4, 1200, 1), -1, np.int8)
    alone[:3, :900] = verdicts[:, :900]
    alone[3, 900:] = np.arange(300)[:, None] % 2
    found = error_rates(alone, draws=20)
    assert found.reasons == ("",)
    assert np.isnan(found.sensitivity[0]).tolist() == [False, False, False, True]
    assert np.isnan(found.specificity_ends[0, 3]).all()


def test_features_without_variation_say_why() -> None:
    verdicts = np.stack([np.zeros((3, 9)), np.ones((3, 9)), np.full((3, 9), -2)], axis=-1)
    found = error_rates(verdicts.astype(np.int8), draws=0)
    assert found.reasons == (NEVER_PRESENT, NEVER_ABSENT, NO_RATINGS)


def test_the_order_of_raters_and_samples_does_not_matter() -> None:
    verdicts = simulate(0.4, SENSITIVITY, SPECIFICITY, 200, np.random.default_rng(2))
    found = error_rates(verdicts, draws=0).sensitivity[0]
    turned = error_rates(verdicts[::-1, ::-1], draws=0).sensitivity[0]
    assert turned[::-1] == pytest.approx(found, abs=1e-6)


def test_raters_are_better_than_chance_on_average() -> None:
    found = error_rates(1 - expected_study(0.7, 3, 5_000), draws=0)
    assert (found.sensitivity + found.specificity > 1).all()


def test_alike_samples_of_a_speaker_widen_intervals() -> None:
    verdicts = simulate(0.4, SENSITIVITY, SPECIFICITY, 60, np.random.default_rng(4))
    many, speakers = np.repeat(verdicts, 5, axis=1), np.repeat(np.arange(60), 5)
    alone, together = (
        np.diff(error_rates(many, draws=200, speakers=of).prevalence_ends)[0, 0]
        for of in (None, speakers)
    )
    assert together > 1.5 * alone
