"""SIGKILL at random moments: no recorded answer is lost, none is asked twice."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import AttemptEntry, EventEntry
from tabwb.store.store import Store

KILLS = 50
SHOWN = re.compile(rb"item (\d+)/")


def _life(arguments: list[str], items: int, jitter_s: float) -> tuple[set[int], bool]:
    """One process: let it show so many items, then kill it. The numbers shown, and whether killed.

    An item is shown only after the answer before it was committed, so every number shown but the
    last must be in the store afterwards.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "tabwb.cli.main", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    shown: list[int] = []
    for line in process.stderr:
        found = SHOWN.search(line)
        if found:
            shown.append(int(found[1]))
        if len(shown) >= items:
            break
    try:
        process.wait(timeout=jitter_s)
        killed = False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        # What was shown between the decision and the kill counts as shown.
        rest = process.stderr.read()
        shown += [int(number) for number in SHOWN.findall(rest)]
        process.wait()
        killed = True
    process.stderr.close()
    return set(shown[:-1]), killed


@pytest.mark.timeout(280)
def test_fifty_kills_lose_nothing_and_ask_nothing_twice(tmp_path: Path) -> None:
    location = tmp_path / "store.db"
    generator = random.Random(20260517)
    answered: set[int] = set()
    arguments = ["run", "tab", "-v", "--model", "echo@delay=0.002", "--replicates", "30"]
    kills = 0
    while kills < KILLS:
        seen, killed = _life(
            [*arguments, "--store", str(location)],
            items=generator.randint(1, 4),
            jitter_s=generator.random() * 0.012,
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
    done = subprocess.run(
        [sys.executable, "-m", "tabwb.cli.main", "resume", "1", "--store", str(location)],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
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
