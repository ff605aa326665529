"""The user's settings: flags, then ``TABWB_*``, then ``./tabwb.toml``, then the user's own file.

The command line applies flags to the result of :meth:`Configuration.load`.

A ``tabwb.toml`` in the current folder may be part of a download. Until the user trusts it
(``tabwb trust FOLDER``) it can only restrict the program: ``offline = true``,
``require_consent = true``, and the theme. The program names its other settings and ignores them.
Plugin folders are trusted by the hash of their content too: what changes is no longer trusted.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from tabwb.records.errors import ComponentError, TabwbError, UsageError
from tabwb.records.files import FILE_MODE, others_can_write, read_regular, write_private
from tabwb.records.ratings import PRIMARY, RULES, PluginVersion, counting, rule_of
from tabwb.records.speakers import (
    BUILT_IN,
    COLUMN_NAME,
    COLUMN_TYPES,
    LONGEST,
    NOT_RECORDED,
    Column,
    Study,
)
from tabwb.records.specs import Spec, is_kebab
from tabwb.records.system import NAME
from tabwb.records.words import did_you_mean

IGNORED = frozenset(
    {"__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
)
"""Folders that are never imported from a plugin folder and change by use."""


def folder_hash(folder: Path) -> str:
    """Return the SHA-256 (hex) over the names and contents of all files of a plugin folder.

    A file is a plugin of its own.

    Raises:
        ComponentError: the folder cannot be read, or holds a link, whose target could change
            without the folder changing.
    """
    digest = hashlib.sha256()
    try:
        for path in _files(folder):
            name = path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape")
            content = hashlib.sha256(path.read_bytes()).digest()
            digest.update(len(name).to_bytes(4, "big") + name + content)
    except OSError as error:
        raise ComponentError(
            f"cannot be read: {error.strerror}", where=str(error.filename or folder)
        ) from error
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
        return
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            raise ComponentError("is a link; a plugin folder must hold its files", where=str(path))
        if path.is_dir():
            if path.name not in IGNORED:
                yield from _files(path)
        elif path.is_file():
            yield path


class TrustList:
    """The file with the hashes of trusted folders and files; it need not exist."""

    def __init__(self, config_dir: Path) -> None:
        self.path = config_dir / "trusted-plugins.json"

    def add_file(self, path: Path, digest: str) -> None:
        """Trust a ``tabwb.toml`` as long as its bytes have this digest."""
        # A link elsewhere to a trusted file is not trusted: its relative paths mean other places.
        self._add("files", path.parent.resolve() / path.name, digest)

    def add_folder(self, folder: Path) -> str:
        """Trust a plugin folder as it is now; return its hash (:func:`folder_hash`)."""
        resolved = folder.resolve()
        digest = folder_hash(resolved)
        self._add("folders", resolved, digest)
        return digest

    def remove_folder(self, folder: Path) -> None:
        """Remove a plugin folder, which need not exist any more, from the list.

        Raises:
            UsageError: it is not in the list.
        """
        content = self.read()
        if content["folders"].pop(folder.resolve(), None) is None:
            raise UsageError(
                "is not a trusted plugin folder",
                where=str(folder.resolve()),
                allowed=", ".join(map(str, content["folders"])) or "none is trusted",
            )
        self._write(content)

    def _add(self, kind: str, path: Path, digest: str) -> None:
        content = self.read()
        content[kind][path] = digest
        self._write(content)

    def _write(self, content: dict[str, dict[Path, str]]) -> None:
        plain = {
            kind: {str(place): digest for place, digest in hashes.items()}
            for kind, hashes in content.items()
        }
        write_private(self.path, json.dumps(plain, indent=2) + "\n")

    def read(self) -> dict[str, dict[Path, str]]:
        """Return the trusted plugin ``folders`` and ``tabwb.toml`` ``files`` with their hashes.

        Raises:
            UsageError: the list is damaged, or others can write to it.
        """
        try:
            if others_can_write(self.path):
                raise UsageError(
                    "other users of this computer can write to it, so it is not used",
                    where=str(self.path),
                    hint=f"check the folders that it lists, then run: chmod 600 {self.path}",
                )
            content = json.loads(self.path.read_text(encoding="utf-8"))
            return {
                kind: {Path(place): str(digest) for place, digest in content.get(kind, {}).items()}
                for kind in ("folders", "files")
            }
        except FileNotFoundError:
            return {"folders": {}, "files": {}}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"cannot be read: {error}",
                where=str(self.path),
                hint="delete it and trust your plugin folders again",
            ) from error


LARGEST = 8_000_000
"""Of a larger file (a model) the hash has name and size only."""
SCORING = "scoring"
"""The package of tabwb with the rules that its own plugins apply."""


def identity_of(plugin: object, distribution: str, version: str) -> PluginVersion:
    """Return package, version and hash of a plugin.

    The hash is over the places and contents of all files of its import package, so that a change
    without a new version is seen; of a plugin of tabwb over the modules with scoring rules too.

    Args:
        plugin: the module or object of its entry point.
        distribution: the package that is installed; empty: the import package's name is taken.
        version: of the distribution.
    """
    name = plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__
    root = _root(name)
    files = [] if root is None else [(path, root) for path in _package_files(root)]
    if distribution == NAME and (rules := _root(f"{NAME}.{SCORING}")) is not None:
        files += [(path, rules) for path in sorted(rules.rglob("*.py"))]
    if not files:
        return PluginVersion(distribution or name.partition(".")[0], version)
    digest = hashlib.sha256()
    for path, inside in files:
        content = path.read_bytes() if path.stat().st_size <= LARGEST else b""
        place = path.relative_to(inside.parent).as_posix()
        parts = place.encode(), str(path.stat().st_size).encode(), content
        digest.update(b"".join(hashlib.sha256(part).digest() for part in parts))
    return PluginVersion(distribution or name.partition(".")[0], version, digest.hexdigest())


def _root(name: str) -> Path | None:
    """Return the folder of the import package that a module is in, or the module's own file."""
    parts = name.split(".")
    first = 2 if parts[0] == NAME else 1
    for end in range(first, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:end]))
        file = getattr(module, "__file__", None)
        if file is not None:  # a namespace package has none
            path = Path(file)
            return path.parent if path.name == "__init__.py" else path
    return None


def _package_files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for path in sorted(root.iterdir()):
        if path.is_dir() and path.name not in IGNORED:
            yield from _package_files(path)
        elif path.is_file() and path.suffix != ".pyc":
            yield path


_TYPES = {bool: "true or false", str: "a string", list: "a list", dict: "a table"}


def toml_of(raw: bytes, path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        UsageError: it is malformed; the message names the file and, where it is known, the line.
    """
    import tomli

    try:
        return tomli.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8 (byte {error.start})", where=str(path)) from error
    except tomli.TOMLDecodeError as error:
        raise UsageError(f"is not TOML: {error.msg}", where=f"{path}:{error.lineno}") from error
    except RecursionError as error:
        raise UsageError("is nested too deeply", where=str(path)) from error
    except ValueError as error:  # a number with thousands of digits
        raise UsageError(f"has a value that cannot be read: {error}", where=str(path)) from error


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a file at a key (``study.columns[0]``), which is empty for the whole file."""

    path: Path
    content: Mapping[str, Any]
    key: str = ""

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        """Return the value of a key.

        Raises:
            UsageError: the value has another type.
        """
        value = self.content.get(key)
        if value is None:
            return default
        if type(value) is not kind:
            raise self.error(key, f"{value!r} is not {_TYPES[kind]}", allowed=_TYPES[kind])
        return value

    def inner(self, key: str, content: object, known: Iterable[str]) -> Table:
        """Return a table inside this one.

        Raises:
            UsageError: it is not a table, or has another key.
        """
        if not isinstance(content, Mapping):
            raise self.error(key, f"{content!r} is not a table", allowed=", ".join(known))
        table = Table(self.path, content, self._place(key))
        table.refuse_unknown(known)
        return table

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Check that every key is known.

        Raises:
            UsageError: one is not; the message names the nearest.
        """
        for key in self.content:
            if key not in known:
                hint = did_you_mean(key, known)
                raise self.error(key, f"unknown key{hint}", allowed=", ".join(known))

    def error(self, key: str, message: str, *, allowed: str | None = None) -> UsageError:
        """Return an error that names the file and the key."""
        return UsageError(f"{self._place(key)}: {message}", where=str(self.path), allowed=allowed)

    def _place(self, key: str) -> str:
        return f"{self.key}.{key}" if self.key else key


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


STUDY_KEYS = (
    "speaker_id_pattern",
    "require_consent",
    "primary_rater",
    "counts",
    "columns",
    "bands",
)
COLUMN_KEYS = ("name", "type", "unit", "minimum", "maximum", "choices", "title", "bands")


def read_study(table: Table) -> Study:
    """Return the settings of the table ``[study]``.

    Raises:
        UsageError: a value is malformed.
    """
    columns = {column.name: column for column in BUILT_IN}
    seen: set[str] = set()
    for number, content in enumerate(table.get("columns", list, [])):
        place = f"columns[{number}]"
        column = _column(table.inner(place, content, COLUMN_KEYS))
        if column.name in seen:
            raise table.error(f"{place}.name", f"'{column.name}' already exists")
        seen.add(column.name)
        columns[column.name] = column
    for name, bands in table.get("bands", dict, {}).items():
        if name not in columns:
            raise table.error(
                f"bands.{name}", "there is no such column", allowed=", ".join(columns)
            )
        columns[name] = _with_bands(table, f"bands.{name}", columns[name], bands)
    for name, column in columns.items():
        if (of := columns.get(column.bands_of)) and of.bands:
            columns[name] = replace(column, choices=tuple(band for band, _ in of.bands))
    return Study(
        _pattern(table),
        tuple(columns.values()),
        table.get("require_consent", bool, False),
        _counts(table),
    )


def _with_bands(table: Table, place: str, column: Column, bands: object) -> Column:
    """Return a column of numbers with the bands that a table names, each with its highest value."""
    allowed = "{ NAME = HIGHEST, ... }, for example { young = 64, old = 120 }; inf: no limit"
    if column.type not in ("whole", "number"):
        raise table.error(place, "only numbers have bands", allowed="type = 'number' or 'whole'")
    given = bands.items() if isinstance(bands, dict) else ()
    numbers = {name: number for name, highest in given if (number := _float(highest)) is not None}
    if not numbers or len(numbers) < len(given) or len({*numbers.values()}) < len(numbers):
        raise table.error(place, "these are not valid bands", allowed=allowed)
    last = math.inf if column.maximum is None else column.maximum
    if max(numbers.values()) < last:
        raise table.error(place, f"the last band must reach {last:g}", allowed=allowed)
    _check_groups(table, place, tuple(numbers))
    return replace(column, bands=tuple(numbers.items()))


def _float(value: object) -> float | None:
    """Return a number of a file as a float; None where it is none, or too large for one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value) if value.bit_length() <= 1023 else None
    return value if isinstance(value, float) and not math.isnan(value) else None


def _check_groups(table: Table, place: str, names: Sequence[str]) -> None:
    """Refuse names of bands or choices that a table, a filter or a terminal could not show."""
    for name in names:
        shown = 0 < len(name) <= LONGEST and name.isprintable() and name == name.strip()
        if shown and name != NOT_RECORDED and names.count(name) == 1:
            continue
        raise table.error(
            place, f"{name!r:.60} cannot be the name of a group",
            allowed=f"up to {LONGEST} printable characters, each name once, not '{NOT_RECORDED}'",
        )  # fmt: skip


def _counts(table: Table) -> str:
    """Return whose ratings count: ``primary_rater``, or ``counts``, which has rules too."""
    names = ("primary_rater", "counts")
    primary, counts = (table.get(name, str, "") for name in names)
    if primary and counts:
        raise table.error("counts", "either 'counts' or 'primary_rater', not both")
    for name, given in zip(names, (primary, counts), strict=True):
        allowed = f"primary:CODE, {', '.join(RULES)}"
        if name == "counts" and given and rule_of(given) is None and not given.startswith(PRIMARY):
            raise table.error(name, f"'{given}' names neither a rule nor a rater", allowed=allowed)
        try:
            if given:
                return counting(given)
        except UsageError as error:
            raise table.error(name, error.message, allowed=allowed) from error
    return ""


def _pattern(table: Table) -> str:
    pattern: str = table.get("speaker_id_pattern", str, Study().id_pattern)
    try:
        re.compile(pattern)
    except re.error as error:
        message = f"'{pattern}' is not a valid regular expression: {error}"
        raise table.error("speaker_id_pattern", message) from error
    return pattern


def _column(table: Table) -> Column:
    name, kind = table.content.get("name"), table.content.get("type", "text")
    if not isinstance(name, str) or not COLUMN_NAME.fullmatch(name):
        allowed = "up to 40 letters, digits and underscores, a letter first"
        raise table.error("name", f"{name!r} is not a valid column name", allowed=allowed)
    if kind not in COLUMN_TYPES:
        raise table.error("type", f"{kind!r} is not a valid type", allowed=", ".join(COLUMN_TYPES))
    low, high = _bound(table, "minimum", kind), _bound(table, "maximum", kind)
    if low is not None and high is not None and low > high:
        raise table.error("minimum", f"{low} is above the maximum {high}")
    unit, title = table.get("unit", str, ""), table.get("title", str, "")
    for key, text in (("unit", unit), ("title", title)):
        if not text.isprintable():
            raise table.error(key, f"{text!r} has characters that cannot be printed")
    column = Column(name, kind, unit, low, high, _choices(table, kind), title)
    bands = table.content.get("bands")
    return column if bands is None else _with_bands(table, "bands", column, bands)


def _bound(table: Table, key: str, kind: str) -> float | None:
    bound: object = table.content.get(key)
    if bound is None:
        return None
    if kind not in ("whole", "number"):
        raise table.error(key, f"a {kind} has no bounds")
    number = _float(bound)
    if number is None or math.isinf(number):
        raise table.error(key, f"{bound!r:.60} is not a number")
    return number if isinstance(bound, float) else int(number)


def _choices(table: Table, kind: str) -> tuple[str, ...]:
    choices = table.content.get("choices", [])
    are_texts = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
    if not are_texts or bool(choices) != (kind in ("choice", "choices")):
        message = "a choice, and nothing else, has a list of choices"
        raise table.error("choices", message, allowed='choices = ["one", "another"]')
    _check_groups(table, "choices", choices)
    if kind == "choices" and (several := [one for one in choices if "," in one]):
        raise table.error("choices", f"{several[0]!r} has a comma, which separates several choices")
    return tuple(choices)


TOO_LARGE = 2_000_000
"""Bytes. A larger file is refused unread."""
KEYS = ("store", "offline", "theme", "plugin_folders", "environment", "profile", "study")
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A ``tabwb.toml`` that was read. Every setting is checked, whether or not it has an effect.

    Attributes:
        path: of the file.
        digest: SHA-256 (hex) of the bytes that were read.
        content: its keys and values.
        store, offline, theme, study: as in :class:`Configuration`; None where not set. A relative
            path of a store counts from the file's folder.
        plugin_folders: absolute; relative ones count from the file's folder.
        environment: names of variables that children of plugins get besides the usual ones.
        profiles: by name.
        requires_consent: it requires consent, which counts without trust.
    """

    path: Path
    digest: str
    content: Mapping[str, Any]
    store: str | None = None
    offline: bool | None = None
    theme: str | None = None
    study: Study | None = None
    plugin_folders: tuple[Path, ...] = ()
    environment: tuple[str, ...] | None = None
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    requires_consent: bool = False

    @property
    def settings(self) -> tuple[str, ...]:
        """The keys that are set; of profiles and study each inner key."""
        keys: list[str] = []
        for key, value in self.content.items():
            inner = value if key in ("profile", "study") else ()
            keys += [f"{key}.{name}" for name in inner] or [key]
        return tuple(keys)

    def is_trusted(self, trust_list: TrustList) -> bool:
        """Return whether the user trusts exactly these bytes at this place."""
        try:
            place = self.path.parent.resolve() / self.path.name
            return trust_list.read()["files"].get(place) == self.digest
        except UsageError:
            return False  # whoever loads plugins reports the damaged list

    def narrowed(self, user: SettingsFile | None) -> tuple[SettingsFile, tuple[str, ...]]:
        """Return the file with only its restrictions, and the keys that are ignored.

        A key with the same value as in the user's own file is not named.
        """
        requires = self.study is not None and self.study.require_consent
        has_effect = {"theme", "plugin_folders"}
        has_effect |= {"offline"} if self.offline else set()
        has_effect |= {"study.require_consent"} if requires else set()
        own = user.content if user else {}
        ignored = tuple(
            key
            for key in self.settings
            if key not in has_effect and _at(self.content, key) != _at(own, key)
        )
        restrictions = SettingsFile(
            self.path,
            self.digest,
            {},
            offline=self.offline or None,
            theme=self.theme,
            requires_consent=requires,
        )
        return restrictions, ignored


def folder_file(folder: Path) -> SettingsFile | None:
    """Read the ``tabwb.toml`` of a folder; None where there is none.

    Raises:
        UsageError: it is malformed; the message names file and key.
    """
    path = folder / FILE
    raw = read_regular(path, TOO_LARGE)
    if raw is None:
        return None
    content = toml_of(raw, path)
    table = Table(path, content)
    table.refuse_unknown(KEYS)
    store = table.get("store", str)
    if store and "://" not in store:
        store = str(folder / Path(store).expanduser())
    names = table.get("plugin_folders", list, [])
    if not all(isinstance(name, str) for name in names):
        raise table.error("plugin_folders", "a folder is named by a string")
    variables = table.get("environment", list)
    if variables is not None and not all(isinstance(one, str) and one for one in variables):
        raise table.error("environment", "a variable is named by a string")
    profiles = table.get("profile", dict, {})
    study = content.get("study")
    return SettingsFile(
        path,
        hashlib.sha256(raw).hexdigest(),
        content,
        store,
        table.get("offline", bool),
        table.get("theme", str),
        None if study is None else read_study(table.inner("study", study, STUDY_KEYS)),
        tuple((folder / Path(name).expanduser()).resolve() for name in names),
        None if variables is None else tuple(variables),
        {name: read_profile(table, name, inner) for name, inner in profiles.items()},
    )


def _at(content: Mapping[str, Any], key: str) -> object:
    first, _, second = key.partition(".")
    value = content.get(first)
    return value.get(second) if second and isinstance(value, Mapping) else value


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings of one start of the program.

    Attributes:
        store: path or URL of the store, or None for the default.
        offline: only loopback and unix sockets are allowed.
        theme: the workbench's theme, or None for its default.
        profiles: by name.
        study: the form of speakers' IDs, and what is recorded of speakers.
        plugin_folders: from the user's own file; used without trust.
        project_plugin_folders: from ``./tabwb.toml``; used only once trusted, because the file may
            be part of a download.
        environment: names of variables that children of plugins get besides the usual ones.
        store_is_explicit: ``TABWB_STORE`` names the store.
        config_dir, data_dir: the user's folders (``TABWB_CONFIG_DIR``, ``TABWB_DATA_DIR``).
        files: the files that were read, the one that counts first.
        ignored: keys of ``./tabwb.toml`` without effect, because its folder is not trusted.
        untrusted: that folder, or None where nothing is ignored.
    """

    store: str | None = None
    offline: bool = False
    theme: str | None = None
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    study: Study = field(default_factory=Study)
    plugin_folders: tuple[Path, ...] = ()
    project_plugin_folders: tuple[Path, ...] = ()
    environment: tuple[str, ...] = ()
    store_is_explicit: bool = False
    config_dir: Path = field(default_factory=lambda: config_folder(os.environ))
    data_dir: Path = field(default_factory=lambda: data_folder(os.environ))
    files: tuple[Path, ...] = ()
    ignored: tuple[str, ...] = ()
    untrusted: Path | None = None

    def store_at(self, location: str | None = None) -> str | None:
        """Return the location of the store, first that of a flag; None for the default one.

        Raises:
            UsageError: only a folder that is not trusted names a store. Which of two stores
                receives a person's data must not be guessed.
        """
        if location:
            return location
        if "store" in self.ignored and not self.store_is_explicit:
            raise UsageError(
                "store: not used, because this folder is not trusted",
                where=str(self.untrusted and self.untrusted / FILE),
                allowed="offline = true, study.require_consent = true, theme",
                hint=f"read the file, then: tabwb trust {self.untrusted}; or name the store with "
                "--store or TABWB_STORE",
            )
        return self.store

    @property
    def trust_list(self) -> TrustList:
        """The hashes of trusted plugin folders and files."""
        return TrustList(self.config_dir)

    @classmethod
    def load(
        cls, *, cwd: Path | None = None, environ: Mapping[str, str] | None = None
    ) -> Configuration:
        """Read the files that exist and the environment."""
        env = os.environ if environ is None else environ
        user_dir = config_folder(env)
        project, user = folder_file(cwd or Path.cwd()), folder_file(user_dir)
        paths = tuple(file.path for file in (project, user) if file is not None)
        if project and user and project.path.resolve() == user.path.resolve():
            project = None
        ignored: tuple[str, ...] = ()
        folders = project.plugin_folders if project else ()
        if project is not None and not project.is_trusted(TrustList(user_dir)):
            project, ignored = project.narrowed(user)
        files = [file for file in (project, user) if file is not None]
        profiles: dict[str, Profile] = {}
        for file in reversed(files):
            profiles |= file.profiles
        offline = _first(files, "offline")
        if "TABWB_OFFLINE" in env:
            offline = _switch(env["TABWB_OFFLINE"], "TABWB_OFFLINE")
        study = _first(files, "study") or Study()
        if project is not None and project.requires_consent:
            study = replace(study, require_consent=True)
        return cls(
            store=env.get("TABWB_STORE") or _first(files, "store"),
            offline=bool(offline),
            theme=env.get("TABWB_THEME") or _first(files, "theme"),
            profiles=profiles,
            study=study,
            plugin_folders=user.plugin_folders if user else (),
            project_plugin_folders=folders,
            environment=_first(files, "environment") or (),
            store_is_explicit=bool(env.get("TABWB_STORE")),
            config_dir=user_dir,
            data_dir=data_folder(env),
            files=paths,
            ignored=ignored,
            untrusted=project.path.parent.resolve() if project and ignored else None,
        )


def config_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's configuration folder; it need not exist."""
    return _user_folder(environ, "config")


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's data folder; it need not exist."""
    return _user_folder(environ, "data")


def _user_folder(environ: Mapping[str, str], kind: Literal["config", "data"]) -> Path:
    if name := environ.get(f"TABWB_{kind.upper()}_DIR"):
        return Path(name).expanduser()
    from platformdirs import PlatformDirs

    folders = PlatformDirs("tabwb", appauthor=False)
    return folders.user_config_path if kind == "config" else folders.user_data_path


def _first(files: Sequence[SettingsFile], setting: str) -> Any:
    values = (getattr(file, setting) for file in files)
    return next((value for value in values if value is not None), None)


def _switch(text: str, name: str) -> bool:
    word = text.strip().lower()
    if word not in _YES | _NO:
        raise UsageError(f"'{text}' is neither on nor off", where=name, allowed="1 or 0")
    return word in _YES


def bundled_folder(kind: str) -> Path:
    """Return the folder of the files of a kind (``judges``, ``forms``) that come with tabwb."""
    batteries = find_spec("tabwb_batteries")
    (root, *_) = (batteries and batteries.submodule_search_locations) or ("",)
    return Path(root) / kind


def own_files(
    kind: str, noun: str, name_problem: Callable[[str], str]
) -> tuple[dict[str, Path], list[str]]:
    """Return the TOML files of a kind by id, and the problems of other files' names.

    A file has its id as its name: ``tab-19.toml``. A file of tabwb is never replaced: an id must
    mean the same on every machine.
    """
    files: dict[str, Path] = {}
    wrong: list[str] = []
    for folder in (bundled_folder(kind), config_folder(os.environ) / kind):
        for path in sorted(folder.glob("*.toml"), key=lambda path: path.stem):
            if problem := name_problem(path.stem):
                wrong.append(f"{path}: {problem}")
            elif path.stem in files:
                wrong.append(
                    f"{path}: a {noun} '{path.stem}' comes with tabwb; choose another name"
                )
            else:
                files[path.stem] = path
    return files, wrong
