"""The rules on the paper's own examples, and the page that shows them (TAB, C, D.2, D.3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from docs import rules_judge
from tabwb.scoring.rules.judge import judge
from tabwb.scoring.rules.passage import NEVER, ONE_SIDED, TWO_SIDED, Outcome, TextContext

PUBLISHED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "rules_published.json").read_text(encoding="utf-8")
)
RULED = TWO_SIDED + ONE_SIDED


def fired(context: TextContext) -> set[str]:
    return {name for name, said in judge(context).items() if said.outcome is Outcome.PRESENT}


def test_eight_of_twelve_labelled_signs_are_found_in_the_transcripts() -> None:
    labelled = found = 0
    for each in PUBLISHED["judged"]:
        labels = set(each["present"]) & set(RULED)
        labelled += len(labels)
        found += len(labels & fired(TextContext(each["text"], spoken=True)))
    assert (found, labelled) == (8, 12)


@pytest.mark.parametrize("spoken", [True, False])
@pytest.mark.parametrize("each", PUBLISHED["judged"], ids=lambda each: each["id"])
def test_nothing_fires_in_the_transcripts_that_the_paper_labels_absent(
    each: dict[str, Any], spoken: bool
) -> None:
    assert fired(TextContext(each["text"], spoken=spoken)) <= set(each["present"])


@pytest.mark.parametrize(
    ("example", "found"),
    [
        (0, {"anomia"}),
        (1, set()),
        (2, {"neologisms", "perseverations"}),
        (3, {"perseverations"}),
        (4, {"omission-of-function-words"}),
    ],
)
def test_illustrated_responses_show_the_papers_symptoms_and_no_others(
    example: int, found: set[str]
) -> None:
    each = PUBLISHED["illustrated"][example]
    assert fired(rules_judge.illustrated_context(each)) == found
    assert found <= set(each["present"])


@pytest.mark.parametrize("each", PUBLISHED["defined"], ids=lambda each: each["feature"])
def test_a_definitions_example_is_found_by_its_own_rule(each: dict[str, Any]) -> None:
    missed = {"phonemic-paraphasias", "omission-of-bound-morphemes", *NEVER}
    verdict = judge(TextContext(each["text"]))[each["feature"]]
    expected = Outcome.UNDEFINED if each["feature"] in missed else Outcome.PRESENT
    assert verdict.outcome is expected


def test_the_page_shows_what_the_code_says() -> None:
    page = rules_judge.PAGE.read_text(encoding="utf-8")
    assert all(f"<!-- table: {name} -->" in page for name in rules_judge.TABLES)
    assert rules_judge.written(page) == page


def test_measuring_counts_texts_in_which_a_rule_fires() -> None:
    lines = rules_judge.measure(["I went home early that day in May.", "A blorf, he said, it is."])
    assert "2 texts" in lines
    assert "neologisms                           1  50.0 %" in lines
