"""The task type ``yes-no``: a question is answered with Yes or No."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tabwb.battery.task_type import TaskType
from tabwb.records.languages import is_english
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.states import ResponseKind
from tabwb.records.words import near
from tabwb.scoring.text import fold_case
from tabwb.scoring.yes_no import NO, YES


def _check(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    head = subtest.get("battery", {})
    language = head.get("language", "en")
    own = [*head.get("yes", ()), *head.get("no", ())]
    if not own and not is_english(language):
        return  # nothing is known of its answers
    folded = {fold_case(word, language) for word in own}
    spelled: dict[str, str] = {}
    for index, item in enumerate(subtest["item"]):
        expected = item.get("expected")
        if expected is None or (not own and expected in (YES, NO)):
            continue
        where, name = (*path, "item", index, "expected"), fold_case(expected, language)
        if name not in folded:
            allowed = own or [YES, NO]
            meant = near(expected.capitalize(), allowed)
            problem = "not an answer to a yes/no question"
            yield Broken(where, problem, shortened(expected), ", ".join(allowed), meant)
        elif (first := spelled.setdefault(name, expected)) != expected:
            problem = "this answer is spelled in two ways"
            yield Broken(where, problem, shortened(expected), first)


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
