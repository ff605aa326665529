"""SIGKILL at random moments: no recorded answer is lost, none is asked twice."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tabwb.cli.main import main
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import AttemptEntry, EventEntry
from tabwb.store.store import Store

KILLS = int(os.environ.get("TABWB_TORTURE_KILLS", "8"))
SHOWN = re.compile(rb"item (\d+)/")


PARENT = """
import json, os, sys
from tabwb.cli.main import main
commands, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
nothing = os.open(os.devnull, os.O_RDWR)
os.dup2(nothing, 1)
assert main(["run", "tab", "--model", "echo", "--quiet", "--store", sys.argv[1]]) == 0
for line in commands:
    told, *arguments = json.loads(line)
    number = os.fork()
    if not number:
        os.dup2(nothing, 0)
        os.dup2(os.open(told, os.O_WRONLY), 2)
        sys.exit(main(arguments))
    print(number, file=answers, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), file=answers, flush=True)
"""
"""Forks a process for each command, after one run has imported everything."""


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, tmp_path / "first.db"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _life(
    parent: subprocess.Popen[str], arguments: list[str], items: int, jitter_s: float, told: Path
) -> tuple[set[int], bool]:
    """Let a process show so many items, then kill it; return those shown and whether killed."""
    assert parent.stdin is not None and parent.stdout is not None
    parent.stdin.write(json.dumps([str(told), *arguments]) + "\n")
    parent.stdin.flush()
    with told.open("rb") as errors:
        number = int(parent.stdout.readline())
        shown: list[int] = []
        for line in errors:
            found = SHOWN.search(line)
            if found:
                shown.append(int(found[1]))
            if len(shown) >= items:
                break
        time.sleep(jitter_s)
        with suppress(ProcessLookupError):  # it has ended
            os.kill(number, signal.SIGKILL)
        # What was shown between the decision and the kill counts as shown.
        shown += [int(found) for found in SHOWN.findall(errors.read())]
    return set(shown[:-1]), int(parent.stdout.readline()) == -signal.SIGKILL


def test_kills_lose_nothing_and_ask_nothing_twice(
    tmp_path: Path, parent: subprocess.Popen[str]
) -> None:
    location, told = tmp_path / "store.db", tmp_path / "told"
    os.mkfifo(told)
    generator = random.Random(20260517)
    answered: set[int] = set()
    arguments = ["run", "tab", "-v", "--model", "echo@delay=0.002", "--replicates", str(KILLS)]
    kills = 0
    while kills < KILLS:
        seen, killed = _life(
            parent,
            [*arguments, "--store", str(location)],
            items=generator.randint(1, 4),
            jitter_s=generator.random() * 0.012,
            told=told,
        )
        arguments = ["resume", "1", "-v"]
        kills += killed
        with Store.open(location, create=False) as store:
            history = store.history(1)
        recorded = {trial.plan.number for trial in history.trials if trial.counting}
        assert seen <= recorded, "an answer that was committed is gone"
        assert answered <= recorded, "an answer of an earlier life is gone"
        answered = recorded
        if history.status is AdministrationStatus.DONE:
            break
    assert kills == KILLS
    assert main(["resume", "1", "--store", str(location)]) == 0
    with Store.open(location, create=False) as store:
        history = store.history(1)
    assert history.status is AdministrationStatus.DONE
    assert all(len(trial.attempts) == 1 for trial in history.trials)
    seen_answers: set[int] = set()
    for step in history.steps:
        entry = step.entry
        if isinstance(entry, AttemptEntry):
            seen_answers.add(entry.trial)
        elif isinstance(entry, EventEntry) and entry.kind == "trial-started":
            assert entry.trial not in seen_answers, "an answered item was asked again"
