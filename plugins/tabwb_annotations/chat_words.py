"""The main tier of a response in CHAT: the words, the target, the kind of error.

``cat [: dog] [* s:r] [//] dog`` is a word, the word that was meant, the code of the error, and that
it was taken back. Codes are those of AphasiaBank (CHAT manual, word-level error codes). The attempt
that is judged has the code of the response, a person's before the rules'; every other attempt has
its own, as the rules propose it. A replacement is of one word by one word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tabwb.phonology.inventory import SILENT, to_ipa
from tabwb.scoring.naming.attempts import AttemptReading, aside
from tabwb_annotations.tiers import code_of, shown_of, transcribed_attempts

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
"""What can be words of CHAT: brackets and digits have other meanings there."""
FILLERS = frozenset(("um", "uh", "er", "erm", "ah", "eh", "hm", "mm"))
CARRIERS = FILLERS | frozenset(
    (
        *("a", "an", "the", "it", "its", "it's", "is", "that's", "that", "this", "these", "those"),
        *("are", "they", "they're", "there", "there's", "i", "i'm", "think", "maybe", "some"),
        *("looks", "like", "called", "my", "your", "his", "her"),
    )
)
"""Words before a name that do not belong to the attempt."""
UNINTELLIGIBLE = frozenset(SILENT[1:])
SILENCE, UNKNOWN = "0", "xxx"


@dataclass(frozen=True, slots=True)
class MainTier:
    """The main tier of one response.

    Attributes:
        line: without speaker and terminator.
        coded: whether it has the response's code.
        heard: whether it has what a person heard.
        phonetic: whether each word of it is one of the transcript: then ``%pho`` is below.
    """

    line: str
    coded: bool = False
    heard: bool = False
    phonetic: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    """One attempt: its words, whether it is an error of one word, its codes and its source."""

    text: str
    error: bool = False
    heard: bool = False
    phonetic: bool = True
    codes: tuple[str, ...] = ()


def main_tier(naming: Mapping[str, Any]) -> MainTier:
    """Return the main tier of one response.

    >>> cat = {"phonemes": ["K", "AE", "T"], "complete": True, "heard": "cat", "by_ear": True}
    >>> dog = {"phonemes": ["D", "AO", "G"], "complete": True, "heard": "dog", "by_ear": True}
    >>> said = {"target": "dog", "accepted": ["D AO G"], "heard": "cat, dog", "by_ear": True,
    ...         "score": "self-corrected", "code": "mixed", "code_by": "person",
    ...         "proposed": {"code": "undecided", "attempt": 1}, "transcripts": [], "start_s": 0.0,
    ...         "attempts": [{**cat, "code": "undecided"}, {**dog, "code": "correct"}],
    ...         "marks": [], "examiner": []}
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
    target = str(naming["target"])
    parts: list[str] = []
    for word in words:
        part = word.text
        if word.error and " " not in target:
            part += f" [: {target}]"
        parts.append(part + "".join(f" [* {code}]" for code in word.codes))
    return MainTier(
        " [//] ".join(parts),
        coded=any(word.codes for word in words),
        heard=any(word.heard for word in words),
        phonetic=all(word.phonetic for word in words) and not _otherwise_transcribed(naming),
    )


def _words(naming: Mapping[str, Any]) -> list[_Word]:
    """Return the attempts, with words where a person heard them."""
    found: dict[int, _Word] = {}
    for number, attempt in enumerate(naming["attempts"], start=1):
        if attempt["phonemes"] or attempt["by_ear"]:
            word = _heard(naming, attempt) or _transcribed(naming, attempt)
            error = word.error and not _is_aside(attempt)
            codes = ERROR_CODES.get(str(attempt["code"]), ())
            found[number] = replace(word, error=error, codes=codes if error else ())
    errors = [number for number, word in found.items() if word.error]
    code, by = code_of(naming)
    judged = _judged(naming)
    if errors and (judged in errors or by != "proposed"):
        coded = judged if judged in errors else errors[0]
        found[coded] = replace(found[coded], codes=ERROR_CODES.get(code, ()))
    words = list(found.values())
    if naming["score"] in {"right", "self-corrected"}:
        named = any(_accepted(naming, attempt) for attempt in naming["attempts"])
        if not named and (not words or words[-1].error or not words[-1].heard):
            # A person heard the name, whatever the transcriber wrote; it is the last attempt.
            words[-1:] = [_Word(_target(naming), phonetic=False)]
    return words


def _is_aside(attempt: Mapping[str, Any]) -> bool:
    """Return whether an attempt is a filler or a remark about the task."""
    words = tuple(str(attempt["heard"] or "").split())
    return bool(aside(AttemptReading((tuple(attempt["phonemes"]),), words)))


def _judged(naming: Mapping[str, Any]) -> int:
    """Return the number of the attempt that is scored; 0 where there is none."""
    proposed = naming["proposed"]
    return 0 if proposed is None else proposed["attempt"] or 0


def _transcribed(naming: Mapping[str, Any], attempt: Mapping[str, Any]) -> _Word:
    phonemes = attempt["phonemes"]
    if all(phoneme in UNINTELLIGIBLE for phoneme in phonemes):
        return _Word(UNKNOWN, phonetic=False)
    if _accepted(naming, attempt):
        same = " ".join(phonemes) in naming["accepted"]
        return _Word(_target(naming), phonetic=same, heard=attempt["by_ear"])
    ipa, by_ear = to_ipa(phonemes), bool(attempt["by_ear"])
    if attempt["complete"] is False:
        return _Word(f"&+{ipa}", heard=by_ear)
    return _Word(f"{ipa}@u", error=True, heard=by_ear)


def _heard(naming: Mapping[str, Any], attempt: Mapping[str, Any]) -> _Word | None:
    """Return the words that a person heard; None where the attempt has none."""
    heard = str(attempt["heard"] or "")
    if not heard:
        return None
    if attempt["complete"] is False:
        return _Word(f"&+{heard.strip('-')}", heard=True)
    text = " ".join("".join(WORDS.findall(heard)).split())
    if not text:
        return None
    if text == str(naming["target"]).casefold():
        return _Word(_target(naming), heard=True)
    words = text.split()
    carried = all(word in CARRIERS for word in words[:-1])
    named = attempt["code"] in {"correct", "description"}
    spelled = " ".join(_spelled(word) for word in words)
    return _Word(spelled, carried and not named, heard=text == heard)


def _otherwise_transcribed(naming: Mapping[str, Any]) -> bool:
    """Return whether a person heard other sounds or attempts than the transcript has."""
    if not naming["by_ear"]:
        return False
    transcribed = [tuple(attempt["phonemes"]) for attempt in transcribed_attempts(naming)]
    return transcribed != [tuple(attempt["phonemes"]) for attempt in naming["attempts"]]


def _spelled(word: str) -> str:
    """Return a word in the form of CHAT: fillers are marked, and I is a capital.

    >>> [_spelled(word) for word in ("um", "i'm", "dog")]
    ['&-um', "I'm", 'dog']
    """
    if word in FILLERS:
        return f"&-{word}"
    return word.capitalize() if word == "i" or word.startswith("i'") else word


def _without_words(naming: Mapping[str, Any]) -> str:
    """Return 0 for silence, and xxx for unintelligible speech and for unheard responses."""
    shown = shown_of(naming)
    phonemes = set() if shown is None else set(shown.get("phonemes", ()))
    if phonemes & UNINTELLIGIBLE:
        return UNKNOWN
    return (
        SILENCE
        if any(transcript["status"] == "empty" for transcript in naming["transcripts"])
        else UNKNOWN
    )


def _accepted(naming: Mapping[str, Any], attempt: Mapping[str, Any]) -> bool:
    """Return whether an attempt is correct by the rules and not an error by the listener."""
    is_target = attempt["code"] == "correct" or " ".join(attempt["phonemes"]) in naming["accepted"]
    return is_target and naming["score"] != "error"


def _target(naming: Mapping[str, Any]) -> str:
    return str(naming["target"]).replace(" ", "_")
