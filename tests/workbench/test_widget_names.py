"""A style names a widget by its class: two classes of one name would share it."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterator

from textual.widget import Widget

import tabwb.workbench


def heirs(widget: type[Widget]) -> Iterator[type[Widget]]:
    for heir in widget.__subclasses__():
        yield heir
        yield from heirs(heir)


def test_no_other_widget_has_the_name_of_a_widget_with_styles_of_its_own() -> None:
    for module in pkgutil.walk_packages(tabwb.workbench.__path__, "tabwb.workbench."):
        importlib.import_module(module.name)
    modules: dict[str, set[str]] = defaultdict(set)
    for widget in heirs(Widget):
        modules[widget.__name__].add(widget.__module__)
    styled = {
        widget.__name__
        for widget in heirs(Widget)
        if widget.__module__.startswith("tabwb.") and "DEFAULT_CSS" in vars(widget)
    }
    assert "Selection" in styled
    assert {name: modules[name] for name in styled if len(modules[name]) > 1} == {}
