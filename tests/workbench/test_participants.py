"""The page of participants: record, consent, printed form, sessions, deletion."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input

from tabwb.cli.main import main
from tabwb.records.speakers import SCOPES, Consent, Speaker
from tabwb.store.store import Store
from tabwb.workbench.comparison.actions import ComparisonActions
from tabwb.workbench.comparison.page import ModelsPage
from tabwb.workbench.participants.page import ParticipantsPage
from tabwb.workbench.shell.row_list import RowList
from tests.conftest import BATTERY
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
        assert foot(seat).startswith("N New   a Add   f Form   T Import   esc Back")
        await seat.press("N")
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

        await seat.press("down", "C")
        await seat.press("enter", "down", "space")  # record, transcribe
        seat.app.screen.query_one("#day", Input).value = "2026-13-01"
        await seat.press_button("accept")
        assert "is not a valid date" in seat.text
        seat.app.screen.query_one("#day", Input).value = "2026-03-02"
        await seat.press_button("accept")
        await seat.until(lambda: not seat.asked and "✓ 2/7" in seat.text, "the consents")

        await seat.press("E")
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
        await seat.press("N")
        await seat.has("battery")
        assert seat.app.screen.query_one("#battery", Input).value == "naming-demo"
    with Store.open(people) as store:
        assert [one.id for one in store.people.speakers()] == ["S-020", "S-030"]
        assert [stone.reason for stone in store.people.tombstones()] == ["withdrawn"]


async def test_the_list_shows_and_filters_what_is_recorded_and_a_table_fills_it(
    sit: Sit, people: Path, tmp_path: Path
) -> None:
    table = tmp_path / "people.csv"
    table.write_text("id,AQ,sex,site\nS-014,80,,York\nS-020,20,F,York\n", encoding="utf-8")
    async with sit((160, 48)) as seat:
        page = await opened(seat)
        await seat.press("T")
        await seat.has("path")
        seat.app.screen.query_one("#path", Input).value = str(table)
        await seat.press_button("begin")
        await seat.closed()
        refused = "S-014: AQ is 71.3 in the record, '80' in the file"
        await seat.until(lambda: any(refused in one for one in seat.news), "the difference")
        await seat.reads("AQ", "severity", "site", "71.3", "very severe")
        listed = page.query_one("#people-list", RowList)
        names = [column.name for column in listed.columns]
        # That of which fewer have a value has no room.
        assert names == ["code", "sessions", "consent", "AQ", "severity", "site"]

        def shows(codes: list[str]) -> bool:
            return [one.id for one in page._shown()] == codes

        for words, codes in (
            ("AQ<50", ["S-020"]), ("york AQ>70", ["S-014"]), ("severity=none", []),
            ("severity='very severe'", ["S-020"]), ("AQ<", []), ("site=York", ["S-014", "S-020"]),
        ):  # fmt: skip
            page.query_one("#people-filter", Input).value = words
            await seat.until(partial(shows, codes), words)


async def test_groups_of_participants_are_filtered(sit: Sit, tmp_path: Path) -> None:
    (tmp_path / "battery.toml").write_text(BATTERY, encoding="utf-8")
    table = tmp_path / "answers.csv"
    rows = (f"S-0{n},words/w1,dog,{quotient}\n" for n, quotient in enumerate((10, 30, 60, 90)))
    table.write_text("participant,item,response,participant_AQ\n" + "".join(rows), encoding="utf-8")
    store = tmp_path / "store.db"
    assert main(["import", str(table), "--battery", str(tmp_path / "battery.toml"),
                 "--store", str(store)]) == 0  # fmt: skip
    async with sit((120, 40)) as seat:
        await seat.press("m", at="models")
        page = seat.desk.query_one(ModelsPage)
        seat.desk.actions(ComparisonActions)._survey("severity")

        def groups() -> list[str]:
            return [row.label for row in page.shown] if page.done else []

        await seat.until(lambda: len(groups()) == 4, "all bands")
        await seat.press("slash")
        await seat.type("AQ<70")
        await seat.press("enter")
        await seat.until(lambda: groups() == ["moderate", "severe", "very severe"], "three bands")
        await seat.press("slash", "escape")
        await seat.until(lambda: len(groups()) == 4, "all bands again")
