"""A judge that sends a prompt to a chat model and reads JSON from its reply.

The reply is one JSON object with exactly the requested keys, each 0 or 1.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabwb.battery.model import Feature
from tabwb.host.judge_prompts import JudgePrompt, sha256
from tabwb.plugin_api.components import BatchingBackend, Cancel, Judge, ModelBackend, Response
from tabwb.records.errors import ComponentError, TabwbError, error_text
from tabwb.records.exchange import THOUGHT_AWAY, Decoding, Message, Reply, Request, Wait
from tabwb.records.ratings import Rating, Verdict, undefined, valued
from tabwb.records.reasoning import whole_text
from tabwb.records.specs import Spec, inner_spec, model_name, seed_of
from tabwb.records.states import RatingStatus, StopReason

MOST_STARTS = 200
"""A reply with so many braces that do not begin a JSON object has none."""
_FENCE = re.compile(r"```(?:json)?", re.IGNORECASE)
_MOST_NAMED = 4
_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: _Pairs(tuple(pairs)))


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a reply.

    Attributes:
        values: JSON key to 0 or 1, in the order asked for.
        extra: something other than a code fence surrounds the object.
    """

    values: dict[str, int]
    extra: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a reply cannot be read, in words that the model gets too."""

    problem: str


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A JSON object as it was written, with repeated keys."""

    pairs: tuple[tuple[str, object], ...] = field(default=())


def read_labels(text: str, keys: Sequence[str]) -> Labels | Unreadable:
    """Read the one JSON object of a reply; text around it is allowed and reported.

    Nothing is guessed: a missing, further or repeated key, and a value that is not the whole
    number 0 or 1 (``true``, ``"1"``, ``0.0``), make the reply unreadable as a whole.

    >>> read_labels('Sure: {"Anomia": 1, "Jargon": 0}', ["Anomia", "Jargon"])
    Labels(values={'Anomia': 1, 'Jargon': 0}, extra=True)
    >>> read_labels('{"Anomia": true}', ["Anomia", "Jargon"]).problem
    "the value of 'Anomia' is true, not 0 or 1; missing: 'Jargon'"
    """
    objects = _objects(text)
    if not objects:
        return Unreadable("it holds no complete JSON object")
    if len(objects) > 1:
        return Unreadable(f"it holds {len(objects)} JSON objects instead of one")
    (start, end, read), *_ = objects
    problems = list(_problems(read.pairs, keys))
    if problems:
        return Unreadable("; ".join(problems))
    values = {key: int(bool(value)) for key, value in read.pairs}
    around = _FENCE.sub("", text[:start] + text[end:])
    return Labels({key: values[key] for key in keys}, extra=bool(around.strip()))


def _objects(text: str) -> list[tuple[int, int, _Pairs]]:
    """Return every outermost JSON object with its start and end."""
    objects: list[tuple[int, int, _Pairs]] = []
    at, failed = 0, 0
    while failed < MOST_STARTS and (start := text.find("{", at)) >= 0:
        try:
            read, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            at, failed = start + 1, failed + 1
            continue
        objects.append((start, at, read))
    return objects


def _problems(pairs: Sequence[tuple[str, object]], keys: Sequence[str]) -> list[str]:
    given = [key for key, _ in pairs]
    asked, there = frozenset(keys), frozenset(given)
    twice = [key for key, count in Counter(given).items() if count > 1]
    wrong = [
        f"the value of {_quoted(key)} is {_shown(value)}, not 0 or 1"
        for key, value in pairs
        if key in asked and not (type(value) is int and value in (0, 1))
    ]
    return [
        *(f"{_quoted(key)} is given twice" for key in twice[:_MOST_NAMED]),
        *wrong[:_MOST_NAMED],
        *_named("missing", [key for key in keys if key not in there]),
        *_named("not asked for", list(dict.fromkeys(key for key in given if key not in asked))),
    ]


def _named(what: str, keys: Sequence[str]) -> list[str]:
    if not keys:
        return []
    more = f" and {len(keys) - _MOST_NAMED} more" if len(keys) > _MOST_NAMED else ""
    return [f"{what}: {', '.join(map(_quoted, keys[:_MOST_NAMED]))}{more}"]


def _quoted(key: str) -> str:
    return f"'{key[:40]}'"


def _shown(value: object) -> str:
    match value:
        case _Pairs() | list():
            return "an object" if isinstance(value, _Pairs) else "an array"
        case int() if abs(value) > 10**9:
            return "a large number"
        case _:
            return json.dumps(value)[:40]


def ask_all(
    backend: ModelBackend, requests: Sequence[Request], cancel: Cancel
) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
    """Yield ``(index, reply)`` in any order; a request that failed yields its error."""
    if isinstance(backend, BatchingBackend):
        yield from backend.reply_many(requests, cancel)
        return
    for index, request in enumerate(requests):
        if cancel.is_set():
            return
        try:
            for piece in backend.reply(request, cancel):
                if not isinstance(piece, str):
                    yield index, piece
        except TabwbError as error:
            yield index, as_component_error(error)
        except Exception as error:  # noqa: BLE001 - a plugin's failure is this call's error
            yield index, ComponentError(error_text(error))


def as_component_error(error: TabwbError) -> ComponentError:
    """Return an error as a component's error."""
    if isinstance(error, ComponentError):
        return error
    return ComponentError(error.message, where=error.where, allowed=error.allowed, hint=error.hint)


def kept_to_schema(metadata: Mapping[str, str]) -> bool:
    """Return whether a reply's metadata says that the API followed the JSON schema.

    >>> kept_to_schema({"structured": "json-schema"}), kept_to_schema({})
    (True, False)
    """
    return metadata.get("structured", "no") not in {"", "no", "none"}


def total(*counts: int | None) -> int | None:
    """Return the sum, or None where a count is missing."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


NO_RESPONSE = "there is no response"
EXTRA = "extra text around the JSON"
DRAW = "tabwb-judge-1"
"""Names how a sampling judge's seeds are derived: from its model, the messages and the draw."""


@dataclass(frozen=True, slots=True)
class _First:
    """A first reply that could not be read."""

    index: int
    request: Request
    reply: Reply
    problem: str


class PromptJudge(Judge):
    """The base of judges with a prompt and a model."""

    def __init__(
        self, spec: Spec, prompt: JudgePrompt, make_inner: Callable[[], ModelBackend]
    ) -> None:
        self.rater = str(spec)
        self.examinee = inner_spec(spec)
        self.features = prompt.feature_ids
        self.caution = prompt.caution
        self.prompt_text = prompt.canonical
        self._prompt = prompt
        self._make_inner = make_inner
        self._backend: ModelBackend | None = None
        self._is_open = False

    def open(self) -> Mapping[str, str]:
        """Load or reach the model; return its facts and the hash of the prompt."""
        self.close()
        if (
            self._backend is None
        ):  # kept when it is closed: close() may be called while it is loaded
            self._backend = self._make_inner()
        facts = self._backend.open()
        self._is_open = True
        return {**facts, "judge_prompt_sha256": sha256(self.prompt_text)}

    def close(self) -> None:
        """Release the model; may be called twice."""
        self._is_open = False
        if self._backend is not None:
            self._backend.close()

    def requests(self, response: Response, features: Sequence[Feature]) -> Sequence[Request]:
        """Return what would be sent: one request, or none for an empty response."""
        if not response.text.strip():
            return ()
        messages = self._prompt.messages(response.text, response.prompt)
        decoding = Decoding(self._prompt.max_tokens, self._prompt.temperature)
        if not decoding.greedy:
            turns = [(message.role, message.content) for message in messages]
            seed = seed_of(DRAW, model_name(self.examinee), turns, response.draw)
            decoding = replace(decoding, seed=seed)
        return (Request(messages, decoding, json_schema=self._prompt.json_schema),)

    # ---------------------------------------------------------------- for the subclasses

    def _ready(self) -> ModelBackend:
        if not self._is_open:
            self.open()
        assert self._backend is not None
        return self._backend

    def _no_response(self, features: Sequence[Feature]) -> Verdict:
        ratings = (undefined(self.rater, name, NO_RESPONSE) for name in self.features)
        return Verdict((*ratings, *self._others(features)), requests=0)

    def _without(
        self, status: RatingStatus, reason: str, features: Sequence[Feature]
    ) -> tuple[Rating, ...]:
        """Return the features of the prompt without a value."""
        ratings = (Rating(self.rater, name, None, status, reason) for name in self.features)
        return (*ratings, *self._others(features))

    def _others(self, features: Sequence[Feature]) -> tuple[Rating, ...]:
        """Return the features of the battery that the prompt does not ask for, as undefined."""
        asked = frozenset(self.features)
        reason = f"the prompt '{self._prompt.id}' does not ask for it"
        rest = (feature.id for feature in features if feature.id not in asked)
        return tuple(undefined(self.rater, name, reason) for name in rest)


class ChatJudge(PromptJudge):
    """Labels every feature in one reply; requests a second one where the first cannot be read."""

    most_requests = 2

    def judge_many(
        self, responses: Sequence[Response], features: Sequence[Feature], cancel: Cancel
    ) -> Iterator[tuple[int, Verdict | Wait]]:
        """Yield verdicts as replies come, those with a second request last."""
        asked: list[tuple[int, Request]] = []
        for index, response in enumerate(responses):
            requests = self.requests(response, features)
            if not requests:
                yield index, self._no_response(features)
            asked += [(index, request) for request in requests]
        again: list[_First] = []
        for place, piece in self._ask([request for _, request in asked], cancel):
            index, request = asked[place]
            if isinstance(piece, Wait):
                yield index, piece
                continue
            if isinstance(piece, ComponentError):
                yield index, self._failed(piece, features)
                continue
            read = self._read(piece)
            if isinstance(read, Labels):
                yield index, self._verdict(read, piece, features)
            elif piece.stop_reason is StopReason.REFUSED:
                yield index, self._unparsed(read.problem, piece, features)
            else:
                again.append(_First(index, request, piece, read.problem))
        left = dict(enumerate(again))
        for place, piece in self._ask([self._repair(first) for first in again], cancel):
            first = again[place]
            if not isinstance(piece, Wait):
                left.pop(place, None)
            if isinstance(piece, Wait):
                yield first.index, piece
            elif isinstance(piece, ComponentError):
                yield first.index, _after(first, self._failed(piece, features), None)
            else:
                read = self._read(piece)
                verdict = (
                    self._verdict(read, piece, features)
                    if isinstance(read, Labels)
                    else self._unparsed(read.problem, piece, features)
                )
                yield first.index, _after(first, verdict, piece)
        for first in left.values():
            # Stopped in between: the tokens are counted, and the response is judged again later.
            stopped = ComponentError("stopped before a second reply was requested")
            yield first.index, _after(first, self._failed(stopped, features), None)

    # ---------------------------------------------------------------- the steps

    def _ask(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        """Yield one reply or error of each request; none of cancelled ones."""
        if not requests or cancel.is_set():
            return
        left = set(range(len(requests)))
        for place, piece in ask_all(self._ready(), requests, cancel):
            if isinstance(piece, Wait):
                yield place, piece
            elif place in left:
                left.discard(place)
                if not (isinstance(piece, Reply) and piece.stop_reason is StopReason.CANCELLED):
                    yield place, piece
        if not cancel.is_set():
            for place in sorted(left):
                yield place, ComponentError(f"'{self.examinee}' ended without a reply")

    def _repair(self, first: _First) -> Request:
        """Return the request for a second reply, with the problem of the first.

        Models refuse an empty turn of the assistant: after an empty reply the text is appended
        to the question.
        """
        words = self._prompt.repair(first.problem)
        before = first.request.messages
        if first.reply.text.strip():
            turns = (*before, Message("assistant", first.reply.text), Message("user", words))
        else:
            turns = (*before[:-1], Message("user", f"{before[-1].content}\n\n{words}"))
        decoding = first.request.decoding
        if not decoding.greedy:
            decoding = replace(decoding, seed=seed_of(DRAW, "repair", decoding.seed))
        return replace(first.request, messages=turns, decoding=decoding)

    def _read(self, reply: Reply) -> Labels | Unreadable:
        if reply.stop_reason is StopReason.REFUSED:
            return Unreadable("the model, or a filter before it, refused to answer")
        read = read_labels(reply.text, list(self._prompt.keys))
        if isinstance(read, Unreadable) and reply.metadata.get("cause") == THOUGHT_AWAY:
            return Unreadable(THOUGHT_AWAY)
        if isinstance(read, Unreadable) and reply.stop_reason is StopReason.LENGTH:
            return Unreadable(f"{read.problem}; it was cut at the token limit")
        return read

    def _verdict(self, read: Labels, reply: Reply, features: Sequence[Feature]) -> Verdict:
        reason = EXTRA if read.extra else ""
        keys = self._prompt.keys
        ratings = (
            valued(self.rater, keys[key], value, reason) for key, value in read.values.items()
        )
        return _of(reply, (*ratings, *self._others(features)))

    def _unparsed(self, problem: str, reply: Reply, features: Sequence[Feature]) -> Verdict:
        return _of(reply, self._without(RatingStatus.UNPARSED, problem, features))

    def _failed(self, error: ComponentError, features: Sequence[Feature]) -> Verdict:
        ratings = self._without(RatingStatus.ERROR, str(error), features)
        return Verdict(ratings, stop_reason=StopReason.ERROR)


def _of(reply: Reply, ratings: tuple[Rating, ...]) -> Verdict:
    return Verdict(
        ratings,
        raw=whole_text(reply),
        structured=kept_to_schema(reply.metadata),
        stop_reason=reply.stop_reason,
        prompt_tokens=reply.prompt_tokens,
        reply_tokens=reply.reply_tokens,
        latency_s=reply.latency_s,
    )


def _after(first: _First, verdict: Verdict, second: Reply | None) -> Verdict:
    """Return a verdict with the first reply, whose tokens count too."""
    reply = first.reply
    return replace(
        verdict,
        first_raw=whole_text(reply),
        repaired=True,
        requests=2,
        prompt_tokens=reply.prompt_tokens
        if second is None
        else total(reply.prompt_tokens, second.prompt_tokens),
        reply_tokens=reply.reply_tokens
        if second is None
        else total(reply.reply_tokens, second.reply_tokens),
        latency_s=reply.latency_s + verdict.latency_s,
    )
