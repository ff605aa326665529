"""Verbatim repetition: three policies, and the errors with their counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Literal

from tabwb.records.ratings import REPETITION_ERRORS
from tabwb.scoring.text import (
    fold_case,
    is_in_capitals,
    is_unspaced,
    marked,
    plain,
    read_part,
    straight,
    without_stop,
    words_of,
)

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]|_")
_LONG = 2000
"""Pieces of a response from which its table of costs is computed by columns."""
_BEGUN = 2
"""This many words of the target at the end of the text are a second copy that was cut."""
ERROR_TYPES = REPETITION_ERRORS
"""The error types in the order shown; several may hold at once."""


@dataclass(frozen=True, slots=True)
class RepetitionErrors:
    """How often each type of error occurs. All are 0 exactly when the repetition is exact."""

    insertion: int = 0
    deletion: int = 0
    substitution: int = 0
    carrier_echo: int = 0
    no_response: int = 0
    spacing: int = 0
    unit: Literal["characters", "words"] = "words"

    def counts(self) -> dict[str, int]:
        """Return the counts by :data:`ERROR_TYPES`."""
        return {name: getattr(self, name.replace("-", "_")) for name in ERROR_TYPES}


@dataclass(frozen=True, slots=True)
class Repetition:
    """The verdicts of the three policies, and the errors.

    ``extracted`` is None where the target is of a script without spaces between words.
    """

    exact: bool
    normalised: bool
    extracted: bool | None
    errors: RepetitionErrors


def read_repetition(response: str, target: str, prompt: str = "", language: str = "") -> Repetition:
    """Compare a response with its target (TAB, appendices B.4 and B.6).

    - *exact*: equal after outer white space is trimmed; case and punctuation count. U+0027 and
      U+2019 are one apostrophe, composed and decomposed letters are equal.
    - *normalised*: equal also when case differs or the final stop is missing (or one too many); ß
      is not ss, but in a text of capitals SS stands for it.
    - *extracted* [ours]: the words of the target occur in the response in order exactly once,
      ignoring case, punctuation, markup and other words, after the carrier is removed. Twice is not
      a correct repetition (TAB, appendix C, example 3), also where the second copy was cut.

    Of a response of more than :data:`tabwb.scoring.text.MOST_READ` characters, *extracted* and the
    errors are those of its beginning and its end.

    The text of the prompt before the target is the carrier.

    >>> prompt = "Please repeat exactly: The sun rises in the East."
    >>> answer = read_repetition("The East.", "The sun rises in the East.", prompt)
    >>> answer.exact, answer.errors.deletion, answer.errors.unit
    (False, 4, 'words')
    >>> read_repetition("House", "house.").normalised
    True
    >>> read_repetition("catastroph.", "catastrophe.").errors.deletion
    1
    """
    given, wanted = straight(response).strip(), straight(target).strip()
    exact, given = given == wanted, read_part(given)
    rest, echoes = _without_carrier(given, carrier(wanted, straight(prompt)))
    said, asked = without_stop(given), without_stop(wanted)
    same = fold_case(said, language) == fold_case(asked, language)
    normalised = same or is_in_capitals(said, asked)
    return Repetition(
        exact=exact,
        normalised=normalised,
        extracted=None
        if is_unspaced(wanted)
        else normalised or _is_said_once(words_of(plain(wanted)), words_of(plain(rest))),
        errors=_errors(given, rest, wanted, echoes),
    )


def _is_said_once(wanted: Sequence[str], given: Sequence[str]) -> bool:
    size = len(wanted)
    places = [at for at in range(len(given) - size + 1) if given[at : at + size] == wanted]
    if size == 0 or len(places) != 1:
        return False
    rest = given[places[0] + size :]
    return not any(
        rest[-begun:] == wanted[:begun] for begun in range(_BEGUN, min(size, len(rest) + 1))
    )


def carrier(target: str, prompt: str) -> str:
    """Return the part of the prompt before the target; empty when it does not hold the target.

    >>> carrier("house.", "Please repeat exactly: house.")
    'Please repeat exactly:'
    """
    at = prompt.rfind(target) if target else -1
    return prompt[:at].strip() if at > 0 else ""


def edit_counts(said: Sequence[str], wanted: Sequence[str]) -> tuple[int, int, int]:
    """Return insertions, deletions and substitutions: fewest edits, then fewest substitutions.

    >>> edit_counts("hose", "house"), edit_counts("ba", "ab"), edit_counts("xhouse", "hause")
    ((0, 1, 0), (1, 1, 0), (1, 0, 1))
    """
    start, said_end, wanted_end = 0, len(said), len(wanted)
    while start < min(said_end, wanted_end) and said[start] == wanted[start]:
        start += 1
    while min(said_end, wanted_end) > start and said[said_end - 1] == wanted[wanted_end - 1]:
        said_end, wanted_end = said_end - 1, wanted_end - 1
    said, wanted = said[start:said_end], wanted[start:wanted_end]
    # One whole number holds both costs: edits in the high part, substitutions in the low part.
    edit = len(said) + len(wanted) + 1
    substituted = edit + 1
    costs = _costs_of_long if len(said) > _LONG else _costs
    edits, substitutions = divmod(costs(said, wanted, edit, substituted), edit)
    longer = len(said) - len(wanted)
    deletions = (edits - substitutions - longer) // 2
    return deletions + longer, deletions, substitutions


def _costs(said: Sequence[str], wanted: Sequence[str], edit: int, substituted: int) -> int:
    row = [edit * column for column in range(len(wanted) + 1)]
    for piece in said:
        diagonal, row[0] = row[0], row[0] + edit
        for column, other in enumerate(wanted, start=1):
            cost = diagonal if piece == other else diagonal + substituted
            diagonal = row[column]
            row[column] = min(cost, diagonal + edit, row[column - 1] + edit)
    return row[-1]


def _costs_of_long(said: Sequence[str], wanted: Sequence[str], edit: int, substituted: int) -> int:
    """Return the same, a whole column of the table at a time."""
    import numpy as np

    number = {piece: at for at, piece in enumerate(wanted)}
    codes = np.fromiter(map(number.get, said, repeat(-1)), np.int64, len(said))
    inserted = edit * np.arange(len(said) + 1, dtype=np.int64)
    column = inserted
    for at, other in enumerate(wanted, start=1):
        replaced = column[:-1] + np.where(codes == number[other], 0, substituted)
        best = np.concatenate(([edit * at], np.minimum(replaced, column[1:] + edit)))
        column = np.minimum.accumulate(best - inserted) + inserted
    return int(column[-1])


def _errors(given: str, rest: str, wanted: str, echoes: int) -> RepetitionErrors:
    one_word = len(wanted.split()) <= 1 or is_unspaced(wanted)
    unit: Literal["characters", "words"] = "characters" if one_word else "words"
    if given == wanted:
        return RepetitionErrors(unit=unit)
    if not given:
        return RepetitionErrors(no_response=1, unit=unit)
    pieces = (rest, wanted) if one_word else (marked(_TOKEN, rest), marked(_TOKEN, wanted))
    counts = (*edit_counts(*pieces), echoes)
    return RepetitionErrors(*counts, spacing=int(not any(counts)), unit=unit)


def _without_carrier(given: str, before: str) -> tuple[str, int]:
    # The carrier may come back with other case, spaces and final mark.
    bare = re.sub(r"\W+$", "", before)
    if not bare:
        return given, 0
    pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, bare.split())) + r"(?!\w)[^\w\s]*"
    rest, echoes = re.subn(pattern, " ", given, flags=re.IGNORECASE)
    return (" ".join(rest.split()), echoes) if echoes else (given, 0)
