"""Commands that plugins add to the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import click

from tabwb.cli.command import command
from tabwb.cli.common import opened_plugins
from tabwb.host.guarded import error_words, plugin_code
from tabwb.operations.operation import plugin_operation
from tabwb.records.errors import ComponentError, TabwbError, UsageError
from tabwb.records.words import near


def plugin_command(name: str) -> click.Command | None:
    """Return the command of a plugin, or None where no plugin has one of this name."""
    from tabwb.cli.main import COMMANDS

    with opened_plugins() as plugins:
        for known in plugins.extensions("commands"):
            if known.extension.id == name:
                return _loaded(name, known.owner, known.extension.load)
        if (kind := plugin_operation(plugins, name)) is not None:
            made = command(kind, name)
            _guard(made, f"operation '{name}' of a plugin", set())
            return made
        failed = tuple(dict.fromkeys((*plugins.unused("commands"), *plugins.unused("operations"))))
    if not failed or near(name, COMMANDS):
        return None
    raise UsageError(
        f"No such command '{name}'",
        hint="\n".join((*failed, "'tabwb plugins list' shows every command of plugins")),
    )


def _loaded(name: str, owner: str, load: object) -> click.Command:
    where = f"command '{name}' of the plugin '{owner}'"
    try:
        with plugin_code:
            loaded = load()  # type: ignore[operator]
    except Exception as error:
        raise ComponentError(f"{where} cannot be loaded: {error_words(error)}") from error
    if not isinstance(loaded, click.Command):
        raise ComponentError(f"{where} is not a click command but {type(loaded).__name__}")
    _guard(loaded, where, set())
    return loaded


def _guard(command: click.Command, where: str, seen: set[int]) -> None:
    """Let what a command, or one inside it, raises name the plugin."""
    if id(command) in seen:
        return
    seen.add(id(command))
    if command.callback is not None:
        command.callback = _guarded(command.callback, where)
    for inner in getattr(command, "commands", {}).values():
        _guard(inner, where, seen)


def _guarded(callback: Any, where: str) -> Any:
    @wraps(callback)
    def called(*arguments: Any, **options: Any) -> Any:
        with _named(where):
            return callback(*arguments, **options)

    return called


@contextmanager
def _named(where: str) -> Iterator[None]:
    try:
        yield
    except (TabwbError, click.ClickException, click.exceptions.Exit, click.Abort, OSError):
        raise
    except KeyboardInterrupt as stopped:
        stopped.args = stopped.args or (f"{where} was running",)
        raise
    except Exception as error:
        raise ComponentError(
            f"{where} failed: {error_words(error)}",
            hint="report it to the plugin's author; TABWB_DEBUG=1 shows its location",
        ) from error
