"""The engine: plugins, the store and the catalogue, and how the worker's thread tells the screen.

Every controller gets the engine. Public methods of controllers are commands: they run in the
worker's thread, one after the other, and report with messages.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module

from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import TabwbError
from tabwb.store.store import Store
from tabwb.workbench.engine import catalogue, messages
from tabwb.workbench.engine.view_models import Catalogue, ErrorReport

Say = Callable[[object], object]
Job = Callable[[], None]


class CommandStopped(TabwbError):
    """A command stopped and the user has to be told why; carries what the dialog shows."""

    def __init__(self, report: ErrorReport) -> None:
        super().__init__(report.message)
        self.report = report


class Engine:
    """Plugins, store and catalogue.

    Args:
        say: takes messages to the screen; may be called from any thread.
        later: queues a command for the worker's thread; may be called from any thread.
        location: of the store, or None for the configuration's.
        offline: use no network.
    """

    def __init__(
        self, say: Say, later: Callable[[Job], None], *, location: str | None, offline: bool
    ) -> None:
        self.say = say
        self.later = later
        self.cancel = threading.Event()
        """Set to stop the model call or the judging that is under way."""
        self.catalogue = Catalogue()
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

    def open(self, prefetch: Sequence[str] = ()) -> None:
        """Load the plugins and open the store; called once.

        Args:
            prefetch: modules to import afterwards, so that the first dialog opens at once.
        """
        configuration = Configuration.load()
        if self._offline:
            configuration = replace(configuration, offline=True)
        if configuration.offline:
            from tabwb.plugin_api.remote.offline import go_offline

            go_offline()
        self._plugins = Plugins.load(configuration)
        try:
            self._store = Store.open(configuration.store_at(self._location))
        finally:
            self.reload()
        for name in prefetch:
            import_module(name)

    def close(self) -> None:
        """Close plugins and store."""
        if self._plugins is not None:
            self._plugins.close()
        if self._store is not None:
            self._store.close()

    def reload(self) -> None:
        """Read the whole catalogue again: batteries, plugins, profiles, administrations."""
        self.catalogue = catalogue.read(self.plugins, self._store)
        self.say(messages.Ready(self.catalogue))

    def refresh(self) -> None:
        """Read the list of administrations again."""
        self.catalogue = replace(
            self.catalogue,
            administrations=self.store.administrations(),
            interrupted=catalogue.interrupted(self.store),
        )
        self.say(messages.Ready(self.catalogue))


class Controller:
    """Base of the controllers: commands of one subject, which run in the worker's thread."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def store(self) -> Store:
        """The open store."""
        return self.engine.store

    @property
    def plugins(self) -> Plugins:
        """The loaded plugins."""
        return self.engine.plugins

    def say(self, message: object) -> None:
        """Send a message to the screen."""
        self.engine.say(message)
