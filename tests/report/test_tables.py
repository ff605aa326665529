from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console, RenderableType

from tabwb.records.words import MODEL_CAUTION, RESEARCH_ONLY
from tabwb.report.render.groups import groups_view
from tabwb.report.render.tables import administration_view, burden_view, list_view
from tabwb.report.summaries.grouping import Group
from tabwb.report.summaries.groups import summarised
from tabwb.report.summaries.load import AdministrationData
from tests.report.given import (
    ANSWERS,
    BATTERY,
    CONDITIONS,
    DECLARED,
    SAMPLED,
    administration,
    summarise,
    trials,
)


def printed(view: RenderableType, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(view)
    return out.getvalue()


def results(answers: dict[str, str] = ANSWERS, features: tuple[str, ...] = ()) -> str:
    summary = summarise(
        BATTERY, trials(answers, features), CONDITIONS, declarations=DECLARED, interval=True
    )
    return printed(administration_view(administration(), BATTERY, summary))


def unwrapped(text: str) -> str:
    return " ".join(text.split())


def test_results_show_right_answers_with_interval_and_baseline() -> None:
    row = next(line for line in results().splitlines() if "Word Comprehension " in line)
    assert row.split() == [
        "Word", "Comprehension", "1", "of", "3", "0.01-0.91", "1", "1", "first", "option", "1.00",
    ]  # fmt: skip


def test_the_burden_never_stands_alone() -> None:
    text = unwrapped(results(features=("retracing",)))
    assert "symptom burden 1.00 over 7 features" in text
    assert "rules-2 · connected text · 2 responses, 2 distinct" in text
    assert "1.00 of 3" in text


def test_titles_of_categories_are_whole_in_a_narrow_panel() -> None:
    answers = trials(ANSWERS, ("retracing",))
    summary = summarise(BATTERY, answers, CONDITIONS, declarations=DECLARED, interval=True)
    (judge,) = summary.judges
    titles = dict.fromkeys(judge.burden.categories, "Perseverative")
    assert "Perseverative  ━" in printed(burden_view(judge, titles), width=34)


def test_responses_without_a_burden_are_said() -> None:
    assert "usable 1 of 2: 1 empty" in results({**ANSWERS, "ct2": ""})


def test_the_sentences_we_use_in_public_stand_below() -> None:
    text = unwrapped(results())
    assert RESEARCH_ONLY in text
    assert MODEL_CAUTION in text
    assert BATTERY.disclaimer in text
    assert "a text rule; not compared with expert raters" in text


def test_everything_fits_eighty_columns_and_is_plain_when_piped() -> None:
    members = (AdministrationData(administration(), BATTERY, trials(ANSWERS)),)
    views = [
        list_view([administration()]),
        groups_view(summarised([Group("model", "bundled", members)]), details=True),
        administration_view(
            administration(), BATTERY, summarise(BATTERY, trials(ANSWERS), CONDITIONS)
        ),
    ]
    for view in views:
        text = printed(view)
        assert "\x1b" not in text
        assert max(map(len, text.splitlines())) <= 80


def test_nothing_answered_yet_shows_no_figures() -> None:
    text = results({})
    assert "0 of" not in text
    assert "symptom burden" not in text


def test_an_empty_store_says_how_to_begin() -> None:
    assert "tabwb run" in printed(list_view([]))


def test_groups_stand_side_by_side_with_their_baselines() -> None:
    first = (AdministrationData(administration(1, SAMPLED), BATTERY, trials(ANSWERS)),)
    second = (
        AdministrationData(administration(2, SAMPLED), BATTERY, trials({**ANSWERS, "wc3": "boot"})),
    )
    text = printed(
        groups_view(summarised([Group("model", "one", first), Group("model", "two", second)]))
    )
    rows = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert "1 of 3" in rows["one"]
    assert "2 of 3" in rows["two"]
    assert "first option" in text
    assert "symptom burden over 7 features" in unwrapped(text)
    assert RESEARCH_ONLY in unwrapped(text)


def test_recorded_answers_are_not_called_greedy() -> None:
    # A replay of sampled answers was headed "greedy", and differed from them in decoding.
    recorded = replace(CONDITIONS, examinee="replay:answers.jsonl")
    summary = summarise(BATTERY, trials(ANSWERS), recorded, declarations=DECLARED)
    text = printed(administration_view(administration(1, recorded), BATTERY, summary))
    assert "recorded answers" in text and "greedy  ·" not in text
