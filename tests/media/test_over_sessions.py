"""The sessions of participants in a report: tables, names that may be printed, figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import grouped, summarised
from tabwb.media.report import Report, rendered, report_of
from tabwb.media.studied import Studied, followed, studied
from tests.analysis.given import CONDITIONS
from tests.analysis.test_pairs import given, words

RIGHT = ("lion", "boot", "knife")
DAYS = ("2026-02-01", "2026-01-01", "2026-03-01")


def session(number: int, who: str, day: str, *right: bool) -> AdministrationData:
    said = (answer if ok else "nothing" for answer, ok in zip(RIGHT, right, strict=True))
    made = replace(CONDITIONS, examinee=who, kind="speaker", session_date=day)
    return given(number, made, *words(*said))


def about(*members: AdministrationData, study_ids: bool = False) -> Studied:
    return studied(summarised(grouped(members, ("participant",))), study_ids=study_ids)


THREE = (
    session(2, "S-014", DAYS[0], True, False, True),
    session(3, "S-014", DAYS[1], False, False, True),
    session(4, "S-014", DAYS[2], True, True, True),
)
ONCE = session(1, "S-009", "2026-01-05", True, True, True)


def made(*members: AdministrationData, study_ids: bool = False, figures: bool = False) -> Report:
    return report_of(about(*members, study_ids=study_ids), figures=figures)


def test_whoever_has_several_sessions_is_followed_in_order_of_day() -> None:
    (found,) = followed(about(ONCE, *THREE))
    assert found.name == "participant 2"
    assert [one.administration for one in found.change.sessions] == [3, 2, 4]
    assert [share.correct for share in found.change.shares] == [1, 2, 3]


def test_the_report_has_the_tests_of_change() -> None:
    (section,) = (one for one in made(*THREE).sections if one.title == "Change between sessions")
    sessions, tests = section.tables
    assert [str(row[2]) for row in sessions.rows] == ["1", "2", "3"]
    gained = [heading.column.name for heading in tests.headings].index("gained")
    assert [str(row[gained]) for row in tests.rows] == ["1", "1", "2", "-"]
    assert any("For research only" in note for note in tests.notes)


@pytest.mark.parametrize("document", ["md", "html"])
def test_neither_ids_nor_days_stand_in_a_report_that_was_not_asked_for_them(document: str) -> None:
    text = rendered(made(*THREE, figures=True), document).decode()
    for private in ("S-014", *DAYS):
        assert private not in text
    assert DAYS[0] in rendered(made(*THREE, study_ids=True), document).decode()


def test_sessions_of_a_few_participants_are_drawn() -> None:
    drawn = made(ONCE, *THREE, figures=True).figures
    (figure,) = (one for one in drawn if one.id.startswith("change-"))
    assert figure.notes[0].startswith("participant 2. Dark: right")
    assert b"S-014" not in figure.svg


def test_no_command_gives_a_battery_to_people_again() -> None:
    (command,) = made(*THREE).commands
    assert command.startswith("# ") and "was given to people" in command
