"""Ten people rate at once in a laboratory's database, whose server is killed meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress

import pytest

from tabwb.records.trials import AttemptEntry
from tabwb.store.store import Store
from tests.administer.rating.rating_program import opinion
from tests.builders import ROOT
from tests.postgresql import own_server
from tests.store.parts import attempt, begin, rated_set
from tests.waiting import until

RATERS = tuple(f"R{number}" for number in range(1, 11))
SAMPLES = 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="raters are forked")
def test_ten_raters_lose_nothing_when_the_server_is_killed() -> None:
    with own_server() as server, Store.open(server.url) as store:
        number = begin(store, SAMPLES).id
        store.append(number, [AttemptEntry(n, attempt()) for n in range(1, SAMPLES + 1)])
        kept = rated_set(store, number, SAMPLES, raters=RATERS)

        def done() -> int:
            return len(store.sets.ratings(kept.id))

        program = [sys.executable, "-m", "tests.administer.rating.rating_program"]
        with subprocess.Popen(
            [*program, server.url, kept.name, *RATERS],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        ) as raters:  # fmt: skip
            try:
                until(lambda: done() > 2 * len(RATERS), "the raters are at work", poll_s=0.1)
                assert raters.poll() is None
                server.kill()
                server.start()
                output, errors = raters.communicate(timeout=120)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(raters.pid, signal.SIGKILL)
        assert (raters.returncode, errors) == (0, "")

        said = Counter(tuple(line.split(maxsplit=2)[:2]) for line in output.splitlines())
        assert all(said["DONE", rater] == 1 for rater in RATERS)
        assert all(said["TOLD", rater] <= 1 for rater in RATERS)
        told = [line for line in output.splitlines() if line.startswith("TOLD")]
        assert len(told) >= len(RATERS) // 2
        assert all("the database cannot be reached or refuses to work" in line for line in told)

        rows = [row for row in store.sets.ratings(kept.id, every=True) if row.complete]
        assert Counter((row.rater, row.sample) for row in rows) == {
            (rater, sample): 1 for rater in RATERS for sample in range(1, SAMPLES + 1)
        }
        assert all(row.answers == opinion(row.rater, row.sample) for row in rows)
        with store._access.reading() as transaction:
            counted = transaction.rows(
                "SELECT spec, trial, count(*) FROM verdicts JOIN raters"
                " ON raters.id = rater_id JOIN attempts ON attempts.id = attempt_id GROUP BY 1, 2"
            )
        assert {(rater, n) for rater, n, _ in counted} == {(row.rater, row.sample) for row in rows}
        assert {count for *_, count in counted} == {1}
