"""A command whose n-th allocation fails says so in one message, and the store stays whole."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

TRIALS = """
import os, sys
import _testcapi
from tabwb.cli.main import main

run, numbers = ["run", "tab", "--model", "echo"], list(map(int, sys.argv[2:]))
words = run if sys.argv[1] == "run" else ["results"]
null = os.open(os.devnull, os.O_RDWR)
os.dup2(null, 1)
assert main(run) == 0 and main(words) == 0  # every module is imported before the forks
for number in numbers:
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        status = 99
        try:
            _testcapi.set_nomemory(number, number + 1)
            status = main(words)
            _testcapi.remove_mem_hooks()
            sys.stderr.flush()
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    checked = main(["store", "check"])
    print(f"trial {number} {status} {checked}", file=sys.stderr, flush=True)
"""


@pytest.mark.crash
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("words", ["run", "results"])
def test_a_failed_allocation_is_one_message(words: str, tmp_path: Path) -> None:
    pytest.importorskip("_testcapi")
    draw = random.Random(words)
    numbers = [str(int(10 ** draw.uniform(2, 5.3))) for _ in range(12)]
    environment = {**os.environ, "TABWB_DATA_DIR": str(tmp_path), "TABWB_CONFIG_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", TRIALS, words, *numbers],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert not any(bad in done.stderr for bad in ("Traceback", "a defect in tabwb")), done.stderr
    trials = [line.split()[2:] for line in done.stderr.splitlines() if line.startswith("trial ")]
    assert len(trials) == len(numbers)
    assert {status for status, _ in trials} <= {"0", "1", "3"}, done.stderr
    assert {checked for _, checked in trials} == {"0"}, done.stderr
    said = done.stderr.count("error: ")
    assert said == sum(status != "0" for status, _ in trials) > 0, done.stderr
