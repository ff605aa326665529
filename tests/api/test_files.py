"""Tables, figures and reports in files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet
import pytest

import tabwb
from tabwb.tables.table import table_of

TABLE = table_of(
    "example",
    [
        tabwb.Column("name", "Name", "a text"),
        tabwb.Column("share", "Share", "a share", "number", "share", 1, True),
    ],
    [("a_b", 0.25), (None, None)],
    ("A note.",),
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tabwb.Study]:
    """Two made-up models that took the connected text of TAB."""
    place = tmp_path_factory.mktemp("files") / "s.db"
    for name in ("one", "two"):
        tabwb.run(
            "tab",
            lambda prompt: f"We saw {len(prompt)} boats near home and swam there.",
            name=name,
            subtests="connected-text,repetition",
            store=place,
        )
    with tabwb.open(place) as opened:
        yield opened


def test_a_table_as_text() -> None:
    lines = tabwb.table_text(TABLE, caption="What").splitlines()
    assert lines[0] == "**What**" and lines[4].startswith("| a\\_b")
    assert "25.0 %" in tabwb.table_text(TABLE) and "A note." in tabwb.table_text(TABLE)
    assert r"\toprule" in tabwb.table_text(TABLE, "latex")
    with pytest.raises(tabwb.UsageError, match="markdown, latex, csv, json"):
        tabwb.table_text(TABLE, "word")  # type: ignore[arg-type]


def test_each_ending_has_its_format(tmp_path: Path) -> None:
    files = {
        ending: tabwb.save_table(TABLE, tmp_path / f"t{ending}")
        for ending in (".csv", ".json", ".md", ".tex", ".parquet")
    }
    with files[".csv"].open(encoding="utf-8", newline="") as lines:
        assert list(csv.reader(lines)) == [["name", "share"], ["a_b", "0.25"], ["", ""]]
    document = json.loads(files[".json"].read_text("utf-8"))
    assert document["tables"][0]["rows"][1] == {"name": None, "share": None}
    assert pyarrow.parquet.read_table(files[".parquet"]).to_pylist() == [
        {"name": "a_b", "share": 0.25}, {"name": None, "share": None}
    ]  # fmt: skip
    assert "25.0" in files[".md"].read_text("utf-8") and "25.0" in files[".tex"].read_text("utf-8")


def test_a_file_is_not_replaced_and_an_unknown_ending_is_named(tmp_path: Path) -> None:
    place = tabwb.save_table(TABLE, tmp_path / "t.csv")
    with pytest.raises(tabwb.TabwbError, match="already exists") as raised:
        tabwb.save_table(TABLE, place)
    assert raised.value.hint == "choose another name, or pass force=True"
    assert tabwb.save_table(TABLE, place, force=True) == place
    with pytest.raises(tabwb.UsageError, match=r"\.csv, \.json|\.md"):
        tabwb.save_table(TABLE, tmp_path / "t.xlsx")


def test_tables_for_a_paper(study: tabwb.Study) -> None:
    shown = study.paper_tables()
    assert "| one" in shown and "| two" in shown
    assert r"\begin{tabular}" in study.paper_tables(format="latex", judge="rules")
    with pytest.raises(tabwb.UsageError, match="no column 'nothing'"):
        study.paper_tables(columns="nothing")
    with pytest.raises(tabwb.UsageError, match="'html' cannot be used\nallowed: markdown, latex"):
        study.paper_tables(format="html")  # type: ignore[arg-type]


def test_a_report_is_one_file(study: tabwb.Study, tmp_path: Path) -> None:
    place = study.report(tmp_path / "r.md", by="model", title="Two made-up models", responses=1)
    text = place.read_text(encoding="utf-8")
    assert text.startswith("# Two made-up models") and "python:one" in text
    with pytest.raises(tabwb.TabwbError, match="already exists"):
        study.report(place)
    with pytest.raises(tabwb.UsageError, match="html"):
        study.report(tmp_path / "r.doc")


def test_a_figure_is_the_same_each_time(study: tabwb.Study, tmp_path: Path) -> None:
    pages = [
        tabwb.save_figure(study.figure("burden"), tmp_path / f"{n}.svg").read_bytes() for n in "ab"
    ]
    assert pages[0] == pages[1]
    with pytest.raises(tabwb.UsageError, match="no figure 'burdens'"):
        study.figure("burdens")
    with pytest.raises(tabwb.UsageError):
        study.figure("burden", colour="red")  # type: ignore[call-arg]
