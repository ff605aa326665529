"""Other inventories, against panphon's own distances."""

from __future__ import annotations

import sys

import pytest

from tabwb.phonology.batch import _table, panphon_costs, score, segment
from tabwb.records.errors import MissingExtra

PAIRS = [
    ("kʰæt", "kæd"), ("ʃtɔl", "stoːl"), ("nyːtse", "nutsə"), ("ɲo", ""), ("ʁa", "xam"),
    ("pfɛʁd", "fɛɐt"), ("θɾiː", "fri"),
]  # fmt: skip


def test_distances_are_panphons_own() -> None:
    distance = pytest.importorskip("panphon.distance").Distance()
    refs = [segment(ref).phonemes for ref, _ in PAIRS]
    hyps = [segment(hyp).phonemes for _, hyp in PAIRS]
    found = score(refs, hyps, panphon_costs([*refs, *hyps]))
    for k, (ref, hyp) in enumerate(PAIRS):
        expected = distance.feature_edit_distance(ref, hyp)
        assert found.quarters[k] / 4 / 24 == pytest.approx(expected, abs=1e-12), (ref, hyp)
    assert found.fer == pytest.approx(
        distance.feature_error_rate([hyp for _, hyp in PAIRS], [ref for ref, _ in PAIRS]), abs=1e-12
    )


def test_what_panphon_does_not_know_is_counted() -> None:
    pytest.importorskip("panphon")
    found = segment("ˈbɝd <SIL> d ɔː g")
    assert found.phonemes == ("b", "d", "<sil>", "d", "ɔː", "ɡ")
    assert found.dropped == {"ɝ": 1}


def test_without_panphon_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _table.cache_clear()
    monkeypatch.setitem(sys.modules, "panphon", None)
    with pytest.raises(MissingExtra, match=r"tabwb\[panphon\]"):
        segment("a")
