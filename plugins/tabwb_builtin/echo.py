"""The back end ``echo``, which needs no model, and the streaming of a known text."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tabwb.plugin_api.components import Cancel, ModelBackend
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Reply, Request
from tabwb.records.specs import Spec
from tabwb.records.states import Protocol, StopReason

if TYPE_CHECKING:
    from pydantic import BaseModel

_PIECE = re.compile(r"\s*\S+\s*\Z|\s*\S+|\s+")
"""A word with the white space before it; joined, the pieces are the text."""


class EchoModel:
    """Returns the last message, word by word. A word counts as a token."""

    def __init__(self, delay: float = 0.0, text: str | None = None) -> None:
        self._delay = delay
        self._text = text

    def open(self) -> Mapping[str, str]:
        """Return the facts; nothing is loaded."""
        return {"model": "echo"}

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        """Stream the words, waiting ``delay`` seconds before each."""
        refuse_protocol("echo", request.protocol)
        heard = request.messages[-1].content if request.messages else ""
        text = heard if self._text is None else self._text
        words = sum(len(message.content.split()) for message in request.messages)
        yield from stream_text(text, request.decoding, cancel, delay=self._delay, heard=words)

    def close(self) -> None:
        """Do nothing."""


def stream_text(
    text: str, decoding: Decoding, cancel: Cancel, *, delay: float = 0.0, heard: int | None = None
) -> Iterator[str | Reply]:
    """Stream a known text as a model would: word by word, to the first stop string or the limit."""
    started = time.monotonic()
    stops = [text.find(stop) for stop in decoding.stop if stop and stop in text]
    reason = StopReason.STOP_STRING if stops else StopReason.END
    pieces: list[str] = []
    first: float | None = None
    for piece in _PIECE.findall(text[: min(stops)] if stops else text):
        if len(pieces) >= decoding.max_tokens:
            reason = StopReason.LENGTH
            break
        if cancel.wait(delay) if delay else cancel.is_set():
            reason = StopReason.CANCELLED
            break
        first = time.monotonic() - started if first is None else first
        pieces.append(piece)
        yield piece
    latency = time.monotonic() - started
    yield Reply("".join(pieces), reason, latency, first, heard, len(pieces))


def refuse_protocol(backend: str, protocol: Protocol) -> None:
    """Refuse every protocol but ``generate``."""
    if protocol is not Protocol.GENERATE:
        raise ComponentError(
            f"'{backend}' cannot answer under the protocol '{protocol.value}'", allowed="generate"
        )


def _echo_options() -> type[BaseModel]:
    from pydantic import BaseModel, ConfigDict, Field

    class EchoOptions(BaseModel):
        """Options of ``echo``."""

        model_config = ConfigDict(extra="forbid")
        delay: float = Field(
            0.0, ge=0, le=60, allow_inf_nan=False, description="seconds before each word, 0 to 60"
        )
        text: str | None = Field(None, description="text to return instead of the prompt")

    return EchoOptions


def _echo(spec: Spec, options: Any) -> ModelBackend:
    return EchoModel(options.delay, options.text)


ECHO = Descriptor(
    "echo",
    "Returns the prompt word by word, to try tabwb without a model",
    _echo,
    options=_echo_options,
)
