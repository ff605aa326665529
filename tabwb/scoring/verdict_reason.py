"""The reason stored with the verdict on a choice: written for people, and read back exactly.

What a summary says of an answer it must take from the stored verdict: the text, read again by
rules that have changed since, could say something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabwb.scoring.choice import OTHER_OPTION, Reading

AMBIGUOUS, NO_OPTION, NO_RESPONSE = "ambiguous: ", "no option", "no response"
UNTOLD = "untold"
"""The kind of an error whose reason tells nothing: another scorer, or a person, gave it."""


def reason_of(reading: Reading, expected: str, foils: Mapping[str, str], *, empty: bool) -> str:
    """Return what was read in a wrong answer; empty for a right one.

    Args:
        reading: under the policy of the verdict.
        expected: the right answer.
        foils: option to kind of error.
        empty: there was no text at all.

    >>> reason_of(Reading(("boat",)), "boot", {"boat": "phonological"}, empty=False)
    'boat (foil: phonological)'
    >>> reason_of(Reading(("boat", "boot")), "boot", {}, empty=False)
    'ambiguous: boat, boot'
    """
    if reading.correct(expected):
        return ""
    if empty:
        return NO_RESPONSE
    if reading.ambiguous:
        return AMBIGUOUS + ", ".join(reading.named)
    if reading.chosen is None:
        return NO_OPTION
    kind = foils.get(reading.chosen)
    return reading.chosen + (f" (foil: {kind})" if kind is not None else "")


@dataclass(frozen=True, slots=True)
class Told:
    """What a stored verdict tells of an answer.

    Attributes:
        chosen: the one option that was read, or None.
        error: the kind of error, as :meth:`Reading.error` names it, or ``untold``; None when right.
    """

    chosen: str | None
    error: str | None = None


def told(
    correct: bool, reason: str, expected: str, options: Sequence[str], foils: Mapping[str, str]
) -> Told:
    """Return what a stored verdict says about an answer, as :func:`reason_of` wrote it.

    Args:
        correct: the verdict.
        reason: stored with it.
        expected: the right answer.
        options: of the item.
        foils: option to kind of error.

    >>> told(False, "boat (foil: phonological)", "boot", ["boot", "boat"], {"boat": "phonological"})
    Told(chosen='boat', error='phonological')
    >>> told(True, "", "boot", ["boot", "boat"], {})
    Told(chosen='boot', error=None)
    >>> told(False, "did not point", "boot", ["boot", "boat"], {}).error
    'untold'
    """
    if correct:
        return Told(expected)
    for option in options:
        kind = foils.get(option)
        if reason == option or (kind is not None and reason == f"{option} (foil: {kind})"):
            return Told(option, OTHER_OPTION if kind is None else kind)
    if reason.startswith(AMBIGUOUS):
        return Told(None, "ambiguous")
    return Told(None, "no-option" if reason in (NO_OPTION, NO_RESPONSE) else UNTOLD)
