"""Observers: every kind of event has a hook, and carries where it happened."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tabwb import plugin_api
from tabwb.records import events
from tabwb.records.errors import TabwbWarning
from tabwb.records.states import ResponseKind
from tests.cli.conftest import Run
from tests.plugin_api.conftest import Install

PLUGIN = """
import json, pathlib
OUT = pathlib.Path({out!r})

def watch(event):
    with OUT.open("a") as file:
        told = [type(event).__name__, event.administration, event.uid, event.examinee,
                event.battery, event.battery_version, event.store, event.task]
        file.write(json.dumps(told) + chr(10))

@hookimpl
def tabwb_on_event(event):
    watch(event)
"""


def kinds() -> list[type[events.Event]]:
    return [
        kind
        for kind in vars(events).values()
        if isinstance(kind, type) and issubclass(kind, events.Event) and kind is not events.Event
    ]


def test_every_kind_of_event_is_public() -> None:
    assert {kind.__name__ for kind in kinds()} <= set(plugin_api.__all__)


def test_a_hook_of_one_event_has_its_old_name_and_one_that_raises_fails_nothing(
    install: Install, battery_file: Path, run: Run
) -> None:
    install("older", "@hookimpl\ndef tabwb_on_finished(event):\n    print(type(event).__name__)")
    raises = "raise ValueError(event.administration)"
    install("raises", f"@hookimpl\ndef tabwb_on_event(event):\n    {raises}")
    with pytest.warns(DeprecationWarning, match="tabwb_on_event") as told:
        said = run("run", battery_file, "--model", "echo").err
    assert not any(isinstance(one.message, TabwbWarning) for one in told)
    assert said.splitlines().count("Finished") == 1
    assert said.count("tabwb_on_finished") == 1
    assert said.count("raises: tabwb_on_event: ValueError: ") == 1


def test_every_event_can_say_where_it_happened() -> None:
    for kind in kinds():
        names = {one.name for one in dataclasses.fields(kind)}
        assert {"examinee", "battery", "store", "task"} <= names


Observed = Callable[..., list[list[object]]]


@pytest.fixture
def observed(install: Install, tmp_path: Path, run: Run) -> Observed:
    """Run a command, and return what the observer was told."""
    out = tmp_path / "seen.jsonl"
    install("watching", PLUGIN.format(out=str(out)))

    def call(*arguments: object) -> list[list[object]]:
        out.write_text("", encoding="utf-8")
        run(*arguments, "--store", tmp_path / "here.db")
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]

    return call


def test_a_run_and_what_is_done_to_a_trial_tell_examinee_battery_store_and_task(
    observed: Observed, tmp_path: Path, battery_file: Path
) -> None:
    words = ["run", battery_file, "--model", "echo", "--judge", "none", "--batch-size", "1"]
    said = observed(*words)
    names = [one[0] for one in said]
    assert names.count("TrialStarted") == names.count("AttemptRecorded") == 3
    assert names.count("Rated") == 3
    assert "Streamed" in names and names[-1] == "Finished"
    assert {(one[1], *one[3:7]) for one in said} == {
        (1, "echo", "small", "1", str(tmp_path / "here.db"))
    }
    assert len({one[2] for one in said}) == 1
    assert [one[7] for one in said if one[0] == "Rated"] == ["choice", "choice", "verbatim"]
    assert said[-1][7] == ""
    for command, name in (
        (["void", "1", "w1", "--reason", "noise"], "TrialVoided"),
        (["undo", "1"], "Undone"),
        (["note", "1", "w1", "seen"], "Noted"),
        (["rescore", "1"], "Rated"),
    ):
        first, *_ = observed("trial", *command)
        assert (first[0], first[7]) == (name, "choice")


def test_judging_later_is_told_to_observers(observed: Observed) -> None:
    observed("run", "tab", "--model", "echo", "--judge", "none")
    said = observed("judge", "run", "1", "--judge", "rules")
    judged = [one for one in said if one[0] == "JudgementRecorded"]
    assert len(judged) == 5
    assert {(one[3], one[4], one[7]) for one in judged} == {("echo", "tab", "connected-text")}


def test_tasks_are_kinds_of_response() -> None:
    assert {kind.value for kind in ResponseKind} == {
        "choice", "yes-no", "verbatim", "connected-text", "description", "naming", "free",
    }  # fmt: skip
