"""Things made once from objects that come again, such as lists of ratings shared by responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
KEPT = 5_000


class Once(Generic[T]):
    """Makes something from an object once, and returns the same for the same object later.

    Objects are told apart by identity, not by equality, because comparing them would take longer
    than making it again. They must not change.

    >>> lengths = Once(len)
    >>> ratings = [1, 2]
    >>> lengths.of(ratings), lengths.of(ratings)
    (2, 2)
    """

    __slots__ = ("_kept", "_made", "_make")

    def __init__(self, make: Callable[[Any], T], kept: int = KEPT) -> None:
        self._make, self._kept = make, kept
        # The object itself is kept too: its identity is free for another one when it is gone.
        self._made: dict[int, tuple[Any, T]] = {}

    def of(self, value: Any) -> T:
        """Return what is made from an object."""
        found = self._made.get(id(value))
        if found is None:
            if len(self._made) >= self._kept:
                self._made.clear()
            found = self._made[id(value)] = value, self._make(value)
        return found[1]
