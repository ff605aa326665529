from __future__ import annotations

import ast
import inspect
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from tabwb import plugin_api
from tabwb.plugin_api import hookspecs
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.registry.extensions import EXTENSIONS
from tabwb.plugin_api.registry.index import KINDS
from tabwb.plugin_api.registry.observers import OBSERVERS

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
HOOKS = [name for name in dir(hookspecs) if name.startswith("tabwb_")]


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented_with_its_time(hook: str) -> None:
    """The table of docs/plugins.md has a row: the hook, when it is called, what it does."""
    lines = PAGE.read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith(f"| `{hook}(")]
    assert len(rows) == 1
    assert all(cell.strip() for cell in rows[0].strip("|").split("|"))
    assert "Called" in (inspect.getdoc(getattr(hookspecs, hook)) or "")


@pytest.mark.parametrize("field", [field.name for field in fields(Descriptor)])
def test_every_field_of_a_descriptor_is_documented(field: str) -> None:
    assert f"| `{field}`" in PAGE.read_text("utf-8")


def test_every_hook_has_a_caller() -> None:
    kinds = (*KINDS, *EXTENSIONS, "batteries")
    called = {f"tabwb_register_{kind}" for kind in kinds}
    assert called | set(OBSERVERS.values()) == set(HOOKS)


def test_every_name_for_authors_is_found_under_its_own_name() -> None:
    """Type checkers read the imports, the program the table: both say the same."""
    tree = ast.parse(inspect.getsource(plugin_api))
    imported = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for name in ("import_module", "TYPE_CHECKING", "Any"):
        del imported[name]
    assert imported == plugin_api._MODULE_OF
    assert imported.keys() <= set(dir(plugin_api))
    for name, module in imported.items():
        assert getattr(plugin_api, name) is getattr(import_module(str(module)), name)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = plugin_api.no_such_name
