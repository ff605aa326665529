"""What results say of a battery in another language, of intervals, and of few items."""

from __future__ import annotations

from dataclasses import replace

from tabwb.analysis.cautions import FEW, PROMPTS_LIKE_THESE, UNRELIABLE, cautions, few_items
from tabwb.battery.model import Battery
from tests.analysis.given import ANSWERS, BATTERY, summarise, trials

SAID = {"ct1": "We went to the the sea.", "ct2": "I sold bread.", "wc1": "The lion."}


def told(battery: Battery) -> list[str]:
    given = trials(SAID, ("retracing",))
    return list(cautions(battery, summarise(battery, given), model=True))


def test_what_was_stored_as_english_is_flagged() -> None:
    german = replace(BATTERY, language="de")
    flagged = [sentence for sentence in told(german) if "trial rescore" in sentence]
    assert any(sentence.startswith("Verdicts of rules-2") for sentence in flagged)
    assert any("'extracted'" in sentence for sentence in flagged)
    assert any("not available for german" in sentence.lower() for sentence in told(german))


def test_nothing_is_said_of_english() -> None:
    said = " ".join(told(replace(BATTERY, language="en-GB")))
    assert "rescore" not in said
    assert "ot available" not in said


def test_a_script_without_spaces_has_no_mean_words() -> None:
    given = trials(SAID, ("retracing",))
    for language, reason in (("ja", "this script has no spaces between words"), ("de", "")):
        battery = replace(BATTERY, language=language)
        for rater in ("", "rules-2"):
            words = summarise(battery, given).find("words_mean", rater=rater)
            assert words is not None and words.value.reason == reason
            assert words.value.defined is not bool(reason)


def test_intervals_and_few_items_are_named_where_they_are() -> None:
    alone = {"wc1": "The lion."}
    two = {item: text for item, text in ANSWERS.items() if item.startswith("wc")}
    assert len(two) > 1
    for answers, features, said in (
        (alone, (), []),
        (two, (), [PROMPTS_LIKE_THESE, FEW]),
        (two | SAID, ("retracing",), [PROMPTS_LIKE_THESE, UNRELIABLE]),
    ):
        summary = summarise(BATTERY, trials(answers, features))
        told = list(cautions(BATTERY, summary, model=True))
        named = (PROMPTS_LIKE_THESE, FEW, UNRELIABLE)
        assert [one for one in told if one in named] == said
        assert list(few_items(summary, summary)) == said[1:]
