"""Whether choices depend on the place of an option: right answers and answers by position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tabwb.scoring.estimate import Estimate, ratio


@dataclass(frozen=True, slots=True)
class Position:
    """One place among the options shown.

    Attributes:
        number: from 1.
        keyed: answers to items whose right option stood there.
        correct: right answers among them.
        chosen: answers that named the option there.
        of: answers that named one of the options.
    """

    number: int
    keyed: int
    correct: int
    chosen: int
    of: int

    @property
    def accuracy(self) -> Estimate:
        """Share right where the key stood there."""
        return ratio(self.correct, self.keyed, "the key never stood there")

    @property
    def share(self) -> Estimate:
        """Share of the answers that named the option there; 1 / options without a bias."""
        return ratio(self.chosen, self.of, "no answer named an option")


def positions(
    answers: Iterable[tuple[Sequence[str], str, bool, str | None]],
) -> tuple[Position, ...]:
    """Count right answers by the position of the key, and answers by their own position.

    Args:
        answers: (options as shown, expected, right, option named or None).

    >>> first, second = positions([
    ...     (("boot", "boat"), "boot", True, "boot"), (("boat", "boot"), "boot", False, "boat"),
    ... ])
    >>> (first.keyed, first.correct, first.chosen), (second.keyed, second.correct, second.chosen)
    ((1, 1, 2), (1, 0, 0))
    """
    given = [answer for answer in answers if answer[1] in answer[0]]
    longest = max((len(options) for options, *_ in given), default=0)
    keyed, correct, chosen = ([0] * longest for _ in range(3))
    for options, expected, right, named in given:
        at = list(options).index(expected)
        keyed[at] += 1
        correct[at] += right
        if named is not None and named in options:
            chosen[list(options).index(named)] += 1
    total = sum(chosen)
    return tuple(
        Position(at + 1, keyed[at], correct[at], chosen[at], total) for at in range(longest)
    )
