"""The perplexity of a fixed text, by which a sweep checks that a lesion did something."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence

import pytest
from tabwb_builtin.echo import EchoModel

from tabwb.administer.sweep.manipulation import check_passages, manipulation_facts
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Likelihood, Request


class Weigher:
    """A back end that gives each word of a reply the probability 1/16; or what it is told."""

    def __init__(self, fails: str = "", each: float = 1 / 16) -> None:
        self.fails, self.each = fails, each
        self.asked: list[tuple[str, str]] = []

    def open(self) -> Mapping[str, str]:
        return {}

    def reply(self, request: Request, cancel: Cancel) -> None:
        raise AssertionError("nothing is generated")

    def close(self) -> None:
        pass

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        if self.fails:
            raise ComponentError(self.fails)
        if cancel.is_set():
            return []
        self.asked += [(request.messages[-1].content, text) for text in continuations]
        sizes = [len(text.split()) for text in continuations]
        log = math.log(self.each) if self.each else -math.inf
        return [Likelihood(n * log, n) for n in sizes]


def test_it_is_over_all_tokens_of_all_passages() -> None:
    weigher = Weigher()
    assert manipulation_facts(weigher, threading.Event()) == {  # type: ignore[arg-type]
        "lesion_perplexity": "16",
        "lesion_check_text": "plain-1",
    }
    assert weigher.asked == list(check_passages())
    assert 250 < sum(len(reply.split()) for _, reply in weigher.asked) < 500


@pytest.mark.parametrize(
    ("backend", "why"),
    [
        (Weigher("the logits are not numbers"), "the logits are not numbers"),
        (Weigher(each=0.0), "the model gives the text no probability"),
        (Weigher(each=1e-309), "the model gives the text no probability"),
    ],
)
def test_it_is_undefined_with_a_reason(backend: Weigher, why: str) -> None:
    facts = manipulation_facts(backend, threading.Event())  # type: ignore[arg-type]
    assert facts["lesion_perplexity_reason"] == why and "lesion_perplexity" not in facts


def test_it_is_undefined_without_likelihoods_and_absent_when_cancelled() -> None:
    facts = manipulation_facts(EchoModel(), threading.Event())
    assert facts == {"lesion_perplexity_reason": "the back end gives no likelihoods"}
    cancelled = threading.Event()
    cancelled.set()
    assert manipulation_facts(Weigher(), cancelled) == {}  # type: ignore[arg-type]
