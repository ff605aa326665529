"""A real Chromium without a window, driven through its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE_S = 60.0
_SEQUENCE = re.compile(r"\x1b(\[[0-9;?<=>$]*[A-Za-z~]|\][^\x07]*\x07|[=>])")
_MOVES = re.compile(r"\x1b\[[0-9]+;[0-9]+H")


def find_chromium() -> str | None:
    """Return the program, or None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Tab:
    """One page of the browser: what it sent, what it got, what it wrote to its console."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.events: list[dict[str, Any]] = []
        self.drawn = ""
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for message in self._socket:
            read = json.loads(message.data)
            if "id" in read:
                self._replies.pop(read["id"]).set_result(read)
                continue
            self.events.append(read)
            if read["method"] == "Network.webSocketFrameReceived":
                frame = read["params"]["response"]
                if frame["opcode"] == 2:
                    self.drawn += base64.b64decode(frame["payloadData"]).decode("utf-8", "replace")

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Return the result of one command."""
        number = next(self._numbers)
        reply = self._replies[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        answer = await asyncio.wait_for(reply, PATIENCE_S)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        result = await self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def press(self, key: str) -> None:
        """Press and release one key."""
        codes = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, "")}
        code, text = codes.get(key, (ord(key.upper()) if len(key) == 1 else 0, key))
        facts = {"key": key, "windowsVirtualKeyCode": code}
        await self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **facts)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    async def until(self, what: Callable[[], object], told: str) -> None:
        """Wait for a condition; drawn text has no sequences of the terminal."""
        end = asyncio.get_running_loop().time() + PATIENCE_S
        while not what():
            assert asyncio.get_running_loop().time() < end, f"{told}\n{self.words[-2000:]}"
            await asyncio.sleep(0.05)

    @property
    def words(self) -> str:
        """What the process has drawn so far, as plain text."""
        return _SEQUENCE.sub("", _MOVES.sub("\n", self.drawn))

    @property
    def requested(self) -> list[str]:
        """Every address that the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]

    @property
    def complaints(self) -> list[str]:
        """Errors in the console, and what the content security policy refused."""
        said = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                said.append(json.dumps(event["params"]["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded":
                entry = event["params"]["entry"]
                if entry["level"] == "error":
                    said.append(f"{entry['text']} {entry.get('url', '')}")
        return said

    async def close(self) -> None:
        """Close the page."""
        with suppress(Exception):
            await self.call("Page.close")
        self._listening.cancel()


@asynccontextmanager
async def browser(program: str, folder: Path) -> AsyncIterator[Callable[[str], Any]]:
    """Yield what opens a page at an address; the browser ends with the block."""
    flags = [
        "--headless=new", f"--user-data-dir={folder}", "--remote-debugging-port=0",
        "--no-first-run", "--disable-extensions", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
        "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
        "--window-size=1000,700", "about:blank",
    ]  # fmt: skip
    if os.geteuid() == 0:
        flags.insert(0, "--no-sandbox")
    process = subprocess.Popen(
        [program, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        port = await _port(folder / "DevToolsActivePort", process)
        async with ClientSession() as session:
            tabs = []

            async def show(url: str) -> Tab:
                async with session.put(f"http://127.0.0.1:{port}/json/new?about:blank") as reply:
                    address = (await reply.json(content_type=None))["webSocketDebuggerUrl"]
                socket = await session.ws_connect(address, max_msg_size=0)
                tab = Tab(socket)
                tabs.append(tab)
                for domain in ("Page", "Network", "Runtime", "Log"):
                    await tab.call(f"{domain}.enable")
                await tab.call("Page.navigate", url=url)
                return tab

            yield show
            for tab in tabs:
                await tab.close()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 15)
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)


async def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    end = asyncio.get_running_loop().time() + PATIENCE_S
    while not (file.exists() and file.read_text().strip()):
        assert process.poll() is None, "Chromium ended"
        assert asyncio.get_running_loop().time() < end, "Chromium did not start"
        await asyncio.sleep(0.05)
    return int(file.read_text().split()[0])
