"""Rating forms: the four that come with tabwb, the rules of a file, and what answers count."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tabwb.battery.form_answers import check_answers, completed, missing, ratings_of
from tabwb.battery.form_loader import read_form
from tabwb.battery.forms import Form, form_from_canonical, with_source_question
from tabwb.battery.loader import load_battery
from tabwb.plugin_api.own_files import bundled_folder
from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import CANNOT_TELL
from tabwb.records.ratings import undefined, valued

TAB = bundled_folder("tab") / "battery.toml"
Read = Callable[[str], tuple[Form | None, list[str]]]
HEAD = """\
[form]
id = "mine"
title = "Mine"
version = "1"
license = "CC0-1.0"
"""


def shipped(name: str) -> Form:
    form, problems = read_form(bundled_folder("forms") / f"{name}.toml", lambda _: TAB)
    assert form is not None, problems
    return form


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return the form of a TOML text and its problems, each as ``LINE: words``."""

    def reading(text: str) -> tuple[Form | None, list[str]]:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        form, problems = read_form(path, lambda _: TAB)
        return form, [str(problem).removeprefix(f"{path}:") for problem in problems]

    return reading


def test_tab_19_asks_every_feature_of_the_battery_once_under_the_letters_a_to_s() -> None:
    form, battery = shipped("tab-19"), load_battery(TAB)
    assert sorted(form.measures) == sorted(feature.id for feature in battery.features)
    assert sorted(question.key for question in form.questions) == list("abcdefghijklmnopqrs")
    texts = {feature.id: (feature.title, feature.definition) for feature in battery.features}
    assert {q.measure: (q.title, q.definition) for q in form.questions} == texts
    table_5 = {f: c.id for c in battery.groupings[0].categories for f in c.features}
    assert {q.measure: q.group for q in form.questions} == table_5
    by_key = {question.key: question.measure for question in form.questions}
    assert (by_key["e"], by_key["m"], by_key["n"]) == (
        "empty-speech",
        "perseverations",
        "paragrammatism",
    )


def test_aprocsa_27_has_the_features_of_tab_with_the_same_measures_and_eight_more() -> None:
    measures = shipped("aprocsa-27").measures
    assert len(set(measures)) == 27
    assert set(measures) - set(shipped("tab-19").measures) == {
        "pauses-between-utterances",
        "pauses-within-utterances",
        "halting-and-effortful",
        "reduced-speech-rate",
        "expressive-aphasia",
        "apraxia-of-speech",
        "dysarthria",
        "target-unclear",
    }


@pytest.mark.parametrize("name", ["tab-19", "aprocsa-27", "naming", "transcription"])
def test_a_form_is_the_same_after_its_canonical_json(name: str) -> None:
    form = shipped(name)
    assert form_from_canonical(form.canonical) == form


def test_unmarked_features_of_tab_19_are_absent_and_cannot_tell_is_undefined() -> None:
    form = shipped("tab-19")
    answers = completed(form, {"jargon": 1.0, "anomia": CANNOT_TELL})
    assert missing(form, {}) == ()
    ratings = {rating.measure: rating for rating in ratings_of(form, "R2", answers)}
    assert ratings.pop("jargon") == valued("R2", "jargon", 1.0)
    assert ratings.pop("anomia") == undefined("R2", "anomia", "cannot tell")
    assert {rating.value for rating in ratings.values()} == {0.0}
    assert len(ratings) == 17


def test_a_scale_counts_from_its_cut_on_and_its_reason_keeps_the_raw_value() -> None:
    form = shipped("aprocsa-27")
    first = ratings_of(form, "R1", {"anomia": 0.0, "jargon": 3.0})
    values = {rating.measure: (rating.value, rating.reason) for rating in first}
    assert values == {
        "anomia": (0.0, "0 of 0 to 4, present from 1"),
        "jargon": (1.0, "3 of 0 to 4, present from 1"),
    }
    assert len(missing(form, {"anomia": 0.0})) == 26


def test_a_naming_response_has_the_code_of_its_first_complete_attempt() -> None:
    answers = {"correct": "self-corrected", "heard#1": "ca-", "heard#2": "cat",
               "code#1": "fragment", "code#2": "correct"}  # fmt: skip
    form = shipped("naming")
    check_answers(form, answers)
    assert ratings_of(form, "R2", answers) == (
        valued("R2", "correct", 1.0, "self-corrected"),
        valued("R2", "code:correct", 1.0),
    )
    unscorable = ratings_of(form, "R2", {"correct": "not-scorable"})
    assert unscorable == (undefined("R2", "correct", "not-scorable"),)


@pytest.mark.parametrize(
    ("name", "answers", "words"),
    [
        (
            "tab-19",
            {"jargon": 2.0},
            "'jargon' cannot be 2.*allowed: present, absent, 1, 0, cannot-tell",
        ),
        ("tab-19", {"jargn": 1.0}, "has no question 'jargn'"),
        ("tab-19", {"jargon#2": 1.0}, "no answer 'jargon#2'\nallowed: jargon"),
        ("aprocsa-27", {"jargon": 2.5}, "cannot be 2.5"),
        ("naming", {"code#1": "dog"}, "allowed: correct, semantic"),
        ("transcription", {"phonemes#1": "D QQ"}, "'QQ' is not a phoneme"),
        ("transcription", {"phonemes#1": 1.0}, "allowed: ARPAbet"),
    ],
)
def test_an_answer_that_the_form_does_not_allow_is_refused(
    name: str, answers: dict[str, str | float | None], words: str
) -> None:
    with pytest.raises(TabwbError, match=re.compile(words, re.DOTALL)):
        check_answers(shipped(name), answers)


def test_the_question_about_the_source_comes_last_and_counts_nowhere() -> None:
    form = with_source_question(shipped("tab-19"))
    assert form.measures[-1] == "source"
    check_answers(form, {"source": "machine"})
    assert ratings_of(form, "R1", {"source": "machine"}) == ()


@pytest.mark.parametrize(
    ("rest", "line", "words"),
    [
        ("", 1, "question: this key is missing"),
        ('[[question]]\nmeasure = "a"\ntitle = "A"\nkey = "z"\n', 9, r"taken \(back\)"),
        ('[[question]]\nmeasure = "a"\ntitle = "A"\nkey = "2"\n', 9, "cannot be a key here"),
        ('[[question]]\nmeasure = "a"\ntitle = "A"\nkind = "scale"\n', 9, r"no \[scale\]"),
        ('[[question]]\nfeature = "anomia"\n', 7, "the form names no battery"),
        ('[[question]]\nmeasure = "a"\ntitle = "A"\nkind = "choise"\n', 9, "did you mean 'choice'"),
        ('[[question]]\nmeasure = "a"\ntitle = "A"\nkind = "choice"\n', 6, "options_of"),
        ('[scale]\nhigh = 4\ncut = 9\n[[question]]\nmeasure = "a"\ntitle = "A"\nkind = "scale"\n',
         8, "allowed: 1 to 4"),
        ('[[question]]\nmeasure = "a"\ntitle = "A"\ngroup = "g"\n', 9, "no such group"),
        ('[[question]]\nmeasure = "a"\n', 6, "title: this key is missing"),
        ('[[question]]\nmeasure = "source"\ntitle = "A"\n', 7, "person or machine"),
    ],
)  # fmt: skip
def test_a_broken_form_is_refused_with_the_line(
    read: Read, rest: str, line: int, words: str
) -> None:
    form, problems = read(HEAD + rest)
    assert form is None
    assert any(re.match(rf"{line}: .*{words}", problem) for problem in problems), problems


def test_an_unknown_feature_names_a_similar_one(read: Read) -> None:
    _, problems = read(f'{HEAD}battery = "tab"\n[[question]]\nfeature = "jargn"\n')
    assert "did you mean 'jargon'?" in problems[0]
    assert problems[0].startswith("8: question[1].feature: battery 'tab' has no such feature")


def test_every_problem_is_reported_at_once(read: Read) -> None:
    twice = '[[question]]\nmeasure = "a"\ntitle = "A"\nkey = "b"\n' * 2
    assert [problem.partition(":")[0] for problem in read(HEAD + twice)[1]] == [
        "7",
        "9",
        "11",
        "13",
    ]


def test_the_form_in_the_manual_can_be_used(read: Read) -> None:
    page = (Path(__file__).parents[2] / "docs" / "rating.md").read_text(encoding="utf-8")
    form, problems = read(page.partition("```toml\n")[2].partition("```")[0])
    assert form is not None, problems
    assert [question.kind for question in form.questions] == ["present-absent", "scale", "choice"]
