"""The numbers of layers and units in specs: ``0-3,-1``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tabwb.lesion.file_option import wrong

MOST = 2**31 - 1
"""The largest number of a layer or unit."""
MOST_NUMBERS = 2**20
"""So many numbers of layers or units a lesion can name."""
_RANGE = re.compile(r"(-?\d{1,10})(?:-(-?\d{1,10}))?")


def numbers_text(numbers: Iterable[int]) -> str:
    """Return numbers in the form of specs: ranges for those in a row, negative ones singly.

    >>> numbers_text((0, 1, 2, 5, -2, -1))
    '0-2,5,-2,-1'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number >= 0 and runs[-1][-1] == number - 1 and number > 0:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def parse_numbers(value: object, key: str, where: str) -> tuple[int, ...]:
    """Return numbers of layers or units, each once: those from 0 up in order, then negative
    ones.
    """
    allowed = f"{key}=0-3,-1 (negative numbers count from the end)"
    found: set[int] = set()
    items = value.split(",") if isinstance(value, str) else value
    for item in items if isinstance(items, list | tuple) else [items]:
        match = None if isinstance(item, bool) else _RANGE.fullmatch(str(item).strip())
        if match is None:
            raise wrong(where, f"has {key}={value}", allowed)
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or (first < 0 <= last):
            raise wrong(where, f"has the range {item} in {key}=, which is empty", allowed)
        if last > MOST or first < -MOST or last - first >= MOST_NUMBERS:
            raise wrong(where, f"has a number out of bounds in {key}={item}", f"below {MOST}")
        found.update(range(first, last + 1))
        if len(found) > MOST_NUMBERS:
            raise wrong(where, f"has too many numbers in {key}=", f"up to {MOST_NUMBERS:,}")
    return (*sorted(n for n in found if n >= 0), *sorted(n for n in found if n < 0))
