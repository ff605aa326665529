"""The user's settings: flags, then ``TABWB_*``, then ``./tabwb.toml``, then the user's own file.

The command line applies flags to the result of :meth:`Configuration.load`.

A ``tabwb.toml`` in the current folder may be part of a download. Until the user trusts it
(``tabwb trust FOLDER``) it can only restrict the program: ``offline = true``,
``require_consent = true``, and the theme. The program names its other settings and ignores them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tabwb.plugin_api.config.file import SettingsFile, read_settings
from tabwb.plugin_api.config.profiles import FILE, Profile
from tabwb.plugin_api.config.trust import TrustList
from tabwb.records.errors import UsageError
from tabwb.records.study import Study

_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"", "0", "false", "no", "off"})


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
    store_is_explicit: bool = False
    config_dir: Path = field(default_factory=lambda: config_folder(os.environ))
    data_dir: Path = field(default_factory=lambda: data_folder(os.environ))
    files: tuple[Path, ...] = ()
    ignored: tuple[str, ...] = ()
    untrusted: Path | None = None

    def store_at(self, location: str | None = None) -> str | None:
        """Return the location of the store; None for the default one.

        Args:
            location: from a flag; it counts first.

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
    def trust_list(self) -> TrustList:
        """The hashes of trusted plugin folders and files."""
        return _trust_list(self.config_dir)

    @classmethod
    def load(
        cls, *, cwd: Path | None = None, environ: Mapping[str, str] | None = None
    ) -> Configuration:
        """Read the files that exist and the environment.

        Args:
            cwd: the folder of the project's ``tabwb.toml``; the current one when None.
            environ: the environment; the process's own when None.

        Raises:
            UsageError: a file or variable is malformed; the message names file and key.
        """
        env = os.environ if environ is None else environ
        user_dir = config_folder(env)
        project = read_settings((cwd or Path.cwd()) / FILE)
        user = read_settings(user_dir / FILE)
        paths = tuple(file.path for file in (project, user) if file is not None)
        if project and user and project.path.resolve() == user.path.resolve():
            project = None
        ignored: tuple[str, ...] = ()
        folders = project.folders() if project else ()
        if project is not None and not project.is_trusted(_trust_list(user_dir)):
            project.check()
            project, ignored = project.narrowed(user)
        files = [file for file in (project, user) if file is not None]
        profiles: dict[str, Profile] = {}
        for file in reversed(files):
            profiles |= file.profiles()
        offline = _switch(env.get("TABWB_OFFLINE"), "TABWB_OFFLINE")
        if offline is None:
            offline = _first(files, SettingsFile.offline)
        study = _first(files, SettingsFile.study) or Study()
        if project is not None and project.requires_consent and not study.require_consent:
            study = replace(study, require_consent=True)
        return cls(
            store=env.get("TABWB_STORE") or _first(files, SettingsFile.store),
            offline=bool(offline),
            theme=env.get("TABWB_THEME") or _first(files, SettingsFile.theme),
            profiles=profiles,
            study=study,
            plugin_folders=user.folders() if user else (),
            project_plugin_folders=folders,
            store_is_explicit=bool(env.get("TABWB_STORE")),
            config_dir=user_dir,
            data_dir=data_folder(env),
            files=paths,
            ignored=ignored,
            untrusted=project.path.parent.resolve() if project and ignored else None,
        )


def _trust_list(config_dir: Path) -> TrustList:
    return TrustList(config_dir / "trusted-plugins.json")


def config_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's configuration folder; it need not exist."""
    if environ.get("TABWB_CONFIG_DIR"):
        return Path(environ["TABWB_CONFIG_DIR"]).expanduser()
    from platformdirs import user_config_path

    return user_config_path("tabwb", appauthor=False)


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's data folder; it need not exist."""
    if environ.get("TABWB_DATA_DIR"):
        return Path(environ["TABWB_DATA_DIR"]).expanduser()
    from platformdirs import user_data_path

    return user_data_path("tabwb", appauthor=False)


def _first(files: list[SettingsFile], read: Callable[[SettingsFile], Any]) -> Any:
    # Every file is read, so that a stronger one does not hide a mistake in a weaker one.
    values = [read(file) for file in files]
    return next((value for value in values if value is not None), None)


def _switch(text: str | None, name: str) -> bool | None:
    if text is None:
        return None
    if text.strip().lower() in _YES | _NO:
        return text.strip().lower() in _YES
    raise UsageError(f"'{text}' is neither on nor off", where=name, allowed="1 or 0")
