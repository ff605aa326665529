"""Burdens of responses, and rates and burdens calibrated by Rogan and Gladen."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.simulated_calibration import simulate
from tabwb.scoring.burden import (
    NO_FEATURES,
    RatedCounts,
    burden_of,
    categories_of,
    count_usable,
)
from tabwb.scoring.calibrated import (
    Calibration,
    calibrated_burden_interval,
    calibrated_rate_interval,
    calibrated_rates,
)
from tabwb.scoring.estimate import DETERMINISTIC, ONE_ITEM, Estimand
from tabwb.scoring.intervals import burden_interval, rate_interval, totals_of_profiles
from tabwb.scoring.profiles import (
    DRAWS,
    SEED,
    cosine,
    phi,
    phi_interval,
    similarity_interval,
    spearman,
)
from tests.scoring.rated_responses import RatedResponse, symptom_burden

LIKE, THESE = Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_PROMPTS
RATE, SENSITIVITY, SPECIFICITY = 0.10, 0.8, 0.9
EXACT = Calibration((10**9, 10**9), (1e9, 1e9), (0.0, 1e9))
"""A judge that is always right, and known to be."""


def _known(n: int) -> Calibration:
    """What n samples with exactly these shares tell."""
    present = n * (RATE * SENSITIVITY + (1 - RATE) * (1 - SPECIFICITY))
    both = n * RATE * SENSITIVITY
    sizes = n - present, present
    return Calibration((round(sizes[0]), round(sizes[1])), sizes, (n * RATE - both, both))


def _counts(
    items: Sequence[Mapping[frozenset[str], int]], known: Mapping[str, Calibration]
) -> RatedCounts:
    return RatedCounts(
        range(len(items)),
        lambda features: [totals_of_profiles(item, features) for item in items],
        {name: tuple(totals_of_profiles(item, [name])[1] for item in items) for name in known},
        2, {}, 4, 20, count_usable([""] * 4), False, known, items,
    )  # fmt: skip


def test_a_rare_feature_keeps_its_rate_as_by_rogan_and_gladen() -> None:
    known, judged = _known(100_000), 0.17
    corrected = (judged + SPECIFICITY - 1) / (SENSITIVITY + SPECIFICITY - 1)
    assert corrected == pytest.approx(RATE)
    assert known.rate(judged) == pytest.approx(corrected, abs=1e-4)
    assert known.probability(1) < 0.5  # a label would be absent everywhere


def test_the_burden_is_the_sum_of_rates_and_nothing_is_a_label() -> None:
    known = {"jargon": _known(200), "anomia": EXACT}
    items = [{frozenset({"jargon"}): 1, frozenset({"anomia"}): 1}, {frozenset[str](): 2}]
    counts = _counts(items, known)
    categories = {"words": ("jargon", "anomia")}
    of_category = categories_of(counts, list(known), categories)
    burden = burden_of(counts, list(known), of_category, interval=True)
    rates = [known[name].rate(0.25) for name in known]
    assert [burden.rate(name).value for name in known] == pytest.approx(rates)
    assert burden.symptom_burden.value == pytest.approx(sum(rates))
    assert of_category["words"].count.value == pytest.approx(sum(rates))
    assert of_category["words"].rate.value is None
    assert burden.present["jargon"] == pytest.approx(4 * rates[0])
    assert calibrated_rates(items, known) == pytest.approx(dict(zip(known, rates, strict=True)))
    for made in (*burden.intervals, *burden.rate_intervals("jargon")):
        assert made.interval is not None
        assert made.interval.low < made.interval.high


def test_bounds_take_what_is_lost_as_without_and_as_with_every_feature() -> None:
    known = {"jargon": _known(200), "anomia": EXACT}
    items = [{frozenset({"jargon"}): 2}, {frozenset[str](): 1}]
    causes = count_usable(["", "", "", "empty"])
    counts = replace(_counts(items, known), usable=causes, lost={1: 1})
    burden = burden_of(counts, list(known), {}, interval=False)
    jargon = [known["jargon"].probability(verdict) for verdict in (0, 1)]
    anomia = known["anomia"].probability(0)
    low = (jargon[1] + anomia + (jargon[0] + anomia) / 2) / 2
    assert burden.bounds is not None
    assert burden.bounds.low == pytest.approx(low)
    assert burden.bounds.high == pytest.approx(low + 2 / 4)
    of_rate = burden.rate_bounds("jargon")
    assert of_rate is not None
    assert of_rate.low == pytest.approx((jargon[1] + jargon[0] / 2) / 2)


def test_without_an_error_of_the_calibration_the_intervals_are_those_of_the_judge() -> None:
    hits, sizes = [2, 0, 1, 1, 2], [10] * 5
    for estimand in (LIKE, THESE):
        own = rate_interval(hits, sizes, estimand).interval
        made = calibrated_rate_interval(hits, sizes, EXACT, estimand).interval
        assert own is not None
        assert made is not None
        assert (made.low, made.high) == pytest.approx((own.low, own.high), abs=0.015)


def test_the_calibration_widens_an_interval_and_its_error_remains_where_nothing_is_drawn() -> None:
    hits, sizes = [2, 0, 1, 1, 2], [10] * 5
    widths = [
        made.interval.high - made.interval.low
        for n in (100, 400, 40_000)
        if (made := calibrated_rate_interval(hits, sizes, _known(n), LIKE)).interval
    ]
    assert widths == sorted(widths, reverse=True)
    fixed = calibrated_rate_interval(hits, sizes, _known(100), THESE, deterministic=True)
    assert fixed.interval is not None
    assert rate_interval(hits, sizes, THESE, deterministic=True).reason == DETERMINISTIC
    one = calibrated_burden_interval([{frozenset[str](): 3}], {"jargon": _known(100)}, LIKE)
    assert one.reason == ONE_ITEM


def test_the_burdens_interval_follows_the_judges_where_the_calibration_is_exact() -> None:
    rng = np.random.default_rng(1)
    names = [str(at) for at in range(7)]
    items = [
        Counter(frozenset(n for n in names if rng.random() < 0.2) for _ in range(5))
        for _ in range(10)
    ]
    values = [[float(len(one)) for one in item.elements()] for item in items]
    for estimand in (LIKE, THESE):
        own = burden_interval(values, 7, estimand).interval
        made = calibrated_burden_interval(items, dict.fromkeys(names, EXACT), estimand).interval
        assert own is not None
        assert made is not None
        assert made.low == pytest.approx(own.low, abs=0.2)
        assert made.high == pytest.approx(own.high, abs=0.2)


def test_clusters_are_the_units_as_of_the_judge_itself() -> None:
    rng = np.random.default_rng(2)
    themes = [at // 4 for at in range(20)]
    names = [str(at) for at in range(7)]
    rates = np.repeat(rng.beta(1, 4, 5), 4)
    items = [
        Counter(frozenset(n for n in names if rng.random() < rate) for _ in range(5))
        for rate in rates
    ]
    known = dict.fromkeys(names, EXACT)
    counts = replace(_counts(items, known), clusters=dict(enumerate(themes)))
    burden = burden_of(counts, names, {}, interval=True)
    hits = [sum(n for one, n in item.items() if "0" in one) for item in items]
    values = [[float(len(one)) for one in item.elements()] for item in items]
    for made, own, alone in (
        (
            burden.rate_intervals("0")[0].interval,
            rate_interval(hits, [5] * 20, clusters=themes).interval,
            rate_interval(hits, [5] * 20).interval,
        ),
        (
            burden.interval,
            burden_interval(values, 7, clusters=themes).interval,
            burden_interval(values, 7).interval,
        ),
    ):
        assert made is not None
        assert own is not None
        assert alone is not None
        width = own.high - own.low
        assert made.high - made.low == pytest.approx(width, rel=0.1)
        assert width > 1.25 * (alone.high - alone.low)


def test_errors_of_the_calibration_are_alike_where_features_come_together() -> None:
    names = [str(at) for at in range(7)]
    known = dict.fromkeys(names, _known(100))
    every = [Counter({frozenset(names): 2, frozenset[str](): 8}) for _ in range(20)]
    alone = [Counter(map(frozenset, ("01", "23", "4", "5", "6"))) for _ in range(20)]
    widths = [
        made.high - made.low
        for items in (every, alone)
        if (made := calibrated_burden_interval(items, known, THESE, deterministic=True).interval)
    ]
    # Each feature is in a fifth of the responses. Nothing is drawn, so that the error of the
    # calibration is all that is left: sqrt(7) times as large.
    assert widths[0] / widths[1] == pytest.approx(np.sqrt(7), rel=0.15)


@pytest.mark.parametrize("design", [(5, 10), (20, 1)])
def test_the_interval_covers_the_true_rate_and_burden(design: tuple[int, int]) -> None:
    found = simulate((RATE, SENSITIVITY, SPECIFICITY), 300, design, 60, 1)
    assert found.estimate == pytest.approx(1.0, abs=0.08)
    assert found.judge > 1.5  # of the judge itself: .17 for .10
    for name, share in found.coverage.items():
        if LIKE.value in name:
            assert share >= 0.88
    assert not found.without_width


def test_a_verdict_needs_ten_samples() -> None:
    for absent, present in product((9, 10), repeat=2):
        known = Calibration((absent, present), (float(absent), float(present)), (0.0, 0.0))
        assert known.complete == (absent == present == 10)


FEATURES = ("retracing", "jargon", "false-starts")
CATEGORIES = {
    "disfluency": ("retracing", "false-starts", "conduite-d-approche"),
    "coherence": ("jargon", "off-topic"),
    "overall": ("overall-communication-impairment",),
}


def response(item: str, *present: str, text: str = "We went there.") -> RatedResponse:
    return RatedResponse(("model", item), text, len(text.split()), frozenset(present))


def silence(item: str) -> RatedResponse:
    return RatedResponse(("model", item), "", 0, None, "no-response")


def test_a_category_has_a_count_and_a_rate_over_the_features_of_the_set() -> None:
    burden = symptom_burden(
        [response("a", "retracing", "false-starts"), response("b")], FEATURES, CATEGORIES
    )
    disfluency = burden.categories["disfluency"]
    assert (disfluency.count.value, disfluency.rate.value, disfluency.of) == (1.0, 0.5, 2)
    overall = burden.categories["overall"]
    assert (overall.count.value, overall.of) == (None, 0)


RESPONSES = st.lists(
    st.builds(
        lambda item, present: response(item, *present),
        st.sampled_from("abcde"),
        st.sets(st.sampled_from(FEATURES)),
    ),
    min_size=1,
    max_size=20,
)


@given(RESPONSES)
def test_the_counts_of_dividing_categories_add_up_to_the_burden(
    responses: list[RatedResponse],
) -> None:
    burden = symptom_burden(responses, FEATURES, CATEGORIES)
    counts = [category.count.value or 0.0 for category in burden.categories.values()]
    assert sum(counts) == pytest.approx(burden.symptom_burden.value)
    for category in burden.categories.values():
        if category.count.value is not None and category.rate.value is not None:
            assert category.rate.value <= category.count.value <= category.of


def test_a_burden_without_an_interval_needs_no_numpy() -> None:
    code = (
        "import sys; from tests.scoring.rated_responses import RatedResponse, symptom_burden; "
        "symptom_burden([RatedResponse('a', 'x', 1, frozenset())], ['jargon']); "
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_category_has_the_intervals_of_a_burden_and_of_a_rate() -> None:
    profiles = [{"retracing"}, {"retracing", "jargon"}, set(), {"anomia"}]
    responses = [
        RatedResponse(("a", str(at % 2)), str(at), 9, frozenset(one))
        for at, one in enumerate(profiles)
    ]
    categories = {"fluency": ("retracing", "jargon"), "none": ("other",)}
    found = symptom_burden(responses, ["retracing", "jargon", "anomia"], categories, interval=True)
    count, rate = (found.category_intervals("fluency", rate=of)[0] for of in (False, True))
    # Item 0 has 1 and 0 of the two, item 1 has 2 and 0.
    assert count == burden_interval([[1.0, 0.0], [2.0, 0.0]], 2)
    assert rate == rate_interval([1, 1], [2, 2])
    assert found.category_intervals("none", rate=True) == ()


def test_the_burden_is_the_mean_number_of_features_present() -> None:
    """An empty response has no burden, and is no healthy one."""
    given_ = [response("a", "retracing", "jargon"), response("b"), response("c", "jargon")]
    burden = symptom_burden([*given_, silence("d"), silence("e")], FEATURES)
    assert burden.symptom_burden.value == 1.0
    assert burden.features == FEATURES
    assert burden.present == {"retracing": 1, "jargon": 2, "false-starts": 0}
    assert burden.rate("jargon").value == 2 / 3
    assert (burden.n_responses, burden.n_burden, burden.n_distinct) == (5, 3, 2)
    assert burden.no_burden == {"no-response": 2}
    assert burden.words_mean.value == 9 / 5


def test_where_nothing_has_a_burden_it_is_undefined() -> None:
    burden = symptom_burden([silence("a")], FEATURES, CATEGORIES, interval=True)
    assert burden.symptom_burden.value is None
    assert (burden.interval, burden.interval_reason) == (None, "no item has a value")
    assert burden.categories["coherence"].count.value is None
    assert burden.rate("jargon").value is None
    burden = symptom_burden([response("a"), response("b")], (), interval=True)
    assert (burden.symptom_burden.reason, burden.interval) == (NO_FEATURES, None)


T4 = 2.7764451051977987
"""The 0.975 quantile of Student's t with 4 degrees of freedom (tables)."""
RATES = st.lists(st.integers(0, 6).map(lambda n: n / 6), min_size=3, max_size=9)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=40))
def test_phi_is_pearsons_correlation_of_zeros_and_ones(seen: list[tuple[bool, bool]]) -> None:
    first, second = np.array(seen, float).T
    found = phi(float(first @ second), first.sum(), second.sum(), len(seen))
    if not found.defined:
        assert first.std() == 0 or second.std() == 0
    else:
        assert found.value == pytest.approx(np.corrcoef(first, second)[0, 1])


def test_large_counts_do_not_overflow() -> None:
    few, many = phi(2, 3, 4, 10), phi(*np.array([2, 3, 4, 10], np.int64) * 10**6)
    assert many.value == pytest.approx(few.value)


def test_its_interval_is_the_jackknife_over_items_of_artanh() -> None:
    items = [(4, 6, 4, 8), (2, 2, 4, 8), (0, 2, 2, 8), (6, 6, 6, 8), (2, 4, 2, 8)]
    found, reason = phi_interval(items)
    assert found is not None and not reason
    answers = [
        [(1, 1)] * both + [(1, 0)] * (one - both) + [(0, 1)] * (two - both)
        + [(0, 0)] * (n - one - two + both)
        for both, one, two, n in items
    ]  # fmt: skip

    def artanh(chosen: list[list[tuple[int, int]]]) -> float:
        return float(
            np.arctanh(np.corrcoef(np.concatenate([np.array(one) for one in chosen]).T)[0, 1])
        )

    middle = artanh(answers)
    pseudo = [5 * middle - 4 * artanh(answers[:at] + answers[at + 1 :]) for at in range(5)]
    half = T4 * stdev(pseudo) / sqrt(5)
    assert found.low == pytest.approx(np.tanh(middle - half))
    assert found.high == pytest.approx(np.tanh(middle + half))


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([(1, 1, 1, 2)] * 4, "fewer than 5 items"),
        ([(10, 10, 10, 20)] * 5, "all items give the same value"),
        ([(0, 0, 1, 2)] * 5, "a feature is in no response, or in all"),
        ([(15, 15, 15, 20)] + [(0, 0, 9, 20)] * 4,
         "a feature is in the responses to one item alone"),
        ([(1, 1, 1, 2), (0, 0, 1, 2), (0, 1, 0, 2)] * 2,
         "fewer than 5 responses would be in a cell of the table by chance"),
    ],
)  # fmt: skip
def test_without_an_interval_there_is_a_reason(
    items: list[tuple[int, int, int, int]], why: str
) -> None:
    assert phi_interval(items) == (None, why)


@given(RATES.flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))))
def test_rank_correlation_is_that_of_mean_ranks(rates: tuple[list[float], list[float]]) -> None:
    first, second = (np.array(one) for one in rates)
    found = spearman(first, second)
    ranks = [[mean(i for i, x in enumerate(sorted(one), 1) if x == value) for value in one]
             for one in rates]  # fmt: skip
    if len(set(rates[0])) == 1:
        assert found.reason == "all rates of a profile are equal"
    else:
        assert found.value == pytest.approx(np.corrcoef(ranks[0], ranks[1])[0, 1])


def test_the_cosine_has_no_value_without_rates() -> None:
    assert cosine(np.zeros(3), np.ones(3)).reason == "all rates of a profile are 0"
    assert cosine(np.array([0.2, 0.4]), np.array([0.1, 0.2])).value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("items", "row", "why"),
    [
        (5, [3.0, 0.0, 1.0, 2.0, 4.0], "all items give the same value"),
        (4, [3.0, 0.0, 1.0, 2.0, 9.0], "fewer than 5 items"),
        (5, [1.0, 0.0, 1.0, 0.0, 3.0], "fewer than 20 responses"),
        (9, [1.0, 0.0, 1.0, 3.0], "fewer than 4 features"),
        (5, [0.0, 0.0, 0.0, 0.0, 4.0], "all rates of a profile are 0 in some draws"),
    ],
)
def test_no_bootstrap_interval_has_a_reason(items: int, row: list[float], why: str) -> None:
    reference = np.array([1.0, 0.5, 0.2, 0.1])[: len(row) - 1]
    given = np.array([row] * items)
    assert similarity_interval(given, None, reference, cosine) == (None, why)


def test_the_interval_by_one_draw_after_the_other() -> None:
    counts = np.random.default_rng(3).integers(0, 5, (6, 5)).astype(float)
    counts[:, -1] = 4.0
    reference = np.array([0.5, 0.2, 0.4, 0.1])
    found, _ = similarity_interval(counts, None, reference, spearman)
    draws = np.random.Generator(np.random.SFC64(SEED)).integers(0, 6, (DRAWS, 6))
    sums = counts[draws].sum(axis=1)
    each = [stats.spearmanr(row[:-1] / row[-1], reference).statistic for row in sums]
    value = stats.spearmanr(counts.sum(axis=0)[:-1], reference).statistic
    middle = 2 * value - np.nanmean(each)
    half = stats.t.ppf(0.975, 5) * np.nanstd(each, ddof=1) * sqrt(6 / 5)
    assert found is not None
    assert found.low == pytest.approx(max(-1, min(middle, value) - half))
    assert found.high == pytest.approx(min(1, max(middle, value) + half))


def test_a_bootstrap_interval_is_the_same_each_time_and_covers_the_truth() -> None:
    random = np.random.default_rng(7)
    truth = np.array([0.1, 0.3, 0.5, 0.7])
    reference = np.array([0.2, 0.2, 0.6, 0.5])
    expected = cosine(truth, reference).value
    assert expected is not None
    covered = 0
    for _ in range(20):
        hits = random.binomial(5, truth, (12, 4))
        counts = np.concatenate([hits, np.full((12, 1), 5)], axis=1).astype(float)
        found, _ = similarity_interval(counts, None, reference, cosine)
        assert found is not None and 0 <= found.low < found.high <= 1
        assert similarity_interval(counts, None, reference, cosine)[0] == found
        covered += found.low <= expected <= found.high
    assert covered >= 16  # fewer by chance: 3 in 1,000
