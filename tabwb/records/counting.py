"""Whose ratings count where several people rated a response: a rater's, or those of a rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from tabwb.records.errors import UsageError
from tabwb.records.words import near

Rule = Literal["majority", "consensus", "adjudicated"]
"""``majority``: what more than half of the raters gave. ``adjudicated``: the settled value, else
what all raters gave. ``consensus``: the settled value, else the majority."""
RULES: tuple[Rule, ...] = get_args(Rule)
PRIMARY = "primary:"
CALIBRATED = "calibrated:"
"""Begins the id of a judge's labels after calibration."""
PERSON = "person:"
UNSURE, NO_MAJORITY, NOT_SETTLED = "cannot tell", "no majority", "not settled"
"""Reasons why a rating is undefined: the rater, or whoever settled it, looked and cannot decide; a
rule gives no value."""
Given = TypeVar("Given", bound=Hashable)


def rule_of(counts: str) -> Rule | None:
    """Return the rule that a text names, or None where it names a rater or nothing.

    >>> rule_of("majority"), rule_of("R1")
    ('majority', None)
    """
    return next((rule for rule in RULES if rule == counts), None)


def counting(text: str) -> str:
    """Return a rule, or the code of the primary rater, without ``primary:`` before it.

    >>> counting("primary:R1"), counting("R1"), counting("majority")
    ('R1', 'R1', 'majority')
    """
    code = text.removeprefix(PRIMARY)
    if code != text and (not code or rule_of(code)):
        raise UsageError(
            f"'{text}' does not name a rater", allowed=f"a rater's code, {', '.join(RULES)}"
        )
    if code == text and rule_of(code) is None and (meant := near(code, RULES)):
        raise UsageError(
            f"'{text}' is not a rule; did you mean '{meant}'?", allowed=", ".join(RULES),
            hint=f"a rater with this code: {PRIMARY}{text}",
        )  # fmt: skip
    return code


def is_derived(rater: str) -> bool:
    """Return whether a rater is computed from the ratings of others, and never stored.

    >>> is_derived("majority"), is_derived("calibrated:tab-2026"), is_derived("person:R1")
    (True, True, False)
    """
    return rule_of(rater) is not None or rater.startswith(CALIBRATED)


def calibrated_parts(judge: str) -> tuple[str, str]:
    """Return ``calibrated:`` or an empty text, and the judge behind it.

    >>> calibrated_parts("calibrated:rules"), calibrated_parts("rules")
    (('calibrated:', 'rules'), ('', 'rules'))
    """
    prefix = CALIBRATED if judge.startswith(CALIBRATED) else ""
    return prefix, judge.removeprefix(prefix)


def check_own(code: str) -> None:
    """Refuse a person's code that is the id of a derived rater."""
    if is_derived(code) or code.startswith(PRIMARY):
        raise UsageError(
            f"'{code}' cannot be a person's code",
            hint=f"{', '.join(RULES)} are computed from the ratings of people",
        )


@dataclass(frozen=True, slots=True)
class Open:
    """Why a rule gives no value: the raters differ, and nobody has settled it."""

    reason: str


CANNOT = Open(UNSURE)


def majority(given: Sequence[Given]) -> Given | Open:
    """Return the value that more than half of the raters gave.

    >>> majority(["semantic", "semantic", "formal"])
    'semantic'
    >>> majority([1.0, 0.0]).reason
    'no majority'
    """
    (value, n), *_ = Counter(given).most_common(1)
    if 2 * n > len(given):
        return value
    return Open(NO_MAJORITY)


def counting_value(
    rule: Rule, given: Sequence[Given], settled: Given | Open | None = None
) -> Given | Open | None:
    """Return the value that counts by a rule.

    >>> counting_value("majority", [1.0, 0.0, 0.0], settled=1.0)
    0.0
    >>> counting_value("consensus", [1.0, 0.0, 0.0], settled=1.0)
    1.0
    >>> counting_value("adjudicated", [1.0, 0.0, 0.0]).reason
    'not settled'
    """
    if rule != "majority" and settled is not None:
        return settled
    if not given:
        return None
    if rule == "adjudicated":
        return given[0] if len(set(given)) == 1 else Open(NOT_SETTLED)
    return majority(given)
