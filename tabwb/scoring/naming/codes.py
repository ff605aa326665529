"""Codes, flags and scores of a response to a picture, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from tabwb.scoring.naming.target import Rule

Proposer = Literal["machine", "machine with a heard word", "person"]


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of response.

    Attributes:
        definition: one line, for people.
        proposer: who may propose it.
        phonological: whether the distance from target is meaningful.
    """

    definition: str
    proposer: Proposer
    phonological: bool = False


CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {
        "correct": Code("an accepted name, by the rule that decides", "machine", True),
        "semantic": Code("a word of related meaning", "machine with a heard word"),
        "formal": Code(
            "a word similar in sound, not in meaning", "machine with a heard word", True
        ),
        "mixed": Code(
            "a word of related meaning and similar in sound", "machine with a heard word", True
        ),
        "unrelated": Code(
            "a word related neither in meaning nor in sound", "machine with a heard word"
        ),
        "nonword-related": Code("not a word, similar in sound to the target", "machine", True),
        "nonword-unrelated": Code("not a word, not similar in sound", "machine"),
        "perseveration": Code(
            "the response to an earlier item, repeated", "machine with a heard word"
        ),
        "morphological": Code(
            "the target with another ending or part", "machine with a heard word", True
        ),
        "picture-part": Code("a part of the picture is named", "machine with a heard word"),
        "visual": Code("something that looks alike is named", "machine with a heard word"),
        "blend": Code("two words combined into one", "person", True),
        "description": Code("the thing is described, not named", "machine with a heard word"),
        "fragment": Code(
            "an attempt broken off, without a complete one", "machine with a heard word", True
        ),
        "no-response": Code("nothing is said, or only that no name comes", "machine"),
        "other": Code("none of these", "person"),
        "undecided": Code("not decided yet", "machine"),
    }
)
"""Every code; only those of ``machine`` are proposed without a listener."""

FLAGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "self-corrected": "a wrong attempt came before the right one",
        "late": "speech began after the time limit",
        "after-cue": "a cue had been given",
        "dialect": "the accepted form is one of a dialect",
        "number": "the name in another number: 'cats' for 'cat'",
        "carrier": "an article or a phrase before the name was left out",
        "filler": "a filler ('um') was left out",
        "false-start": "a repeated beginning ('b- bed') was left out",
        "repeated": "the same was said twice",
        "conduite": "several attempts, each nearer to the name",
        "dont-know": "the speaker says that no name comes",
        "repeats": "the same was said to an earlier item",
        "guessed-sound": "the word has no listed pronunciation: it follows from its letters",
        "mapped-sound": "a sound outside of the 40 phonemes was mapped to the nearest",
        "embedded": "more speech follows or precedes the name without a pause: check by ear",
    }
)

NO_SPEECH: Final = "no speech detected"
"""Clause of the machine's ``no-response``: it cannot distinguish silence from a refusal."""

NO_RESPONSE_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "silent": "nothing was said",
        "dont-know": "said that no name comes",
        "refused": "did not want to answer",
    }
)
"""Kinds of the score *no response*."""

PERSON_SCORES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "right": "an accepted name",
        "self-corrected": "right in the end, after a wrong attempt",
        "error": "anything else that was said",
        "no-response": "silent, no name comes, or refused",
        "not-scorable": "it cannot be scored, for a reason that is given",
    }
)
"""A person's score of a response (:data:`tabwb.records.naming.SCORES`)."""


def right_by_score(score: str, rule: Rule = "correct-any") -> bool | None:
    """Return whether a person's score is right; None where it cannot be scored.

    A self-corrected response contains the name (``correct-any``), but its first attempt was wrong
    (``correct-first``): the battery's rule decides.

    Args:
        score: one of :data:`PERSON_SCORES`.
        rule: which correctness decides.

    >>> [right_by_score(each) for each in ("right", "no-response", "not-scorable")]
    [True, False, None]
    >>> right_by_score("self-corrected"), right_by_score("self-corrected", "correct-first")
    (True, False)
    """
    if score == "not-scorable":
        return None
    return score == "right" or (score == "self-corrected" and rule == "correct-any")


def code_by_score(score: str, rule: Rule = "correct-any") -> str:
    """Return the code that follows from a person's score alone; empty where none does.

    Args:
        score: one of :data:`PERSON_SCORES`.
        rule: which correctness decides.

    >>> [code_by_score(each) for each in ("right", "no-response", "error")]
    ['correct', 'no-response', '']
    >>> code_by_score("self-corrected"), code_by_score("self-corrected", "correct-first")
    ('correct', '')
    """
    if right_by_score(score, rule):
        return "correct"
    return "no-response" if score == "no-response" else ""
