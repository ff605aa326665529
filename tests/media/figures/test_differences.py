"""The figure of differences, with numbers of the pairs' own tests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabwb.analysis.contrast import over_families, pairs_of
from tabwb.analysis.paired import AGREE
from tabwb.media.figures import figure_table, make
from tabwb.media.figures.estimates import records
from tabwb.records.errors import UsageError
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import Grouped, summarised
from tabwb.report.summaries.load import AdministrationData
from tests.analysis.test_pairs import BASE, INSTRUCT, conditions, given
from tests.media.figures.looks import faults, texts
from tests.media.figures.test_numbers import drawn, panels


def models(*chosen: AdministrationData) -> tuple[Grouped, ...]:
    return summarised(grouped(chosen, ("model",)))


def family(name: str, number: int) -> tuple[AdministrationData, AdministrationData]:
    return (
        given(number, conditions("base", name), *BASE.trials),
        given(number + 1, conditions("instruct", name), *INSTRUCT.trials),
    )


FAMILIES = (*family("L-1", 1), *family("Q-2", 3), *family("S-3", 5))


def test_base_and_instruct_models_are_compared_family_by_family() -> None:
    groups = models(*FAMILIES)
    pairs = pairs_of(groups)
    burden, accuracy = panels(make("differences", groups, width="double"))
    means = over_families(pairs)
    assert drawn(burden, "value") == [
        *([pair.found.rows[0].sides.of_means] for pair in pairs), [means[0].difference]
    ]  # fmt: skip
    assert drawn(accuracy, "value")[0] == [pairs[0].found.rows[1].sides.of_means]
    like = pairs[0].found.rows[0].like.interval.interval
    assert like is not None
    assert drawn(burden, "interval")[0] == [like.low, like.high]


def test_a_p_value_stands_beside_each_difference_and_the_smallest_in_the_notes() -> None:
    table = figure_table("differences", models(*FAMILIES))
    rows = records(table)
    assert [row["p"] for row in rows if row["first"] and row["measure"] == "burden"] == [1.0] * 3
    assert [row["p"] for row in rows if row["first"] is None] == [None, None]
    (note,) = (note for note in table.notes if note.startswith("p: "))
    assert ".5 over 2 items" in note and ".25 over 3 items" in note


def test_p_values_of_pairs_are_corrected_over_their_family() -> None:
    figure = make("differences", models(*FAMILIES))
    rows = [row for row in records(figure.facts.table) if row["first"]]
    for measure in ("burden", "accuracy"):
        own = [row for row in rows if row["measure"] == measure]
        raw = sorted(row["p"] for row in own)
        stepped = [min(1.0, (len(raw) - at) * p) for at, p in enumerate(raw)]
        expected = dict(zip(raw, (max(stepped[: at + 1]) for at in range(len(raw))), strict=True))
        assert [row["p_adjusted"] for row in own] == [expected[row["p"]] for row in own]
        assert {row["correction"] for row in own} == {f"Holm over {len(own)} tests"}
    assert [words for words, _ in texts(figure)].count("p corr.") == len(panels(figure))
    assert any("corrected: burden" in note for note in figure.facts.table.notes)


def test_a_single_test_is_not_called_corrected() -> None:
    figure = make("differences", models(*FAMILIES[:2]), measure="burden")
    (row,) = records(figure.facts.table)
    assert row["p_adjusted"] == row["p"] and row["correction"] is None
    assert "p corr." not in [words for words, _ in texts(figure)]


def test_two_groups_that_are_no_pair_are_compared_first_less_second() -> None:
    plain = replace(conditions("base"), labels={})
    other = replace(conditions("instruct"), labels={})
    groups = models(given(1, plain, *BASE.trials), given(2, other, *INSTRUCT.trials))
    rows = records(figure_table("differences", groups))
    assert {row["comparison"] for row in rows} == {f"{groups[0].label} − {groups[1].label}"}
    (accuracy,) = (row for row in rows if row["measure"] == "accuracy")
    assert accuracy["value"] == pytest.approx(1 / 3 - 1)


def test_all_groups_are_compared_with_one_that_is_named() -> None:
    groups = models(*FAMILIES)
    rows = records(figure_table("differences", groups, against=groups[1].label))
    assert {row["second"] for row in rows} == {groups[1].label}
    assert {row["first"] for row in rows} == {
        group.label for group in groups if group is not groups[1]
    }


def test_many_groups_without_a_pair_need_one_to_compare_with() -> None:
    groups = models(*FAMILIES)[::2]
    with pytest.raises(UsageError, match="there are 3 groups") as refused:
        make("differences", groups)
    assert "against=" in str(refused.value.hint)
    with pytest.raises(UsageError, match="no group is named 'zebra'"):
        make("differences", groups, against="zebra")


def test_texts_have_their_own_place() -> None:
    assert faults(make("differences", models(*FAMILIES))) == []


def test_the_caption_counts_the_tests_and_says_how_interval_and_p_agree() -> None:
    table = figure_table("differences", models(*FAMILIES))
    (note,) = (note for note in table.notes if note.startswith("p shown is corrected"))
    assert "burden, accuracy by the method of Holm over 3 tests" in note
    assert any(AGREE in note for note in table.notes)


def test_a_mean_over_families_is_a_square_with_an_interval_for_such_families() -> None:
    figure = make("differences", models(*FAMILIES), width="double")
    markers = [line.get_marker() for line in panels(figure)[0].lines if line.get_gid() == "value"]
    assert markers[-1] == "s" and "s" not in markers[:-1]
    words = " ".join(text for text, _ in texts(figure))
    assert "bar: 95 % interval for families and prompts like these" in words


def test_pairs_of_one_family_and_size_have_rows_of_their_own() -> None:
    """A quantised instruct model beside the instruct model: two pairs with one base model."""
    quantised = conditions("instruct", "L-1")
    quantised = replace(quantised, examinee=f"{quantised.examinee}-q4")
    groups = models(*FAMILIES[:2], given(9, quantised, *BASE.trials))
    figure = make("differences", groups, measure="burden")
    names = [row["comparison"] for row in records(figure.facts.table)]
    assert len(set(names)) == len(names) == 2
    assert all(" − " in name for name in names)
    assert len(drawn(panels(figure)[0], "value")) == 2
