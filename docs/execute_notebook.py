"""Execute docs/study.ipynb and keep what its cells show, so that it can be read on the web.

.venv/bin/python docs/execute_notebook.py
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent / "study.ipynb"
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d"), "DATE"),
    (re.compile(r"\(Python [\d.]+\)"), "(Python)"),
    (re.compile(r"(version|tabwb) \d+\.\d+\.\d+\S*"), r"\1"),
)
"""What differs from day to day and from computer to computer."""


def executed(folder: Path) -> Any:
    """Return the notebook with the outputs of its cells.

    Args:
        folder: where it runs.
    """
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=240, record_timing=False, resources=resources).execute()
    return notebook


def shown(notebook: Any) -> list[list[str]]:
    """Return what each cell shows as text, without dates and versions."""
    return [[_words(output) for output in cell.get("outputs", ())] for cell in notebook.cells]


def _words(output: Any) -> str:
    data = output.get("data", {})
    text = data.get("text/plain") or output.get("text", "")
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return f"{text} {sorted(data)}"


def main() -> None:
    """Write the notebook with its outputs."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = executed(Path(folder))
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
