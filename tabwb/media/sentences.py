"""Sentences about many administrations: what they share is said once, what differs is named."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar

Of = TypeVar("Of")
Value = TypeVar("Value", bound=Hashable)
Phrase = Callable[[Any], str]
"""Returns the words for a value: a macro of a template, or ``str``."""


def joined(values: Iterable[Any], between: str = ", ", phrase: Phrase = str) -> str:
    """Return the words for values with a mark between them."""
    return between.join(phrase(value).strip() for value in values)


def listed(values: Iterable[Any], phrase: Phrase = str, last: str = "and") -> str:
    """Return the words for values as a list in a sentence; of no value nothing.

    >>> listed(["A"]), listed(["A", "B"]), listed(["A", "B", "C"], last="or")
    ('A', 'A and B', 'A, B or C')
    """
    *first, end = [phrase(value).strip() for value in values] or [""]
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


def once(found: Mapping[str, Any], phrase: Phrase = str) -> str:
    """Return the end of a sentence that says which values administrations have.

    What all share has no names. What more than half share is said first, and the others are the
    exceptions; otherwise every value has its names. ``found`` is of :meth:`Studied.varied`.

    >>> of = [{"value": "greedy", "names": "A", "n": 3}, {"value": "sampled", "names": "B", "n": 1}]
    >>> once({"of": of[:1]}), once({"of": of}), once({"of": [{**one, "n": 1} for one in of]})
    ('greedy', 'greedy, except for B (sampled)', 'greedy for A, and sampled for B')
    """
    told = [(phrase(one["value"]).strip(), one["names"], one["n"]) for one in found["of"]]
    (first, _, n), *others = told
    if not others:
        return first
    if 2 * n > sum(each for _, _, each in told):
        inside = [(other.replace("(", "[").replace(")", "]"), names) for other, names, _ in others]
        return f"{first}, except {listed(f'for {names} ({other})' for other, names in inside)}"
    *earlier, last = (f"{each} for {names}" for each, names, _ in told)
    return f"{', '.join(earlier)}, and {last}"


def said(lead: str, found: Mapping[str, Any], phrase: Phrase = str) -> str:
    """Return a sentence about administrations: what they share once, exceptions with names.

    Where every model has the same number of administrations of each kind, the numbers take the
    place of the names.
    """
    if not (counts := found["each"]):
        return f"{lead} {once(found, phrase)}. "
    kinds = zip(found["of"], counts, strict=True)
    parts = listed(f"{phrase(one['value']).strip()} in {n:,}" for one, n in kinds)
    noun = "administration" if counts[-1] == 1 else "administrations"
    return f"{lead} {parts} {noun} of each model. "


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
