"""The command of an operation."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

import click

from tabwb.administer.limits import NO_LIMITS, Limits
from tabwb.cli.common import (
    Finite,
    inform,
    json_option,
    note,
    offline_option,
    open_store,
    opened_plugins,
    print_json,
    store_option,
    verbosity_options,
)
from tabwb.operations.operation import Operation, Tools, Value, made, values_of
from tabwb.records.errors import TabwbError, UsageError

if TYPE_CHECKING:
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.store.store import Store

FEW = 3
"""Steps after which the time that is left can be told."""


def command(kind: type[Operation], name: str = "") -> click.Command:
    """Return the command of an operation."""

    def run(
        store_location: str | None, as_json: bool, offline: bool | None, dry_run: bool = False,
        yes: bool = False, **given: Any,
    ) -> None:  # fmt: skip
        _check_chosen(given)
        operation = made(kind, given)
        with opened_plugins(offline, dry=dry_run) as plugins:
            operation.check(plugins)
            create = operation.creates and not dry_run
            with (
                open_store(store_location, plugins, create=create) as store,
                _printed(operation, tools_of(plugins, store), as_json=as_json) as tools,
            ):
                if dry_run or kind.CONFIRMS:
                    tools.detail = True
                    operation.estimate(tools)
                if kind.CONFIRMS and not yes:
                    _confirm(getattr(operation, kind.CONFIRMS))
                if not dry_run:
                    driven(operation, tools, quiet=as_json)

    made_of = click.Command(
        name or kind.NAME.rpartition(" ")[2],
        callback=run,
        help=inspect.getdoc(kind),
        epilog=kind.EPILOG or None,
    )
    made_of.params += [_parameter(value) for value in values_of(kind)]
    if kind.ESTIMATE:
        made_of.params.append(click.Option(["--dry-run"], is_flag=True, help=kind.ESTIMATE))
    if kind.CONFIRMS:
        made_of.params.append(click.Option(["--yes"], is_flag=True, help="Do not ask again."))
    own = len(made_of.params)
    for option in (offline_option, json_option, store_option, verbosity_options):
        option(made_of)
    made_of.params[own:] = reversed(made_of.params[own:])
    return made_of


def tools_of(plugins: Plugins, store: Store) -> Tools:
    """Return what an operation of the command line works with."""
    return Tools(
        plugins, store, say=inform, warn=lambda words: note(f"warning: {words}"), locked=store.lock
    )


def driven(operation: Operation, tools: Tools, *, quiet: bool) -> None:
    """Do an operation and show how far it is; ctrl+c stops it."""
    from tabwb.cli.progress import Countdown
    from tabwb.cli.signals import stopping

    countdown = Countdown(operation.TOLD, quiet=quiet)
    try:
        with stopping(tools.cancel):
            for told in operation.run(tools):
                countdown.planned = told.planned
                if told.begins:
                    inform(told.words)
                    countdown.begin()
                elif told.waits:
                    if not quiet or getattr(told.event, "voids", False):
                        countdown.wait(told.words)
                elif told.words:
                    timed = told.timed if told.timed >= FEW else 0
                    countdown.show(told.done, f"  {told.words}", timed=timed)
    finally:
        countdown.status.close()


def judged(
    plugins: Plugins,
    store: Store,
    numbers: Sequence[int],
    judges: Sequence[str],
    limits: Limits = NO_LIMITS,
    *,
    quiet: bool,
    held: bool = False,
) -> TabwbError | None:
    """Let judges rate what was just stored; return why one could not, to be raised at the end."""
    from tabwb.operations.judge import JudgeRun

    if not judges:
        return None
    tools = tools_of(plugins, store)
    tools.warn = lambda words: None  # said before the administration began
    if held:
        tools.locked = nullcontext
    operation = JudgeRun(
        ids=tuple(numbers), judge=tuple(judges),
        max_requests=limits.requests, max_cost=limits.cost,
    )  # fmt: skip
    try:
        driven(operation, tools, quiet=quiet)
    except TabwbError as error:
        words = " ".join(map(str, numbers))
        options = " ".join(f"--judge {judge}" for judge in judges)
        error.hint = f"continue with: tabwb judge run {words} {options}"
        return error
    return None


@contextmanager
def _printed(operation: Operation, tools: Tools, *, as_json: bool) -> Iterator[Tools]:
    """Print the document, also that of work that stops early."""
    try:
        yield tools
    finally:
        if tools.document and as_json:
            print_json({"format": 1, **tools.document})
        elif tools.document:
            for line in operation.lines(tools.document):
                click.echo(line)


def _confirm(value: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError("this was not confirmed: this is not a terminal; nothing was done",
                         hint="confirm it with --yes")  # fmt: skip
    typed: str = click.prompt(f"Type {value} again; this cannot be undone", err=True)
    if typed.strip() != value:
        raise UsageError(f"'{typed.strip()}' is not '{value}': nothing was done")


def _check_chosen(given: dict[str, Any]) -> None:
    from tabwb.cli.selecting import check_chosen

    if "everything" in given and "where" in given:
        check_chosen(given["ids"], given["where"], everything=given["everything"])


def _parameter(value: Value) -> click.Parameter:
    arg, needed = value.arg, value.default is MISSING
    if arg.positional:
        return click.Argument([value.name], nargs=-1 if value.many else 1, required=needed,
                              metavar=arg.metavar or None)  # fmt: skip
    flag = arg.flag or "--" + value.name.replace("_", "-")
    default = None if needed or value.default == () else value.default
    if value.type is bool:
        return click.Option([flag, value.name], is_flag=True, default=default, help=arg.help)
    if arg.alone:
        return click.Option([flag, value.name], is_flag=False, flag_value=arg.alone, help=arg.help,
                            metavar=arg.metavar)  # fmt: skip
    help = f"{arg.help} Repeatable." if value.many else arg.help
    return click.Option(
        [flag, value.name], help=help, type=_type(value), multiple=value.many, default=default,
        show_default=bool(default), required=needed, metavar=arg.metavar or None,
    )  # fmt: skip


def _type(value: Value) -> Any:
    low, high = value.arg.low, value.arg.high
    if value.choices:
        return click.Choice(value.choices)
    if value.type is int and low is not None:
        return click.IntRange(int(low), None if high is None else int(high))
    if value.type is float:
        return Finite(low, high, min_open=value.arg.above)
    return str if value.type is object else value.type
