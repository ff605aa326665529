"""Each kind of response is declared once, in its own folder."""

from __future__ import annotations

from pathlib import Path

import pytest

import tabwb.tasks
from tabwb.battery.toml_schema import ItemTable, SubtestTable
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.states import ResponseKind
from tabwb.tasks.task_type import task_type

FOLDER = Path(tabwb.tasks.__file__).parent


def test_every_folder_is_a_kind_and_every_kind_a_folder() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/task.py")}
    assert folders == {kind.name.lower() for kind in ResponseKind}


@pytest.mark.parametrize("kind", ResponseKind)
def test_a_declaration_is_of_its_kind_and_names_what_exists(kind: ResponseKind) -> None:
    task = task_type(kind)
    assert task.kind is kind
    assert set(task.needs) | set(task.takes) <= set(ItemTable.model_fields)
    assert set(task.rules) <= set(SubtestTable.model_fields)
    assert task.typed or task.spoken
    plugins = Plugins.load()
    try:
        for scorer in task.scorers:
            plugins.resolve("scorers", scorer)
    finally:
        plugins.close()


def test_what_is_rated_as_another_kind_is_rated_as_one_with_rules_of_its_own() -> None:
    kinds = {task_type(kind).text_kind for kind in ResponseKind}
    assert all(task_type(kind).rated_as is None for kind in kinds)
