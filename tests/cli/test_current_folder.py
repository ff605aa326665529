"""``python -m tabwb`` imports nothing from the current folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_python_m_imports_no_module_of_the_current_folder(tmp_path: Path) -> None:
    for name in ("click", "json", "tomllib"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('code of this folder ran')")
    command = [sys.executable, "-m", "tabwb", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
