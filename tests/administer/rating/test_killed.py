"""SIGKILL while a person rates, and several processes that rate: nothing lost, nothing double."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from tabwb.administer.rating.session import Draft, RaterSession
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.records.errors import HeldElsewhere
from tabwb.records.trials import AttemptEntry
from tabwb.store.maintenance import check
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, rated_set

KILLS = int(os.environ.get("TABWB_TORTURE_KILLS", "5"))
SAMPLES = 35 * KILLS


def prepared(folder: Path, raters: tuple[str, ...], n: int) -> Path:
    file = folder / "store.db"
    with Store.open(file) as store:
        number = begin(store, n).id
        store.append(number, [AttemptEntry(trial, attempt()) for trial in range(1, n + 1)])
        rated_set(store, number, n, raters=raters)
    return file


def rate(file: Path, plugins: Plugins, rater: str, report: int) -> None:
    """Rate all that is open, and report what was saved after each call has returned."""
    clock = count(0.0, 10.0).__next__
    with (
        Store.open(file) as store,
        RaterSession.open(store, plugins, "pilot", rater, clock=clock) as session,
    ):
        while session.phase != "over":
            place = session.progress.place
            if session.draft.answers.get("jargon") is None:
                session.answer("jargon", place % 2)
                os.write(report, b"%d half\n" % place)
            session.finish(Draft({**session.draft.answers, "anomia": place % 5}, note=str(place)))
            os.write(report, b"%d whole\n" % place)


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    """Run something in a fork; its process, and where its reports are read."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read)
            work(write)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    return child, read


def test_no_answer_is_lost_or_double_when_a_rater_is_killed(tmp_path: Path) -> None:
    generator = random.Random(20261122)
    file = prepared(tmp_path, ("R1",), SAMPLES)
    plugins = Plugins.load(Configuration())
    reported: set[tuple[int, str]] = set()
    for _ in range(KILLS):
        child, read = forked(lambda report: rate(file, plugins, "R1", report))
        with os.fdopen(read, "rb") as reports:
            seen = reports.readline()
            time.sleep(generator.random() * 0.03)
            os.kill(child, signal.SIGKILL)
            seen += reports.read()
        os.waitpid(child, 0)
        for line in seen.split(b"\n")[:-1]:
            place, what = line.split()
            assert (int(place), what.decode()) not in reported, "asked again"
            reported.add((int(place), what.decode()))
        with Store.open(file) as store:
            rows = store.sets.ratings(1, every=True)
            whole = [row.position for row in rows if row.complete]
            half = [row.position for row in rows if not row.complete]
            assert whole == [*range(1, len(whole) + 1)]
            assert half == [*range(1, len(half) + 1)]
            assert {at for at, what in reported if what == "whole"} <= set(whole)
            assert {at for at, what in reported if what == "half"} <= set(half)
            assert all(row.answers["jargon"] == row.position % 2 for row in rows)
            counted = [
                trial.plan.number
                for trial in store.trials(1)
                if {rating.rater for rating in trial.ratings} == {"R1"}
            ]
            assert counted == whole, "what is complete counts, and nothing else"
    assert len(reported) > 2 * KILLS
    assert {one.where for one in check(file)} <= {"items"}  # those of tests are made up


def test_processes_of_several_raters_work_at_once_and_two_of_one_do_not(tmp_path: Path) -> None:
    raters = ("R1", "R2", "R3")
    file = prepared(tmp_path, raters, 12)
    plugins = Plugins.load(Configuration())
    with Store.open(file) as store, RaterSession.open(store, plugins, "pilot", "R1"):

        def refused(report: int) -> None:
            try:
                rate(file, plugins, "R1", report)
            except HeldElsewhere as error:
                os.write(report, error.message.encode())

        child, read = forked(refused)
        with os.fdopen(read) as said:
            assert (
                said.read() == f"rating set 'pilot' is open for rater R1 in process {os.getpid()}"
            )
        os.waitpid(child, 0)
    working = [
        forked(lambda report, rater=rater: rate(file, plugins, rater, report))  # type: ignore[misc]
        for rater in raters
    ]
    for child, read in working:
        with os.fdopen(read) as reports:
            assert len(reports.readlines()) == 24
        assert os.waitpid(child, 0)[1] == 0
    with Store.open(file) as store:
        given = [(one.rater, one.answers) for one in store.sets.ratings(1)]
        assert given == [
            (rater, {"jargon": at % 2, "anomia": at % 5}) for rater in raters for at in range(1, 13)
        ]
        assert len(store.sets.ratings(1, every=True)) == 3 * 24
    assert {one.where for one in check(file)} <= {"items"}  # those of tests are made up
