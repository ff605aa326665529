"""A small server on this machine that speaks the chat completions protocol, well and badly."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tabwb.host.remote_model import RemoteModel, Retries
from tabwb.records.exchange import Decoding, Message, Reply, Request, Wait

Behaviour = Callable[["Handler", dict[str, Any]], None]
"""Answers one request, given its body."""


def chunk(
    content: str | None = None, *, finish: str | None = None, usage: Any = None, **delta: Any
) -> dict[str, Any]:
    """One chunk of a stream."""
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    if content is not None:
        delta["content"] = content
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "small-2026-01-01",
        "choices": [] if usage else choices,
        "usage": usage,
    }


def says(text: str, *, finish: str | None = "stop", thoughts: int = 0, **delta: Any) -> Behaviour:
    """Streams a text word by word; counts tokens if asked to, a word being one."""
    words = text.split(" ") if text else []
    pieces = [word if n == 0 else f" {word}" for n, word in enumerate(words)]

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        chunks = [chunk("", role="assistant"), *map(chunk, pieces)]
        if delta:
            chunks.append(chunk(**delta))
        if finish is not None:
            chunks.append(chunk(finish=finish))
        if (body.get("stream_options") or {}).get("include_usage"):
            heard = sum(len(message["content"].split()) for message in body["messages"])
            written = len(pieces) + thoughts
            counts: dict[str, Any] = {"prompt_tokens": heard, "completion_tokens": written}
            if thoughts:
                counts["completion_tokens_details"] = {"reasoning_tokens": thoughts}
            chunks.append(chunk(usage=counts | {"total_tokens": heard + written}))
        handler.stream([json.dumps(each) for each in chunks] + ["[DONE]"])

    return answer


def streams(*lines: str) -> Behaviour:
    """Sends these events as they are."""
    return lambda handler, body: handler.stream(list(lines))


def breaks_off_after(text: str) -> Behaviour:
    """Sends a beginning and closes the connection in the middle."""

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        handler.stream([json.dumps(chunk(text))], whole=False)
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    return answer


def refuses(status: int, error: Mapping[str, Any], **headers: str) -> Behaviour:
    """Answers with an error."""
    return lambda handler, body: handler.document(status, {"error": error}, headers)


def sends(text: str, content_type: str = "text/html") -> Behaviour:
    """Answers 200 with something that is not a stream."""
    return lambda handler, body: handler.plain(200, text.encode(), {"Content-Type": content_type})


def is_silent(seconds: float) -> Behaviour:
    """Says nothing for so long."""

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        handler.chat.over.wait(seconds)
        with suppress(OSError):
            says("late")(handler, body)

    return answer


@dataclass
class Chat:
    """What a server was asked, and what it is still to do."""

    script: list[Behaviour]
    then: Behaviour
    look: Behaviour
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> Behaviour:
        with self.lock:
            return self.script.pop(0) if self.script else self.then


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    chat: Chat

    def do_GET(self) -> None:
        self.chat.look(self, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.chat.bodies.append(body)
        self.chat.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.chat.next()(self, body)

    def stream(self, events: list[str], *, whole: bool = True) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            data = f"data: {event}\n\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if whole:
            self.wfile.write(b"0\r\n\r\n")

    def document(self, status: int, content: Any, headers: Mapping[str, str]) -> None:
        known = {"Content-Type": "application/json"}
        self.plain(status, json.dumps(content).encode(), known | dict(headers))

    def plain(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def address_string(self) -> str:
        return "a unix socket or this machine"

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class OnSocket(ThreadingHTTPServer):
    address_family = socket.AF_UNIX

    def server_bind(self) -> None:
        self.socket.bind(self.server_address)


@contextmanager
def chat_server(
    *script: Behaviour,
    then: Behaviour | None = None,
    look: Behaviour | None = None,
    unix: Path | None = None,
) -> Iterator[Chat]:
    """A server that answers requests by the script and further ones by ``then``."""

    def no_models(handler: Handler, body: dict[str, Any]) -> None:
        handler.document(200, {"object": "list", "data": []}, {})

    chat = Chat(list(script), then or says("dog"), look or no_models)
    handler = type("HandlerOfThis", (Handler,), {"chat": chat})
    if unix is None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        chat.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    else:
        server = OnSocket(str(unix), handler)  # type: ignore[arg-type]
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        chat.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


QUICK = Retries(attempts=3, first_s=0.01, longest_s=0.05)


def asked(text: str = "Which one barks?", **settings: object) -> Request:
    return Request((Message("user", text),), Decoding(**settings))  # type: ignore[arg-type]


def pieces(model: RemoteModel, request: Request | None = None) -> list[str | Wait | Reply]:
    return list(model.reply(request or asked(), threading.Event()))


def reply(model: RemoteModel, request: Request | None = None) -> Reply:
    last = pieces(model, request)[-1]
    assert isinstance(last, Reply)
    return last
