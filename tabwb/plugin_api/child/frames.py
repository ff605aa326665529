"""Messages between tabwb and a child host: length-prefixed frames of plain data (JSON).

A frame is four bytes, the length of what follows (big-endian), then one JSON object in UTF-8.
Nothing that is read can run code.

To the child go ``{"call": n, "method": name, "arguments": {...}}`` and ``{"cancel": n}``; back come
``{"call": n, "piece": ...}``, any number of times, and then ``{"call": n, "result": ...}`` or
``{"call": n, "error": {...}}``. Records are written in a frame as objects of their fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter

from tabwb.records.errors import ComponentError, TabwbError, error_text
from tabwb.records.exchange import Likelihood, Reply, Wait

LIMIT = 256 * 2**20
"""No frame is longer, in bytes: a length beyond it means that something else wrote to the pipe."""

Frame = dict[str, Any]
Piece = str | Reply | Wait | Likelihood | ComponentError
T = TypeVar("T")
_RECORDS: dict[str, type[Reply | Wait | Likelihood]] = {
    "reply": Reply,
    "wait": Wait,
    "likelihood": Likelihood,
}
_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def write_frame(stream: IO[bytes], frame: Mapping[str, Any]) -> None:
    """Write one frame and flush it.

    Args:
        stream: of frames.
        frame: plain data and records.
    """
    content = json.dumps(frame, separators=(",", ":"), default=_fields).encode("ascii")
    stream.write(len(content).to_bytes(4, "big") + content)
    stream.flush()


def read_frame(stream: IO[bytes], limit: int = LIMIT) -> Frame | None:
    """Read one frame; None at the end of the stream (also in the middle of a frame).

    Args:
        stream: of frames.
        limit: the longest frame that is read, in bytes.

    Raises:
        ComponentError: the stream holds something else than frames.
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


def read_record(kind: type[T], plain: object) -> T:
    """Return the record of a frame.

    Args:
        kind: its class.
        plain: its fields; other fields raise a ``ValueError``.
    """
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    record: T = _ADAPTERS[kind].validate_python(plain)
    return record


def piece_to_plain(piece: Piece) -> Frame:
    """Return a piece of an answer under the word that says what it is."""
    if isinstance(piece, str):
        return {"text": piece}
    for word, kind in _RECORDS.items():
        if isinstance(piece, kind):
            return {word: piece}
    return {"error": error_to_plain(piece)}  # type: ignore[arg-type]


def piece_from_plain(plain: Frame) -> Piece:
    """Return the piece that :func:`piece_to_plain` wrote."""
    (word, content), *_ = plain.items()
    if word == "text":
        return str(content)
    if word in _RECORDS:
        return read_record(_RECORDS[word], content)
    return error_from_plain(content)


def error_to_plain(error: BaseException) -> Frame:
    """Return an error as plain data; one that is not ours keeps the name of its type."""
    if not isinstance(error, TabwbError):
        return {"message": error_text(error)}
    return {key: getattr(error, key) for key in ("message", "where", "allowed", "hint")}


def error_from_plain(plain: Frame) -> ComponentError:
    """Return the error to raise for what :func:`error_to_plain` wrote."""
    return ComponentError(**plain)


def _fields(value: Any) -> Frame:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return dict(value)  # another mapping than a dict
