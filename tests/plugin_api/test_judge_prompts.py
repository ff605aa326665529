"""Judge prompts are data in files: checked whole, every problem with its line; names are ids."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tabwb.host.judge_prompt_files import PromptProblems, load_prompt, read_prompt
from tabwb.host.judge_prompts import JudgePrompt, bundled_folder, prompt_files
from tabwb.host.plugins import Plugins
from tabwb.records.errors import UsageError

GOOD = """\
[judge]
id = "mine"
title = "My judge"
version = "1"
license = "CC0-1.0"
caution = "not compared with expert raters"

[prompt]
system = "Judge."
user = "{definitions}\\n{examples}\\n{recap}\\n{transcript}"
recap = "Answer in JSON."
repair = "Again: {problem}"

[[feature]]
id = "anomia"
key = "Anomia"
definition = "Word-finding difficulties."
example = "a thing"

[[feature]]
id = "jargon"
key = "Jargon"

[[example]]
transcript = "the thing"
present = ["anomia"]
"""
VARIANT = """\
[judge]
id = "mine+short"
base = "mine"
title = "My judge, shorter"
version = "1"

[prompt]
user = "{transcript}{definitions}{examples}{recap}"

[[feature]]
id = "jargon"
definition = "Unintelligible strings."
"""
Write = Callable[..., Path]


@pytest.fixture
def write() -> Write:
    """Write a prompt's file into the user's folder."""

    def call(text: str = GOOD, name: str = "mine") -> Path:
        folder = Path(os.environ["TABWB_CONFIG_DIR"]) / "judges"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return call


def only(path: Path) -> str:
    """The one problem of a file, after the file's name."""
    prompt, problems = read_prompt(path)
    assert prompt is None
    (problem,) = problems
    return str(problem).removeprefix(f"{path}:")


def test_a_file_is_a_prompt_and_a_judge_by_its_name(write: Write) -> None:
    prompt = load_prompt(write())
    assert prompt.messages("house", "x")[1].content == (
        "Anomia: Word-finding difficulties.\nExample: a thing\n"
        'the thing\n\n{\n  "Anomia": 1,\n  "Jargon": 0\n}\n'
        "Answer in JSON.\nhouse"
    )
    plugins = Plugins.load()
    judge = plugins.judge("mine:echo")
    assert (judge.rater, judge.features) == ("mine:echo", ("anomia", "jargon"))
    assert plugins.problems == ()


def test_a_prompt_that_comes_with_tabwb_is_sound_and_not_replaced(write: Write) -> None:
    prompts = sorted(bundled_folder().glob("*.toml"))
    assert {path.stem for path in prompts} == {"tab-2026", "tab-2026+overall", "tab-2026+prompt"}
    assert [read_prompt(path)[1] for path in prompts] == [()] * 3
    path = write(GOOD.replace('"mine"', '"tab-2026"'), "tab-2026")
    assert prompt_files()[0]["tab-2026"] == bundled_folder() / "tab-2026.toml"
    plugins = Plugins.load()
    assert len(plugins.judge("tab-2026:echo").features) == 19
    (problem,) = plugins.problems
    assert str(path) in problem.error and "choose another name" in problem.error


@pytest.mark.parametrize("name", ["My judge", "mine+likelihood", "mine+likelihood+null"])
def test_a_file_whose_name_is_no_id_is_told(write: Write, name: str) -> None:
    write(GOOD, name)
    plugins = Plugins.load()
    assert name in plugins.problems[0].error
    with pytest.raises(UsageError, match="no judge"):
        plugins.judge("mine:echo")


def test_likelihood_is_the_published_prompt_stored_by_name() -> None:
    plugins = Plugins.load()
    assert str(plugins.resolve("judges", "likelihood:bundled")[1]) == "tab-2026+likelihood:bundled"
    assert (
        str(plugins.resolve("judges", "likelihood+null:bundled")[1])
        == "tab-2026+likelihood+null:bundled"
    )


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            'title = "My',
            'titel = "My',
            "3: judge.titel: there is no such key; allowed: id, title, version, license, caution, "
            "citation, sources, known_gaps, base; did you mean 'title'?",
        ),
        ('license = "CC0-1.0"\n', "", "1: judge.license: this key is missing"),
        (
            'version = "1"',
            "version = 1",
            "4: judge.version: this has the wrong type (integer); found 1; allowed: string",
        ),
        (
            'id = "mine"',
            'id = "yours"',
            "2: judge.id: the file is called 'mine.toml'; found 'yours'; allowed: the file's name "
            "without '.toml'",
        ),
        (
            "{transcript}",
            "{trancript}",
            "10: prompt.user: nothing can be filled in for {trancript} here; allowed: "
            "{definitions}, {examples}, {recap}, {transcript}, {prompt}; "
            "did you mean '{transcript}'?|{transcript} is missing; allowed: {transcript} once",
        ),
        (
            "{transcript}",
            "{transcript} {transcript}",
            "10: prompt.user: {transcript} occurs 2 times; allowed: {transcript} once",
        ),
        (
            "Again: {problem}",
            "Again",
            "12: prompt.repair: {problem} is missing; allowed: {problem} once",
        ),
        (
            "{recap}\\n",
            "",
            "11: prompt.recap: no part of the prompt shows this; allowed: {recap} in prompt.system "
            "or prompt.user",
        ),
        (
            'present = ["anomia"]',
            'present = ["anomie"]',
            "26: example[1].present[1]: there is no such feature; found 'anomie'; allowed: anomia, "
            "jargon; did you mean 'anomia'?",
        ),
        (
            'key = "Jargon"',
            'key = "Anomia"',
            "22: feature[2].key: this JSON key is given twice (first in number 1); found 'Anomia'; "
            "allowed: a different key",
        ),
        (
            'id = "jargon"',
            'id = "anomia"',
            "21: feature[2].id: this feature id is given twice (first in number 1); "
            "found 'anomia'; allowed: a different id",
        ),
        (
            'definition = "Word-finding difficulties."\n',
            "",
            "17: feature[1].example: an example is shown only after a definition",
        ),
        (
            "[[feature]]\nid = \"anomia\"",
            "[decoding]\ntemperature = 3\n\n[[feature]]\nid = \"anomia\"",
            "15: decoding.temperature: this is out of range; found 3; allowed: at most 2",
        ),
        ("[prompt]", "[prompt", "8: expected ']' at the end of a table declaration"),
        (
            'title = "My judge"',
            'title = "My \\u001B judge"',
            "3: judge.title: the control character U+001B is not allowed",
        ),
    ],
)  # fmt: skip
def test_a_problem_names_line_key_value_and_what_is_allowed(
    write: Write, old: str, new: str, problem: str
) -> None:
    path = write(GOOD.replace(old, new, 1))
    prompt, problems = read_prompt(path)
    assert prompt is None
    said = [str(one).removeprefix(f"{path}:") for one in problems]
    for wanted in problem.split("|"):
        assert any(wanted in one for one in said), said
    assert len(said) == len(problem.split("|"))


def test_a_prompt_with_problems_is_no_judge_and_all_are_told(write: Write, tmp_path: Path) -> None:
    text = GOOD.replace("Again: {problem}", "Again").replace('["anomia"]', '["x", "y"]')
    path = write(text)
    _, problems = read_prompt(path)
    assert [problem.line for problem in problems] == [12, 26, 26]
    with pytest.raises(PromptProblems, match=re.escape(f"{path}:12: prompt.repair")):
        Plugins.load().judge("mine:echo")
    assert "there is no such file" in str(read_prompt(tmp_path / "none.toml")[1][0])


def variant(write: Write, text: str = VARIANT) -> Path:
    write()
    return write(text, "mine+short")


def test_a_variant_says_only_what_differs_and_may_add_a_feature(write: Write) -> None:
    path = variant(write)
    made, base = load_prompt(path), load_prompt(write())
    assert made.messages("house", "")[1].content.startswith("houseAnomia: Word-finding")
    assert "Jargon: Unintelligible strings." in made.messages("house", "")[1].content
    assert made.templates.repair == base.templates.repair
    assert made.feature_ids == base.feature_ids
    assert made.examples == base.examples
    broken = write(GOOD.replace("Again: {problem}", "Again"))
    _, (problem,) = read_prompt(path)
    assert str(problem).startswith(f"{broken}:12: prompt.repair"), "a base with problems is named"
    made = load_prompt(variant(write, VARIANT + '\n[[feature]]\nid = "x"\nkey = "X"\n'))
    assert made.feature_ids == ("anomia", "jargon", "x")
    assert json.loads(made.labels(("x",))) == {"Anomia": 0, "Jargon": 0, "X": 1}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("definition =", "definitoin =", "12: feature[1].definitoin: there is no such key"),
        ("{transcript}", "", "8: prompt.user: {transcript} is missing"),
        ('version = "1"\n', "", "1: judge.version: this key is missing"),
        ('base = "mine"', 'base = "mime"', "3: judge.base: there is no such prompt; found 'mime'"),
        (
            'base = "mine"',
            'base = "tab-2026+prompt"',
            "3: judge.base: a base cannot have a base, and this one has one",
        ),
        ("{recap}", "", "7: prompt.recap: no part of the prompt shows this"),
    ],
)
def test_a_variant_s_problem_stands_in_the_variant(
    write: Write, old: str, new: str, problem: str
) -> None:
    assert only(variant(write, VARIANT.replace(old, new, 1))).startswith(problem)


def test_a_variant_of_what_comes_with_tabwb_may_lie_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "terse.toml"
    text = '[judge]\nid = "terse"\nbase = "tab-2026"\ntitle = "Terse"\nversion = "1"\n'
    path.write_text(text + "[decoding]\nmax_tokens = 300\n", encoding="utf-8")
    made: JudgePrompt = load_prompt(path)
    assert made.max_tokens == 300
    assert len(made.features) == 19


def test_the_examples_of_the_docs_page_are_prompts(write: Write) -> None:
    page = Path(__file__).parents[2] / "docs" / "models-and-judges.md"
    section = page.read_text(encoding="utf-8").partition("\n## Judges\n")[2].partition("\n## ")[0]
    own, changed = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    assert load_prompt(write(own)).feature_ids == ("anomia", "jargon")
    made = load_prompt(write(changed, "mine+prompt"))
    assert "Asked: “Why?”" in made.messages("Because.", "Why?")[1].content
