"""Error rates of raters: without a known truth, against a reference, of transcribers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from tabwb.agreement.compare import expected_width
from tabwb.agreement.error_rates import (
    NEVER_ABSENT,
    NEVER_PRESENT,
    NO_RATINGS,
    NOT_IDENTIFIED,
    calibrate,
    error_rates,
    jeffreys,
)
from tabwb.agreement.intervals import ratio_interval

SENSITIVITY, SPECIFICITY = (0.9, 0.8, 0.7, 0.85), (0.95, 0.9, 0.8, 0.85)


def simulate(
    prevalence: float,
    sensitivity: tuple[float, ...],
    specificity: tuple[float, ...],
    samples: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """Verdicts drawn from the model: int8 of shape (raters, samples, 1)."""
    truth = generator.random(samples) < prevalence
    hit, reject = np.array(sensitivity)[:, None], np.array(specificity)[:, None]
    share = np.where(truth, hit, 1 - reject)
    return (generator.random(share.shape) < share).astype(np.int8)[..., None]


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


def verdicts(tp: int, fp: int, fn: int, tn: int) -> tuple[np.ndarray, np.ndarray]:
    cells = [(1, 1)] * tp + [(1, 0)] * fp + [(0, 1)] * fn + [(0, 0)] * tn + [(1, -1), (-2, 0)]
    judge, reference = np.array(cells, np.int8).T[..., None]
    return judge, reference


def test_rates_of_a_judge() -> None:
    (found,) = calibrate(*verdicts(tp=9, fp=4, fn=1, tn=36))
    assert (found.true_positives, found.false_positives) == (9, 4)
    assert (found.false_negatives, found.true_negatives) == (1, 36)
    assert found.sensitivity.value == 0.9
    assert found.specificity.value == 0.9
    assert found.positive_predictive_value.value == 9 / 13
    assert found.negative_predictive_value.value == 36 / 37
    assert found.sensitivity.interval == jeffreys(9, 10)


def test_without_positives_the_sensitivity_is_undefined() -> None:
    (found,) = calibrate(*verdicts(tp=0, fp=2, fn=0, tn=8))
    assert found.sensitivity.value is None
    assert found.sensitivity.interval is None
    assert found.specificity.value == 0.8


def test_jeffreys_intervals_at_the_ends() -> None:
    none, all_ = jeffreys(0, 10), jeffreys(10, 10)
    assert none is not None
    assert all_ is not None
    assert none.low == 0.0
    # Brown, Cai and DasGupta 2001, table 5: 0 of 10.
    assert round(none.high, 3) == 0.217
    assert (all_.low, all_.high) == pytest.approx((1 - none.high, 1.0))
    assert jeffreys(0, 0) is None


def test_speakers_widen_the_interval_of_a_judge() -> None:
    judge, reference = (np.repeat(one, 8, axis=0) for one in verdicts(9, 4, 3, 36))
    speakers = np.repeat(np.arange(54), 8)
    (alone,) = calibrate(judge, reference)
    (together,) = calibrate(judge, reference, draws=300, speakers=speakers)
    widths = []
    for of in (alone.sensitivity.interval, together.sensitivity.interval):
        assert of is not None
        widths.append(of.high - of.low)
    assert widths[1] > 1.5 * widths[0]


def test_more_samples_and_more_raters_narrow_the_expected_interval() -> None:
    few, many = (expected_width(n, 0.3, 0.4, studies=20) for n in (40, 160))
    assert few.kappa is not None
    assert many.kappa is not None
    assert 1.6 < few.kappa / many.kappa < 2.4  # as the square root of the number
    three = expected_width(40, 0.3, 0.4, raters=3, per_sample=3, studies=20)
    assert three.kappa is not None
    assert three.kappa < few.kappa


def test_a_rare_feature_has_no_expected_interval() -> None:
    found = expected_width(40, 0.02, 0.4, studies=20)
    assert found.kappa is None
    assert found.with_interval < 0.5
    assert expected_width(0, 0.5, 0.4).with_interval == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"), [((10, 0.0, 0.4), "prevalence"), ((10, 0.5, 1.0), "kappa")]
)
def test_assumptions_out_of_range_are_refused(
    arguments: tuple[int, float, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        expected_width(*arguments)
    with pytest.raises(ValueError, match="2 to 3 raters, not 4"):
        expected_width(10, 0.5, 0.4, raters=3, per_sample=4)


EDITS = np.array([0, 1, 0, 2, 0, 0, 1, 0])
PHONEMES = np.array([3, 4, 5, 6, 3, 4, 5, 4])


def test_the_limits_are_those_of_the_formula() -> None:
    n, s, t = 8, 4, 34
    variance = n / (n - 1) * sum((e - s / t * m) ** 2 for e, m in zip(EDITS, PHONEMES, strict=True))
    phi = max(0.5, variance / s)
    q = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, n - 1)) ** 2 / phi
    found = ratio_interval(EDITS, PHONEMES)
    assert found is not None
    assert found.low == pytest.approx(stats.chi2.ppf(0.025, 2 * s * q) / (2 * t * q))
    assert found.high == pytest.approx(stats.chi2.ppf(0.975, 2 * s * q + 2) / (2 * t * q))


def test_responses_of_one_speaker_are_one_unit() -> None:
    speakers = np.array([7, 7, 3, 3, 4, 5, 6, 6])
    found = ratio_interval(EDITS, PHONEMES, speakers=speakers)
    assert found == ratio_interval(np.array([2, 0, 0, 1, 1]), np.array([11, 3, 4, 9, 7]))
    assert ratio_interval(EDITS, PHONEMES, speakers=np.arange(8) // 2) is None


def test_no_edit_has_an_upper_limit_and_no_phoneme_no_interval() -> None:
    found = ratio_interval(np.zeros(5), np.full(5, 4))
    assert found is not None
    assert found.low == 0.0
    assert 0 < found.high < 1
    assert ratio_interval(np.zeros(5), np.zeros(5)) is None
    assert ratio_interval(np.ones(4), np.full(4, 4)) is None
