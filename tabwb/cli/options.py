"""Options of commands from the declarations of conditions; imports only click and records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import click

from tabwb.cli.common import Finite
from tabwb.records import declared_conditions
from tabwb.records.conditions import Conditions, conditions_of
from tabwb.records.declared_conditions import (
    Audience,
    Components,
    Condition,
    ConditionError,
    Ids,
    OneOf,
    Option,
    Real,
    Switch,
    Texts,
    Whole,
)
from tabwb.records.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])


def condition_options(command: str, *first: str) -> Callable[[Command], Command]:
    """Return a decorator that gives a command an option for each condition that it takes."""

    def decorate(function: Command) -> Command:
        options = sorted(
            _options(command),
            key=lambda pair: first.index(pair[0].id) if pair[0].id in first else len(first),
        )
        for condition, option in reversed(options):
            function = _click_option(condition, option)(function)
        return function

    return decorate


def requested_conditions(
    command: str, examinee: str, audience: Audience, options: Mapping[str, Any]
) -> Conditions:
    """Return the conditions that the options of a command ask for, specs not yet resolved."""
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
    try:
        return conditions_of(examinee, audience, values)
    except ConditionError as error:
        raise UsageError(
            error.message, where=flags.get(error.condition.id), allowed=error.allowed
        ) from error


def _options(command: str) -> Iterator[tuple[Condition, Option]]:
    for condition in declared_conditions.CONDITIONS:
        for option in condition.options:
            if option.command == command:
                yield condition, option


def _parameter(condition: Condition, option: Option) -> str:
    return condition.id if option.value is None else f"{condition.id}_{option.value}"


def _click_option(condition: Condition, option: Option) -> Callable[[Command], Command]:
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
    return click.option(option.flag, _parameter(condition, option), **settings)
