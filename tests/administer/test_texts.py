"""Texts without a battery: the battery that is made of their prompts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.administer.answers.texts import NO_PROMPT, with_battery
from tabwb.administer.session.raters import Raters
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery
from tabwb.battery.rules import Scorers
from tabwb.battery.validation import validate
from tabwb.plugin_api.answer_files import AnswerFile
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.answers import RecordedAnswer
from tabwb.records.states import AttemptState, RatingStatus, ResponseStatus, StopReason
from tabwb.records.trials import Attempt, PlannedTrial, Trial

TAB = Path(__file__).parents[2] / "batteries" / "tab" / "battery.toml"


@pytest.fixture(scope="module")
def tab() -> Battery:
    return load_battery(TAB)


def source(*prompts: str, **more: object) -> AnswerFile:
    answers = tuple(
        RecordedAnswer(f"t.csv:{n}", f"text {n}", prompt=prompt) for n, prompt in enumerate(prompts)
    )
    return AnswerFile("test", answers, (), texts=True, **more)  # type: ignore[arg-type]


def test_one_item_for_each_distinct_prompt(tab: Battery) -> None:
    found, battery = with_battery(source("What now?", "", " What  now? ", "What then?"), tab)
    assert [answer.item for answer in found.answers] == [
        *("what-now", "no-prompt", "what-now", "what-then"),
    ]
    prompts = {item.id: item.prompt for item in battery.subtests[0].items}
    assert prompts == {
        "no-prompt": NO_PROMPT,
        "what-now": "What now?",
        "what-then": "What then?",
    }
    assert battery.features == tab.features
    assert battery.groupings == tab.groupings


def test_the_same_prompts_in_any_order_make_the_same_battery(tab: Battery) -> None:
    _, one = with_battery(source("A flood", "A cat"), tab)
    _, other = with_battery(source("A cat", "A flood", "A cat"), tab)
    _, german = with_battery(source("A cat", "A flood", language="de"), tab)
    assert (one.id, one.content_hash) == (other.id, other.content_hash)
    assert german.id != one.id


def test_transcripts_of_speech_are_marked_as_such(tab: Battery) -> None:
    _, battery = with_battery(source("A flood", spoken=True), tab)
    assert battery.subtests[0].items[0].metadata == {"spoken": True}


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc"))), min_size=1, max_size=6))
def test_any_prompts_make_a_valid_battery(prompts: list[str]) -> None:
    import json

    found, battery = with_battery(source(*prompts), load_battery(TAB))
    file, broken = validate(json.loads(battery.canonical), Scorers(["lexical"]))
    assert (file is not None, broken) == (True, [])
    for prompt, answer in zip(prompts, found.answers, strict=True):
        asked = battery.subtest(answer.subtest).item(answer.item).prompt
        assert asked == (" ".join(prompt.split()) or NO_PROMPT)


@pytest.mark.parametrize("spoken", [True, False])
def test_rules_read_a_transcript_as_speech(tab: Battery, spoken: bool) -> None:
    """One long stretch without a stop has no utterances in speech, and is one utterance in text."""
    source_, battery = with_battery(source("A flood", spoken=spoken), tab)
    (answer,) = source_.answers
    plan = PlannedTrial(1, answer.subtest, answer.item, 0, (), "A flood")
    said = "we went there and then he said that it was " * 4
    attempt = Attempt(1, said, AttemptState.OK, ResponseStatus.OK, StopReason.END, None)
    ratings = Raters(Plugins.load(), battery, ("rules",)).rate(plan, attempt, [Trial(plan)])
    abandoned = next(rating for rating in ratings if rating.measure == "abandoned-utterances")
    assert (abandoned.status is RatingStatus.UNDEFINED) == spoken
