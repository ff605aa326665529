"""``-q`` and ``-v``: how much stands on stderr."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_quiet_and_verbose(run: Run, battery_file: Path) -> None:
    command = ("run", battery_file, "--model", "echo", "--judge", "none", "--replicates", 20,
               "--temperature", 1, "--batch-size", 1)  # fmt: skip
    assert run(*command, "-q").err == ""
    assert run("-q", *command).err == ""
    assert run(*command, "-v").err.count("item ") == 60
    assert run(*command).err.count("item ") == 21
