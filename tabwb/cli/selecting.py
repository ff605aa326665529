"""Options of commands that choose and group results; imports only click."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tabwb.records.errors import TabwbError

if TYPE_CHECKING:
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.report.selection import Selection

Command = TypeVar("Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option(
        "--by",
        metavar="KEY[,KEY...]",
        default="",
        help="Group by keys, such as model,temperature, and pool the responses of each group. "
        "Unlike conditions (protocol, decoding, option order) are never pooled. A wrong key lists "
        "all keys.",
    ),
    click.option(
        "--together",
        metavar="KEY[,KEY...]",
        default="",
        help="Pool over unlike conditions on purpose, such as option-order.",
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="KEY=VALUE",
        help="Only what has this value; repeatable. Also KEY=A,B, KEY!=VALUE, KEY<NUMBER, "
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
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Number of rows shown."),
)


def selection_options(command: Command) -> Command:
    """Give a command the options that choose and group results."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def rater_named(plugins: Plugins, judge: str) -> str:
    """Return a rater's stored name: of an alias the id, of a judge not installed its own name.

    Args:
        plugins: with the judges.
        judge: as a person named it.
    """
    try:
        return str(plugins.resolve("judges", judge)[1])
    except TabwbError:
        return judge


def requested_selection(options: Mapping[str, Any]) -> Selection:
    """Return the selection that the options of a command ask for.

    Raises:
        UsageError: a key or a filter cannot be read.
    """
    from tabwb.report.selection import Selection

    return Selection.of(
        options["by"] or "administration",
        options["where"],
        judge=options["judge"],
        features=options["feature"],
        subtests=options["subtest"],
        items=options["item"],
        limit=options["limit"],
        together=options["together"],
        sort=options.get("sort"),
    )
