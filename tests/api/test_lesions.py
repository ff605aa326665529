"""Lesions and sweeps from Python: what the command line says and stores."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.records.events import Finished
from tabwb.store.store import Store

pytestmark = pytest.mark.usefixtures("lesionable")

MODEL = "lesionable"
GRID = {
    "format": 1,
    "name": "two",
    "lesions": [{"targets": ["attention.heads"], "amounts": [1.0], "layers": ["0"]}],
}


def test_a_sweep_stores_what_run_stores_and_is_not_given_again(
    battery_file: Path, tmp_path: Path
) -> None:
    ended: list[object] = []
    given = tabwb.sweep(
        battery_file, MODEL, GRID, store=tmp_path / "a.db", progress=ended.append
    )  # fmt: skip
    assert sum(isinstance(event, Finished) for event in ended) == 2
    assert given["role"].to_list() == ["intact", "lesion"]
    assert given["lesion"].to_list() == [None, "attention.heads:zero:1@layers=0"]
    assert given["status"].to_list() == ["done", "done"]
    ended.clear()
    again = tabwb.sweep(battery_file, MODEL, GRID, store=tmp_path / "a.db", progress=ended.append)
    assert list(again.rows()) == list(given.rows()) and not ended

    lesion = given["lesion"].to_list()[1]
    one = tabwb.run(battery_file, MODEL, lesion=lesion, store=tmp_path / "b.db")
    assert one.record.conditions.lesion == lesion
    with tabwb.open(tmp_path / "a.db") as study:
        swept = study.administration(given["administration"].to_list()[1])
        assert swept.record.tags == ("two",)
        assert swept.responses()["response"].to_list() == one.responses()["response"].to_list()
    intact = tabwb.run(battery_file, MODEL, store=tmp_path / "b.db")
    quick = tabwb.run(battery_file, MODEL, lesion=lesion, perplexity=False, store=tmp_path / "b.db")
    with Store.open(tmp_path / "a.db") as a, Store.open(tmp_path / "b.db") as b:
        facts = dict(b.history(one.record.id).model_facts)
        assert facts == a.history(swept.record.id).model_facts
        assert float(facts["lesion_perplexity"]) > math.e  # that of the intact model
        assert facts["lesion_check_text"] == "plain-1"
        for without in (intact, quick):
            assert "lesion_perplexity" not in b.history(without.record.id).model_facts


def test_what_cannot_be_swept_is_refused_before_the_model_is_loaded(
    battery_file: Path, tmp_path: Path
) -> None:
    refused: tuple[tuple[dict[str, object], dict[str, Any], str], ...] = (
        ({"format": 1}, {}, "lesions: there are none"),
        ({**GRID, "lesion": []}, {}, "unknown key"),
        (GRID, {"shard": "3/2"}, "'3/2' is not a share"),
        (GRID, {"lanes": 0}, "lanes: 0 cannot be used"),
    )
    for grid, options, words in refused:
        with pytest.raises(tabwb.UsageError, match=words):
            tabwb.sweep(battery_file, MODEL, grid, store=tmp_path / "a.db", **options)
    assert not (tmp_path / "a.db").exists()


def test_a_sweep_takes_every_condition_that_the_command_takes(
    battery_file: Path, tmp_path: Path
) -> None:
    subtest = tabwb.load_battery(battery_file).subtests[0].id
    given = tabwb.sweep(
        battery_file, MODEL, GRID, store=tmp_path / "a.db", judges=(), stop=".", limit=1,
        conversation=True, item_order="shuffled", option_order="shuffled", shard="2/2",
        temperature=0.7, top_p=0.9, max_tokens=5, subtests=subtest,
    )  # fmt: skip
    assert given["role"].to_list() == ["lesion"]
    with tabwb.open(tmp_path / "a.db") as study:
        conditions = study.administration(given["administration"].to_list()[0]).record.conditions
    assert conditions.conversation and conditions.judges == ()
    decoding = conditions.decoding
    assert (decoding.temperature, decoding.top_p, decoding.max_tokens) == (0.7, 0.9, 5)
    assert decoding.stop == (".",)
    assert (conditions.item_order, conditions.option_order) == ("shuffled", "shuffled")
    assert (conditions.part_subtests, conditions.part_limit) == ((subtest,), 1)


def test_a_dry_run_gives_nothing_and_makes_no_store(battery_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    table = tabwb.sweep(battery_file, MODEL, GRID, store=path, dry_run=True)
    assert table["role"].to_list() == ["intact", "lesion"] and not path.exists()
    assert table["status"].to_list() == [None, None]
    tabwb.sweep(battery_file, MODEL, GRID, store=path, shard="1/2", limit=1)
    again = tabwb.sweep(battery_file, MODEL, GRID, store=path, dry_run=True, limit=1)
    assert again["status"].to_list() == ["done", None]
