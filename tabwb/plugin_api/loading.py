"""Opens a component so that a stop ends its loading: a model may take minutes to load."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Protocol

from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import Interrupted, TabwbError

POLL_S = 0.1
"""Seconds between two looks at whether loading is to stop."""


class Openable(Protocol):
    """A model back end, a judge that asks one, or a transcriber."""

    def open(self) -> Mapping[str, str]:
        """Load it; return its facts."""

    def close(self) -> None:
        """Release it; ends the process of a component that is being loaded in one."""


def opened(component: Openable, cancel: Cancel) -> Mapping[str, str]:
    """Open a component and return its facts; a stop closes it at once, also while it is loaded.

    A component in a child process is asked to end, and terminated after 2 s.

    Args:
        component: not opened yet.
        cancel: stops the loading.

    Raises:
        Interrupted: the loading was stopped; the component is closed.
        TabwbError: the component cannot be loaded.
    """
    done = threading.Event()

    def watch() -> None:
        while not done.wait(POLL_S):
            if cancel.is_set():
                component.close()  # again at the next look: its process may just be starting

    watching = threading.Thread(target=watch, name="loading", daemon=True)
    watching.start()
    try:
        facts = component.open()
    except TabwbError:
        if not cancel.is_set():
            raise
    finally:
        done.set()
        watching.join()  # a process that it closes has ended then
    if cancel.is_set():
        component.close()
        raise Interrupted("loading was stopped")
    return facts
