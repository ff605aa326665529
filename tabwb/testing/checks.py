"""Running checks one by one, so that all that fail are reported together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from tabwb.host.guarded import within
from tabwb.host.plugins import Plugins
from tabwb.records.exchange import Wait

PATIENCE_S = 10.0
"""Seconds that a component has to return after a cancel."""

T = TypeVar("T")
Checks = Mapping[str, Callable[[], None]]
"""Name of a check to what runs it; it raises where the component does not conform."""


class NonConformance(AssertionError):
    """A component does not keep its contract; the message lists every check that failed."""


def expect(condition: object, message: str) -> None:
    """Raise :class:`NonConformance` with the message where a condition does not hold.

    Args:
        condition: holds where it is true.
        message: what does not conform.

    Raises:
        NonConformance: it does not hold.
    """
    if not condition:
        raise NonConformance(message)


def run_checks(subject: str, checks: Checks) -> None:
    """Run every check; the error names the subject, and each check that failed and why.

    Args:
        subject: what is checked, for the message.
        checks: by name.

    Raises:
        NonConformance: a check failed; the message has all that did.
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
    loaded = plugins or Plugins.load()
    try:
        yield loaded
    finally:
        if plugins is None:
            loaded.close()


def collected(pairs: Iterable[tuple[int, Any]], count: int, method: str) -> dict[int, Any]:
    """Return the results, without waits, of a method that yields ``(index, result)``.

    Args:
        pairs: as the method yields them.
        count: number of requests or clips.
        method: its name, for messages.
    """
    results: dict[int, Any] = {}
    for index, piece in pairs:
        expect(index in range(count), f"{method} gave index {index!r}")
        if not isinstance(piece, Wait):
            expect(index not in results, f"{method} gave index {index} twice")
            results[index] = piece
    return results


def cancelled() -> threading.Event:
    """Return a cancel that is set."""
    cancel = threading.Event()
    cancel.set()
    return cancel


def within_patience(what: str, work: Callable[[], T]) -> T:
    """Return what ``work`` returns; it must do so within :data:`PATIENCE_S`.

    Args:
        what: is called, for the message.
        work: the call.
    """
    try:
        return within(PATIENCE_S, work)
    except TimeoutError as error:
        # One of the component's own has a text; that of the limit has none.
        expect(error.args, f"{what} did not return within {PATIENCE_S:g} s")
        raise


def close_twice(component: Any) -> None:
    """Close a component twice, as may happen."""
    component.close()
    component.close()


def check_facts(facts: object) -> None:
    """Check that ``open`` returned text by text."""
    expect(isinstance(facts, Mapping), f"open() returned {type(facts).__name__}, not a mapping")
    assert isinstance(facts, Mapping)
    for key, value in facts.items():
        plain = isinstance(key, str) and isinstance(value, str)
        expect(plain, f"the fact {key!r}: {value!r} is not text")
