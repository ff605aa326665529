"""Yes or no: which of the two was said, under the three policies of a choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tabwb.scoring.choice import Choice, read_choice
from tabwb.scoring.estimate import Estimate, ratio

YES, NO = "Yes", "No"


def read_yes_no(response: str, options: Sequence[str] = ()) -> Choice:
    """Read whether a response says Yes or No (TAB, appendix B.3; policies as in a choice).

    Extraction knows whole words and no meaning: "I have no idea" names No.

    Args:
        response: the text, unaltered.
        options: the two answers, yes first, where a battery has others than Yes and No.

    >>> said = read_yes_no("yes.")
    >>> said.exact.chosen, said.normalised.chosen, said.extracted.chosen
    (None, 'Yes', 'Yes')
    >>> read_yes_no("Yes and no.").extracted.ambiguous
    True
    """
    return read_choice(response, options or (YES, NO))


def yes_rate(said: Iterable[str | None], yes: str = YES) -> Estimate:
    """Share of Yes among the answers that are Yes or No.

    ``yes_rate = n(Yes) / n(Yes or No)``; answers in which neither was read (None) are left out,
    undefined when nothing is left. 1.0 is an examinee that always says Yes.

    >>> yes_rate(["Yes", "No", "Yes", None]).value
    0.6666666666666666
    """
    answers = [answer for answer in said if answer is not None]
    return ratio(answers.count(yes), len(answers), "neither answer was given exactly")


def balanced_accuracy(pairs: Iterable[tuple[str, str | None]]) -> Estimate:
    """Mean over the expected answers of the share answered correctly.

    ``(n(Yes|Yes)/n(Yes) + n(No|No)/n(No)) / 2`` over pairs (expected, said). An answer in which
    neither was read counts as not correct. Always Yes, always No and guessing give 0.5. Undefined
    unless at least two different answers are expected.

    >>> balanced_accuracy([("Yes", "Yes"), ("Yes", "Yes"), ("No", "Yes")]).value
    0.5
    """
    right: dict[str, int] = {}
    total: dict[str, int] = {}
    for expected, said in pairs:
        total[expected] = total.get(expected, 0) + 1
        right[expected] = right.get(expected, 0) + (said == expected)
    if len(total) < 2:
        only = next(iter(total), None)
        return Estimate(
            None, "no item answered" if only is None else f"every expected answer is {only}"
        )
    return Estimate(sum(right[answer] / total[answer] for answer in total) / len(total))
