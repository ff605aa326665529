"""What is chosen and grouped, against a list of all responses that the store was filled with."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabwb.analysis.grouping import Grouped
from tabwb.analysis.keys import FIRST, keys, keys_of_participants
from tabwb.analysis.selection import Selection, selected_groups
from tabwb.battery.task_type import current_study
from tabwb.cli.common import opened_plugins
from tabwb.media.documents.document import summary_json
from tabwb.media.documents.exporting import export
from tabwb.records.errors import UsageError
from tabwb.store.store import Store
from tests.analysis.selected import FEATURES, GROUPS, LLAMA, Known, fill
from tests.analysis.test_frame import Made
from tests.store.conftest import location  # noqa: F401 - a fixture


class Filled(NamedTuple):
    """A store and what is in it."""

    store: Store
    known: list[Known]

    def __repr__(self) -> str:
        return f"{len(self.known)} responses"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    with Store.open(tmp_path_factory.mktemp("selected") / "s.db") as store:
        yield Filled(store, fill(store))


def of(filled: Filled, *by: str, interval: bool = False, **more: object) -> tuple[Grouped, ...]:
    selection = Selection.of(by or "administration", **more)  # type: ignore[arg-type]
    return selected_groups(filled.store, (), selection, interval=interval)


def model(one: Known) -> str:
    return one.conditions.examinee.replace("@threads=2", "")


PLAIN: dict[str, Callable[[Known], object]] = {
    "administration": lambda one: one.administration,
    "subtest": lambda one: one.subtest,
    "item": lambda one: f"{one.subtest}/{one.item}",
    "replicate": lambda one: one.replicate,
    "seed": lambda one: one.conditions.seed,
    "session": lambda one: one.session,
    "lesion": lambda one: one.conditions.lesion,
    "option-order": lambda one: one.conditions.option_order,
}
"""Keys with plain functions of a response."""
FILTERS: dict[str, Callable[[Known], bool]] = {
    "subtest=repetition,word-comprehension": lambda one: (
        one.subtest in ("repetition", "word-comprehension")
    ),
    "subtest!=repetition": lambda one: one.subtest != "repetition",
    "seed=1,3": lambda one: one.conditions.seed in (1, 3),
    "seed<3": lambda one: one.conditions.seed < 3,
    "temperature>=0.7": lambda one: one.conditions.kind == "model",
    "temperature=1": lambda one: (
        one.conditions.decoding.temperature == 1 and one.conditions.kind == "model"
    ),
    "item-tag=passive": lambda one: "passive" in one.tags,
    "item-tag=none": lambda one: not one.tags,
    "replicate=0": lambda one: one.replicate == 0,
    "examinee=speaker": lambda one: one.conditions.kind == "speaker",
    "group=patients": lambda one: GROUPS.get(one.conditions.examinee) == "patients",
    "session>2026-01-31": lambda one: one.session > "2026-01-31",
    "lesion=none": lambda one: one.conditions.lesion is None,
    "lesion-severity<0.6": lambda one: one.conditions.lesion is not None,
    "lesion-severity=0.50": lambda one: one.conditions.lesion is not None,
    "model=L-1B": lambda one: model(one).startswith(LLAMA),
    "parameters<2K": lambda one: "parameters" in one.conditions.labels,
    "profile=small": lambda one: "profile" in one.conditions.labels,
    "model-dtype=float16": lambda one: "float16" in one.conditions.examinee,
}


def count(groups: tuple[Grouped, ...]) -> int:
    return sum(group.results.number("responses") for group in groups)


@settings(max_examples=12, deadline=None)
@given(
    by=st.lists(st.sampled_from(sorted(PLAIN)), min_size=1, max_size=3, unique=True),
    where=st.lists(st.sampled_from(sorted(FILTERS)), max_size=3, unique=True),
)
def test_groups_partition_the_responses_that_all_filters_choose(
    filled: Filled, by: list[str], where: list[str]
) -> None:
    expected = [one for one in filled.known if all(FILTERS[text](one) for text in where)]
    if not expected:
        with pytest.raises(UsageError):
            of(filled, *by, where=where)
        return
    groups = of(filled, *by, where=where)
    assert count(groups) == len(expected)
    # Whatever keeps rows of one name apart, together they have what a plain count gives.
    found: Counter[tuple[object, ...]] = Counter()
    for group in groups:
        found[tuple(one.value for one in group.group.values)] += group.results.number("responses")
    assert +found == Counter(tuple(PLAIN[key](one) for key in by) for one in expected)
    right = [share for group in groups for share in group.results.parts]
    assert sum(one.right.total or 0 for one in right) == sum(one.right is True for one in expected)


def test_burdens_of_a_part_are_those_of_its_responses(filled: Filled) -> None:
    groups = of(filled, "item", where=["subtest=connected-text", "examinee=model"])
    expected: dict[str, list[int]] = defaultdict(list)
    for one in filled.known:
        if one.present is not None and one.conditions.kind == "model":
            expected[one.item].append(len(one.present))
    for name, values in expected.items():
        own = [group for group in groups if group.group.label == name]
        burdens = [judge.burden for group in own for judge in group.results.judges]
        assert sum(burden.n_burden for burden in burdens) == len(values)
        total = sum(sum(burden.present.values()) for burden in burdens)
        assert total == sum(values)


def test_pooled_counts_are_the_sums_of_their_parts(filled: Filled) -> None:
    apart = of(filled, "battery", where="examinee=model")
    pooled = of(
        filled,
        "battery",
        where="examinee=model",
        together="temperature,option-order,lesion,protocol",
    )
    assert len(apart) == 5
    (one,) = pooled
    assert one.group.together == ("temperature", "option-order", "lesion", "protocol")
    assert one.results.number("responses") == count(apart)
    for at, subtest in enumerate(one.results.parts):
        parts = [group.results.parts[at] for group in apart]
        assert subtest.right.n == sum(part.right.n for part in parts)
        assert subtest.number("planned") == sum(part.number("planned") for part in parts)


def test_unlike_conditions_stay_apart_unless_they_are_pooled_on_purpose(filled: Filled) -> None:
    rows = of(filled, "model", where="model=gpt")
    assert sorted(row.label for row in rows) == [
        "gpt (option order shuffled)",
        "gpt (protocol enforced)",
        "gpt (temperature 1)",
        "gpt + noise:mlp@severity=0.5",
    ]
    together = of(filled, "model", where="model=gpt", together="lesion,protocol,temperature")
    assert sorted(row.label for row in together) == [
        "gpt (option order as-given)",
        "gpt (option order shuffled)",
    ]


def test_participants_are_pooled_by_the_group_of_their_record_and_models_stay_apart(
    filled: Filled,
) -> None:
    rows = of(filled, "group", together="lesion,protocol,temperature,option-order")
    found = {
        row.label: sorted({member.administration.id for member in row.group.members})
        for row in rows
    }
    assert found == {"small": [1, 2], "L-1B@dtype=float16": [3], "gpt": [4, 5, 6, 7],
                     "patients": [8, 10], "controls": [9]}  # fmt: skip
    assert [row.group.values[0].value for row in rows] == ["controls", "patients", None, None, None]


@pytest.mark.parametrize("seed", [1, 2])
def test_each_subtest_is_the_same_alone_as_in_the_whole(
    seed: int,
    location: str,  # noqa: F811
) -> None:
    """In stores with voids, undos, corrections, draws that came again, and failed ratings."""
    with Store.open(location) as store:
        made = Made(store, seed)
        for _ in range(4):
            made.administration()
        for by in ("administration", "battery"):
            whole = selected_groups(store, (), Selection.of(by), interval=False)
            expected = [one for row in whole for one in summary_json(row.results)["subtests"]]
            parts = selected_groups(store, (), Selection.of(f"{by},subtest"), interval=False)
            found = [one for row in parts for one in summary_json(row.results)["subtests"]]
            assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, expected))
            answers = [
                sum(row.results.number("responses") for row in rows) for rows in (whole, parts)
            ]
            assert answers[0] == answers[1]
        members = [member for row in whole for member in row.group.members]
        assert all(member.administration.notes == member.notes for member in members)


def test_planned_trials_are_those_of_the_part(filled: Filled) -> None:
    (row,) = of(filled, "battery", where=["model-dtype=float16", "item=rp1"])
    (subtest,) = row.results.parts
    assert (subtest.id, subtest.number("planned")) == ("repetition", 1)
    rows = of(filled, "replicate", where=["profile=small", "subtest=repetition"])
    assert [row.group.values[0].value for row in rows] == [0, 1]
    assert [row.results.parts[0].number("planned") for row in rows] == [5, 5]


def test_models_have_short_names_and_their_specs_stay_in_the_label(filled: Filled) -> None:
    rows = of(filled, "model", where="temperature=0.7", together="lesion,protocol,option-order")
    assert {row.group.label: row.label for row in rows} == {
        LLAMA: "small",
        f"{LLAMA}@dtype=float16": "L-1B@dtype=float16",
        "openai:gpt": "gpt",
    }


def test_a_model_is_found_by_the_name_that_its_row_has(filled: Filled) -> None:
    rows = of(filled, "model", together="lesion,protocol,temperature,option-order")
    for row in rows:
        if not row.group.has_model:
            continue
        (same,) = of(
            filled, "model", where=f"model={row.label}",
            together="lesion,protocol,temperature,option-order",
        )  # fmt: skip
        assert same.group.label == row.group.label
        assert same.results.number("responses") == row.results.number("responses")


def test_a_judge_and_features_can_be_chosen(filled: Filled) -> None:
    rows = of(filled, "model", judge="rules-2", features=["jargon"], where="model=gpt")
    judge = rows[0].results.judges[0]
    assert judge.features == ("jargon",)
    assert set(judge.burden.features) == set(FEATURES)
    with pytest.raises(UsageError, match="'jargonn'; did you mean 'jargon'"):
        of(filled, "model", features="jargonn")


@pytest.mark.parametrize(
    ("where", "message", "allowed"),
    [
        ("modell=x", "'modell' is not a key; did you mean 'model'", "administration, model"),
        ("seed=9", "nothing has seed '9'", "1, 2, 3"),
        ("seed>5", "nothing has seed>5", "1, 2, 3"),
        ("protocol>generate", "'protocol' has no order", "protocol=VALUE"),
        ("session<March", "'March' is not a value of 'session'", "a day as"),
        ("seed", "'seed' is not a filter", "KEY=VALUE"),
        ("item=rp99", "nothing has item 'rp99'", "/rp1"),
    ],
)
def test_a_filter_that_cannot_match_says_what_there_is(
    filled: Filled, where: str, message: str, allowed: str
) -> None:
    with pytest.raises(UsageError) as refused:
        of(filled, "model", where=where)
    assert message in refused.value.message
    assert allowed in (refused.value.allowed or "")


def test_an_unknown_key_lists_every_key_by_what_it_is_a_fact_of(filled: Filled) -> None:
    with pytest.raises(UsageError) as refused:
        of(filled, "model", where="modell=x")
    lines = (refused.value.allowed or "").splitlines()
    listed = [id_ for line in lines for id_ in line.partition(": ")[2].split(", ")]
    people = [key.id for key in keys_of_participants(current_study())]
    more = f"{len(people) - FIRST} more (tabwb speaker columns)"
    gone = dict.fromkeys(people[FIRST:], more)
    assert len(lines) > 2
    assert listed == list(dict.fromkeys(gone.get(key.id, key.id) for key in keys()))


def test_a_key_that_is_no_condition_cannot_be_pooled_on_purpose(filled: Filled) -> None:
    with pytest.raises(UsageError, match="pooled over 'seed' anyway"):
        of(filled, "model", together="seed")
    with pytest.raises(UsageError, match="both split by and pooled over"):
        of(filled, "protocol", together="protocol")


def test_the_number_of_rows_can_be_limited(filled: Filled) -> None:
    every = of(filled, "item", where="model=gpt")
    three = of(filled, "item", where="model=gpt", limit=3)
    assert [row.group.label for row in three] == [row.group.label for row in every][:3]


def test_rows_are_sorted_by_the_values_of_their_keys(filled: Filled) -> None:
    rows = of(filled, "temperature", "seed", where="examinee=model", sort="keys")
    values = [tuple(one.value for one in row.group.values) for row in rows]
    assert values == sorted(values) and values[0] < values[-1]
    lesions = of(filled, "lesion-severity", where="examinee=model", sort="keys")
    assert lesions[0].group.values[0].value == 0.5
    assert lesions[-1].group.values[0].value is None


def test_the_table_is_the_one_of_plain_python_over_an_export(
    filled: Filled, tmp_path: Path
) -> None:
    """Accuracy by model and subtest, and burden by model, from the JSONL lines alone."""
    out = tmp_path / "answers.jsonl"
    numbers = [one.administration for one in filled.known if one.conditions.kind == "model"]
    with opened_plugins() as plugins:
        export(filled.store, plugins, sorted(set(numbers)), "jsonl", out, within_study=True)
    right: dict[tuple[str, str], list[float]] = defaultdict(list)
    burdens: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    specs = {
        filled.store.administration(one.administration).uid: model(one) for one in filled.known
    }
    for line in map(json.loads, out.read_text(encoding="utf-8").splitlines()):
        spec = specs[line["administration"]]
        values = {rating["measure"]: rating["value"] for rating in line["ratings"]}
        if "exact" in values:
            right[spec, line["subtest"]].append(values["exact"])
        if FEATURES[0] in values:
            burdens[spec][line["item"]].append(sum(values[feature] for feature in FEATURES))
    rows = of(
        filled, "model", "subtest", where="examinee=model",
        together="temperature,lesion,protocol,option-order",
    )  # fmt: skip
    found = {}
    for row in rows:
        spec, subtest = (str(one.value) for one in row.group.values)
        for one in row.results.parts:
            if one.right.n:
                found[spec, subtest] = (one.right.total, one.right.n)
        for judge in row.results.judges:
            items = burdens[spec].values()
            assert judge.burden.symptom_burden.value == pytest.approx(fmean(map(fmean, items)))
            assert judge.burden.n_burden == sum(map(len, items))
    assert found == {place: (sum(values), len(values)) for place, values in right.items()}
