"""The tables of responses and ratings say what the documents of administrations say."""

from __future__ import annotations

import pytest

from tabwb.report.documents.document import administration_document
from tabwb.report.summaries.load import load_administrations, load_columns
from tabwb.report.tables.responses import ratings_table, responses_table
from tabwb.store.store import Store
from tests.report.test_columns import SEEDS, Made
from tests.store.conftest import location  # noqa: F401 - a fixture

SAME = {
    "trial_number": "number", "subtest": "subtest", "item": "item", "replicate": "replicate",
    "prompt": "prompt", "response": "response", "trial_status": "status",
    "effective_status": "effective_status", "stop_reason": "stop_reason",
    "latency_s": "latency_s", "expected": "expected",
}  # fmt: skip


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
