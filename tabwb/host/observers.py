"""Which hook is called with which event; loaded where there are events."""

from __future__ import annotations

from typing import get_type_hints

from tabwb.plugin_api import hookspecs
from tabwb.records import events

OBSERVERS: dict[type[events.Event], str] = {
    get_type_hints(hook, {"events": events})["event"]: name
    for name, hook in vars(hookspecs).items()
    if name.startswith("tabwb_on_")
}
"""Class of an event: the hook that is called with it. Every class has one."""
