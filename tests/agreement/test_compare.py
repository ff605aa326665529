"""Comparisons of pairs and with the consensus: by feature, over features, with intervals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from tabwb.agreement.compare import compare, difference
from tabwb.agreement.error_rates import calibrate, error_rates
from tabwb.agreement.intervals import (
    dirichlet_intervals,
    drawn_sums,
    drawn_tables,
    least_positives,
    shifted_quantiles,
)
from tabwb.agreement.many import alpha_intervals
from tabwb.agreement.pairs import cohen_kappa, gwet_ac1, percent_agreement, tables_of
from tabwb.agreement.verdicts import (
    ABSENT,
    CANNOT_TELL,
    MISSING,
    cannot_tell_as,
    consensus,
    majority,
    rest_of,
    verdicts_of,
)


def study(samples: int = 60, features: int = 3, raters: int = 3, seed: int = 1) -> np.ndarray:
    """Verdicts of raters who are right in four of five cases; one of twenty is missing."""
    rng = np.random.default_rng(seed)
    truth = rng.random((samples, features)) < np.linspace(0.1, 0.5, features)
    right = rng.random((raters, samples, features)) < 0.8
    verdicts = np.where(right, truth, ~truth).astype(np.int8)
    verdicts[rng.random(verdicts.shape) < 0.05] = -1
    return verdicts


def pairs_of(verdicts: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(verdicts[a], verdicts[b]) for a in range(len(verdicts)) for b in range(a)]


def test_pairs_combine_by_shared_samples_and_few_are_not_averaged() -> None:
    verdicts = study()
    verdicts[2, 9:] = -1  # at most nine samples with anybody
    found = compare(pairs_of(verdicts), consensus(verdicts), draws=0)
    assert found.averaged.tolist() == [[True] * 3, [False] * 3, [False] * 3]
    kappa = cohen_kappa(tables_of(verdicts[1], verdicts[0]))
    assert found.by_feature["kappa"].tolist() == kappa.tolist()
    assert not np.isnan(found.by_pair["kappa"][1]).all()


def test_undefined_kappas_are_left_out_of_means_and_counted() -> None:
    first, second = np.zeros((2, 20, 3), np.int8)
    first[:6, 0] = second[:8, 0] = 1  # 6 agree on present, 2 differ
    first[:1, 1] = 1  # kappa 0
    found = compare([(first, second)], second, draws=0)
    assert np.isnan(found.by_feature["kappa"][2])
    assert found.by_feature["ac1"][2] == 1.0
    kappa = found.by_feature["kappa"][0]
    means = found.over_features
    assert means["unweighted", "kappa"].value == pytest.approx(kappa / 2)
    assert means["unweighted", "kappa"].features == 2
    assert means["positive_count_weighted", "kappa"].value == pytest.approx(kappa)
    assert means["positive_count_weighted", "kappa"].features == 1
    assert means["nonzero_prevalence", "kappa"].features == 1
    assert means["unweighted", "ac1"].features == 3


def test_one_pair_has_the_dirichlet_interval() -> None:
    """Exponential weights of samples with gamma pseudo-counts are Dirichlet shares of cells."""
    verdicts = study(80, 1, 2)
    drawn = drawn_tables([(verdicts[0], verdicts[1])], draws=20_000).smoothed
    ends = np.quantile(cohen_kappa(drawn)[:, 0, 0], (0.025, 0.975))
    expected = dirichlet_intervals(tables_of(*verdicts), cohen_kappa)[0]
    assert ends == pytest.approx(expected, abs=0.012)
    found = compare([(verdicts[0], verdicts[1])], None, draws=100)
    assert found.intervals["kappa"][0] == pytest.approx(expected)


def test_with_three_positives_or_three_negatives_kappa_has_no_interval() -> None:
    verdicts = np.zeros((2, 40, 4), np.int8)
    verdicts[:, :4, 0] = 1
    verdicts[:, :3, 1] = 1
    verdicts[:, 3:, 2] = 1
    found = compare([(verdicts[0], verdicts[1])], verdicts[0], draws=100)
    assert found.few.tolist() == [False, True, True, True]
    assert np.isnan(found.intervals["kappa"]).all(axis=1).tolist() == [False, True, True, True]
    for name in ("ac1", "positive_agreement"):
        assert np.isnan(found.intervals[name][1]).tolist() == [False, False]


def test_every_interval_contains_its_estimate() -> None:
    verdicts = study()
    verdicts[1] = verdicts[0]  # perfect agreement: the prior alone would exclude 1
    found = compare(pairs_of(verdicts[:2]), verdicts[0], draws=200)
    for name, ends in found.intervals.items():
        assert (ends[:, 0] <= found.by_feature[name]).all()
        assert (found.by_feature[name] <= ends[:, 1]).all()
        assert (ends[:, 0] < ends[:, 1]).all()
    over = found.over_features["positive_count_weighted", "kappa"]
    assert over.value == 1.0
    assert over.ends is not None
    assert over.ends[1] == 1.0


def test_unweighted_means_have_no_interval() -> None:
    found = compare(pairs_of(study()), study()[0], draws=50).over_features
    assert {kind for (kind, _), over in found.items() if over.ends} == {"positive_count_weighted"}


def test_the_order_of_samples_of_a_speaker_does_not_matter() -> None:
    verdicts, speakers = study(60), np.repeat(np.arange(12), 5)
    order = np.random.default_rng(3).permutation(60)
    one = compare(pairs_of(verdicts), verdicts[0], draws=50, speakers=speakers)
    shuffled = verdicts[:, order]
    other = compare(pairs_of(shuffled), shuffled[0], draws=50, speakers=speakers[order])
    np.testing.assert_allclose(one.intervals["kappa"], other.intervals["kappa"], rtol=1e-5)


def test_alike_samples_of_a_speaker_widen_the_interval() -> None:
    verdicts = np.repeat(study(20, 1, 2), 10, axis=1)
    pair = [(verdicts[0], verdicts[1])]
    low, high = compare(pair, None, draws=400).intervals["ac1"][0]
    speakers = np.repeat(np.arange(20), 10)
    lower, higher = compare(pair, None, draws=400, speakers=speakers).intervals["ac1"][0]
    assert 2 < (higher - lower) / (high - low) < 4.5  # the square root of 10 is 3.2


def test_differences_use_the_same_weights() -> None:
    verdicts = study(80)
    labels = consensus(verdicts)
    key = "positive_count_weighted", "kappa"
    one, same, other = (
        compare(pairs, labels, draws=300).over_features[key]
        for pairs in (pairs_of(verdicts), pairs_of(verdicts), pairs_of(verdicts[:2]))
    )
    assert difference(one, same).ends == (0.0, 0.0)
    found = difference(one, other)
    assert found.ends is not None
    assert found.ends[0] <= found.value <= found.ends[1]  # type: ignore[operator]


def test_sums_of_ones_have_the_variance_of_exponential_weights() -> None:
    drawn = drawn_sums(np.ones((400, 1)), draws=4000)
    assert drawn.mean() == pytest.approx(400, rel=0.01)
    assert drawn.std() == pytest.approx(20, rel=0.05)
    few = drawn_sums(np.ones((5, 1)), draws=40_000, speakers=np.arange(5))
    assert few.var() == pytest.approx(5 * (2.7764 / 1.96) ** 2 * 5 / 4, rel=0.05)  # t of 4 df


def test_no_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="one pair"):
        compare([], None)


@settings(deadline=None, max_examples=60)
@given(arrays(np.int8, (3, 28, 2), elements=st.sampled_from([-2, -1, 0, 1])))
def test_the_comparison_is_what_its_definition_says(verdicts: np.ndarray) -> None:
    """Every figure once more from lists of verdicts."""
    labels = consensus(verdicts)
    found = compare(pairs_of(verdicts), labels, draws=0)
    kappas: list[float | None] = []
    for feature in range(2):
        parts = []
        for one, other in pairs_of(verdicts):
            both = [
                (a, b)
                for a, b in zip(one[:, feature].tolist(), other[:, feature].tolist(), strict=True)
                if a >= 0 and b >= 0
            ]
            kappa = kappa_of(both)
            if len(both) >= 10 and kappa is not None:
                parts.append((kappa, len(both)))
        total = sum(n for _, n in parts)
        kappas.append(sum(kappa * n for kappa, n in parts) / total if total else None)
    assert found.by_feature["kappa"].tolist() == pytest.approx(
        [np.nan if kappa is None else kappa for kappa in kappas], nan_ok=True
    )
    weights = [int((labels[:, feature] == 1).sum()) for feature in range(2)]
    used = [(k, w) for k, w in zip(kappas, weights, strict=True) if k is not None and w]
    mean = found.over_features["positive_count_weighted", "kappa"]
    assert mean.features == len(used)
    if used:
        expected = sum(k * w for k, w in used) / sum(w for _, w in used)
        assert mean.value == pytest.approx(expected)


def kappa_of(both: list[tuple[int, int]]) -> float | None:
    """Kappa with fractions; None where undefined."""
    if not both:
        return None
    n = len(both)
    agreed = Fraction(sum(a == b for a, b in both), n)
    one, other = (Fraction(sum(pair[at] for pair in both), n) for at in (0, 1))
    chance = one * other + (1 - one) * (1 - other)
    return float((agreed - chance) / (1 - chance)) if chance != 1 else None


# Columns: two of three, a tie, one verdict, none, a tie that somebody decided.
VERDICTS = np.array([[1, 1, 1, -1, 0], [1, 0, -1, -1, 1], [0, -1, -2, -2, -1]], np.int8)[..., None]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("drop", [1, -1, -1, -1, -1]),
        ("positive", [1, 1, -1, -1, 1]),
        ("negative", [1, 0, -1, -1, 0]),
        ("adjudicated", [0, -1, -1, -1, 1]),
    ],
)
def test_ties(ties: str, expected: list[int]) -> None:
    decided = np.array([0, -1, -1, -1, 1], np.int8)[:, None]
    found = consensus(VERDICTS, ties=ties, adjudicated=decided)  # type: ignore[arg-type]
    assert found[:, 0].tolist() == expected
    assert found.dtype == np.int8
    nobody = np.full_like(decided, CANNOT_TELL)
    assert (consensus(VERDICTS, ties="adjudicated", adjudicated=nobody) == MISSING).all()


def test_ties_are_reported() -> None:
    assert majority(VERDICTS)[1][:, 0].tolist() == [False, True, False, False, True]


def test_the_rest_leaves_the_rater_out() -> None:
    found = rest_of(VERDICTS)
    assert found.shape == VERDICTS.shape
    assert found[:, 0, 0].tolist() == [-1, -1, 1]
    changed = VERDICTS.copy()
    changed[1] = 1 - np.abs(changed[1])
    assert (rest_of(changed)[1] == found[1]).all()


def test_wrong_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="drop, positive, negative, adjudicated"):
        consensus(VERDICTS, ties="coin")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs the adjudicated"):
        consensus(VERDICTS, ties="adjudicated")


def test_verdicts_from_numbers() -> None:
    assert verdicts_of(np.array([[1.0, np.nan]])).tolist() == [[1, -1]]
    with pytest.raises(ValueError, match="not 2"):
        verdicts_of(np.array([2.0]))
    assert cannot_tell_as(VERDICTS, ABSENT)[2, :, 0].tolist() == [0, -1, 0, 0, -1]


@given(arrays(np.int8, (3, 5, 2), elements=st.sampled_from([-2, -1, 0, 1])))
def test_the_order_of_raters_does_not_matter_and_categories_can_be_exchanged(
    verdicts: np.ndarray,
) -> None:
    said, tied = majority(verdicts)
    turned, others = majority(verdicts[::-1])
    np.testing.assert_array_equal(said, turned)
    np.testing.assert_array_equal(tied, others)
    flipped, _ = majority(np.where(verdicts < 0, verdicts, 1 - verdicts))
    np.testing.assert_array_equal(flipped, np.where(said < 0, said, 1 - said))


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


def test_fewer_than_five_speakers_have_no_interval() -> None:
    verdicts, agreed = study(), consensus(study())
    few, enough = np.arange(60) % 4, np.arange(60) % 5
    for speakers, has in ((few, False), (enough, True)):
        found = compare(pairs_of(verdicts), agreed, draws=200, speakers=speakers)
        ends = [found.intervals["agreement"], found.intervals["ac1"]]
        ends.append(alpha_intervals(verdicts, draws=200, speakers=speakers))
        assert all(np.isnan(one).all() != has for one in ends)
        assert (found.pooled.ends is not None) == has
        weighted = found.over_features["positive_count_weighted", "kappa"]
        assert (weighted.ends is not None) == has
        shares = calibrate(verdicts[0], agreed, draws=200, speakers=speakers)
        assert all((one.sensitivity.interval is not None) == has for one in shares)
        rates = error_rates(verdicts, draws=20, speakers=speakers)
        assert np.isnan(rates.prevalence_ends).all() != has
    # A feature that pairs share for three of the speakers only.
    verdicts[0, enough > 2, 1] = MISSING
    found = compare([(verdicts[0], verdicts[1])], agreed, draws=200, speakers=enough)
    assert np.isnan(found.intervals["agreement"][:, 0]).tolist() == [False, True, False]


def test_no_interval_of_speakers_is_without_width_or_out_of_range() -> None:
    speakers = np.repeat(np.arange(5), 4)
    verdicts = study(20, 3, 2)
    alphas = alpha_intervals(verdicts, draws=2000, speakers=speakers)
    found = compare([(verdicts[0], verdicts[1])], None, draws=2000, speakers=speakers)
    for ends in (*found.intervals.values(), alphas):
        low, high = ends[~np.isnan(ends[:, 0])].T
        assert (high - low > 0.05).all() and (low >= -1).all() and (high <= 1).all()


def test_draws_without_a_value_are_left_out_until_they_are_too_many() -> None:
    drawn = np.linspace(0.2, 0.8, 1000)
    some, many = drawn.copy(), drawn.copy()
    some[::25], many[::10] = np.nan, np.nan
    kept = some[~np.isnan(some)]
    low, high = np.quantile(kept, (0.025, 0.975))
    off = 0.5 - kept.mean()
    ends = shifted_quantiles([np.stack([some, many, drawn], axis=-1)], np.full(3, 0.5))
    assert ends[0].tolist() == pytest.approx([low + min(off, 0), high + max(off, 0)])
    assert np.isnan(ends[1]).all() and not np.isnan(ends[2]).any()
