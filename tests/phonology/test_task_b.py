"""Task B: was an accepted pronunciation said."""

from __future__ import annotations

from typing import Any

import pytest

from tabwb.phonology.corpus import Classification, says_one_of


def test_both_readings_of_task_b(psst: Any) -> None:
    for case in psst["task_b"]:
        accepted = [target.split() for target in case["targets"]]
        said = case["transcript"].split()
        assert says_one_of(said, accepted, "code") is case["match_code_as_published"]
        expected = case["match_paper_text_after_removing_sil_spn"]
        assert says_one_of(said, accepted, "paper") is expected


def test_phonemes_are_whole() -> None:
    """AE D is not a part of AE DH."""
    assert not says_one_of(["AE", "DH"], [["AE", "D"]])


def test_nothing_is_never_said() -> None:
    assert not says_one_of(["AE"], [[]])
    assert not says_one_of(["AE"], [])


def test_the_papers_own_counts(psst: Any) -> None:
    for case in psst["classification"]:
        found = Classification(tp=case["tp"], fp=case["fp"], fn=case["fn"], tn=case["tn"])
        for measure in ("f1", "precision", "recall", "accuracy"):
            assert getattr(found, measure) == pytest.approx(case[measure], abs=1e-15)


def test_specificity_and_balanced_accuracy() -> None:
    found = Classification(tp=3, fp=1, fn=1, tn=1)
    assert (found.specificity, found.balanced_accuracy) == (0.5, 0.625)


@pytest.mark.parametrize(
    ("found", "undefined"),
    [
        (
            Classification(),
            {"precision", "recall", "specificity", "f1", "accuracy", "balanced_accuracy"},
        ),
        (Classification(tn=2), {"precision", "recall", "f1", "balanced_accuracy"}),
        (Classification(tp=2), {"specificity", "balanced_accuracy"}),
        (Classification(fn=2), {"precision", "specificity", "balanced_accuracy"}),
        (Classification(fp=2), {"recall", "balanced_accuracy"}),
    ],
)
def test_undefined_where_the_denominator_is_0(found: Classification, undefined: set[str]) -> None:
    measures = ("precision", "recall", "specificity", "f1", "accuracy", "balanced_accuracy")
    assert {name for name in measures if getattr(found, name) is None} == undefined


def test_pairs_are_label_and_prediction() -> None:
    pairs = [(True, False), (True, False), (False, True), (True, True), (False, False)]
    assert Classification.of(pairs) == Classification(tp=1, fp=1, fn=2, tn=1)
