"""The statistics, commands and pages of plugins by id, and the checks of what is registered."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, get_args

from tabwb.plugin_api.extensions import (
    CommandSource,
    Extension,
    ExtensionKind,
    PageSource,
    Per,
    Pooling,
    Statistic,
)
from tabwb.records.errors import UsageError
from tabwb.records.specs import is_kebab

Conflicts = Sequence[tuple[str, Sequence[str]]]
EXTENSIONS: Mapping[ExtensionKind, tuple[str, type]] = {
    "statistics": ("statistic", Statistic),
    "commands": ("command", CommandSource),
    "pages": ("page", PageSource),
}
"""Kind: its noun, and what plugins register."""

MEASURES = frozenset((
    "accuracy", "burden", "code", "correct-any", "correct-first", "difference", "difficulty",
    "discrimination", "fer", "guessing", "infit", "latency", "mattr", "mtld", "outcome", "outfit",
    "per", "person", "rate", "slope", "trend", "ttr", "words",
))  # fmt: skip
"""Measures of tabwb itself that are kebab-case: a statistic shares their column in tables."""
MOST_DIGITS = 12
MOST_CHARACTERS = 300
"""Of a text that is shown with an extension."""


class Owned(Protocol):
    """A registration with the plugin that made it."""

    @property
    def owner(self) -> str:
        """The plugin's name."""
        ...


def with_owners(claims: Iterable[tuple[str, Sequence[Owned]]]) -> Conflicts:
    """Return the words that are registered more than once, with their owners."""
    return [(word, [claim.owner for claim in rivals]) for word, rivals in claims if len(rivals) > 1]


@dataclass(frozen=True, slots=True)
class Extended:
    """An extension and the plugin that registered it."""

    extension: Any
    owner: str


class ExtensionIndex:
    """The extensions of one kind by id. Two with one id are both refused."""

    def __init__(self, kind: ExtensionKind) -> None:
        self._noun, self._type = EXTENSIONS[kind]
        self._claims: dict[str, list[Extended]] = {}

    def add(self, extension: Extension, owner: str) -> None:
        """Register an extension.

        Args:
            extension: of this kind.
            owner: the plugin.

        Raises:
            TypeError: it is of another type.
            UsageError: one of its fields cannot be used.
        """
        if not isinstance(extension, self._type):
            given = type(extension).__name__
            raise TypeError(f"register() takes a {self._type.__name__}, not {given}")
        _check_extension(extension, self._noun)
        self._claims.setdefault(extension.id, []).append(Extended(extension, owner))

    @property
    def usable(self) -> tuple[Extended, ...]:
        """Those that can be used, in the order in which they were registered."""
        return tuple(claims[0] for claims in self._claims.values() if len(claims) == 1)

    @property
    def conflicts(self) -> Conflicts:
        """The ids that are registered twice, with their owners."""
        return with_owners(self._claims.items())


def _check_extension(extension: Extension, noun: str) -> None:
    """Check every field of an extension."""
    name: object = extension.id
    where = f"{noun} {name!r:.60}"
    if not isinstance(name, str) or not is_kebab(name):
        raise _refused(where, "id", name, "kebab-case: a-z, 0-9 and single hyphens")
    for field in fields(extension):
        value = getattr(extension, field.name)
        if field.type == "str":
            text = value if isinstance(value, str) else ""
            if (
                "\n" in text
                or len(text) > MOST_CHARACTERS
                or not (text.strip() or (field.name == "unit" and value == ""))
            ):
                allowed = f"one line of text, of {MOST_CHARACTERS} characters at most"
                raise _refused(where, field.name, value, allowed)
        elif field.type == "bool" and not isinstance(value, bool):
            raise _refused(where, field.name, value, "True or False")
        elif field.type == "float" and not _is_positive(value):
            raise _refused(where, field.name, value, "seconds, above 0")
        elif field.name in ("compute", "load", "build") and not callable(value):
            raise _refused(where, field.name, value, "a function")
    if isinstance(extension, Statistic):
        _check_statistic(extension, where)


def _check_statistic(statistic: Statistic, where: str) -> None:
    for field in ("digits", "judges"):
        number: object = getattr(statistic, field)
        if (
            isinstance(number, bool)
            or not isinstance(number, int)
            or not 0 <= number <= MOST_DIGITS
        ):
            raise _refused(where, field, number, f"a whole number from 0 to {MOST_DIGITS}")
    for field, allowed in (("per", get_args(Per)), ("pooled", get_args(Pooling))):
        if getattr(statistic, field) not in allowed:
            raise _refused(where, field, getattr(statistic, field), ", ".join(allowed))
    if statistic.percent and statistic.unit not in ("", "share"):
        raise _refused(where, "unit", statistic.unit, "'share' or '', because percent is True")
    if statistic.id in MEASURES:
        raise UsageError(
            "tabwb has a measure of this id",
            where=where,
            hint=f"give the statistic another id, for example 'our-{statistic.id}'",
        )


def _is_positive(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value > 0  # type: ignore[arg-type, operator]


def _refused(where: str, field: str, value: object, allowed: str) -> UsageError:
    return UsageError(f"{value!r:.60} cannot be used", where=f"{where}, {field}", allowed=allowed)
