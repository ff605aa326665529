"""The side of a worker in a sweep on a Dask cluster: keeps the model and answers the requests.

Imported only where ``distributed`` is.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from distributed import WorkerPlugin, get_worker

from tabwb import __version__
from tabwb.administer.session.drive import answers_in_order
from tabwb.administer.sweep.sweep import Model
from tabwb.host.plugins import Plugins
from tabwb.host.process import error_to_plain
from tabwb.host.settings import Configuration
from tabwb.lesion.declared import Part
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Reply, Request


@dataclass(frozen=True, slots=True)
class Answered:
    """What a worker returns of one condition.

    Attributes:
        facts: of the model under the lesion.
        replies: one for each request, in their order; an error as plain data.
        failed: why the whole condition has no answers, as plain data, or None.
    """

    facts: Mapping[str, str] = field(default_factory=dict)
    replies: tuple[Reply | Mapping[str, Any], ...] = ()
    failed: Mapping[str, Any] | None = None


class Host(WorkerPlugin):  # type: ignore[misc]
    """Keeps the model of a sweep in a worker; it is loaded with the first condition.

    The model is a process beside the worker where its plugin says so, as in every sweep.
    """

    def __init__(self, spec: str, offline: bool) -> None:
        self.spec = spec
        self.offline = offline
        self.version = __version__

    def setup(self, worker: Any) -> None:
        """Prepare a worker."""
        self._lock = threading.Lock()
        self._plugins: Plugins | None = None
        self._model: Model | None = None

    def teardown(self, worker: Any) -> None:
        """Release the model."""
        with self._lock:
            if self._model is not None:
                self._model.backend.close()
            if self._plugins is not None:
                self._plugins.close()
            self._model = self._plugins = None

    def parts(self) -> Sequence[Part]:
        """Return the parts of the model that can be lesioned."""
        with self._lock:
            return self._loaded(self.spec).parts()

    def answer(
        self, spec: str, lesion: str, requests: Sequence[Request], together: int
    ) -> Answered:
        """Return the answers of a model under a lesion."""
        with self._lock:  # of a worker with several threads
            model = self._loaded(spec)
            cancel = threading.Event()
            facts = model.under(lesion, cancel)
            found = answers_in_order(model.backend, requests, together, cancel)
            replies = (one if isinstance(one, Reply) else error_to_plain(one) for one in found)
            return Answered(facts, tuple(replies))

    def _loaded(self, spec: str) -> Model:
        if self._model is not None and self._model.spec != spec:
            self._model.backend.close()
            self._model = None
        if self._plugins is None:
            if self.version != __version__:
                raise ComponentError(
                    f"a worker of the cluster has tabwb {__version__}, and this is {self.version}",
                    hint="install the same version on all computers",
                )
            # The worker itself needs its network: only the model's process goes offline.
            configuration = Configuration.load()
            configuration = replace(configuration, offline=configuration.offline or self.offline)
            self._plugins = Plugins.load(configuration)
        if self._model is None:
            self._model = Model.loaded(self._plugins, spec)
        return self._model


def at_host(name: str, method: str, *arguments: Any) -> Any:
    """Return what a method of the host of this worker returns; its error as a value."""
    try:
        return getattr(get_worker().plugins[name], method)(*arguments)
    except Exception as error:  # noqa: BLE001 - an error may not be importable where it arrives
        return Answered(failed=error_to_plain(error))
