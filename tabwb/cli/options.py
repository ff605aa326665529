"""Options of commands from the declarations of conditions; imports only click and records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from tabwb.cli.common import Finite
from tabwb.records import declared_conditions
from tabwb.records.declared_conditions import (
    Components,
    Condition,
    Ids,
    OneOf,
    Option,
    Real,
    Switch,
    Texts,
    Whole,
)
from tabwb.records.errors import UsageError


def condition_options(command: str, *first: str) -> list[click.Option]:
    """Return an option for each condition that a command takes."""
    options = sorted(
        _options(command),
        key=lambda pair: first.index(pair[0].id) if pair[0].id in first else len(first),
    )
    return [_click_option(condition, option) for condition, option in options]


def asked_of(command: str, options: Mapping[str, Any]) -> dict[str, object]:
    """Return the conditions that the options of a command ask for, by id."""
    values: dict[str, object] = {}
    flags: dict[str, str] = {}
    for condition, option in _options(command):
        value = options.get(_parameter(condition, option))
        if value is None or value is False or value == ():
            continue
        if condition.id in values:
            raise UsageError(f"{flags[condition.id]} and {option.flag} exclude each other")
        values[condition.id] = value if option.value is None else option.value
        flags[condition.id] = option.flag
    return values


def flag_of(command: str, where: str | None) -> str | None:
    """Return the option of a condition, where an error is at one."""
    flags = {condition.id: option.flag for condition, option in _options(command)}
    return flags.get(where or "", where)


def _options(command: str) -> Iterator[tuple[Condition, Option]]:
    for condition in declared_conditions.CONDITIONS:
        for option in condition.options:
            if option.command == command:
                yield condition, option


def _parameter(condition: Condition, option: Option) -> str:
    return condition.id if option.value is None else f"{condition.id}_{option.value}"


def _click_option(condition: Condition, option: Option) -> click.Option:
    settings: dict[str, Any] = {"help": option.help, "metavar": option.metavar}
    if option.default is not None:
        settings |= {"default": option.default, "show_default": True}
    match condition.kind:
        case _ if option.value is not None:
            settings["is_flag"] = True
        case Switch():
            settings["is_flag"] = True
        case Whole(low, high):
            settings["type"] = click.IntRange(low, high)
        case Real(low, high, above):
            settings["type"] = Finite(low, high, min_open=above)
        case OneOf(values):
            settings["type"] = click.Choice(list(values))
        case Texts() | Ids() | Components():
            settings["multiple"] = True
    return click.Option([option.flag, _parameter(condition, option)], **settings)
