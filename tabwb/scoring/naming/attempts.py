"""Spoken attempts of a response: separated by pauses and marks, and read without asides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from tabwb.phonology.inventory import SILENT, is_vowel
from tabwb.records.speech import Segment
from tabwb.scoring.naming.words import joined, pronunciations, words_sounding

CARRIERS: Final = (
    "the", "an", "a", "some", "this", "that", "it's", "its", "it is", "that's", "that is",
    "this is", "there's", "there is", "there are", "i think", "i think it's", "i see", "looks like",
    "it looks like", "that looks like", "this looks like", "maybe", "and", "my", "your", "his",
    "her", "our", "their", "these", "those", "they're", "they are", "these are", "those are",
    "here's", "here is", "here are", "this one is", "that one is",
)  # fmt: skip
"""Articles, determiners and carrier phrases, which are not part of the attempt (PNT)."""
BEFORE_NAMES: Final = (
    "another", "one", "is it", "is that", "is this", "it was", "that was", "it could be",
    "could be", "it might be", "might be", "it may be", "it must be", "must be", "it seems",
    "seems like", "it's like", "like", "i believe", "i guess", "i suppose", "i'd say",
    "i would say", "i can see", "we have", "you have", "i have", "it's called", "it is called",
    "called", "we call it", "you call it", "probably", "perhaps", "okay", "ok", "yes", "yeah",
    "right", "now", "let me see", "let's see", "look", "look at", "picture of", "drawing of",
    "photo of", "he's", "she's", "he is", "she is", "what looks like", "or", "then", "just",
    "kind of", "sort of", "but", "that one's", "this one's", "that would be", "it would be",
    "i want to say", "you know", "pair of", "bunch of",
)  # fmt: skip
"""Further words that are left out before a name, but are attempts where they stand alone. [ours]"""
AFTER_NAMES: Final = (
    "i think", "i guess", "i believe", "i suppose", "i'd say", "maybe", "probably", "right",
    "okay", "ok", "yes", "yeah", "please", "isn't it", "is it", "or something", "you know", "there",
    "again", "too", "now", "then",
)  # fmt: skip
"""Words that are left out after a name. [ours]"""
FILLERS: Final = ("um", "uh", "er", "erm", "ah", "eh", "hm", "hmm", "mm", "mhm", "well", "oh", "so")
"""Words that fill a pause and are not part of the attempt (PNT)."""
_LONG_FILLER: Final = re.compile(r"u+m+|u+h+m*|e+r+m*|h+m+|m+h*m+|a+h+|e+h+|o+h+")
"""Fillers as listeners spell long ones: "ummm", "uhh" [ours]."""
FILLER_SOUNDS: Final = (("AH", "M"), ("HH", "M"), ("ER", "M"), ("ER",), ("AH",))
"""Transcriptions of fillers; the other fillers are words by their sound."""
DONT_KNOW: Final = (
    "i don't know", "don't know", "i dunno", "dunno", "no idea", "i have no idea", "i can't say it",
    "i can't think of it", "i don't remember", "i can't remember", "i forgot", "i forget",
    "what's it called", "what do you call it", "i can't say", "not sure", "i'm not sure",
    "i do not know", "i don't know what it is", "i don't know what it's called",
    "i don't know what that is", "i've no idea", "i can't", "can't say", "can't say it",
    "i can't think", "can't think of it", "can't remember", "don't remember", "i know it",
    "i know this", "i know it but i can't say it", "i know it but can't say it",
    "i know what it is", "what is it", "what is that", "what's that",
    "i know what it is but i can't say it",
    "don't know what it is", "don't know what it's called", "don't know what that is",
    "i don't know the name", "i don't know the word", "don't know the name", "don't know the word",
    "i can't think of the name", "i can't think of the word", "can't think of the name",
    "can't think of the word", "i can't remember the name", "i can't remember the word",
    "can't remember the name", "can't remember the word", "i can't find the word",
    "can't find the word", "i don't remember the name", "i don't remember the word",
    "i forgot the name", "i forgot the word", "i have no clue", "no clue", "what is it called",
    "what do you call this", "what do you call that", "it's on the tip of my tongue",
    "on the tip of my tongue", "tip of my tongue", "i can't get it", "can't get it",
    "i can't find it", "can't find it", "haven't a clue", "i haven't a clue", "i don't have a clue",
    "beats me", "i forget what it's called", "i forgot what it's called", "no",
)  # fmt: skip
_DONT_KNOW_PLAIN: Final = frozenset(phrase.replace("'", "") for phrase in DONT_KNOW)


@dataclass(frozen=True, slots=True)
class AttemptReading:
    """One attempt as the rules read it.

    Attributes:
        ways: its pronunciations, ARPAbet without stress; the first is shown.
        words: of a listener, lower case; none where phonemes are known.
        ear: whether a listener wrote it, not a machine.
        guessed: whether the pronunciation follows from the letters only.
        breaks: numbers of the phonemes of the first way before which a pause or a word begins.
        flags: of :data:`tabwb.scoring.naming.target.FLAGS`, for what was removed.
        noise: whether there was unintelligible speech.
        broken_off: whether a listener marked it as a fragment (``d-``).
        mapped: sounds outside the 40, each with the phoneme it is read as (``ɒ=AA``).
        rejected: whether it rejects a name ("not a dog"), which is not an attempt.
    """

    ways: tuple[tuple[str, ...], ...] = ()
    words: tuple[str, ...] = ()
    ear: bool = False
    guessed: bool = False
    breaks: frozenset[int] = frozenset()
    flags: tuple[str, ...] = ()
    noise: bool = False
    broken_off: bool = False
    mapped: tuple[str, ...] = ()
    rejected: bool = False

    @property
    def phonemes(self) -> tuple[str, ...]:
        """The first pronunciation."""
        return self.ways[0] if self.ways else ()

    @property
    def word(self) -> str:
        """What a listener wrote, as one string."""
        return " ".join(self.words)


def is_filler(word: str) -> bool:
    """Return whether a word only fills a pause.

    >>> is_filler("um"), is_filler("ummm"), is_filler("well"), is_filler("ham")
    (True, True, True, False)
    """
    return word in FILLERS or _LONG_FILLER.fullmatch(word) is not None


def says_dont_know(words: str) -> bool:
    """Return whether words say that no name comes; apostrophes may be left out.

    >>> says_dont_know("i don't know"), says_dont_know("dont know"), says_dont_know("i know a dog")
    (True, True, False)
    """
    return words.replace("'", "") in _DONT_KNOW_PLAIN


def aside(reading: AttemptReading) -> str:
    """Return the flag of a stretch that is not an attempt at a name, or empty (rules 3, 5, 17).

    >>> [aside(AttemptReading(words=words)) for words in (("um",), ("it's", "a"), ("cat",))]
    ['filler', 'carrier', '']
    >>> aside(AttemptReading(words=("oh", "i", "don't", "know")))
    'dont-know'
    >>> aside(AttemptReading(ways=(("ER", "M"),)))
    'filler'
    >>> [aside(AttemptReading(ways=(tuple(way.split()),))) for way in ("IH T S AH", "S AH M ER")]
    ['carrier', '']
    """
    if reading.rejected:
        return "rejected"
    if not reading.words:
        if reading.phonemes in dont_know_sounds():
            return "dont-know"
        return _aside_sounds().get(reading.phonemes) or _asides_joined(reading.phonemes)
    rest, flag = f"{reading.word} ", ""
    while rest:
        if says_dont_know(rest.rstrip()):
            return "dont-know"
        first = rest.partition(" ")[0]
        if is_filler(first):
            cut, flag = first, flag or "filler"
        else:
            carriers = (phrase for phrase in CARRIERS if rest.startswith(f"{phrase} "))
            cut, flag = max(carriers, key=len, default=""), "carrier"
        if not cut:
            return ""
        rest = rest.removeprefix(f"{cut} ")
    return flag


def introduces(reading: AttemptReading) -> bool:
    """Return whether words are left out before a name, and stand before a comma ("yes, dog").

    >>> [introduces(AttemptReading(words=(word,))) for word in ("yes", "dog")]
    [True, False]
    """
    return reading.word in BEFORE_NAMES


def cuts(reading: AttemptReading, *, named: bool = False) -> Iterator[AttemptReading]:
    """Yield what remains without fillers, carriers or false starts, those with fewest cuts first.

    ``named``: what remains of phonemes is a name; further words before it and fillers after it go.

    >>> [each.words for each in cuts(AttemptReading(words=("it's", "a", "bed"), ear=True))]
    [('a', 'bed'), ('bed',)]
    """
    waiting, seen = [reading], {(reading.words, reading.ways)}
    while waiting:
        longer = waiting.pop(0)
        shorter = _word_cuts(longer) if longer.words else _sound_cuts(longer, named=named)
        for rest in shorter:
            if (rest.words, rest.ways) not in seen:
                seen.add((rest.words, rest.ways))
                waiting.append(rest)
                yield rest


def _word_cuts(reading: AttemptReading) -> Iterator[AttemptReading]:
    words = reading.words
    for flag, phrases in (("carrier", CARRIERS + BEFORE_NAMES), ("filler", FILLERS)):
        for parts in _parts(phrases):
            if len(words) > len(parts) and words[: len(parts)] == parts:
                yield _of_words(reading, words[len(parts) :], flag)
    if len(words) < 2:
        return
    first, second, *_ = words
    if first not in FILLERS and is_filler(first):
        yield _of_words(reading, words[1:], "filler")
    if is_filler(words[-1]):
        yield _of_words(reading, words[:-1], "filler")
    for parts in _parts(AFTER_NAMES):
        if len(words) > len(parts) and words[-len(parts) :] == parts:
            yield _of_words(reading, words[: -len(parts)], "carrier")
    if first == second:
        yield _of_words(reading, words[1:], "repeated")
    elif first.endswith("-"):
        yield _of_words(reading, words[1:], "false-start")


@lru_cache(maxsize=4)
def _parts(phrases: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in phrases)


def _of_words(reading: AttemptReading, rest: tuple[str, ...], flag: str) -> AttemptReading:
    # The ways belong to the whole attempt: those of the rest are looked up again.
    return replace(reading, words=rest, flags=_with(reading, flag), ways=(), guessed=False)


def _sound_cuts(reading: AttemptReading, *, named: bool) -> Iterator[AttemptReading]:
    whole = reading.phonemes
    for sound, flag in (sounds_before_names() if named else carrier_sounds()).items():
        if len(whole) > len(sound) and whole[: len(sound)] == sound:
            yield _rest_of_sounds(reading, len(sound), flag)
    for sound in FILLER_SOUNDS if named else ():
        kept = len(whole) - len(sound)
        apart = len(sound) > 1 or kept in reading.breaks
        if kept > 0 and apart and whole[kept:] == sound:
            breaks = frozenset(at for at in reading.breaks if at < kept)
            flags = _with(reading, "filler")
            yield replace(reading, ways=(whole[:kept],), breaks=breaks, flags=flags)
    # "duh dog": a repeated onset, whose schwa makes no attempt.
    onset = next((at for at, phoneme in enumerate(whole) if is_vowel(phoneme)), 0)
    again = whole[onset + 1 : 2 * onset + 1]
    if named and onset and whole[onset] == "AH" and again == whole[:onset]:
        yield _rest_of_sounds(reading, onset + 1, "false-start")
    for length in range(len(whole) // 2, 0, -1):
        begun, rest = whole[:length], whole[length:]
        if rest[:length] == begun and rest:
            flag = "repeated" if rest == begun else "false-start"
            yield _rest_of_sounds(reading, length, flag)


def _rest_of_sounds(reading: AttemptReading, count: int, flag: str) -> AttemptReading:
    breaks = frozenset(at - count for at in reading.breaks if at > count)
    rest = reading.phonemes[count:]
    return replace(reading, ways=(rest,), breaks=breaks, flags=_with(reading, flag))


def _with(reading: AttemptReading, flag: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*reading.flags, flag)))


@lru_cache(maxsize=1)
def carrier_sounds() -> dict[tuple[str, ...], str]:
    """Return the flags of carriers and fillers by their sounds, the longest first."""
    flags: dict[tuple[str, ...], str] = dict.fromkeys(FILLER_SOUNDS, "filler")
    for phrase in CARRIERS:
        flags |= dict.fromkeys(sounds_of(phrase), "carrier")
    return dict(sorted(flags.items(), key=lambda entry: -len(entry[0])))


@lru_cache(maxsize=1)
def sounds_before_names() -> dict[tuple[str, ...], str]:
    """Return the flags of all that is left out before a name by its sounds, the longest first."""
    flags = {sound: "carrier" for phrase in BEFORE_NAMES for sound in sounds_of(phrase)}
    flags |= {sound: "filler" for word in FILLERS for sound in sounds_of(word)} | carrier_sounds()
    return dict(sorted(flags.items(), key=lambda entry: -len(entry[0])))


@lru_cache(maxsize=1)
def articles() -> frozenset[tuple[str, ...]]:
    """Return the sounds that are left out before a name although the whole is a word ("adore")."""
    return frozenset((*FILLER_SOUNDS, ("AH", "N"), ("AE", "N"), *sounds_of("the")))


@lru_cache(maxsize=1)
def _aside_sounds() -> dict[tuple[str, ...], str]:
    return {sound: "filler" for word in FILLERS for sound in sounds_of(word)} | carrier_sounds()


@lru_cache(maxsize=1024)
def _asides_joined(phonemes: tuple[str, ...]) -> str:
    """Return the flag of carriers and fillers one after the other ("it's a"), or empty."""
    if words_sounding(phonemes).common:
        return ""
    sounds = _aside_sounds()
    best: list[str | None] = ["", *[None] * len(phonemes)]
    for end in range(1, len(phonemes) + 1):
        for start in range(end):
            before, flag = best[start], sounds.get(phonemes[start:end])
            if before is not None and flag:
                best[end] = "carrier" if "carrier" in (before, flag) else flag
    return best[-1] or ""


@lru_cache(maxsize=256)
def sounds_of(phrase: str) -> tuple[tuple[str, ...], ...]:
    """Return the sounds of a phrase by the dictionary; none if a word is unknown."""
    return joined(pronunciations(word)[:4] for word in phrase.split())


@lru_cache(maxsize=1)
def dont_know_sounds() -> frozenset[tuple[str, ...]]:
    """Return the sounds of "I don't know" and similar phrases."""
    return frozenset(sound for phrase in DONT_KNOW[:-1] for sound in sounds_of(phrase))


def is_fragment(phonemes: Sequence[str], accepted: Sequence[Sequence[str]] = ()) -> bool:
    """Return whether an attempt lacks a consonant or a vowel other than schwa (PNT).

    AH at the end of an attempt is read as schwa [ours]. An accepted form is never a fragment, nor
    is one with sounds before it ("an eye").

    >>> is_fragment(["K", "AE"]), is_fragment(["K", "AH"]), is_fragment(["K"])
    (False, True, True)
    >>> is_fragment(["AY"], accepted=[["AY"]])
    False
    """
    spoken = tuple(phonemes)
    if any(form and spoken[-len(form) :] == tuple(form) for form in accepted):
        return False
    vowels = sum(map(is_vowel, spoken))
    schwa = spoken[-1:] == ("AH",)
    return vowels == len(spoken) or vowels - schwa < 1


PAUSE_S = 1.0
"""Seconds without a phoneme that end an attempt: the "1 sec. count" of the PNT's scoring guide."""


@dataclass(frozen=True, slots=True)
class SpokenAttempt:
    """One attempt at the name, as the machine proposes it, without silence and noise."""

    onset_s: float
    offset_s: float
    phonemes: tuple[str, ...]
    complete: bool
    segments: tuple[Segment, ...] = ()


def propose_attempts(
    segments: Sequence[Segment],
    *,
    marks: Sequence[float] = (),
    accepted: Sequence[Sequence[str]] = (),
) -> tuple[SpokenAttempt, ...]:
    """Return the attempts in a response, separated by pauses and by the administrator's marks.

    A pause lasts from the end of one phoneme to the beginning of the next, including noise; in a
    typed transcript, which has no times, a ``<sil>`` separates attempts [ours].

    Marks are times at which a person marked the beginning of an attempt. A pronunciation that is
    ``accepted`` is always a complete attempt.

    >>> said = [Segment("K", 0, 0.1), Segment("AE", 0.1, 0.2), Segment("D", 1.4, 1.5)]
    >>> [(each.phonemes, each.complete) for each in propose_attempts(said)]
    [(('K', 'AE'), True), (('D',), False)]
    """
    groups: list[list[Segment]] = []
    silent = False
    for segment in segments:
        if segment.phoneme in SILENT:
            last_s = groups[-1][-1].end_s if groups else 0.0
            untimed = segment.end_s <= segment.start_s or segment.start_s < last_s
            silent = silent or (segment.phoneme == SILENT[0] and untimed)
            continue
        if (
            not groups
            or silent
            or segment.start_s - groups[-1][-1].end_s >= PAUSE_S
            or any(_middle(groups[-1][-1]) < mark <= _middle(segment) for mark in marks)
        ):
            groups.append([])
        silent = False
        groups[-1].append(segment)
    attempts = []
    for group in groups:
        phonemes = tuple(segment.phoneme for segment in group)
        complete = not is_fragment(phonemes, accepted)
        times = group[0].start_s, group[-1].end_s
        attempts.append(SpokenAttempt(*times, phonemes, complete, tuple(group)))
    return tuple(attempts)


def _middle(segment: Segment) -> float:
    return (segment.start_s + segment.end_s) / 2
