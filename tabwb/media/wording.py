"""Numbers and remarks of results as words: the same on paper, in the terminal, in the workbench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tabwb.records.columns import ends_of, fixed
from tabwb.records.words import NONE, plural
from tabwb.scoring.burden import Burden, Usable
from tabwb.scoring.estimate import DETERMINISTIC, Estimate, EstimatedInterval, Interval

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge
    from tabwb.analysis.statistics.results import Part

FEW = "few usable"
"""Marks a burden for which fewer than half of the responses are usable."""
_SHORT = {"prompt-echo": "echo", "repeated-answer": "repeated"}
SHORT_BASELINES = {"always_first": "first option", "always_yes": "always Yes"}
"""The baselines beside a subtest's row, and what they are called there."""


def size_of(parameters: str) -> str:
    """Return a model's size, as its profile says, with separators.

    >>> size_of("1240000000"), size_of("1.2B")
    ('1,240,000,000 parameters', '1.2B parameters')
    """
    shown = f"{int(parameters):,}" if parameters.isdecimal() else parameters
    return f"{shown} parameters"


def number(estimate: Estimate) -> str:
    """Return a number, or a dash where it is undefined.

    >>> number(Estimate(0.625)), number(Estimate(None, "no item answered"))
    ('0.62', '-')
    """
    return figure(estimate.value)


def figure(value: float | None, digits: int = 2) -> str:
    """Return a number, or a dash where there is none."""
    return NONE if value is None else fixed(value, digits)


def signed(value: float | None) -> str:
    """Return a difference with its sign, or a dash for None.

    >>> signed(3.06), signed(-0.5), signed(None)
    ('+3.06', '-0.50', '-')
    """
    return NONE if value is None else fixed(value, 2, "+")


def chance(p: float | None) -> str:
    """Return a p value, or a dash for None.

    >>> chance(0.125), chance(0.0001)
    ('0.125', '<0.001')
    """
    if p is None:
        return NONE
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def chances(p: float | None, adjusted: float | None, tests: int) -> str:
    """Return a p value with the one corrected by Holm's method over a number of tests.

    >>> chances(0.0625, 0.25, 4), chances(0.5, 0.5, 1)
    ('p 0.062, by Holm over 4 tests 0.250', 'p 0.500')
    """
    corrected = tests > 1 and adjusted is not None
    return f"p {chance(p)}" + (f", by Holm over {tests} tests {chance(adjusted)}" * corrected)


def tally(value: float) -> str:
    """Return a number of responses, with a decimal where it is not whole (a calibrated judge's).

    >>> tally(12), tally(4.32)
    ('12', '4.3')
    """
    return f"{value:.0f}" if value == round(value) else f"{value:.1f}"


def count(value: float | None) -> str:
    """Return a count, or a dash for None."""
    return NONE if value is None else f"{value:.0f}"


def between(interval: Interval | None) -> str:
    """Return both ends of an interval, or a dash.

    >>> between(Interval(0.0084, 0.9057)), between(Interval(0.0, 0.0018))
    ('0.01-0.91', '0.000-0.002')
    >>> between(Interval(-0.041, 0.652))
    '-0.04 to 0.65'
    """
    if interval is None:
        return NONE
    return (" to " if interval.low < 0 else "-").join(ends_of(interval.low, interval.high, 2))


def counts_of(row: Mapping[str, object]) -> str:
    """Return the cells of a pair's table: both say present, the first, the second, neither."""
    order = ("both_present", "first_present", "second_present", "both_absent")
    return "/".join(str(row[name]) for name in order)


def intervals_words(intervals: Sequence[EstimatedInterval]) -> tuple[str, ...]:
    """Return intervals with their estimands; one that needs replicates is left out.

    >>> from tabwb.scoring.estimate import Estimand
    >>> these = EstimatedInterval(Estimand.THESE_PROMPTS, None, "deterministic")
    >>> like = EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, Interval(0.0, 0.721))
    >>> intervals_words([like, these])
    ('0.00-0.72 for prompts like these', 'deterministic for these prompts')
    """
    return tuple(
        f"{interval.reason if interval.interval is None else between(interval.interval)}"
        f" for {interval.estimand}"
        for interval in intervals
        if interval.interval is not None or interval.deterministic
    )


def plain(name: str) -> str:
    """Return an id as words."""
    return name.replace("-", " ")


def numbered(administrations: Sequence[int]) -> str:
    """Return the numbers of administrations.

    >>> numbered((3, 4))
    '#3, #4'
    """
    return ", ".join(f"#{number}" for number in administrations)


def right_of(part: Part) -> str:
    """Return right answers of those scored, or how many were given where none was scored."""
    right, n = part.right, part.number("counted")
    if right.n:
        return f"{count(right.total)}/{right.n}"
    return f"{n} given" if n else NONE


def baselines_of(part: Part) -> str:
    """Return the accuracy of always giving one answer; empty for other subtests."""
    known = part.baselines
    named = ((words, known.get(name)) for name, words in SHORT_BASELINES.items())
    return ", ".join(f"{words} {number(value)}" for words, value in named if value is not None)


def causes_words(causes: Mapping[str, int]) -> str:
    """Return why responses are unusable, and how many.

    >>> causes_words({"refused": 2, "prompt-echo": 1})
    '2 refused, 1 echo'
    """
    return ", ".join(f"{n} {_SHORT.get(name, plain(name))}" for name, n in causes.items())


def usable_words(usable: Usable) -> str:
    """Return how many responses are usable; it precedes every figure of them.

    >>> usable_words(Usable(12, 15, {"refused": 2, "prompt-echo": 1}))
    'usable 12 of 15: 2 refused, 1 echo'
    >>> usable_words(Usable(5, 5))
    'usable 5 of 5'
    """
    causes = causes_words(usable.causes)
    return f"usable {usable.usable} of {usable.n}" + (f": {causes}" if causes else "")


def both_usable(usable: Sequence[Usable], names: Sequence[str]) -> str:
    """Return how many responses of each side are usable, marked where they are few.

    >>> both_usable((Usable(5, 5), Usable(1, 5, {"refused": 4})), ("A", "B"))
    'A usable 5 of 5; B usable 1 of 5: 4 refused (few usable)'
    """
    return "; ".join(
        f"{name} {usable_words(side)}" + (f" ({FEW})" if side.few else "")
        for name, side in zip(names, usable, strict=True)
    )


def interval_words(difference: EstimatedInterval) -> str:
    """Return an interval of a difference as words, or a dash where there is none.

    >>> from tabwb.scoring.estimate import Estimand
    >>> interval_words(EstimatedInterval(Estimand.THESE_PROMPTS, None, DETERMINISTIC))
    'deterministic'
    """
    if difference.interval is None:
        return DETERMINISTIC if difference.deterministic else NONE
    return " to ".join(ends_of(difference.interval.low, difference.interval.high, 2, "+"))


def burden_words(burden: Burden) -> str:
    """Return a burden, marked where few responses are usable."""
    value = number(burden.symptom_burden)
    return f"{value} ({FEW})" if burden.usable.few else value


def burden_cells(judge: Judge) -> dict[str, str]:
    """Return the figures of a judge's burden in a table of groups, by the heading of the column."""
    burden = judge.burden
    value = number(burden.symptom_burden)
    return {
        "usable": f"{burden.usable.usable}/{burden.usable.n}",
        "distinct": str(burden.n_distinct),
        "burden": f"{value} few" if burden.usable.few else value,
        "95 %": between(burden.interval),
        "words": number(burden.words_mean),
    }


def features_of(judge: Judge) -> str:
    """Return how many features the set of a judge has."""
    return plural(len(judge.burden.features), "feature")


def terms_of(judge: Judge) -> str:
    """Return the terms of a judge: burdens under other terms do not share a column."""
    terms = [judge.rater, plain(judge.terms.scope)]
    if judge.terms.prompt_hash:
        terms.append(f"prompt {judge.terms.prompt_hash[:8]}")
    if not judge.declared:
        terms.append("set not declared")
    return "  ·  ".join(terms)


def causes_listed(causes: Mapping[str, int]) -> str:
    """Return why responses have no burden, and how many."""
    return "; ".join(f"{n}, {plain(cause)}" for cause, n in causes.items())


def without_burden(burden: Burden) -> dict[str, int]:
    """Return why *usable* responses have no burden, with their number."""
    return {
        cause: n
        for cause, n in burden.no_burden.items()
        if cause not in burden.usable.causes and cause != "no-response"
    }
