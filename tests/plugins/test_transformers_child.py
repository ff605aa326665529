"""Local models in a process of their own: the same answers as here, also after it was killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import LaneBackend, LesionableBackend
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Reply
from tests.plugins.conftest import answer, asked
from tests.plugins.test_lesions_lanes import (
    BUNDLED,
    HALF,
    SPECS,
    alone,
    bundled,
    likelihoods,
    texts,
    together,
)
from tests.plugins.test_lesions_lanes import requests as of_lanes

pytest.importorskip("torch", reason="needs tabwb[local]")


@pytest.fixture(scope="module")
def process() -> Iterator[Any]:
    """The bundled model in a process that all tests of a worker share: to start it takes long."""
    with closing(Plugins.load()) as plugins:
        spec = f"transformers:{BUNDLED}@device=cpu,threads=1,batch_size=16"
        backend = plugins.open_model(spec)
        assert isinstance(backend, LesionableBackend) and isinstance(backend, LaneBackend)
        assert backend.open()["threads"] == "1"
        yield backend


@pytest.fixture
def there(process: Any) -> Any:
    """That model without a lesion."""
    process.lesion("")
    return process


def test_a_reply_is_the_same(there: Any) -> None:
    here = answer(bundled(), asked())
    *_, reply = there.reply(asked(), threading.Event())
    assert isinstance(reply, Reply)
    assert (reply.text, reply.reply_tokens) == (here.text, here.reply_tokens)


def test_likelihoods_are_the_same(there: Any) -> None:
    assert likelihoods(there) == pytest.approx(likelihoods(bundled()), abs=1e-6)


def test_replies_of_a_crowd_are_the_same(there: Any) -> None:
    assert texts(there, together=True) == texts(bundled(), together=False)


def test_lesions_side_by_side_are_the_same(there: Any) -> None:
    there.lesion(SPECS[0])
    assert there.lanes(["", SPECS[2], "norm:zero:0.5"]) == [16, 16, 0]
    here = bundled()
    expected = [alone(here, spec, of_lanes()) for spec in SPECS[:2]]
    assert together(there, SPECS[:2], of_lanes()) == expected
    assert there.lesion(SPECS[0])["lesion"] == SPECS[0]
    with pytest.raises(ComponentError, match="side by side"):
        together(there, ["", "norm:zero:0.5"], of_lanes())


def test_a_new_process_in_place_of_one_that_died_has_the_lesion(there: Any) -> None:
    assert there.lesion(HALF)["lesion"] == HALF
    intact, expected = texts(bundled(), together=False), texts(bundled(HALF), together=False)
    assert texts(there, together=False) == expected != intact
    pid = there.pid
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ComponentError, match="SIGKILL"):
        texts(there, together=False)
    assert there.lesion(HALF)["lesion"] == HALF  # its facts are not lost either
    assert texts(there, together=True) == expected
    assert there.pid != pid
    assert there.parts()[0].name == "0.attention.q"
    assert there.lesion("") == {}
    assert texts(there, together=False) == intact
