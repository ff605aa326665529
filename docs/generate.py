"""Writes the reference pages from the code: hooks, commands, battery schema.

``python docs/generate.py`` writes them; ``--check`` fails when one is not current.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

REFERENCE = Path(__file__).parent / "reference"
HEADER = "<!-- Written by docs/generate.py from the code; edit the code, not this page. -->\n\n"


def hooks() -> str:
    """The page of all hook specifications."""
    from tabwb.extend import hookspecs

    lines = ["# Hooks", "", inspect.getdoc(hookspecs) or "", ""]
    for name, hook in inspect.getmembers(hookspecs, inspect.isfunction):
        if not name.startswith("tabwb_"):
            continue
        parameters = ", ".join(inspect.signature(hook).parameters)
        lines += [f"## `{name}({parameters})`", "", _plain(inspect.getdoc(hook) or ""), ""]
    return "\n".join(lines)


def commands() -> str:
    """The page of all commands, as their ``--help`` says it."""
    from tabwb.cli.main import cli

    lines = ["# Commands", ""]
    for path, command in _walk("tabwb", cli):
        context = click.Context(command, info_name=path, terminal_width=88)
        lines += [f"## `{path}`", "", "```", command.get_help(context), "```", ""]
    return "\n".join(lines)


def battery_schema() -> str:
    """The page of every key that a battery file may have."""
    from tabwb.battery.schema import json_schema

    schema = json_schema()
    lines = [
        "# Keys of a battery file",
        "",
        "`tabwb battery schema` prints the same as a JSON schema for editors.",
        "",
    ]
    parts: dict[str, Any] = {"the file": schema, **schema.get("$defs", {})}
    for title, part in parts.items():
        if "properties" not in part:
            continue
        lines += [f"## {title}", ""]
        if part.get("description"):
            lines += [_plain(part["description"]), ""]
        lines += ["| key | type | required | meaning |", "|---|---|---|---|"]
        required = part.get("required", [])
        for key, value in part["properties"].items():
            meaning = " ".join(_plain(value.get("description", "")).split()).replace("|", "\\|")
            needed = "yes" if key in required else ""
            lines.append(f"| `{key}` | {_type(value)} | {needed} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def _walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _walk(f"{path} {name}", inner)


def _plain(text: str) -> str:
    for role in (":func:", ":class:", ":data:", ":mod:", ":meth:", ":attr:"):
        text = text.replace(role, "")
    return text.replace("``", "`").replace("`~", "`")


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return str(value["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in value:
        return " or ".join(_type(one) for one in value["anyOf"])
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}))}"
    return str(value.get("type", "any"))


PAGES = {"hooks.md": hooks, "commands.md": commands, "battery-schema.md": battery_schema}


def main() -> int:
    """Write or check every page; 1 when a checked page is not current."""
    REFERENCE.mkdir(exist_ok=True)
    stale = []
    for name, make in PAGES.items():
        page, path = HEADER + make().rstrip() + "\n", REFERENCE / name
        if "--check" not in sys.argv[1:]:
            path.write_text(page, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != page:
            stale.append(name)
    if stale:
        print(f"not current: {', '.join(stale)}; run: python docs/generate.py", file=sys.stderr)
    return int(bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
