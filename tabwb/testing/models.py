"""Checks of model back ends and transcribers: components that load a model."""

from __future__ import annotations

import math
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tabwb.administer.session.drive import chosen
from tabwb.administer.transcription import checked
from tabwb.host.guarded import inner_of, not_async
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import (
    BatchingBackend,
    LikelihoodBackend,
    ModelBackend,
    Transcriber,
)
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Message, Reply, Request, Wait
from tabwb.records.speech import Clip, Transcript
from tabwb.records.states import Protocol, StopReason
from tabwb.testing.checks import (
    Checks,
    NonConformance,
    cancelled,
    check_facts,
    close_twice,
    collected,
    expect,
    plugins_of,
    run_checks,
    within_patience,
)
from tabwb.testing.lesions import lesion_checks
from tabwb.testing.samples import write_sound

OPTIONS = ("lion", "drum", "boat")


def check_model(
    spec: str, *, plugins: Plugins | None = None, key: str = "", prompt: str = "Name one animal."
) -> None:
    """Check a model back end: contract, cancellation, failure, determinism.

    Batches and likelihoods are checked where the back end has them; lesions, activations and lanes
    where the descriptor declares them. What tabwb itself refuses is not asked of a back end.

    Args:
        spec: as on the command line.
        plugins: with the back end; None for those installed.
        key: of the requests (``subtest/item``), for back ends that replay recorded answers.
        prompt: the user's message.

    Raises:
        NonConformance: the back end does not keep its contract.
    """
    request = Request((Message("user", prompt),), Decoding(max_tokens=16), key=key)
    with plugins_of(plugins) as loaded:
        descriptor, _ = loaded.resolve("models", spec)
        # The plugin's own object: tabwb corrects or refuses much of what one does wrong.
        try:
            backend = inner_of(loaded.open_model(spec))
        except ComponentError as error:
            raise NonConformance(f"model back end '{spec}' does not conform:\n  {error}") from error
        checks: dict[str, Callable[[], None]] = {
            "contract, open": lambda: check_facts(backend.open()),
            "contract, reply": lambda: _check_reply(backend, request),
            "determinism, greedy": lambda: _check_greedy(backend, request),
            "cancellation, before": lambda: _check_cancelled(backend, request),
            "cancellation, while streaming": lambda: _check_cancelled_later(backend, request),
        }
        if isinstance(backend, BatchingBackend):
            checks["batches"] = lambda: _check_batches(backend, request)
        if isinstance(backend, LikelihoodBackend):
            checks["likelihoods"] = lambda: _check_likelihoods(backend, request)
        answer = lambda request: _answer(backend, request)[1]  # noqa: E731
        checks |= lesion_checks(descriptor, backend, request, answer)
        checks["contract, close twice"] = lambda: close_twice(backend)
        try:
            run_checks(f"model back end '{spec}'", checks)
        finally:
            backend.close()


def _answer(
    backend: ModelBackend, request: Request, cancel: threading.Event | None = None
) -> tuple[list[str], Reply]:
    pieces: list[str] = []
    reply: Reply | None = None
    for piece in not_async(backend.reply(request, cancel or threading.Event())):
        expect(reply is None, f"after its Reply came {piece!r}")
        if isinstance(piece, Reply):
            reply = piece
        elif isinstance(piece, Wait):
            pieces = [] if piece.voids else pieces
        else:
            expect(isinstance(piece, str), f"a piece is {type(piece).__name__}, not text")
            pieces.append(str(piece))
    expect(reply is not None, "reply() ended without a Reply")
    assert reply is not None
    return pieces, reply


def _check_reply(backend: ModelBackend, request: Request) -> None:
    pieces, reply = _answer(backend, request)
    joined = "".join(pieces)
    same = not pieces or joined == reply.text
    expect(same, f"the pieces say {joined!r}, the Reply {reply.text!r}")
    _check_fields(reply)


def _check_fields(reply: Reply) -> None:
    expect(isinstance(reply.text, str), f"the text is {type(reply.text).__name__}")
    reason = reply.stop_reason
    expect(isinstance(reason, StopReason), f"the stop reason {reason!r} is not a StopReason")
    for name in ("latency_s", "first_piece_s"):
        value = getattr(reply, name)
        valid = name != "latency_s" if value is None else math.isfinite(value) and value >= 0
        expect(valid, f"{name} is {value!r}")
    for name in ("prompt_tokens", "reply_tokens"):
        count = getattr(reply, name)
        expect(count is None or (isinstance(count, int) and count >= 0), f"{name} is {count!r}")
    for name, value in reply.metadata.items():
        plain = isinstance(name, str) and isinstance(value, str)
        expect(plain, f"the metadata {name!r}: {value!r} are not text")


def _check_greedy(backend: ModelBackend, request: Request) -> None:
    first, second = (_answer(backend, request)[1].text for _ in range(2))
    expect(first == second, f"greedy decoding gave {first!r} and then {second!r}")


def _check_cancelled(backend: ModelBackend, request: Request) -> None:
    _, reply = within_patience(
        "reply() with cancel set", lambda: _answer(backend, request, cancelled())
    )
    ended = reply.stop_reason
    expect(ended is StopReason.CANCELLED, f"the stop reason is '{ended.value}', not 'cancelled'")


def _check_cancelled_later(backend: ModelBackend, request: Request) -> None:
    cancel = threading.Event()

    def consume() -> Reply:
        last: Any = None
        for piece in backend.reply(request, cancel):
            last = piece
            cancel.set()
        expect(isinstance(last, Reply), "reply() ended without a Reply")
        assert isinstance(last, Reply)
        return last

    reason = within_patience("reply() after cancel was set", consume).stop_reason
    # A reply of one piece is complete by then.
    allowed = (StopReason.CANCELLED, StopReason.END, StopReason.LENGTH, StopReason.STOP_STRING)
    expect(reason in allowed, f"the stop reason is '{reason.value}'")


def _check_batches(backend: BatchingBackend, request: Request) -> None:
    other = replace(request, messages=(Message("user", "Say another word, please."),))
    requests = [request, other, request]
    pairs = backend.reply_many(requests, threading.Event())
    replies = collected(pairs, len(requests), "reply_many")
    expect(len(replies) == len(requests), f"reply_many answered {sorted(replies)} of 0, 1, 2")
    for reply in replies.values():
        if isinstance(reply, Reply):
            _check_fields(reply)
    first, _, again = (replies[index] for index in range(3))
    if isinstance(first, Reply) and isinstance(again, Reply):
        message = f"one greedy request twice gave {first.text!r} and {again.text!r}"
        expect(first.text == again.text, message)
        alone = _answer(backend, request)[1].text
        expect(first.text == alone, f"together {first.text!r}, alone {alone!r}")
    within_patience(
        "reply_many with cancel set", lambda: list(backend.reply_many(requests, cancelled()))
    )


def _check_likelihoods(backend: LikelihoodBackend, request: Request) -> None:
    request = replace(request, protocol=Protocol.LIKELIHOOD)
    try:
        _answer(backend, request)
    except Exception as error:  # noqa: BLE001 - whatever a component raises is a finding
        expect(False, f"a request without options is not answered in free text: {error}")
    request = replace(request, options=OPTIONS)
    forward = list(backend.likelihood(request, OPTIONS, threading.Event()))
    count = len(forward)
    expect(count == len(OPTIONS), f"{count} likelihoods for {len(OPTIONS)} continuations")
    for option, likelihood in zip(OPTIONS, forward, strict=True):
        value, tokens = likelihood.log_probability, likelihood.tokens
        valid = not math.isnan(value) and value <= 1e-6
        expect(valid, f"the log probability of '{option}' is {value}, not a logarithm of one")
        expect(isinstance(tokens, int) and tokens >= 0, f"'{option}' has {tokens!r} tokens")
    backward = list(backend.likelihood(request, OPTIONS[::-1], threading.Event()))
    for first, second in zip(forward, reversed(backward), strict=True):
        near = math.isclose(first.log_probability, second.log_probability, abs_tol=1e-3)
        expect(near, "likelihoods change with the order of the continuations")
    reply = chosen(backend, request, threading.Event())
    expect(reply.text in OPTIONS, f"the choice {reply.text!r} is not an option")
    few = within_patience(
        "likelihood with cancel set",
        lambda: list(backend.likelihood(request, OPTIONS, cancelled())),
    )
    expect(len(few) <= len(OPTIONS), "more likelihoods than continuations after a cancel")


def check_transcriber(
    spec: str, *, plugins: Plugins | None = None, names: Sequence[str] = ("one", "two")
) -> None:
    """Check a transcriber: contract, cancellation, failure, determinism.

    It is given a tone and a second of silence (16 kHz mono), and a file that is not there.

    Args:
        spec: as on the command line.
        plugins: with the transcriber; None for those installed.
        names: of the two sound files, without suffix, for transcribers that go by name.

    Raises:
        NonConformance: the transcriber does not keep its contract.
    """
    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tone, silence = (folder / f"{name}.wav" for name in names)
        clips = [Clip(str(write_sound(tone, 0.6, 220.0))), Clip(str(write_sound(silence, 1.0)))]
        missing = Clip(str(folder / "missing.wav"))
        transcriber = inner_of(loaded.open_transcriber(spec))
        try:
            resolved = str(loaded.resolve("transcribers", spec)[1])
            run_checks(
                f"transcriber '{spec}'", _transcriber_checks(transcriber, resolved, clips, missing)
            )
        finally:
            transcriber.close()


def _transcriber_checks(
    transcriber: Transcriber, resolved: str, clips: Sequence[Clip], missing: Clip
) -> Checks:
    def transcripts_of(clips: Sequence[Clip]) -> dict[int, Transcript]:
        pairs = transcriber.transcribe_many(clips, threading.Event())
        transcripts = collected(pairs, len(clips), "transcribe_many")
        expect(
            len(transcripts) == len(clips), f"{len(transcripts)} transcripts of {len(clips)} clips"
        )
        return transcripts

    def check_unit() -> None:
        expect(transcriber.unit in ("phonemes", "words"), f"unit is {transcriber.unit!r}")

    def check_transcripts() -> None:
        for index, transcript in transcripts_of(clips).items():
            if transcript.status == "error":
                continue
            kept = checked(transcript, resolved)
            message = f"the transcript of clip {index} cannot be kept: {kept.error}"
            expect(kept.status != "error", message)
            message = f"a transcript is of {transcript.unit}, the transcriber of {transcriber.unit}"
            expect(transcript.unit == transcriber.unit, message)

    def check_same() -> None:
        first, second = (transcripts_of(clips) for _ in range(2))
        for index in first:
            heard, then = first[index].phonemes, second[index].phonemes
            expect(heard == then, f"clip {index} was heard as {heard}, then {then}")

    def check_missing() -> None:
        beside, failed = transcripts_of([clips[0], missing]).values()
        status = failed.status
        message = f"a missing file has a transcript in status '{status}', not error"
        expect(status == "error", message)
        expect(bool(failed.error), "a transcript in error has no message")
        alone = transcripts_of(clips[:1])[0]
        message = "a failed clip changed the transcript of another"
        expect(beside.phonemes == alone.phonemes, message)

    def check_cancelled() -> None:
        within_patience(
            "transcribe_many with cancel set",
            lambda: list(transcriber.transcribe_many(clips, cancelled())),
        )

    return {
        "contract, open": lambda: check_facts(transcriber.open()),
        "contract, unit": check_unit,
        "contract, transcripts": check_transcripts,
        "determinism": check_same,
        "failure, a file that is not there": check_missing,
        "cancellation": check_cancelled,
        "contract, close twice": lambda: close_twice(transcriber),
    }
