"""What is distributed: licences beside what they cover, every file, and a program that runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders import ROOT

CONFIGURED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = CONFIGURED["project"]
FOLDERS: dict[str, str] = CONFIGURED["tool"]["setuptools"]["package-dir"]


@dataclass(frozen=True)
class Distributed:
    """What was built, unpacked outside of the repository; ``tracked``: names of the files here."""

    tracked: frozenset[str]
    source: Path
    wheel: Path


@pytest.fixture(scope="module")
def distributed(tmp_path_factory: pytest.TempPathFactory) -> Distributed:
    """The source distribution, and the wheel that is built from it."""
    pytest.importorskip("build")
    out = tmp_path_factory.mktemp("built")
    copy, source, wheel = out / "copy", out / "source", out / "wheel"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    ).stdout.decode()  # fmt: skip
    tracked = frozenset(name for name in listed.split("\0") if name and (ROOT / name).is_file())
    # Of a copy, because a build writes the entry points anew: while that file is empty, other
    # processes find no plugin.
    for name in tracked:
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, copy],
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    (archive,) = out.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(source, filter="data")
    (unpacked,) = source.iterdir()
    (archive,) = out.glob("*.whl")
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(wheel)
    return Distributed(tracked, unpacked, wheel)


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


def test_the_source_distribution_holds_tests_docs_and_changelog(distributed: Distributed) -> None:
    lacking = [
        name
        for name in distributed.tracked
        if not (distributed.source / name).is_file() and not name.startswith(".git")
    ]
    assert lacking == []
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
         "tests/battery"],
        cwd=distributed.source, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert collected.returncode == 0, collected.stdout[-2000:]


def test_every_file_of_every_package_is_in_the_wheel(distributed: Distributed) -> None:
    missing = [
        f"{package}/{path.relative_to(ROOT / folder)}"
        for package, folder in FOLDERS.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and not (distributed.wheel / package / path.relative_to(ROOT / folder)).is_file()
    ]
    assert missing == []


def test_the_wheel_gives_tab_by_itself(distributed: Distributed, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(distributed.wheel)}
    code = (
        "import sys, tabwb, tabwb_batteries; print(tabwb.__file__, tabwb_batteries.__file__, "
        "file=sys.stderr); from tabwb.start import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "tab", "--model", "bundled", "--limit", "1", "--json"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(str(distributed.wheel)) >= 2, done.stderr
    document = json.loads(done.stdout)
    assert document["administration"]["status"] == "done"
    assert sum(trial["state"] == "answered" for trial in document["trials"]) == 4
