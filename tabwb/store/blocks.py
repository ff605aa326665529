"""An immutable sequence of which a copy shares what has not changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Self, TypeVar, overload

T = TypeVar("T")
SIZE = 256
"""Items in a block of :class:`Blocks`."""


class Blocks(Sequence[T]):
    """An immutable sequence in blocks; a copy shares all blocks but those in which it differs.

    A tuple of 40,000 trials, copied for every answer, cost more than scoring and storing it.

    >>> first = Blocks(range(1000))
    >>> second = first.changed({3: -3}, [1000])
    >>> first[3], second[3], second[-1], len(first), len(second)
    (3, -3, 1000, 1000, 1001)
    """

    __slots__ = ("_blocks", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        whole = tuple(items)
        self._length = len(whole)
        self._blocks: tuple[tuple[T, ...], ...] = tuple(
            whole[start : start + SIZE] for start in range(0, len(whole), SIZE)
        )

    def changed(self, items: Mapping[int, T], added: Sequence[T] = ()) -> Self:
        """Return a copy with other items at some places (0 and up) and more items at its end."""
        blocks = list(self._blocks)
        opened: dict[int, list[T]] = {}
        for place, item in items.items():
            block, within = divmod(place, SIZE)
            if block not in opened:
                opened[block] = list(blocks[block])
            opened[block][within] = item
        for block, content in opened.items():
            blocks[block] = tuple(content)
        if added:
            last = blocks.pop() if self._length % SIZE else ()
            tail = (*last, *added)
            blocks += [tail[start : start + SIZE] for start in range(0, len(tail), SIZE)]
        copy = type(self)()
        copy._blocks = tuple(blocks)
        copy._length = self._length + len(added)
        return copy

    def differing(self, other: Blocks[T]) -> Iterator[int]:
        """Yield the places at which another sequence of the same length holds another object.

        >>> first = Blocks(range(1000))
        >>> list(first.differing(first.changed({3: -3, 700: -7})))
        [3, 700]
        """
        for block, (mine, theirs) in enumerate(zip(self._blocks, other._blocks, strict=True)):
            if mine is not theirs:
                for within, (one, another) in enumerate(zip(mine, theirs, strict=True)):
                    if one is not another:
                        yield block * SIZE + within

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        if isinstance(place, slice):
            return tuple(self[at] for at in range(*place.indices(self._length)))
        at = place + self._length if place < 0 else place
        if not 0 <= at < self._length:
            raise IndexError(place)
        block, within = divmod(at, SIZE)
        return self._blocks[block][within]

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self._blocks)

    def __reversed__(self) -> Iterator[T]:
        return chain.from_iterable(reversed(block) for block in reversed(self._blocks))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blocks) and self._blocks == other._blocks

    __hash__ = None  # type: ignore[assignment]  # equal by content, and the content may be large
