"""One operation: the values that it takes, and what it does. Three interfaces are made from it."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from tabwb.records.errors import UsageError
from tabwb.records.words import separated

if TYPE_CHECKING:
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.events import Event
    from tabwb.store.store import Store

Ids = tuple[int | str, ...]
"""Numbers or uids of administrations."""


@dataclass(frozen=True, slots=True)
class Arg:
    """What an interface needs to know of a value, beside its name, type and default.

    Attributes:
        help: for ``--help``, F1 and the reference.
        label: in a dialog; empty: not in the dialog, because what is shown decides it.
        flag: on the command line; empty: the name.
        metavar: what ``--help`` writes for the value.
        alone: the value of a flag that is given without one.
        positional: it needs no flag on the command line.
        low, high: the range; with ``above``, ``low`` itself is not in it.
        kind: components that are offered, such as ``judges``.
        pairs: NAME=VALUE, or a mapping.
        names: one text may have several values, with commas between.
        words: for a dialog: the choices in words, in the order of the values (no, yes).
        blank: for a dialog: what an empty field means.
    """

    help: str
    label: str = ""
    flag: str = ""
    metavar: str = ""
    alone: str = ""
    positional: bool = False
    low: float | None = None
    high: float | None = None
    above: bool = False
    kind: str = ""
    pairs: bool = False
    names: bool = False
    words: tuple[str, ...] = ()
    blank: str = ""


class Value(NamedTuple):
    """A declared value with its type taken apart; ``many`` values are a tuple."""

    name: str
    arg: Arg
    type: type
    choices: tuple[str, ...]
    many: bool
    default: Any

    @property
    def allowed(self) -> str:
        """What may be given, in words; empty: anything."""
        low, high = self.arg.low, self.arg.high
        if self.choices:
            return ", ".join(self.choices)
        if low is None:
            return ""
        if self.arg.above:
            return f"more than {low:g}"
        return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"

    def checked(self, given: Any) -> Any:
        """Return one value in its type, or refuse it."""
        where, allowed = self.name, self.allowed or None
        if self.type is int and isinstance(given, float) and not given.is_integer():
            raise UsageError(f"{given!r} cannot be used", where=where, allowed=allowed)
        try:
            value = given if self.type in (bool, object) else self.type(given)
        except (TypeError, ValueError):
            raise UsageError(f"{given!r} cannot be used", where=where, allowed=allowed) from None
        low, high = self.arg.low, self.arg.high
        outside = isinstance(value, int | float) and (
            math.isnan(value)
            or (low is not None and (value <= low if self.arg.above else value < low))
            or (high is not None and value > high)
        )
        if outside or (self.choices and value not in self.choices):
            raise UsageError(f"{given!r} cannot be used", where=where, allowed=allowed)
        return value


class Told(NamedTuple):
    """How far an operation is.

    Attributes:
        words: what it does, or what was spent.
        timed: of ``done``, those that took time, from which the time that is left follows.
        begins: a part begins, and ``words`` say what it takes.
        waits: it waits for something outside.
        event: of the engine, for who listens to these.
    """

    words: str = ""
    done: int = 0
    planned: int = 0
    timed: int = 0
    begins: bool = False
    waits: bool = False
    event: Event | None = None


Progress = Iterator[Told]


@dataclass(slots=True)
class Tools:
    """What an operation works with, and where it says what it does.

    Attributes:
        say: takes a line about what is done; ``-q`` leaves it out.
        warn: takes a sentence that nobody may miss.
        locked: holds an administration while work changes it.
        document: what was done so far, in plain values; kept when the work stops early.
        detail: an estimate also lists what would be sent.
    """

    plugins: Plugins
    store: Store
    say: Callable[[str], object]
    warn: Callable[[str], object]
    locked: Callable[[int], AbstractContextManager[object]]
    cancel: threading.Event = field(default_factory=threading.Event)
    document: dict[str, Any] = field(default_factory=dict)
    detail: bool = False


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation; its fields are its values, each ``Annotated`` with an :class:`Arg`.

    The docstring of a subclass is its help. NAME is that of its command.
    """

    NAME: ClassVar[str]
    TITLE: ClassVar[str]
    DOING: ClassVar[str] = ""
    """What its background job is called, such as *Judging*."""
    TOLD: ClassVar[str] = "done"
    """What is counted while it works, such as *judged*."""
    ESTIMATE: ClassVar[str] = ""
    """Help of ``--dry-run``; empty: there is no estimate."""
    WRITES: ClassVar[bool] = True
    """Whether the store is changed."""
    CREATES: ClassVar[bool] = False
    """Whether a store is made where there is none."""
    CONFIRMS: ClassVar[str] = ""
    """The value that a person types again before it is done; the estimate is shown first."""
    EPILOG: ClassVar[str] = ""
    """What follows the options in ``--help``."""
    CONTINUES: ClassVar[str] = ""
    """What a dialog says of work that was stopped."""

    @property
    def about(self) -> str:
        """What it works on, in a few words."""
        return ""

    @property
    def rest(self) -> Operation:
        """What continues it after it was stopped."""
        return self

    @property
    def creates(self) -> bool:
        """Whether a store is made where there is none."""
        return self.CREATES

    def check(self, plugins: Plugins) -> None:
        """Refuse values that cannot be used together, before a store is opened."""

    def estimate(self, tools: Tools) -> None:
        """Say what :meth:`run` would take; do nothing else."""

    def run(self, tools: Tools) -> Progress:
        """Work; tell how far it is, and write what was done into ``tools.document``."""
        raise NotImplementedError

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the document for people."""
        yield from ()


def values_of(kind: type[Operation]) -> list[Value]:
    """Return the values of an operation in their order."""
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for one in dataclasses.fields(kind):
        assert get_origin(hints[one.name]) is Annotated, one.name
        base, arg = get_args(hints[one.name])[:2]
        many = get_origin(base) is tuple
        inner = get_args(base)[0] if many else base
        if get_origin(inner) in (Union, UnionType):
            several = [each for each in get_args(inner) if each is not type(None)]
            inner = several[0] if len(several) == 1 else object
        choices = get_args(inner) if get_origin(inner) is Literal else ()
        found.append(Value(one.name, arg, str if choices else inner, choices, many, one.default))
    return found


def made(kind: type[Operation], given: Mapping[str, Any]) -> Operation:
    """Return an operation with checked values; None, and no text for a number, are the default.

    Raises:
        UsageError: a value is missing or cannot be used; ``where`` is its name.
    """
    checked: dict[str, Any] = {}
    for value in values_of(kind):
        one = given.get(value.name)
        if one is None or (one == "" and value.type is not str) or (value.many and not one):
            if value.default is dataclasses.MISSING:
                raise UsageError(f"no {value.name} is given", where=value.name, hint=value.arg.help)
            continue
        if not value.many:
            checked[value.name] = value.checked(one)
            continue
        if isinstance(one, str) and value.arg.names:
            one = separated(one)
        if isinstance(one, Mapping) and value.arg.pairs:
            one = tuple(f"{key}={each}" for key, each in one.items())
        several = one if isinstance(one, tuple | list | set | frozenset) else [one]
        checked[value.name] = tuple(dict.fromkeys(value.checked(each) for each in several))
    return kind(**checked)
