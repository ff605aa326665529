"""A judge asked several times, against counts made by hand."""

from __future__ import annotations

import pytest

from tabwb.records.ratings import Judged, Judgement, undefined, valued
from tabwb.report.summaries.robustness import self_agreement

JUDGE = "tab-2026:model"


def judged(
    trial: int, repeat: int, anomia: int | None, rater: str = JUDGE, call: str = ""
) -> Judged:
    rating = (
        undefined(rater, "anomia", "why") if anomia is None else valued(rater, "anomia", anomia)
    )
    return Judged(trial, 1, Judgement(rater, (rating,), repeat, key=f"call {call or trial}"))


def test_pairs_of_verdicts_are_compared() -> None:
    # Two repetitions of four responses: 1-1, 0-0, 1-0, 0-0. Three of four pairs agree; each
    # verdict counted from both sides, present is 3 of 8: pe = (3/8)^2 + (5/8)^2 = 34/64.
    said = [(1, 1), (0, 0), (1, 0), (0, 0)]
    rows = [judged(n, r, v) for n, pair in enumerate(said, 1) for r, v in enumerate(pair)]
    (found,) = self_agreement(rows, JUDGE, ["anomia"])
    assert (found.pairs, found.percent) == (4, 0.75)
    assert found.kappa == pytest.approx((0.75 - 34 / 64) / (1 - 34 / 64))


def test_three_repetitions_make_three_pairs_each() -> None:
    rows = [judged(1, repeat, value) for repeat, value in enumerate([1, 1, 0])]
    (found,) = self_agreement(rows, JUDGE, ["anomia"])
    assert found.pairs == 3
    assert found.percent == pytest.approx(1 / 3)


def test_what_has_no_verdict_is_no_pair_and_others_are_left_out() -> None:
    rows = [judged(1, 0, 1), judged(1, 1, None), judged(1, 1, 1, "another"), judged(2, 0, 1)]
    (found,) = self_agreement(rows, JUDGE, ["anomia"])
    assert (found.pairs, found.percent, found.kappa) == (0, None, None)


def test_answers_of_one_text_are_one_call_and_another_prompt_is_another() -> None:
    twins = [judged(n, repeat, 1, call="same") for n in (1, 2, 3) for repeat in (0, 1)]
    (found,) = self_agreement(twins, JUDGE, ["anomia"])
    assert found.pairs == 1
    other = [judged(1, 0, 1, call="old prompt"), judged(1, 1, 0, call="new prompt")]
    (found,) = self_agreement(other, JUDGE, ["anomia"])
    assert found.pairs == 0


def test_a_later_judgement_of_the_same_number_stands() -> None:
    rows = [judged(1, 0, 0), judged(1, 0, 1), judged(1, 1, 1)]
    (found,) = self_agreement(rows, JUDGE, ["anomia"])
    assert (found.pairs, found.percent, found.kappa) == (1, 1.0, None)
