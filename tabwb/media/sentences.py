"""Sentences about many administrations: what they share is said once, what differs is named."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

Of = TypeVar("Of")
Value = TypeVar("Value", bound=Hashable)


def listed(words: Iterable[str], last: str = "and") -> str:
    """Return words as a list in a sentence.

    >>> listed(["A"]), listed(["A", "B"]), listed(["A", "B", "C"], "or")
    ('A', 'A and B', 'A, B or C')
    """
    *first, end = words
    return f"{', '.join(first)} {last} {end}" if first else end


def spread(
    members: Iterable[Of], value: Callable[[Of], Value]
) -> tuple[tuple[Value, tuple[Of, ...]], ...]:
    """Return every different value with the members that have it, the most frequent value first.

    >>> spread([1, 2, 3], lambda number: number % 2 == 0)
    ((False, (1, 3)), (True, (2,)))
    """
    of: dict[Value, list[Of]] = {}
    for member in members:
        of.setdefault(value(member), []).append(member)
    ordered = sorted(of.items(), key=lambda given: -len(given[1]))
    return tuple((each, tuple(having)) for each, having in ordered)


def once(
    members: Sequence[Of], phrase: Callable[[Of], str], names: Callable[[Sequence[Of]], str]
) -> str:
    """Return the end of a sentence that says what holds for members.

    What all share has no names. What more than half share is said first, and the others are the
    exceptions; otherwise every value has its names.

    >>> held = {"A": "greedy", "B": "greedy", "C": "sampled", "D": "greedy"}
    >>> once(list(held), held.__getitem__, listed)
    'greedy, except for C (sampled)'
    >>> once(["A", "C"], held.__getitem__, listed)
    'greedy for A, and sampled for C'
    >>> once(["A", "B"], held.__getitem__, listed)
    'greedy'
    """
    (first, having), *others = spread(members, phrase)
    if not others:
        return first
    if 2 * len(having) > len(members):
        exceptions = [f"for {names(each)} ({_inside(other)})" for other, each in others]
        return f"{first}, except {listed(exceptions)}"
    *earlier, last = (f"{each} for {names(of)}" for each, of in ((first, having), *others))
    return f"{', '.join(earlier)}, and {last}"


def _inside(phrase: str) -> str:
    """Return a phrase as it stands in parentheses: its own become brackets."""
    return phrase.replace("(", "[").replace(")", "]")


def ranges(numbers: Iterable[int]) -> str:
    """Return different whole numbers in ascending order, three or more in a row as a range.

    >>> ranges([3, 1, 2, 7, 9, 8, 20]), ranges([1, 2]), ranges([5])
    ('1 to 3, 7 to 9 and 20', '1 and 2', '5')
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run)
    return listed(parts)


def percent(amount: float) -> str:
    """Return a share in per cent, in three digits or as many as it was given with.

    >>> percent(0.3), percent(0.0153846)
    ('30', '1.54')
    """
    return f"{100 * amount:.3g}"


def quoted(text: str) -> str:
    r"""Return a text in quotation marks, on one line.

    >>> quoted("\n\n"), quoted("Stop.")
    ('“\\n\\n”', '“Stop.”')
    """
    shown = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    return f"“{shown}”"
