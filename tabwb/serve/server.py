"""The web server: two pages, their files, a place to show a key, and what raters ask and get.

There is no other route. A key gets a ticket. With it the page of a rater sends requests, and the
terminal, for raters whom the page does not suit, opens a web socket. Files are read at the start
and found by name in a table, so no request names a path on the disk.
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
from tabwb.records.errors import HeldElsewhere, NoConsent, StoreError, TabwbError
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
from tabwb.serve.seats import Opened, Seats, read_said
from tabwb.serve.sessions import COMMAND, Session, Sessions
from tabwb.store.sets import SavedElsewhere

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
    "notices.js": ("tabwb.serve", "page/notices.js", "text/javascript"),
    "rate.css": ("tabwb.serve", "page/rate.css", "text/css"),
    "rate.js": ("tabwb.serve", "page/rate.js", "text/javascript"),
    "terminal.css": ("tabwb.serve", "page/terminal.css", "text/css"),
    "terminal.js": ("tabwb.serve", "page/terminal.js", "text/javascript"),
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
DATES = ("ETag", "Last-Modified")
"""Headers that tell when a file was written: with a recording, on which day somebody spoke."""
TERMINAL = "terminal"
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
NOT_FOUND = "Not found\n"
LATER = "What you have rated is saved. This page tries again by itself."
BUSY = f"The study cannot be opened just now. {LATER}"
WITHHELD = "The study cannot be shown here now. Tell the person who sent you the link. " + LATER
ELSEWHERE = f"Your rating page is open in another program. Close it there. {LATER}"
FULL = "All {most} places are taken. " + LATER

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
log = logging.getLogger("tabwb.serve")


@dataclass(frozen=True)
class Settings:
    """How the server works.

    Attributes:
        site: where browsers reach it.
        most: pages that can be open at once.
        command: that shows one page in a terminal.
        opens: opens the work of a guest for the page; may raise ``TabwbError``.
        environment: of that command, for one guest, beside the server's own.
        is_closed: whether the rating set of a guest is closed; may raise ``StoreError``, and
            ``NoConsent`` where the set may not be shown at the site.
    """

    site: Site
    environment: Callable[[Guest], Mapping[str, str]]
    opens: Callable[[Guest], Opened]
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
        self._of_terminal = settings.site.security_headers(terminal=True)
        self._tries = tries or WrongTries()
        self._tickets = Tickets()
        self.sessions = Sessions(settings.most)
        self.seats = Seats(settings.opens)
        self._pages = {
            f"/{name}": files("tabwb.serve").joinpath(f"page/{name}.html").read_bytes()
            for name in (PAGE, TERMINAL)
        }
        self._files = {
            name: (files(package).joinpath(path).read_bytes(), kind)
            for name, (package, path, kind) in FILES.items()
        }

    def application(self) -> web.Application:
        """Return the application with its routes."""
        application = web.Application(middlewares=[self._guard], client_max_size=1024)
        application.add_routes(
            [
                *(web.get(path, self._show_page) for path in self._pages),
                web.get("/static/{name}", self._show_file),
                web.post("/open", self._take_key),
                web.post("/rating", self._take_request),
                web.get("/shown/{name}", self._send_shown),
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
        terminal = request.path == f"/{TERMINAL}"
        response.headers.update(self._of_terminal if terminal else self._headers)
        if cache is not None:
            response.headers["Cache-Control"] = cache
        for name in DATES:
            response.headers.pop(name, None)

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
        await asyncio.gather(self.sessions.end(), self.seats.leave())

    async def _watch(self) -> None:
        """Close pages whose link has expired or was revoked, and those that are used no more."""
        while True:
            await asyncio.sleep(WATCH_S)
            if guests := (*self.sessions.guests, *self.seats.guests.values()):
                # A store that cannot be read takes no rating either.
                with suppress(TabwbError, OSError, RuntimeError):
                    ended = await asyncio.to_thread(no_longer_valid, self._links, guests)
                    await asyncio.gather(self.sessions.end(ended), self.seats.leave_idle(ended))

    # ---------------------------------------------------------------- the routes

    async def _show_page(self, request: web.Request) -> web.Response:
        page = self._pages[request.path]
        return web.Response(body=page, content_type="text/html", charset="utf-8")

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
        key = (await self._body(request, 1024)).decode("latin-1")
        try:
            guest, closed = await asyncio.to_thread(self._find, key if is_key(key) else "")
        except TabwbError as error:
            return _unavailable(error)
        if guest is None:
            forwarded = ",".join(request.headers.getall("X-Forwarded-For", ()))
            # Only a proxy can have encrypted the connection.
            behind = self._settings.site.encrypted
            address = network(client_address(request.remote, forwarded, behind_proxy=behind))
            wait = self._tries.take(address, began)
            await asyncio.sleep(max(0.0, began + REFUSED_S - time.monotonic()))
            return _too_many(wait) if wait else _not_found()
        if closed:
            return web.Response(status=410, text="Closed\n")
        if not self._has_room(guest):
            return _later(FULL.format(most=self.sessions.most))
        return web.json_response({"ticket": self._tickets.make(guest, time.monotonic())})

    def _has_room(self, guest: Guest) -> bool:
        there = {**self.seats.guests, **{one.who: one for one in self.sessions.guests}}
        return guest.who in there or len(there) < self.sessions.most

    def _find(self, key: str) -> tuple[Guest | None, bool]:
        guest = find_guest(self._links, digest(key))
        return guest, guest is not None and self._settings.is_closed(guest)

    async def _take_request(self, request: web.Request) -> web.Response:
        """Give what a rater's page asks for; the ticket of a key becomes that of a seat."""
        said = read_said(await self._body(request, MOST_BYTES))
        if said is None:
            return _not_found()
        seat = self.seats.of(said.ticket)
        now = time.monotonic()
        guest = self._tickets.take(said.ticket, now) if seat is None else seat.guest
        if guest is None:  # not counted: every ticket ends with the server that gave it
            return _not_found()
        try:
            if seat is None:
                await self.sessions.end(who=guest.who)
                seat = await self.seats.take(guest, said.ticket)
            told = await self.seats.ask(seat, said)
        except SavedElsewhere:  # with a new seat the page is shown what is stored
            await self.seats.leave(lambda one: one.guest.who == guest.who)
            return _not_found()
        except StoreError as error:
            with suppress(TabwbError):
                if await asyncio.to_thread(self._settings.is_closed, guest):
                    return web.Response(status=410, text="Closed\n")
            return _unavailable(error)
        except NoConsent as error:
            return _unavailable(error)
        except TabwbError as error:
            words = " ".join(filter(None, (error.message, error.hint)))
            return web.json_response({"words": words}, status=422)
        return _too_many(1) if told is None else web.json_response(told)

    async def _send_shown(self, request: web.Request) -> web.StreamResponse:
        """Send the picture or the recording of a sample that a rater sees."""
        if any(name.startswith("If-") for name in map(str.title, request.headers)):
            return _not_found()  # no reply has a date to compare with
        try:
            found = await self.seats.shown(request.match_info["name"])
        except TabwbError as error:
            return _unavailable(error)
        if found is None:
            return _not_found()
        kind, what = found
        if isinstance(what, bytes):
            return web.Response(body=what, content_type=kind)
        return web.FileResponse(what, headers={"Content-Type": kind})

    async def _body(self, request: web.Request, most: int) -> bytes:
        """Return what a page of this server sends; nothing of others, and of what is too long."""
        body = b""
        with suppress(web.HTTPException, TimeoutError):
            async with asyncio.timeout(READ_S):
                if not self._is_own(request):
                    return b""
                # Not by the charset that the request names: some raise, some decode anything.
                while len(body) <= most and (part := await request.content.readany()):
                    body += part
        return body if len(body) <= most else b""

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
        await self.seats.leave(lambda seat: seat.guest.who == guest.who)
        await self.sessions.serve(session, size)
        await socket.close()
        return socket


def _not_found() -> web.Response:
    return web.Response(status=404, text=NOT_FOUND)


def _too_many(wait: float) -> web.Response:
    return web.Response(status=429, text="Too many\n", headers={"Retry-After": str(int(wait) + 1)})


def _unavailable(error: TabwbError) -> web.Response:
    withheld = isinstance(error, NoConsent)
    what = "a set may not be shown" if withheld else "the store cannot be read"
    log.warning("%s: %s", what, error.message)
    held = isinstance(error, HeldElsewhere)
    return _later(WITHHELD if withheld else ELSEWHERE if held else BUSY)


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
