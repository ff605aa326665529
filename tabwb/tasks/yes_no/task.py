"""The task type ``yes-no``: a question is answered with Yes or No."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.states import ResponseKind
from tabwb.records.words import near
from tabwb.scoring.yes_no import NO, YES
from tabwb.tasks.task_type import TaskType


def _check(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    for index, item in enumerate(subtest["item"]):
        expected = item.get("expected")
        if expected not in (None, YES, NO):
            yield Broken(
                (*path, "item", index, "expected"),
                "not an answer to a yes/no question",
                shortened(expected),
                f"{YES}, {NO}",
                near(expected.capitalize(), (YES, NO)),
            )


TASK = TaskType(
    kind=ResponseKind.YES_NO,
    asks_for="Yes or No",
    instructions="Answer with one word, Yes or No, and nothing else.",
    scorers=("yes-no",),
    needs=("prompt", "expected"),
    check=_check,
    answers=(YES, NO),
    judged="on-demand",
    right_or_wrong=True,
)
