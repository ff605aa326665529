"""Options of commands that choose and group results; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from tabwb.analysis.keys import Sort
from tabwb.records.errors import TabwbError
from tabwb.records.ratings import calibrated_parts

if TYPE_CHECKING:
    from tabwb.analysis.selection import Selection
    from tabwb.plugin_api.registry.plugins import Plugins

Command = TypeVar("Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option(
        "--by",
        metavar="KEY[,KEY...]",
        default="",
        help="Group by keys, such as model,temperature, and pool the responses of each group. "
        "Different conditions (protocol, decoding, option order) are never pooled. An unknown key "
        "lists all keys.",
    ),
    click.option(
        "--together",
        metavar="KEY[,KEY...]",
        default="",
        help="Pool over different conditions, such as option-order.",
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="KEY=VALUE",
        help="Only data with this value; repeatable. Also KEY=A,B, KEY!=VALUE, KEY<NUMBER, "
        "KEY>NUMBER.",
    ),
    click.option("--judge", metavar="RATER", help="Show only the burdens of this judge."),
    click.option(
        "--feature",
        multiple=True,
        metavar="ID",
        help="Show only these features in tables of features; repeatable.",
    ),
    click.option(
        "--subtest", multiple=True, metavar="ID", help="Only responses to this; repeatable."
    ),
    click.option("--item", multiple=True, metavar="ID", help="Only responses to this; repeatable."),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Number of rows or groups."),
)

where_option = click.option(
    "--where",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only administrations with this value; repeatable. Also KEY=A,B, KEY!=VALUE, KEY<NUMBER, "
    "KEY>NUMBER.",
)
"""Chooses whole administrations."""

sort_option = click.option(
    "--sort",
    type=click.Choice(get_args(Sort)),
    help="Order of groups: name and keys (the values of --by) ascending, others from high to low "
    "(by model: burden).",
)


def selection_options(command: Command) -> Command:
    """Give a command the options that choose and group results."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def requested_selection(options: Mapping[str, Any], by: str = "administration") -> Selection:
    """Return the selection that the options of a command ask for."""
    from tabwb.analysis.selection import Selection

    return Selection.of(
        options["by"] or by,
        options["where"],
        judge=options["judge"],
        features=options["feature"],
        subtests=options["subtest"],
        items=options["item"],
        limit=options["limit"],
        together=options["together"],
        sort=options.get("sort"),
    )


def resolved_selection(choice: Selection, plugins: Plugins, primary: str) -> Selection:
    """Return a selection with the judge's stored name, and the rater whose scores count."""
    judge = choice.judge
    if judge is not None:
        with suppress(TabwbError):  # not installed here: the name under which it rated
            prefix, spec = calibrated_parts(judge)
            judge = f"{prefix}{plugins.resolve('judges', spec)[1]}"
    counting = plugins.configuration.study.counting_rater(primary)
    return replace(choice, judge=judge, primary=counting)


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line that give these options again.

    >>> option_words({"by": "model", "where": ("a=1", "b=2"), "study_ids": True, "judge": None})
    ['--by', 'model', '--where', 'a=1', '--where', 'b=2', '--study-ids']
    """
    words = []
    for name, value in options.items():
        for each in value if isinstance(value, tuple) else (value,):
            if each:
                words.append(f"--{name.replace('_', '-')}")
                words += [] if each is True else [str(each)]
    return words
