"""The declaration of a task type, and where each is found.

Types are in ``TASKS`` of :data:`MODULES`, each of a member of
:class:`~tabwb.records.states.ResponseKind`. Battery, session and what is above read the declaration
and test for no kind. Only the rules in :mod:`tabwb.scoring`, below, name the kinds that they are
defined for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Literal

from tabwb.records.classes import dataclass, field
from tabwb.records.errors import TabwbError
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.states import ResponseKind

Check = Callable[[KeyPath, Mapping[str, Any]], Iterator[Broken]]
"""Yields what is wrong with a ``[[subtest]]``, given its path and the keys that it sets, with those
of ``[battery]`` under ``battery``."""
MODULES = ("tabwb.tasks.texts", "tabwb.tasks.spoken_naming.task")
"""Modules that declare task types; one that is not installed is left out."""
PICTURES = (".png", ".jpg", ".jpeg")
Judged = Literal["always", "on-demand", "never"]


def picture_problems(path: KeyPath, item: Mapping[str, Any]) -> Iterator[Broken]:
    """Yield a picture that is not a picture file."""
    picture = item.get("picture")
    if picture and not picture.lower().endswith(PICTURES):
        message, allowed = "this is not a picture file", ", ".join(PICTURES)
        yield Broken((*path, "picture"), message, shortened(picture), allowed)


def _no_problems(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    yield from ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskType:
    """One type of task.

    Attributes:
        kind: what ``response`` says in a battery.
        asks_for: what the examinee gives, for whoever types.
        instructions: for a new battery.
        scorers: usual scorers, for a new battery.
        needs: keys that each item must have.
        takes: further keys that an item may have, besides those of every item.
        rules: keys that only this type's subtests have.
        read: returns the rules of a subtest, given its table; None where there are none.
        tables: returns the models of those keys of ``[[subtest]]`` and ``[[subtest.item]]`` that
            only this type has.
        instead: a key that an item does not take, to those that take its place.
        check: what else must hold of a subtest and its items.
        typed: whether a person may answer by typing.
        spoken: whether a person may answer aloud; what is recorded is kept.
        many_lines: whether a typed answer may have several lines.
        options: whether one of the item's options is chosen.
        answers: the answers that all items have in common, where there are such.
        judged: whether judges rate the answers feature by feature: while they are given, only
            where a judge is asked for all answers, or never.
        rated_as: the kind whose rules rate the text, where that is not the type's own.
        right_or_wrong: whether a summary shows accuracy.
        errors: measures of the scorers that a summary shows as counts of errors.
        connected: whether a summary shows symptom burden and measures of connected text.
        coded: whether responses are scored by ear, coded and compared with accepted forms.
        strategy: makes of an open session what gives the items that a person answers aloud
            (:class:`tabwb.administer.session.session.Strategy`); None: all are typed.
        rule_lines, item_lines: return what ``battery show`` prints of a subtest's rules and of an
            item; None: no rules, and the prompt.
    """

    kind: ResponseKind
    asks_for: str = "an answer"
    instructions: str = "Answer."
    scorers: tuple[str, ...] = ()
    needs: tuple[str, ...] = ("prompt",)
    takes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    read: Callable[[Mapping[str, Any]], object] | None = None
    tables: Callable[[], tuple[type[Any], type[Any]]] | None = None
    instead: Mapping[str, str] = field(default_factory=dict)
    check: Check = _no_problems
    typed: bool = True
    spoken: bool = False
    many_lines: bool = False
    options: bool = False
    answers: tuple[str, ...] = ()
    judged: Judged = "always"
    rated_as: ResponseKind | None = None
    right_or_wrong: bool = False
    errors: tuple[str, ...] = ()
    connected: bool = False
    coded: bool = False
    strategy: Callable[[Any], Any] | None = None
    rule_lines: Callable[[Any], list[str]] | None = None
    item_lines: Callable[[Any], list[str]] | None = None

    @property
    def closed(self) -> bool:
        """Whether there are a few short answers, which are right for several items."""
        return self.options or bool(self.answers)

    @property
    def text_kind(self) -> ResponseKind:
        """The kind whose rules rate the text."""
        return self.rated_as or self.kind


@cache
def task_type(kind: ResponseKind) -> TaskType:
    """Return the declaration of a kind.

    >>> task_type(ResponseKind.YES_NO).answers
    ('Yes', 'No')
    """
    for task in task_types():
        if task.kind is kind:
            return task
    raise TabwbError(f"the task type '{kind}' is not installed")


@cache
def task_types() -> tuple[TaskType, ...]:
    """Return every task type that is installed, in the order of the kinds."""
    found: dict[ResponseKind, TaskType] = {}
    for name in MODULES:
        try:
            module = import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            continue
        found |= {task.kind: task for task in module.TASKS}
    return tuple(found[kind] for kind in ResponseKind if kind in found)
