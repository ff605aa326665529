"""The task type ``free``: any answer, which scorers of the battery's author rate."""

from __future__ import annotations

from tabwb.records.states import ResponseKind
from tabwb.tasks.task_type import TaskType

TASK = TaskType(
    kind=ResponseKind.FREE,
    instructions="Answer the question.",
    takes=("expected",),
    many_lines=True,
)
