"""The user's settings: flags, then ``TABWB_*``, then ``./tabwb.toml``, then the user's own file.

The command line applies flags to the result of :meth:`Configuration.load`.

A ``tabwb.toml`` in the current folder may be part of a download. Until the user trusts it
(``tabwb trust FOLDER``) it can only restrict the program: ``offline = true``,
``require_consent = true``, and the theme. The program names its other settings and ignores them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tabwb.plugin_api.config.profiles import FILE, Profile, read_profile
from tabwb.plugin_api.config.study import KEYS as STUDY_KEYS
from tabwb.plugin_api.config.study import read_study
from tabwb.plugin_api.config.table import Table, toml_of
from tabwb.plugin_api.config.trust import TrustList
from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular
from tabwb.records.speakers import Study

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
        """Read the files that exist and the environment.

        Args:
            cwd: the folder of the project's ``tabwb.toml``; the current one when None.
            environ: the environment; the process's own when None.
        """
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
