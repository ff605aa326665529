"""The task type ``description``: a picture or a question is described, aloud or typed.

The response is text. A person types it, or it is what a transcriber of words wrote of a recording,
which a person can correct; recording, transcript and times are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tabwb.battery.task_type import TaskType, picture_problems
from tabwb.records.problems import Broken, KeyPath
from tabwb.records.states import ResponseKind

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.tasks.spoken_naming.strategy import SpokenStrategy


def _check(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    for index, item in enumerate(subtest["item"]):
        where = (*path, "item", index)
        if not item.get("picture") and not item.get("prompt", "").strip():
            yield Broken(where, "there is nothing to describe", "", "prompt or picture")
        yield from picture_problems(where, item)


def _strategy(session: Session) -> SpokenStrategy:
    from tabwb.tasks.spoken_naming.strategy import SpokenStrategy  # loads the phonology

    return SpokenStrategy(session)


TASK = TaskType(
    kind=ResponseKind.DESCRIPTION,
    asks_for="a description in a few sentences",
    instructions="Describe it in 3 to 5 full sentences.",
    scorers=("lexical",),
    needs=(),
    takes=("prompt", "picture", "expected"),
    check=_check,
    spoken=True,
    many_lines=True,
    rated_as=ResponseKind.CONNECTED_TEXT,
    connected=True,
    strategy=_strategy,
)
