"""Lesions and sweeps from Python: what the command line says and stores."""

from __future__ import annotations

import math
from pathlib import Path

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


def test_the_plan_counts_what_the_parts_have() -> None:
    parts = tabwb.lesion_parts(MODEL)
    heads = parts.where(target="attention.heads", layer=0).to_dicts()[0]
    assert (heads["unit"], heads["part"]) == ("head", "0.attention.heads")
    plan = tabwb.lesion_plan(MODEL, "attention.heads:zero@layers=0")
    assert plan["taken_units"].to_list() == plan["units"].to_list() == [heads["units"]]
    assert plan["taken_parameters"].to_list() == [heads["parameters"]]
    assert plan.notes[0].startswith("attention.heads:zero:1@layers=0 changes ")
    with pytest.raises(tabwb.UsageError, match="has no known target"):
        tabwb.lesion_plan(MODEL, "mlq:zero")


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


@pytest.mark.parametrize(
    ("grid", "words"),
    [({"format": 1}, "lesions: there are none"), ({**GRID, "lesion": []}, "unknown key")],
)
def test_a_grid_is_checked_before_the_model_is_loaded(
    battery_file: Path, tmp_path: Path, grid: dict[str, object], words: str
) -> None:
    with pytest.raises(tabwb.UsageError, match=words):
        tabwb.sweep(battery_file, MODEL, grid, store=tmp_path / "a.db")
    assert not (tmp_path / "a.db").exists()


def test_a_sweep_takes_decoding_and_a_part_of_the_battery(
    battery_file: Path, tmp_path: Path
) -> None:
    whole = tabwb.load_battery(battery_file)
    subtest = whole.subtests[0].id
    given = tabwb.sweep(
        battery_file, MODEL, GRID, store=tmp_path / "a.db", temperature=0.7, top_p=0.9,
        max_tokens=5, subtests=subtest, limit=1,
    )  # fmt: skip
    with tabwb.open(tmp_path / "a.db") as study:
        conditions = study.administration(given["administration"].to_list()[1]).record.conditions
    assert (conditions.decoding.temperature, conditions.decoding.top_p) == (0.7, 0.9)
    assert conditions.decoding.max_tokens == 5
    assert (conditions.part_subtests, conditions.part_limit) == ((subtest,), 1)


def test_a_sweep_takes_every_condition_that_the_command_takes(
    battery_file: Path, tmp_path: Path
) -> None:
    given = tabwb.sweep(
        battery_file, MODEL, GRID, store=tmp_path / "a.db", judges=(), stop=".", limit=1,
        conversation=True, item_order="shuffled", option_order="shuffled", shard="2/2",
    )  # fmt: skip
    assert given["role"].to_list() == ["lesion"]
    with tabwb.open(tmp_path / "a.db") as study:
        conditions = study.administration(given["administration"].to_list()[0]).record.conditions
    assert conditions.conversation and conditions.judges == ()
    assert conditions.decoding.stop == (".",)
    assert (conditions.item_order, conditions.option_order) == ("shuffled", "shuffled")
    with pytest.raises(tabwb.UsageError, match="'3/2' is not a share"):
        tabwb.sweep(battery_file, MODEL, GRID, store=tmp_path / "a.db", shard="3/2")


def test_a_dry_run_gives_nothing_and_makes_no_store(battery_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    table = tabwb.sweep(battery_file, MODEL, GRID, store=path, dry_run=True)
    assert table["role"].to_list() == ["intact", "lesion"] and not path.exists()
    assert table["status"].to_list() == [None, None]
    tabwb.sweep(battery_file, MODEL, GRID, store=path, shard="1/2", limit=1)
    again = tabwb.sweep(battery_file, MODEL, GRID, store=path, dry_run=True, limit=1)
    assert again["status"].to_list() == ["done", None]


def test_a_batch_of_no_conditions_is_refused(battery_file: Path, tmp_path: Path) -> None:
    with pytest.raises(tabwb.UsageError, match="lanes: 0 cannot be used"):
        tabwb.sweep(battery_file, MODEL, GRID, store=tmp_path / "a.db", lanes=0)
