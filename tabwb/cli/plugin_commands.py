"""Commands that plugins add to the command line."""

from __future__ import annotations

import click

from tabwb.cli.common import opened_plugins
from tabwb.plugin_api.registry.guarded import error_words, plugin_code
from tabwb.records.errors import ComponentError


def plugin_command(name: str) -> click.Command | None:
    """Return the command of a plugin, or None where no plugin has one of this name.

    Args:
        name: the word after ``tabwb``.

    Raises:
        ComponentError: the plugin cannot import it, or it is not a click command.
    """
    with opened_plugins() as plugins:
        for known in plugins.extensions("commands"):
            if known.extension.id == name:
                return _loaded(name, known.owner, known.extension.load)
    return None


def _loaded(name: str, owner: str, load: object) -> click.Command:
    where = f"command '{name}' of the plugin '{owner}'"
    try:
        with plugin_code:
            command = load()  # type: ignore[operator]
    except Exception as error:
        raise ComponentError(f"{where} cannot be loaded: {error_words(error)}") from error
    if not isinstance(command, click.Command):
        raise ComponentError(f"{where} is not a click command but {type(command).__name__}")
    return command
