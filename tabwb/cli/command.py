"""The command of an operation."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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
from tabwb.operations.operation import FEW, Operation, Told, Tools, Value, made, values_of
from tabwb.records.errors import Interrupted, TabwbError, UsageError

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins
    from tabwb.store.store import Store


def command(kind: type[Operation], name: str = "") -> click.Command:
    """Return the command of an operation."""

    def run(
        as_json: bool, offline: bool | None, store_location: str | None = None,
        dry_run: bool = False, yes: bool = False, **given: Any,
    ) -> int:  # fmt: skip
        with _flags(kind), opened_plugins(offline, dry=dry_run) as plugins:
            operation = made(kind, given)
            operation.check(plugins)
            create = operation.creates and not dry_run
            if as_json and operation.to_stdout:
                raise UsageError("--json and the file '-' both write to standard output")
            with (
                open_store(store_location, plugins, create=create)
                if operation.needs_store
                else nullcontext(cast("Store", None)) as store,
                _printed(operation, tools_of(plugins, store), as_json=as_json) as tools,
            ):
                tools.called = {one.name: one.flag for one in values_of(kind)}.__getitem__
                if dry_run or kind.CONFIRMS:
                    tools.detail = dry_run
                    for told in operation.estimate(tools):
                        words = f"{told.part}: {told.words}" if told.part else told.words
                        (note if kind.CONFIRMS else inform)(words)
                if kind.CONFIRMS and not yes:
                    _confirm(getattr(operation, kind.CONFIRMS))
                if not dry_run:
                    driven(operation, tools, quiet=as_json or operation.to_stdout)
        return int(operation.failed(tools.document))

    made_of = click.Command(
        name or kind.NAME.rpartition(" ")[2], callback=run, help=inspect.getdoc(kind),
        epilog="\b\n" + "\n".join(kind.EPILOG) if kind.EPILOG else None,
    )  # fmt: skip
    made_of.params += [parameter(value) for value in values_of(kind)]
    if kind.ESTIMATE:
        made_of.params.append(click.Option(["--dry-run"], is_flag=True, help=kind.ESTIMATE))
    if kind.CONFIRMS:
        asked = "Do not ask for confirmation."
        made_of.params.append(click.Option(["--yes"], is_flag=True, help=asked))
    own = len(made_of.params)
    for option in (offline_option, json_option, store_option, verbosity_options):
        if kind.STORE or option is not store_option:
            option(made_of)
    made_of.params[own:] = [
        one for one in reversed(made_of.params[own:]) if kind.DOING or "-v" not in one.opts
    ]
    return made_of


def add_commands(group: click.Group, *kinds: type[Operation]) -> None:
    """Add the commands of operations to a group."""
    for kind in kinds:
        group.add_command(command(kind))


def tools_of(plugins: Plugins, store: Store) -> Tools:
    """Return what an operation of the command line works with."""
    return Tools(
        plugins, store, say=inform, warn=lambda words: note(f"warning: {words}"),
        locked=store.lock if store else nullcontext, stdout=True,
    )  # fmt: skip


def driven(operation: Operation, tools: Tools, *, quiet: bool) -> None:
    """Do an operation and show how far it is; ctrl+c stops what takes time."""
    if not operation.DOING:
        for _ in operation.run(tools):
            pass
        return
    from tabwb.cli.progress import Countdown
    from tabwb.cli.signals import stopping

    countdown = Countdown(operation.TOLD, quiet=quiet)

    def tell(told: Told) -> None:
        countdown.planned = told.planned
        if told.part:
            inform(f"{told.part}: {told.words}")
            countdown.begin()
        elif told.waits:
            if not quiet or getattr(told.event, "voids", False):
                countdown.wait(told.words)
        elif told.words or told.timed:
            timed = told.timed if told.timed >= FEW else 0
            countdown.show(told.done, f"  {told.words}" if told.words else "", timed=timed)

    def show(line: str) -> None:
        countdown.status.show()
        click.echo(line)

    tools.tell = tell
    if not quiet:
        tools.show = show
    try:
        with stopping(tools.cancel, operation.SAFE):
            for told in operation.run(tools):
                tell(told)
    except Interrupted as error:
        if operation.CONTINUES:
            error.hint = "the same command continues from here"
        raise
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
    from tabwb.operations.judge import judging_after

    if not judges:
        return None
    tools = tools_of(plugins, store)
    tools.warn = lambda words: None  # said before the administration began
    if held:
        tools.locked = nullcontext
    operation = judging_after(numbers, judges, limits)
    try:
        driven(operation, tools, quiet=quiet)
    except TabwbError as error:
        if isinstance(error, Interrupted):
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


@contextmanager
def _flags(kind: type[Operation]) -> Iterator[None]:
    """Let an error name the option of a value, not the value."""
    try:
        yield
    except UsageError as error:
        for value in values_of(kind):
            if error.where == value.name and not value.arg.positional:
                error.where = value.flag
        raise


def _confirm(value: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError("this was not confirmed: this is not a terminal; nothing was done",
                         hint="confirm it with --yes")  # fmt: skip
    typed: str = click.prompt(f"Type {value} again to do this permanently", err=True)
    if typed.strip() != value:
        raise UsageError(f"'{typed.strip()}' is not '{value}': nothing was done")


def parameter(value: Value) -> click.Parameter:
    """Return the argument or option of a value."""
    arg = value.arg
    if arg.positional:
        return click.Argument([value.name], nargs=-1 if value.many else 1, required=value.needed,
                              metavar=arg.metavar or None, type=_type(value))  # fmt: skip
    names = [*value.flags, value.name]
    if value.type is bool and value.default:
        both = f"{value.flag}/--no-{value.flag.removeprefix('--')}"
        return click.Option([both, value.name], default=True, help=arg.help)
    if value.type is bool:
        return click.Option(names, is_flag=True, help=arg.help)
    if arg.alone:
        return click.Option(names, is_flag=False, flag_value=arg.alone, help=arg.help,
                            metavar=arg.metavar)  # fmt: skip
    help = f"{arg.help} Repeatable." if value.many else arg.help
    if value.needed:
        return click.Option(
            names, help=help, type=_type(value), required=True, metavar=arg.metavar or None
        )
    default = None if value.default in ("", ()) else value.default
    return click.Option(
        names, help=help, type=_type(value), multiple=value.many, default=default,
        show_default=default is not None, metavar=arg.metavar or None,
    )  # fmt: skip


def _type(value: Value) -> Any:
    low, high = value.arg.low, value.arg.high
    if value.choices:
        return click.Choice(value.choices)
    if value.type is int and low is not None:
        return click.IntRange(int(low), None if high is None else int(high))
    if value.type is float:
        return Finite(low, high, min_open=value.arg.above)
    if value.type is Path:
        return click.Path(path_type=Path)
    return str if value.type is object else value.type
