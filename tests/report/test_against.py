"""All groups against one: corrections over groups, against scipy and hand-made families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tabwb.records.errors import UsageError
from tabwb.report.summaries.against import baseline_of, differences_from
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import Grouped, summarised
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.tables.against import against_table
from tabwb.scoring.permutation import holm, sign_flip_max_t
from tests.report.given import BATTERY, DECLARED, SAMPLED, administration, answered

KEYS = {
    "wc1": "lion", "wc3": "boot", "wc4": "knife", "sc1": "Yes", "sc2": "No", "sc4": "Yes",
    "r1": "house.", "r4": "The sun rises in the East.",
}  # fmt: skip


def model(
    number: int, right: Sequence[int], present: Sequence[str] = (), **changed: object
) -> AdministrationData:
    """A model: whether each of the eight scored items is right, and features of its texts."""
    trials = [
        answered(item, key if ok else f"pear {number}", number=at)
        for at, ((item, key), ok) in enumerate(zip(KEYS.items(), right, strict=True), start=1)
    ]
    for at, text in enumerate(("ct1", "ct2"), start=9):
        trials.append(answered(text, f"We went there {at} times.", number=at, features=present))
    conditions = replace(SAMPLED, examinee=f"local:m{number}", **changed)  # type: ignore[arg-type]
    return AdministrationData(
        administration(number, conditions), BATTERY, tuple(trials), declarations=DECLARED
    )


ALL, NONE = [1] * 8, [0] * 8
GIVEN = [
    model(1, ALL),
    model(2, NONE, ["retracing"]),
    model(3, [1, 1, 1, 1, 0, 0, 1, 1]),
]


def rows(*given: AdministrationData) -> tuple[Grouped, ...]:
    return summarised(grouped(given or GIVEN, "model"))


def test_pooled_accuracies_are_corrected_by_max_t_over_groups() -> None:
    found = differences_from(rows(), "local:m1")
    assert found.baseline == "m1" and not found.left_out
    pooled = [row for row in found.rows if row.measure == "accuracy" and not row.subtest]
    assert [row.group.label for row in pooled] == ["m2", "m3"]
    assert [row.sides.difference for row in pooled] == [-1.0, -0.25]
    assert [row.p for row in pooled] == [2**-7, 0.5]
    tested = sign_flip_max_t([[-1.0] * 8, [0, 0, 0, 0, -1.0, -1.0, 0, 0]])
    assert tested is not None and tuple(row.adjusted for row in pooled) == tested.p
    assert {row.correction for row in pooled} == {"maxT over groups"}
    assert {row.sides.smallest_p for row in pooled} == {2**-7}


def test_subtests_are_one_family_over_groups_and_subtests() -> None:
    found = differences_from(rows(), "local:m1")
    alone = [row for row in found.rows if row.subtest]
    assert [row.subtest for row in alone] == [
        "words",
        "words",
        "sentences",
        "sentences",
        "repetition",
        "repetition",
    ]
    assert [row.adjusted for row in alone] == list(holm([row.p or 0 for row in alone]))
    assert {row.correction for row in alone} == {"Holm over groups and subtests"}


def test_burdens_are_compared_if_judged_alike() -> None:
    found = differences_from(rows(), "local:m1")
    burdens = [row for row in found.rows if row.measure == "burden"]
    assert [row.sides.difference for row in burdens] == [1.0, 0.0]
    assert {row.correction for row in burdens} == {"Holm over groups"}
    unjudged = replace(model(4, ALL), declarations={}, trials=model(4, ALL).trials[:8])
    found = differences_from(rows(GIVEN[0], unjudged), "local:m1")
    assert found.left_out == (("m4, rules-2", "judged only one side"),)


def test_other_conditions_that_differ_are_named() -> None:
    shuffled = model(5, ALL, option_order="shuffled")
    (row, *_) = differences_from(rows(GIVEN[0], shuffled), "local:m1").rows
    assert [name for name, *_ in row.unlike] == ["options"]


def test_a_baseline_is_one_group() -> None:
    assert baseline_of(rows(), "m3").label == "m3"
    assert baseline_of(rows(), "local:m2").label == "m2"
    with pytest.raises(UsageError, match="several groups are named 'local'"):
        baseline_of(rows(), "local")
    with pytest.raises(UsageError, match="no group is named 'gemma'"):
        differences_from(rows(), "gemma")
    with pytest.raises(UsageError, match="no other group of this battery"):
        differences_from(rows(GIVEN[0]), "local:m1")


def test_what_one_key_calls_a_group_comes_before_a_part_of_a_name() -> None:
    groups = summarised(grouped([model(12, ALL), model(1, ALL)], "model,temperature"))
    assert baseline_of(groups, "m1") is groups[1]


def test_table_of_differences() -> None:
    table = against_table(rows(), "m1")
    first = next(table.rows())
    values = dict(zip(table.names, first, strict=True))
    assert (values["group"], values["baseline"]) == ("m2", "m1")
    assert (values["value"], values["baseline_value"], values["difference"]) == (0.0, 1.0, -1.0)
    assert values["difference_low"] == -1.0 and values["these_reason"].startswith(
        "one response per item"
    )
    assert "group - baseline" in table.notes[0]
