from __future__ import annotations

import io
import math
from types import MappingProxyType
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.host import process as frames
from tabwb.records.errors import ComponentError, UsageError
from tabwb.records.exchange import Decoding, Likelihood, Message, Reply, Request, Wait
from tabwb.records.specs import Spec
from tabwb.records.speech import Clip, Segment, Stretch, Transcript
from tabwb.records.states import Protocol, ResponseKind, StopReason

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)
texts = st.text(st.characters())
T = TypeVar("T")


def sent(record: T) -> T:
    """The record as the other process reads it."""
    stream = io.BytesIO()
    frames.write_frame(stream, {"record": record})
    stream.seek(0)
    frame = frames.read_frame(stream)
    assert frame is not None
    return frames.read_record(type(record), frame["record"])


@given(st.lists(st.dictionaries(st.text(), plain, max_size=3), max_size=3))
def test_frames_come_out_as_they_went_in(written: list[frames.Frame]) -> None:
    stream = io.BytesIO()
    for frame in written:
        frames.write_frame(stream, frame)
    stream.seek(0)
    assert list(iter(lambda: frames.read_frame(stream), None)) == written


@given(st.integers(min_value=0, max_value=30))
def test_a_frame_that_was_cut_is_the_end(length: int) -> None:
    stream = io.BytesIO()
    frames.write_frame(stream, {"call": 1, "piece": "a long enough one"})
    cut = io.BytesIO(stream.getvalue()[:length])
    assert frames.read_frame(cut) is None


@pytest.mark.parametrize("content", [b"\xff\xff\xff\xffgarbage", b"\0\0\0\3abc", b"\0\0\0\2[]"])
def test_what_is_no_frame_is_refused(content: bytes) -> None:
    with pytest.raises(ComponentError, match="frame"):
        frames.read_frame(io.BytesIO(content))


@given(
    texts,
    st.tuples(texts, texts),
    st.floats(0, 2, allow_nan=False),
    st.sampled_from(Protocol),
    st.integers(0, 2**63),
    st.none() | st.sampled_from(ResponseKind),
)
def test_requests_survive(
    text: str,
    stop: tuple[str, str],
    temperature: float,
    protocol: Protocol,
    seed: int,
    kind: ResponseKind | None,
) -> None:
    request = Request(
        (Message("system", text), Message("user", text)),
        Decoding(7, temperature, 0.9, stop, seed),
        protocol,
        (text,),
        "words/w1",
        3,
        kind,
    )
    assert sent(request) == request


@given(texts, st.sampled_from(StopReason), st.none() | st.floats(0, 9), st.none() | st.integers())
def test_replies_survive(
    text: str, reason: StopReason, first: float | None, tokens: int | None
) -> None:
    reply = Reply(text, reason, 1.5, first, tokens, tokens, {"k": text})
    assert sent(reply) == reply


def test_clips_and_transcripts_survive() -> None:
    clip = Clip("a.wav", 0.5, None, (("K", "AE"),), (Stretch(0.0, 1.5),), ())
    assert sent(clip) == clip
    assert isinstance((sent(clip).speech or ())[0], Stretch)
    heard = Transcript(
        *("x:y", "ok", (Segment("K", 0.0, 0.1), Segment("AE", 0.1, 0.2, 0.75))),
        dropped=MappingProxyType({"q": 1}),
        accepted_likelihood=-math.inf,
    )
    assert sent(heard) == heard


@pytest.mark.parametrize(
    "piece",
    ["text", Wait(1.5, "rate limit"), Likelihood(-math.inf, 3), Likelihood(-1.5, 3, 7, {"k": "v"})],
)
def test_pieces_survive(piece: frames.Piece) -> None:
    stream = io.BytesIO()
    frames.write_frame(stream, {"piece": frames.piece_to_plain(piece)})
    stream.seek(0)
    frame = frames.read_frame(stream)
    assert frame is not None and frames.piece_from_plain(frame["piece"]) == piece


def test_a_value_that_is_no_plain_data_is_refused() -> None:
    with pytest.raises(TypeError):
        frames.write_frame(io.BytesIO(), {"value": object()})


def test_a_spec_may_hold_what_its_string_cannot() -> None:
    spec = Spec("echo", "a:b", {"text": "x, y=z"})
    assert sent(spec) == spec


def test_an_error_keeps_what_it_says() -> None:
    error = UsageError("is wrong", where="here", allowed="right", hint="do better")
    raised = frames.error_from_plain(frames.error_to_plain(error))
    assert str(raised) == str(error)
    assert str(frames.error_from_plain(frames.error_to_plain(KeyError("x")))) == "KeyError: 'x'"


def test_a_frame_beyond_the_limit_is_refused_unread() -> None:
    stream = io.BytesIO((2**20).to_bytes(4, "big") + b"x")
    with pytest.raises(ComponentError):
        frames.read_frame(stream, limit=2**10)
    assert stream.tell() == 4


def test_a_frame_nested_too_deep_is_refused() -> None:
    content = b"[" * 200_000
    with pytest.raises(ComponentError):
        frames.read_frame(io.BytesIO(len(content).to_bytes(4, "big") + content))
