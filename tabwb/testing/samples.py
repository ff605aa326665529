"""Items, responses, sounds and documents that components are checked with."""

from __future__ import annotations

import math
import struct
import threading
import wave
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabwb.administer.session import setup
from tabwb.administer.session.drive import drive
from tabwb.analysis.administrations import load_administrations
from tabwb.battery.model import Item, Subtest
from tabwb.host.plugins import Plugins
from tabwb.media.documents.document import export_document
from tabwb.plugin_api.components import Response
from tabwb.records.conditions import Conditions
from tabwb.records.states import ResponseKind, ResponseStatus
from tabwb.store.store import Store

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
