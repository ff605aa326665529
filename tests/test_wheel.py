"""What is installed is what is here: the wheel holds every file and runs by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built wheel, unpacked outside of the repository."""
    out = tmp_path_factory.mktemp("wheel")
    copy = tmp_path_factory.mktemp("source") / "tabwb"
    # A copy, because setuptools leaves its build folder where it builds.
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, tracked.split("\0")):
        if (ROOT / name).is_file():
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet",
         "--disable-pip-version-check", "-w", out, copy],
        check=True,
        capture_output=True,
    )  # fmt: skip
    (wheel,) = out.glob("*.whl")
    folder = out / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_every_file_of_every_package_is_in_the_wheel(installed: Path) -> None:
    missing = [
        f"{package}/{path.relative_to(ROOT / folder)}"
        for package, folder in FOLDERS.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and not (installed / package / path.relative_to(ROOT / folder)).is_file()
    ]
    assert missing == []


def test_the_wheel_gives_tab_by_itself(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    code = (
        "import sys, tabwb, tabwb_batteries; print(tabwb.__file__, tabwb_batteries.__file__, "
        "file=sys.stderr); from tabwb.start import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "tab", "--model", "bundled", "--json"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(str(installed)) >= 2, done.stderr
    document = json.loads(done.stdout)
    assert document["administration"]["status"] == "done"
    assert sum(trial["state"] == "answered" for trial in document["trials"]) == 20
