"""One trial of every command on a disk that fails; ``make torture`` makes more."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.builders import ROOT
from tests.faults.trials import SCENARIOS

COUNT = 1
"""Trials of each command."""


@pytest.mark.crash
@pytest.mark.timeout(900)
def test_a_failing_disk_loses_nothing_and_the_same_command_completes() -> None:
    pytest.importorskip("soundfile")
    words = [sys.executable, "-m", "tests.faults.trials", "--count", str(COUNT)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.stdout.startswith("skipped"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"^seed 0: (\d+) trials", done.stdout, re.MULTILINE)
    assert found and int(found[1]) == COUNT * len(SCENARIOS), done.stdout
