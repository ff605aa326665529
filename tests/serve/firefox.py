"""A real Firefox without a window, driven through WebDriver BiDi."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse

NAMES = ("firefox-esr", "firefox")
PATIENCE_S = 60.0
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowRight": "\ue014"}


def find_firefox() -> str | None:
    """Return the program, or None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Tab:
    """One page of the browser."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._context = ""

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Return the result of one command."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(PATIENCE_S):
            while (read := await self._socket.receive_json()).get("id") != number:
                pass
        assert read["type"] == "success", read
        result: dict[str, Any] = read["result"]
        return result

    async def show(self, url: str) -> None:
        """Open an address."""
        if not self._context:
            self._context = (await self.call("browsingContext.create", type="tab"))["context"]
        await self.call("browsingContext.navigate", context=self._context, url=url, wait="complete")

    async def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        target = {"context": self._context}
        told = await self.call(
            "script.evaluate", expression=script, target=target, awaitPromise=True,
            userActivation=True,
        )  # fmt: skip
        assert told["type"] == "success", told
        return told["result"].get("value")

    async def press(self, *keys: str) -> None:
        """Press and release keys."""
        actions = [
            {"type": kind, "value": KEYS.get(key, key)}
            for key in keys
            for kind in ("keyDown", "keyUp")
        ]
        sources = [{"type": "key", "id": "keyboard", "actions": actions}]
        await self.call("input.performActions", context=self._context, actions=sources)

    async def until(self, script: str) -> None:
        """Wait until an expression is true."""
        end = asyncio.get_running_loop().time() + PATIENCE_S
        while not await self.evaluate(f"Boolean({script})"):
            assert asyncio.get_running_loop().time() < end, script
            await asyncio.sleep(0.05)


@asynccontextmanager
async def firefox(program: str, profile: Path) -> AsyncIterator[Tab]:
    """Yield a page; the browser ends with the block."""
    profile.mkdir()
    process = await asyncio.create_subprocess_exec(
        program, "--headless", "--no-remote", "--profile", str(profile),
        "--remote-debugging-port", "0", stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        async with asyncio.timeout(PATIENCE_S):
            while b"listening on " not in (line := await process.stderr.readline()):
                assert line, "Firefox ended"
        address = line.decode().rpartition("listening on ")[2].strip()
        reading = asyncio.create_task(process.stderr.read())
        async with ClientSession() as session, session.ws_connect(f"{address}/session") as socket:
            tab = Tab(socket)
            await tab.call("session.new", capabilities={})
            yield tab
            await tab.call("browser.close")
        reading.cancel()
    finally:
        try:
            async with asyncio.timeout(10):
                await process.wait()
        except TimeoutError:
            process.kill()
