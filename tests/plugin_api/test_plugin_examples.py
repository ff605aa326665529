"""The examples of docs/plugins.md are plugins that conform."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tabwb.plugin_api import Plugins
from tabwb.testing import check_exporter, check_judge, check_model

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"


@pytest.fixture(scope="module")
def plugins() -> Iterator[Plugins]:
    section = PAGE.read_text("utf-8").partition("## Examples\n")[2].partition("\n## ")[0]
    modules: dict[str, ModuleType] = {}
    for source in re.findall(r"^```python\n(.*?)^```", section, re.M | re.S):
        module = modules[f"example-{len(modules)}"] = ModuleType(f"example_{len(modules)}")
        exec(source, vars(module))
    assert len(modules) == 3
    loaded = Plugins.load(modules=modules)
    assert loaded.problems == ()
    yield loaded
    loaded.close()


def test_the_judge_conforms(plugins: Plugins) -> None:
    check_judge("my-judge", plugins=plugins)


def test_the_model_conforms_and_takes_its_option(plugins: Plugins) -> None:
    check_model("my-model@text=yes", plugins=plugins)


def test_the_exporter_conforms(plugins: Plugins) -> None:
    check_exporter("my-format", plugins=plugins)
