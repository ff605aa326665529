"""The 19 features by id, and the verdict of a rule on one of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

TWO_SIDED = (
    "retracing",
    "abandoned-utterances",
    "perseverations",
    "neologisms",
    "jargon",
    "short-and-simplified-utterances",
    "false-starts",
)
"""May be present or absent; the burden of the rules judge is over these seven."""

ONE_SIDED = (
    "anomia",
    "empty-speech",
    "stereotypies-and-automatisms",
    "conduite-d-approche",
    "omission-of-function-words",
    "omission-of-bound-morphemes",
    "phonemic-paraphasias",
)
"""Present or undefined: a missed sign is not evidence of absence."""

NEVER = (
    "semantic-paraphasias",
    "paragrammatism",
    "meaning-unclear",
    "off-topic",
    "overall-communication-impairment",
)
"""Always undefined: no rule on the text alone can tell."""

FEATURES = TWO_SIDED + ONE_SIDED + NEVER


class Outcome(StrEnum):
    """The three outcomes of a rule. A rule that cannot tell does not return *absent*."""

    PRESENT = "present"
    ABSENT = "absent"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One rule's verdict.

    Attributes:
        outcome: see :class:`Outcome`.
        words: the words of the response that fired, in their order; empty unless present.
        note: further information: why it is undefined, candidates that did not count.
    """

    outcome: Outcome
    words: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        quoted = "; ".join(f'"{words}"' for words in self.words)
        return " - ".join(part for part in (quoted, self.note) if part)


def present(*words: str, note: str = "") -> RuleVerdict:
    """Return the verdict that the sign is present in these words.

    Args:
        words: the words of the response that fired; duplicates are removed.
        note: further information for a person.

    >>> str(present("the ball the ball the ball"))
    '"the ball the ball the ball"'
    """
    return RuleVerdict(Outcome.PRESENT, tuple(dict.fromkeys(words)), note)


def absent(note: str = "") -> RuleVerdict:
    """Return the sign was looked for and is not there: only two-sided features."""
    return RuleVerdict(Outcome.ABSENT, (), note)


def undefined(note: str) -> RuleVerdict:
    """Return an undefined verdict with its reason."""
    return RuleVerdict(Outcome.UNDEFINED, (), note)


NOT_SEEN = undefined(
    "no sign found; that a text rule finds no sign does not show that it is absent"
)
"""RuleVerdict of a one-sided feature whose rule does not fire."""
