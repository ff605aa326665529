"""The tables of responses and ratings say what the documents of administrations say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tabwb.analysis.administrations import load_administrations, load_columns
from tabwb.analysis.tables.responses import ratings_table, responses_table
from tabwb.battery.loader import load_battery
from tabwb.media.documents.document import administration_document
from tabwb.records.conditions import Conditions
from tabwb.records.trials import AttemptEntry, PlannedTrial
from tabwb.store.store import Store
from tests.analysis.test_frame import SEEDS, Made
from tests.cli.conftest import TAB
from tests.store.conftest import location  # noqa: F401 - a fixture
from tests.store.parts import attempt

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
