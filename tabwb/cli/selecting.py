"""Options of commands that choose and group results; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tabwb.cli.command import parameter
from tabwb.operations.files import SELECTING, DrawFigure, ExportResults
from tabwb.operations.operation import Operation, values_of

if TYPE_CHECKING:
    from tabwb.analysis.selection import Selection

Command = TypeVar("Command", bound=Callable[..., Any])


def options_of(kind: type[Operation], *names: str) -> Callable[[Command], Command]:
    """Return what gives a command the options of some values of an operation."""
    values = {value.name: value for value in values_of(kind)}

    def add(function: Command) -> Command:
        for name in reversed(names):
            made = parameter(values[name])
            function = click.option(cls=lambda *_, made=made, **__: made)(function)  # type: ignore[arg-type]
        return function

    return add


selection_options = options_of(DrawFigure, *SELECTING)
"""Give a command the options that choose and group results."""
where_option = options_of(ExportResults, "where")
"""Chooses whole administrations."""
sort_option = options_of(DrawFigure, "sort")


def requested_selection(options: Mapping[str, Any], by: str = "administration") -> Selection:
    """Return the selection that the options of a command ask for."""
    from tabwb.analysis.selection import Selection

    given = {name: options[name] for name in SELECTING}
    given |= {"by": given["by"] or by, "together": given["together"] or ()}
    return Selection.of(**given, sort=options.get("sort"))
