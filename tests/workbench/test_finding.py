"""Administrations and batteries are found by words, and told apart."""

from __future__ import annotations

from dataclasses import replace

from tabwb.records.conditions import Conditions
from tabwb.records.states import AdministrationStatus, Protocol
from tabwb.records.trials import Administration
from tabwb.workbench.shell.administration_words import conditions_words, head_words, special_words
from tabwb.workbench.shell.search import Finder
from tests.workbench.seat import Sit


async def test_a_battery_in_the_explorer_opens_the_dialog(sit: Sit) -> None:
    async with sit((160, 48)) as seat:
        await seat.press("f6")
        await seat.until(lambda: seat.app.focused and seat.app.focused.id == "explorer")
        await seat.press("down", "enter")
        await seat.dialog()


async def test_open_finds_an_administration_by_words(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model="echo@text=dog")
        await seat.begin(battery=battery, model="echo@text=cat", seed="7")
        await seat.reads("seed 7, greedy, protocol generate")
        await seat.press("f8")
        await seat.until(lambda: seat.desk.page == "home")
        await seat.reads("seed 7")
        await seat.press("o")
        await seat.reads("text=cat · seed 7")
        await seat.type("text=dog")
        await seat.reads("1 of 2")
        await seat.press("enter")
        await seat.reads("Continue #1?")


def administration(number: int, examinee: str = "bundled") -> Administration:
    """One that was begun on the 12th."""
    return Administration(
        id=number,
        uid=f"uid-{number}",
        status=AdministrationStatus.DONE,
        battery="tab",
        battery_version="1",
        battery_hash="",
        battery_title="Text Aphasia Battery",
        conditions=Conditions(examinee, "model"),
        created_at="2026-11-12T08:00:00",
        planned=20,
        answered=20,
    )


def test_what_tells_runs_apart_is_what_was_not_left_as_it_is() -> None:
    one = administration(1)
    assert conditions_words(one) == ["seed 1", "greedy", "protocol generate"]
    assert special_words(one) == []
    assert head_words(one) == ["seed 1", "greedy"]
    given = replace(one.conditions, seed=2, protocol=Protocol.LIKELIHOOD, conversation=True)
    told = special_words(replace(one, conditions=given))
    assert told == ["protocol likelihood", "one conversation", "seed 2"]
    assert head_words(replace(one, conditions=given)) == [*told, "greedy"]
    assert Finder().ranked([one, replace(one, id=2, conditions=given)], "likelihood")[0].id == 2


def test_a_number_finds_its_administration_before_names_and_dates() -> None:
    ones = [administration(n) for n in (1, 2, 12, 13, 120)]
    ones.append(administration(130, examinee="S-12"))
    ranked = Finder().ranked
    assert [one.id for one in ranked(ones, "12")] == [12, 120, 130, 13, 2, 1]
    assert [one.id for one in ranked(ones, "#12")] == [12, 120]
    assert [one.id for one in ranked(ones, "s-12 done")] == [130]
    assert [one.id for one in ranked(ones, "")] == [130, 120, 13, 12, 2, 1]


async def test_each_administration_found_stands_on_one_line(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        for _ in range(3):
            await seat.begin(battery=battery, model="echo@text=a-rather-long-answer-that-is-given")
        await seat.press("f7")
        await seat.reads("3 of 3")
        lines = [line for line in seat.text.splitlines() if "running" in line or "paused" in line]
        numbers = [line.strip("│ ").split()[0] for line in lines]
        assert numbers == ["3", "2", "1"]
        places = [seat.text.splitlines().index(line) for line in lines]
        assert places == [places[0], places[0] + 1, places[0] + 2]
        assert all("…" in line for line in lines)
