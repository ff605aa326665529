"""Documents that are read while they are written hold what whole documents hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabwb.analysis.administrations import load_administrations
from tabwb.analysis.selection import Selection
from tabwb.analysis.statistics.summary import pool
from tabwb.host.plugins import Plugins
from tabwb.media.documents import streamed
from tabwb.media.documents.document import administration_document, export_document
from tabwb.media.documents.streamed import Indented, document_of, names_in, streamed_documents
from tabwb.records.conditions import Conditions
from tabwb.records.ratings import valued
from tabwb.records.trials import AttemptEntry, PlannedTrial, RatingsEntry
from tabwb.store.store import Store
from tests.analysis.test_frame import Made
from tests.store.conftest import location  # noqa: F401 - a fixture
from tests.store.parts import attempt, begin


def whole(store: Store) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = export_document(load_administrations(store))["documents"]
    return documents


def in_parts(store: Store) -> Iterator[dict[str, Any]]:
    chosen = store.administrations()
    with store.unchanged():
        documents = partial(streamed_documents, store, chosen)
        for document in documents(names=names_in(store, chosen, documents)):
            yield {**document, "trials": list(document["trials"])}


@pytest.mark.parametrize(("seed", "small"), [*((seed, 0) for seed in range(5)), (5, 30)])
def test_they_equal_whole_documents(
    seed: int,
    small: int,
    location: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabwb.store.read.PART", 7)
    monkeypatch.setattr(streamed, "AT_ONCE", 40)
    monkeypatch.setattr(streamed, "SMALL", small)
    with Store.open(location) as store:
        made = Made(store, seed)
        for _ in range(3):
            made.administration()
        read = [json.dumps(document) for document in in_parts(store)]
        assert read == [json.dumps(document) for document in whole(store)]


@pytest.mark.parametrize("seed", range(3))
def test_one_printed_while_it_is_read_is_the_indented_document(seed: int, tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        made = Made(store, seed)
        made.administration()
        (data,) = load_administrations(store)
        expected = administration_document(data, pool([data], interval=True))
        with store.unchanged():
            pieces = list(Indented().document(document_of(store, 1, Selection())))
    assert "".join(pieces) == json.dumps(expected, ensure_ascii=False, indent=2)
    assert len(pieces) > 20


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=12,
)  # fmt: skip


@given(VALUES, st.booleans())
@settings(max_examples=60)
def test_indented_json_is_that_of_the_standard_library(value: Any, ascii_only: bool) -> None:
    written = Indented(ascii_only=ascii_only).text(value)
    assert written == json.dumps(value, ensure_ascii=ascii_only, indent=2)


@pytest.mark.parametrize("format_id", ["jsonl", "csv", "parquet"])
def test_exporters_write_the_same_bytes_of_both(
    format_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed, "SMALL", 0)
    plugins = Plugins.load()
    exporter: Any = plugins.exporter(format_id)
    with Store.open(tmp_path / "s.db") as store:
        made = Made(store, 11)
        for _ in range(3):
            made.administration()
        exporter.export({"format": 1, "documents": whole(store)}, tmp_path / "whole")
        exporter.export_stream(in_parts(store), tmp_path / "parts")
    plugins.close()
    for tail in ("", ".README.txt"):
        written = (tmp_path / f"whole{tail}").read_bytes()
        assert (tmp_path / f"parts{tail}").read_bytes() == written
        assert len(written) > 1_500


def test_trials_are_those_of_the_history_without_messages(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        made = Made(store, 3)
        made.administration()
        trials = [trial for part in store.trial_parts(1) for trial in part]
        bare = [
            replace(trial, attempts=tuple(replace(one, messages=()) for one in trial.attempts))
            for trial in store.trials(1)
        ]
        assert trials == bare


def test_what_is_recorded_meanwhile_is_not_read(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store, Store.open(tmp_path / "s.db") as other:
        begin(store, 3)
        with store.unchanged():
            before = store.administration(1).answered
            other.append(1, [AttemptEntry(1, attempt())])
            read = [trial for part in store.trial_parts(1) for trial in part]
        assert before == 0
        assert not any(trial.attempts for trial in read)
        assert store.administration(1).answered == 1


@pytest.mark.parametrize("rater", ["judge:x", "manual:/c/answers.jsonl", "replay:/c/answers.jsonl"])
def test_specs_of_one_name_are_told_apart_as_in_whole_documents(rater: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        made = Made(store, 5)
        (subtest, *_) = made.battery.subtests
        for folder in ("b", "a"):
            plan = [PlannedTrial(1, subtest.id, subtest.items[0].id, 0, (), "Say it.")]
            conditions = Conditions(f"replay:/{folder}/answers.jsonl", "model", origin="model")
            store.create_administration(made.battery, conditions, plan, {})
        store.append(1, [AttemptEntry(1, attempt(response="/b/answers.jsonl"))])
        store.append(1, [RatingsEntry(1, 1, (valued(rater, "anomia", 1.0),))])
        read = list(in_parts(store))
        assert read == whole(store)
    names = [document["administration"]["examinee"] for document in read]
    taken = rater == "replay:/c/answers.jsonl"
    assert names == ["replay:answers.jsonl", f"replay:answers.jsonl ({3 if taken else 2})"]
