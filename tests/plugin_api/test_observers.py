"""Observers: every kind of event has a hook, and carries where it happened."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tabwb import plugin_api
from tabwb.cli.main import main
from tabwb.records import events
from tabwb.records.states import ResponseKind
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


def test_a_hook_of_one_event_has_its_old_name_and_is_named(
    install: Install, tmp_path: Path, battery_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("older", "@hookimpl\ndef tabwb_on_finished(event):\n    print(type(event).__name__)")
    store = str(tmp_path / "here.db")
    assert main(["run", str(battery_file), "--model", "echo", "--store", store]) == 0
    said = capsys.readouterr().err
    assert said.splitlines().count("Finished") == 1
    assert said.count("tabwb_on_event") == 1


def test_every_event_can_say_where_it_happened() -> None:
    for kind in kinds():
        names = {one.name for one in dataclasses.fields(kind)}
        assert {"examinee", "battery", "store", "task"} <= names


def observed(install: Install, tmp_path: Path, *arguments: str) -> list[list[object]]:
    import json

    out = tmp_path / "seen.jsonl"
    if not out.exists():
        install("watching", PLUGIN.format(out=str(out)))
    out.write_text("", encoding="utf-8")
    assert main(list(arguments)) == 0
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_a_run_tells_examinee_battery_store_and_task(
    install: Install, tmp_path: Path, battery_file: Path
) -> None:
    store = tmp_path / "here.db"
    said = observed(
        install, tmp_path, "run", str(battery_file), "--model", "echo", "--judge", "none",
        "--batch-size", "1", "--store", str(store),
    )  # fmt: skip
    names = [one[0] for one in said]
    assert names.count("TrialStarted") == names.count("AttemptRecorded") == 3
    assert names.count("Rated") == 3
    assert "Streamed" in names
    assert names[-1] == "Finished"
    assert {(one[1], one[3], one[4], one[5], one[6]) for one in said} == {
        (1, "echo", "small", "1", str(store))
    }
    assert len({one[2] for one in said}) == 1
    assert [one[7] for one in said if one[0] == "Rated"] == ["choice", "choice", "verbatim"]
    assert said[-1][7] == ""


def test_judging_later_is_told_to_observers(install: Install, tmp_path: Path) -> None:
    store = str(tmp_path / "here.db")
    observed(
        install, tmp_path, "run", "tab", "--model", "echo", "--judge", "none", "--store", store
    )
    said = observed(install, tmp_path, "judge", "run", "1", "--judge", "rules", "--store", store)
    judged = [one for one in said if one[0] == "JudgementRecorded"]
    assert len(judged) == 5
    assert {(one[3], one[4], one[7]) for one in judged} == {("echo", "tab", "connected-text")}


def test_what_is_done_to_a_trial_is_told(
    install: Install, tmp_path: Path, battery_file: Path
) -> None:
    store = str(tmp_path / "here.db")
    run = ["run", str(battery_file), "--model", "echo", "--judge", "none", "--store", store]
    observed(install, tmp_path, *run)
    for command, name in (
        (["void", "1", "w1", "--reason", "noise"], "TrialVoided"),
        (["undo", "1"], "Undone"),
        (["note", "1", "w1", "seen"], "Noted"),
        (["rescore", "1"], "Rated"),
    ):
        said = observed(install, tmp_path, "trial", *command, "--store", store)
        assert said[0][0] == name
        assert said[0][7] == "choice"


def test_an_observer_that_raises_is_reported_once_and_fails_nothing(
    install: Install, battery_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(
        "raises",
        "@hookimpl\ndef tabwb_on_event(event):\n    raise ValueError(event.administration)",
    )
    assert main(["run", str(battery_file), "--model", "echo", "--judge", "none"]) == 0
    assert capsys.readouterr().err.count("raises: tabwb_on_event: ValueError: ") == 1


def test_tasks_are_kinds_of_response() -> None:
    assert {kind.value for kind in ResponseKind} == {
        "choice", "yes-no", "verbatim", "connected-text", "description", "naming", "free",
    }  # fmt: skip
