"""What a rule says of one response: present with the words that fired, absent, or undefined."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """The three things a rule may say. A rule that cannot tell does not say *absent*."""

    PRESENT = "present"
    ABSENT = "absent"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule's verdict.

    Attributes:
        outcome: see :class:`Outcome`.
        words: the words of the response that fired, in their order; empty unless present.
        note: what else a person should know: why undefined, candidates that did not count.
    """

    outcome: Outcome
    words: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        quoted = "; ".join(f'"{words}"' for words in self.words)
        return " - ".join(part for part in (quoted, self.note) if part)


def present(*words: str, note: str = "") -> Verdict:
    """The sign is there, in these words.

    >>> str(present("the ball the ball the ball"))
    '"the ball the ball the ball"'
    """
    return Verdict(Outcome.PRESENT, tuple(dict.fromkeys(words)), note)


def absent(note: str = "") -> Verdict:
    """The sign was looked for and is not there: only two-sided features."""
    return Verdict(Outcome.ABSENT, (), note)


def undefined(note: str) -> Verdict:
    """No verdict, and why."""
    return Verdict(Outcome.UNDEFINED, (), note)


NOT_SEEN = undefined(
    "no sign found; that a text rule finds no sign does not show that it is absent"
)
"""What a one-sided feature says where its rule does not fire."""
