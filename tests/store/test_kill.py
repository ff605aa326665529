"""SIGKILL at random moments: what was reported as recorded is there, once, and the store whole."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from tabwb.records.trials import AttemptEntry, RatingsEntry
from tabwb.store.maintenance import check
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, scores

KILLS = int(os.environ.get("TABWB_TORTURE_KILLS", "12"))


def _append_until_killed(file: Path, first: int, report: int) -> None:
    """Append attempts and report the number of each one after ``append`` has returned."""
    with Store.open(file) as store:
        for number in range(first, first + 100_000):
            answer = attempt(number, response=f"answer {number} " + "x" * (number % 97 * 40))
            store.append(1, [AttemptEntry(1, answer), RatingsEntry(1, number, scores())])
            os.write(report, b"%d\n" % number)


def _life(file: Path, first: int, lives_s: float) -> list[int]:
    """One process from its start to its SIGKILL; the numbers that it reported."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            _append_until_killed(file, first, write)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as reports:
        seen = reports.readline()
        time.sleep(lives_s)
        os.kill(child, signal.SIGKILL)
        seen += reports.read()
    status = os.waitpid(child, 0)[1]
    assert os.WTERMSIG(status) == signal.SIGKILL
    # The last line may have been cut off by the kill.
    return [int(line) for line in seen.split(b"\n")[:-1]]


def test_kills_lose_nothing_that_was_reported(file: Path) -> None:
    generator = random.Random(20260517)
    with Store.open(file) as store:
        begin(store, 1)
    reported: set[int] = set()
    recorded: list[int] = []
    for _ in range(KILLS):
        reported |= set(_life(file, len(recorded) + 1, generator.random() * 0.03))
        with Store.open(file) as store:
            (trial,) = store.trials(1)
        recorded = [each.number for each in trial.attempts]
        assert recorded == list(range(1, len(recorded) + 1)), "one is missing or double"
        assert reported <= set(recorded), "one that was reported is gone"
        assert len(recorded) - len(reported) <= KILLS, "more than the one under way per life"
        assert trial.ratings == scores(), "an answer without its ratings"
        for each in trial.attempts:
            assert each.response.startswith(f"answer {each.number} ")
    assert len(reported) > KILLS
    assert check(file) == ()
