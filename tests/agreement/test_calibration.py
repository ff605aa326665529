"""A judge against a reference, and the widths that a design may expect."""

from __future__ import annotations

import numpy as np
import pytest

from tabwb.agreement.compare import expected_width
from tabwb.agreement.error_rates import calibrate, jeffreys


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
    ("arguments", "message"),
    [
        ((10, 0.0, 0.4), "prevalence"),
        ((10, 0.5, 1.0), "kappa"),
    ],
)
def test_assumptions_out_of_range_are_refused(
    arguments: tuple[int, float, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        expected_width(*arguments)
    with pytest.raises(ValueError, match="2 to 3 raters, not 4"):
        expected_width(10, 0.5, 0.4, raters=3, per_sample=4)
