"""Names of groups: what differs is kept, what all share is said once."""

from __future__ import annotations

from dataclasses import replace

from tabwb.analysis.grouping import (
    Grouped,
    as_shown,
    grouped,
    names_of_groups,
    shared_note,
    summarised,
)
from tabwb.media.figures import figure_table, make
from tabwb.media.views.results import Groups, compact_table
from tabwb.media.views.tables import named_table
from tests.analysis.given import SAMPLED
from tests.analysis.test_grouping import given
from tests.media.figures.made import group, texts


def apart(name: str, number: int, **conditions: str) -> Grouped:
    given = group(name, number)
    return replace(given, group=replace(given.group, apart=tuple(conditions.items())))


def at(name: str, number: int, temperature: str, options: str = "as-given") -> Grouped:
    return apart(name, number, decoding=f"temperature {temperature}", options=options)


def test_conditions_that_the_shown_groups_share_are_said_once() -> None:
    given = [at("alder", 1, "1"), at("alder", 2, "0.7"), at("birch", 3, "1"), group("cedar", 4)]
    assert names_of_groups(given) == [
        "alder (temperature 1)", "alder (temperature 0.7)", "birch", "cedar",
    ]  # fmt: skip
    assert shared_note(given) == ["All groups: option order as-given.", "birch: temperature 1."]
    table = figure_table("burden", given)
    assert "All groups: option order as-given." in table.notes


def test_conditions_that_only_some_groups_share_name_them() -> None:
    given = [at("alder", 1, "1", "shuffled"), at("alder", 2, "0.7", "shuffled"), group("cedar", 4)]
    assert shared_note(given) == ["alder: option order shuffled."]


def test_figures_and_tables_have_the_same_names_and_say_the_same_once() -> None:
    chosen = [given(n, replace(SAMPLED, decoding=replace(SAMPLED.decoding, temperature=t)))
              for n, t in enumerate((0.5, 1.5), 1)]  # fmt: skip
    every = summarised(grouped(chosen, "model"))
    assert [row.label for row in every] == [
        "bundled (temperature 0.5)", "bundled (temperature 1.5)",
    ]  # fmt: skip
    for rows, note in ((every, ""), (as_shown(every[:1]), "All groups: temperature 0.5.")):
        drawn = figure_table("accuracy", rows)
        compact = compact_table(Groups(rows))
        listed = named_table("results", rows)
        names = [row.label for row in rows]
        assert list(dict.fromkeys(drawn["group"].to_list())) == names
        assert compact.table["group"].to_list() == names
        assert list(dict.fromkeys(listed["group"].to_list())) == names
        said = (drawn.notes, [one.text for one in compact.notes], listed.notes)
        assert all((note in notes) == bool(note) for notes in said)


def test_rows_of_one_model_state_the_same_conditions_whatever_their_other_keys() -> None:
    rotated = replace(SAMPLED, option_order="rotated")
    other = replace(rotated, decoding=replace(rotated.decoding, temperature=0.5))
    rows = summarised(grouped([given(1), given(2, rotated), given(3, other)], "model,temperature"))
    assert names_of_groups(rows) == [
        "bundled, temperature 1 (option order as-given)",
        "bundled, temperature 1 (option order rotated)",
        "bundled, temperature 0.5 (option order rotated)",
    ]
    assert shared_note(as_shown(rows[1:])) == ["All groups: option order rotated."]


def test_a_condition_that_tells_shown_groups_apart_stays() -> None:
    given = [at("alder", 1, "1"), at("alder", 2, "1", "rotated")]
    assert names_of_groups(given) == [
        "alder (option order as-given)",
        "alder (option order rotated)",
    ]


def test_hashes_are_shortened_and_names_stay_different() -> None:
    hashes = ["0123abcd" + "e" * 55 + end for end in "12"]
    given = [apart("alder", n, weights_sha256=value) for n, value in enumerate(hashes, 1)]
    first, second = names_of_groups(given)
    assert first.startswith("alder (weights_sha256 0123abcd…)") and second != first


def test_no_two_heads_of_a_profile_are_alike() -> None:
    given = [at("Alder-1B-Instruct" * 3, n, t) for n, t in enumerate(("1.25", "0.75"), 1)]
    given += [group(f"model {n}", n) for n in range(3, 12)]
    words = [text for text, _ in texts(make("profile", given, width="double"))]
    assert [sum(t in text for text in words) for t in ("1.25", "0.75")] == [1, 1]
