"""Confusions, changed features, and rates of classes and groups."""

from __future__ import annotations

from typing import Any

from tabwb.phonology.batch import (
    Scores,
    changed_features,
    class_rates,
    confusions,
    rates_by,
    score,
    severity,
)


def scored(*pairs: tuple[str, str]) -> Scores:
    return score([ref.split() for ref, _ in pairs], [hyp.split() for _, hyp in pairs])


def test_confusions_are_counted_the_most_frequent_first() -> None:
    found = confusions(scored(("B AE T", "P AE T"), ("B", "P"), ("K AE T", "K AE T S"), ("D", "")))
    assert [(each.step.op, each.step.ref, each.step.hyp, each.count) for each in found] == [
        ("SUB", "B", "P", 2),
        ("DEL", "D", None, 1),
        ("INS", None, "S", 1),
    ]


def test_silence_is_no_confusion() -> None:
    assert confusions(scored(("K <sil> AE T", "K AE <spn> T"))) == []


def test_features_that_changed_in_figure_1(psst: Any) -> None:
    figure = next(case for case in psst["cases"] if case["category"] == "paper_figure1")
    found = confusions(scored((figure["ref"], figure["hyp"])))
    changed = changed_features(found)
    assert len(changed) == 9  # four from P to M, five from Y to AH; the deleted ER changes none
    assert sum(each.count * each.change.cost for each in changed) == 3.5 + 5


def test_class_rates_add_up_to_the_corpus(psst: Any) -> None:
    cases = psst["cases"]
    whole = score([c["ref"].split() for c in cases], [c["hyp"].split() for c in cases])
    steps = [step for case in cases for step in case["feature_steps"] if step[1] or step[2]]
    spoken = [s for s in steps if not {"<sil>", "<spn>", "<unk>"} & {s[1], s[2]}]
    found = class_rates(whole)
    assert sum(each.phonemes for each in found) == sum(case["per_length"] for case in cases)
    assert sum(each.substituted for each in found) == sum(s[0] == "SUB" for s in spoken)
    assert sum(each.deleted for each in found) == sum(s[0] == "DEL" for s in spoken)
    assert sum(each.inserted for each in found) == sum(s[0] == "INS" for s in spoken)
    assert sum(each.fer_distance for each in found) == sum(s[3] for s in spoken if s[0] != "INS")


def test_a_class_tells_errors_within_it() -> None:
    stops, *_, diphthongs = class_rates(scored(("B AY T", "P AA M")))
    assert (stops.phonemes, stops.substituted, stops.kept_class) == (2, 2, 1)
    assert (stops.fer_distance, stops.error_rate) == (
        1 + 7,
        1.0,
    )  # those of figure 1 and five of the place
    assert (diphthongs.substituted, diphthongs.kept_class, diphthongs.fer_distance) == (1, 0, 1.75)


def test_a_class_that_never_stood_has_no_rate() -> None:
    affricates = class_rates(scored(("B", "B")))[1]
    assert (affricates.name, affricates.phonemes, affricates.error_rate) == ("affricates", 0, None)


def test_rates_of_groups_are_fractions_of_their_own_sums() -> None:
    scores = scored(("B", "P"), ("", "F"), ("B AE T", "B AE T"))
    cat, nothing = rates_by(scores, ["cat", "nothing", "cat"])
    assert (cat.utterances, cat.per, cat.fer) == (2, 1 / 4, 1 / 96)
    assert (nothing.per_distance, nothing.per, nothing.fer) == (1, None, None)


def test_bands_of_severity_hold_their_upper_bound() -> None:
    assert [severity(each) for each in (0, 25, 25.1, 50, 50.1, 75, 75.1, 100)] == [
        "very severe", "very severe", "severe", "severe", "moderate", "moderate", "mild", "mild",
    ]  # fmt: skip
