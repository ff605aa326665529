"""The notebook of the docs runs from its first to its last cell, and shows what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from docs import execute_notebook

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
