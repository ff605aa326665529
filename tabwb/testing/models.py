"""Checks of a model back end."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tabwb.testing.checks import (
    PATIENCE_S,
    Checks,
    check_facts,
    close_twice,
    expect,
    plugins_of,
    run_checks,
    within,
)

if TYPE_CHECKING:
    from tabwb.plugin_api.components import ModelBackend
    from tabwb.plugin_api.descriptors import Descriptor
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.exchange import Reply, Request

OPTIONS = ("lion", "drum", "boat")


def check_model(
    spec: str, *, plugins: Plugins | None = None, key: str = "", prompt: str = "Name one animal."
) -> None:
    """Check a model back end: contract, cancellation, failure, determinism.

    Batches and likelihoods are checked where the descriptor declares them.

    Args:
        spec: as on the command line.
        plugins: with the back end; None for those installed.
        key: of the requests (``subtest/item``), for back ends that replay recorded answers.
        prompt: the user's message.

    Raises:
        NonConformance: the back end does not keep its contract.
    """
    with plugins_of(plugins) as loaded:
        from tabwb.plugin_api.registry.guarded import inner_of

        descriptor, _ = loaded.resolve("models", spec)
        # The plugin's own object: tabwb corrects or refuses much of what one does wrong.
        backend = inner_of(loaded.open_model(spec))
        try:
            run_checks(f"model back end '{spec}'", _checks(descriptor, backend, key, prompt))
        finally:
            backend.close()


def _checks(descriptor: Descriptor, backend: ModelBackend, key: str, prompt: str) -> Checks:
    from tabwb.plugin_api.components import BatchingBackend, LikelihoodBackend
    from tabwb.records.exchange import Decoding, Message, Request
    from tabwb.records.states import Protocol

    request = Request((Message("user", prompt),), Decoding(max_tokens=16), key=key)

    def batches() -> None:
        expect(isinstance(backend, BatchingBackend), "batches=True, but there is no reply_many")
        assert isinstance(backend, BatchingBackend)
        _check_batches(backend, request)

    def likelihoods() -> None:
        expect(isinstance(backend, LikelihoodBackend), "likelihood=True, but no method likelihood")
        assert isinstance(backend, LikelihoodBackend)
        try:
            _answer(backend, replace(request, protocol=Protocol.LIKELIHOOD))
        except Exception as error:  # noqa: BLE001 - whatever a component raises is a finding
            expect(False, f"a request without options is not answered in free text: {error}")
        _check_likelihoods(backend, replace(request, protocol=Protocol.LIKELIHOOD, options=OPTIONS))

    return {
        "contract, open": lambda: check_facts(backend.open()),
        "contract, reply": lambda: _check_reply(backend, request),
        "contract, protocols": lambda: _check_protocols(descriptor, backend, request),
        "determinism, greedy": lambda: _check_greedy(backend, request),
        "cancellation, before": lambda: _check_cancelled(backend, request),
        "cancellation, while streaming": lambda: _check_cancelled_later(backend, request),
        "failure, a request without messages": lambda: _check_empty(backend, request),
        **({"batches": batches} if descriptor.batches else {}),
        **({"likelihoods": likelihoods} if descriptor.likelihood else {}),
        "contract, close twice": lambda: close_twice(backend),
    }


def _answer(
    backend: ModelBackend, request: Request, cancel: threading.Event | None = None
) -> tuple[list[str], Reply]:
    from tabwb.records.exchange import Reply, Wait

    pieces: list[str] = []
    reply: Reply | None = None
    for piece in backend.reply(request, cancel or threading.Event()):
        expect(reply is None, f"after its Reply came {piece!r}")
        if isinstance(piece, Reply):
            reply = piece
        elif isinstance(piece, Wait):
            pieces.clear()
        else:
            expect(isinstance(piece, str), f"a piece is {type(piece).__name__}, not text")
            pieces.append(str(piece))
    expect(reply is not None, "reply() ended without a Reply")
    assert reply is not None
    return pieces, reply


def _check_reply(backend: ModelBackend, request: Request) -> None:
    pieces, reply = _answer(backend, request)
    joined = "".join(pieces)
    expect(joined == reply.text, f"the pieces say {joined!r}, the Reply {reply.text!r}")
    check_one(reply)


def check_one(reply: Reply) -> None:
    """Check the fields of a reply.

    Raises:
        NonConformance: one is of the wrong type or range.
    """
    from tabwb.records.states import StopReason

    expect(isinstance(reply.text, str), f"the text is {type(reply.text).__name__}")
    reason = reply.stop_reason
    expect(isinstance(reason, StopReason), f"the stop reason {reason!r} is not a StopReason")
    for name in ("latency_s", "first_piece_s"):
        value = getattr(reply, name)
        sound = value is None or (math.isfinite(value) and value >= 0)
        expect(sound and (value is not None or name != "latency_s"), f"{name} is {value!r}")
    for name in ("prompt_tokens", "reply_tokens"):
        count = getattr(reply, name)
        expect(count is None or (isinstance(count, int) and count >= 0), f"{name} is {count!r}")
    for name, value in reply.metadata.items():
        plain = isinstance(name, str) and isinstance(value, str)
        expect(plain, f"the metadata {name!r}: {value!r} are not text")


def _check_protocols(descriptor: Descriptor, backend: ModelBackend, request: Request) -> None:
    from tabwb.records.errors import ComponentError
    from tabwb.records.states import Protocol

    known = {protocol.value for protocol in Protocol}
    for name in descriptor.protocols:
        expect(name in known, f"there is no protocol '{name}'; allowed: {', '.join(sorted(known))}")
    for protocol in Protocol:
        if protocol.value in descriptor.answers_under:
            continue
        try:
            _answer(backend, replace(request, protocol=protocol, options=OPTIONS))
        except ComponentError:
            continue
        expect(False, f"the descriptor lacks '{protocol.value}', but a request was answered")


def _check_greedy(backend: ModelBackend, request: Request) -> None:
    first, second = (_answer(backend, request)[1].text for _ in range(2))
    expect(first == second, f"greedy decoding gave {first!r} and then {second!r}")


def _check_cancelled(backend: ModelBackend, request: Request) -> None:
    from tabwb.records.states import StopReason

    cancel = threading.Event()
    cancel.set()
    _, reply = within(
        PATIENCE_S, lambda: _answer(backend, request, cancel), "reply() with cancel set"
    )
    ended = reply.stop_reason
    expect(ended is StopReason.CANCELLED, f"the stop reason is '{ended.value}', not 'cancelled'")


def _check_cancelled_later(backend: ModelBackend, request: Request) -> None:
    from tabwb.records.exchange import Reply
    from tabwb.records.states import StopReason

    cancel = threading.Event()

    def consume() -> Reply:
        last: Any = None
        for piece in backend.reply(request, cancel):
            last = piece
            cancel.set()
        expect(isinstance(last, Reply), "reply() ended without a Reply")
        assert isinstance(last, Reply)
        return last

    reply = within(PATIENCE_S, consume, "reply() after cancel was set")
    # A reply of one piece is complete by then.
    allowed = (StopReason.CANCELLED, StopReason.END, StopReason.LENGTH, StopReason.STOP_STRING)
    expect(reply.stop_reason in allowed, f"the stop reason is '{reply.stop_reason.value}'")


def _check_empty(backend: ModelBackend, request: Request) -> None:
    from tabwb.records.errors import ComponentError

    try:
        check_one(_answer(backend, replace(request, messages=()))[1])
    except ComponentError:
        return


def _check_batches(backend: Any, request: Request) -> None:
    from tabwb.records.exchange import Message, Reply, Wait

    requests = [
        request,
        replace(request, messages=(Message("user", "Say another word, please."),)),
        request,
    ]
    found: dict[int, Any] = {}
    for index, piece in backend.reply_many(requests, threading.Event()):
        expect(index in range(len(requests)), f"reply_many gave index {index!r}")
        if not isinstance(piece, Wait):
            expect(index not in found, f"reply_many gave index {index} twice")
            found[index] = piece
    expect(len(found) == len(requests), f"reply_many answered {sorted(found)} of 0, 1, 2")
    for reply in found.values():
        if isinstance(reply, Reply):
            check_one(reply)
    if isinstance(found[0], Reply) and isinstance(found[2], Reply):
        same = found[0].text == found[2].text
        expect(same, f"one greedy request twice gave {found[0].text!r} and {found[2].text!r}")
        alone = _answer(backend, request)[1].text
        expect(found[0].text == alone, f"together {found[0].text!r}, alone {alone!r}")
    cancel = threading.Event()
    cancel.set()
    within(
        PATIENCE_S, lambda: list(backend.reply_many(requests, cancel)), "reply_many with cancel set"
    )


def _check_likelihoods(backend: Any, request: Request) -> None:
    from tabwb.administer.session.choosing import chosen

    given: Sequence[Any] = backend.likelihood(request, OPTIONS, threading.Event())
    expect(len(given) == len(OPTIONS), f"{len(given)} likelihoods for {len(OPTIONS)} continuations")
    for option, one in zip(OPTIONS, given, strict=True):
        value, tokens = one.log_probability, one.tokens
        known = not math.isnan(value) and value <= 1e-6
        expect(known, f"the log probability of '{option}' is {value}, not a logarithm of one")
        expect(isinstance(tokens, int) and tokens >= 0, f"'{option}' has {tokens!r} tokens")
    turned = backend.likelihood(request, OPTIONS[::-1], threading.Event())
    for one, other in zip(given, reversed(turned), strict=True):
        near = math.isclose(one.log_probability, other.log_probability, abs_tol=1e-3)
        expect(near, "likelihoods change with the order of the continuations")
    reply = chosen(backend, request, threading.Event())
    expect(reply.text in OPTIONS, f"the choice {reply.text!r} is not an option")
    cancel = threading.Event()
    cancel.set()
    few = within(
        PATIENCE_S,
        lambda: backend.likelihood(request, OPTIONS, cancel),
        "likelihood with cancel set",
    )
    expect(len(few) <= len(OPTIONS), "more likelihoods than continuations after a cancel")
