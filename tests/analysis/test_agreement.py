"""Agreement of raters: published numbers, second derivations, and what is undefined."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabwb.analysis.agreement import Agreement, Choices, agreement_of
from tabwb.analysis.ratings import Answers, Measure, Rated
from tabwb.media.views.agreement import agreement_document
from tabwb.records.errors import UsageError
from tests.analysis.rating_parts import HEAD, cross_table, rated, verdict_rows

PUBLISHED = json.loads(
    (Path(__file__).parents[1] / "data" / "agreement_published.json").read_text(encoding="utf-8")
)
FEATURE = {
    "measure", "n", "prevalence", "agreement", "kappa", "ac1", "alpha", "positive_agreement",
    "negative_agreement", "status",
}  # fmt: skip


def report(found: Rated, **choices: Any) -> Agreement:
    return agreement_of(found, Choices(draws=0) if not choices else Choices(**choices))


def document(found: Rated, **choices: Any) -> dict[str, Any]:
    made = agreement_document(report(found, **choices))
    json.dumps(made, allow_nan=False)
    return made


def test_two_by_two_table_of_the_oracle(tmp_path: Path) -> None:
    table = next(one for one in PUBLISHED["tables"] if one["table"] == [[20, 5], [10, 15]])
    (row,) = document(rated(tmp_path, cross_table(table["table"])))["features"]
    assert row.keys() >= FEATURE
    assert row["n"] == 50 and row["status"] == "value"
    assert row["kappa"] == pytest.approx(table["cohen_kappa"])
    assert row["agreement"] == pytest.approx(0.7)
    assert row["prevalence"] == pytest.approx((20 + 25) / 100)
    assert row["positive_agreement"] == pytest.approx(2 * 15 / (2 * 15 + 5 + 10))
    assert row["negative_agreement"] == pytest.approx(2 * 20 / (2 * 20 + 5 + 10))
    assert row["table"] == {
        "both_present": 15, "first_present": 10, "second_present": 5, "both_absent": 20
    }  # fmt: skip


def test_prevalence_is_of_the_samples_that_two_rated(tmp_path: Path) -> None:
    given: dict[str, dict[str, list[object]]] = {
        "jargon": {"R1": [1, 0, 0, 1, 1], "R2": [1, 0, 1, None, None]}
    }
    found = report(rated(tmp_path, verdict_rows(given)))
    (row,) = found.rows("agreement")
    assert (row["n"], row["verdicts"], row["present"]) == (3, 8, 5)
    assert row["prevalence"] == pytest.approx(3 / 6)
    assert row["variance"] == pytest.approx(0.25)


def test_codes_and_scales_of_the_oracle(tmp_path: Path) -> None:
    table = next(one for one in PUBLISHED["tables"] if len(one["table"]) == 3)
    codes = cross_table(table["table"], measure="code", values=("a", "b", "c"))
    scale = cross_table(table["table"], measure="anomia", values=(1, 2, 3))
    found = report(rated(tmp_path, [*codes, *scale]))
    as_codes, as_scale = found.rows("answer-pairs")
    assert as_codes["kappa"] == pytest.approx(table["cohen_kappa"], abs=1e-6)
    assert as_codes["ac1"] == pytest.approx(table["gwet_ac1"], abs=1e-5)
    (confused,) = found.rows("confusions", measure="code")
    assert (confused["one"], confused["other"], confused["n"]) == ("b", "c", 11)
    assert as_scale["kappa"] == pytest.approx(table["cohen_kappa_quadratic"], abs=5e-4)
    assert as_scale["linear"] == pytest.approx(table["cohen_kappa_linear"], abs=5e-4)


def test_alpha_with_gaps_of_the_oracle(tmp_path: Path) -> None:
    raw = next(one for one in PUBLISHED["raw"] if "alpha_ordinal" in one)
    by_rater: dict[str, list[Any]] = {
        f"R{at}": values for at, values in enumerate(raw["ratings"], start=1)
    }
    rows = verdict_rows({"x": by_rater})
    (scale,) = report(rated(tmp_path, rows)).rows("answers")
    assert scale["alpha"] == pytest.approx(raw["alpha_ordinal"], abs=5e-4)
    (codes,) = report(rated(tmp_path, rows, kinds={"x": "choice"})).rows("answers")
    assert codes["alpha"] == pytest.approx(raw["alpha_nominal"], abs=5e-4)


def test_what_no_rater_varies_on_is_undefined_with_the_reason(tmp_path: Path) -> None:
    given: dict[str, dict[str, list[Any]]] = {
        "off-topic": {"R1": [0] * 12, "R2": [0] * 12},
        "jargon": {"R1": [1, 0] * 6, "R2": [1, 0] * 6},
        "anomia": {"R1": [1, 0] * 4, "R2": [1, 0] * 4},
        "empty": {"R1": [1] * 12, "R2": [None] * 12},
    }
    found = document(rated(tmp_path, verdict_rows(given)))
    rows = {row["measure"]: row for row in found["features"]}
    assert rows["off-topic"]["kappa"] is None and rows["off-topic"]["status"] == "undefined"
    assert rows["off-topic"]["reason"] == "no rater varies"
    assert rows["off-topic"]["undefined"]["positive_agreement"] == "nobody says present"
    assert rows["off-topic"]["ac1"] == 1.0
    assert rows["anomia"]["reason"] == "fewer than 10 samples in common"
    assert rows["empty"]["reason"] == "no sample has verdicts of two raters"
    assert rows["jargon"]["kappa"] == 1.0
    assert found["summary"]["unweighted"] | {} == {
        **found["summary"]["unweighted"], "kappa": 1.0, "features": 1, "ac1_features": 2
    }  # fmt: skip


def people_and_judge() -> dict[str, dict[str, list[int]]]:
    """Three people and a judge on two features; drawn once, the seed is part of the data."""
    generator = np.random.default_rng(11)
    given: dict[str, dict[str, list[int]]] = {}
    for measure, prevalence in (("anomia", 0.5), ("jargon", 0.2)):
        truth = generator.random(60) < prevalence
        given[measure] = {
            rater: np.where(generator.random(60) < right, truth, ~truth).astype(int).tolist()
            for rater, right in (("R1", 0.9), ("R2", 0.8), ("R3", 0.85), ("rules-2", 0.7))
        }
    return given


def kappa(one: list[int], other: list[int]) -> float:
    a, b = np.array(one), np.array(other)
    by_chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())
    return float(((a == b).mean() - by_chance) / (1 - by_chance))


def test_table_one_by_hand(tmp_path: Path) -> None:
    given = people_and_judge()
    found = document(rated(tmp_path, verdict_rows(given)))
    pairs = (("R1", "R2"), ("R1", "R3"), ("R2", "R3"))
    people = {m: np.mean([kappa(r[a], r[b]) for a, b in pairs]) for m, r in given.items()}
    most = {
        measure: (np.sum([raters[name] for name in ("R1", "R2", "R3")], axis=0) > 1).astype(int)
        for measure, raters in given.items()
    }
    weights = {measure: int(verdicts.sum()) for measure, verdicts in most.items()}
    judge = {m: kappa(raters["rules-2"], most[m].tolist()) for m, raters in given.items()}
    each = {
        m: np.mean([kappa(raters["rules-2"], raters[name]) for name in ("R1", "R2", "R3")])
        for m, raters in given.items()
    }

    def weighted(values: dict[str, Any]) -> float:
        return float(sum(values[m] * weights[m] for m in values) / sum(weights.values()))

    (one,) = found["judges"]
    for summary, values in (
        (found["summary"], people),
        (one["consensus"]["summary"], judge),
        (one["each"]["summary"], each),
    ):
        assert summary["unweighted"]["kappa"] == pytest.approx(np.mean(list(values.values())))
        assert summary["positive_count_weighted"]["kappa"] == pytest.approx(weighted(values))
        assert summary["positive_count_weighted"]["features"] == 2
    assert one["less_people"]["value"] == pytest.approx(weighted(each) - weighted(people))
    assert "not comparable" in one["consensus"]["note"]
    hits = sum(a and b for a, b in zip(given["jargon"]["rules-2"], most["jargon"], strict=True))
    calibration = next(row for row in one["calibration"] if row["measure"] == "jargon")
    assert calibration["sensitivity"]["count"] == hits
    assert calibration["sensitivity"]["n"] == weights["jargon"]


def test_a_judge_of_some_features_is_compared_with_people_on_those(tmp_path: Path) -> None:
    given = people_and_judge()
    del given["jargon"]["rules-2"]
    found = document(rated(tmp_path, verdict_rows(given)))
    (one,) = found["judges"]
    people = next(row["kappa"] for row in found["features"] if row["measure"] == "anomia")
    each = next(row["kappa"] for row in one["each"]["features"] if row["measure"] == "anomia")
    assert one["people_on_same_features"]["value"] == pytest.approx(people)
    assert one["people_on_same_features"]["features"] == 1
    assert one["less_people"]["value"] == pytest.approx(each - people)


def test_every_rule_for_ties_and_cannot_tell_has_a_line(tmp_path: Path) -> None:
    tied = [1] * 6 + [0] * 6
    rows = verdict_rows(
        {"jargon": {"R1": tied, "R2": [1, 1, 1, 1, 0, 0] + [0] * 6, "rules-2": tied}}
    )
    rows += [("s12", "R1", "jargon", "cannot-tell"), ("s12", "R2", "jargon", 0)]
    rows += [("s12", "rules-2", "jargon", 0)]
    lines = document(rated(tmp_path, rows))["sensitivity"]
    named = {(line["ties"], line["cannot_tell"]): line for line in lines}
    assert [named[rule, "missing"]["positives"] for rule in ("drop", "positive", "negative")] == [
        4, 6, 4
    ]  # fmt: skip
    assert named["adjudicated", "missing"]["reason"] == "nothing is adjudicated"
    assert named["drop", "absent"]["judges"]["rules-2"]["kappa"] == pytest.approx(1.0)
    for meaning in ("missing", "absent"):
        (row,) = document(rated(tmp_path, rows), cannot_tell=meaning, draws=0)["features"]
        assert row["cannot_tell"] == 1
    # Of the judge with the consensus: 4 and 8 agreed, then two more that the judge alone has.
    by_chance = (6 / 12) * (4 / 12) + (6 / 12) * (8 / 12)
    assert named["negative", "missing"]["judges"]["rules-2"]["kappa"] == pytest.approx(
        (10 / 12 - by_chance) / (1 - by_chance)
    )
    with pytest.raises(UsageError, match="no adjudicated value"):
        report(rated(tmp_path, rows), ties="adjudicated", draws=0)


def test_what_was_settled_replaces_ties_when_asked_for(tmp_path: Path) -> None:
    rows = verdict_rows({"jargon": {"R1": [1] * 12, "R2": [0] * 12}})
    rows += [("s0", "adjudicated", "jargon", 1)]
    lines = document(rated(tmp_path, rows), ties="adjudicated", draws=0)["sensitivity"]
    chosen = next(line for line in lines if line["chosen"])
    assert chosen["ties"] == "adjudicated" and chosen["positives"] == 1


def test_a_rater_with_the_same_rater_later(tmp_path: Path) -> None:
    later = [1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0]
    first = [1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0]
    rows = [(f"s{at}", "R1", "jargon", value, 1) for at, value in enumerate(first)]
    rows += [(f"s{at}", "R1", "jargon", value, 2) for at, value in enumerate(later)]
    found = document(rated(tmp_path, rows, HEAD + ",occasion"))
    (intra,) = found["intra"]
    assert intra["rater"] == "R1" and intra["pairs"][0]["n"] == 12
    assert intra["summary"]["unweighted"]["kappa"] == pytest.approx(kappa(first, later))
    assert found["pairs"] == []


def test_one_other_rater_is_not_a_majority_of_the_others(tmp_path: Path) -> None:
    # Twelve samples of all three; on twelve more R3 says nothing, so that R1 has one other.
    said = {"R1": [1, 0] * 12, "R2": [1, 0] * 6 + [0, 1] * 6, "R3": [1, 0] * 6}
    found = document(rated(tmp_path, verdict_rows({"jargon": said})))
    rest = {one["rater"]: one["features"][0] for one in found["rest"]}
    assert [rest[rater]["n"] for rater in ("R1", "R2", "R3")] == [12, 12, 12]
    assert rest["R1"]["kappa"] == pytest.approx(1.0)


RATES = ("per_first", "per_second", "fer_first", "fer_second")


def test_transcribers_as_each_others_reference(tmp_path: Path) -> None:
    rows = [("a", "R1", "phonemes", "D AO G"), ("a", "R2", "phonemes", "dɔ"),
            ("b", "R1", "phonemes", "K AE T"), ("b", "R2", "phonemes", "K AE <sil> T")]  # fmt: skip
    (pair,) = report(rated(tmp_path, rows), draws=200).rows("transcripts")
    assert (pair["n"], pair["same"], pair["edits"]) == (2, 1, 1)
    assert (pair["phonemes_first"], pair["phonemes_second"]) == (6, 5)
    assert pair["per_first"] == pytest.approx(1 / 6) and pair["per_second"] == pytest.approx(1 / 5)
    assert pair["fer_first"] == pytest.approx(pair["feature_edits"] / (24 * 6))
    assert [pair[f"{rate}_low"] for rate in RATES] == [None] * 4  # of two responses
    more = [(f"{name}{n}", *rest) for n in range(3) for name, *rest in rows]
    (pair,) = report(rated(tmp_path, more)).rows("transcripts")
    assert 0 < pair["per_first_low"] < 1 / 6 < pair["per_first_high"] < 1


def transcripts(values: Any, *words: str) -> dict[str, Any]:
    """What two transcribers of the same responses share; values are places in the words."""
    answers = Answers(Measure("phonemes", "Transcript", "phonemes"), np.array(values, float), words)
    n = len(values[0])
    given = Rated("x", tuple(map(str, range(n))), ("R1", "R2"), frozenset(), (),
                  np.empty((2, n, 0), np.int8), others=(answers,))  # fmt: skip
    (pair,) = report(given).rows("transcripts")
    return pair


@pytest.mark.parametrize("silence", ["", "<spn> <sil>"])
@pytest.mark.parametrize("both", [True, False])
def test_a_silent_response_is_all_deletions(silence: str, both: bool) -> None:
    # The first is silent for R1, and for R2 too or dog; both heard cat in the second.
    pair = transcripts([[0, 2], [0 if both else 1, 2]], silence, "D AO G", "K AE T")
    assert (pair["n"], pair["same"], pair["edits"]) == ((2, 2, 0) if both else (2, 1, 3))
    assert (pair["per_first"], pair["per_second"]) == ((0.0, 0.0) if both else (1.0, 0.5))
    pair = transcripts([[0] * 6] * 2, silence)
    assert (pair["same"], pair["edits"], pair["phonemes_first"]) == (6, 0, 0)
    assert [pair[rate] for rate in RATES] == [None] * 4


def test_versions_of_a_judge_are_compared(tmp_path: Path) -> None:
    rows = verdict_rows(
        {"jargon": {"R1": [0] * 12, "rules-1": [0] * 12, "rules-2": [1] * 6 + [0] * 6}}
    )
    (drift,) = document(rated(tmp_path, rows))["drift"]
    assert (drift["first"], drift["second"]) == ("rules-1", "rules-2")
    (feature,) = drift["features"]
    assert (feature["n"], feature["appeared"], feature["vanished"]) == (12, 6, 0)
    assert feature["p"] == pytest.approx(2 / 2**6)


def test_a_judge_beside_one_person_is_measured_against_that_person(tmp_path: Path) -> None:
    given = {"jargon": {"R1": [1] * 4 + [0] * 8, "rules-2": [1] * 3 + [0] * 7 + [1] * 2}}
    found = document(rated(tmp_path, verdict_rows(given)))
    assert found["compared"] == "raters" and len(found["pairs"]) == 1
    (judge,) = found["judges"]
    assert judge["reference"] == "R1" and judge["each"]["pairs"] == []
    (calibration,) = judge["calibration"]
    shares = [calibration[name]["value"] for name in ("sensitivity", "specificity")]
    assert shares == [3 / 4, 6 / 8]


def test_samples_of_one_speaker_are_resampled_themselves(tmp_path: Path) -> None:
    rows = [(*row, "P1") for row in cross_table([[20, 5], [10, 15]])]
    found = report(rated(tmp_path, rows, HEAD + ",speaker"), draws=200)
    assert found.rated.speakers is None and "one speaker" in found.rated.notes[-1]
    (row,) = found.rows("agreement")
    assert row["kappa_low"] < 0.4 < row["kappa_high"]


def test_one_rater_alone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one rater"):
        report(rated(tmp_path, [("a", "R1", "jargon", 1)]))


def test_nothing_tells_how_a_judge_rated(tmp_path: Path) -> None:
    given = {"jargon": {"R1": [1, 0, 1], "R2": [1, 0, 0], "rules-2": [1, 1, 0]}}
    found = rated(tmp_path, verdict_rows(given))
    doubtful = np.zeros(found.verdicts.shape[:2], bool)
    doubtful[found.raters.index("R1"), 0] = True
    for flagged, expected in ((doubtful, [1, 0, None]), (None, [None] * 3)):
        made = report(replace(found, flagged=flagged, judges=frozenset({"rules-2"})))
        assert [row["flagged"] for row in made.rows("raters")] == expected
