"""What the user has set: flags, then ``TABWB_*``, then ``./tabwb.toml``, then the user's own file.

Flags are applied by the command line on top of what :meth:`Configuration.load` returns.

A ``tabwb.toml`` in the current folder may have come with a download. Until the user trusts it
(``tabwb trust FOLDER``) it may only narrow what the program does: ``offline = true``,
``require_consent = true``, and the theme. Everything else in it is ignored and named.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular
from tabwb.records.identifiers import is_kebab
from tabwb.records.specs import Spec
from tabwb.records.study import Study

TOO_LARGE = 2_000_000
"""Bytes. A larger file is refused unread."""
FILE = "tabwb.toml"
"""The name of both files: the one in the current folder and the one in the user's folder."""
KEYS = ("store", "offline", "theme", "plugin_folders", "profile", "study")
PROFILE_KEYS = ("id", "name", "options", "family", "tuning", "parameters")
TUNINGS = ("base", "instruct")
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Profile:
    """A spec under a name of the user's: ``profile:NAME``.

    Attributes:
        spec: what it stands for; its values may hold what a spec cannot (commas).
        where: file and key, for messages.
        family: of the model, for instance ``Llama-3.2``; empty where not said.
        tuning: ``base`` or ``instruct``; empty where not said. A base and an instruct model of one
            family and size make a pair in results.
        parameters: how many the model has, or None where not said.
    """

    spec: Spec
    where: str
    family: str = ""
    tuning: str = ""
    parameters: int | None = None

    @property
    def labels(self) -> dict[str, str]:
        """What is said of the model, as it is kept with an administration."""
        said = {"family": self.family, "tuning": self.tuning}
        if self.parameters is not None:
            said["parameters"] = str(self.parameters)
        return {key: value for key, value in said.items() if value}


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings of one start of the program.

    Attributes:
        store: path or URL of the store, or None for the default.
        offline: nothing but loopback and unix sockets.
        theme: the workbench's theme, or None for its default.
        profiles: by name.
        study: how speakers' IDs are written and what is recorded of them.
        plugin_folders: from the user's own file; honoured as they are.
        project_plugin_folders: from ``./tabwb.toml``; honoured only once trusted, because the file
            may have come with a download.
        store_is_explicit: ``TABWB_STORE`` names the store.
        config_dir, data_dir: the user's folders (``TABWB_CONFIG_DIR``, ``TABWB_DATA_DIR``).
        files: the files that were read, the stronger first.
        ignored: the settings of ``./tabwb.toml`` that have no effect because its folder is not
            trusted, by key.
        untrusted: that folder, or None where nothing is ignored.
    """

    store: str | None = None
    offline: bool = False
    theme: str | None = None
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    study: Study = field(default_factory=Study)
    plugin_folders: tuple[Path, ...] = ()
    project_plugin_folders: tuple[Path, ...] = ()
    store_is_explicit: bool = False
    config_dir: Path = field(default_factory=lambda: config_folder(os.environ))
    data_dir: Path = field(default_factory=lambda: data_folder(os.environ))
    files: tuple[Path, ...] = ()
    ignored: tuple[str, ...] = ()
    untrusted: Path | None = None

    def store_at(self, location: str | None = None) -> str | None:
        """Return the location of the store; None for the default one.

        Args:
            location: from a flag; it counts before everything else.

        Raises:
            UsageError: a folder that is not trusted names a store and the user names none. Which
                of two stores receives a person's data must not be guessed.
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
    def trust_file(self) -> Path:
        """Where the hashes of trusted plugin folders are kept."""
        return trust_file_in(self.config_dir)

    @classmethod
    def load(
        cls, *, cwd: Path | None = None, environ: Mapping[str, str] | None = None
    ) -> Configuration:
        """Read what there is; missing files are no error.

        Args:
            cwd: the folder of the project's ``tabwb.toml``; the current one when None.
            environ: the environment; the process's own when None.

        Raises:
            UsageError: a file or variable is malformed; the message names file and key.
        """
        env = os.environ if environ is None else environ
        user_dir = config_folder(env)
        project = _read((cwd or Path.cwd()) / FILE)
        user = _read(user_dir / FILE)
        files = tuple(table.path for table in (project, user) if table is not None)
        if project and user and project.path.resolve() == user.path.resolve():
            project = None
        ignored: tuple[str, ...] = ()
        folders = project.folders() if project else ()
        if project is not None and not project.is_trusted(trust_file_in(user_dir)):
            project.check()
            project, ignored = project.narrowed(user)
        tables = [table for table in (project, user) if table is not None]
        profiles: dict[str, Profile] = {}
        for table in reversed(tables):
            profiles |= table.profiles()
        offline = _switch(env.get("TABWB_OFFLINE"), "TABWB_OFFLINE")
        if offline is None:
            offline = _first(tables, lambda table: table.value("offline", bool))
        study = _first(tables, _Table.study) or Study()
        if project is not None and project.requires_consent and not study.require_consent:
            study = replace(study, require_consent=True)
        return cls(
            store=env.get("TABWB_STORE") or _first(tables, _Table.store),
            offline=bool(offline),
            theme=env.get("TABWB_THEME") or _first(tables, lambda table: table.value("theme", str)),
            profiles=profiles,
            study=study,
            plugin_folders=user.folders() if user else (),
            project_plugin_folders=folders,
            store_is_explicit=bool(env.get("TABWB_STORE")),
            config_dir=user_dir,
            data_dir=data_folder(env),
            files=files,
            ignored=ignored,
            untrusted=project.path.parent.resolve() if project and ignored else None,
        )


@dataclass(frozen=True, slots=True)
class FolderFile:
    """The ``tabwb.toml`` of a folder, for whoever decides whether to trust it.

    Attributes:
        path: of the file, absolute.
        digest: SHA-256 (hex) of the bytes that were read.
        settings: the keys that it sets.
        store: the store that it names, or None.
        plugin_folders: absolute.
    """

    path: Path
    digest: str
    settings: tuple[str, ...]
    store: str | None
    plugin_folders: tuple[Path, ...]


def folder_file(folder: Path) -> FolderFile | None:
    """Read the ``tabwb.toml`` of a folder; None where there is none.

    Raises:
        UsageError: it is malformed; the message names file and key.
    """
    table = _read(folder.resolve() / FILE)
    if table is None:
        return None
    table.check()
    return FolderFile(table.path, table.digest, table.settings(), table.store(), table.folders())


def trust_file_in(config_dir: Path) -> Path:
    """Return where the hashes of trusted folders and files are kept."""
    return config_dir / "trusted-plugins.json"


def option_text(value: object) -> str | None:
    """A value of TOML as a spec has it; None for what no option can be.

    >>> option_text(True), option_text(2), option_text("a, b"), option_text([1])
    ('true', '2', 'a, b', None)
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def config_folder(environ: Mapping[str, str]) -> Path:
    """The user's configuration folder; it need not exist."""
    if environ.get("TABWB_CONFIG_DIR"):
        return Path(environ["TABWB_CONFIG_DIR"]).expanduser()
    from platformdirs import user_config_path

    return user_config_path("tabwb", appauthor=False)


def data_folder(environ: Mapping[str, str]) -> Path:
    """The user's data folder; it need not exist."""
    if environ.get("TABWB_DATA_DIR"):
        return Path(environ["TABWB_DATA_DIR"]).expanduser()
    from platformdirs import user_data_path

    return user_data_path("tabwb", appauthor=False)


@dataclass(frozen=True, slots=True)
class _Table:
    """One file that was read."""

    path: Path
    content: Mapping[str, Any]
    digest: str
    requires_consent: bool = False

    def is_trusted(self, trust_file: Path) -> bool:
        """Whether the user trusts exactly these bytes at this place."""
        from tabwb.plugin_api.registry.trust import trusted_files

        try:
            place = self.path.parent.resolve() / self.path.name
            return trusted_files(trust_file).get(place) == self.digest
        except UsageError:
            # Whoever loads plugins reports the damaged list.
            return False

    def check(self) -> None:
        """Read every setting, so that a mistake is named whether or not it has an effect.

        Raises:
            UsageError: a setting is malformed.
        """
        self.value("offline", bool), self.value("theme", str)
        self.store(), self.study(), self.folders(), self.profiles()

    def settings(self) -> tuple[str, ...]:
        """The keys that are set; of a table of tables each."""
        keys: list[str] = []
        for key, value in self.content.items():
            inner = list(value) if key in ("profile", "study") and isinstance(value, dict) else []
            keys += [f"{key}.{each}" for each in inner] or [key]
        return tuple(keys)

    def narrowed(self, user: _Table | None) -> tuple[_Table, tuple[str, ...]]:
        """The table with only what narrows, and the keys that are left out.

        What says the same as the user's own file is not named: it changes nothing.
        """
        study = self.content.get("study", {})
        kept = {"theme": self.content["theme"]} if "theme" in self.content else {}
        if self.content.get("offline"):
            kept["offline"] = True
        requires = study.get("require_consent") is True
        has_effect = {*kept, "plugin_folders"} | ({"study.require_consent"} if requires else set())
        own = user.content if user else {}
        ignored = tuple(
            key
            for key in self.settings()
            if key not in has_effect and _at(self.content, key) != _at(own, key)
        )
        return _Table(self.path, kept, self.digest, requires), ignored

    def value(self, key: str, kind: type) -> Any:
        """The value of ``key``, or None where it is not set."""
        found = self.content.get(key)
        if found is not None and type(found) is not kind:
            names = {bool: "true or false", str: "a string", list: "a list", dict: "a table"}
            raise self.error(key, f"{found!r} is not {names[kind]}", allowed=names[kind])
        return found

    def store(self) -> str | None:
        """The store; a relative path counts from the file that names it."""
        location: str | None = self.value("store", str)
        if not location or "://" in location:
            return location
        return str(self.path.parent / Path(location).expanduser())

    def study(self) -> Study | None:
        """What the study says of its speakers, or None where it says nothing."""
        if "study" not in self.content:
            return None
        from tabwb.plugin_api.config.study import read_study

        return read_study(self.content["study"], self.error)

    def folders(self) -> tuple[Path, ...]:
        """The plugin folders, absolute; relative ones count from the file that names them."""
        names = self.value("plugin_folders", list) or []
        if not all(isinstance(name, str) for name in names):
            raise self.error("plugin_folders", "a folder is named by a string")
        return tuple((self.path.parent / Path(name).expanduser()).resolve() for name in names)

    def profiles(self) -> dict[str, Profile]:
        """The profiles by name."""
        profiles = {}
        for name, table in (self.value("profile", dict) or {}).items():
            key = f"profile.{name}"
            if not isinstance(table, dict):
                raise self.error(key, f"{table!r} is not a table", allowed=", ".join(PROFILE_KEYS))
            _refuse_unknown(self, table, PROFILE_KEYS, f"{key}.")
            identifier, spec_name = table.get("id"), table.get("name")
            if not isinstance(identifier, str) or not is_kebab(identifier):
                raise self.error(f"{key}.id", f"{identifier!r} is not the id of a component")
            if spec_name is not None and not isinstance(spec_name, str):
                raise self.error(f"{key}.name", f"{spec_name!r} is not a string")
            options = table.get("options", {})
            if not isinstance(options, dict):
                raise self.error(f"{key}.options", f"{options!r} is not a table")
            texts = {option: self._text(f"{key}.options", v) for option, v in options.items()}
            profiles[name] = Profile(
                Spec(identifier, spec_name, texts),
                f"{self.path}: {key}",
                **self._labels(table, key),
            )
        return profiles

    def _labels(self, table: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Family, tuning and number of parameters of a profile, as far as they are said."""
        family, tuning = table.get("family", ""), table.get("tuning", "")
        parameters = table.get("parameters")
        if not isinstance(family, str):
            raise self.error(f"{key}.family", f"{family!r} is not a string")
        if tuning not in ("", *TUNINGS):
            raise self.error(
                f"{key}.tuning", f"{tuning!r} is not a valid tuning", allowed=", ".join(TUNINGS)
            )
        if parameters is not None and (
            isinstance(parameters, bool) or not isinstance(parameters, int) or parameters < 1
        ):
            raise self.error(
                f"{key}.parameters",
                f"{parameters!r} is not a number of parameters",
                allowed="a whole number, 1_240_000_000",
            )
        return {"family": family, "tuning": tuning, "parameters": parameters}

    def _text(self, key: str, value: object) -> str:
        text = option_text(value)
        if text is None:
            raise self.error(key, f"{value!r} is not a string, a number, true or false")
        return text

    def error(self, key: str, message: str, *, allowed: str | None = None) -> UsageError:
        """An error that names file and key."""
        return UsageError(f"{key}: {message}", where=str(self.path), allowed=allowed)


def _read(path: Path) -> _Table | None:
    raw = read_regular(path, TOO_LARGE)
    if raw is None:
        return None
    import tomli

    try:
        content = tomli.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8 (byte {error.start})", where=str(path)) from error
    except tomli.TOMLDecodeError as error:
        raise UsageError(f"is not TOML: {error.msg}", where=f"{path}:{error.lineno}") from error
    except RecursionError as error:
        raise UsageError("is nested too deeply", where=str(path)) from error
    table = _Table(path, content, hashlib.sha256(raw).hexdigest())
    _refuse_unknown(table, content, KEYS, "")
    return table


def _refuse_unknown(
    table: _Table, content: Mapping[str, Any], known: tuple[str, ...], prefix: str
) -> None:
    for key in content:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            raise table.error(
                prefix + key,
                "unknown key" + (f"; did you mean '{near[0]}'?" if near else ""),
                allowed=", ".join(known),
            )


def _at(content: Mapping[str, Any], key: str) -> object:
    first, _, second = key.partition(".")
    found = content.get(first)
    return found.get(second) if second and isinstance(found, Mapping) else found


def _first(tables: list[_Table], value: Callable[[_Table], Any]) -> Any:
    # Every file is looked at, so that a mistake in a weaker one is not hidden by a stronger one.
    found = [value(table) for table in tables]
    return next((each for each in found if each is not None), None)


def _switch(text: str | None, name: str) -> bool | None:
    if text is None:
        return None
    if text.strip().lower() in _YES | _NO:
        return text.strip().lower() in _YES
    raise UsageError(f"'{text}' is neither on nor off", where=name, allowed="1 or 0")
