"""What stands on stderr while items are given."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from tabwb.administer.cost import Spending
from tabwb.cli.progress import Progress
from tabwb.records import events
from tabwb.records.states import AttemptState, StopReason
from tabwb.records.trials import Attempt, PlannedTrial


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ten seconds go by whenever the time is asked for."""
    ticks = count(0.0, 10.0)
    monkeypatch.setattr("tabwb.cli.progress.time.monotonic", lambda: next(ticks))
    yield


def started(number: int) -> events.TrialStarted:
    plan = PlannedTrial(number, "words", f"w{number}", 1, (), "Say it.", practice=False)
    return events.TrialStarted(1, plan)


def recorded(number: int, state: AttemptState = AttemptState.OK) -> events.AttemptRecorded:
    failed = state is AttemptState.ERROR
    error = "the service is down\nand says more" if failed else ""
    made = Attempt(1, "" if failed else "dog", state, None, StopReason.END, 0.1, (), error=error)
    return events.AttemptRecorded(1, number, made)


def test_the_time_left_is_that_of_the_items_after_the_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(6720, 0, Spending(), each=True)
    for number in (1, 2, 3):
        progress.show(started(number))
        progress.show(recorded(number))
    progress.show(started(4))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "item 1/6720  words w1"
    # The first came at 0 s, the third at the next glance, 10 s later: 5 s each, 6717 to come.
    assert lines[-1].startswith("item 4/6720  words w4")
    assert lines[-1].endswith("about 9.3 h left")


def test_waits_and_errors_are_said_even_where_the_rest_is_quiet(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(20, 0, Spending(), quiet=True)
    progress.show(started(1))
    progress.show(events.Waiting(1, 1, 12.0, "rate limit (429), attempt 1 of 6"))
    progress.show(recorded(1, AttemptState.ERROR))
    assert capsys.readouterr().err.splitlines() == [
        "item 1: rate limit (429), attempt 1 of 6, waiting 12 s",
        "item 1 in error: the service is down",
    ]


def test_a_silent_service_is_said_unless_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    silence = events.Waiting(1, 1, 75.0, "no byte for 45 s (limit 120 s)", voids=False)
    for quiet in (False, True):
        Progress(20, 0, Spending(), quiet=quiet).show(silence)
    assert capsys.readouterr().err == "item 1: no byte for 45 s (limit 120 s)\n"


def test_elsewhere_than_on_a_terminal_there_is_a_line_for_each_5_percent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(14_000, 0, Spending())
    for number in range(1, 14_001):
        progress.show(started(number))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[0].startswith("item 1/14000")
    assert lines[1].startswith("item 700/14000")
    assert lines[-1].startswith("item 14000/14000")


def test_a_short_administration_shows_every_item(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(20, 0, Spending())
    for number in range(1, 21):
        progress.show(started(number))
    assert len(capsys.readouterr().err.splitlines()) == 20
