"""What is distributed: licences beside what they cover, and a whole source distribution."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.mark.parametrize(
    "folder",
    [
        *(path.parent for path in sorted(ROOT.glob("batteries/*/battery.toml"))),
        ROOT / "batteries/judges",
        *(path.parent for path in sorted(ROOT.glob("plugins/*/*/model.safetensors"))),
    ],
    ids=lambda folder: folder.name,
)
def test_every_battery_and_model_has_its_licence_beside_it(folder: Path) -> None:
    text = (folder / "LICENSE").read_text("utf-8")
    assert text.startswith("MIT License")
    assert "Copyright" in text


def test_the_licence_expression_covers_every_licence_file() -> None:
    from packaging.licenses import canonicalize_license_expression

    expression = canonicalize_license_expression(PROJECT["license"])
    for identifier in ("MIT", "BSD-2-Clause", "CC-BY-4.0", "LicenseRef-SCOWL"):
        assert identifier in expression.split(" AND ")
    listed = {path for pattern in PROJECT["license-files"] for path in ROOT.glob(pattern)}
    files = {
        path
        for top in ("tabwb", "batteries", "plugins")
        for path in (ROOT / top).rglob("LICENSE*")
        if path.is_file()
    }
    assert files <= listed


def test_the_source_distribution_holds_tests_docs_and_changelog(tmp_path: Path) -> None:
    pytest.importorskip("build")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", tmp_path, ROOT],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
        packed.extractall(tmp_path / "unpacked", filter="data")
    tracked = subprocess.run(
        ["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=False
    ).stdout.split("\n")
    lacking = [
        name
        for name in tracked
        if name and (ROOT / name).is_file() and name not in names and not name.startswith(".git")
    ]
    assert lacking == []
    (folder,) = (tmp_path / "unpacked").iterdir()
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
         "tests/battery", "tests/scoring", "tests/phonology"],
        cwd=folder, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert collected.returncode == 0, collected.stdout[-2000:]
