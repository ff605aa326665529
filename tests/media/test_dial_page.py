"""The page with the slider that 'lesion dial --out' writes, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("aiohttp", reason="needs tabwb[server]")

import tabwb
from tests.serve.browser import browser, find_chromium

PROGRAM = find_chromium()


@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")
async def test_the_slider_shows_each_answer_and_asks_for_nothing(
    tmp_path: Path, lesionable: None
) -> None:
    page = tmp_path / "dial.html"
    found = tabwb.dial("lesionable", amounts=(0.1, 0.4), seeds=(1, 2), out=page)
    said = {
        (row["role"], row["amount"], row["seed"]): row["answer"].strip() for row in found.to_dicts()
    }
    assert PROGRAM is not None
    async with browser(PROGRAM, tmp_path / "profile") as show:
        tab = await show(page.as_uri())

        async def shown(name: str) -> str:
            return str(await tab.evaluate(f"document.getElementById('{name}').textContent.trim()"))

        await tab.evaluate("new Promise(requestAnimationFrame)")
        assert await shown("said") == said["intact", 0.0, None]
        for place, amount in enumerate((0.1, 0.4), start=1):
            for seed in (1, 2):
                await tab.evaluate(
                    f"at('seed').value = {seed}; at('seed').dispatchEvent(new Event('change'));"
                    f"at('amount').value = {place}; at('amount').dispatchEvent(new Event('input'))"
                )
                assert await shown("said") == said["lesion", amount, seed]
                assert await shown("other") == said["control", amount, seed]
        underlined = await tab.evaluate("document.querySelectorAll('#said .new').length")
        last = next(row for row in found.to_dicts() if row["role"] == "lesion" and row["seed"] == 2
                    and row["amount"] == 0.4)  # fmt: skip
        assert underlined == last["new"]
        await tab.evaluate("document.querySelectorAll('#ladder button')[0].click()")
        assert await shown("said") == said["intact", 0.0, None]
        assert not tab.complaints
        assert all(one.startswith("file:") for one in tab.requested)
