"""Importing answers in the workbench: a dry run first, then the import and its results."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

from tabwb.administer.answers import importing
from tabwb.records.conditions import Conditions
from tabwb.records.states import AdministrationStatus, Protocol
from tabwb.records.trials import Administration
from tabwb.store.store import Store
from tabwb.workbench.shell.explorer import Finder
from tabwb.workbench.shell.frame import foot_hints
from tabwb.workbench.shell.wording import conditions_words, head_words, special_words
from tests.workbench.seat import Seat, Sit


def stored(seat: Seat) -> list[Administration]:
    with Store.open(seat.store) as store:
        return list(store.administrations())


def message(seat: Seat) -> str:
    return str(seat.app.screen.query_one("#said", Static).content)


async def asked(seat: Seat, **fields: object) -> None:
    """The dialog is open and filled in."""
    await seat.press("i")
    await seat.has("path")
    seat.fill(**{name: str(value) for name, value in fields.items()})


async def refused(seat: Seat, words: str) -> None:
    await seat.until(lambda: message(seat).startswith("! ") and words in message(seat), words)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("question,response\nrp1,house.\nrp2,breakfast.\nxx9,what?\n", "utf-8")
    return path


async def test_what_is_refused_names_its_field_and_what_will_be_taken_is_shown_before(
    sit: Sit, answers: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"PNG")
    async with sit() as seat:
        await asked(seat, battery="tab")
        await seat.press_button("begin")
        await seat.until(lambda: "File: a value is needed" in message(seat), "the refusal")
        for value, said, wrong in (
            (tmp_path / "no.csv", "no such file", "path"),
            (picture, "picture.png", "path"),
            (answers, "'Columns' item=NAME", "columns"),
        ):
            seat.fill(path=str(value))
            await seat.press_button("begin")
            await refused(seat, said)
            await seat.focuses(wrong)
        await seat.press("escape")
        assert not seat.asked
        assert stored(seat) == []

        await asked(seat, path=answers, battery="tab", model="some-model", columns="item=question")
        await seat.press("enter")
        await refused(seat, "'xx9'")
        seat.fill(skip_unknown="yes")
        await seat.press_button("estimate")
        await seat.until(lambda: message(seat).startswith("≈ "), "the dry run")
        said = message(seat)
        assert "imported:some-model (model): 2 answers" in said
        assert "repetition/rp1 0: house." in said
        assert "left out: 1 answer to no item of 'tab'" in said
        assert "18 items without an answer" in said
        assert "nothing is imported yet" in said
        assert stored(seat) == []
        await seat.press_button("begin")
        await seat.at("results")
        await seat.reads("some-model")
        assert not seat.asked
        (given,) = stored(seat)
        assert (given.conditions.examinee, given.answered) == ("imported:some-model", 2)


async def test_an_import_goes_on_in_the_background_is_stopped_and_started_again(
    sit: Sit, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, store_all = threading.Event(), threading.Event(), importing.import_answers

    def slowly(*given: Any, **options: Any) -> Any:
        begun.set()
        go_on.wait(60)
        return store_all(*given, **options)

    monkeypatch.setattr(importing, "import_answers", slowly)
    answers.write_text("item,response\nrp1,house.\nrp2,breakfast.\n", "utf-8")
    async with sit((100, 30)) as seat:
        await asked(seat, path=answers, battery="tab", model="m")
        await seat.press_button("begin")
        await seat.until(begun.is_set, "the import")
        await seat.press("escape")
        await seat.closed()
        await seat.reads("▸ import")  # in the title bar
        await seat.press("ctrl+q", reads="Quitting stops it after the")
        await seat.press("escape", "J", reads="▸ Import  running  answers.csv")
        await seat.press("x", reads="… Import  stopping  answers.csv")
        go_on.set()
        await seat.reads("‖ Import  stopped  answers.csv")
        assert "nothing was imported" in seat.text
        assert stored(seat) == []
        await seat.press("r", reads="✓ Import  complete  answers.csv")
        assert "2/2" in seat.text
        assert [one.key for one in foot_hints(seat.desk)].count("enter") == 1
        assert seat.desk.page == "jobs"  # whoever works elsewhere stays there
        (given,) = stored(seat)
        assert given.answered == 2
        await seat.press("home", "enter", at="results")


async def test_open_finds_an_administration_by_words(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model="echo@text=dog")
        await seat.begin(battery=battery, model="echo@text=cat", seed="7")
        await seat.reads("seed 7, greedy, protocol generate")
        await seat.press("f8", at="home")
        await seat.reads("seed 7")
        await seat.press("o", reads="text=cat · seed 7")
        await seat.type("text=dog")
        await seat.reads("1 of 2")
        await seat.press("enter", reads="Continue #1?")
        await seat.press("escape")
        # Each that is found stands on one line.
        await seat.begin(battery=battery, model="echo@text=a-rather-long-answer-that-is-given")
        await seat.press("f7", reads="3 of 3")
        lines = [line for line in seat.text.splitlines() if "running" in line or "paused" in line]
        assert [line.strip("│▌ ").split()[0] for line in lines] == ["3", "2", "1"]
        places = [seat.text.splitlines().index(line) for line in lines]
        assert places == [places[0], places[0] + 1, places[0] + 2]
        assert "…" in lines[0]


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
