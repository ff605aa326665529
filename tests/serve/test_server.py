"""A key opens one rater's page; whatever else a request asks for is not there."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from aiohttp import ClientResponse, WSServerHandshakeError

from tabwb.serve import admission
from tabwb.serve import server as server_module
from tabwb.serve import sessions as sessions_module
from tabwb.serve.admission import BURST, WrongTries
from tests.serve.running import Browser, Links, running

PAST = "2020-01-01T00:00:00+00:00"


@pytest.fixture
def links() -> Links:
    return Links()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse at once, and look for revoked links often."""
    monkeypatch.setattr(server_module, "REFUSED_S", 0.0)
    monkeypatch.setattr(server_module, "WATCH_S", 0.05)


async def gone(pid: str) -> None:
    """Wait until a process has ended."""
    end = time.monotonic() + 30
    while psutil.pid_exists(int(pid)):
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


async def test_a_key_opens_the_page_of_its_rater(links: Links) -> None:
    key = links.add("R2")
    links.add("R3")
    async with running(links) as browser:
        screen = await browser.enter(key)
        assert (screen.lines["rater"], screen.lines["size"]) == ("R2", "80x24")
        await screen.socket.send_str(json.dumps(["stdin", "ə"]))
        assert await screen.socket.receive_bytes(timeout=30) == b"D" + "ə".encode()
        command = psutil.Process(int(screen.lines["pid"])).cmdline()
        assert not any(secret in part for part in command for secret in (key, "R2"))


async def test_a_closed_browser_ends_its_process(links: Links) -> None:
    key = links.add("R2")
    async with running(links) as browser:
        screen = await browser.enter(key)
        await screen.socket.close()
        await gone(screen.lines["pid"])
        async with asyncio.timeout(60):
            while browser.server.sessions.guests:  # it is told after the process has ended
                await asyncio.sleep(0.01)


async def test_the_end_of_the_server_ends_every_process(links: Links) -> None:
    async with running(links) as browser:
        pids = [(await browser.enter(links.add(rater))).lines["pid"] for rater in ("R2", "R3")]
    for pid in pids:
        await gone(pid)


async def test_a_second_page_of_a_rater_closes_the_first(links: Links) -> None:
    key = links.add("R2")
    async with running(links, most=1) as browser:
        first = await browser.enter(key)
        second = await browser.enter(key)
        await asyncio.gather(first.closed(), gone(first.lines["pid"]))
        assert psutil.pid_exists(int(second.lines["pid"]))


async def test_more_raters_than_places_are_told_to_wait(links: Links) -> None:
    keys = [links.add(rater) for rater in ("R1", "R2")]
    async with running(links, most=1) as browser:
        screen = await browser.enter(keys[0])  # kept: a socket without a reference is closed
        reply = await browser.send(keys[1])
        assert (reply.status, reply.headers["Retry-After"]) == (503, "10")
        assert "places are taken" in (await reply.json())["words"]
        await screen.socket.close()


async def test_a_revoked_link_closes_the_page_that_is_open(links: Links) -> None:
    keys = [links.add(rater) for rater in ("R1", "R2")]
    async with running(links) as browser:
        screens = [await browser.enter(key) for key in keys]
        links.revoke(keys[0])
        await asyncio.gather(screens[0].closed(), gone(screens[0].lines["pid"]))
        assert psutil.pid_exists(int(screens[1].lines["pid"]))


@pytest.mark.parametrize("leaves", [False, True])
async def test_a_browser_that_reads_nothing_holds_nobody(
    links: Links, monkeypatch: pytest.MonkeyPatch, leaves: bool
) -> None:
    monkeypatch.setattr(sessions_module, "LEAVE_S", 0.2)
    keys = [links.add(rater) for rater in ("R1", "R2")]
    async with running(links) as browser:
        screens = [await browser.enter(key) for key in keys]

        async def flood() -> None:  # what is typed comes back, and nobody takes it
            while True:
                await screens[0].socket.send_str(json.dumps(["stdin", "x" * 60_000]))

        sending = asyncio.create_task(flood())
        await asyncio.sleep(0.5)
        if leaves:
            transport = screens[0].socket._conn.transport  # type: ignore[union-attr]
            assert transport is not None
            transport.abort()
            await asyncio.sleep(0.1)
        for key, screen in zip(keys, screens, strict=True):
            links.revoke(key)
            await gone(screen.lines["pid"])
        async with asyncio.timeout(10):
            while browser.server.sessions.guests:
                await asyncio.sleep(0.02)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def test_wrong_expired_and_revoked_links_get_the_same_404_in_the_same_time(
    links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "REFUSED_S", 0.15)
    expired, revoked = links.add("R1", expires_at=PAST), links.add("R2")
    links.revoke(revoked)
    async with running(links) as browser:
        wrong = ("A" * 43, expired, revoked, "", "x" * 5000, "ä")

        async def refused(key: str) -> tuple[float, object]:
            began = time.monotonic()
            reply = await browser.send(key)
            return time.monotonic() - began, await told(reply)

        results = [await refused(key) for key in wrong]
        page = await told(await browser.session.get(f"{browser.url}/nothing"))
    assert [reply for _, reply in results] == [page] * len(wrong)
    assert min(seconds for seconds, _ in results) >= 0.15


async def told(reply: ClientResponse) -> tuple[int, str, list[tuple[str, str]]]:
    """Return all that a reply tells."""
    headers = [(name, text) for name, text in reply.headers.items() if name != "Date"]
    return reply.status, await reply.text(), headers


async def test_an_address_that_tries_many_links_has_to_wait(
    links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "REFILL_S", 1e6)
    key = links.add("R2")
    async with running(links, proxied=True) as browser:
        here = {"X-Forwarded-For": "192.0.2.7"}
        tries = [browser.send(f"{number:043}", **here) for number in range(BURST + 5)]
        statuses = [reply.status for reply in await asyncio.gather(*tries)]
        assert sorted(statuses) == [404] * BURST + [429] * 5
        assert (await browser.send(key, **here)).status == 200  # a rater behind the same address
        assert (await browser.send("0" * 43, **here)).status == 429  # and the wrong ones still wait
        there = {"X-Forwarded-For": "192.0.2.7, 192.0.2.8"}  # the first may be the browser's lie
        assert [(await browser.send(key, **there)).status for _ in range(2 * BURST)] == [200] * 20


async def test_a_ticket_opens_one_web_socket_once(links: Links) -> None:
    key = links.add("R2")
    async with running(links) as browser:
        ticket = (await (await browser.send(key)).json())["ticket"]
        await (await browser.connect(ticket)).read()
        for wrong in (ticket, key, "x"):
            with pytest.raises(WSServerHandshakeError, match="404"):
                await browser.connect(wrong)


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "https://127.0.0.1", ""])
async def test_other_pages_open_nothing(links: Links, origin: str) -> None:
    key = links.add("R2")
    async with running(links) as browser:
        assert (await browser.send(key, Origin=origin)).status == 404
        ticket = (await (await browser.send(key)).json())["ticket"]
        url = f"{browser.url}/ws/{ticket}"
        with pytest.raises(WSServerHandshakeError, match="404"):
            await browser.session.ws_connect(url, headers={"Origin": origin})
        assert (await browser.send(key, **{"Content-Encoding": "gzip"})).status == 200  # as it is
        foreign = {"Host": "evil.example"}
        assert (await browser.session.get(f"{browser.url}/rate", headers=foreign)).status == 404


@pytest.mark.parametrize("charset", ["undefined", "punycode", "no-such"])
async def test_a_request_that_names_an_odd_charset_is_refused_like_any_other(
    links: Links, charset: str
) -> None:
    said = {"Content-Type": f"text/plain; charset={charset}"}
    async with running(links) as browser:
        assert (await browser.send("no key", **said)).status == 404


async def test_a_browser_that_hides_the_origin_is_let_in(links: Links) -> None:
    key = links.add("R2")
    async with running(links) as browser:
        hidden = {"Origin": "null", "Sec-Fetch-Site": "same-origin"}
        assert (await browser.send(key, **hidden)).status == 200
        hidden["Sec-Fetch-Site"] = "cross-site"
        assert (await browser.send(key, **hidden)).status == 404


async def test_every_reply_has_the_security_headers(links: Links) -> None:
    key = links.add("R2")
    async with running(links) as browser:
        get = browser.session.get
        replies = [await get(f"{browser.url}/{path}") for path in ("rate", "static/rate.js", "no")]
        replies += [await browser.send(key), await browser.send("x")]
        for reply in replies:
            policy = reply.headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; script-src 'self';")
            assert reply.headers["Referrer-Policy"] == "no-referrer"
            assert reply.headers["X-Frame-Options"] == "DENY"
            assert reply.headers["Server"] == "tabwb"
            assert key not in f"{reply.headers}{await reply.text()}"
        for path in ("rate", "terminal"):
            page = await get(f"{browser.url}/{path}")
            assert "<title>Rating</title>" in await page.text()
            assert "http" not in await page.text()  # nothing is loaded from elsewhere
            unsafe = "unsafe" in page.headers["Content-Security-Policy"]
            assert unsafe is (path == "terminal")


async def test_a_process_gives_the_browser_neither_links_nor_files(links: Links) -> None:
    async with running(links) as browser:
        screen = await browser.enter(links.add("R2"))
        await screen.socket.send_str(json.dumps(["stdin", "files"]))
        assert await screen.socket.receive_bytes(timeout=30) == b"Dfiles"
        assert (await browser.session.get(f"{browser.url}/download/k")).status == 404


async def test_what_a_browser_cannot_have_sent_is_ignored(links: Links) -> None:
    async with running(links) as browser:
        screen = await browser.enter(links.add("R2"))
        nonsense = ["", "[", "{}", '["stdin", 1]', '["resize", {"width": 1e9, "height": 9}]',
                    '["open_url", "x"]', "[" * 5000]  # fmt: skip
        for text in nonsense:
            await screen.socket.send_str(text)
        await screen.socket.send_str('["stdin", "\\ud800"]')
        assert await screen.socket.receive_bytes(timeout=30) == b"D?"


async def test_a_store_that_cannot_be_read_gives_a_plain_message(
    links: Links, caplog: pytest.LogCaptureFixture
) -> None:
    key = links.add("R2")
    links.fails = True
    tries = WrongTries()
    async with running(links, tries=tries) as browser:
        reply = await browser.send(key)
        assert reply.status == 503
        words = (await reply.json())["words"]
        assert words.startswith("The study cannot be opened just now.")
        assert len(tries) == 0
        links.fails = False
        assert (await browser.send(key)).status == 200
    assert "the database cannot be reached" in caplog.text


async def test_a_set_that_is_closed_opens_no_page(links: Links) -> None:
    key = links.add("R2")
    links.closed = True
    async with running(links) as browser:
        assert [(await browser.send(sent)).status for sent in (key, "x")] == [410, 404]


async def test_no_log_has_the_key(links: Links, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key = links.add("R2")
    async with running(links) as browser:
        screen = await browser.enter(key)
        await screen.socket.close()
        # A proxy with a wrong length would make the key the next request's first line.
        await raw(
            browser, f"POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n{key}\r\n\r\n"
        )
    assert key not in caplog.text


async def test_a_defect_is_logged_by_its_place_and_tells_the_browser_nothing(
    links: Links, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(digest: bytes) -> None:
        raise ValueError("words that quote what was sent")

    key = links.add("R2")
    monkeypatch.setattr(links, "of", fail)
    async with running(links) as browser:
        reply = await browser.send(key)
        assert (reply.status, reply.headers["Referrer-Policy"]) == (500, "no-referrer")
        assert "words that quote" not in await reply.text()
    assert "a request failed: ValueError at " in caplog.text
    assert "words that quote" not in caplog.text


async def raw(browser: Browser, text: str) -> bytes:
    """Send bytes that may be no HTTP."""
    port = int(browser.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text.encode())
    writer.write_eof()
    reply = await asyncio.wait_for(reader.read(), 30)
    writer.close()
    return reply


def test_only_these_files_are_offered() -> None:
    names = sorted(server_module.FILES)
    own = ["notices.js", "rate.css", "rate.js", "terminal.css", "terminal.js"]
    assert names == sorted(["italic.ttf", "regular.ttf", "textual.js", "xterm.css", *own])
    there = Path(server_module.__file__).parent / "page"
    assert sorted(path.name for path in there.iterdir()) == sorted(
        [*own, "rate.html", "terminal.html"]
    )
