"""Raters at the page in real browsers: what they press is what the store has, whatever fails.

Needs Playwright (``pip install playwright``) and Chromium; the check of accessibility needs
axe-core (``npm install --no-save axe-core``). Neither is downloaded by the tests.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tabwb.battery.forms import Group, Question
from tabwb.store.store import Store
from tests.builders import ROOT
from tests.serve.browser import find_chromium
from tests.serve.firefox import find_firefox, firefox
from tests.serve.page_parts import Server, heard_set
from tests.workbench.rating_parts import FEATURES, secret_set

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

try:
    from playwright import async_api as api
except ImportError:
    api = None
CHROMIUM = find_chromium()
AXE = ROOT / "node_modules/axe-core/axe.min.js"
RATERS = tuple(f"R{number}" for number in range(1, 11))
SAMPLES = 2
FIREFOX = find_firefox()
DIGEST = """(async () => {
    const body = await (await fetch(document.querySelector("audio").src)).arrayBuffer();
    const made = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
    return [...made].map((one) => one.toString(16).padStart(2, "0")).join("");
})()"""
"""The SHA-256 of what is played."""
PATIENCE_MS = 180_000
"""Ten pages at once can be slow; nothing waits so long where it works."""
SIZES = ((390, 844), (820, 1180), (1440, 900))
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    if api is None:
        pytest.skip("no Playwright (pip install playwright)")
    if CHROMIUM is None:
        pytest.skip("no Chromium (Debian: apt-get install chromium)")
    async with api.async_playwright() as program:
        browser = await program.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Any, Any]]:
    """A server with a set of recordings, the keys of its raters, and its sounds."""
    server = Server(tmp_path_factory.mktemp("heard") / "s.db")
    keys, sounds = heard_set(server.path, (*RATERS, "R-axe", "R-bytes", "R-fox"), SAMPLES)
    server.start()
    yield server, keys, sounds
    server.kill()


async def at(browser: Browser, link: str, **context: Any) -> tuple[Page, list[str]]:
    """Return a page that is open, and the list of what is wrong in it."""
    page = await (await browser.new_context(**context)).new_page()
    page.set_default_timeout(PATIENCE_MS)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    await page.goto(link)
    await page.locator("#work:not([hidden])").wait_for()
    return page, wrong


async def saved(page: Page) -> None:
    await page.locator("#saved", has_text="✓ saved").wait_for()


async def shows(page: Page, words: str, where: str = "#place") -> None:
    await page.locator(where, has_text=words).wait_for()


async def test_ten_raters_lose_nothing_when_server_and_connections_fail(
    chromium: Browser, heard: tuple[Server, Any, Any]
) -> None:
    server, keys, _ = heard
    halfway = [asyncio.Event() for _ in RATERS]
    restarted = asyncio.Event()

    async def rate(number: int, rater: str) -> None:
        page, _ = await at(chromium, server.link(keys[rater]))
        if number % 3 == 0:  # a slow connection

            async def late(route: Any) -> None:
                await asyncio.sleep(0.2)
                await route.continue_()

            await page.route("**/rating", late)
        for sample in range(1, SAMPLES + 1):
            await shows(page, f"Sample {sample} of")
            await page.keyboard.press(" ")  # plays
            await page.keyboard.press("12"[(number + sample) % 2])
            if sample == 2:
                halfway[number].set()
                await restarted.wait() if number % 2 else None
                await page.keyboard.press("2")
                await page.context.set_offline(number % 4 == 0)
            await page.keyboard.press("h")
            await page.keyboard.type("dɔɡ" if sample == 1 else "D AO G")
            await page.keyboard.press("Enter")
            await page.keyboard.press("Escape")
            await page.keyboard.press(str(number % 4)) if number % 4 == 3 else None
            if sample == 2:
                await restarted.wait()
                await page.context.set_offline(False)
                if number % 5 == 0:
                    await page.reload()
                    await shows(page, "Sample 2 of")
            await saved(page)
            await page.keyboard.press("Enter")
        await shows(page, "Thank you", "#questions")
        await page.context.close()

    async def break_down() -> None:
        await asyncio.gather(*(one.wait() for one in halfway))
        server.kill()
        await asyncio.sleep(0.5)
        await asyncio.to_thread(server.start)
        restarted.set()

    await asyncio.gather(break_down(), *(rate(*one) for one in enumerate(RATERS)))
    for number, rater in enumerate(RATERS):
        said = [(row.sample, row.answers["correct"], row.answers["heard#1"])
                for row in server.rows(rater)]  # fmt: skip
        words = [("error" if sample == 2 else ("right", "error")[(number + sample) % 2])
                 for sample in range(1, SAMPLES + 1)]  # fmt: skip
        assert said == [(at, word, "D AO G") for at, word in enumerate(words, 1)], rater


async def test_what_is_played_is_what_is_stored_and_moves_by_keys(
    chromium: Browser, heard: tuple[Server, Any, Any]
) -> None:
    server, keys, sounds = heard
    page, wrong = await at(chromium, server.link(keys["R-bytes"]))
    await page.evaluate("form.questions.find((one) => one.each).optional = false")
    for key in ("1", "m", "h", "D", "Enter"):  # an answer to the second attempt is enough
        await page.keyboard.press(key)
    await saved(page)
    await page.keyboard.press("Enter")
    await shows(page, "Sample 2 of")
    digest = await page.evaluate(DIGEST)
    assert digest == hashlib.sha256(sounds[1]).hexdigest()
    await shows(page, "0.0 of 1.5 s", "#time")
    await page.keyboard.press("ArrowRight")
    await shows(page, "0.5 of 1.5 s", "#time")
    await page.evaluate("""document.body.dispatchEvent(new KeyboardEvent("keydown", {
        key: "[", ctrlKey: true, altKey: true, modifierAltGraph: true, bubbles: true }))""")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("]")
    await page.keyboard.press("l")
    assert await page.evaluate("document.querySelector('audio').playbackRate") == 0.75
    await page.locator("#play", has_text="Stop").wait_for()
    await page.locator("#play", has_text="Play").wait_for()  # at the end of the part
    assert 0.95 < await page.evaluate("document.querySelector('audio').currentTime") < 1.2
    assert wrong == []
    await page.context.close()


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    """A server with a set of texts and its keys."""
    from datetime import UTC, datetime

    from tabwb.administer.rating.access import digest, expiry, new_key

    server = Server(tmp_path_factory.mktemp("read") / "s.db")
    more = Question("fluency", "Fluency", kind="scale", high=4, key="f", group="all", optional=True)
    grouped = tuple(replace(one, group="all") for one in FEATURES.questions)
    form = replace(FEATURES, questions=(*grouped, more), groups=(Group("all", "All of it"),))
    secret_set(server.path, form, ask_source=True)
    keys = {rater: new_key() for rater in ("R1", "R-other")}
    with Store.open(server.path) as store:
        for rater, key in keys.items():
            store.sets.links.add(1, rater, digest(key), expires_at=expiry("1d", datetime.now(UTC)))
    server.start()
    yield server, keys
    server.kill()


async def test_a_text_is_rated_by_keys_and_words_are_evidence(
    chromium: Browser, read: tuple[Server, dict[str, str]]
) -> None:
    server, keys = read
    page, wrong = await at(chromium, server.link(keys["R1"]))
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    await page.focus("#text")
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "a", "Escape", "f", "3", "p", "1"):
        await page.keyboard.press(key)
    await page.keyboard.press("Enter")
    await shows(page, "1 feature not looked at. Next again: absent", "#said")
    assert server.rows("R1") == []
    await page.wait_for_timeout(800)
    await page.keyboard.press("Enter")
    await shows(page, "Sample 2 of 3")
    await page.keyboard.press("Shift+A")
    await page.locator("button[data-value='0']").nth(1).click()
    await page.keyboard.press("F2")
    await page.keyboard.type("a note")
    await page.keyboard.press("Enter")
    await saved(page)
    assert wrong == []
    assert {url.split("/")[2] for url in asked} == {server.address.split("/")[2]}
    assert keys["R1"] not in " ".join(asked)
    await page.context.close()
    (row,) = server.rows("R1")
    assert row.answers == {"anomia": 1.0, "jargon": 0.0, "fluency": 3.0, "source": "person"}
    assert row.seconds > 0.8
    assert (row.evidence, row.confirmed) == ({"anomia": (2, 3)}, ("jargon",))
    with Store.open(server.path) as store:
        *_, draft = store.sets.ratings(1, "R1", every=True)
    assert (draft.answers, draft.note) == ({"anomia": "cannot-tell", "jargon": 0.0}, "a note")


async def test_keys_act_on_what_was_shown_when_they_were_pressed(
    chromium: Browser, read: tuple[Server, dict[str, str]]
) -> None:
    server, keys = read
    page, _ = await at(chromium, server.link(keys["R-other"]))
    for key in ("F2", "o", "n", "Enter", "F2", "x", "Escape"):
        await page.keyboard.press(key)
    assert await page.input_value("#note") == "on"  # what is stored
    long = "edit({ evidence: { anomia: [...Array(20_000).keys()] } })"
    await page.evaluate(long)  # longer than a request may be
    assert await page.evaluate("draft.evidence") == {}
    await shows(page, "Sample 1 of 3")
    await page.context.set_offline(True)
    for key in ("a", "3", "n"):
        await page.keyboard.press(key)
    await page.context.set_offline(False)
    await saved(page)

    async def lose(route: Any) -> None:
        await route.fetch()
        await route.abort()

    await page.route("**/rating", lose, times=1)
    await page.keyboard.press("u")  # one change, also of those that were sent together
    await page.locator("[aria-labelledby=q1] [aria-pressed=true]").wait_for(state="detached")
    assert await page.evaluate("[draft.answers, draft.confidence]") == [{"anomia": 1}, 3]
    await page.context.set_offline(True)
    await page.keyboard.press("u")
    await shows(page, "waits", "#said")
    await page.keyboard.press("n")  # takes its place
    await shows(page, "was not done", "#said")
    await shows(page, "is kept in this browser", "#offline")
    await page.context.set_offline(False)
    await saved(page)
    assert await page.text_content("#offline") == ""
    for key in ("p", "1"):
        await page.keyboard.press(key)
    await saved(page)

    pressed = asyncio.Event()

    async def late(route: Any) -> None:
        await pressed.wait()
        await route.continue_()

    await page.route("**/rating", late)
    for _ in range(3):
        await page.keyboard.press("Enter")
    await page.focus("#note")  # of the sample before, which is sent already
    await page.keyboard.type(" late")
    pressed.set()
    await shows(page, "Sample 2 of 3")
    await saved(page)
    assert [await page.evaluate("draft.note"), await page.input_value("#note")] == ["", ""]
    assert await page.text_content("#said") == ""
    await page.route("**/rating", lambda route: route.fulfill(status=410))
    await page.keyboard.press("a")  # came too late
    await shows(page, "The study is closed", "#title")
    assert "kept in this browser" in (await page.text_content("#words") or "")
    with Store.open(server.path) as store:  # equal names of other studies have their own
        own = f"tabwb {store.sets.get(1).uid} R-other"
    assert "anomia" in await page.evaluate(f"localStorage.getItem('{own}')")
    await page.context.close()
    assert [row.note for row in server.rows("R-other")] == ["on"]


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core (npm install --no-save axe-core)")
async def test_axe_finds_nothing(
    chromium: Browser, read: tuple[Server, dict[str, str]], heard: tuple[Server, Any, Any]
) -> None:
    axe = AXE.read_text()

    async def check(page: Page, what: str) -> None:
        await page.evaluate(f"{axe}; undefined")
        found = await page.evaluate("""axe.run().then((all) => all.violations.map(
            (one) => `${one.id}: ${one.nodes.map((node) => node.html)}`))""")
        assert found == [], what
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert await page.evaluate(wide) <= 0, what
        covered = await page.evaluate("""[...document.querySelectorAll(".question")].filter(
            (row) => {
                const [one, other] = ["summary span", ".answers"].map(
                    (part) => row.querySelector(part)?.getBoundingClientRect());
                return one && one.right > other.left && one.bottom > other.top;
            }).map((row) => row.textContent)""")
        assert covered == [], what
        small = await page.evaluate("""[...document.querySelectorAll(
            "button, summary, input:not([type=checkbox])")].filter((one) => {
                const box = one.getBoundingClientRect();
                return box.height && (box.height < 44 || box.width < 44);
            }).map((one) => one.outerHTML)""")
        assert [one for one in small if 'id="skip"' not in one] == [], what

    for server, key in ((read[0], read[1]["R-other"]), (heard[0], heard[1]["R-axe"])):
        for scheme in ("light", "dark"):
            page, _ = await at(chromium, server.link(key), color_scheme=scheme)
            for width, height in SIZES if scheme == "light" else SIZES[:1]:
                await page.set_viewport_size({"width": width, "height": height})
                await check(page, f"{width} {scheme}")
            await page.locator("summary").nth(0).click()
            await page.keyboard.press("?")
            await check(page, f"keys {scheme}")
            await page.context.close()
    for scheme in ("light", "dark"):
        page = await (await chromium.new_context(color_scheme=scheme)).new_page()
        await page.goto(read[0].link("A" * 43))
        await shows(page, "This link does not open", "#title")
        await check(page, scheme)
        await page.context.close()


@pytest.mark.skipif(FIREFOX is None, reason="no Firefox (Debian: apt-get install firefox-esr)")
async def test_the_same_page_in_firefox(heard: tuple[Server, Any, Any], tmp_path: Path) -> None:
    assert FIREFOX is not None
    server, keys, sounds = heard
    async with firefox(FIREFOX, tmp_path / "profile") as page:
        await page.show(server.link(keys["R-fox"]))
        is_saved = "document.querySelector('#saved').textContent.includes('✓ saved')"
        await page.until(is_saved)
        await page.press(" ")
        await page.until("document.querySelector('audio').currentTime > 0.1")
        await page.press("2", "h", *"dɔɡ", "Enter")
        await page.until("document.querySelector('.reading').textContent.includes('D AO G')")
        await page.until(is_saved)
        server.kill()
        await page.press("Escape", "1")
        await page.until("document.querySelector('#saved').textContent.includes('not sent')")
        await asyncio.to_thread(server.start)
        await page.until(is_saved)
        await page.press("Enter")
        await page.until("document.querySelector('#place').textContent.includes('Sample 2')")
        assert await page.evaluate(DIGEST) == hashlib.sha256(sounds[1]).hexdigest()
    (row,) = server.rows("R-fox")
    assert row.answers == {"correct": "right", "heard#1": "D AO G"}
