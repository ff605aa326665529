"""The method of an operation: its signature and docstring follow from the declared values."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from tabwb.administer.limits import NO_LIMITS, Limits
from tabwb.api.engine import Progress, named_references, teller, warn
from tabwb.operations.operation import Operation, Tools, Value, made, values_of

if TYPE_CHECKING:
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.store.store import Store
    from tabwb.tables.table import Table

POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
NAMED = inspect.Parameter.KEYWORD_ONLY
CLOSED = "UsageError: the store is not open for writing, or a value cannot be used."
USED = "UsageError: a value cannot be used."
PROGRESS = "True for a line on stderr, or a function that gets each event."


def tools_of(plugins: Plugins, store: Store) -> Tools:
    """Return what an operation of Python works with: warnings are Python's, lines are not said."""
    return Tools(plugins, store, say=lambda line: None, warn=warn, locked=store.lock)


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
    from tabwb.operations.judge import JudgeRun

    tools = tools_of(plugins, store)
    if held:
        tools.warn, tools.locked = (lambda words: None), nullcontext
    operation = JudgeRun(
        ids=tuple(numbers), judge=tuple(judges),
        max_requests=limits.requests, max_cost=limits.cost,
    )  # fmt: skip
    worked(operation, tools, progress)


def method(
    kind: type[Operation],
    why: str = "",
    raises: str = "",
    table: Callable[[Mapping[str, Any]], Table] | None = None,
    places: tuple[str, ...] = (),
) -> Callable[..., Any]:
    """Return the method of :class:`tabwb.Study` that does an operation.

    Args:
        kind: the operation.
        why: the store is written, for the error.
        raises: of the docstring, beside the usual.
        table: makes the method's result of the document; None: it is the document.
        places: the values that need no name; default: those that need no flag.
    """
    values = {value.name: value for value in values_of(kind)}
    places = places or tuple(name for name, value in values.items() if value.arg.positional)

    def call(self: Any, *given: Any, **named: Any) -> Any:
        bound = signature.bind(self, *given, **named).arguments
        asked = {name: bound.get(name) for name in values}
        if "ids" in asked and not (asked.get("where") or asked.get("everything")):
            asked["ids"] = tuple(named_references(asked["ids"]))
        if kind.WRITES:
            self.writable(why)
        operation = made(kind, asked)
        operation.check(self._plugins())
        tools = tools_of(self._plugins(), self.store)
        document = worked(operation, tools, bound.get("progress", False))
        return document if table is None else table(document)

    def parameter(name: str) -> inspect.Parameter:
        default = values[name].default
        if default is MISSING:
            default = inspect.Parameter.empty
        elif default == ():
            default = None
        how = POSITIONAL if name in places else NAMED
        return inspect.Parameter(name, how, default=default, annotation=_typed(values[name]))

    shown = inspect.Parameter("progress", NAMED, default=False, annotation="Progress")
    order = [*places, *(name for name in values if name not in places)]
    signature = inspect.Signature(
        [
            inspect.Parameter("self", POSITIONAL),
            *map(parameter, order),
            *([shown] if kind.DOING else []),
        ],
        return_annotation="dict[str, Any]" if table is None else "Table",
    )
    call.__signature__ = signature  # type: ignore[attr-defined]
    helps = {name: values[name].arg.help for name in order}
    if kind.DOING:
        helps["progress"] = PROGRESS
    call.__doc__ = _docstring(kind, helps, raises)
    return call


def _typed(value: Value) -> str:
    if value.many:
        if value.arg.names:
            return "Names"
        if value.arg.pairs:
            return "Mapping[str, Any] | Sequence[str]"
        return "Ids" if value.name == "ids" else "str | Sequence[str]"
    if value.type is object:
        return "int | str"
    if value.choices:
        return f"Literal{list(value.choices)}"
    return value.type.__name__ + (" | None" if value.default is None else "")


def _docstring(kind: type[Operation], helps: Mapping[str, str], raises: str) -> str:
    about = (inspect.getdoc(kind) or "").partition(" Exit status")[0]
    lines = [about, "", "Args:"]
    for name, text in helps.items():
        plain = re.sub(r"--([a-z]+)", r"\1", text)
        lines.append(f"    {name}: {plain if name == 'progress' else plain[0].lower() + plain[1:]}")
    first = CLOSED if kind.WRITES else USED
    raised = f"{first}\n{raises}".strip().splitlines()
    return "\n".join([*lines, "", "Raises:", *(f"    {line}" for line in raised)])
