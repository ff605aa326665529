"""A rater rates in a terminal in a real browser, and the ratings are in the database."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from aiohttp.test_utils import unused_port

from tabwb.administer.rating.access import digest, expiry, link, new_key
from tabwb.administer.rating.session import CONFIRM_S
from tabwb.battery.forms import form_from_canonical
from tabwb.records.trials import AttemptEntry
from tabwb.store.store import Store
from tests.serve.browser import Tab, browser, find_chromium
from tests.store.parts import FORM, attempt, begin, rated_set

CHROMIUM = find_chromium()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium (Debian: apt-get install chromium)")
async def test_ratings_made_in_chromium_are_in_the_database(tmp_path: Path) -> None:
    assert CHROMIUM is not None
    port, key = unused_port(), new_key()
    address = f"http://127.0.0.1:{port}"
    with Store.open(tmp_path / "s.db") as store:
        number = begin(store).id
        store.append(number, [AttemptEntry(n, attempt()) for n in (1, 2, 3)])
        form = replace(form_from_canonical(FORM), unmarked="absent", min_seconds=0.0)
        kept = rated_set(store, number, text="I was a student", form=form.canonical)
        made = store.sets.links.add(
            kept.id, "R2", digest(key), expires_at=expiry("1h", datetime.now(UTC))
        )
        command = [sys.executable, "-m", "tabwb", "serve", "--port", str(port)]
        server = subprocess.Popen(
            [*command, "--store", str(tmp_path / "s.db")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            assert server.stdout is not None
            assert server.stdout.readline().startswith(f"rating pages at {address} ")
            async with browser(CHROMIUM, tmp_path / "profile") as show:
                wrong: Tab = await show(link(address, new_key()).replace("/rate#", "/terminal#"))
                page: Tab = await show(link(address, key).replace("/rate#", "/terminal#"))
                await page.until(lambda: "1 of 3" in page.words, "the first sample is shown")
                # The watchdog is a copy of the server.
                (process,) = (
                    child
                    for child in psutil.Process(server.pid).children()
                    if child.cmdline() != psutil.Process(server.pid).cmdline()
                )
                shown_to_everybody = " ".join(process.cmdline())
                for one in ("a", "3", "Enter"):
                    await page.press(one)
                await page.until(lambda: "enter again" in page.words, "it is asked")
                assert store.sets.ratings(kept.id) == ()
                while not store.sets.ratings(kept.id):
                    await page.press("Enter")
                    await asyncio.sleep(CONFIRM_S + 0.5)  # sooner it confirms nothing
                for one in ("a", "0", "j", "j", "Enter", "j"):
                    await page.press(one)
                await page.until(lambda: len(store.sets.ratings(kept.id, every=True)) >= 6, "saved")
                assert await page.evaluate("document.title") == "Rating"
                assert page.complaints == []
                assert {url.split("/")[2] for url in page.requested} == {f"127.0.0.1:{port}"}
                assert key not in " ".join(page.requested)

                store.sets.links.revoke(made.id)
                closed = "document.getElementById('title').textContent"
                await page.until(lambda: not process.is_running(), "the page is closed")
                assert await page.evaluate(closed) == "The rating page is closed"
                assert await wrong.evaluate(closed) == "This link does not open"
                assert "404" in " ".join(wrong.complaints)
        finally:
            server.send_signal(signal.SIGINT)
            output, _ = server.communicate(timeout=60)
        assert server.returncode == 0
        assert key not in output + shown_to_everybody
        assert "R2" not in shown_to_everybody

        rows = {row.sample: row for row in store.sets.ratings(kept.id)}
        assert {sample: row.answers for sample, row in rows.items()} == {
            1: {"anomia": 3.0, "jargon": 0.0},
            2: {"jargon": 0.0, "anomia": 0.0},
        }
        assert {sample: row.confirmed for sample, row in rows.items()} == {1: ("jargon",), 2: ()}
        assert {row.rater for row in rows.values()} == {"R2"}
        *_, draft = store.sets.ratings(kept.id, every=True)
        assert (draft.sample, draft.complete, draft.answers) == (3, False, {"jargon": 1.0})
