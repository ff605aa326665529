"""The task type ``verbatim``: a text is repeated, character for character."""

from __future__ import annotations

from tabwb.battery.task_type import TaskType
from tabwb.records.states import ResponseKind
from tabwb.scoring.repetition import ERROR_TYPES

TASK = TaskType(
    kind=ResponseKind.VERBATIM,
    asks_for="the words exactly as given",
    instructions="Repeat the text exactly as it stands; punctuation and capital letters matter.",
    scorers=("repetition",),
    needs=("prompt", "expected"),
    right_or_wrong=True,
    errors=ERROR_TYPES,
)
