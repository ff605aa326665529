"""The page of participants: record, consent, printed form, sessions, deletion."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from tabwb.records.speakers import SCOPES, Consent, Speaker
from tabwb.store.store import Store
from tabwb.workbench.participants.page import ParticipantsPage
from tests.workbench.seat import Seat, Sit


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A store with two participants, one without any consent."""
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        store.people.keep_speaker(Speaker("S-014", {"AQ": 71.3}))
        store.people.keep_speaker(Speaker("S-020"))
        store.people.keep_consents(
            [
                Consent("S-014", "record", True, "2026-03-01", "IRB-7/014"),
                Consent("S-014", "share", True, "2026-03-01"),
                Consent("S-014", "share", False, "2026-10-01"),
            ]
        )
    return path


async def opened(seat: Seat) -> ParticipantsPage:
    await seat.press("p")
    await seat.until(lambda: seat.desk.query(ParticipantsPage) and _page(seat).present)
    return _page(seat)


def _page(seat: Seat) -> ParticipantsPage:
    return seat.desk.query_one(ParticipantsPage)


async def test_without_participants_only_what_works_is_offered(sit: Sit) -> None:
    async with sit((80, 24)) as seat:
        await seat.press("p", reads="No participant yet.")
        await seat.until(lambda: "Consent" not in foot(seat), "the keys of an empty page")
        assert foot(seat).startswith("n New   a Add   f Form   esc Back")
        await seat.press("n")
        await seat.until(lambda: seat.app.screen.query("#speaker:focus"), "the code")
        assert seat.app.screen.query_one("#battery", Input).value == "naming-demo"


def foot(seat: Seat) -> str:
    return seat.text.splitlines()[-1].strip()


async def test_record_and_consents_are_shown_and_recorded(sit: Sit, people: Path) -> None:
    async with sit((80, 24)) as seat:
        await opened(seat)
        await seat.reads("Stored: 1 record, 3 consents.")
        rows = [line for line in seat.text.splitlines() if "2026-" in line]
        assert any("✓  record" in row and "IRB-7/014" in row for row in rows), seat.text
        assert any(
            "⊘  share" in row and "withdrawn 2026-10-01, given 2026-03-01" in row for row in rows
        )
        assert "! none recorded" in seat.text  # of S-020

        await seat.press("down", "c")
        await seat.press("enter", "down", "space")  # record, transcribe
        seat.app.screen.query_one("#day", Input).value = "2026-13-01"
        await seat.press_button("accept")
        assert "is not a valid date" in seat.text
        seat.app.screen.query_one("#day", Input).value = "2026-03-02"
        await seat.press_button("accept")
        await seat.until(lambda: not seat.asked and "✓ 2/7" in seat.text, "the consents")

        await seat.press("e")
        await seat.has("column-AQ")
        seat.app.screen.query_one("#column-AQ", Input).value = "120"
        seat.app.screen.query_one("#column-severity", Input).value = "none"
        await seat.press("enter")
        assert "of 'AQ': a number from 0 to" in seat.text
        assert "'none' is not a valid value of 'severity'" in seat.text  # both at once
        seat.app.screen.query_one("#column-AQ", Input).value = "50"
        seat.app.screen.query_one("#column-severity", Input).value = ""
        await seat.press("enter", reads="version 2")
    with Store.open(people) as store:
        assert set(store.people.speaker("S-020").values.items()) == {("AQ", 50.0)}
        given = store.people.consents("S-020")
        assert [(one.scope, one.given, one.on) for one in given] == [
            ("record", True, "2026-03-02"),
            ("transcribe", True, "2026-03-02"),
        ]


async def test_a_deletion_shows_what_goes_and_stays_first(
    sit: Sit, people: Path, tmp_path: Path
) -> None:
    async with sit((160, 48)) as seat:
        page = await opened(seat)
        await seat.press("f")
        assert seat.text.count("[ ] yes") == len(SCOPES)
        form = tmp_path / "form.txt"
        seat.app.screen.query_one("#file", Input).value = str(form)
        await seat.press_button("write")
        await seat.closed()
        assert "Participant code: S-014" in form.read_text("utf-8")

        await seat.press("x", reads="KEPT:")
        assert "1 record, 3 consents" in seat.text
        await seat.type("S-020")
        await seat.press("enter")
        assert "'S-020' is not 'S-014'" in seat.text
        seat.app.screen.query_one("#confirm", Input).value = "S-014"
        await seat.press("enter")
        await seat.until(lambda: page.present and page.present.id == "S-020", "the deletion")

        # People are read on opening, and get a battery for people.
        await seat.press("escape", at="home")
        with Store.open(people) as store:  # another program
            store.people.keep_speaker(Speaker("S-030"))
        await seat.press("p", reads="S-030")
        await seat.press("n")
        await seat.has("battery")
        assert seat.app.screen.query_one("#battery", Input).value == "naming-demo"
    with Store.open(people) as store:
        assert [one.id for one in store.people.speakers()] == ["S-020", "S-030"]
        assert [stone.reason for stone in store.people.tombstones()] == ["withdrawn"]
