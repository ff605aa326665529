"""The same answer to different prompts: one examinee's answers of one administration together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tabwb.scoring.text import words

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
    without a word is none. Replicates of one item repeat each other rightly: prompts are counted,
    not answers. Source: docs/results.md.

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
