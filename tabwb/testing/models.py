"""Checks of model back ends, with and without lesions, and of transcribers."""

from __future__ import annotations

import math
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.administer.session.drive import chosen
from tabwb.administer.transcription import checked
from tabwb.host.guarded import GuardedModel, inner_of, not_async
from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import DRAWS, PARAMETERS
from tabwb.plugin_api.components import (
    BatchingBackend,
    LikelihoodBackend,
    ModelBackend,
    Transcriber,
)
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.errors import ComponentError, TabwbError
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
    write_sound,
)

if TYPE_CHECKING:
    from tabwb.lesion.declared import Part

Answer = Callable[[Request], Reply]
TEXTS = ("The lion sleeps in the grass.", "A drum is on the table.")


def lesion_checks(descriptor: Descriptor, backend: Any, request: Request, answer: Answer) -> Checks:
    """Return the checks of what a descriptor declares: lesions, activations, lanes.

    Args:
        descriptor: of the back end.
        backend: opened, the plugin's own object.
        request: a prompt with greedy decoding.
        answer: returns the reply of the back end to a request.
    """
    if not descriptor.lesions:
        alone = [name for name in ("activations", "lanes") if getattr(descriptor, name)]
        message = f"{' and '.join(alone)} without lesions=True"
        return {"lesions": lambda: expect(False, message)} if alone else {}
    # What tabwb itself checks of parts, facts and numbers is checked by its own proxy.
    seen = _Lesioned(GuardedModel(backend, descriptor.id, lambda reason: None), request, answer)
    checks = {
        "lesions, effect and restoration": seen.check_effect,
        "lesions, what is wrong": seen.check_refusals,
        "lesions, close and open": seen.check_reopened,
    }
    if descriptor.activations:
        checks["activations"] = seen.check_activations
    if descriptor.lanes:
        checks["lanes"] = seen.check_lanes
    return {"lesions, parts": seen.check_parts, **dict(map(seen.with_parts, checks.items()))}


class _Lesioned:
    def __init__(self, backend: Any, request: Request, answer: Answer) -> None:
        self.backend, self.request, self.answer = backend, request, answer

        self.has_parts = False

    def with_parts(self, check: tuple[str, Callable[[], None]]) -> tuple[str, Callable[[], None]]:
        """Return a check that does nothing where the parts, already reported, are wrong."""
        name, run = check
        return name, lambda: run() if self.has_parts else None

    def check_parts(self) -> None:
        from tabwb.lesion.declared import TARGETS

        parts = self.backend.parts()
        expect(parts, "parts() is empty: there is nothing to lesion")
        for part in parts:
            target = TARGETS[part.target]
            expect(
                not target.of, f"a part has the target '{part.target}', a group; give its members"
            )
            place = "a number" if target.in_layers else "None"
            message = f"'{part.name}' has the layer {part.layer}; of '{part.target}' it is {place}"
            expect((part.layer is not None) == target.in_layers, message)
            name = part.target if part.layer is None else f"{part.layer}.{part.target}"
            message = f"a part is named '{part.name}', not '{name}': its draws depend on the name"
            expect(part.name == name, message)
        again = [(part.name, part.units) for part in self.backend.parts()]
        expect(again == [(part.name, part.units) for part in parts], "parts() changes")
        self.has_parts = True

    def check_effect(self) -> None:
        """Lesions of all of a target: facts, exact restoration, independence of earlier ones."""
        from tabwb.lesion.spec import canonical, parse_lesions
        from tabwb.lesion.taken import planned

        parts = self.backend.parts()
        intact = self._under("")
        changed, found = [], {}
        for spec in _specs(parts):
            facts = self.backend.lesion(spec)
            said, right = facts.get("lesion"), canonical(spec)
            expect(said == right, f"the fact 'lesion' is {said!r} under '{right}'")
            expect(DRAWS in facts, f"there is no fact '{DRAWS}' under '{spec}'")
            taken = sum(one.parameters for one in planned(parse_lesions(spec), parts, "it"))
            count = facts.get(PARAMETERS)
            message = f"the fact '{PARAMETERS}' is {count!r} under '{spec}', not '{taken}'"
            expect(count == str(taken), message)
            found[spec] = self._answers()
            changed.append(found[spec] != intact)
        expect(any(changed), f"no lesion changes an answer: {', '.join(found)}")
        for spec in reversed(found):
            message = f"under '{spec}' answers depend on the lesion before"
            expect(self._under(spec) == found[spec], message)
        facts = self.backend.lesion("")
        expect(not facts, f"the intact model has facts of a lesion: {dict(facts)}")
        expect(self._answers() == intact, "after lesion('') answers are not those of before")

    def check_refusals(self) -> None:
        parts = self.backend.parts()
        missing = max(part.layer or 0 for part in parts) + 1
        has_layer = next((part.target for part in parts if part.layer is not None), "")
        wrong = ["mlp:explode"]
        if has_layer:
            wrong.append(f"{has_layer}:zero@layers={missing}")
        intact = self._under("")
        for spec in wrong:
            self._check_refused(spec)
            message = f"after '{spec}' and lesion('') answers are not those of the intact model"
            expect(self._under("") == intact, message)

    def _check_refused(self, spec: str) -> None:
        try:
            self.backend.lesion(spec)
        except TabwbError as error:
            other = error.__cause__
            plain = not isinstance(error, ComponentError) or other is None
            message = f"lesion('{spec}') raised {type(other).__name__}, not UsageError"
            expect(plain, message)
        else:
            expect(False, f"lesion('{spec}') raised nothing")
        try:
            self.answer(self.request)
        except ComponentError:
            return
        except TabwbError:
            return
        expect(False, f"a request was answered after '{spec}', which could not be applied")

    def check_reopened(self) -> None:
        """A lesion that is given before ``open``, as ``tabwb run --lesion`` does."""
        spec = _specs(self.backend.parts())[0]
        lesioned = self._under(spec)
        self.backend.lesion("")
        self.backend.close()
        self.backend.lesion(spec)
        facts = self.backend.open()
        expect("lesion" in facts, "open() does not return the facts of the lesion given before it")
        expect(self._answers() == lesioned, "a lesion given before open() is not in force after it")

    def check_activations(self) -> None:
        import numpy as np

        from tabwb.lesion.declared import MEASURES

        self.backend.lesion("")
        parts = self.backend.parts()
        measured = [target for target in MEASURES if any(part.target == target for part in parts)]
        expect(measured, f"no part has a target that is measured: {', '.join(MEASURES)}")
        for target in measured:
            units = sum(part.units for part in parts if part.target == target)
            for pool in ("mean", "last"):
                first, again = (
                    list(self.backend.activations(target, TEXTS, pool, threading.Event()))
                    for _ in range(2)
                )
                expect(len(first) == len(TEXTS), f"{len(first)} arrays for {len(TEXTS)} texts")
                for values in first:
                    message = f"an array of '{target}' has the shape {values.shape}, not ({units},)"
                    expect(values.shape == (units,), message)
                    message = f"'{target}': not every response is a finite number of 0 or more"
                    expect(bool(np.isfinite(values).all() and (values >= 0).all()), message)
                same = all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
                expect(same, f"'{target}' responds differently to the same texts")
            few = within_patience(
                "activations with cancel set",
                lambda target=target: list(  # type: ignore[misc]
                    self.backend.activations(target, TEXTS, "mean", cancelled())
                ),
            )
            expect(len(few) < len(TEXTS), "activations does not end when cancel is set")

    def check_lanes(self) -> None:
        specs = ["", *_specs(self.backend.parts())]
        counts = self.backend.lanes(specs)
        beside = [spec for spec, count in zip(specs, counts, strict=True) if count]
        if not beside:
            return
        # Texts may change by rounding where the count is 1.
        is_exact = min(count for count in counts if count) > 1
        other = replace(self.request, messages=(Message("user", "Say another word, please."),))
        alone = []
        for spec in beside:
            self.backend.lesion(spec)
            alone += [self.answer(each).text for each in (self.request, other)]
        requests = [(lane, each) for lane in range(len(beside)) for each in (self.request, other)]
        pairs = self.backend.reply_lanes(beside, requests, threading.Event())
        replies = collected(pairs, len(requests), "reply_lanes")
        number = len(replies)
        expect(number == len(requests), f"reply_lanes answered {number} of {len(requests)}")
        together = [getattr(replies[index], "text", replies[index]) for index in sorted(replies)]
        for (lane, _), text, said in zip(requests, alone, together, strict=True):
            message = f"under '{beside[lane]}' the reply is {text!r} alone, {said!r} in lanes"
            expect(said == text or not is_exact, message)
        differ = len(set(together)) > 1 or len(set(alone)) == 1
        expect(differ, "in lanes every lesion gives the same reply, alone they differ")
        message = "after reply_lanes the lesion that was set before is not in force"
        expect(self.answer(other).text == alone[-1], message)
        self.backend.lesion("")
        within_patience(
            "reply_lanes with cancel set",
            lambda: list(self.backend.reply_lanes(beside, requests, cancelled())),
        )

    def _under(self, spec: str) -> tuple[object, ...]:
        self.backend.lesion(spec)
        return self._answers()

    def _answers(self) -> tuple[object, ...]:
        """Return a reply and, where there are likelihoods, those of texts."""
        text: object = self.answer(self.request).text
        if not hasattr(self.backend, "likelihood"):
            return (text,)
        found = self.backend.likelihood(self.request, TEXTS, threading.Event())
        return (text, *(one.log_probability for one in found))


def _specs(parts: Sequence[Part]) -> list[str]:
    """Return a lesion of half of the first target, and lesions of all of the first and the last."""
    targets = [*dict.fromkeys(part.target for part in parts)]
    whole = [f"{target}:zero" for target in dict.fromkeys((targets[0], targets[-1]))]
    return [f"{targets[0]}:zero:0.5@seed=3", *whole]


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
