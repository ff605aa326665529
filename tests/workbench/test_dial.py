"""The page of the dial, with a model of words."""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Input

from tabwb.administer.sweep.sweep import Point
from tabwb.operations.lesion import Swept
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.steps import Step
from tabwb.store.store import Store
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.lesions.dial import Dialled, Facts
from tabwb.workbench.lesions.dial_page import WAITS, DialPage
from tests.workbench.seat import Seat, Sit

pytestmark = pytest.mark.usefixtures("lesionable")


STEPS = 4


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Amounts of 0.05, 0.1, 0.15 and 0.2."""
    monkeypatch.setattr("tabwb.workbench.lesions.dial.STEPS", STEPS)


async def open_dial(seat: Seat, model: str) -> DialPage:
    seat.desk.request("lesions", "dial", model=model)
    await seat.at("dial")
    page = seat.desk.current
    assert isinstance(page, DialPage)
    await seat.until(lambda: page.setting, "the model")
    return page


def done(page: DialPage) -> bool:
    return page.setting in page._done


async def test_the_dial_turns_over_answers_computed_ahead_and_stores_them_when_asked(
    sit: Sit, tmp_path: Path
) -> None:
    async with sit((160, 48)) as seat:
        page = await open_dial(seat, "lesionable")
        await seat.until(lambda: done(page), "all steps")
        assert page.setting is not None and len(page._answers) == 1 + 2 * STEPS
        await seat.reads("Said by the intact model", "mlp, all layers", "seed 1", "Neologisms")
        await seat.press("end", reads="Said at 0.2")
        lesioned = page.step_at("lesion", 0.2)
        assert lesioned is not None and lesioned.lesion == "mlp:zero:0.2@seed=1"
        assert f"{len(lesioned.new_words)} of {lesioned.words} words" in seat.text
        await seat.press("left", "left", reads="Said at 0.1")
        await seat.press("space", reads="Said at 0.15")
        await seat.press("space")
        # Another part, layer, seed and prompt; the first is known when it is dialled again.
        await seat.press("tab", reads="attention, all layers")
        await seat.press("pagedown", reads="attention, layer 0")
        await seat.press("up", reads="seed 2")
        await seat.press("2")
        second = page.setting
        assert second.item == list(page.facts.items)[1] and second.layers == "0"  # type: ignore[union-attr]
        await seat.until(lambda: done(page), "all steps")
        page.change(item="connected-text/ct1", target="mlp", layers="all", seed=1)
        assert done(page)

        # The map: a click on a cell lesions it.
        line = next(at for at, one in enumerate(seat.text.splitlines()) if "mlp.down" in one)
        column = seat.text.splitlines()[line].index("mlp.down") + len("attention.q ") + 2
        await seat.pilot.click(offset=(column, line))
        await seat.until(
            lambda: (
                page.setting and (page.setting.target, page.setting.layers) == ("mlp.down", "1")
            ),
            "the part",
        )
        await seat.until(lambda: done(page), "all steps")

        file = tmp_path / "a.html"
        await seat.press("y")
        await seat.has("words")
        assert seat.app.screen.query_one("#words", Input).value.endswith(".html")
        seat.fill(words=str(file))
        await seat.press("enter", reads="written")
        text = file.read_text(encoding="utf-8")
        data = json.loads(re.findall(r'type="application/json">(.*?)</script>', text)[0])
        assert [one["answer"] for one in data["steps"]] == [
            one.answer for one in page._answers.values()
        ]
        # The dialog of the operation writes the page for other amounts; nothing is stored.
        other = tmp_path / "b.html"
        await seat.press("e")
        await seat.has("out")
        seat.fill(out=str(other), amounts="0.3")
        await seat.press_button("begin")
        await seat.until(other.exists, "the other page")
        data = json.loads(re.findall(r'json">(.*?)</script>', other.read_text("utf-8"))[0])
        assert [one["at"] for one in data["steps"]] == [0.0, 0.3, 0.3]
        await seat.press("escape")
        await seat.closed()
        with Store.open(seat.store) as store:
            assert not store.administrations()
        for number in (1 + 2 * STEPS, 0):
            await seat.press("N")
            words = f"{number} stored" if number else "stored already"
            await seat.until(lambda words=words: words in page._words, words)  # type: ignore[misc]
        with Store.open(seat.store) as store:
            kept = store.administrations()
            said = {one.conditions.lesion or "": store.trials(one.id)[0] for one in kept}
        assert len(kept) == 1 + 2 * STEPS and all("dial" in one.tags for one in kept)
        for step in page._answers.values():
            counting = said[step.lesion].counting
            assert counting is not None and counting.response == step.answer

        # Seeds are compared once they are computed.
        page.change(target="mlp", layers="all")
        first = page.step_at("lesion", 0.05)
        assert first is not None and page.alike(first) == (1, 1)
        await seat.press("up")
        await seat.until(lambda: done(page), "the second seed")
        again = page.step_at("lesion", 0.05)
        assert again is not None and again.seed == 2 and first.rated and again.rated
        assert page.alike(first) == (1 + ({*first.present} == {*again.present}), 2)

        # Drawn prompts: each item once, in the same order in every session.
        items = list(page.facts.items)  # type: ignore[union-attr]
        drawn = []
        for _ in items:
            await seat.press("r")
            drawn.append(page.setting.item)
        assert drawn == random.Random(1).sample(items, len(items))
        await seat.press("escape", at="home")


async def test_arrows_do_not_wait_for_what_is_not_computed(sit: Sit) -> None:
    async with sit((80, 24)) as seat:
        page = await open_dial(seat, "lesionable@delay=0.5")
        # Another sweep ends, of whose conditions nothing is stored: it is not the demonstration.
        swept = Swept("few", [Point("intact", Conditions("echo", "model"))], {})
        seat.desk.tell(JobState(1, "Dry run", "", "done", page="sweep", result=swept))
        await seat.press("end", reads="Said at 0.2")
        assert not page._given
        assert not done(page) and f"{WAITS} not computed yet" in seat.text
        await seat.press("home", reads="Said by the intact model")
        page.change(target="nothing")
        await seat.reads("! ")
        await seat.press("escape", at="home")


async def test_a_model_that_cannot_be_lesioned_is_said(sit: Sit) -> None:
    async with sit((80, 24)) as seat:
        seat.desk.request("lesions", "dial", model="echo")
        await seat.at("dial")
        await seat.reads("'echo' cannot be lesioned")
        await seat.press("space", "N", "y", "right", "tab", "up", "escape", at="home")


async def test_a_model_that_is_left_while_it_is_loaded_ends(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, closed = threading.Event(), threading.Event()
    load, close = Dialled.load, Dialled.close

    def slowly(self: Dialled, model: str, battery: str) -> Facts:
        loading.set()
        self._cancels[0].wait()
        return load(self, model, battery)

    def told(self: Dialled) -> None:
        close(self)
        closed.set()

    monkeypatch.setattr(Dialled, "load", slowly)
    monkeypatch.setattr(Dialled, "close", told)
    async with sit((80, 24)) as seat:
        seat.desk.request("lesions", "dial", model="lesionable")
        await seat.at("dial")
        await seat.until(loading.is_set, "the loading")
        await seat.press("r", "1", "e", "l", "escape", at="home")
        await seat.until(closed.is_set, "the end of the model")


async def test_empty_answers_errors_and_other_sizes_while_steps_are_computed(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = threading.Event()

    def steps(self: Dialled, setting: object, cancel: threading.Event) -> Iterator[Step]:
        yield Step("intact", 0.0, answer="a dog", status="ok", words=2, features={"jargon": False})
        yield Step("lesion", 0.05, 1, "mlp", status="empty", features={"jargon": None})
        yield Step("lesion", 0.1, 1, "mlp", reason="no memory")
        fails.wait()
        raise TabwbError("the process ended")

    monkeypatch.setattr(Dialled, "steps", steps)
    async with sit((160, 48)) as seat:
        page = await open_dial(seat, "lesionable")
        await seat.until(lambda: len(page._answers) == 3, "the first steps")
        empty = page.step_at("lesion", 0.05)
        assert empty is not None and page.alike(empty) == (0, 0)
        for width, height in ((80, 24), (220, 60), (100, 30)):
            await seat.pilot.resize_terminal(width, height)
            await seat.press("home", "right", "right", reads="no memory")
        await seat.press("end", reads=f"{WAITS} not computed yet")
        fails.set()
        await seat.reads("! the process ended")
        await seat.press("N", "escape")
        await seat.at("home")
    with Store.open(seat.store) as store:
        assert not store.administrations()
