"""An operation's values are checked in one place, whoever gives them."""

from __future__ import annotations

from typing import Any

import pytest

from tabwb.operations.judge import JudgeRun
from tabwb.operations.operation import made, values_of
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
    typed = {"ids": (3, 3), "judge": ["rules"], "repeats": "2", "max_cost": "", "again": False}
    given = {"ids": [3], "judge": "rules", "repeats": 2, "max_cost": None}
    assert made(JudgeRun, typed) == made(JudgeRun, given)


REFUSED: tuple[tuple[str, Any], ...] = (
    ("repeats", 0),
    ("repeats", 101),
    ("repeats", 1.5),
    ("repeats", "twice"),
    ("max_requests", 0),
    ("max_cost", 0.0),
    ("max_cost", float("nan")),
    ("max_cost", "much"),
    ("scope", "some"),
)


@pytest.mark.parametrize(("name", "given"), REFUSED)
def test_a_value_that_cannot_be_used_names_itself_and_what_is_allowed(
    name: str, given: Any
) -> None:
    with pytest.raises(UsageError, match="cannot be used") as refused:
        made(JudgeRun, {"ids": (1,), "judge": ("rules",), name: given})
    assert refused.value.where == name
    assert refused.value.allowed
