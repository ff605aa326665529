"""The task type ``connected-text``: a few sentences, without a right answer."""

from __future__ import annotations

from tabwb.battery.task_type import TaskType
from tabwb.records.states import ResponseKind

TASK = TaskType(
    kind=ResponseKind.CONNECTED_TEXT,
    asks_for="a few sentences",
    instructions="Answer in 3 to 5 full sentences.",
    scorers=("lexical",),
    takes=("expected",),
    many_lines=True,
    connected=True,
)
