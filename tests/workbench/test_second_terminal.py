"""A participant reads and types in a second terminal."""

from __future__ import annotations

from pathlib import Path

from tabwb.store import takes
from tabwb.store.store import Store
from tabwb.workbench.second_terminal import SecondTerminal
from tabwb.workbench.trial.participant import Card
from tabwb.workbench.trial.second_terminal import Link, Typed
from tests.workbench.seat import Sit


async def test_what_is_typed_there_is_recorded_with_the_latency_measured_there(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        with Store.open(seat.store) as store:
            link = Link(takes.folder_of(store))
        link.watch()
        await seat.begin(battery=battery, kind="speaker", speaker="S-014")
        await seat.until(lambda: (card := link.asked()) and card.next, "the first card")
        link.give(Typed(""))
        await seat.until(lambda: (card := link.asked()) and card.key, "the item")
        card = link.asked()
        assert card is not None
        assert (card.prompt, card.options) == ("Which one barks?", ("dog", "tree", "cup"))
        await seat.reads("shown in the second terminal")
        link.give(Typed("another item", "cat", 0.5))
        await seat.until(lambda: link.take() is None and seat.work.awaiting)
        link.give(Typed(card.key, "dog", 1.25))
        await seat.until(lambda: not seat.work.awaiting, "the answer")
    _, trials = seat.stored()
    given = trials[0].counting
    assert given is not None
    assert (given.response, given.latency_s) == ("dog", 1.25)
    assert link.asked() is None, "nothing is shown any more"


async def test_the_terminal_shows_the_item_and_hands_the_answer_over(tmp_path: Path) -> None:
    link = Link(tmp_path)
    card = Card("a/1/0", prompt="Which one barks?", options=("dog", "tree"))
    link.ask(card)
    async with SecondTerminal(tmp_path).run_test() as pilot:
        assert link.watched
        await pilot.pause(0.1)
        await pilot.press("d", "o", "g", "enter")
        await pilot.pause()
    typed = link.take()
    assert typed is not None
    assert (typed.key, typed.text) == ("a/1/0", "dog")
    assert 0 < typed.latency_s < 60
    assert link.take() is None, "an answer is taken once"
    assert not link.watched
