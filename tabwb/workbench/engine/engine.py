"""The engine: plugins, store and catalogue, and the thread that owns them.

Every controller gets the engine. Public methods of controllers are commands: they run in the
worker's thread, one after the other, and report with messages.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from tabwb.battery.loader import load_battery
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.plugin_api.descriptors import ComponentKind, Descriptor
from tabwb.records.errors import (
    HeldElsewhere,
    MissingExtra,
    MissingPackage,
    NeedsNetwork,
    NoConsent,
    StoreError,
    TabwbError,
    UsageError,
    error_text,
)
from tabwb.store import takes
from tabwb.store.store import Store
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.view_models import BatteryEntry, Catalogue, ErrorReport, ModelEntry

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.workbench.engine.session_controller import SessionController

Say = Callable[[object], object]
Command = Callable[[], object]
TITLES: tuple[tuple[type[TabwbError], str], ...] = (
    (NoConsent, "Consent is missing"),
    (StoreError, "The store refused to record it"),
    (NeedsNetwork, "Network not allowed"),
    (MissingExtra, "A package is missing"),
    (MissingPackage, "A package is missing"),
    (UsageError, "These values are not allowed"),
)
"""Titles of the dialog that shows an error, by its type; the first that fits."""
CLOSE_S = 5.0
"""Seconds that closing may take; then the process ends with what is committed."""


class CommandStopped(TabwbError):
    """A command stopped, and a dialog has to say why; carries what the dialog shows."""

    def __init__(self, report: ErrorReport) -> None:
        super().__init__(report.message)
        self.report = report


class Engine:
    """Plugins, store and catalogue, and the queue of commands.

    Attributes:
        cancel: set to stop the current model call or judging.
        commands: those that are queued; None ends the worker.
        accepted: the number of commands that were queued.
    """

    def __init__(self, say: Say, *, location: str | None, offline: bool) -> None:
        self.say = say
        self.cancel = threading.Event()
        self.catalogue = Catalogue()
        self.commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self.accepted = 0
        self._counting = threading.Lock()
        self._location = location
        self._offline = offline
        self._plugins: Plugins | None = None
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        """The open store."""
        if self._store is None:
            raise TabwbError("the store is not open")
        return self._store

    @property
    def plugins(self) -> Plugins:
        """The loaded plugins."""
        if self._plugins is None:
            raise TabwbError("the plugins are not loaded")
        return self._plugins

    @property
    def store_place(self) -> str | None:
        """What names the store, for a further connection; None for the default one."""
        return self.plugins.configuration.store_at(self._location)

    def later(self, command: Command) -> None:
        """Queue a command; :class:`messages.Settled` is sent when it is done. For any thread."""
        with self._counting:
            self.accepted += 1
        self.commands.put(command)

    def open(self) -> None:
        """Load the plugins and open the store; called once."""
        configuration = Configuration.load()
        if self._offline:
            configuration = replace(configuration, offline=True)
        if configuration.offline:
            from tabwb.host.offline import go_offline

            go_offline()
        self._plugins = Plugins.load(configuration)
        try:
            self._store = Store.open(configuration.store_at(self._location))
        finally:
            self.reload()

    def close(self) -> None:
        """Close plugins and store."""
        if self._plugins is not None:
            self._plugins.close()
        if self._store is not None:
            self._store.close()

    def reload(self) -> None:
        """Read the whole catalogue again: batteries, plugins, profiles, administrations."""
        self.catalogue = _catalogue(self.plugins)
        if self._store is None:
            self.say(messages.Ready(self.catalogue))
        else:
            self.refresh()

    def refresh(self) -> None:
        """Read the list of administrations again."""
        self.catalogue = replace(
            self.catalogue,
            administrations=self.store.administrations(),
            interrupted=_interrupted(self.store),
            store=self.store.location,
        )
        self.say(messages.Ready(self.catalogue))


class Controller:
    """Base of the controllers: commands of one subject, which run in the worker's thread."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.say = engine.say

    @property
    def store(self) -> Store:
        """The open store."""
        return self.engine.store

    @property
    def plugins(self) -> Plugins:
        """The loaded plugins."""
        return self.engine.plugins

    def interrupt(self) -> None:
        """Stop what takes long, because the program ends; called from another thread."""

    def close(self) -> None:
        """Close what is open, when the worker ends."""


class Worker(threading.Thread):
    """Runs commands one after the other; between them, the turns of an auto-run."""

    def __init__(
        self,
        engine: Engine,
        sessions: SessionController,
        prefetch: Sequence[str],
        controllers: Sequence[Controller],
    ) -> None:
        super().__init__(name="session", daemon=True)
        self.engine, self._sessions, self._prefetch = engine, sessions, prefetch
        self._controllers = controllers

    def run(self) -> None:
        """Work until :meth:`stop`."""
        engine, sessions = self.engine, self._sessions
        self._guarded(self._open, "tabwb could not start")
        while True:
            command: Command | None
            queued, commands = True, engine.commands
            try:
                command = commands.get_nowait() if sessions.wants_turn else commands.get()
            except queue.Empty:
                command, queued = sessions.turn, False
            if command is None:
                break
            self._guarded(command)
            if queued:
                engine.say(messages.Settled())
        self._guarded(self._close)

    def stop(self) -> None:
        """Stop the running command and close everything."""
        self._sessions.interrupt()
        self._sessions.jobs.stop_all()
        for controller in self._controllers:
            controller.interrupt()
        self.engine.commands.put(None)
        self.join(CLOSE_S)

    def _open(self) -> None:
        self.engine.open()
        for name in self._prefetch:
            import_module(name)

    def _close(self) -> None:
        with ExitStack() as ends:
            ends.callback(self.engine.close)
            ends.callback(self._sessions.jobs.join)
            for controller in self._controllers:
                ends.callback(controller.close)
            self._sessions.close()

    def _guarded(self, command: Command, title: str = "") -> None:
        try:
            command()
        except Exception as error:  # noqa: BLE001 - the worker's edge: shown, never the end
            if not isinstance(error, TabwbError):
                self._sessions.auto = False
            self.engine.say(messages.Failed(report_of(error, title)))


def report_of(error: Exception, title: str = "") -> ErrorReport:
    """Return what the dialog says of an error."""
    if isinstance(error, CommandStopped):
        return error.report
    if not isinstance(error, TabwbError):
        return ErrorReport(
            "Something unexpected happened",
            error_text(error),
            hint="Everything recorded so far is stored. Where 'tabwb store check' finds no "
            "damage, please report this error.",
        )
    report = ErrorReport.of(title or title_of(error), error)
    # Another program's administration is safe there: nothing of ours is unsaved.
    unsaved = isinstance(error, StoreError) and not isinstance(error, HeldElsewhere)
    return replace(report, unsaved=unsaved)


def title_of(error: TabwbError) -> str:
    """Return the title of the dialog for an error, by its type.

    >>> title_of(NoConsent("S-014 has not consented to recording"))
    'Consent is missing'
    """
    return next((title for kind, title in TITLES if isinstance(error, kind)), "Action failed")


def _catalogue(plugins: Plugins) -> Catalogue:
    """Return the catalogue without the store's part; entries with a problem are listed with it."""
    return Catalogue(
        batteries=tuple(_batteries(plugins)),
        models=(
            *(_profile(plugins, name) for name in sorted(plugins.configuration.profiles)),
            *(_entry(plugins, "models", model) for model in plugins.descriptors("models")),
        ),
        transcribers=tuple(
            _entry(plugins, "transcribers", descriptor)
            for descriptor in plugins.descriptors("transcribers")
        ),
        judges=tuple(
            (f"{descriptor.id}:" if descriptor.name_required else descriptor.id, descriptor.title)
            for descriptor in plugins.descriptors("judges")
        ),
        exporters=tuple(
            (descriptor.id, descriptor.title, descriptor.options is not None)
            for descriptor in plugins.descriptors("exporters")
        ),
        statistics=plugins.statistics(),
        pages=tuple(known.extension for known in plugins.extensions("pages")),
        operations=tuple(known.extension for known in plugins.extensions("operations")),
        counts=plugins.configuration.study.primary_rater,
        offline=plugins.configuration.offline,
        theme=plugins.configuration.theme or "",
        problems=tuple(str(problem) for problem in plugins.problems),
    )


def _interrupted(store: Store) -> tuple[int, ...]:
    """Return the administrations whose interrupted recording is not kept yet."""
    parts = takes.interrupted(store)
    if not parts:
        return ()
    from tabwb.speech.wav import is_growing

    uids = {takes.whose(path) for path in parts if not is_growing(path)}
    return tuple(
        administration.id
        for administration in store.administrations()
        if administration.uid in uids
    )


def _batteries(plugins: Plugins) -> Iterator[BatteryEntry]:
    for source in plugins.batteries():
        try:
            battery = load_battery(source.path)
        except TabwbError as error:
            yield BatteryEntry(source.id, source.id, "", 0, str(error))
        else:
            yield battery_entry(battery)


def battery_entry(battery: Battery) -> BatteryEntry:
    """Return a battery as lists and dialogs show it."""
    return BatteryEntry(
        battery.id, battery.title, battery.version, battery.n_items, aloud=battery.spoken,
        judged_aloud=battery.judged_aloud, examinees=battery.examinees,
    )  # fmt: skip


def _entry(plugins: Plugins, kind: ComponentKind, descriptor: Descriptor) -> ModelEntry:
    shape = spec = descriptor.id
    if descriptor.name_help:
        name = f":{descriptor.name_help}"
        shape += name if descriptor.name_required else f"[{name}]"
        spec += ":" if descriptor.name_required else ""
    # With a placeholder as the name, so that only extras and the network are asked about.
    named = f"{descriptor.id}:x" if descriptor.name_required else descriptor.id
    unavailable_reason = _unavailable_reason(plugins, kind, named)
    return ModelEntry(
        descriptor.id, spec, shape, descriptor.title, descriptor.remarks, unavailable_reason,
        lesions=descriptor.lesions,
    )  # fmt: skip


def _profile(plugins: Plugins, name: str) -> ModelEntry:
    spec = f"profile:{name}"
    profile = plugins.configuration.profiles[name]
    title = ", ".join(filter(None, (str(profile.spec), profile.family, profile.tuning)))
    unavailable_reason = _unavailable_reason(plugins, "models", spec)
    known = {descriptor.id for descriptor in plugins.descriptors("models") if descriptor.lesions}
    lesions = profile.spec.id in known
    return ModelEntry("profile", spec, spec, title, "", unavailable_reason, profile, lesions)


def _unavailable_reason(plugins: Plugins, kind: ComponentKind, spec: str) -> str:
    try:
        plugins.resolve(kind, spec)
    except TabwbError as error:
        return error.message
    return ""
