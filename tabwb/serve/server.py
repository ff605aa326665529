"""The web server: one page, its files, one place to show a key, and the web sockets of raters.

There is no other route. Files are read at the start and found by name in a table, so no request
names a path on the disk.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from tabwb.administer.rating.access import PAGE, digest, is_key
from tabwb.records.errors import NoConsent, TabwbError
from tabwb.serve.admission import (
    MOST_BYTES,
    Guest,
    Links,
    Site,
    Size,
    Tickets,
    WrongTries,
    client_address,
    find_guest,
    network,
    no_longer_valid,
    read_size,
)
from tabwb.serve.sessions import COMMAND, Session, Sessions

REFUSED_S = 0.3
"""Seconds after which a key is refused, whatever is wrong with it."""
WATCH_S = 5.0
"""Seconds between two checks whether the links of open pages are still valid."""
READ_S = 10.0
"""Seconds that a browser has to send a key."""
HEARTBEAT_S = 15.0
"""Seconds between two signs of life; a browser that gives none is gone."""
IDLE_S = 150.0
"""Seconds for which a connection may send no whole request; a proxy's idle ones live 60 to 120."""
CACHE = "private, max-age=3600"
FILES = {
    "page.css": ("tabwb.serve", "page/page.css", "text/css"),
    "page.js": ("tabwb.serve", "page/page.js", "text/javascript"),
    "textual.js": ("textual_serve", "static/js/textual.js", "text/javascript"),
    "xterm.css": ("textual_serve", "static/css/xterm.css", "text/css"),
    "regular.ttf": ("textual_serve", "static/fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "italic.ttf": (
        "textual_serve",
        "static/fonts/RobotoMono-Italic-VariableFont_wght.ttf",
        "font/ttf",
    ),
}
"""Every file that is offered: package, file in it, type."""
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
NOT_FOUND = "Not found\n"
LATER = "What you have rated is saved. This page tries again by itself."
BUSY = f"The study cannot be opened just now. {LATER}"
WITHHELD = "The study cannot be shown here now. Tell the person who sent you the link. " + LATER
FULL = "All {most} places are taken. " + LATER

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
log = logging.getLogger("tabwb.serve")


@dataclass(frozen=True)
class Settings:
    """How the server works.

    Attributes:
        site: where browsers reach it.
        most: pages that can be open at once.
        command: that shows one page.
        environment: of that command, for one guest, beside the server's own.
        is_closed: whether the rating set of a guest is closed; may raise ``StoreError``, and
            ``NoConsent`` where the set may not be shown at the site.
    """

    site: Site
    environment: Callable[[Guest], Mapping[str, str]]
    is_closed: Callable[[Guest], bool] = lambda guest: False
    most: int = 20
    command: Sequence[str] = COMMAND


class RatingServer:
    """Answers requests; see :meth:`application`."""

    def __init__(
        self, links: Links, settings: Settings, *, tries: WrongTries | None = None
    ) -> None:
        self._links = links
        self._settings = settings
        self._headers = settings.site.security_headers()
        self._tries = tries or WrongTries()
        self._tickets = Tickets()
        self.sessions = Sessions(settings.most)
        self._page = files("tabwb.serve").joinpath("page/rate.html").read_bytes()
        self._files = {
            name: (files(package).joinpath(path).read_bytes(), kind)
            for name, (package, path, kind) in FILES.items()
        }

    def application(self) -> web.Application:
        """Return the application with its routes."""
        application = web.Application(middlewares=[self._guard], client_max_size=1024)
        application.add_routes(
            [
                web.get(f"/{PAGE}", self._show_page),
                web.get("/static/{name}", self._show_file),
                web.post("/open", self._take_key),
                web.get("/ws/{ticket}", self._show_terminal, allow_head=False),
            ]
        )
        application.on_response_prepare.append(self._add_headers)
        application.cleanup_ctx.append(self._watching)
        application.on_shutdown.append(self._close_pages)
        return application

    # ---------------------------------------------------------------- around every request

    async def _add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        cache = response.headers.get("Cache-Control")
        response.headers.update(self._headers)
        if cache is not None:
            response.headers["Cache-Control"] = cache

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer alike to everything that is not there."""
        if request.headers.get("Host", "").lower() not in self._settings.site.hosts:
            return _not_found()
        try:
            return await handler(request)
        except web.HTTPException:
            return _not_found()

    async def _watching(self, application: web.Application) -> AsyncIterator[None]:
        task = asyncio.create_task(self._watch())
        yield
        task.cancel()

    async def _close_pages(self, application: web.Application) -> None:
        await self.sessions.end()

    async def _watch(self) -> None:
        """Close pages whose link has expired or was revoked."""
        while True:
            await asyncio.sleep(WATCH_S)
            if guests := self.sessions.guests:
                # A store that cannot be read takes no rating either.
                with suppress(TabwbError, OSError, RuntimeError):
                    ended = await asyncio.to_thread(no_longer_valid, self._links, guests)
                    await self.sessions.end(ended)

    # ---------------------------------------------------------------- the routes

    async def _show_page(self, request: web.Request) -> web.Response:
        return web.Response(body=self._page, content_type="text/html", charset="utf-8")

    async def _show_file(self, request: web.Request) -> web.Response:
        found = self._files.get(request.match_info["name"])
        if found is None:
            return _not_found()
        body, kind = found
        response = web.Response(body=body, content_type=kind, headers={"Cache-Control": CACHE})
        if kind.startswith("text/"):
            response.enable_compression()
        return response

    async def _take_key(self, request: web.Request) -> web.Response:
        """Give a ticket for a key that opens a page; refuse every other in the same time.

        The key is looked up first, so that the wrong ones of an address keep no rater out who has
        the same address. A key cannot be guessed; the limit keeps strangers from trying for long.
        """
        began = time.monotonic()
        forwarded = ",".join(request.headers.getall("X-Forwarded-For", ()))
        # Only a proxy can have encrypted the connection.
        behind = self._settings.site.encrypted
        address = network(client_address(request.remote, forwarded, behind_proxy=behind))
        key = await self._sent_key(request)
        try:
            guest, closed = await asyncio.to_thread(self._find, key)
        except TabwbError as error:
            withheld = isinstance(error, NoConsent)
            what = "a set may not be shown" if withheld else "the store cannot be read"
            log.warning("%s: %s", what, error.message)
            return _later(WITHHELD if withheld else BUSY)
        if guest is None:
            wait = self._tries.take(address, began)
            await asyncio.sleep(max(0.0, began + REFUSED_S - time.monotonic()))
            return _too_many(wait) if wait else _not_found()
        if closed:
            return web.Response(status=410, text="Closed\n")
        if not self.sessions.has_room(guest):
            return _later(FULL.format(most=self.sessions.most))
        return web.json_response({"ticket": self._tickets.make(guest, time.monotonic())})

    def _find(self, key: str) -> tuple[Guest | None, bool]:
        guest = find_guest(self._links, digest(key))
        return guest, guest is not None and self._settings.is_closed(guest)

    async def _sent_key(self, request: web.Request) -> str:
        """Return the key in a request; of a malformed one, or of a foreign page, an empty text."""
        with suppress(web.HTTPException, TimeoutError):
            async with asyncio.timeout(READ_S):
                # Not by the charset that the request names: some raise, some decode anything.
                key = (await request.read()).decode("latin-1")
            if is_key(key) and self._is_own(request):
                return key
        return ""

    def _is_own(self, request: web.Request) -> bool:
        """Return whether a page of this server sends the request; no page can forge these two."""
        origin = request.headers.get("Origin", "")
        # Some browsers hide the origin, as they hide the referrer, on a page that sends none.
        hidden = origin == "null" and request.headers.get("Sec-Fetch-Site") == "same-origin"
        return hidden or origin in self._settings.site.origins

    async def _show_terminal(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MOST_BYTES)
        if not self._is_own(request):
            return _not_found()
        guest = self._tickets.take(request.match_info["ticket"], time.monotonic())
        transport = request.transport
        # Of an odd handshake aiohttp logs what the browser said, so strangers come no further.
        if guest is None or transport is None or not socket.can_prepare(request):
            return _not_found()
        await socket.prepare(request)
        size = read_size(request.query.get("width"), request.query.get("height")) or Size(80, 24)
        environment = self._settings.environment(guest)
        session = Session(guest, socket, transport, self._settings.command, environment)
        await self.sessions.serve(session, size)
        await socket.close()
        return socket


def _not_found() -> web.Response:
    return web.Response(status=404, text=NOT_FOUND)


def _too_many(wait: float) -> web.Response:
    return web.Response(status=429, text="Too many\n", headers={"Retry-After": str(int(wait) + 1)})


def _later(words: str) -> web.Response:
    return web.json_response({"words": words}, status=503, headers={"Retry-After": "10"})


class _Terse(logging.Filter):
    """Leaves type and place of an exception in a record: its text may quote what was sent."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change a record; refuse one about a malformed request."""
        kind, _, trace = record.exc_info or (None, None, None)
        if kind is not None and issubclass(kind, HttpProcessingError):
            return False
        if kind is not None:
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            where = (
                ""
                if trace is None
                else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
            )
            record.msg, record.args = f"a request failed: {kind.__name__}{where}", ()
            record.exc_info = record.exc_text = None
        return True


def make_runner(server: RatingServer) -> web.AppRunner:
    """Return what runs a server: without a log of requests, and without their text in errors."""
    requests = logging.getLogger("tabwb.serve.requests")
    if not requests.filters:
        requests.addFilter(_Terse())
    return web.AppRunner(
        server.application(),
        access_log=None,
        logger=requests,
        keepalive_timeout=IDLE_S,
        auto_decompress=False,  # a key is not compressed
    )


async def run_server(
    server: RatingServer, host: str, port: int, started: Callable[[], None]
) -> None:
    """Serve until the process is interrupted or asked to end."""
    runner = make_runner(server)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise TabwbError(
                f"cannot listen here: {error.strerror or error}",
                where=f"{host}:{port}",
                hint="another program may use the port: choose one with --port",
            ) from error
        started()
        await _end_wanted()
    finally:
        await runner.cleanup()


async def _end_wanted() -> None:
    """Return when the process is interrupted or asked to end.

    Asyncio's own handlers would take the wake-up descriptor of :mod:`tabwb.cli.process`, by which a
    second ctrl+c ends the program also where this loop hangs.
    """
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    before = {
        number: signal.signal(number, lambda *_: loop.call_soon_threadsafe(ended.set))
        for number in numbers
    }
    try:
        await ended.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
