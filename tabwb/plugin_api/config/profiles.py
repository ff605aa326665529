"""Writing model profiles into the user's ``tabwb.toml``; everything else in it stays as it is."""

from __future__ import annotations

from collections.abc import MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.plugin_api.config.settings import FILE, Profile, option_text
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import FILE_MODE, write_private
from tabwb.records.identifiers import is_kebab

if TYPE_CHECKING:
    from tabwb.plugin_api.registry.plugins import Plugins


def profile_of(
    plugins: Plugins, name: str, spec: str, family: str, tuning: str, parameters: str
) -> Profile:
    """The profile that was typed in, field by field; empty is what is not said.

    A spec that says what the profile of this name says already leaves it as the user wrote it: an
    alias, or a path with ``~``.

    Raises:
        UsageError: the spec names no model, or ``parameters`` is no number.
        MissingExtra, NeedsNetwork: the model cannot be used here.
    """
    found = plugins.stands_for("models", spec)
    known = plugins.configuration.profiles.get(name)
    with suppress(TabwbError):  # one that cannot be used may be replaced
        if known is not None and found == plugins.stands_for("models", f"profile:{name}"):
            found = known.spec
    count = number_of_parameters(parameters) if parameters.strip() else None
    return Profile(found, "", family.strip(), tuning, count)


def write_profile(config_dir: Path, name: str, profile: Profile) -> Path:
    """Add a profile, or change the one of this name; the file that was written.

    Of one that is there only what is different is written: the rest stays as the user wrote it.

    Raises:
        UsageError: the name is no kebab-case id, or the file is no TOML.
        TabwbError: the file cannot be written; it is as it was.
    """
    if not is_kebab(name):
        raise UsageError(
            f"'{name}' cannot name a profile", allowed="a-z, 0-9 and single hyphens: llama-1b"
        )
    import tomlkit

    path, document = _read(config_dir)
    profiles = document.setdefault("profile", tomlkit.table(is_super_table=True))
    if not isinstance(profiles, MutableMapping):
        raise UsageError("profile: is not a table", where=str(path))
    there = profiles.get(name)
    table = there if isinstance(there, MutableMapping) else tomlkit.table()
    _fill(table, profile)
    try:
        if table is not there:
            profiles[name] = table
    except ValueError as error:  # an inline table holds no table
        raise UsageError(
            f"profile: cannot take another one ({error})",
            where=str(path),
            hint="write profiles as [profile.NAME]",
        ) from error
    _write(path, tomlkit.dumps(document))
    return path


def _fill(table: MutableMapping[str, Any], profile: Profile) -> None:
    import tomlkit

    spec = profile.spec
    said = {
        "id": spec.id,
        "name": spec.name,
        "options": spec.options or None,
        "family": profile.family or None,
        "tuning": profile.tuning or None,
        "parameters": profile.parameters,
    }
    for key, value in said.items():
        if value is None:
            if table.get(key):  # what is empty says nothing either
                del table[key]
        elif key == "options":
            if not isinstance(table.get(key), MutableMapping):
                table[key] = tomlkit.inline_table()
            options = table[key]
            for option in [each for each in options if each not in spec.options]:
                del options[option]
            for option, text in spec.options.items():
                if option not in options or option_text(options[option]) != text:
                    options[option] = text
        elif table.get(key) != value:
            table[key] = value


def remove_profile(config_dir: Path, name: str) -> Path:
    """Take a profile out of the user's file; the file that was written.

    Raises:
        UsageError: it is not there.
        TabwbError: the file cannot be written; it is as it was.
    """
    import tomlkit

    path, document = _read(config_dir)
    profiles = document.get("profile", {})
    if name not in profiles:
        raise UsageError(
            f"there is no profile '{name}' in this file",
            where=str(path),
            allowed=", ".join(profiles) or "none is there",
        )
    del profiles[name]
    _write(path, tomlkit.dumps(document))
    return path


def number_of_parameters(text: str) -> int:
    """A number of parameters as people write it.

    Raises:
        UsageError: it is not a number.

    >>> number_of_parameters("1.24B"), number_of_parameters("360m"), number_of_parameters("12_000")
    (1240000000, 360000000, 12000)
    """
    cleaned = text.strip().upper().replace("_", "").replace(",", "")
    scale = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}.get(cleaned[-1:], 1)
    try:
        number = round(float(cleaned.rstrip("KMBT")) * scale)
    except (ValueError, OverflowError):
        number = 0
    if number < 1:
        raise UsageError(
            f"'{text}' is not a number of parameters", allowed="1240000000, 1.24B, 360M"
        )
    return number


def _read(config_dir: Path) -> tuple[Path, Any]:
    import tomlkit
    from tomlkit.exceptions import ParseError

    path = config_dir / FILE
    try:
        return path, tomlkit.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return path, tomlkit.document()
    except (ParseError, UnicodeDecodeError, OSError, RecursionError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path)) from error


def _write(path: Path, text: str) -> None:
    """Beside the file first, then in its place: one that was half written would be no file."""
    try:
        path = path.resolve()  # a link stays one
        mode = path.stat().st_mode & 0o755 if path.exists() else FILE_MODE
        write_private(path, text, mode=mode)
    except OSError as error:
        raise TabwbError(f"cannot be written: {error.strerror}", where=str(path)) from error
