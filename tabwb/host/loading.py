"""Loading of plugins: installed entry points and trusted folders, one by one."""

from __future__ import annotations

import inspect
import re
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.machinery import FileFinder, SourceFileLoader
from importlib.metadata import EntryPoint, entry_points, version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pluggy

from tabwb.host.guarded import error_words, interrupts_say, plugin_code
from tabwb.host.settings import Configuration, folder_hash
from tabwb.plugin_api import hookspecs
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.specs import is_kebab
from tabwb.records.system import NAME
from tabwb.records.words import did_you_mean

API_VERSION = 2
"""Raised when hooks or contracts change so that plugins must change.

Since 2 (tabwb 0.2.0) a scorer declares which of its measures are verdicts.
"""
DECLARED = "tabwb_api"
"""The attribute of a plugin's module in which it may name the number that it was made for."""
_REQUIREMENT = re.compile(
    rf"{NAME}(?![\w.-])\s*(?:\[[^]]*\])?\s*\(?\s*([^;)]*)\)?\s*(?:;(.*))?", re.IGNORECASE
)
_SPECIFIER = re.compile(r"(===|==|~=|!=|>=|<=|>|<)\s*v?(\d+(?:\.\d+)*)(\.\*)?")
_HOLDS: Mapping[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": lambda own, other: own >= other,
    "<=": lambda own, other: own <= other,
    ">": lambda own, other: own > other,
    "<": lambda own, other: own < other,
    "~=": lambda own, other: own >= other,
    "==": lambda own, other: own == other,
    "===": lambda own, other: own == other,
    "!=": lambda own, other: own != other,
}


def unmet(requirements: Iterable[str], version: str) -> str:
    """Return the requirement of tabwb that a version does not meet, or nothing.

    >>> unmet(["numpy>=9", "tabwb>=0.1,<0.2 ; python_version > '3'"], "0.2.0")
    'tabwb>=0.1,<0.2'
    >>> unmet(["tabwb[local] ~=0.2.1", "tabwb==0.2.*", "tabwb-words>=9"], "0.2.3")
    ''
    """
    for requirement in requirements:
        match = _REQUIREMENT.fullmatch(requirement.strip())
        if match is None or "extra" in (match[2] or ""):
            continue
        for operator, number, wild in _SPECIFIER.findall(match[1]):
            if not _meets(_numbers(version), operator, _numbers(number), whole=not wild):
                return requirement.partition(";")[0].strip()
    return ""


def _meets(own: tuple[int, ...], operator: str, other: tuple[int, ...], *, whole: bool) -> bool:
    if operator == "~=" and own[: len(other) - 1] != other[:-1]:
        return False
    size = max(len(own), len(other)) if whole else len(other)
    pad = [(*numbers, *[0] * size)[:size] for numbers in (own, other)]
    return _HOLDS[operator](pad[0], pad[1])


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()


def check_requirements(requirements: Iterable[str], version: str) -> None:
    """Check that a plugin's package may be used with this tabwb.

    Raises:
        ComponentError: it needs another one.
    """
    if needed := unmet(requirements, version):
        raise ComponentError(
            f"needs {needed}, and this is {NAME} {version}",
            hint=f"install another version of the plugin, or of {NAME}",
        )


def check_api(plugin: object) -> None:
    """Check the number of the interface that a plugin names, if it does.

    Raises:
        ComponentError: it was made for another one.
    """
    declared = getattr(plugin, DECLARED, API_VERSION)
    if declared != API_VERSION:
        raise ComponentError(
            f"was made for plugin interface {declared!r}, and this {NAME} has {API_VERSION}",
            allowed=f"{DECLARED} = {API_VERSION}",
        )


FILE = ".py"
"""The suffix of a plugin that is one file."""
GROUP = "tabwb"
"""The entry-point group, in installed packages and in a folder's ``pyproject.toml``."""
READING, LOADING, NOT_LOADED = "reading", "loading", "not loaded"
"""``PluginProblem.what`` where a folder is not readable, a plugin raises, or is not used."""


@dataclass(frozen=True, slots=True)
class PluginProblem:
    """A failure of a plugin (its entry point or folder), what failed, and the error's text."""

    plugin: str
    what: str
    error: str

    def __str__(self) -> str:
        return f"{self.plugin}: {self.what}: {self.error}"


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """A plugin by its entry point, with its package where known; ``folder`` if not installed."""

    name: str
    distribution: str
    version: str
    folder: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether it comes with tabwb."""
        return self.distribution == NAME and not self.folder

    @property
    def source(self) -> str:
        """The folder, or the distribution with its version."""
        return self.folder or f"{self.distribution} {self.version}".strip()


ON_EVENT, OBSERVER = "tabwb_on_event", "tabwb_on_"
"""The hook that is called with events, and the beginning of its old names, one for each class."""
OLD_HOOK = "old hook"
"""``PluginProblem.what`` begins so where a plugin has a hook by its old name."""


@cache
def old_observer(event: str) -> str:
    """Return the hook for a class of events before 0.2, which is called until 0.3.

    >>> old_observer("TrialStarted")
    'tabwb_on_trial_started'
    """
    return OBSERVER + re.sub("(?<!^)(?=[A-Z])", "_", event).lower()


def _replaced(hook: str) -> str:
    """Return what to write instead of the old name of a hook; empty: it is none."""
    from tabwb.records import events

    for name in vars(events):
        if hook.startswith(OBSERVER) and hook == old_observer(name):
            return (
                f"is an old name, called until tabwb 0.3; write {ON_EVENT}(event) and "
                f"'if isinstance(event, {name})'"
            )
    return ""


class Loader:
    """Loads plugins into a pluggy manager, installed ones first; callers add to ``problems``.

    Attributes:
        seconds: that each plugin took to be imported.
        decorated: of functions with decorators the plugin, the kind, and what is registered.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self.loaded: list[PluginInfo] = []
        self.problems: list[PluginProblem] = []
        self.seconds: dict[str, float] = {}
        self.decorated: list[tuple[str, str, Any]] = []

    def load_all(self, modules: Mapping[str, object]) -> None:
        """Load installed plugins, plugin folders that may be used, then modules by their names."""
        for info, entry in installed_entries():
            distribution = None if info.is_ours else entry.dist
            needs = () if distribution is None else distribution.requires or ()
            self._load(info, entry.load, needs)
        self._load_folders()
        for name in modules:
            if not self.manager.has_plugin(name):
                self._load(PluginInfo(name, "", ""), partial(modules.__getitem__, name))

    def _load_folders(self) -> None:
        settings = self._configuration
        for folder in settings.plugin_folders:
            self._load_folder(folder)
        try:
            trusted = settings.trust_list.read()["folders"]
        except TabwbError as error:
            self._failed(settings.trust_list.path.name, READING, str(error))
            return
        for folder in dict.fromkeys((*trusted, *settings.project_plugin_folders)):
            if folder in settings.plugin_folders:
                continue
            kept = trusted.get(folder.resolve())
            if kept is not None and not folder.exists():
                command = f"tabwb plugins untrust {shlex.quote(str(folder))}"
                self._failed(
                    str(folder),
                    READING,
                    f"the folder is gone; to remove it from the list: {command}",
                )
                continue
            try:
                is_trusted = kept is not None and folder_hash(folder.resolve()) == kept
            except TabwbError as error:
                self._failed(str(folder), READING, str(error))
                continue
            if is_trusted:
                self._load_folder(folder)
                continue
            why = "is not trusted" if kept is None else "changed since it was trusted"
            what_to_do = f"read its code, then run: tabwb plugins trust {folder}"
            self._failed(str(folder), NOT_LOADED, f"{why}; {what_to_do}")

    def _load_folder(self, folder: Path) -> None:
        try:
            entries = folder_entries(folder)
            needs = folder_requirements(folder)
            if folder.suffix != FILE:
                _make_importable(folder)
        except TabwbError as error:
            self._failed(str(folder), READING, str(error))
            return
        for info, value in entries:
            load = EntryPoint(info.name, value, GROUP).load
            if folder.suffix == FILE:
                load = partial(_file_module, value, folder)
            self._load(info, load, needs)

    def _load(self, info: PluginInfo, load: Callable[[], Any], needs: Iterable[str] = ()) -> None:
        if self.manager.has_plugin(info.name):
            owner = next(other for other in self.loaded if other.name == info.name)
            why = f"'{owner.source}' and '{info.source}' both have a plugin with this name"
            self._failed(info.name, NOT_LOADED, f"{why}; the first is used")
            return
        started = time.perf_counter()
        try:
            if needs:
                check_requirements(needs, version(NAME))
            with interrupts_say(f"plugin '{info.name}' was loading"), plugin_code:
                module = load()
                if isinstance(module, type):
                    module = module()
                check_api(module)
                self._check_module(module)
                if not info.is_ours:
                    self._check_arguments(module)
                self.manager.register(module, info.name)
        except Exception as error:  # noqa: BLE001 - a plugin's import may raise anything
            if self.manager.has_plugin(info.name):
                self.manager.unregister(name=info.name)
            self._failed(info.name, LOADING, error_words(error))
            return
        self.loaded.append(info)
        self.seconds[info.name] = time.perf_counter() - started
        self._check_hooks(info.name, module)
        if not info.is_ours and isinstance(module, ModuleType):
            from tabwb.plugin_api.decorators import registrations

            self.decorated += [(info.name, *made) for made in registrations(module)]

    def _check_module(self, module: object) -> None:
        if (name := self.manager.get_name(module)) is not None:
            owner = next(other for other in self.loaded if other.name == name)
            package = getattr(module, "__name__", "its object")
            raise ComponentError(
                f"{package} is already loaded, as the plugin '{name}' of '{owner.source}'",
                hint="give the import package another name",
            )

    def _check_arguments(self, module: object) -> None:
        # pluggy refuses them too, and faster, but does not name the allowed argument.
        for hook in HOOKS:
            if self.manager.parse_hookimpl_opts(module, hook) is None:
                continue
            (allowed,) = inspect.signature(getattr(hookspecs, hook)).parameters
            for name, parameter in inspect.signature(getattr(module, hook)).parameters.items():
                required = parameter.default is parameter.empty
                if required and name != allowed and parameter.kind in _POSITIONAL:
                    raise ComponentError(
                        f"the hook {hook} has no argument '{name}'",
                        allowed=allowed,
                        hint="the names of arguments are fixed",
                    )

    def _check_hooks(self, plugin: str, module: object) -> None:
        for caller in self.manager.get_hookcallers(module) or ():
            if not caller.has_spec() and (words := _replaced(caller.name)):
                self._failed(plugin, f"{OLD_HOOK} {caller.name}", words)
                message = f"plugin {plugin}: {caller.name} {words}"
                warnings.warn(message, DeprecationWarning, stacklevel=2)
            elif not caller.has_spec():
                self._failed(
                    plugin, caller.name, f"tabwb has no such hook{did_you_mean(caller.name, HOOKS)}"
                )
            elif any(
                impl.wrapper or impl.hookwrapper
                for impl in caller.get_hookimpls()
                if impl.plugin_name == plugin
            ):
                error = "is a wrapper; implementations are called one by one, wrappers never"
                self._failed(plugin, caller.name, error)

    def _failed(self, plugin: str, what: str, error: str) -> None:
        self.problems.append(PluginProblem(plugin, what, error))


HOOKS = tuple(name for name in dir(hookspecs) if name.startswith("tabwb_"))
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_folders: set[Path] = set()


def installed_entries() -> tuple[tuple[PluginInfo, EntryPoint], ...]:
    """Return the plugins of installed packages and their entry points, by name."""
    return _entries(tuple((name, _changed(name)) for name in sys.path))


def _changed(folder: str) -> int:
    """Return when a folder of the import path last changed; 0 where there is none."""
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _entries(_path: tuple[tuple[str, int], ...]) -> tuple[tuple[PluginInfo, EntryPoint], ...]:
    """Return the plugins of an import path: the metadata of hundreds of packages are read."""
    known: dict[int, tuple[str, str]] = {id(None): ("", "")}  # a package's metadata are read once
    found: list[tuple[PluginInfo, EntryPoint]] = []
    for entry in entry_points(group=GROUP):
        if entry.dist is not None and id(entry.dist) not in known:
            known[id(entry.dist)] = (entry.dist.name, entry.dist.version)
        found.append((PluginInfo(entry.name, *known[id(entry.dist)]), entry))
    # Of two with one name the first is used: that of tabwb.
    return tuple(sorted(found, key=lambda one: (one[0].name, not one[0].is_ours)))


def folder_entries(folder: Path) -> tuple[tuple[PluginInfo, str], ...]:
    """Return the plugins of a folder and their entry points (``[project.entry-points.tabwb]``).

    A Python file is a plugin of its own, which is named like it.

    Raises:
        ComponentError: it is neither a plugin folder nor a file of a plugin.
    """
    if folder.suffix == FILE:
        name = folder.stem.replace("_", "-")
        if not is_kebab(name) or not folder.is_file():
            why = "is not a file" if is_kebab(name) else "has no name that a plugin can have"
            allowed = "lower-case letters and digits, joined by underscores: my_words.py"
            raise ComponentError(why, where=str(folder), allowed=allowed)
        return ((PluginInfo(name, "", "", str(folder)), f"{NAME}_file_{folder.stem}"),)
    path = folder / "pyproject.toml"
    project = _project(path)
    declared = project.get("entry-points", {}).get(GROUP, {})
    if not isinstance(declared, dict) or not declared:
        raise ComponentError(
            f"declares no entry point in [project.entry-points.{GROUP}]", where=str(path)
        )
    name, number = str(project.get("name", "")), str(project.get("version", ""))
    return tuple(
        (PluginInfo(key, name, number, str(folder)), value)
        for key, value in declared.items()
        if isinstance(value, str)
    )


def folder_requirements(folder: Path) -> tuple[str, ...]:
    """Return the requirements of a plugin folder (``dependencies``).

    Raises:
        ComponentError: the folder is not a plugin folder.
    """
    if folder.suffix == FILE:
        return ()
    given = _project(folder / "pyproject.toml").get("dependencies", ())
    return tuple(map(str, given)) if isinstance(given, list) else ()


def _project(path: Path) -> dict[str, Any]:
    import tomli

    try:
        project: Any = tomli.loads(path.read_text(encoding="utf-8")).get("project", {})
    except OSError as error:
        raise ComponentError(
            f"is not a plugin folder: {error.strerror} (pyproject.toml)", where=str(path.parent)
        ) from error
    except (tomli.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ComponentError(f"is not TOML: {error}", where=str(path)) from error
    return project if isinstance(project, dict) else {}


def _make_importable(folder: Path) -> None:
    # After everything that is installed. Only source files are imported and no byte code is read or
    # written, so that exactly the files run that were hashed when the folder was trusted.
    resolved = folder.resolve()
    if resolved in _folders:
        return
    if not _folders:
        sys.path_hooks.insert(0, _finder)
    _folders.add(resolved)
    sys.path.append(str(resolved))
    sys.path_importer_cache.pop(str(resolved), None)


class _SourceOnly(SourceFileLoader):
    """Imports source without the byte code cache, which needs ``path_stats``."""

    def path_stats(self, path: object) -> NoReturn:
        raise OSError("byte code is not used in plugin folders")


def _file_module(name: str, file: Path) -> ModuleType:
    """Return the module of a plugin that is one file, which is not on the import path."""
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(file):
        return known
    spec = spec_from_file_location(name, file, loader=_SourceOnly(name, str(file)))
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _finder(path: str) -> FileFinder:
    if not any(Path(path).is_relative_to(folder) for folder in _folders):
        raise ImportError(path)
    return FileFinder(path, (_SourceOnly, [".py"]))
