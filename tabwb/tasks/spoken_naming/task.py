"""The task type ``naming``: a picture is named aloud, and a listener scores and codes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tabwb.records.problems import Broken, KeyPath
from tabwb.records.states import ResponseKind
from tabwb.tasks.spoken_naming.rules import ITEM_KEYS, RULE_KEYS, SOURCES_KEY
from tabwb.tasks.task_type import TaskType


def check(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    """Yield every rule of the subtest that does not hold.

    Args:
        path: of the subtest.
        subtest: its keys.
    """
    from tabwb.tasks.spoken_naming.items import naming_problems  # loads the phonology

    yield from naming_problems(path, subtest)


TASK = TaskType(
    kind=ResponseKind.SPOKEN_NAMING,
    asks_for="the name of the picture",
    instructions="Tell me the name of each picture with one word.",
    needs=("picture", "target", "accept"),
    takes=("prompt", *ITEM_KEYS),
    rules=(*RULE_KEYS, SOURCES_KEY),
    instead={"expected": "target and accept"},
    check=check,
    typed=False,
    spoken=True,
    judged="never",
    coded=True,
)
