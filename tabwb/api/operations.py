"""Operations from Python: what they say is Python's warnings, what they did is returned."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from tabwb.api.engine import Place, Progress, opened_plugins, place_of, python_names, shown_by, warn
from tabwb.operations.operation import Operation, Tools, followed, made, values_of

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


def tools_of(plugins: Plugins, place: Place = None, lent: Store | None = None) -> Tools:
    """Return what an operation of Python works with: warnings are Python's, lines are not said."""
    return Tools(
        plugins, lambda: place_of(place, plugins.configuration), lent=lent, same="the same call",
        say=lambda line: None, warn=warn,
    )  # fmt: skip


def worked(operation: Operation, tools: Tools, progress: Progress = False) -> dict[str, Any]:
    """Do an operation and return its document."""
    show = shown_by(progress, operation.TOLD)
    with closing(tools):
        try:
            followed(operation.run(tools), show)
        except BaseException:
            tools.cancel.set()  # threads of the work end at their next item
            raise
        finally:
            show(None)
    return tools.document


def does(kind: type[Operation], more: str = "") -> Callable[[F], F]:
    """Add to the docstring of a method of :class:`tabwb.Study` what an operation declares.

    Args:
        kind: the operation.
        more: lines of the docstring's end, such as *Returns*.
    """

    def decorate(function: F) -> F:
        helps = {value.name: _lowered(value.arg.help) for value in values_of(kind)}
        if kind.ESTIMATE:
            helps["dry_run"] = _lowered(kind.ESTIMATE)
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
        tools = tools_of(plugins, lent=study.store)
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
        return worked(operation, tools_of(plugins))
