"""One ``tabwb.toml``: its checked settings, and those that count before it is trusted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.plugin_api.config.profiles import FILE, Profile, read_profile
from tabwb.plugin_api.config.study import KEYS as STUDY_KEYS
from tabwb.plugin_api.config.study import read_study
from tabwb.plugin_api.config.table import Table
from tabwb.plugin_api.config.trust import TrustList
from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular
from tabwb.records.study import Study

TOO_LARGE = 2_000_000
"""Bytes. A larger file is refused unread."""
KEYS = ("store", "offline", "theme", "plugin_folders", "profile", "study")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file that was read.

    Attributes:
        table: its content.
        digest: SHA-256 (hex) of the bytes that were read.
        requires_consent: it requires consent, which counts without trust.
    """

    table: Table
    digest: str
    requires_consent: bool = False

    @property
    def path(self) -> Path:
        """The file."""
        return self.table.path

    def is_trusted(self, trust_list: TrustList) -> bool:
        """Return whether the user trusts exactly these bytes at this place."""
        try:
            place = self.path.parent.resolve() / self.path.name
            return trust_list.files().get(place) == self.digest
        except UsageError:
            return False  # whoever loads plugins reports the damaged list

    def check(self) -> None:
        """Read every setting, so that a mistake is named whether or not it has an effect.

        Raises:
            UsageError: a setting is malformed.
        """
        self.offline(), self.theme()
        self.store(), self.study(), self.folders(), self.profiles()

    def settings(self) -> tuple[str, ...]:
        """Return the keys that are set; of profiles and study each inner key."""
        keys: list[str] = []
        for key, value in self.table.content.items():
            inner = list(value) if key in ("profile", "study") and isinstance(value, dict) else []
            keys += [f"{key}.{name}" for name in inner] or [key]
        return tuple(keys)

    def narrowed(self, user: SettingsFile | None) -> tuple[SettingsFile, tuple[str, ...]]:
        """Return the file with only its restrictions, and the keys that are ignored.

        A key with the same value as in the user's own file is not named.
        """
        content = self.table.content
        kept = {"theme": content["theme"]} if "theme" in content else {}
        if content.get("offline"):
            kept["offline"] = True
        requires = content.get("study", {}).get("require_consent") is True
        has_effect = {*kept, "plugin_folders"} | ({"study.require_consent"} if requires else set())
        own = user.table.content if user else {}
        ignored = tuple(
            key
            for key in self.settings()
            if key not in has_effect and _at(content, key) != _at(own, key)
        )
        return SettingsFile(Table(self.path, kept), self.digest, requires), ignored

    def offline(self) -> bool | None:
        """Return whether to stay offline; None where it is not set."""
        offline: bool | None = self.table.get("offline", bool)
        return offline

    def theme(self) -> str | None:
        """Return the theme; None where it is not set."""
        theme: str | None = self.table.get("theme", str)
        return theme

    def store(self) -> str | None:
        """Return the store; a relative path counts from the file that names it."""
        location: str | None = self.table.get("store", str)
        if not location or "://" in location:
            return location
        return str(self.path.parent / Path(location).expanduser())

    def study(self) -> Study | None:
        """Return the settings of the study, or None where there are none."""
        if "study" not in self.table.content:
            return None
        return read_study(self.table.inner("study", self.table.content["study"], STUDY_KEYS))

    def folders(self) -> tuple[Path, ...]:
        """Return the plugin folders, absolute; relative ones count from this file's folder.

        Raises:
            UsageError: a folder is not a string.
        """
        names = self.table.get("plugin_folders", list, [])
        if not all(isinstance(name, str) for name in names):
            raise self.table.error("plugin_folders", "a folder is named by a string")
        return tuple((self.path.parent / Path(name).expanduser()).resolve() for name in names)

    def profiles(self) -> dict[str, Profile]:
        """Return the profiles by name."""
        profiles = self.table.get("profile", dict, {})
        return {name: read_profile(self.table, name, inner) for name, inner in profiles.items()}


@dataclass(frozen=True, slots=True)
class FolderFile:
    """The ``tabwb.toml`` of a folder, as shown before the user trusts it.

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
    file = read_settings(folder.resolve() / FILE)
    if file is None:
        return None
    file.check()
    return FolderFile(file.path, file.digest, file.settings(), file.store(), file.folders())


def read_settings(path: Path) -> SettingsFile | None:
    """Read a file; None where there is none.

    Raises:
        UsageError: it is not TOML, or has an unknown key.
    """
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
    table = Table(path, content)
    table.refuse_unknown(KEYS)
    return SettingsFile(table, hashlib.sha256(raw).hexdigest())


def _at(content: Mapping[str, Any], key: str) -> object:
    first, _, second = key.partition(".")
    value = content.get(first)
    return value.get(second) if second and isinstance(value, Mapping) else value
