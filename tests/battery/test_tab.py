"""TAB is the published instrument, word for word, and says what is not the paper's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tabwb.battery.loader import battery_from_canonical, check_battery, load_battery
from tabwb.battery.model import Battery
from tabwb.battery.new import COLUMNS
from tabwb.battery.prompts import opening_messages, render_prompt
from tabwb.battery.task_type import task_types
from tabwb.tasks.spoken_naming.new import PICTURE_COLUMNS

FOLDER = Path(__file__).parents[2] / "batteries" / "tab"
PAPER = Path(__file__).parents[1] / "data" / "tab-2026-instrument.txt"


@pytest.fixture(scope="module")
def tab() -> Battery:
    return load_battery(FOLDER / "battery.toml")


@pytest.fixture(scope="module")
def paper() -> str:
    return straight(PAPER.read_text(encoding="utf-8"))


def straight(text: str) -> str:
    for curly, plain in (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("*", "")):
        text = text.replace(curly, plain)
    return re.sub(r" +", " ", text)


def test_the_twenty_items_stand_in_the_paper_in_this_order(tab: Battery, paper: str) -> None:
    at = paper.index("B.1 Subtest 1")
    for subtest in tab.subtests:
        for item in subtest.items:
            options = f" ({', '.join(item.options)})" if item.options else ""
            printed = f'"{item.prompt}{options}"'
            if subtest.id == "sentence-comprehension":
                printed += f" (Expected: {item.expected})"
            at = paper.index(printed, at) + len(printed)
    assert tab.n_items == 20


def test_repetition_targets_are_the_prompt_after_the_colon(tab: Battery) -> None:
    for item in tab.subtest("repetition").items:
        assert item.prompt == f"Please repeat exactly: {item.expected}"


def test_every_word_comprehension_key_is_the_first_option(tab: Battery) -> None:
    assert all(item.expected == item.options[0] for item in tab.subtests[1].items)


def test_texts_marked_with_a_section_stand_in_that_section(tab: Battery, paper: str) -> None:
    sections = re.split(r"#### (?=B\.\d)", paper)
    marked = 0
    for subtest in tab.subtests:
        for text in (subtest.administrator, subtest.instructions):
            if text is not None and text.source != "ours":
                (section,) = [one for one in sections if one.startswith(f"{text.source} ")]
                assert straight(text.text) in section
                marked += 1
    assert marked == 4


def test_items_and_expected_answers_stand_in_the_sections_they_name(
    tab: Battery, paper: str
) -> None:
    sections = re.split(r"#### (?=B\.\d)", paper)
    for subtest in tab.subtests:
        (section,) = [one for one in sections if one.startswith(f"{subtest.source} ")]
        for item in subtest.items:
            assert item.prompt in section
    sources = [subtest.expected_source for subtest in tab.subtests]
    assert sources == ["", "ours", "B.3", "ours"]
    assert paper.count("(Expected: ") == 5
    assert (tab.definition_source, tab.judge_source) == ("table 4", "D.2")


def test_only_the_first_instructions_are_the_papers(tab: Battery) -> None:
    sources = [subtest.instructions.source for subtest in tab.subtests if subtest.instructions]
    assert sources == ["B.1", "ours", "ours", "ours"]
    assert tab.system is not None
    assert tab.system.source == "ours"


def test_the_nineteen_features_are_verbatim(tab: Battery, paper: str) -> None:
    table_4 = dict(
        line.split("\t", 1)
        for line in paper[paper.index("Feature\tDefinition") :].splitlines()[1:20]
    )
    judged = paper[paper.index("D.2 Feature Definitions") : paper.index("D.3 Evaluation")]
    assert len(tab.features) == 19
    for feature in tab.features:
        assert straight(feature.definition) == table_4[straight(feature.key)]
        assert f'"{feature.key}": ' in paper
        if feature.judge_definition is not None:
            shown = f"{feature.key}: {straight(feature.judge_definition)}\n\nExample: "
            assert shown + straight(feature.judge_example or "") in judged
    without = [feature.id for feature in tab.features if feature.judge_definition is None]
    assert without == ["overall-communication-impairment"]


def test_the_grouping_is_table_5(tab: Battery, paper: str) -> None:
    (grouping,) = tab.groupings
    titles = {feature.id: straight(feature.title) for feature in tab.features}
    for category in grouping.categories:
        row = f"{category.title}\t{', '.join(titles[feature] for feature in category.features)}"
        assert row in paper
    assert [len(category.features) for category in grouping.categories] == [4, 2, 3, 4, 2, 3, 1]


def test_what_is_sent(tab: Battery) -> None:
    words = tab.subtest("word-comprehension")
    assert render_prompt(words, words.item("wc1")) == (
        "Answer with exactly one of the listed words and nothing else.\n"
        "Which one is an animal with a mane? (lion, drum, violin, giraffe, boot, boat)"
    )
    telling = tab.subtest("connected-text")
    assert render_prompt(telling, telling.item("ct3")) == (
        "Respond to the following prompt in 3–5 full sentences:\nTell me about your first job."
    )
    assert [message.role for message in opening_messages(tab)] == ["system"]
    sent = "\n".join(
        render_prompt(subtest, item) for subtest in tab.subtests for item in subtest.items
    )
    assert "Elicit" not in sent
    assert "’" not in sent


def test_it_is_for_models_and_says_what_it_is_not(tab: Battery, paper: str) -> None:
    assert tab.examinees == ("model",)
    assert tab.disclaimer in " ".join(paper.split())
    assert tab.license == "MIT"


def test_it_can_be_read_back_from_the_store(tab: Battery) -> None:
    assert battery_from_canonical(tab.canonical) == tab


PAGE = (Path(__file__).parents[2] / "docs" / "batteries.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def example(title: str = "A small one, whole") -> str:
    (block,) = re.findall(r"```toml\n(.*?)```", section(title), re.DOTALL)
    return str(block)


def test_the_example_is_a_battery(tmp_path: Path) -> None:
    path = tmp_path / "battery.toml"
    path.write_text(example(), encoding="utf-8")
    assert check_battery(path, scorers=["choice"]) == ()


def test_the_example_of_naming_is_one_too(tmp_path: Path) -> None:
    head, _, _ = example().partition("[[subtest]]")
    path = tmp_path / "battery.toml"
    path.write_text(f'{head}examinees = ["speaker"]\n{example("Naming items")}', encoding="utf-8")
    (tmp_path / "dog.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert check_battery(path, scorers=[]) == ()


def test_the_messages_are_those_of_the_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("colours/battery.toml")
    path.parent.mkdir()
    text = example().replace("title", "titel", 1).replace('ed = "bird"', 'ed = "brid"')
    path.write_text(text, encoding="utf-8")
    said = [str(problem) for problem in check_battery(path)]
    shown = re.findall(r"^colours/.*$", PAGE, re.MULTILINE)
    for one, line in zip(said, shown, strict=True):
        beginning, _, end = line.partition(" ...; ")
        assert one.startswith(beginning)
        assert one.endswith(end)


def test_every_kind_of_response_and_every_column_is_there() -> None:
    kinds = re.findall(r"^\| `([a-z-]+)` \|", section("Kinds of response"), re.MULTILINE)
    assert set(kinds) - {"response"} == {task.id for task in task_types()}
    columns = re.findall(r"^\| `([a-z-]+)` \|", section("Items from a spreadsheet"), re.MULTILINE)
    assert set(columns) == set(COLUMNS)
    rows = re.findall(r"^\| (`.*?) \|", section("Pictures from a spreadsheet"), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(PICTURE_COLUMNS)
