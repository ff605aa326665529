"""Names of groups: what differs is kept, what all share is said once."""

from __future__ import annotations

from dataclasses import replace

from tabwb.analysis.contrast import baseline_of
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
from tabwb.records.states import Protocol
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


def test_of_several_conditions_names_have_the_unusual_ones_and_a_note_has_the_others() -> None:
    conditions = [
        SAMPLED,
        replace(SAMPLED, option_order="rotated"),
        replace(SAMPLED, protocol=Protocol.LIKELIHOOD, option_order="rotated"),
        replace(SAMPLED, option_order="rotated", system_message="Brief."),
        replace(SAMPLED, option_order="rotated", examinee="local:other"),
    ]
    chosen = [given(n, one) for n, one in enumerate(conditions, 1)]
    rows = as_shown(summarised(grouped(chosen, "model"), interval=False))
    names = [row.label for row in rows]
    assert names == names_of_groups(rows) == [
        "bundled (option order as-given)", "bundled", "bundled (protocol likelihood)",
        "bundled (system message Brief.)", "other",
    ]  # fmt: skip
    told = [note for note in shared_note(rows) if "otherwise" in note]
    assert len(told) == 1
    for phrase in ("option order rotated", "protocol generate", "system message none"):
        assert phrase in told[0]
    # Nothing is lost: data have all conditions, and each row is found by its names.
    assert {len(row.group.apart) for row in rows[:4]} == {3}
    assert [baseline_of(rows, name) for name in names] == [*rows]
    assert [baseline_of(rows, row.group.whole_name) for row in rows] == [*rows]
    # Of two rows both have theirs, and so have rows that differ in one condition.
    assert [row.label for row in as_shown(rows[:2])] == [
        "bundled (option order as-given)", "bundled (option order rotated)",
    ]  # fmt: skip


def test_hashes_are_shortened_and_names_stay_different() -> None:
    hashes = ["0123abcd" + "e" * 55 + end for end in "12"]
    given = [apart("alder", n, weights_sha256=value) for n, value in enumerate(hashes, 1)]
    first, second = names_of_groups(given)
    assert first.startswith("alder (weights_sha256 0123abcd…)") and second != first


def test_lesions_are_named_by_the_keys_in_which_they_differ() -> None:
    amounts, targets, seeds = ("0.05", "0.1", "0.25", "0.5"), ("mlp", "mlp.down", "attention"), 8
    lesions = [None, *(f"{target}:zero:{amount}@{layer}seed={seed}" for target in targets
                       for layer, amount in zip(("", "", "layers=1,", ""), amounts, strict=True)
                       for seed in range(1, seeds + 1))]  # fmt: skip
    chosen = [given(n, replace(SAMPLED, lesion=lesion)) for n, lesion in enumerate(lesions, 1)]
    rows = as_shown(summarised(grouped(chosen, "model"), interval=False))
    names = names_of_groups(rows)
    assert names[:2] == ["intact", "mlp · all layers · 0.05 · seed 1"]
    assert len(rows) == len({*names}) == 97
    assert not any(sign in name for name in names for sign in "#…@(")
    assert "All groups: bundled · zero." in shared_note(rows)
    made = compact_table(Groups(rows)).table
    keys = ["target", "layer", "amount", "seed"]
    assert [*made.names[:4]] == keys
    assert len({*zip(*(made[key].to_list() for key in keys), strict=True)}) == 97
    # Of a few, only that in which those differ; a pooled seed is in no name.
    assert names_of_groups(rows[1:3]) == ["seed 1", "seed 2"]
    pooled = summarised(grouped(chosen, "model", together=["lesion-seed"]), interval=False)
    assert names_of_groups(pooled)[:2] == ["intact", "mlp · all layers · 0.05"]
    single = as_shown(rows[1:2])
    assert (single[0].label, single[0].group.told) == ("bundled + mlp:zero:0.05@seed=1", ())
    each = as_shown(summarised(grouped(chosen[:3], "administration"), interval=False))
    assert [dict(row.group.told)["administration"] for row in each] == ["#1", "#2", "#3"]
    assert [row.label for row in each] == ["intact", "mlp · seed 1", "mlp · seed 2"]
    # A row that a report calls otherwise keeps that name beside lesions.
    hidden = replace(rows[0].group, label="participant 1", short="participant 1", values=(),
                     called="", told=())  # fmt: skip
    shown = as_shown([replace(rows[0], group=hidden), *rows[1:3]])
    assert [row.label for row in shown] == ["participant 1", "seed 1", "seed 2"]
    assert shown[0].group.told[0][1] == "participant 1"


def test_no_two_heads_of_a_profile_are_alike() -> None:
    given = [at("Alder-1B-Instruct" * 3, n, t) for n, t in enumerate(("1.25", "0.75"), 1)]
    given += [group(f"model {n}", n) for n in range(3, 12)]
    words = [text for text, _ in texts(make("profile", given, width="double"))]
    assert [sum(t in text for text in words) for t in ("1.25", "0.75")] == [1, 1]
