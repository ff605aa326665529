"""The declaration of a task type, and where each is found.

Types are registered by name through the hook ``tabwb_register_tasks``: those of tabwb
(:class:`~tabwb.records.states.ResponseKind`) by the plugins in :data:`MODULES`, others by any
plugin. Battery, session and what is above read the declaration and test for no kind. Only the rules
in :mod:`tabwb.scoring`, below, name the kinds that they are defined for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol

from tabwb.records.errors import TabwbError, error_text
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.speakers import Study
from tabwb.records.states import ResponseKind

Check = Callable[[KeyPath, Mapping[str, Any]], Iterator[Broken]]
"""Yields what is wrong with a ``[[subtest]]``, given its path and the keys that it sets, with those
of ``[battery]`` under ``battery``."""
MODULES = ("tabwb.tasks.texts", "tabwb.tasks.spoken_naming.task")
"""The plugins of tabwb that register task types; one that is not installed is left out. They are
asked without the others, which need not be imported to read a battery."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskType:
    """One type of task.

    Attributes:
        kind: what ``response`` says in a battery: kebab-case. Those of tabwb are members of
            :class:`~tabwb.records.states.ResponseKind`.
        asks_for: what the examinee gives, for whoever types.
        instructions: for a new battery; a subtest without instructions sends the prompt alone.
        scorers: usual scorers, for a new battery.
        needs: keys that each item must have.
        takes: further keys that an item may have, besides those of every item.
        rules: keys that only this type's subtests have.
        read: returns the rules of a subtest, given its table; None where there are none.
        tables: returns the models of those keys of ``[[subtest]]`` and ``[[subtest.item]]`` that
            only this type has, each with a default.
        instead: a key that an item does not take, to those that take its place.
        check: what else must hold of a subtest and its items: given its path and its keys, yields a
            :class:`Broken` for each problem.
        typed: whether a person may answer by typing.
        spoken: whether a person may answer aloud; what is recorded is kept.
        many_lines: whether a typed answer may have several lines.
        options: whether one of the item's options is chosen.
        answers: the answers that all items have in common, where there are such.
        judged: whether judges rate the answers feature by feature: while they are given, only
            where a judge is asked for all answers, or never.
        rated_as: the kind of tabwb whose rules rate the text; None: its own, or ``free`` for the
            type of a plugin.
        right_or_wrong: whether a summary shows accuracy.
        errors: measures of the scorers that a summary shows as counts of errors.
        connected: whether a summary shows symptom burden and measures of connected text.
        coded: whether responses are scored by ear, coded and compared with accepted forms.
        strategy: makes of an open session what gives the items that a person answers aloud
            (:class:`tabwb.administer.session.session.Strategy`); None: all are typed.
        rule_lines, item_lines: return what ``battery show`` prints of a subtest's rules and of an
            item; None: no rules, and the prompt.
        read_item: returns an item with its own keys read; None: it has none.
        new_battery: writes a new battery of the type, which has files: given its folder, its id
            and a table of items or None, returns the battery's file.
        is_installed: False for a type that no plugin brings: what was recorded can be read, and
            nothing can be given.
    """

    kind: str
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
    read_item: Callable[[Any], Any] | None = None
    new_battery: Callable[[Path, str, Path | None], Path] | None = None
    is_installed: bool = True

    @property
    def id(self) -> str:
        """The name under which it is registered."""
        return str(self.kind)

    @property
    def closed(self) -> bool:
        """Whether there are a few short answers, which are right for several items."""
        return self.options or bool(self.answers)

    @property
    def text_kind(self) -> ResponseKind:
        """The kind whose rules rate the text."""
        return self.rated_as or self.own_kind or ResponseKind.FREE

    @property
    def own_kind(self) -> ResponseKind | None:
        """Its kind where it is one of tabwb's."""
        return self.kind if isinstance(self.kind, ResponseKind) else None


@contextmanager
def code_of(task: TaskType) -> Iterator[None]:
    """Name the task type of a plugin in an error that its code raises."""
    try:
        yield
    except TabwbError:
        raise
    except Exception as error:
        if task.own_kind:
            raise
        raise TabwbError(
            f"the task type '{task.kind}' failed: {error_text(error)}",
            hint="it is of a plugin: 'tabwb plugins list' shows of which",
        ) from error


class TaskSource(Protocol):
    """What knows the task types of plugins: :class:`tabwb.host.plugins.Plugins`."""

    @property
    def study(self) -> Study:
        """What is recorded of participants."""

    def tasks(self) -> tuple[TaskType, ...]:
        """Return them."""

    def unused(self, kind: Literal["tasks"]) -> tuple[str, ...]:
        """Return a line for each plugin that is not loaded or whose task types are refused."""


_plugins: list[TaskSource] = []


def use_tasks_of(plugins: TaskSource) -> None:
    """Look for task types that tabwb does not have among those of these plugins from now on."""
    _plugins[:] = [plugins]


def plugins_of_tasks() -> TaskSource:
    """Return the plugins that were loaded last; they are loaded where none were."""
    if not _plugins:
        import_module("tabwb.host.plugins").Plugins.load()
    return _plugins[0]


def current_study() -> Study:
    """Return what the study in effect, and the plugins loaded last, record of participants."""
    return plugins_of_tasks().study


def task_type(kind: str) -> TaskType:
    """Return the declaration of a kind; one without abilities where no plugin brings it.

    >>> task_type("yes-no").answers
    ('Yes', 'No')
    """
    task = own_tasks().get(kind)
    if task is None:
        given = () if kind in set(ResponseKind) else plugins_of_tasks().tasks()
        task = next((one for one in given if one.kind == kind), None)
    return task or TaskType(kind=kind, needs=(), judged="on-demand", is_installed=False)


def task_types() -> tuple[TaskType, ...]:
    """Return every task type that is installed, those of tabwb first."""
    return (*own_tasks().values(), *plugins_of_tasks().tasks())


def tasks_for(kinds: Iterable[str]) -> tuple[TaskType, ...]:
    """Return the task types of tabwb, and those of plugins where one of ``kinds`` is another."""
    own = own_tasks()
    return tuple(own.values()) if set(kinds) <= {*own, *ResponseKind} else task_types()


@cache
def own_tasks() -> Mapping[str, TaskType]:
    """Return the task types of tabwb that are installed, by kind and in the order of the kinds."""
    found: dict[str, TaskType] = {}
    for name in MODULES:
        try:
            module = import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            continue
        module.tabwb_register_tasks(lambda task: found.setdefault(task.kind, task))
    return {kind: found[kind] for kind in ResponseKind if kind in found}
