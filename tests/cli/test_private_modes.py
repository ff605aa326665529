"""What tabwb makes is its user's alone, whatever the umask is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.administer.naming_parts import naming_battery
from tests.builders import recordings, typed_table
from tests.cli.conftest import Run

pytest.importorskip("soundfile")


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_with_umask_0_nothing_is_open_to_others(run: Run, tmp_path: Path, open_umask: None) -> None:
    battery = naming_battery(tmp_path / "battery")
    sounds = recordings(tmp_path / "sounds", "dog")
    typed = typed_table(tmp_path / "typed.tsv", dog="D AO G")
    run(
        *("name", battery, "--speaker", "S-014", "--input", sounds),
        *("--transcriber", f"manual:{typed}"),
        status=3,
    )
    run("run", "tab", "--model", "echo", "--judge", "none")
    run("plugins", "new", "kit", "--in", tmp_path)
    run("plugins", "trust", tmp_path / "kit")
    run("model", "add", "mine", "echo")
    made = [
        path
        for name in ("tabwb-data", "tabwb-config")
        for path in (tmp_path / name, *(tmp_path / name).rglob("*"))
    ]
    assert len(made) > 10
    open_to_others = {
        str(path.relative_to(tmp_path)): oct(path.stat().st_mode & 0o777)
        for path in made
        if path.stat().st_mode & 0o077
    }
    assert open_to_others == {}
