"""The first page: what can be begun and continued, recent administrations, participants."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.speakers import Consent
from tabwb.store.store import Store
from tabwb.workbench.engine.messages import Stored
from tabwb.workbench.home.page import HomePage
from tabwb.workbench.participants.page import ParticipantsPage
from tests.workbench.seat import Given, Seat, Sit
from tests.workbench.stocked import give


async def test_an_empty_store_offers_a_beginning(sit: Sit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabwb.workbench.home.controller.DEMONSTRATION", ("tab", "echo"))
    async with sit((80, 24)) as seat:
        for words in (
            "No administration is stored yet.",
            "d Demonstration",
            "D Demonstration: naming",
            "i Import",
        ):
            await seat.reads(words)
        await seat.press("d")
        await seat.reads("tabwb gives the Text Aphasia Battery")
        await seat.press("escape")
        await seat.pilot.click("#home-begin", offset=(3, 2))  # the line of d
        await seat.reads("tabwb gives the Text Aphasia Battery")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.work, "the demonstration")
        conditions = seat.work.administration.conditions
        assert (seat.work.administration.battery, conditions.examinee) == ("tab", "echo")


async def test_an_empty_store_lists_batteries_and_models_in_a_tall_window(sit: Sit) -> None:
    async with sit((160, 48)) as seat:
        await seat.reads("20 items  for models  Text Aphasia Battery")
        await seat.reads("echo                     Returns the prompt")
        await seat.press("r")
        await seat.reads("tabwb rate plan pilot")
        assert not seat.desk.query_one("#sets-pane").display, "there is no empty list"
        assert seat.desk.query_one("#set-scroll").has_focus


async def test_recent_administrations_have_scores_and_details(sit: Sit, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(path) as store, closing(Plugins.load()) as plugins:
        give(store, plugins, "oak", wrong=("wc1", "wc2"))
        give(store, plugins, "ash", lesion=None)
        store.people.keep_consents([Consent("S-014", "record", True, "2026-03-01")])
    async with sit((160, 48)) as seat:
        await seat.reads("word ✗✗✓✓✓  sentence ✓✓✓✓✓")
        above = seat.text.splitlines()[_line(seat, "word ✗✗✓✓✓") - 1]
        assert "oak" in above and "13/15" in above
        assert "#2" in seat.text  # details of the latest
        await seat.press("down")
        await seat.reads("tab · oak")
        (word,) = [line for line in seat.text.splitlines() if "Word Comprehension" in line]
        assert "3/5" in word and "├" in word and "●" in word

        await seat.press("down")  # to the participants
        await seat.reads("✓ record")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.query(ParticipantsPage), "the participants")
        await seat.until(lambda: seat.desk.query_one(ParticipantsPage).present, "the participant")
        await seat.press("escape")
        await seat.until(lambda: isinstance(seat.desk.current, HomePage), "home")

        await seat.pilot.resize_terminal(80, 24)
        await seat.until(lambda: "13/15" in seat.text and "Details" not in seat.text)
        assert "S-014" in seat.text


async def test_what_is_paused_is_continued_even_without_scores(
    given: Given, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "store.db") as people:
        people.people.keep_consents([Consent("S-014", "record", True, "2026-03-01")])
    async with given((160, 48), items=1) as seat:
        await seat.press("f8")
        await seat.reads("Continue")
        continued = seat.desk.query_one("#home-open Rows")  # not the participants
        await seat.until(lambda: seat.app.focused is continued, "the focus")
        await seat.reads("Enter continues it.")
        with sqlite3.connect(tmp_path / "store.db") as store:
            store.execute(
                "UPDATE texts SET text = '{}' WHERE id IN (SELECT canonical_id FROM batteries)"
            )
        seat.desk.tell(Stored(1))
        await seat.reads("The scores cannot be read")
        await seat.press("enter")
        await seat.reads("#1?")


def _line(seat: Seat, words: str) -> int:
    return next(at for at, line in enumerate(seat.text.splitlines()) if words in line)
