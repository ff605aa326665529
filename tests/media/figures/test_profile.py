"""What a profile says of its rates: over which responses, how many, of which features."""

from __future__ import annotations

from dataclasses import replace

from tabwb.media.figures import figure_table, make
from tabwb.media.figures.estimates import records
from tabwb.report.summaries.groups import Grouped
from tests.media.figures.looks import faults, texts
from tests.media.figures.made import group, groups


def without_texts(given: Grouped) -> Grouped:
    parts = tuple(part for part in given.summary.subtests if part.id != "text")
    return replace(given, summary=replace(given.summary, subtests=parts))


def test_rates_are_said_to_be_over_the_responses_with_a_burden() -> None:
    note = figure_table("profile", groups(3)).notes[0]
    assert "of the responses that have a burden (N), the share in which rules-2 finds" in note


def test_n_stands_beside_each_group_in_rows_and_in_columns() -> None:
    given = (*groups(3), group("many", 40, replicates=240))
    burdens = [str(row.summary.judges[0].burden.n_burden) for row in given]
    assert int(burdens[-1]) > 1000
    for width in ("single", "double"):
        figure = make("profile", given, width=width)
        words = [text for text, _ in texts(figure)]
        assert "N" in words and set(burdens) <= set(words)
        assert faults(figure) == []


def test_the_set_of_the_judge_is_shown_unless_all_features_are_asked_for() -> None:
    own, every = (figure_table("profile", groups(2), **more) for more in ({}, {"features": "all"}))
    assert len(set(own["feature"].to_list())) == 7
    assert len(set(every["feature"].to_list())) == 19
    said = "The 7 features are the set of rules-2; the battery has 19 (features=all shows all)."
    assert said in own.notes and said not in every.notes


def test_groups_that_were_given_no_connected_text_are_left_out_and_counted() -> None:
    third = without_texts(group("c", 3, judged=False))
    table = figure_table("profile", [group("a", 1), group("b", 2, judged=False), third])
    assert {row["group"] for row in records(table)} == {"a", "b"}
    assert "Left out: 1 group without connected text." in table.notes
