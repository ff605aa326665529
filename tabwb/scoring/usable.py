"""Usable responses: their number, and answers that were repeated for several prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tabwb.scoring.text import words


@dataclass(frozen=True, slots=True)
class Usable:
    """Usable responses of all that count, and why the others are not.

    Attributes:
        usable, n: number of usable responses, and of all.
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


PROMPTS = 3
"""The same text for so many different prompts or more is a repeated answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One counted response, as :func:`repeated_answers` compares it.

    Attributes:
        key: names the response, for the caller.
        prompt: the item's prompt; replicates and orders of one item have one prompt.
        text: the response, unaltered.
    """

    key: object
    prompt: str
    text: str


def repeated_answers(answers: Iterable[Answer]) -> frozenset[object]:
    """Return the keys of the answers whose text was given to three or more different prompts.

    Texts are equal when their words are: case, punctuation and white space do not count, and a text
    without a word is none. Replicates of one item may be equal: prompts are counted, not
    answers. Source: docs/results.md.

    Args:
        answers: of one examinee in one administration; which are compared is chosen by
            :func:`tabwb.report.summaries.counted.effective_statuses`.

    >>> trip = [Answer(n, prompt, "I like the sea.") for n, prompt in enumerate("abc")]
    >>> sorted(repeated_answers([*trip, Answer(3, "d", "We had a dog.")]))
    [0, 1, 2]
    >>> repeated_answers([Answer(n, "a", "I like the sea.") for n in range(5)])
    frozenset()
    """
    given = [(answer, text) for answer in answers if (text := " ".join(words(answer.text)))]
    prompts: dict[str, set[str]] = {}
    for answer, text in given:
        prompts.setdefault(text, set()).add(answer.prompt)
    return frozenset(answer.key for answer, text in given if len(prompts[text]) >= PROMPTS)
