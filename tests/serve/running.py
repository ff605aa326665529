"""A server in this process, with links in memory and small processes in place of rating pages."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from aiohttp import ClientResponse, ClientSession, ClientWebSocketResponse, web
from aiohttp.test_utils import unused_port

from tabwb.administer.rating.access import digest, new_key
from tabwb.records.errors import StoreError
from tabwb.records.rating_sets import RaterLink
from tabwb.serve.admission import Guest, Site, WrongTries
from tabwb.serve.seats import Opened
from tabwb.serve.server import RatingServer, Settings, make_runner

PAGE = Path(__file__).with_name("small_page.py")
LATER = "2999-01-01T00:00:00+00:00"


class Links:
    """Links as a store has them."""

    def __init__(self) -> None:
        self._made: dict[bytes, RaterLink] = {}
        self.fails = self.closed = False

    def add(self, rater: str, *, expires_at: str = LATER) -> str:
        """Return the key of a new link."""
        key = new_key()
        number = len(self._made) + 1
        self._made[digest(key)] = RaterLink(number, 7, rater, "", "lab", expires_at)
        return key

    def revoke(self, key: str) -> None:
        """End a link."""
        self._made[digest(key)] = replace(self._made[digest(key)], revoked_at="2026-01-01")

    def of(self, token_sha256: bytes) -> RaterLink | None:
        """Return a link."""
        if self.fails:
            raise StoreError("the database cannot be reached", where="here")
        return self._made.get(token_sha256)

    def all(self) -> Sequence[RaterLink]:
        """Return all links."""
        return tuple(self._made.values())


class Browser:
    """What a browser does, as requests."""

    def __init__(
        self, url: str, server: RatingServer, session: ClientSession, links: Links, *, proxied: bool
    ) -> None:
        self.url, self.server, self.session = url, server, session
        self.links = links
        own = {"Origin": "https://rate.example.org", "Host": "rate.example.org"}
        self._own = own if proxied else {"Origin": url}

    async def send(self, key: str, **headers: str) -> ClientResponse:
        """Send a key as the page does."""
        said = {**self._own, **headers}
        return await self.session.post(f"{self.url}/open", data=key, headers=said)

    async def ask(self, ticket: str, what: str = "view", **more: object) -> ClientResponse:
        """Send a request as the page does."""
        body = json.dumps({"ticket": ticket, "what": what, **more})
        return await self.session.post(f"{self.url}/rating", data=body, headers=self._own)

    async def connect(self, ticket: str, size: str = "?width=80&height=24") -> Screen:
        """Open a web socket."""
        socket = await self.session.ws_connect(
            f"{self.url}/ws/{ticket}{size}", headers={"Origin": self.url}
        )
        return Screen(socket)

    async def enter(self, key: str) -> Screen:
        """Send a key, open the web socket, and wait for the page."""
        reply = await self.send(key)
        assert reply.status == 200, await reply.text()
        screen = await self.connect((await reply.json())["ticket"])
        await screen.read()
        return screen


class Screen:
    """The page's side of a web socket."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.lines: dict[str, str] = {}

    async def read(self) -> None:
        """Read what the small page says of itself."""
        text = (await self.socket.receive_bytes(timeout=30)).decode()
        self.lines = dict(line.split("=", 1) for line in text.splitlines())

    async def closed(self) -> None:
        """Wait until the server closes it."""
        async with asyncio.timeout(30):
            async for _ in self.socket:
                pass


def nothing(guest: Guest) -> Opened:
    """Stand in for a store that cannot be opened."""
    raise StoreError("there is no store here")


@asynccontextmanager
async def running(
    links: Links,
    *,
    most: int = 20,
    proxied: bool = False,
    tries: WrongTries | None = None,
    opens: Callable[[Guest], Opened] = nothing,
    port: int = 0,
) -> AsyncIterator[Browser]:
    """Yield a browser at a server that shows :data:`PAGE` to its guests."""
    port = port or unused_port()
    url = f"http://127.0.0.1:{port}"
    settings = Settings(
        Site("https://rate.example.org" if proxied else url, port),
        lambda guest: {"SMALL_PAGE_RATER": guest.link.rater},
        opens,
        lambda guest: links.closed,
        most=most,
        command=(sys.executable, "-S", "-E", str(PAGE)),
    )
    server = RatingServer(links, settings, tries=tries)
    runner = make_runner(server)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        async with ClientSession() as session:
            yield Browser(url, server, session, links, proxied=proxied)
    finally:
        await runner.cleanup()
