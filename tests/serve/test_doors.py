"""No request without a key gets anything but the page and its files."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from tabwb.serve import server as server_module
from tabwb.serve.admission import ADDRESSES, BURST, REFILL_S, WrongTries, network
from tests.serve.running import Browser, Links, running

SEGMENTS = st.sampled_from(
    ["rate", "static", "open", "ws", "rating", "shown", "terminal", "download", "rate.js",
     "textual.js", "..", ".", "", "%2e%2e",
     "..%2f..%2fserver.py", "%00", "%2fetc%2fpasswd", "etc", "passwd", "js", "index.html", "api",
     "A" * 43, "R2", "7", "favicon.ico", ".git", "*", "%5c..%5c", "//x", "rate;x", "static%2f"]
) | st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12)  # fmt: skip
TARGETS = st.builds(
    lambda parts, query, lead: lead + "/".join(parts) + query,
    st.lists(SEGMENTS, max_size=4),
    st.sampled_from(["", "?", "?width=80&height=24", "?key=x&rater=R2", "#R2", "?../.."]),
    st.sampled_from(["/", "/", "/", "", "http://elsewhere/", "//"]),
)
METHODS = st.sampled_from(
    ["GET"] * 8
    + ["POST"] * 4
    + ["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "MERGE", "X"]
)
UPGRADE = (
    "Connection: close, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
)
HEADERS = st.lists(
    st.sampled_from(
        ["Origin: HERE", "Origin: null", "Origin: http://evil.example", UPGRADE,
         "Sec-Fetch-Site: same-origin",
         "X-Forwarded-For: 127.0.0.1", "X-Original-URL: /static/rate.js", "X-HTTP-Method: GET",
         "Cookie: rater=R2; key=x", "Authorization: Basic UjI6", "Range: bytes=0-1", "Accept: */*",
         "Expect: 100-continue", "Transfer-Encoding: chunked", "Content-Type: application/json"]
    ),
    max_size=4,
    unique=True,
)  # fmt: skip
HOSTS = st.sampled_from(["HERE", "HERE", "HERE", "evil.example", "localhost", ""])
BODIES = st.binary(max_size=60) | st.just(b"A" * 43) | st.just(b'{"ticket": "A", "what": "view"}')


class Door:
    """A running server, its address, and every body that anybody may read."""

    def __init__(self, browser: Browser, public: frozenset[bytes], key: str) -> None:
        self.browser, self.public, self.key = browser, public, key
        self.here = browser.url.removeprefix("http://")

    def ask(self, request: bytes, *, whole: bool = True) -> bytes:
        """Send bytes."""
        host, _, port = self.here.partition(":")
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(request)
            if not whole:
                connection.shutdown(socket.SHUT_WR)
            reply = b""
            with suppress(TimeoutError):  # it waits for more, and has told nothing
                while chunk := connection.recv(65536):
                    reply += chunk
            return reply


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    """A server in a thread, with one valid link whose key no request has."""
    ready: list[Door] = []
    opened, done = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        links = Links()
        key = links.add("Rater-of-the-link")
        async with running(links, tries=WrongTries(burst=10**9)) as browser:
            public = [
                await (await browser.session.get(f"{browser.url}/{path}")).read()
                for path in (
                    "rate",
                    "terminal",
                    *(f"static/{name}" for name in server_module.FILES),
                )
            ]
            ready.append(Door(browser, frozenset(public), key))
            loops.append(asyncio.get_running_loop())
            opened.set()
            await done.wait()

    patch = pytest.MonkeyPatch()
    patch.setattr(server_module, "REFUSED_S", 0.0)
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert opened.wait(30)
    yield ready[0]
    loops[0].call_soon_threadsafe(done.set)
    thread.join()
    patch.undo()


@settings(max_examples=200, phases=[Phase.explicit, Phase.generate])
@given(METHODS, TARGETS, HOSTS, HEADERS, BODIES)
def test_no_request_finds_another_door(
    door: Door, method: str, target: str, host: str, headers: list[str], body: bytes
) -> None:
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *headers]
    if UPGRADE not in headers:
        lines.append("Connection: close")
    if "Transfer-Encoding: chunked" in headers:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
    else:
        lines.append(f"Content-Length: {len(body)}")
    request = "\r\n".join(lines).replace("HERE", door.here) + "\r\n\r\n"
    request = request.replace(f"Origin: {door.here}", f"Origin: http://{door.here}")
    check(door, door.ask(request.encode() + body))


@given(st.binary(max_size=200))
def test_bytes_that_are_no_request_find_no_door(door: Door, sent: bytes) -> None:
    check(door, door.ask(sent, whole=False))


def check(door: Door, reply: bytes) -> None:
    """Assert that a reply is public: the page, a file of it, or a refusal that tells nothing."""
    for secret in (door.key.encode(), b"Rater-of-the-link", b"ticket", b"/tabwb/", b"Traceback"):
        assert secret not in reply.partition(b"\r\n\r\n")[2] or _public(door, reply)
    assert not door.browser.server.sessions.guests
    assert not door.browser.server.seats.guests
    while reply:
        head, _, rest = reply.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        event(f"status {status}")
        assert status in (100, 200, 400, 404, 417), head
        if status == 200:
            assert _public(door, reply)
            return
        if status in (100, 404) and rest.startswith(b"HTTP/1.1"):
            reply = rest  # an answer to "Expect" comes before the other
            continue
        return


def _public(door: Door, reply: bytes) -> bool:
    head, _, body = reply.partition(b"\r\n\r\n")
    return head.startswith(b"HTTP/1.1 200") and (not body or body in door.public)


def test_a_valid_key_opens_the_same_server(door: Door) -> None:
    lines = ("POST /open HTTP/1.1", f"Host: {door.here}", f"Origin: http://{door.here}",
             "Content-Length: 43", "Connection: close", "", door.key)  # fmt: skip
    reply = door.ask("\r\n".join(lines).encode())
    assert reply.startswith(b"HTTP/1.1 200")
    assert b'{"ticket": "' in reply


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 30)), max_size=60))
def test_no_address_gets_more_tries_than_its_bucket(tries: list[tuple[int, float]]) -> None:
    table, now, taken = WrongTries(), 0.0, dict.fromkeys(range(4), 0)
    for address, pause in tries:
        now += pause
        taken[address] += table.take(str(address), now) == 0.0
    assert all(count <= BURST + now / REFILL_S + 1e-6 for count in taken.values())


def test_the_table_of_addresses_is_bounded() -> None:
    table = WrongTries()
    for number in range(ADDRESSES + 1000):
        table.take(network(f"2001:db8:{number:x}::1"), 0.0)
    assert len(table) == ADDRESSES
    for _ in range(BURST):
        assert table.take("192.0.2.7", 1.0) == 0.0
    assert table.take("192.0.2.7", 1.0) == pytest.approx(REFILL_S)
    assert table.take("192.0.2.7", 1.0 + REFILL_S) == 0.0
