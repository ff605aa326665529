"""Running checks one by one, and what components are checked with: items, responses, sounds."""

from __future__ import annotations

import math
import struct
import threading
import wave
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tabwb.administer.session import setup
from tabwb.administer.session.drive import drive
from tabwb.analysis.administrations import load_administrations
from tabwb.battery.model import Item, Subtest
from tabwb.host.guarded import within
from tabwb.host.plugins import Plugins
from tabwb.media.documents.document import export_document
from tabwb.plugin_api.components import Response
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Wait
from tabwb.records.states import ResponseKind, ResponseStatus
from tabwb.store.store import Store

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


KINDS = ("choice", "yes-no", "verbatim", "connected-text", "free")
"""Kinds of response that scorers are given; naming has its own rules."""
TEXTS = (
    "",
    "   \n",
    "lion",
    "Yes.",
    "The dog sleeps.",
    "I went to the market. Then I bought apples, and I walked home along the river.",
    "Ünïcödé 犬 🐕 \u202eabc",
    "word " * 2000,
)
"""Responses from none to very long."""
_EXPECTED = {"choice": "lion", "yes-no": "Yes", "verbatim": "The dog sleeps."}


def subtest_of(kind: str, *, keyed: bool = True) -> tuple[Subtest, Item]:
    """Return a subtest of one item, and the item.

    Args:
        kind: of response.
        keyed: whether the item has an expected answer.
    """
    item = Item(
        id="i1",
        prompt="Which one is an animal with a mane?" if kind == "choice" else "Please answer.",
        options=("lion", "drum", "boat") if kind == "choice" else (),
        expected=_EXPECTED.get(kind, "a trip") if keyed else None,
        foils={"drum": "unrelated"} if kind == "choice" else {},
        reference="Names a place.",
        metadata={"weight": 1},
    )
    return Subtest("s1", "Sample", ResponseKind(kind), (item,)), item


def response_to(item: Item, kind: str, text: str) -> Response:
    """Return a response to an item as raters get it.

    Args:
        item: that is answered.
        kind: of response.
        text: of the response.
    """
    status = ResponseStatus.OK if text.strip() else ResponseStatus.EMPTY
    return Response(
        text=text,
        status=status,
        prompt=item.prompt,
        sent=item.prompt,
        kind=ResponseKind(kind),
        options=item.options,
        expected=item.expected,
        foils=item.foils,
        reference=item.reference,
        metadata=item.metadata,
    )


def write_sound(path: Path, seconds: float = 0.5, hertz: float = 0.0) -> Path:
    """Write 16 kHz mono sound: a tone, or silence at 0 Hz.

    Args:
        path: of the file.
        seconds: its length.
        hertz: of the tone.
    """
    count = int(16_000 * seconds)
    frames = [
        int(8000 * math.sin(2 * math.pi * hertz * number / 16_000)) for number in range(count)
    ]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(struct.pack(f"<{count}h", *frames))
    return path


def document_of(plugins: Plugins, folder: Path, battery: str = "tab") -> Mapping[str, Any]:
    """Return what an exporter is given: one administration to ``echo``, stored in a folder.

    Args:
        plugins: with the battery and ``echo``.
        folder: where the store is made.
        battery: its id.
    """
    with Store.open(folder / "sample.db") as store:
        sample = setup.find_battery(plugins, battery)
        asked = Conditions("echo", "model", judges=("rules",))
        conditions = setup.resolve(plugins, sample, asked)
        backend = plugins.open_model("echo")
        with setup.create(store, plugins, sample, conditions) as session:
            session.opened(backend.open())
            for _ in drive(session, backend, threading.Event()):
                pass
        return export_document(load_administrations(store, [1]), messages=True)
