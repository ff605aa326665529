"""Yes or no: which of the two was said, under the three policies of a choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tabwb.scoring.choice import Choice, Reading, read_choice
from tabwb.scoring.estimate import Estimate, ratio
from tabwb.scoring.polarity import polarities

YES, NO = "Yes", "No"


def read_yes_no(response: str, options: Sequence[str] = (), prompts: Sequence[str] = ()) -> Choice:
    """Read whether a response says Yes or No (TAB, appendix B.3; policies as in a choice).

    *extracted* reads the answers Yes and No as :func:`tabwb.scoring.polarity.polarities` does, with
    their synonyms; a battery's other words for them are read as the options of a choice.

    Args:
        response: the text, unaltered.
        options: the two answers, yes first, where a battery has others than Yes and No.
        prompts: what was sent and the item's own prompt; their text is no answer.

    >>> said = read_yes_no("yes.")
    >>> said.exact.chosen, said.normalised.chosen, said.extracted.chosen
    (None, 'Yes', 'Yes')
    >>> read_yes_no("Certainly not.").extracted.chosen, read_yes_no("No doubt.").extracted.chosen
    ('No', None)
    >>> read_yes_no("Yes and no.").extracted.ambiguous
    True
    """
    answers = tuple(options) or (YES, NO)
    if tuple(map(str.casefold, answers)) != (YES.casefold(), NO.casefold()):
        return read_choice(response, answers, prompts)
    choice = read_choice(response, answers)
    if choice.normalised.named:
        return choice
    return replace(
        choice, extracted=Reading(tuple(answers[at] for at in polarities(response, prompts)))
    )


def yes_rate(said: Iterable[str | None], yes: str = YES) -> Estimate:
    """Return the share of Yes among the answers that are Yes or No.

    ``yes_rate = n(Yes) / n(Yes or No)``; answers in which neither was read (None) are left out,
    undefined when nothing is left. 1.0 is an examinee that always says Yes.

    Args:
        said: the answer read in each response; None where neither was read.
        yes: the battery's word for Yes.

    >>> yes_rate(["Yes", "No", "Yes", None]).value
    0.6666666666666666
    """
    answers = [answer for answer in said if answer is not None]
    return ratio(answers.count(yes), len(answers), "neither answer was given exactly")


def balanced_accuracy(pairs: Iterable[tuple[str, str | None]]) -> Estimate:
    """Return the mean over the expected answers of the share answered correctly.

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
