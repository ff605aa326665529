"""``tabwb results --format``: tables for documents on standard output."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tabwb.records.words import RESEARCH_ONLY
from tests.cli.conftest import Run, replayed


@pytest.fixture
def two(run: Run, tmp_path: Path) -> None:
    """Two administrations of made-up models."""
    for name in "ab":
        spec = replayed(tmp_path / f"{name}.jsonl")
        assert run("run", "tab", "--model", spec).status == 0


@pytest.mark.usefixtures("two")
def test_groups_are_printed_as_markdown_latex_csv_and_json(run: Run, tmp_path: Path) -> None:
    shown = run("results", "--by", "model", "--format", "markdown")
    assert shown.status == 0, shown.err
    assert "| Model" in shown.out
    assert "a.jsonl" in shown.out
    assert str(tmp_path) not in shown.out  # a folder can have a person's name
    assert RESEARCH_ONLY in shown.out
    latex = run("results", "--by", "model", "--format", "latex").out
    assert latex.count("\\begin{tabular}") == 1
    rows = list(csv.DictReader(io.StringIO(run("results", 1, 2, "--format", "csv").out)))
    assert {row["measure"] for row in rows} >= {"accuracy", "burden", "rate", "words_mean"}
    assert rows[0]["by"] == "administration"
    by_format = run("results", "--by", "model", "--format", "json").document
    assert by_format == run("results", "--by", "model", "--json").document


@pytest.mark.usefixtures("two")
def test_columns_are_chosen_in_order(run: Run) -> None:
    table = run("results", 1, "--format", "markdown", "--columns", "burden,n").out
    assert table.splitlines()[2].split("|")[1].strip() == "Burden [95 %]"
    listed = run("results", "--format", "csv", "--columns", "id,answered").out
    assert listed == "id,answered\n1,20\n2,20\n"


def test_an_empty_store_gives_tables_without_rows(run: Run) -> None:
    assert run("results", "--format", "csv").out.startswith("id,uid,battery")
    assert run("results", "--by", "model", "--format", "csv").out.startswith("group,by,")
    assert run("results", "--by", "model", "--format", "markdown").status == 0


def test_options_that_contradict_each_other_are_refused(run: Run) -> None:
    for arguments, message in (
        (("--json", "--format", "csv"), "--json and --format csv exclude each other"),
        (("--columns", "n"), "--columns does not apply to the format table"),
        (("--format", "csv", "--details"), "--details and --format csv exclude each other"),
    ):
        outcome = run("results", *arguments)
        assert outcome.status == 2
        assert message in outcome.err
