"""Tables, figures and reports in files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pyarrow.parquet
import pytest

import tabwb
from docs import execute_notebook
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


NOTEBOOK = Path(__file__).parents[2] / "docs" / "study.ipynb"


def test_the_notebook_makes_table_figures_and_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TMPDIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR",
                 "JUPYTER_RUNTIME_DIR"):  # fmt: skip
        monkeypatch.setenv(name, str(tmp_path))
    notebook = execute_notebook.executed(tmp_path)
    stored = nbformat.read(NOTEBOOK, as_version=4)
    assert execute_notebook.shown(stored) == execute_notebook.shown(notebook), (
        "docs/study.ipynb is stale: .venv/bin/python docs/execute_notebook.py"
    )
    assert NOTEBOOK.stat().st_size < 300_000
    outputs = {cell.source: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    table = shown(outputs, "table_2", "text/plain").splitlines()
    assert table[0].split()[:3] == ["Model", "N", "Burden"] and len(table) == 9
    rows = {row.split()[1]: [float(cell) for cell in row.split()[2:]] for row in table[1:]}
    burdens = [burden for _, burden, _, _ in rows.values()]
    assert burdens == sorted(burdens, reverse=True)
    assert all(low <= burden <= high for _, burden, low, high in rows.values())
    assert rows["Alder-1B"][1] > rows["Alder-1B-Instruct"][1]  # 60 and 10 % of slips
    for figure in ("profile", "burden"):
        assert shown(outputs, f'{figure} = study.figure("{figure}"', "image/png")
    methods = outputs["print(study.methods())"][0].text
    assert "Text Aphasia Battery" in methods and "temperature 1" in methods
    assert shown(outputs, "study.export", "text/plain").count("ratings.csv") == 2
    assert not [one for cell in outputs.values() for one in cell if one.output_type == "error"]


def shown(outputs: dict[str, Any], source: str, kind: str) -> str:
    """Return what the cell with this source shows in a format."""
    (cell,) = (cell for text, cell in outputs.items() if source in text)
    return str(cell[-1].data[kind])
