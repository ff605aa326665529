"""The tables of features that occur together, and of profiles beside a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.tables.profiles import read_rates
from tabwb.media.views.tables import named_table
from tabwb.records.errors import UsageError
from tests.analysis.test_judges import BOTH, MODEL, with_features
from tests.analysis.test_pairs import conditions, given, texts

FIRST: Sequence[Sequence[str]] = (["retracing", "jargon"], [])
SECOND: Sequence[Sequence[str]] = (["jargon"], ["jargon", "retracing"])


def groups() -> tuple[Grouped, ...]:
    base = given(1, conditions("base"), *texts(*map(list, FIRST)))
    other = given(2, conditions("instruct"), *texts(*map(list, SECOND)))
    return summarised(grouped([base, other], ("model",)), interval=False)


def test_each_pair_of_features_has_its_phi() -> None:
    table = named_table("co-occurrence", groups())
    features = {*table["feature"].to_list(), *table["other"].to_list()}
    pairs = {
        (row["group"], frozenset((row["feature"], row["other"]))): row for row in table.to_dicts()
    }
    assert len(pairs) == len(table) == 2 * len(features) * (len(features) - 1) // 2
    base, other = dict.fromkeys(row["group"] for row in table.to_dicts())
    row = pairs[base, frozenset(("jargon", "retracing"))]
    assert (row["phi"], row["both"], row["n"]) == (1.0, 1, 2)
    assert row["phi_low"] is None and row["reason"] == "fewer than 5 items"
    row = pairs[other, frozenset(("jargon", "retracing"))]
    assert row["phi"] is None and row["reason"] == "a feature is in no response, or in all"


def test_profiles_are_compared_with_a_group_or_a_file(tmp_path: Path) -> None:
    rows = groups()
    features = rows[0].results.judges[0].burden.features
    rates = [np.array([sum(name in one for one in own) / 2 for name in features])
             for own in (FIRST, SECOND)]  # fmt: skip
    expected = rates[0] @ rates[1] / np.sqrt((rates[0] @ rates[0]) * (rates[1] @ rates[1]))
    with_group = named_table("profiles", rows, "instruct")
    assert with_group.where(measure="cosine")["value"].to_list() == [pytest.approx(expected)]
    path = tmp_path / "reference.csv"
    path.write_text("feature,rate\n" + "\n".join(
        f"{name},{rate}" for name, rate in zip(features, rates[1], strict=True)))  # fmt: skip
    with_file = named_table("profiles", rows, str(path)).where(measure="cosine")
    assert with_file["value"].to_list() == [pytest.approx(expected), pytest.approx(1.0)]
    assert set(with_file["reference"].to_list()) == {"reference.csv"}
    ranks = named_table("profiles", rows, str(path)).where(measure="spearman")["value"].to_list()
    assert ranks[1] == pytest.approx(1.0) and ranks[0] < 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("feature,share\njargon,0.1\n", "a feature or its rate is missing"),
        ("feature,rate\njargon,1.2\n", "'1.2' is not a rate"),
        ("feature,rate\njargon,nan\n", "'nan' is not a rate"),
        ("feature,rate\njargon,0.1\njargon,0.2\n", "'jargon' occurs twice"),
        ("feature,rate\n", "has no rates"),
        ("feature,present,n\njargon,3,0\n", "'3/0' is not a rate"),
        ("feature,present,n\njargon,3,\n", "a feature or its rate is missing"),
        ("feature,present,n\njargon,3,2\n", "'3/2' is not a rate"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "rates.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_rates(path)


def test_a_profile_is_compared_with_the_verdicts_of_another_rater() -> None:
    """A model judge tells all 19 features, rules-2 seven of them."""
    base = given(1, conditions("base"), *texts(*map(list, FIRST)))
    trials = [with_features(trial, ["anomia", "jargon"]) for trial in texts(*map(list, SECOND))]
    other = replace(given(2, conditions("instruct"), *trials), declarations=BOTH)
    rows = summarised(grouped([base, other], ("model",)), interval=False)
    table = named_table("profiles", rows, f"instruct rater={MODEL.rater}")
    found = {(row["group"], row["rater"]): row for row in table.where(measure="cosine").to_dicts()}
    assert {one["reference_rater"] for one in found.values()} == {MODEL.rater}
    seven = rows[0].results.judges[0].burden.features
    mine = np.array([sum(name in one for one in FIRST) / 2 for name in seven])
    row = next(row for (group, _), row in found.items() if "base" in group)
    assert row["value"] == pytest.approx(mine[seven.index("jargon")] / np.sqrt(mine @ mine))
    assert row["n_features"] == 7 and len(row["left_out"]) == 12 and "anomia" in row["left_out"]
    same = next(row for (group, rater), row in found.items() if "instruct" in group)
    assert same["rater"] == "rules-2"  # not the reference with itself
    with pytest.raises(UsageError, match="'ann' has not judged"):
        named_table("profiles", rows, "instruct rater=ann")


def test_two_features_are_too_few_to_compare(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text("feature,rate\njargon,0.25\nretracing,0.5\n")
    with pytest.raises(UsageError, match="3 features or more in common"):
        named_table("profiles", groups(), str(path))


def test_rates_can_be_counts(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text("feature,present,n\njargon,3,12\nretracing,0,12\n")
    assert read_rates(path) == {"jargon": 0.25, "retracing": 0.0}


def test_a_reference_without_common_features_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text("feature,rate\nother,0.5\n")
    with pytest.raises(UsageError, match="in common with the reference"):
        named_table("profiles", groups(), str(path))
    with pytest.raises(UsageError, match="needs a baseline"):
        named_table("profiles", groups())
