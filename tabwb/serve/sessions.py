"""The process of one rater who is there, and all of them."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from contextlib import suppress

from aiohttp import WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from tabwb.records import system
from tabwb.records.system import child_environ
from tabwb.serve.admission import Focus, Guest, Keys, Ping, Size, read_envelope

COMMAND = system.python("tabwb.workbench.served")
"""Shows one rating page. Its arguments, which everybody on the computer can read, name nobody."""
LEAVE_S = 5.0
"""Seconds that a browser or a process has to end after it was asked to; nothing is lost then."""
TOLD = 4096
"""Bytes that are kept of what a process writes to stderr: the last ones name the exception."""
_KIND = re.compile(rb"^(?:\w+\.)*([A-Z]\w*(?:Error|Exception|Consent|Extra))\b", re.MULTILINE)
log = logging.getLogger("tabwb.serve")


class Session(AppService):
    """One rating page: a process, and the web socket of the browser that shows it."""

    def __init__(
        self,
        guest: Guest,
        socket: web.WebSocketResponse,
        transport: asyncio.WriteTransport,
        command: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        async def close() -> None:
            await socket.close()

        super().__init__(
            "",
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=close,
            download_manager=DownloadManager(),  # never given anything
        )
        self.guest = guest
        self.gone = asyncio.Event()
        self._argv = tuple(command)
        self._own = dict(environment)
        self._socket = socket
        self._transport = transport
        self._complaints: asyncio.Task[None] | None = None

    async def serve(self, size: Size) -> None:
        """Show the page until the browser, the process or :meth:`end` closes it."""
        await self.start(size.columns, size.lines)
        try:
            async for message in self._socket:
                if message.type is WSMsgType.TEXT:
                    await self._take(message.data)
        finally:
            await self.finish()

    async def _take(self, text: str) -> None:
        match read_envelope(text):
            case Keys(typed):
                await self.send_bytes(typed.encode("utf-8", "replace"))
            case Size(columns, lines):
                await self.set_terminal_size(columns, lines)
            case Ping(mark):
                await self._socket.send_json(["pong", mark])
            case Focus(has):
                await (self.focus() if has else self.blur())

    async def end(self) -> None:
        """Close the page, and return when its process has ended.

        A browser that reads nothing more, or a process that hangs, holds nobody who waits for this.
        """
        with suppress(OSError, RuntimeError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self._socket.close()
        self._drop_unread()
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self.gone.wait()
                return
        self._kill()
        await self.gone.wait()

    async def finish(self) -> None:
        """End the process: ask it, and kill it where it does not answer."""
        process = self._process
        if process is None or process.stdout is None:
            return
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=LEAVE_S)
        # For asyncio a process has not ended before its pipes are read to their ends.
        pipes = [asyncio.create_task(_discard(process.stdout))]
        if self._complaints is not None:
            pipes.append(self._complaints)
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self.send_meta({"type": "quit"})
        with suppress(OSError):
            self.stdin.close()
        if not await _ended(process):
            with suppress(ProcessLookupError):
                process.terminate()
            if not await _ended(process):
                self._kill()
                await process.wait()
        await asyncio.wait(pipes, timeout=LEAVE_S)
        self._drop_unread()

    def _drop_unread(self) -> None:
        """End a connection whose browser does not read: it would stay open to send the rest."""
        if self._transport.get_write_buffer_size():
            self._transport.abort()

    def _kill(self) -> None:
        self._transport.abort()  # what waits for the browser does so no longer
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    # ---------------------------------------------------------------- what textual-serve calls

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        own = {"TEXTUAL_DRIVER": "tabwb.workbench.served_driver:ServedDriver", **self._own}
        # Variables of PostgreSQL, its password among them: the page opens the store itself.
        allowed = [name for name in os.environ if name.startswith("PG")]
        fixed = ("COLUMNS", "ROWS", "TERM_PROGRAM", "TERM_PROGRAM_VERSION")
        whole = super()._build_environment(width, height)
        return child_environ(whole, (*allowed, *fixed)) | own

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        environment = self._build_environment(width, height)
        self._process = process = await system.start_served(self._argv, environment)
        self._stdin = process.stdin
        assert process.stderr is not None
        self._complaints = asyncio.create_task(_log_kind(process.stderr))
        # textual-serve would print all of it: a traceback with the values of variables.
        process.stderr = asyncio.StreamReader()
        process.stderr.feed_eof()
        return process

    async def run(self) -> None:
        """Pass on what the process draws; when it ends, the page is closed."""
        await super().run()
        with suppress(OSError, RuntimeError):
            await self._socket.close()

    async def on_meta(self, data: bytes) -> None:
        """Pass on no link and no beginning of a file; without one, its parts go nowhere."""


async def _log_kind(stderr: asyncio.StreamReader) -> None:
    """Log which exceptions ended a process, and not their text: it may quote a sample."""
    told = b""
    while chunk := await stderr.read(TOLD):
        told = (told + chunk)[-TOLD:]
    if told.strip():
        kinds = _KIND.findall(told)
        kind = kinds[-1].decode() if kinds else "no exception is named"
        log.warning("a rating page failed: %s; 'tabwb rate start' shows more", kind)


async def _discard(stdout: asyncio.StreamReader) -> None:
    while await stdout.read(65_536):
        pass


async def _ended(process: Process) -> bool:
    try:
        async with asyncio.timeout(LEAVE_S):
            await process.wait()
    except TimeoutError:
        return False
    return True


class Sessions:
    """The pages that are open: one for each rater, and not more than a number."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: dict[tuple[int, str], Session] = {}

    @property
    def guests(self) -> tuple[Guest, ...]:
        """Who are there."""
        return tuple(session.guest for session in self._open.values())

    def has_room(self, guest: Guest) -> bool:
        """Return whether a rater can have a page; their own older one makes room."""
        return guest.who in self._open or len(self._open) < self.most

    async def serve(self, session: Session, size: Size) -> None:
        """Show a page until it is closed. An older one of the same rater is closed before."""
        who = session.guest.who
        while (older := self._open.get(who)) is not None:
            await older.end()
        if not self.has_room(session.guest):
            return
        self._open[who] = session
        try:
            await session.serve(size)
        finally:
            del self._open[who]
            session.gone.set()

    async def end(
        self, links: frozenset[int] | None = None, *, who: tuple[int, str] | None = None
    ) -> None:
        """Close the pages of some links, or of a rater, or all."""
        sessions = [
            session
            for session in self._open.values()
            if (links is None or session.guest.link.id in links)
            and who in {None, session.guest.who}
        ]
        await asyncio.gather(*(session.end() for session in sessions))
