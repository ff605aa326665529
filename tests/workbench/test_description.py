"""Descriptions in the workbench: typed on the trial page, recorded on the naming page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.records.speakers import Consent
from tabwb.records.states import AdministrationStatus
from tabwb.store.store import Store
from tabwb.workbench.naming.controller import NamingController
from tabwb.workbench.naming.item_pane import standing_words
from tests.plugin_api.conftest import Install
from tests.tasks.description_parts import TRANSCRIBER, WORDS, description_battery
from tests.workbench.naming_seat import NamingSeat, PlayedSource, draw
from tests.workbench.seat import Sit


@pytest.fixture
def battery(tmp_path: Path) -> str:
    path = description_battery(tmp_path / "telling")
    draw(tmp_path / "telling" / "kitchen.png", "#3d7a3d")
    return str(path)


async def test_descriptions_are_typed_where_nobody_transcribes(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, kind="speaker", speaker="S-014", transcriber="none")
        for text in ("a boy", "I got up"):
            await seat.press("space")
            await seat.focuses("answer")
            if text == "a boy":  # the console tells the examiner, not the participant
                await seat.press("escape", "f", reads="Show the picture kitchen.png.")
                await seat.press("f")
                await seat.focuses("answer")
            await seat.type(text)
            await seat.press("enter")
            await seat.until(lambda: not seat.work.awaiting)
    _, trials = seat.stored()
    answers = [trial.counting for trial in trials]
    assert [answer and answer.response for answer in answers] == ["a boy", "I got up"]
    assert all(trial.ratings for trial in trials)


async def test_descriptions_are_recorded_transcribed_and_corrected(
    sit: Sit, battery: str, install: Install, tmp_path: Path
) -> None:
    install("writes", TRANSCRIBER)
    with Store.open(tmp_path / "store.db") as store:
        store.people.keep_consents(
            [Consent("S-014", scope, True, "2026-11-01") for scope in ("record", "transcribe")]
        )
    sources: list[PlayedSource] = []

    def open_source(path: Path) -> PlayedSource:
        sources.append(PlayedSource(path))
        return sources[-1]

    async with sit((100, 30)) as seat:
        seat.desk.controller(NamingController).open_source = open_source
        await seat.begin(
            battery=battery, kind="speaker", speaker="S-014", transcriber="writes-words"
        )
        given = NamingSeat(seat, sources)
        await given.ready()
        await given.show()
        assert given.now.card is not None
        assert not given.now.card.coded
        assert given.now.card.picture is not None
        given.speaker.say("house")
        await given.score("1")
        await seat.until(lambda: given.now.heard == WORDS, "the text")
        assert (given.now.items[0].standing, standing_words(given.now.items[0])) == ("given", "●")
        for key, reason in (("3", "takes no score"), ("k", "takes no code")):
            await seat.press(key, reads=f"a description {reason}")
            assert len(seat.app.screen_stack) == 1
        await given.show()
        assert given.now.card.picture is None
        assert given.now.card.prompt == "Describe your morning."
        given.speaker.say("bed")
        await given.score("1")
        await seat.until(lambda: given.now.heard == WORDS, "the text")
        await seat.press("h")
        await seat.focuses("naming-heard")
        await seat.press("ctrl+u", *"bed", "enter")
        await seat.until(lambda: given.now.heard == "bed", "the corrected text")
        await seat.press("space")
        await seat.until(lambda: seat.work.status is AdministrationStatus.DONE, "the end")
        await seat.press("space", reads="Scenes")
        await seat.at("results")
        await seat.reads("usable 2 of 2")
        await seat.press("t", reads="Responses  2")
        await seat.press("l")
        await seat.until(
            lambda: "not consented to rating" in " ".join(seat.text.split()), "playing is refused"
        )
    _, trials = seat.stored()
    answers = [trial.counting for trial in trials]
    assert [answer and answer.response for answer in answers] == [WORDS, "bed"]
    assert answers[1] is not None
    assert answers[1].latency_s is not None
    measures = {rating.measure: rating.value for rating in trials[1].ratings}
    assert measures["words"] == 1
