"""New batteries: what is written is a battery; what cannot be is said with its line."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.battery.form_files import read_form
from tabwb.battery.forms import (
    Form,
    check_answers,
    completed,
    form_from_canonical,
    missing,
    ratings_of,
    with_source_question,
)
from tabwb.battery.loader import check_battery, load_battery
from tabwb.battery.new import copy_battery, new_battery
from tabwb.battery.problems import BatteryProblems
from tabwb.host.settings import bundled_folder
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.rating_sets import CANNOT_TELL
from tabwb.records.ratings import undefined, valued
from tabwb.scoring.text import normalised
from tabwb.tasks.spoken_naming.new import new_naming_battery
from tests.builders import BATTERIES

ITEMS = """\
subtest,prompt,options,expected,tags
words,Which one barks?,dog|tree|cup,dog,animal|easy
words,"Which one, if any, swims?",fish|wall,fish,
yes,Do fish swim?,,Yes,
telling,Tell me about your day.,,,
"""


def test_the_example_is_a_battery_with_every_kind_but_free(tmp_path: Path) -> None:
    path = new_battery(tmp_path / "mine", "mine")
    assert check_battery(path, scorers=["choice", "yes-no", "repetition", "lexical"]) == ()
    battery = load_battery(path)
    kinds = [subtest.response for subtest in battery.subtests]
    assert kinds == ["choice", "yes-no", "verbatim", "connected-text", "description"]
    assert battery.n_items == 5
    assert battery.subtests[0].items[0].practice


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_becomes_a_battery_with_the_kinds_that_fit(tmp_path: Path, separator: str) -> None:
    items = tmp_path / "items.csv"
    table = io.StringIO()
    rows = csv.reader(io.StringIO(ITEMS))
    csv.writer(table, delimiter=separator, lineterminator="\r\n").writerows(rows)
    items.write_text(table.getvalue(), encoding="utf-8-sig", newline="")
    path = new_battery(tmp_path / "mine", "mine", items)
    assert check_battery(path, scorers=["choice", "yes-no", "lexical"]) == ()
    battery = load_battery(path)
    assert [subtest.response for subtest in battery.subtests] == [
        "choice",
        "yes-no",
        "connected-text",
    ]
    first = battery.subtests[0].items[0]
    assert first.options == ("dog", "tree", "cup")
    assert first.tags == ("animal", "easy")
    assert battery.subtests[0].items[1].prompt == "Which one, if any, swims?"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("promt\nx\n", 1, "did you mean 'prompt'?"),
        ("expected\nx\n", 1, "no column 'prompt'"),
        ("prompt,tags,tags\nx,y,z\n", 1, "is given twice"),
        ("prompt,expected\n", 2, "no items"),
        ("prompt\n\n  \n", 4, "no items"),
        ("", 1, "empty"),
        ("prompt\nx\0\n", 2, "NUL"),
        ("prompt,response\nx,chioce\n", 2, "did you mean 'choice'?"),
        ("prompt,subtest\nx,My Words\n", 2, "subtest: this is not a valid id"),
        ("prompt\nx,y\n", 2, "more cells"),
        ("prompt,expected\n,y\n", 2, "prompt: this is empty"),
        ("prompt,id\nx,a\ny,a\n", 3, "id: this item id is given twice"),
        ("prompt,id\nx,A b\n", 2, "id: this is not a valid id"),
        ("prompt,expected\n\nsay y,y\n\nz,\n", 5, "expected: this key is missing"),
        ('prompt,expected\n"one\ntwo",\nsay y,y\n', 2, "expected: this key is missing"),
        (
            "prompt,options,expected\nx,a|b,c\n",
            2,
            "expected: the expected answer is not one of the options",
        ),
        ("prompt,options,expected\nx,a,a\n", 2, "options: a choice needs options"),
        ("prompt,response\nx,free\ny,verbatim\n", 3, "has response 'free' in line 2"),
        ('prompt\n"open\n', 2, "not valid CSV"),
        ("prompt\nx\x1b[2J\n", 2, "control character U+001B"),
    ],
)
def test_what_is_wrong_with_a_csv_is_said_with_its_line(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    items = tmp_path / "items.csv"
    items.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(BatteryProblems) as caught:
        new_battery(tmp_path / "mine", "mine", items)
    assert any(problem.line == line and said in str(problem) for problem in caught.value.problems)
    assert not (tmp_path / "mine").exists()


def test_a_csv_that_is_no_utf8_is_said_with_its_line(tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_bytes(b"prompt\nx\ncaf\xe9\n")
    with pytest.raises(BatteryProblems, match=r"items\.csv:3: this is not valid UTF-8"):
        new_battery(tmp_path / "mine", "mine", items)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    new_battery(tmp_path / "mine", "mine")
    with pytest.raises(UsageError, match="exists already"):
        new_battery(tmp_path / "mine", "mine")
    with pytest.raises(UsageError, match="not a valid id"):
        new_battery(tmp_path / "My Battery", "My Battery")


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(TabwbError, match="cannot be written"):
        new_battery(tmp_path / "file" / "mine", "mine")


texts = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="|"), min_size=1)
    .map(str.strip)
    .filter(normalised)
)


@given(prompt=texts, options=st.lists(texts, min_size=2, unique_by=normalised))
def test_any_text_survives_the_way_into_toml(prompt: str, options: list[str]) -> None:
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["prompt", "options", "expected"])
    writer.writerow([prompt, "|".join(options), options[0]])
    with tempfile.TemporaryDirectory() as folder:
        items = Path(folder) / "items.csv"
        items.write_text(table.getvalue(), encoding="utf-8", newline="")
        (subtest,) = load_battery(new_battery(Path(folder) / "mine", "mine", items)).subtests
    assert subtest.items[0].prompt == prompt
    assert subtest.items[0].options == tuple(options)


def test_a_battery_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from tabwb.battery.new import new_battery\n"
        "from tabwb.records.errors import TabwbError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "try:\n"
        "    new_battery(Path(sys.argv[1]) / 'mine', 'mine')\n"
        "except TabwbError as error:\n"
        "    sys.exit(str(error))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert "cannot be written: File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("rows", "kind", "expected"),
    [
        ("Do fish swim?,yes\nDo dogs fly?,NO\n", "yes-no", ["Yes", "No"]),
        ("Please repeat: house.,house.\nPlease repeat: go.,go.\n", "verbatim", ["house.", "go."]),
        ("What is the capital of France?,Paris\n", "free", ["Paris"]),
    ],
)
def test_the_kind_of_response_follows_from_what_is_expected(
    tmp_path: Path, rows: str, kind: str, expected: list[str]
) -> None:
    items = tmp_path / "items.csv"
    items.write_text(f"prompt,expected\n{rows}", encoding="utf-8")
    (subtest,) = load_battery(new_battery(tmp_path / "mine", "mine", items)).subtests
    assert subtest.response == kind
    assert [item.expected for item in subtest.items] == expected


@pytest.mark.parametrize("from_csv", [False, True])
def test_features_are_copied_unchanged(tmp_path: Path, from_csv: bool) -> None:
    tab = load_battery(BATTERIES / "tab" / "battery.toml")
    items = tmp_path / "items.csv"
    items.write_text("prompt\nTell me about your day.\n", encoding="utf-8")
    path = new_battery(tmp_path / "mine", "mine", items if from_csv else None, tab)
    made = load_battery(path)
    assert made.features == tab.features
    assert made.groupings == tab.groupings
    assert "tab 2026.1, MIT" in path.read_text(encoding="utf-8")


def test_a_battery_without_features_has_none_to_copy(tmp_path: Path) -> None:
    none = load_battery(new_battery(tmp_path / "one", "one"))
    with pytest.raises(UsageError, match="has no features"):
        new_battery(tmp_path / "two", "two", features_of=none)
    assert not (tmp_path / "two").exists()


def test_a_copy_differs_in_its_id_only(tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "batteries" / "naming-demo" / "battery.toml"
    original = load_battery(source)
    copied = load_battery(copy_battery(tmp_path / "mine", "mine", source, original))
    assert copied.id == "mine"
    assert (copied.subtests, copied.assets) == (original.subtests, original.assets)
    changed = source.read_text(encoding="utf-8").replace('"naming-demo"', '"mine"', 1)
    assert (tmp_path / "mine" / "battery.toml").read_text(encoding="utf-8") == changed


def test_a_copy_has_files_whose_names_are_stored_decomposed(tmp_path: Path) -> None:
    source = new_naming_battery(tmp_path / "first", "first")
    source.with_name("ball.png").rename(source.with_name("ba\u0308ll.png"))
    source.write_text(source.read_text(encoding="utf-8").replace("ball.png", "bäll.png"), "utf-8")
    original = load_battery(source)
    copied = load_battery(copy_battery(tmp_path / "mine", "mine", source, original))
    assert copied.assets == original.assets


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
        "pauses-between-utterances", "pauses-within-utterances", "halting-and-effortful",
        "reduced-speech-rate", "expressive-aphasia", "apraxia-of-speech", "dysarthria",
        "target-unclear",
    }  # fmt: skip


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
        "7", "9", "11", "13",
    ]  # fmt: skip


def test_the_form_in_the_manual_can_be_used(read: Read) -> None:
    page = (Path(__file__).parents[2] / "docs" / "rating.md").read_text(encoding="utf-8")
    form, problems = read(page.partition("```toml\n")[2].partition("```")[0])
    assert form is not None, problems
    assert [question.kind for question in form.questions] == ["present-absent", "scale", "choice"]
