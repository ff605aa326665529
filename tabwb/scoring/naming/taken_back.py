"""Names that a speaker takes back ("dog no cat") or rejects ("not a dog"), in words and sounds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from tabwb.scoring.naming.attempts import DONT_KNOW, AttemptReading, cuts, is_filler, sounds_of
from tabwb.scoring.naming.heard import read_words

TAKING_BACK: Final = (
    "no", "no no", "no wait", "no sorry", "no i mean", "i mean", "or rather", "i meant", "wait",
    "oops", "sorry", "actually", "no it's", "no that's", "i'm sorry",
)  # fmt: skip
"""Words after which another attempt begins. [ours]"""
_REJECTING: Final = re.compile(
    r"(?:(?:but |and |no )?(?:it's|its|it is|that's|thats|that is|this is|he's|she's) not"
    r"|(?:it|that|this) (?:isn't|isnt|ain't|wasn't)|(?:but |and |no )?not|isn't|isnt|ain't)"
    r"(?: (?:really|quite|actually))?(?: (?:a|an|the|my|some|any|like a))? "
)
_BEFORE_OTHER_NOT: Final = frozenset(
    ("do", "does", "did", "can", "could", "will", "would", "have", "has", "had", "am", "should")
)
_ENDS: Final = frozenset(
    ("but", "it's", "its", "it", "that's", "that", "this", "no", "a", "an", "the", "i", "and")
)
"""Words that end a rejected name."""


def parts(reading: AttemptReading, listed: Collection[str] = ()) -> list[AttemptReading]:
    """Return the attempts in words without a pause: a name taken back, another one (rule 17).

    Words separate attempts only after a single name, so that "a man with no dog" is one.

    >>> def said(text, listed=()):
    ...     words = AttemptReading(words=tuple(text.split()), ear=True)
    ...     return [(one.word, one.rejected) for one in parts(words, listed)]
    >>> said("dog no cat"), said("it's not a dog it's a cat")
    ([('dog', False), ('cat', False)], [("it's not a dog", True), ("it's a cat", False)])
    >>> said("a man with no dog"), said("no idea"), said("no")
    ([('a man with no dog', False)], [('no idea', False)], [('no', False)])
    """
    if not reading.words or reading.word in listed:
        return [reading]
    found: list[AttemptReading] = []
    waiting: list[str] = []
    skipped = False

    def close() -> None:
        nonlocal skipped
        if waiting:
            part = read_words(tuple(waiting), replace(reading, ways=(), guessed=False))
            flags = ("filler",) * skipped
            found.append(replace(part, flags=tuple(dict.fromkeys((*flags, *part.flags)))))
        waiting.clear()
        skipped = False

    rest = list(reading.words)
    while rest:
        if phrase := _phrase(rest, DONT_KNOW, least=2):
            apart = not waiting and _is_name(rest[phrase:], listed)
            if waiting and not is_whole(waiting, listed):
                close()
            waiting += rest[:phrase]
            if apart:
                close()
        elif (phrase := _rejected(rest, waiting, listed)) and not is_whole(waiting, listed):
            close()
            words = tuple(rest[:phrase])
            found.append(replace(reading, words=words, ways=read_words(words).ways, rejected=True))
        elif (phrase := _phrase(rest, TAKING_BACK)) and not is_whole(waiting, listed):
            skipped_now = len(rest) > phrase
            close()
            skipped = skipped_now and not found
        else:
            phrase = 1
            waiting.append(rest[0])
        rest = rest[phrase:]
    close()
    return found or [reading]


def _is_name(words: Sequence[str], listed: Collection[str]) -> bool:
    """Return whether words are a name, or begin as those before a name do."""
    reading = AttemptReading(words=tuple(words))
    return bool(words) and (reading.word in listed or next(cuts(reading), None) is not None)


def is_whole(words: Sequence[str], listed: Collection[str]) -> bool:
    """Return whether words are more than one name, after which nothing is taken back."""
    reading = AttemptReading(words=tuple(words))
    least = [reading, *cuts(reading)][-1] if words else reading
    return len(least.words) > 1 and least.word not in listed


def _phrase(words: Sequence[str], phrases: Sequence[str], least: int = 1) -> int:
    """Return how many words the longest phrase has that they begin with, 0 without any."""
    lengths = (len(phrase.split()) for phrase in phrases if _begins(words, phrase))
    return max((length for length in lengths if length >= least), default=0)


def _begins(words: Sequence[str], phrase: str) -> bool:
    own = phrase.split()
    return list(words[: len(own)]) == own


def _rejected(words: Sequence[str], before: Sequence[str], listed: Collection[str]) -> int:
    """Return how many words reject a name, 0 where they do not begin so."""
    match = _REJECTING.match(" ".join(words) + " ")
    if match is None or set(before[-1:]) & _BEFORE_OTHER_NOT:
        return 0
    lead = len(match[0].split())
    name = list(words[lead:])
    if not name or (lead == 1 and words[0] != "not" and name == ["it"]):
        return 0
    for length in range(min(4, len(name)), 0, -1):
        if " ".join(name[:length]) in listed:
            return lead + length
    ends = (at for at, word in enumerate(name) if at and (word in _ENDS or is_filler(word)))
    return lead + next(ends, len(name))


@lru_cache(maxsize=1)
def _rejecting_sounds() -> tuple[tuple[str, ...], ...]:
    leads = ("not", "it's not", "that's not", "it is not", "this is not", "it isn't", "that isn't")
    # "it isn" without its T is "it is an".
    said = {way for lead in leads for way in sounds_of(lead) if way[-1] == "T"}
    articles = {(), *(way for article in ("a", "an", "the", "my") for way in sounds_of(article))}
    sounds = {(*lead, *article) for lead in said for article in articles}
    return tuple(sorted(sounds, key=len, reverse=True))


def names_rejected(phonemes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield what may be rejected by the sounds before it: "not a dog", the longest lead first.

    >>> [" ".join(name) for name in names_rejected("N AA T AH D AO G".split())]
    ['D AO G', 'AH D AO G']
    """
    spoken = tuple(phonemes)
    for lead in _rejecting_sounds():
        if len(spoken) > len(lead) and spoken[: len(lead)] == lead:
            yield spoken[len(lead) :]
