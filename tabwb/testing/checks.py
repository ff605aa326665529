"""Running checks one by one, so that all that fail are reported together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tabwb.plugin_api.registry.plugins import Plugins

PATIENCE_S = 10.0
"""Seconds that a component has to return after a cancel."""


class Closable(Protocol):
    """Whatever is closed at the end."""

    def close(self) -> None:
        """Give back what was loaded."""


Checks = Mapping[str, Callable[[], None]]
"""Name of a check to what runs it; it raises where the component does not conform."""


class NonConformance(AssertionError):
    """A component does not keep its contract; the message lists every check that failed."""


def expect(condition: object, message: str) -> None:
    """Raise where a condition does not hold.

    Raises:
        NonConformance: with the message.
    """
    if not condition:
        raise NonConformance(message)


def run_checks(subject: str, checks: Checks) -> None:
    """Run every check.

    Args:
        subject: what is checked, for the message.
        checks: by name.

    Raises:
        NonConformance: naming each check that failed and why.
    """
    failed: list[str] = []
    for name, check in checks.items():
        try:
            check()
        except NonConformance as error:
            failed.append(f"{name}: {error}")
        except Exception as error:  # noqa: BLE001 - whatever a component raises is a finding
            failed.append(f"{name}: raised {type(error).__name__}: {error}")
    if failed:
        lines = "\n  ".join(failed)
        raise NonConformance(f"{subject} does not conform:\n  {lines}")


@contextmanager
def plugins_of(plugins: Plugins | None) -> Iterator[Plugins]:
    """Yield the plugins given, or those installed, which are closed at the end."""
    if plugins is not None:
        yield plugins
        return
    from tabwb.plugin_api.registry.plugins import Plugins as Installed

    loaded = Installed.load()
    try:
        yield loaded
    finally:
        loaded.close()


def within(seconds: float, work: Callable[[], Any], what: str) -> Any:
    """Return what ``work`` returns, if it does so in time.

    Raises:
        NonConformance: it still runs after so many seconds.
    """
    results: list[Any] = []
    errors: list[Exception] = []

    def call() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    expect(not thread.is_alive(), f"{what} did not return within {seconds:g} s")
    if errors:
        raise errors[0]
    return results[0]


def close_twice(component: Closable) -> None:
    """Close a component twice, as may happen."""
    component.close()
    component.close()


def check_facts(facts: object) -> None:
    """Check what ``open`` returned: plain text by plain text.

    Raises:
        NonConformance: it is anything else.
    """
    expect(isinstance(facts, Mapping), f"open() returned {type(facts).__name__}, not a mapping")
    assert isinstance(facts, Mapping)
    for key, value in facts.items():
        plain = isinstance(key, str) and isinstance(value, str)
        expect(plain, f"the fact {key!r}: {value!r} is not text")
