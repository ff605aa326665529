"""The task type ``free``: any answer, which scorers of the battery's author rate."""

from __future__ import annotations

from tabwb.battery.task_type import TaskType
from tabwb.records.states import ResponseKind

TASK = TaskType(
    kind=ResponseKind.FREE,
    instructions="Answer the question.",
    takes=("expected",),
    many_lines=True,
)
