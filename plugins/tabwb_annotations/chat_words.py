"""The main tier of a response in CHAT: what was said, what was meant, the kind of error.

``cat [: dog] [* s:r] [//] dog`` is a word, the word that was meant, the code of the error, and that
it was taken back. Codes are those of AphasiaBank (CHAT manual, word-level error codes). A response
has one code, and it stands on one attempt; a replacement is of one word by one word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tabwb.phonology.inventory import SILENT, to_ipa
from tabwb.records.errors import TabwbError
from tabwb.scoring.naming.heard import parse_heard
from tabwb_annotations.tiers import code_of, shown_of

ERROR_CODES: Mapping[str, tuple[str, ...]] = {
    "semantic": ("s:r",),
    "mixed": ("s:r", "p:w"),
    "unrelated": ("s:ur",),
    "perseveration": ("s:per",),
    "formal": ("p:w",),
    "nonword-related": ("p:n",),
    "nonword-unrelated": ("n:k",),
}
"""Our code to CHAT's; a mixed error is both, related in meaning and in sound. The others have none
there and are said in a ``%com`` line."""
WORDS = re.compile(r"(?:[^\W\d_]|[ '-])+")
"""What can be words of CHAT: brackets and digits have meanings of their own there."""
FILLERS = frozenset(("um", "uh", "er", "erm", "ah", "eh", "hm", "mm"))
CARRIERS = FILLERS | frozenset(
    (
        *("a", "an", "the", "it", "its", "it's", "is", "that's", "that", "this", "these", "those"),
        *("are", "they", "they're", "there", "there's", "i", "i'm", "think", "maybe", "some"),
        *("looks", "like", "called", "my", "your", "his", "her"),
    )
)
"""Words before a name that are no part of the attempt at it."""
UNINTELLIGIBLE = frozenset(SILENT[1:])
SILENCE, UNKNOWN = "0", "xxx"


@dataclass(frozen=True, slots=True)
class MainTier:
    """The main tier of one response.

    Attributes:
        line: without speaker and terminator.
        coded: whether the response's code stands in it.
        heard: whether what a person heard stands in it.
        phonetic: whether each word of it is one of the transcript: then ``%pho`` stands below.
    """

    line: str
    coded: bool = False
    heard: bool = False
    phonetic: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    """One attempt: its words, whether it is an error of one word, and where it is from."""

    text: str
    error: bool = False
    heard: bool = False
    phonetic: bool = True
    ways: tuple[tuple[str, ...], ...] = ()

    def of(self, attempt: Mapping[str, Any]) -> _Word:
        """The same word for an attempt; its transcript may sound like it."""
        return replace(self, phonetic=tuple(attempt["phonemes"]) in self.ways)


def main_tier(naming: Mapping[str, Any]) -> MainTier:
    """Return the main tier of one response.

    >>> said = {"target": "dog", "accepted": ["D AO G"], "heard": "cat", "score": "self-corrected",
    ...         "code": "mixed", "code_by": "person", "proposed": None, "transcripts": [],
    ...         "attempts": [{"phonemes": ["K", "AE", "T"], "complete": True},
    ...                      {"phonemes": ["D", "AO", "G"], "complete": True}]}
    >>> main_tier(said).line
    'cat [: dog] [* s:r] [* p:w] [//] dog'
    """
    if naming["score"] == "no-response":
        return MainTier(SILENCE)
    if naming["score"] == "not-scorable":
        return MainTier(UNKNOWN)
    words = _words(naming)
    if not words:
        return MainTier(_without_words(naming))
    codes = ERROR_CODES.get(code_of(naming)[0], ())
    first = next((at for at, word in enumerate(words) if word.error), None)
    target = str(naming["target"])
    parts: list[str] = []
    for at, word in enumerate(words):
        part = word.text
        if word.error and " " not in target:
            part += f" [: {target}]"
        if at == first:
            part += "".join(f" [* {code}]" for code in codes)
        parts.append(part)
    return MainTier(
        " [//] ".join(parts),
        coded=bool(codes) and first is not None,
        heard=any(word.heard for word in words),
        phonetic=all(word.phonetic for word in words),
    )


def _words(naming: Mapping[str, Any]) -> list[_Word]:
    """The attempts; of those that a person heard the words."""
    heard = _heard(naming)
    attempts = [each for each in naming["attempts"] if each["phonemes"]]
    errors = [
        each for each in attempts if each["complete"] is not False and not _accepted(naming, each)
    ]
    complete = [each for each in attempts if each["complete"] is not False]
    if len(heard) > 1 and len(heard) != len(complete):
        return list(heard)  # a person parted the attempts otherwise
    found: list[_Word] = []
    for attempt in attempts:
        if len(heard) > 1 and attempt in complete:
            found.append(heard[len([one for one in found if one.heard])].of(attempt))
        elif heard and len(heard) == 1 and errors == [attempt]:
            found.append(heard[0].of(attempt))
        else:
            found.append(_transcribed(naming, attempt))
    right = naming["score"] in {"right", "self-corrected"}
    if right and not any(_accepted(naming, each) for each in attempts) and len(heard) < 2:
        # A person heard the name, whatever a machine made of it; it came last.
        name = [one for one in heard if not one.error]
        found[-1:] = name or [_Word(_target(naming), phonetic=False)]
    return found or list(heard)


def _transcribed(naming: Mapping[str, Any], attempt: Mapping[str, Any]) -> _Word:
    phonemes = attempt["phonemes"]
    if all(each in UNINTELLIGIBLE for each in phonemes):
        return _Word(UNKNOWN, phonetic=False)
    if _accepted(naming, attempt):
        return _Word(_target(naming))
    ipa = to_ipa(phonemes)
    return _Word(f"&+{ipa}") if attempt["complete"] is False else _Word(f"{ipa}@u", error=True)


def _heard(naming: Mapping[str, Any]) -> Sequence[_Word]:
    """What a person heard, one for each attempt; none where it cannot be words of CHAT."""
    parts = [part for part in str(naming["heard"] or "").split(",") if part.strip()]
    found = [_heard_as(naming, part) for part in parts]
    return () if None in found else tuple(word for word in found if word is not None)


def _heard_as(naming: Mapping[str, Any], text: str) -> _Word | None:
    try:
        heard = parse_heard(text)
    except TabwbError:
        return None
    if not heard.word:
        said = to_ipa(heard.pronunciations[0])
        accepted = " ".join(heard.pronunciations[0]) in naming["accepted"]
        if accepted and naming["score"] != "error":
            return _Word(_target(naming), heard=True)
        return _Word(f"{said}@u", True, True, phonetic=False, ways=heard.pronunciations)
    if not WORDS.fullmatch(heard.word):
        return None
    words = heard.word.split()
    target = str(naming["target"]).casefold()
    if heard.word == target:
        return _Word(_target(naming), False, True, phonetic=False, ways=heard.pronunciations)
    text = " ".join(_spelled(word) for word in words)
    carried = all(word in CARRIERS for word in words[:-1])
    error = carried and words[-1] != target and code_of(naming)[0] != "correct"
    return _Word(text, error, True, phonetic=False, ways=heard.pronunciations)


def _spelled(word: str) -> str:
    """A word as CHAT has it: fillers are marked, and I is a capital.

    >>> [_spelled(word) for word in ("um", "i'm", "dog")]
    ['&-um', "I'm", 'dog']
    """
    if word in FILLERS:
        return f"&-{word}"
    return word.capitalize() if word == "i" or word.startswith("i'") else word


def _without_words(naming: Mapping[str, Any]) -> str:
    """Silence is 0; what was unintelligible, and what nobody has listened to, is xxx."""
    shown = shown_of(naming)
    said = set() if shown is None else set(shown.get("phonemes", ()))
    if said & UNINTELLIGIBLE:
        return UNKNOWN
    return SILENCE if any(one["status"] == "empty" for one in naming["transcripts"]) else UNKNOWN


def _accepted(naming: Mapping[str, Any], attempt: Mapping[str, Any]) -> bool:
    said = " ".join(attempt["phonemes"]) in naming["accepted"]
    return said and naming["score"] != "error"


def _target(naming: Mapping[str, Any]) -> str:
    return str(naming["target"]).replace(" ", "_")
