"""``docs/batteries.md`` shows what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from tabwb.battery.loader import check_battery
from tabwb.battery.new import COLUMNS
from tabwb.battery.toml_schema import Kind
from tabwb.tasks.spoken_naming.new import PICTURE_COLUMNS

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
    assert set(kinds) - {"response"} == set(get_args(Kind))
    columns = re.findall(r"^\| `([a-z-]+)` \|", section("Items from a spreadsheet"), re.MULTILINE)
    assert set(columns) == set(COLUMNS)
    rows = re.findall(r"^\| (`.*?) \|", section("Pictures from a spreadsheet"), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(PICTURE_COLUMNS)
