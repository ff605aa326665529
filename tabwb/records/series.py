"""Rows that are shown as one: a sweep, or a series of runs or sessions."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Series(Generic[T]):
    """Rows that are shown as one until they are asked for.

    Attributes:
        key: what tells it from others.
        name: the tag of a sweep, the parent of checkpoints, or the examinee.
        what: ``conditions``, ``checkpoints``, ``runs`` or ``sessions``.
        members: the rows, in the order given.
    """

    key: tuple[Hashable, ...]
    name: str
    what: str
    members: tuple[T, ...]

    @property
    def title(self) -> str:
        """Its name with the number of its rows."""
        return f"{self.name} · {len(self.members)} {self.what}"
