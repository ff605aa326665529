"""``tabwb key``: keys of remote services in the system keyring. A key is never shown."""

from __future__ import annotations

import sys

import click

from tabwb.cli.common import json_option, note, print_json
from tabwb.host import keys


@click.group()
def key() -> None:
    """Keep keys of remote services in the system keyring.

    A key in the environment (GEMINI_API_KEY, OPENAI_API_KEY) takes precedence over the keyring.
    """


@key.command("set")
@click.argument("service")
def set_key(service: str) -> None:
    """Keep the key of SERVICE: gemini, openai, or the host of a server (openrouter.ai).

    The key is typed without echo, or read from stdin if that is not a terminal. It is never given
    on the command line, where every program can read it.
    """
    service = keys.check_service(service)
    if sys.stdin.isatty():
        typed = click.prompt(f"Key of {service} (not shown)", hide_input=True, err=True)
    else:
        typed = sys.stdin.read()
    keys.write_key(service, keys.checked_key(typed, "the key"))
    note(f"the key of '{service}' is kept in the system keyring")


@key.command("list")
@click.argument("services", metavar="[SERVICE]...", nargs=-1)
@json_option
def list_keys(services: tuple[str, ...], as_json: bool) -> None:
    """Show where the key of each SERVICE is found, never the key.

    Keyrings do not list their entries: name the hosts of servers.
    """
    sources = {}
    for service in services or tuple(keys.SERVICES):
        name = keys.check_service(service)
        key = keys.find_key(keys.SERVICES.get(name, ()), name)
        sources[name] = None if key is None else key.source
    if as_json:
        rows = [{"service": name, "source": source} for name, source in sources.items()]
        print_json({"format": 1, "keys": rows})
        return
    width = max(map(len, sources))
    for name, source in sources.items():
        click.echo(f"{name:<{width}}  {source or 'no key'}")


@key.command("delete")
@click.argument("service")
def delete_key(service: str) -> None:
    """Delete the key of SERVICE from the system keyring."""
    service = keys.check_service(service)
    keys.delete_key(service)
    note(f"the key of '{service}' is deleted")
