"""The user's keys and themes, from files of the configuration folder: keys.toml, themes/*.toml."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.keys import Keys, _character_to_key
from textual.theme import Theme

from tabwb.host.settings import config_folder
from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.commands import Command

LIMIT = 100_000
"""Bytes of a file."""
HELD = {"ctrl+c", "tab", "shift+tab", "up", "down"}
"""Keys that no command can have."""


def _table(path: Path) -> dict[str, Any]:
    """Return what a TOML file says; an empty table if the file is missing."""
    content = read_regular(path, LIMIT)
    try:
        return tomllib.loads((content or b"").decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is not TOML: {error}", where=str(path)) from error


def own_keys(commands: Sequence[Command], wrong: list[UsageError]) -> Sequence[Command]:
    """Return commands with the user's keys; where the file is wrong with the defaults."""
    try:
        return with_keys(commands, config_folder(os.environ))
    except UsageError as error:
        wrong.append(error)
        return commands


def with_keys(commands: Sequence[Command], folder: Path) -> tuple[Command, ...]:
    """Return commands with the keys of ``keys.toml``; those that it does not name keep theirs.

    Raises:
        UsageError: an id is unknown, a key cannot be had, or is another command's there.
    """
    path = folder / "keys.toml"
    given = {name: _keys(path, name, value) for name, value in _table(path).items()}
    known = sorted({command.id for command in commands})
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, 3) or known[:3]
            raise UsageError(
                "no command has this id", where=f"{path}: {name}",
                allowed=f"{', '.join(close)}, …", hint="docs/reference/workbench.md lists all",
            )  # fmt: skip
    made = [
        replace(one, key=given[one.id][0], also=given[one.id][1:] or one.also)
        if one.id in given
        else one
        for one in commands
    ]
    for one in made:
        for other in made:
            if one.id in given and other.id != one.id and (shared := _shared(one, other)):
                raise UsageError(
                    f"'{min(shared)}' is the key of {other.id} on the same page",
                    where=f"{path}: {one.id}", allowed="a key that is free there",
                )  # fmt: skip
    return tuple(made)


EVERYWHERE = "everywhere"


def _shared(one: Command, other: Command) -> set[str]:
    """Return the keys that run both of two commands at some place."""
    return {
        key
        for place, key in _bound(one)
        for there, same in _bound(other)
        if key == same and (place == there or EVERYWHERE in {place, there})
    }


def _bound(command: Command) -> set[tuple[str, str]]:
    """Return where which keys run a command."""
    always = {(EVERYWHERE, key) for key in command.also}
    return {(place, command.key) for place in command.where} | always


NAMED = {key.value for key in Keys} | {_character_to_key(chr(at)) for at in range(33, 127)}
"""Keys as Textual names them."""


def _keys(path: Path, name: str, value: object) -> tuple[str, ...]:
    """Return the keys of a command, as Textual names them."""
    given = value if isinstance(value, list) else [value]
    keys = [
        _character_to_key(one) if isinstance(one, str) and len(one) == 1 else one for one in given
    ]
    if not keys or not all(isinstance(key, str) and key in NAMED - HELD for key in keys):
        raise UsageError(
            f"{value!r} is not a key that a command can have", where=f"{path}: {name}",
            allowed="a character, a name such as f5 or ctrl+t, or a list of these",
        )  # fmt: skip
    return tuple(map(str, keys))


def own_themes(wrong: list[UsageError]) -> Iterator[Theme]:
    """Yield the theme of each file in ``themes``; what is wrong with others is collected."""
    for path in sorted((config_folder(os.environ) / "themes").glob("*.toml")):
        try:
            yield theme_of(path)
        except UsageError as error:
            wrong.append(error)


def defaults(commands: Sequence[Command]) -> Iterator[str]:
    """Yield the keys of all commands as the lines of a ``keys.toml``, with their titles."""
    lines: dict[str, str] = {}
    for one in commands:
        keys = [one.key, *one.also] if one.also else one.key
        lines.setdefault(one.id, f'"{one.id}" = {json.dumps(keys)}  # {one.title.rstrip("…")}')
    yield from (lines[name] for name in sorted(lines))


def theme_of(path: Path) -> Theme:
    """Return the theme of a file: colours by name, the others those of its ``base``.

    Raises:
        UsageError: a name or a colour is unknown.
    """
    table = _table(path)
    base, colours = table.pop("base", "dark"), colour_names()
    problem = None
    if path.stem in settings.THEME_NAMES:
        problem = "", "a theme of tabwb has this name", "another name of the file"
    elif base not in settings.THEME_NAMES:
        problem = "base", f"{base!r} is not a theme of tabwb", ", ".join(settings.THEME_NAMES)
    for name, value in table.items():
        if name not in colours:
            problem = name, "no colour has this name", ", ".join(colours)
        elif not _is_colour(value):
            problem = name, f"{value!r} is not a colour", "#rrggbb, or a name such as navy"
    if problem is not None:
        where, words, allowed = problem
        raise UsageError(words, where=f"{path}: {where}".rstrip(": "), allowed=allowed)
    return settings.theme(path.stem, settings.colours_of(base) | table, dark=base != "light")


def colour_names() -> list[str]:
    """Return the names of colours that a theme can have."""
    return [name for name, value in settings.colours_of("dark").items() if _is_colour(value)]


def _is_colour(value: object) -> bool:
    """Return whether this is a colour that a line can have: not transparent, not the terminal's."""
    try:
        colour = Color.parse(value if isinstance(value, str) else "")
    except ColorParseError:
        return False
    return colour.a == 1 and colour.ansi is None
