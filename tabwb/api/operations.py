"""Operations from Python: what they say is Python's warnings, what they did is returned."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tabwb.administer.limits import NO_LIMITS, Limits
from tabwb.api.engine import Progress, opened_plugins, python_names, teller, warn
from tabwb.operations.operation import Operation, Tools, made, values_of

if TYPE_CHECKING:
    from tabwb.api.study import Study
    from tabwb.host.plugins import Plugins
    from tabwb.store.store import Store

F = TypeVar("F", bound=Callable[..., Any])
DOCUMENT = """
    Returns:
        The document that the command of this name prints with ``--json``.

    Raises:
        UsageError: a value cannot be used, or the store is not open for writing.
    """


def tools_of(plugins: Plugins, store: Store) -> Tools:
    """Return what an operation of Python works with: warnings are Python's, lines are not said."""
    locked = nullcontext if store is None else store.lock
    return Tools(plugins, store, say=lambda line: None, warn=warn, locked=locked)


def worked(operation: Operation, tools: Tools, progress: Progress = False) -> dict[str, Any]:
    """Do an operation and return its document."""
    told = teller(progress, 0)
    for each in operation.run(tools):
        if each.event is not None:
            told(each.event)
    return tools.document


def judge_later(
    plugins: Plugins,
    store: Store,
    numbers: Sequence[int],
    judges: Sequence[str],
    progress: Progress = False,
    limits: Limits = NO_LIMITS,
    *,
    held: bool = False,
) -> None:
    """Let judges rate what was just stored; ``held``: the caller holds the administrations."""
    from tabwb.operations.judge import judging_after

    tools = tools_of(plugins, store)
    if held:
        tools.warn, tools.locked = (lambda words: None), nullcontext
    operation = judging_after(numbers, judges, limits)
    worked(operation, tools, progress)


def does(kind: type[Operation], more: str = "") -> Callable[[F], F]:
    """Add to the docstring of a method of :class:`tabwb.Study` what an operation declares.

    Args:
        kind: the operation.
        more: lines of the docstring's end, such as *Returns*.
    """

    def decorate(function: F) -> F:
        helps = {value.name: _lowered(value.arg.help) for value in values_of(kind)}
        helps["progress"] = "True for a line on stderr, or a function that gets each event."
        order = [name for name in inspect.signature(function).parameters if name != "self"]
        lines = [inspect.getdoc(function) or "", *(["", "Args:"] if order else [])]
        lines += [f"    {name}: {helps[name]}" for name in order]
        lines += ["", *inspect.cleandoc(more or DOCUMENT).splitlines()]
        function.__doc__ = "\n".join(lines)
        return function

    return decorate


def _lowered(text: str) -> str:
    return text[0].lower() + text[1:]


def done(study: Study, kind: type[Operation], given: Mapping[str, Any]) -> dict[str, Any]:
    """Do an operation on the store of a study with the arguments of a method."""
    operation = made(kind, {name: one for name, one in given.items() if name != "self"})
    dry = given.get("dry_run", False)
    if operation.writes and not dry:
        study.writable(f"'{kind.NAME}' changes it")
    with python_names():
        plugins = study._plugins()
        operation.check(plugins)
        tools = tools_of(plugins, study.store)
        tools.writing = study.writable
        if dry:
            for _ in operation.estimate(tools):
                pass
            return tools.document
        return worked(operation, tools, given.get("progress", False))


def done_without_store(kind: type[Operation], given: Mapping[str, Any]) -> dict[str, Any]:
    """Do an operation that needs no store with the arguments of a function."""
    operation = made(kind, given)
    with python_names(), opened_plugins() as plugins:
        operation.check(plugins)
        return worked(operation, tools_of(plugins, cast("Store", None)))
