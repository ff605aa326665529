"""What travels between tabwb and a child host: length-prefixed frames of plain data (JSON).

A frame is four bytes, the length of what follows (big-endian), then one JSON object in UTF-8.
Nothing that is read can run code.

To the child go ``{"call": n, "method": name, "arguments": {...}}`` and ``{"cancel": n}``; back come
``{"call": n, "piece": ...}``, any number of times, and then ``{"call": n, "result": ...}`` or
``{"call": n, "error": {...}}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.exchange import Decoding, Likelihood, Message, Reply, Request, Wait
from tabwb.records.specs import Spec
from tabwb.records.speech import Clip, Segment, Stretch, Transcript
from tabwb.records.states import Protocol, ResponseKind, StopReason

LIMIT = 256 * 2**20
"""No frame is longer, in bytes: a length beyond it means that something else wrote to the pipe."""

Frame = dict[str, Any]


def write_frame(stream: BinaryIO, frame: Mapping[str, Any]) -> None:
    """Write one frame and flush it."""
    content = json.dumps(frame, separators=(",", ":")).encode("ascii")
    stream.write(len(content).to_bytes(4, "big") + content)
    stream.flush()


def read_frame(stream: BinaryIO, limit: int = LIMIT) -> Frame | None:
    """Read one frame; None at the end of the stream (also in the middle of a frame).

    Args:
        stream: of frames.
        limit: the longest frame that is read, in bytes.

    Raises:
        ComponentError: what came is no frame.
    """
    head = stream.read(4)
    if len(head) < 4:
        return None
    length = int.from_bytes(head, "big")
    if length > limit:
        raise ComponentError(f"a frame of {length} bytes is not ours")
    content = stream.read(length)
    if len(content) < length:
        return None
    try:
        frame = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ComponentError(f"a frame that is not JSON: {error}") from error
    if not isinstance(frame, dict):
        raise ComponentError("a frame that is not a JSON object")
    return frame


def request_to_plain(request: Request) -> Frame:
    """A request as plain data."""
    decoding = request.decoding
    return {
        "messages": [[message.role, message.content] for message in request.messages],
        "decoding": {
            "max_tokens": decoding.max_tokens,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "stop": list(decoding.stop),
            "seed": decoding.seed,
        },
        "protocol": request.protocol.value,
        "options": list(request.options),
        "key": request.key,
        "replicate": request.replicate,
        "json_schema": request.json_schema,
        "kind": None if request.kind is None else request.kind.value,
    }


def request_from_plain(plain: Frame) -> Request:
    """The request that :func:`request_to_plain` wrote."""
    return Request(
        messages=tuple(Message(role, content) for role, content in plain["messages"]),
        decoding=Decoding(**{**plain["decoding"], "stop": tuple(plain["decoding"]["stop"])}),
        protocol=Protocol(plain["protocol"]),
        options=tuple(plain["options"]),
        key=plain["key"],
        replicate=plain["replicate"],
        json_schema=plain["json_schema"],
        kind=None if plain.get("kind") is None else ResponseKind(plain["kind"]),
    )


def reply_to_plain(reply: Reply) -> Frame:
    """A reply as plain data."""
    return {
        "text": reply.text,
        "stop_reason": reply.stop_reason.value,
        "latency_s": reply.latency_s,
        "first_piece_s": reply.first_piece_s,
        "prompt_tokens": reply.prompt_tokens,
        "reply_tokens": reply.reply_tokens,
        "metadata": dict(reply.metadata),
    }


def reply_from_plain(plain: Frame) -> Reply:
    """The reply that :func:`reply_to_plain` wrote."""
    return Reply(**{**plain, "stop_reason": StopReason(plain["stop_reason"])})


def piece_to_plain(piece: str | Reply | Wait | Likelihood | ComponentError) -> Frame:
    """Anything that comes back from a component, under the word that says what it is."""
    if isinstance(piece, str):
        return {"text": piece}
    if isinstance(piece, Reply):
        return {"reply": reply_to_plain(piece)}
    if isinstance(piece, Wait):
        return {"wait": [piece.seconds, piece.reason]}
    if isinstance(piece, Likelihood):
        told = [piece.log_probability, piece.tokens]
        more = [piece.prompt_tokens, dict(piece.metadata)]
        return {"likelihood": told + more if any(more) else told}
    return {"error": error_to_plain(piece)}


def piece_from_plain(plain: Frame) -> str | Reply | Wait | Likelihood | ComponentError:
    """What :func:`piece_to_plain` wrote."""
    (word, content), *_ = plain.items()
    if word == "text":
        return str(content)
    if word == "reply":
        return reply_from_plain(content)
    if word == "wait":
        return Wait(*content)
    if word == "likelihood":
        return Likelihood(*content)
    return error_from_plain(content)


def clip_to_plain(clip: Clip) -> Frame:
    """A clip as plain data."""
    return {
        "path": clip.path,
        "start_s": clip.start_s,
        "end_s": clip.end_s,
        "accepted": [list(form) for form in clip.accepted],
        "speech": None if clip.speech is None else [list(each) for each in clip.speech],
        "sounds": [list(each) for each in clip.sounds],
    }


def clip_from_plain(plain: Frame) -> Clip:
    """The clip that :func:`clip_to_plain` wrote."""
    speech = plain["speech"]
    return Clip(
        plain["path"],
        plain["start_s"],
        plain["end_s"],
        tuple(tuple(form) for form in plain["accepted"]),
        None if speech is None else tuple(Stretch(*each) for each in speech),
        tuple(Stretch(*each) for each in plain["sounds"]),
    )


def transcript_to_plain(transcript: Transcript) -> Frame:
    """A transcript as plain data."""
    return {
        "transcriber": transcript.transcriber,
        "status": transcript.status,
        "segments": [
            [each.phoneme, each.start_s, each.end_s, each.confidence]
            for each in transcript.segments
        ],
        "unit": transcript.unit,
        "seconds": transcript.seconds,
        "dropped": dict(transcript.dropped),
        "accepted_likelihood": transcript.accepted_likelihood,
        "error": transcript.error,
        "metadata": dict(transcript.metadata),
    }


def transcript_from_plain(plain: Frame) -> Transcript:
    """The transcript that :func:`transcript_to_plain` wrote."""
    return Transcript(**{**plain, "segments": tuple(Segment(*each) for each in plain["segments"])})


def spec_to_plain(spec: Spec) -> Frame:
    """A spec as plain data: its values may hold what its string cannot."""
    return {"id": spec.id, "name": spec.name, "options": dict(spec.options)}


def spec_from_plain(plain: Frame) -> Spec:
    """The spec that :func:`spec_to_plain` wrote."""
    return Spec(plain["id"], plain["name"], plain["options"])


def error_to_plain(error: BaseException) -> Frame:
    """An error as plain data; one that is not ours keeps the name of its type."""
    if not isinstance(error, TabwbError):
        return {"message": f"{type(error).__name__}: {error}"}
    fields = {"where": error.where, "allowed": error.allowed, "hint": error.hint}
    return {"message": error.message, **fields}


def error_from_plain(plain: Frame) -> ComponentError:
    """The error to raise for what :func:`error_to_plain` wrote."""
    places = {key: plain.get(key) for key in ("where", "allowed", "hint")}
    return ComponentError(plain["message"], **places)
