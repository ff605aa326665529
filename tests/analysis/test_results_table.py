"""The tables of results, responses and ratings against summaries, documents and declarations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import beta

from tabwb.analysis.administrations import load_administrations, load_columns
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.measures import MEASURES, SUBTEST_MEASURES, measure_of
from tabwb.analysis.tables.responses import ratings_table, responses_table
from tabwb.analysis.tables.results import results_table
from tabwb.battery.loader import load_battery
from tabwb.media.documents.document import administration_document, summary_json
from tabwb.media.wide import wide_table
from tabwb.records.conditions import Conditions
from tabwb.records.trials import AttemptEntry, PlannedTrial
from tabwb.scoring.choice import POLICIES
from tabwb.store.store import Store
from tabwb.tables.table import Table
from tests.analysis.given import ANSWERS, BATTERY, CONDITIONS, SAMPLED, summarise, trials
from tests.analysis.test_frame import SEEDS, Made
from tests.analysis.test_grouping import given
from tests.cli.conftest import TAB
from tests.store.conftest import location  # noqa: F401 - a fixture
from tests.store.parts import attempt


def table_of_groups() -> tuple[tuple[Grouped, ...], Table]:
    rows = summarised(grouped([given(1, CONDITIONS)], "model"))
    return rows, results_table(rows)


def test_a_row_is_one_value_of_one_group() -> None:
    _, table = table_of_groups()
    keys = ("group", "part", "rater", "measure", "feature", "policy")
    named = list(table.select(keys).rows())
    assert len(named) == len(set(named))


def test_accuracies_are_those_of_the_answers() -> None:
    _, table = table_of_groups()
    words = table.where(part="words", measure="accuracy", policy="exact", feature=None)
    ((value, low, high, n, items),) = words.select(("value", "low", "high", "n", "n_items")).rows()
    # One of three, with the exact interval of Clopper and Pearson.
    assert (value, n, items) == (pytest.approx(1 / 3), 3, 3)
    assert (low, high) == pytest.approx((beta.ppf(0.025, 1, 3), beta.ppf(0.975, 2, 2)))


def test_the_rates_of_the_features_add_up_to_the_burden() -> None:
    rows, table = table_of_groups()
    (judge,) = rows[0].results.judges
    own = table.where(rater=judge.terms.rater)
    ((burden,),) = own.where(measure="burden").select(("value",)).rows()
    rates = own.where(measure="rate")["value"].to_list()
    assert burden == pytest.approx(sum(rates))
    assert len(rates) == len(judge.terms.features)
    counts = own.where(measure="category_count")["value"].to_list()
    assert sum(count or 0 for count in counts) == pytest.approx(burden)


def test_an_undefined_value_has_a_reason_and_no_number() -> None:
    _, table = table_of_groups()
    undefined = table.where(status="undefined")
    assert len(undefined)
    assert all(value is None for value in undefined["value"].to_list())
    assert all(undefined["reason"].to_list())
    assert not any(table.where(status="value")["reason"].to_list())


SAME = {
    "trial_number": "number", "subtest": "subtest", "item": "item", "replicate": "replicate",
    "prompt": "prompt", "response": "response", "reasoning": "reasoning", "trial_status": "status",
    "effective_status": "effective_status", "stop_reason": "stop_reason",
    "latency_s": "latency_s", "expected": "expected",
}  # fmt: skip


def test_the_table_has_the_reasoning_where_there_is_some(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        battery = load_battery(TAB)
        store.keep_battery(battery, {})
        item = battery.subtest("repetition").items[0]
        plan = [PlannedTrial(n, "repetition", item.id, 0, (), item.prompt) for n in (1, 2)]
        conditions = Conditions("replay:a.jsonl", "model")
        number = store.create_administration(battery, conditions, plan, versions={}).id
        thinking = {**attempt().metadata, "reasoning": "One house."}
        for trial, noted in ((1, thinking), (2, attempt().metadata)):
            store.append(number, [AttemptEntry(trial, replace(attempt(), metadata=noted))])
        found = responses_table(store, load_columns(store))
    assert found["reasoning"].to_list() == ["One house.", None]


@pytest.mark.parametrize("seed", SEEDS)
def test_tables_agree_with_documents(seed: int, location: str) -> None:  # noqa: F811
    with Store.open(location) as store:
        made = Made(store, seed)
        for _ in range(3):
            made.administration()
        chosen = load_columns(store)
        responses, ratings = responses_table(store, chosen), ratings_table(store, chosen)
        one = ratings_table(store, chosen, "rules-2") if "rules-2" in _raters(ratings) else None
        rows = iter(responses.to_dicts())
        given: list[tuple[object, ...]] = []
        for data in load_administrations(store):
            document = administration_document(data)
            for trial in document["trials"]:
                if trial["state"] != "answered" or trial["practice"]:
                    continue
                row = next(rows)
                assert row["id"] == document["administration"]["id"]
                for column, key in SAME.items():
                    assert row[column] == trial[key], column
                # As in summaries: a reply that was cut while the model reasoned has no text.
                silent = trial["effective_status"] == "truncated" and not trial["response"].strip()
                assert row["usable"] == (trial["usable"] and not silent)
                assert list(row["options"] or ()) == trial["options"]
                assert row["response_attempt"] == trial["reply"]["attempt"]
                assert row["response_recorded_at"] == trial["reply"]["recorded_at"]
                given += [
                    (row["id"], row["trial_number"], rating["rater"], rating["measure"],
                     rating["value"], rating["status"], rating["reason"] or None)
                    for rating in trial["ratings"]
                ]  # fmt: skip
        assert next(rows, None) is None
        columns = ("id", "trial_number", "rater", "measure", "value", "rating_status",
                   "rating_reason")  # fmt: skip
        read = list(ratings.select(columns).rows())
        assert sorted(read, key=repr) == sorted(given, key=repr)
        if one is not None:
            assert list(one.rows()) == list(ratings.where(rater="rules-2").rows())


def _raters(ratings: object) -> set[str]:
    return set(ratings["rater"].to_list())  # type: ignore[index]


def test_values_and_counts_are_found_by_what_was_measured() -> None:
    (row,) = summarised(grouped([given(1, CONDITIONS)], "model"))
    results = row.results
    (judge,) = results.judges
    right = results.find("accuracy", "words")
    assert right is not None and (right.total, right.n) == (1, 3)
    assert right.interval == results.interval("accuracy", "words") == right.intervals[0].interval
    assert results.value("burden", rater=judge.terms) == results.value("burden", rater=judge.rater)
    present = [one.total for one in results.of("rate", rater=judge.rater).values()]
    found = results.find("burden", rater=judge.rater)
    assert found is not None and sum(filter(None, present)) == found.total
    statuses = results.of("status").values()
    assert sum(one.value.value or 0 for one in statuses) == results.value("responses")
    assert results.find("accuracy", "nowhere") is None and results.n("accuracy", "nowhere") == 0


def test_no_two_measures_have_one_id() -> None:
    ids = [measure.id for measure in MEASURES]
    assert len(ids) == len(set(ids))
    assert all(measure_of(name).column.title for name in (*ids, "insertion"))


def test_the_measures_of_a_subtest_are_in_json() -> None:
    subtests = summary_json(summarise(BATTERY, trials(ANSWERS), SAMPLED))["subtests"]
    (json,) = (found for found in subtests if found["id"] == "sentences")
    corrected, *by_policy = (measure.id for measure in SUBTEST_MEASURES)
    assert corrected in json
    for measure in by_policy:
        for policy in POLICIES:
            assert (measure if policy == "exact" else f"{measure}_{policy}") in json


def test_a_group_as_one_row_has_every_value_of_the_table_of_results() -> None:
    groups, results = table_of_groups()
    (wide, *_) = wide_table(groups[:1]).to_dicts()
    values = [row for row in results.to_dicts() if row["group"] == groups[0].label]
    assert {row["policy"] for row in values if row["feature"]} >= set(POLICIES)
    for row in values:
        policy = "" if row["policy"] in ("", "exact") else row["policy"]
        names = (row["rater"], row["part"], row["measure"], row["feature"], policy)
        name = " ".join(filter(None, names))
        assert wide[name] == row["value"], name
        if not row["feature"] and not policy:
            assert wide[f"{name} n"] == row["n"], name
