"""How many responses can be described at all; it stands before every figure of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Usable:
    """Usable responses of all that count, and why the others are not.

    Attributes:
        usable, n: how many are usable, of how many.
        causes: response status of the others to their number.
    """

    usable: int
    n: int
    causes: Mapping[str, int] = field(default_factory=dict)

    @property
    def few(self) -> bool:
        """Whether fewer than half are usable; such a burden is left out of rankings.

        >>> Usable(2, 5).few, Usable(3, 6).few, Usable(0, 0).few
        (True, False, False)
        """
        return 2 * self.usable < self.n

    def to_json(self) -> dict[str, object]:
        """Return as plain data."""
        return {
            "usable": self.usable,
            "n": self.n,
            "causes": dict(self.causes),
            "few_usable": self.few,
        }


NOTHING = Usable(0, 0)
"""Where no response has been counted."""


def count_usable(causes: Iterable[str]) -> Usable:
    """Count responses, given of each the status that makes it unusable, or an empty text.

    >>> count_usable(["", "refused", "", "refused"])
    Usable(usable=2, n=4, causes={'refused': 2})
    """
    counts = Counter(causes)
    usable = counts.pop("", 0)
    return Usable(usable, usable + counts.total(), dict(sorted(counts.items())))
