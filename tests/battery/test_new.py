"""New batteries: what is written is a battery; what cannot be is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.battery.loader import check_battery, load_battery
from tabwb.battery.new import Row, new_battery, render
from tabwb.battery.problems import BatteryProblems
from tabwb.records.errors import UsageError
from tabwb.scoring.text import normalised

ITEMS = """\
subtest,prompt,options,expected,tags
words,Which one barks?,dog|tree|cup,dog,animal|easy
words,"Which one, if any, swims?",fish|wall,fish,
yes,Do fish swim?,,Yes,
telling,Tell me about your day.,,,
"""


def test_the_example_is_a_battery(tmp_path: Path) -> None:
    path = new_battery(tmp_path / "mine", "mine")
    assert check_battery(path, scorers=["choice", "yes-no", "repetition", "lexical"]) == ()
    assert load_battery(path).n_items == 3


def test_a_csv_becomes_a_battery_with_the_kinds_that_fit(tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text(ITEMS, encoding="utf-8-sig")
    battery = load_battery(new_battery(tmp_path / "mine", "mine", items))
    assert [subtest.response.value for subtest in battery.subtests] == [
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
        ("promt\nx\n", 1, "promt"),
        ("prompt,expected\n", 2, "no items"),
        ("prompt\n\n", 2, "no items"),
        ("prompt,tags\n\n ,x\n", 3, "prompt: this is empty"),
        ("prompt,response\nx,chioce\n", 2, "chioce"),
        ("prompt,subtest\nx,My Words\n", 2, "no id"),
        ("prompt\nx,y\n", 2, "more cells"),
        ("subtest,prompt,expected\na,x,y\na,z,\n", 3, "has response 'verbatim' above"),
        ('prompt\n"open\n', 0, "no CSV"),
    ],
)
def test_what_is_wrong_with_a_csv_is_said_with_its_line(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    items = tmp_path / "items.csv"
    items.write_text(text, encoding="utf-8")
    with pytest.raises(BatteryProblems) as caught:
        new_battery(tmp_path / "mine", "mine", items)
    problem = caught.value.problems[0]
    assert problem.line == line
    assert said in str(problem)
    assert not (tmp_path / "mine").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    new_battery(tmp_path / "mine", "mine")
    with pytest.raises(UsageError, match="is there already"):
        new_battery(tmp_path / "mine", "mine")
    with pytest.raises(UsageError, match="no id"):
        new_battery(tmp_path / "My Battery", "My Battery")


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)


@given(prompt=texts, options=st.lists(texts, min_size=2, unique_by=normalised))
def test_any_text_survives_the_way_into_toml(prompt: str, options: list[str]) -> None:
    import tempfile

    trimmed = [option.strip() for option in options]
    item = {"id": "i1", "prompt": prompt, "options": trimmed, "expected": trimmed[0]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battery.toml"
        path.write_text(render("mine", [Row("words", "choice", item)]), encoding="utf-8")
        (subtest,) = load_battery(path).subtests
    assert subtest.items[0].prompt == prompt
    assert subtest.items[0].options == tuple(trimmed)
