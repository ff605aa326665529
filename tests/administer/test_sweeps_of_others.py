"""A sweep of lesions, temperatures, prompt noise and checkpoints: each given once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.records.errors import UsageError
from tabwb.store.store import Store

GRID: dict[str, Any] = {
    "format": 1,
    "name": "many",
    "lesions": [{"targets": ["mlp"], "operation": "quantise", "bits": [8, 4]}],
    "temperatures": [{"values": [0, 0.7], "seeds": [1, 2]}],
    "prompts": [{"operations": ["words:drop"], "amounts": [0.5], "seeds": [1, 2]}],
    "checkpoints": [
        {"model": "lesionable-child", "dose": 100, "dose_name": "steps", "lesions": True}
    ],
}

POINTS = 1 + 2 + 2 + 2 + 1 + 2


@pytest.mark.usefixtures("lesionable")
def test_all_are_given_once_and_a_model_is_loaded_once(
    battery_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tabwb.administer.sweep.sweep import Model

    loads: list[str] = []
    loaded = Model.loaded.__func__  # type: ignore[attr-defined]

    def counted(cls: type[Model], plugins: Any, spec: str) -> Model:
        loads.append(spec)
        return loaded(cls, plugins, spec)  # type: ignore[no-any-return]

    monkeypatch.setattr(Model, "loaded", classmethod(counted))
    store = tmp_path / "store.db"
    for expected in (["lesionable", "lesionable-child"], ["lesionable"]):
        loads.clear()
        table = tabwb.sweep(battery_file, "lesionable", GRID, store=store)
        assert loads == expected  # the second time nothing is left
    rows = table.to_dicts()
    assert len(rows) == POINTS and {row["status"] for row in rows} == {"done"}
    with Store.open(str(store), create=False) as opened:
        given = {one.id: one for one in opened.administrations()}
        assert len(given) == POINTS
        for row in rows:
            one = given[row["administration"]]
            facts = opened.history(one.id).model_facts
            assert (one.conditions.lesion or None) == row["lesion"]
            assert "many" in one.tags
            child = one.conditions.examinee == "lesionable-child"
            assert facts.get("parent_parts") == ("the same" if child else None)
            assert one.conditions.labels.get("parent") == ("lesionable" if child else None)
        noisy = [one for one in given.values() if one.conditions.prompt_noise]
        prompts = {one.id: [trial.plan.prompt for trial in opened.trials(one.id)] for one in noisy}
        assert len(prompts) == 2 and len(set(map(str, prompts.values()))) == 2


def test_a_model_that_cannot_be_lesioned_has_temperatures_and_prompt_noise(
    battery_file: Path, tmp_path: Path
) -> None:
    grid = {name: GRID[name] for name in ("format", "name", "temperatures", "prompts")}
    table = tabwb.sweep(battery_file, "echo", grid, store=tmp_path / "store.db")
    assert [row["role"] for row in table.to_dicts()] == ["intact", *["perturbation"] * 4]
    with pytest.raises(UsageError, match="'echo' cannot be lesioned"):
        tabwb.sweep(battery_file, "echo", GRID, store=tmp_path / "store.db")


def test_what_another_sweep_gave_gets_the_tag_of_this_one_too(
    battery_file: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    grid = {"format": 1, "temperatures": [{"values": [0.5]}]}
    for name in ("first", "second"):
        tabwb.sweep(battery_file, "echo", {**grid, "name": name}, store=store)
    with Store.open(str(store), create=False) as opened:
        assert [one.tags for one in opened.administrations()] == [("first", "second")] * 2


def test_noise_that_changes_nothing_is_refused_before_anything_is_given(
    battery_file: Path, tmp_path: Path
) -> None:
    grid = {"format": 1, "prompts": [{"operations": ["words:drop"], "amounts": [1e-9]}]}
    with pytest.raises(UsageError, match="changes none of the 3 prompts"):
        tabwb.sweep(battery_file, "echo", grid, store=tmp_path / "store.db")
