"""Model profiles in ``tabwb.toml``: specs under names of the user's."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.plugin_api.config.table import Table
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import FILE_MODE, write_private
from tabwb.records.specs import Spec, is_kebab

FILE = "tabwb.toml"
"""The name of both files: the one in the current folder and the one in the user's folder."""
PROFILE_KEYS = ("id", "name", "options", "family", "tuning", "parameters")
TUNINGS = ("base", "instruct")


@dataclass(frozen=True, slots=True)
class Profile:
    """A spec under a name of the user's: ``profile:NAME``.

    Attributes:
        spec: its values may contain what the text of a spec cannot (commas).
        where: file and key, for messages.
        family: of the model, for instance ``Llama-3.2``; empty where unknown.
        tuning: ``base`` or ``instruct``; empty where unknown. A base and an instruct model of one
            family and size are a pair in results.
        parameters: number of parameters, or None where unknown.
    """

    spec: Spec
    where: str
    family: str = ""
    tuning: str = ""
    parameters: int | None = None

    @property
    def labels(self) -> dict[str, str]:
        """The fields that are set, as text: they are kept with an administration."""
        labels = {"family": self.family, "tuning": self.tuning, "parameters": self.parameters}
        return {key: str(value) for key, value in labels.items() if value}


def read_profile(file: Table, name: str, content: object) -> Profile:
    """Return the profile of a table ``[profile.NAME]``.

    Args:
        file: that contains it.
        name: of the profile.
        content: the table.

    Raises:
        UsageError: it is malformed; the message names file and key.
    """
    table = file.inner(f"profile.{name}", content, PROFILE_KEYS)
    identifier = table.content.get("id")
    if not isinstance(identifier, str) or not is_kebab(identifier):
        raise table.error("id", f"{identifier!r} is not the id of a component")
    options = {}
    for option, value in table.get("options", dict, {}).items():
        text = options[option] = option_text(value) or ""
        if not text and value != "":
            raise table.error("options", f"{value!r} is not a string, a number, true or false")
    tuning = table.content.get("tuning", "")
    if tuning not in ("", *TUNINGS):
        allowed = ", ".join(TUNINGS)
        raise table.error("tuning", f"{tuning!r} is not a valid tuning", allowed=allowed)
    parameters = table.content.get("parameters")
    if parameters is not None and (type(parameters) is not int or parameters < 1):
        message = f"{parameters!r} is not a number of parameters"
        raise table.error("parameters", message, allowed="a whole number, 1_240_000_000")
    spec = Spec(identifier, table.get("name", str), options)
    family = table.get("family", str, "")
    return Profile(spec, f"{table.path}: {table.key}", family, tuning, parameters)


def option_text(value: object) -> str | None:
    """Return a value of TOML as a spec writes it; None for what cannot be an option.

    >>> option_text(True), option_text(2), option_text("a, b"), option_text([1])
    ('true', '2', 'a, b', None)
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def write_profile(config_dir: Path, name: str, profile: Profile) -> Path:
    """Add a profile, or write the values of an existing one that differ; return the file.

    Args:
        config_dir: the user's folder.
        name: of the profile.
        profile: its values.

    Raises:
        UsageError: the name is not a kebab-case id, or the file is not TOML.
    """
    if not is_kebab(name):
        allowed = "a-z, 0-9 and single hyphens: llama-1b"
        raise UsageError(f"'{name}' cannot name a profile", allowed=allowed)
    import tomlkit

    path, document = _read(config_dir)
    profiles = document.setdefault("profile", tomlkit.table(is_super_table=True))
    if not isinstance(profiles, MutableMapping):
        raise UsageError("profile: is not a table", where=str(path))
    known = profiles.get(name)
    table = known if isinstance(known, MutableMapping) else tomlkit.table()
    _fill(table, profile)
    try:
        if table is not known:
            profiles[name] = table
    except ValueError as error:  # an inline table cannot contain a table
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
    values = {
        "id": spec.id,
        "name": spec.name,
        "options": spec.options or None,
        "family": profile.family or None,
        "tuning": profile.tuning or None,
        "parameters": profile.parameters,
    }
    for key, value in values.items():
        if value is None:
            if table.get(key):  # an empty value is not set either
                del table[key]
        elif key == "options":
            if not isinstance(table.get(key), MutableMapping):
                table[key] = tomlkit.inline_table()
            options = table[key]
            for option in set(options) - set(spec.options):
                del options[option]
            for option, text in spec.options.items():
                if option not in options or option_text(options[option]) != text:
                    options[option] = text
        elif table.get(key) != value:
            table[key] = value


def remove_profile(config_dir: Path, name: str) -> Path:
    """Remove a profile from the user's file; return the file.

    Args:
        config_dir: the user's folder.
        name: of the profile.

    Raises:
        UsageError: there is no such profile.
    """
    import tomlkit

    path, document = _read(config_dir)
    profiles = document.get("profile", {})
    if name not in profiles:
        raise UsageError(
            f"there is no profile '{name}' in this file",
            where=str(path),
            allowed=", ".join(profiles) or "there are none",
        )
    del profiles[name]
    _write(path, tomlkit.dumps(document))
    return path


def number_of_parameters(text: str) -> int:
    """Return a number of parameters as people write it.

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
        allowed = "1240000000, 1.24B, 360M"
        raise UsageError(f"'{text}' is not a number of parameters", allowed=allowed)
    return number


def stated_parameters(labels: Mapping[str, str]) -> int | None:
    """Return the number of parameters that labels state; None if they state none.

    >>> stated_parameters({"parameters": "124439808"}), stated_parameters({"parameters": "many"})
    (124439808, None)
    """
    try:
        return number_of_parameters(labels.get("parameters", ""))
    except UsageError:
        return None


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
    try:
        path = path.resolve()  # a link stays a link
        mode = path.stat().st_mode & 0o755 if path.exists() else FILE_MODE
        write_private(path, text, mode=mode)
    except OSError as error:
        raise TabwbError(f"cannot be written: {error.strerror}", where=str(path)) from error
