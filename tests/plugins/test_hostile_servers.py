"""The real clients against servers that never end, or send what nobody asked for."""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from tabwb_gemini.backend import GeminiModel
from tabwb_gemini.options import GeminiOptions
from tabwb_openai.backend import OpenAIModel
from tabwb_openai.options import OpenAIOptions

from tabwb.host import remote_model as bounded_http
from tabwb.host.remote_model import RemoteModel, Retries
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Message, Reply, Request, Wait
from tests.plugins.chat_server import Behaviour, Chat, Handler, chat_server, chunk, is_silent, says

ONCE = Retries(attempts=1)
LIMIT_S = 0.5
"""The limit of a reply in these tests, in seconds."""


@pytest.fixture(params=["openai", "gemini"])
def ask(request: pytest.FixtureRequest) -> Iterator[Callable[..., Reply]]:
    """Ask one question of a server; fails after 20 s whatever happens."""
    models: list[Any] = []

    def model(chat: Chat, reply_s: float) -> Any:
        if request.param == "openai":
            options = OpenAIOptions(base_url=chat.url, reply_s=reply_s)
            return OpenAIModel("m", options, local=True, retries=ONCE)
        wanted = GeminiOptions(base_url=chat.url, reply_s=reply_s)
        return GeminiModel("m", wanted, local=True, retries=ONCE)

    def call(chat: Chat, reply_s: float = LIMIT_S) -> Reply:
        models.append(model(chat, reply_s))
        models[-1].open()
        asked = Request((Message("user", "Which one barks?"),), Decoding(max_tokens=5))
        *_, last = models[-1].reply(asked, threading.Event())
        assert isinstance(last, Reply)
        return last

    yield call
    for each in models:
        each.close()


def forever(piece: bytes, pause_s: float = 0.0) -> Behaviour:
    """Begins an event stream and sends the same bytes until the test is over."""

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        with suppress(OSError):
            while not handler.chat.over.wait(pause_s):
                handler.wfile.write(piece)
        handler.close_connection = True

    return answer


def slow_headers(handler: Handler, body: dict[str, Any]) -> None:
    with suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not handler.chat.over.wait(0.1):
            handler.wfile.write(b"X-More: yes\r\n")
    handler.close_connection = True


def event(document: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


@pytest.mark.parametrize(
    "behaviour",
    [
        forever(b": waiting\n\n", 0.05),
        forever(event(chunk("")), 0.05),
        forever(event(chunk(reasoning_content="hm")), 0.05),
        forever(b"d", 0.05),
        slow_headers,
    ],
    ids=["comments", "empty pieces", "reasoning", "one byte now and then", "headers"],
)
def test_a_reply_without_end_fails_at_its_limit(
    ask: Callable[..., Reply], behaviour: Behaviour
) -> None:
    began = time.monotonic()
    with chat_server(then=behaviour) as chat, pytest.raises(ComponentError) as caught:
        ask(chat)
    assert time.monotonic() - began < 60
    # Google's own client takes a comment for a malformed answer.
    assert any(words in str(caught.value) for words in ("after 0.5 s", "malformed answer"))


def begins_and_is_silent(handler: Handler, body: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    handler.chat.over.wait(60)
    handler.close_connection = True


@pytest.mark.parametrize("behaviour", [is_silent(60), begins_and_is_silent])
@pytest.mark.parametrize("service", ["openai", "gemini"])
def test_a_silent_server_is_said_and_ends_a_try(
    service: str, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabwb.host.remote_model.SILENCE_S", 0.2)
    request = Request((Message("user", "Which one barks?"),), Decoding(max_tokens=5))

    def model(chat: Chat, timeout_s: float) -> Any:
        if service == "openai":
            options = OpenAIOptions(base_url=chat.url, timeout_s=timeout_s)
            return OpenAIModel("m", options, local=True, retries=ONCE)
        wanted = GeminiOptions(base_url=chat.url, timeout_s=timeout_s)
        return GeminiModel("m", wanted, local=True, retries=ONCE)

    with chat_server(then=behaviour) as chat:
        waiting, cancel = model(chat, 120.0), threading.Event()
        waits = []
        for piece in waiting.reply(request, cancel):
            if isinstance(piece, Wait):
                waits.append(piece.reason)
                cancel.set()
        assert "no byte for" in waits[0] and "limit 120 s" in waits[0]
        assert len(waits) == 1, "a cancelled try goes on reporting, so it does not end"
        limited = model(chat, 0.5)
        with pytest.raises(ComponentError, match="no answer in time") as caught:
            list(limited.reply(request, threading.Event()))
        assert "timeout_s, 0.5 s" in str(caught.value)
        waiting.close()
        limited.close()


def test_bytes_without_text_are_no_silence(
    ask: Callable[..., Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RemoteModel, "heard", lambda self: heard.append(1))
    heard: list[int] = []
    # Google's own client takes a comment for a malformed answer.
    drips = forever(event(chunk(reasoning_content="hm")), 0.05)
    with chat_server(then=drips) as chat, pytest.raises(ComponentError):
        ask(chat)
    assert len(heard) > 2


def test_an_answer_beyond_the_limit_of_bytes_is_not_kept(
    ask: Callable[..., Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_http.client_arguments, "__defaults__", (2**20,))
    endless_line = forever(b"data: " + b"x" * 65536)
    with chat_server(then=endless_line) as chat, pytest.raises(ComponentError, match="1 MiB"):
        ask(chat, reply_s=60)


def test_a_compressed_answer_is_refused_before_it_is_unpacked(ask: Callable[..., Reply]) -> None:
    bomb = zlib.compressobj(9, wbits=31)
    packed = b"".join(bomb.compress(bytes(2**20)) for _ in range(200)) + bomb.flush()

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        headers = {"Content-Encoding": "gzip", "Content-Type": "text/event-stream"}
        with suppress(OSError):
            handler.plain(200, packed, headers)

    with chat_server(then=answer) as chat, pytest.raises(ComponentError, match="compressed"):
        ask(chat, reply_s=60)


def test_compression_is_not_asked_for(ask: Callable[..., Reply]) -> None:
    with chat_server() as chat, suppress(ComponentError):
        ask(chat)
    assert chat.headers[0]["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_is_named_and_not_followed(ask: Callable[..., Reply], status: int) -> None:
    with chat_server(then=says("dog")) as other:

        def elsewhere(handler: Handler, body: dict[str, Any]) -> None:
            handler.plain(status, b"", {"Location": f"{other.url}/elsewhere"})

        with chat_server(then=elsewhere) as chat, pytest.raises(ComponentError) as caught:
            ask(chat)
    assert other.bodies == []
    assert other.url in str(caught.value)


def test_a_redirection_of_a_service_elsewhere_is_not_followed() -> None:
    with chat_server(then=says("dog")) as other:

        def elsewhere(handler: Handler, body: dict[str, Any]) -> None:
            handler.plain(307, b"", {"Location": other.url})

        with chat_server(then=elsewhere) as chat:
            options = OpenAIOptions(base_url=chat.url)
            model = OpenAIModel("m", options, local=False, retries=ONCE)
            model.open()
            with pytest.raises(ComponentError, match="redirects"):
                list(model.reply(Request((Message("user", "hi"),)), threading.Event()))
            model.close()
    assert other.bodies == []


def test_opening_does_not_wait_for_a_server_that_drips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabwb_openai.backend.LOOK_S", 1.0)
    with chat_server(look=slow_headers) as chat:
        model = OpenAIModel("m", OpenAIOptions(base_url=chat.url), local=True)
        began = time.monotonic()
        model.open()
        assert time.monotonic() - began < 40
        model.close()
