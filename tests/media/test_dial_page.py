"""The pages with a slider that 'lesion dial' and 'speaker dial' write, in a browser."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("aiohttp", reason="needs tabwb[server]")

import tabwb
from tabwb.cli.main import main
from tests.golden.freeze import unpacked
from tests.serve.browser import Tab, browser, find_chromium

PROGRAM = find_chromium()


async def loaded(tab: Tab) -> None:
    """Wait until the page and its script are there."""
    while await tab.evaluate("document.readyState") != "complete":
        await asyncio.sleep(0.01)


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

        await loaded(tab)
        assert await shown("said") == said["intact", 0.0, None]
        for place, amount in enumerate((0.1, 0.4), start=1):
            for seed in (1, 2):
                await tab.evaluate(
                    f"at('seed').value = {seed - 1}; at('seed').dispatchEvent(new Event('change'));"
                    f"at('amount').value = {place}; at('amount').dispatchEvent(new Event('input'))"
                )
                assert await shown("said") == said["lesion", amount, seed]
                assert await shown("other") == said["control", amount, seed]
        underlined = await tab.evaluate("document.querySelectorAll('#said .new').length")
        last = next(row for row in found.to_dicts() if row["role"] == "lesion" and row["seed"] == 2
                    and row["amount"] == 0.4)  # fmt: skip
        assert underlined == last["new"]
        said_of = await shown("state")
        assert f"{last['new']} of {last['words']} " in said_of
        assert (f"{last['alike']} of {last['seeds']} " in said_of) == (last["seeds"] == 2)
        await tab.evaluate("document.querySelectorAll('#ladder button')[0].click()")
        assert await shown("said") == said["intact", 0.0, None]
        assert " of " not in await shown("state")  # it is compared with nothing
        assert not tab.complaints
        assert all(one.startswith("file:") for one in tab.requested)


def sessions(folder: Path) -> tuple[Path, Path]:
    """A store in which P01 named six pictures in each of four sessions, and the page of them."""
    (folder / "made").mkdir()
    return unpacked("naming", folder / "made"), folder / "sessions.html"


def test_sessions_are_one_table_for_command_and_python_and_its_page_names_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, page = sessions(tmp_path)
    with tabwb.open(store, write=True) as study:
        found = study.dial("P01", out=page)
        change = study.change("P01", rows="items").to_dicts()
        dog = study.dial("P01", where="item=dog").to_dicts()
        with pytest.raises(tabwb.UsageError):
            study.dial("P01", item="nouns/none")
        with pytest.raises(tabwb.UsageError):
            study.dial("P01", out=tmp_path / "a.txt")
    rows = found.to_dicts()
    assert [row["session"] for row in rows] == [1, 2, 3, 4] * 6
    assert [row["day"] for row in rows] == [0, 7, 14, 21] * 6
    assert dog == [row for row in rows if row["item"] == "nouns/dog"]
    # What is right is what the change of these sessions counts.
    right = {
        (f"{one['part']}/{one['item']}", number): one[f"session_{number}"]
        for one in change for number in (1, 2, 3, 4)
    }  # fmt: skip
    assert {(row["item"], row["session"]): row["right"] for row in rows} == right
    for row in rows:
        said, target = row["answer"].split(), row["compared"].split()
        assert row["words"] == len(said) and row["new"] == len(row["new_words"] or ())
        assert {*said} - {*target} <= {*(row["new_words"] or ())}
        assert said != target or not row["new"]
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"P01|20\d\d-\d\d", text) and not re.search(r'(src|href)="', text)
    assert main(["speaker", "dial", "P01", "--store", str(store), "--json", "-q"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert table["name"] == "session-dial" and len(table["rows"]) == len(rows)


@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")
async def test_the_page_of_sessions_turns_by_keys_and_each_control_has_a_name(
    tmp_path: Path,
) -> None:
    store, page = sessions(tmp_path)
    with tabwb.open(store, write=True) as study:
        rows = study.dial("P01", out=page).to_dicts()
    assert PROGRAM is not None
    async with browser(PROGRAM, tmp_path / "profile") as show:
        tab = await show(page.as_uri())
        await loaded(tab)
        for at in range(6):
            await tab.evaluate(
                f"at('seed').value = {at}; at('seed').dispatchEvent(new Event('change'))"
            )
            for place, row in enumerate(rows[4 * at : 4 * at + 4]):
                await tab.evaluate(f"document.querySelectorAll('#ladder button')[{place}].click()")
                said = await tab.evaluate(
                    "[at('said').textContent, document.querySelectorAll('#said .new').length, "
                    "at('controls').hidden, at('value').textContent]"
                )
                assert said == [row["answer"], row["new"], True, f"session {place + 1}"]
        unnamed = await tab.evaluate(
            "[...document.querySelectorAll('input, select, button')]"
            ".filter((one) => !(one.labels?.length || one.textContent.trim())).length"
        )
        assert unnamed == 0 and not tab.complaints
        # A control keeps the focus when it is used, and all is in the main region.
        kept = await tab.evaluate(
            "(() => { const one = document.querySelectorAll('#ladder button')[1]; one.focus(); "
            "one.click(); return document.activeElement === one; })()"
        )
        outside = await tab.evaluate(
            "document.querySelectorAll('body > :not(main, script)').length"
        )
        assert kept and outside == 0
        assert all(one.startswith("file:") for one in tab.requested)


def test_what_a_person_wrote_is_compared_with_the_first_session(tmp_path: Path) -> None:
    first = "We went to the sea with my brother and we swam every day in the cold water."
    second = "We went to the sea the sea with my brother and we swam every day."
    for at, (text, word) in enumerate(((first, "lion"), (second, "drum")), start=1):
        table = tmp_path / f"{at}.csv"
        table.write_text(f'item,response\nct1,"{text}"\nwc1,{word}\n', encoding="utf-8")
        arguments = ["import", str(table), "--battery", "tab", "--speaker", "S-1", "-q"]
        arguments += ["--research-protocol", "X", "--date", f"2026-01-0{at}"]
        assert main([*arguments, "--origin", "human", "--store", str(tmp_path / "s.db")]) == 0
    with tabwb.open(tmp_path / "s.db") as study:
        rows = study.dial("S-1").to_dicts()
    assert [(row["item"], row["session"], row["right"]) for row in rows] == [
        ("connected-text/ct1", 1, None), ("connected-text/ct1", 2, None),
        ("word-comprehension/wc1", 1, True), ("word-comprehension/wc1", 2, False),
    ]  # fmt: skip
    assert [row["compared"] for row in rows] == [None, first, None, "lion"]
    # The sea the sea: two words more; in what is left out nothing is new.
    assert [row["new"] for row in rows] == [0, 3, 0, 1]
    assert sorted(rows[1]["new_words"]) == ["day.", "sea", "the"]
    assert rows[0]["perseverations"] is False
