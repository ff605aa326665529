"""An operation's values are checked in one place, whoever gives them."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabwb.api.engine import Planning
from tabwb.api.study import Study
from tabwb.operations.judge import JudgeRun
from tabwb.operations.operation import made, values_of
from tabwb.operations.rate import PlanRatings
from tabwb.operations.speaker import (
    AddSpeaker,
    ConsentOfSpeaker,
    DeleteSpeaker,
    ImportSpeakers,
    ListSpeakers,
    LogOfSpeakers,
    SetSpeaker,
    ShowSpeaker,
)
from tabwb.operations.store import BackupStore
from tabwb.operations.transcribing import TranscribeResponses
from tabwb.operations.trial import (
    CodeResponse,
    HeardResponse,
    HistoryOfTrial,
    NoteOnTrial,
    RescoreAdministration,
    ScoreResponse,
    SetAttempt,
    SetOnset,
    TagAdministrations,
    UndoLatest,
    VoidTrial,
)
from tabwb.records.errors import UsageError


def test_values_are_what_the_fields_declare() -> None:
    values = {value.name: value for value in values_of(JudgeRun)}
    assert values["ids"].arg.positional and values["ids"].many
    assert values["scope"].choices == ("connected-text", "all")
    assert (values["repeats"].type, values["repeats"].default) == (int, 1)
    assert (values["max_cost"].type, values["max_cost"].default) == (float, None)
    assert values["max_cost"].allowed == "more than 0"
    assert values["repeats"].allowed == "1 to 100"
    assert values["max_requests"].allowed == "1 or more"


def test_texts_of_a_dialog_and_values_of_python_make_the_same_operation() -> None:
    typed = {"ids": (3, 3), "judge": ["rules"], "repeats": "2", "max_cost": None, "again": False}
    given = {"ids": [3], "judge": "rules", "repeats": 2, "max_cost": None}
    assert made(JudgeRun, typed) == made(JudgeRun, given)


@pytest.mark.parametrize("given", ["ok,empty,truncated", ["ok,empty", "truncated"]])
def test_each_text_may_name_several_values(given: Any) -> None:
    plan: Any = made(PlanRatings, {"name": "s", "raters": "R1", "statuses": given})
    assert plan.statuses == ("ok", "empty", "truncated")


REFUSED: tuple[tuple[str, Any], ...] = (
    ("repeats", 0),
    ("repeats", 101),
    ("repeats", 1.5),
    ("repeats", "twice"),
    ("max_requests", 0),
    ("max_cost", 0.0),
    ("max_cost", float("nan")),
    ("max_cost", "much"),
    ("max_cost", float("inf")),
    ("max_cost", 10**400),
    ("max_requests", 10**400),
    ("max_requests", "1" + "0" * 400),
    ("ids", [True]),
    ("max_requests", True),
    ("scope", "some"),
    ("again", "no"),
    ("judge", [3]),
)


@pytest.mark.parametrize(("name", "given"), REFUSED)
def test_a_value_that_cannot_be_used_names_itself_and_what_is_allowed(
    name: str, given: Any
) -> None:
    with pytest.raises(UsageError, match="cannot be used") as refused:
        made(JudgeRun, {"ids": (1,), "judge": ("rules",), name: given})
    assert refused.value.where == name
    assert refused.value.allowed


@pytest.mark.parametrize(
    "given", [{}, {"ids": (1,), "everything": True}, {"where": ("model=x",), "ids": (1,),
                                                      "everything": True}]
)  # fmt: skip
def test_all_administrations_are_never_meant_by_themselves(given: dict[str, Any]) -> None:
    operation = made(JudgeRun, {"judge": "rules", **given})
    with pytest.raises(UsageError, match="administration"):
        operation.check(None)  # type: ignore[arg-type]


METHODS = {
    "transcribe": TranscribeResponses,
    "judge": JudgeRun, "tag": TagAdministrations, "void": VoidTrial, "note": NoteOnTrial,
    "undo": UndoLatest, "rescore": RescoreAdministration, "speakers": ListSpeakers,
    "speaker": ShowSpeaker, "add_speaker": AddSpeaker, "set_speaker": SetSpeaker,
    "import_speakers": ImportSpeakers,
    "score": ScoreResponse, "heard": HeardResponse, "code": CodeResponse, "set_onset": SetOnset,
    "set_attempt": SetAttempt, "history": HistoryOfTrial,
    "consent": ConsentOfSpeaker, "log": LogOfSpeakers, "delete_speaker": DeleteSpeaker,
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_the_values_of_their_operation(name: str) -> None:
    method = getattr(Study, name)
    parameters = dict(list(inspect.signature(method).parameters.items())[1:])
    parameters.pop("progress", None)
    parameters.pop("dry_run", None)
    values = {value.name: value for value in values_of(METHODS[name])}
    assert set(parameters) == set(values)
    for key, value in values.items():
        assert f"    {key}: " in method.__doc__
        if not value.needed and not value.many:
            assert parameters[key].default == value.default
        elif value.needed:
            assert parameters[key].default is inspect.Parameter.empty


def test_options_of_a_plan_are_those_of_its_operation() -> None:
    values = {value.name for value in values_of(PlanRatings)} - {"name", "raters", "ids", "form"}
    assert {*Planning.__annotations__} == values - {"judge", "no_cut_mark"} | {"cut_mark"}


TAKEN: tuple[tuple[str, Any, Any], ...] = (
    ("judge", (one for one in ("rules", "rules-1")), ("rules", "rules-1")),
    ("judge", {"rules": 1}.keys(), ("rules",)),
    (
        "where",
        {"model": "echo", "battery": ["tab", "themes"]},
        ("model=echo", "battery=tab,themes"),
    ),
    ("ids", np.int64(3), (3,)),
    ("max_cost", np.float32(1.5), 1.5),
    ("max_requests", np.int32(4), 4),
)


@pytest.mark.parametrize(("name", "given", "value"), TAKEN)
def test_python_may_give_any_sequence_and_number(name: str, given: Any, value: Any) -> None:
    operation = made(JudgeRun, {"ids": 1, "judge": "rules", name: given})
    assert getattr(operation, name) == value


def test_none_removes_a_value_of_a_record() -> None:
    operation = made(SetSpeaker, {"speaker": "S-01", "values": {"AQ": None, "group": "A"}})
    assert operation == SetSpeaker(speaker="S-01", values=("AQ=", "group=A"))


def test_paths_have_the_home_folder_and_no_zero_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/of-me")
    stored: Any = made(BackupStore, {"out": "~/a.db"})
    assert stored.out == Path("/home/of-me/a.db")
    with pytest.raises(UsageError):
        made(BackupStore, {"out": "a\0b"})
