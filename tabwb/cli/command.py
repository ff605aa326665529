"""The command of an operation: its parameters, its progress, what is printed."""

from __future__ import annotations

import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    Finite,
    inform,
    is_quiet,
    is_verbose,
    json_option,
    note,
    offline_option,
    on_terminal,
    opened_plugins,
    print_json,
    renew_line,
    store_option,
    verbosity_options,
)
from tabwb.operations.operation import FEW, Operation, Told, Tools, Value, followed, made, values_of
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
from tabwb.records.words import time_left

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins
    from tabwb.store.store import Store


def command(
    kind: type[Operation],
    name: str = "",
    *,
    shown: Callable[[Operation, Tools], None] | None = None,
    person: Callable[[Any, Tools], object] | None = None,
) -> click.Command:
    """Return the command of an operation.

    Args:
        kind: the operation.
        name: of the command, where the operation's own does not end with it.
        shown: prints what was done, where lines of text are not enough.
        person: gives the items of a session to a person.
    """

    def run(
        as_json: bool, offline: bool | None, store_location: str | None = None,
        dry_run: bool = False, yes: bool = False, format_id: str | None = None, **given: Any,
    ) -> int:  # fmt: skip
        printed = _format(format_id, as_json=as_json)
        as_json = printed == "json"
        with _flags(kind), opened_plugins(offline, dry=dry_run) as plugins:
            operation = made(kind, _asked(kind, given))
            operation.check(plugins)
            if as_json and operation.to_stdout:
                raise UsageError("--json and the file '-' both write to standard output")
            tools = tools_of(plugins, store_location)
            tools.creates, tools.person = operation.creates and not dry_run, person
            tools.called = {one.name: one.flag for one in values_of(kind)}.__getitem__
            with closing(tools), _printed(operation, tools, shown, printed):
                if dry_run or kind.CONFIRMS:
                    tools.detail, tools.keeps = dry_run, as_json
                    tools.show = tools.show if as_json else _show
                    for told in operation.estimate(tools):
                        words = f"{told.part}: {told.words}" if told.part else told.words
                        if kind.CONFIRMS:
                            note(words)
                        elif on_terminal() if told.waits else not as_json:
                            inform(words)
                if kind.CONFIRMS and not yes:
                    _confirm(getattr(operation, kind.CONFIRMS))
                if not dry_run:
                    driven(operation, tools, quiet=as_json or operation.to_stdout)
        wrong = list(operation.wrong(tools.document)) if tools.document else []
        for line in wrong:
            note(line)
        return int(bool(wrong))

    made_of = click.Command(
        name or kind.NAME.rpartition(" ")[2], callback=run, help=inspect.getdoc(kind),
        epilog="\b\n" + "\n".join(kind.EPILOG) if kind.EPILOG else None,
    )  # fmt: skip
    for value in values_of(kind):
        made_of.params += _parameters(value)
    if kind.ESTIMATE:
        made_of.params.append(click.Option(["--dry-run"], is_flag=True, help=kind.ESTIMATE))
    if kind.CONFIRMS:
        asked = "Do not ask for confirmation."
        made_of.params.append(click.Option(["--yes"], is_flag=True, help=asked))
    if kind.TABLES:
        from tabwb.cli.result_printing import format_option

        format_option(made_of)
    own = len(made_of.params)
    for option in (offline_option, json_option, store_option, verbosity_options):
        if kind.STORE or option is not store_option:
            option(made_of)
    made_of.params[own:] = reversed(made_of.params[own:])
    for one in made_of.params[own:]:
        if isinstance(one, click.Option) and "-v" in one.opts and not kind.DOING:
            one.hidden = True  # there is nothing more to say, and scripts may give it
    return made_of


def add_commands(group: click.Group, *kinds: type[Operation]) -> None:
    """Add the commands of operations to a group."""
    for kind in kinds:
        group.add_command(command(kind))


def tools_of(plugins: Plugins, place: str | None, lent: Store | None = None) -> Tools:
    """Return what an operation of the command line works with."""
    return Tools(
        plugins, lambda: plugins.configuration.store_at(place), lent=lent, same="the same command",
        stdout=True, say=inform, warn=lambda words: note(f"warning: {words}"),
    )  # fmt: skip


def driven(operation: Operation, tools: Tools, *, quiet: bool) -> None:
    """Do an operation and show how far it is; ctrl+c stops what takes time."""
    from tabwb.cli.process import ENDING, caught, stopping

    if not operation.DOING:
        with caught(_stop, *ENDING):
            for _ in operation.run(tools):
                pass
        return

    countdown = Countdown(operation.TOLD, quiet=quiet or is_quiet(), each=is_verbose())
    with ExitStack() as held:
        gently = not operation.AT_ONCE
        if gently:
            held.enter_context(stopping(tools.cancel, operation.SAFE))
        held.callback(countdown.status.close)
        tools.say = _below(countdown.status, tools.say)
        tools.warn = _below(countdown.status, tools.warn)
        if not quiet:
            tools.show = _below(countdown.status, _show)

        def tell(told: Told) -> None:
            nonlocal gently
            if told.planned and not gently:
                gently = True
                held.enter_context(stopping(tools.cancel, operation.SAFE))
                if operation.NEEDED:
                    threading.Thread(target=import_module, args=[operation.NEEDED]).start()
            countdown.tell(told)

        tools.tell = tell
        followed(operation.run(tools), tell)


def _below(line: StatusLine, say: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return a function that says something that stays, in place of the line that is renewed."""

    def said(words: Any) -> None:
        line.close()
        say(words)

    return said


def _show(shown: Any) -> None:
    """Print a line or a view."""
    if isinstance(shown, str):
        click.echo(shown)
    else:
        from tabwb.media.terminal import print_view

        print_view(shown)


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt  # what is half done is undone on the way out


@contextmanager
def _printed(
    operation: Operation,
    tools: Tools,
    shown: Callable[[Operation, Tools], None] | None,
    format_id: str,
) -> Iterator[None]:
    """Print the document, also of stopped work; of work that failed, where it holds anything."""

    def printed(*, failed: bool = False) -> None:
        if tools.tables and tools.chosen:
            from tabwb.cli.result_printing import warn_unshared

            given = map(tools.store.administration, tools.chosen)
            warn_unshared(tools.store, tools.plugins, given, format_id)
        if format_id == "json":
            document = operation.documented(tools)
            if any(document.values()) if failed else document:
                print_json({"format": 1, **document})
        elif shown is not None and tools.result is not None:
            shown(operation, tools)
        elif tools.document and format_id == "table":
            for line in operation.lines(tools.document):
                _print(line)
        if tools.tables and format_id != "json":
            from tabwb.cli.result_printing import print_tables

            print_tables(tools.tables, format_id, None)

    try:
        yield
    except BaseException:
        with suppress(BrokenPipeError):  # why it stopped is said although nobody reads on
            printed(failed=not tools.cancel.is_set())
        raise
    printed()


def _print(line: Any) -> None:
    if isinstance(line, str):
        click.echo(line)
        return
    from tabwb.media.terminal import print_view

    print_view(line)


def _format(format_id: str | None, *, as_json: bool) -> str:
    if format_id is None:
        return "json" if as_json else "table"
    from tabwb.cli.result_printing import chosen_format

    return chosen_format(format_id, None, as_json=as_json, excluded={})


def _asked(kind: type[Operation], given: dict[str, Any]) -> dict[str, Any]:
    """Return the values of an operation from the options of its command."""
    context = click.get_current_context()

    def default(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "DEFAULT"

    values = values_of(kind)
    for value in values:
        if value.arg.conditions:
            chosen = {name: one for name, one in given.items() if not default(name)}
            given[value.name] = asked_of(value.arg.conditions[0], chosen)
    unused = [value.name for value in values if value.arg.usual and default(value.name)]
    return {name: one for name, one in given.items() if name not in unused}


@contextmanager
def _flags(kind: type[Operation]) -> Iterator[None]:
    """Let an error name the option of a value, not the value."""
    try:
        yield
    except UsageError as error:
        for value in values_of(kind):
            if value.arg.conditions:
                error.where = flag_of(value.arg.conditions[0], error.where)
            elif error.where == value.name and not value.arg.positional:
                error.where = value.flag
        raise


def _confirm(value: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError("this was not confirmed: this is not a terminal; nothing was done",
                         hint="confirm it with --yes")  # fmt: skip
    typed: str = click.prompt(f"Type {value} again to do this permanently", err=True)
    if typed.strip() != value:
        raise UsageError(f"'{typed.strip()}' is not '{value}': nothing was done")


def _parameters(value: Value) -> Sequence[click.Parameter]:
    """Return the parameters of a value: of conditions an option for each."""
    if value.arg.hidden:
        return []
    if value.arg.conditions:
        return condition_options(*value.arg.conditions)
    return [parameter(value)]


def parameter(value: Value) -> click.Parameter:
    """Return the argument or option of a value."""
    arg = value.arg
    if arg.positional:
        return click.Argument([value.name], nargs=-1 if value.many else 1, required=value.needed,
                              metavar=arg.metavar or None, type=_type(value))  # fmt: skip
    names = [*value.flags, value.name]
    if value.type is bool and value.default:
        both = f"{value.flag}/--no-{value.flag.removeprefix('--')}"
        return click.Option([both, value.name], default=True, show_default=True, help=arg.help)
    if value.type is bool:
        return click.Option(names, is_flag=True, help=arg.help)
    if arg.alone:
        return click.Option(names, is_flag=False, flag_value=arg.alone, help=arg.help,
                            metavar=arg.metavar)  # fmt: skip
    help = arg.help
    if value.many and "repeatable" not in help:
        help += " Repeatable."
    if value.needed:
        return click.Option(
            names, help=help, type=_type(value), required=True, metavar=arg.metavar or None
        )
    default = arg.usual or (None if value.default in ("", ()) else value.default)
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
    return str if value.type in (object, Mapping) else value.type


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
        value = options.get(_name_of(condition, option))
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


def _name_of(condition: Condition, option: Option) -> str:
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
    return click.Option([option.flag, _name_of(condition, option)], **settings)


STEPS = 20
"""Lines of a whole operation elsewhere than on a terminal: one for each 5 %."""


class StatusLine:
    """A line on stderr that replaces itself; nothing where stderr is not a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.live = sys.stderr.isatty() and not quiet

    def show(self, text: str = "") -> None:
        """Replace the line by a text, cut to the width of a small terminal."""
        if self.live:
            renew_line(text[:78])

    def renew(self, text: str) -> None:
        """Replace the line; elsewhere than on a terminal, print one that stays."""
        if self.live:
            self.show(text)
        else:
            note(text)

    def interrupt(self, message: str) -> None:
        """Print a line that stays."""
        self.show()
        note(message)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self.show()


class Countdown:
    """Shows ``response 7/20`` with the time that is left; see :meth:`tell` for operations."""

    def __init__(
        self, what: str, planned: int = 0, *, quiet: bool = False, each: bool = False
    ) -> None:
        self._what, self.planned = what, planned
        self._began = time.monotonic()
        self._before = 0
        self._quiet, self._each, self._step = quiet, each, -1
        self._shown, self._silent = "", False
        self.status = StatusLine(quiet=quiet)

    def begin(self) -> None:
        """Begin a part."""
        self._began, self._before, self._step = time.monotonic(), 0, -1

    def tell(self, told: Told) -> None:
        """Show how far an operation is: elsewhere than on a terminal a line for each 5 %."""
        if told.timed and not self._before:
            # The first pays for what is loaded: the estimate is made of those after it.
            self._began, self._before = time.monotonic(), told.timed
        self.planned = told.planned or self.planned
        if told.problem:
            self.status.interrupt(told.problem)
        elif told.part:
            inform(f"{told.part}: {told.words}")
            self.begin()
        elif told.waits:
            self._wait(told)
        elif told.planned and (told.words or told.timed):
            self._silent = False
            timed = told.timed - self._before if told.timed >= FEW else 0
            words = f"  {told.words}" if told.words else ""
            self._shown = self._text(told.what or self._what, told.done, words, timed)
            due = bool(told.words) and self._is_due(told.done)
            if not self._quiet and (self.status.live or (self._each and told.words) or due):
                self.status.renew(self._shown)
        elif told.words:
            if self.status.live:
                inform(told.words)
        elif self._silent:
            self._silent = False
            self.status.show(self._shown)

    def _wait(self, told: Told) -> None:
        if getattr(told.event, "voids", False):
            self.status.interrupt(told.words)
        elif not self._quiet:
            self._silent = True
            self.status.renew(told.words)

    def _text(self, what: str, done: int, detail: str, timed: int) -> str:
        text = f"{what} {done}/{self.planned}{detail}"
        if not timed:
            return text
        left = (time.monotonic() - self._began) / timed * (self.planned - done)
        return text + time_left(left)

    def _is_due(self, done: int) -> bool:
        """Whether this is the first of this run, or begins another 5 % of all."""
        step = done * STEPS // max(self.planned, 1)
        due = step > self._step
        self._step = max(step, self._step)
        return due
