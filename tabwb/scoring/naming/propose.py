"""The machine's proposal of a code, with the clause that fired. A person decides (SCORING 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabwb.phonology.dictionary import load_dictionary
from tabwb.scoring.lexicon import load_lexicon
from tabwb.scoring.naming.attempts import SpokenAttempt
from tabwb.scoring.naming.codes import NO_SPEECH
from tabwb.scoring.naming.correct import Verdict, judged_attempt
from tabwb.scoring.naming.heard import HeardAs
from tabwb.scoring.naming.similarity import Similarity, chance_rate, most_similar
from tabwb.scoring.naming.target import NamingTarget

_CARRIERS = (("DH", "AH"), ("DH", "IY"), ("AH", "N"), ("AE", "N"), ("AH",), ("EY",))
"""The, a, an: before a word they are no part of it."""
_MERGED = {"AA": "AO", "AO": "AA"}
"""The vowels of "cot" and "caught", one vowel for many speakers of English; not before R."""
_PHRASE_LEVEL = 10
"""SCOWL's size of the words that a response is split into to see whether it is a phrase. [ours]"""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What was said to an earlier item, as far as it is known.

    Attributes:
        item: its id.
        phonemes: ARPAbet, or empty.
        word: as a person heard it, or empty.
    """

    item: str
    phonemes: tuple[str, ...]
    word: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A code, and everything that it rests on.

    Attributes:
        code: one of :data:`tabwb.scoring.naming.codes.CODES`; ``undecided`` where only a person can
            tell.
        clause: which clause fired, for people.
        homophones: words of the dictionary that sound like what was said, the commonest first.
        chance_rate: share of random word pairs that the similarity rule relates; None where the
            proposal does not rest on it.
        repeats: id of an earlier item to which the same was said, or empty; whatever the code.
        flags: of :data:`tabwb.scoring.naming.codes.FLAGS`.
        attempt: number of the attempt that was coded, from 1; None for a heard word.
    """

    code: str
    clause: str
    homophones: tuple[str, ...] = ()
    chance_rate: float | None = None
    repeats: str = ""
    flags: tuple[str, ...] = ()
    attempt: int | None = None

    @property
    def homophone(self) -> str:
        """The commonest word that sounds like what was said, or empty."""
        return self.homophones[0] if self.homophones else ""

    def to_json(self) -> dict[str, object]:
        """As it stands in documents."""
        return {
            "code": self.code,
            "clause": self.clause,
            "homophones": list(self.homophones),
            "chance_rate": self.chance_rate,
            "repeats": self.repeats or None,
            "flags": list(self.flags),
            "attempt": self.attempt,
        }


def propose_code(
    target: NamingTarget,
    attempts: Sequence[SpokenAttempt],
    verdict: Verdict | None = None,
    *,
    heard: HeardAs | None = None,
    earlier: Sequence[Earlier] = (),
) -> Proposal:
    """The code that the machine proposes.

    A heard word or heard phonemes take the place of what the machine transcribed; without them only
    correct, nonword-related, nonword-unrelated, formal and no speech are proposed. What links a
    response to the target is looked at before what links it to an earlier one [ours].

    Args:
        target: what the response is held against.
        attempts: of :func:`tabwb.scoring.naming.attempts.propose_attempts`; the first that is no
            fragment is coded (PNT: first complete attempt).
        verdict: of the rule that decides; ``correct`` where it is right. None where there is no
            transcript, but a heard word.
        heard: what a person heard.
        earlier: what was said to the items before, oldest first.
    """
    if heard is not None:
        return _of_heard(target, heard, earlier)
    if not attempts:
        return Proposal("no-response", NO_SPEECH)
    if verdict is not None and verdict.value:
        right = judged_attempt(attempts, verdict) or 1
        before = [attempt for attempt in attempts[: right - 1] if attempt.complete is not False]
        flags = ("self-corrected",) * bool(before) + verdict.flags
        clause = f"{verdict.rule}: {verdict.clause}"
        return Proposal("correct", clause, flags=flags, attempt=right)
    number = judged_attempt(attempts)
    coded = attempts[(number or 1) - 1]
    if coded.complete is False:
        return Proposal("undecided", "only fragments were heard")
    found = _of_phonemes(target, coded.phonemes, earlier)
    if coded.complete is None:
        clause = f"whether attempt {number} is a complete one must be heard; {found.clause}"
        found = replace(found, code="undecided", clause=clause)
    return replace(found, attempt=number)


# ------------------------------------------------------------------ what was heard by a person


def _of_heard(target: NamingTarget, heard: HeardAs, earlier: Sequence[Earlier]) -> Proposal:
    if not heard.word:
        found = next(
            (form for form in target.accept if form.phonemes in heard.pronunciations), None
        )
        if found is not None:
            flags = ("dialect",) * (found.reason == "dialect")
            return Proposal("correct", f"heard {' '.join(found.phonemes)}, accepted", flags=flags)
        return _of_phonemes(target, heard.pronunciations[0], earlier)
    word = heard.word
    right = {target.target.casefold(), *(form.word.casefold() for form in target.accept)} - {""}
    if word in right or any(form.phonemes in heard.pronunciations for form in target.accept):
        return Proposal("correct", f"heard '{word}', an accepted name")
    if heard.several:
        return Proposal("undecided", f"heard several words: '{word}'")
    alike = _alike(target, heard.pronunciations)
    chance = chance_rate() if alike.related else None
    repeats = _repeated(earlier, word=word, ways=heard.pronunciations)
    if word in target.semantic:
        code = "mixed" if alike.related else "semantic"
        clause = f"'{word}' is a named neighbour in meaning; {alike.sentence}"
        return Proposal(code, clause, chance_rate=chance, repeats=repeats)
    for code, words in (("visual", target.visual), ("picture-part", target.parts)):
        if word in words:
            clause = f"'{word}' is named by the battery as {code}"
            return Proposal(code, clause, repeats=repeats)
    if _ending(target.target.casefold(), word):
        clause = f"'{word}' is the target with an ending: morphological, if a person says so"
        return Proposal("undecided", clause, repeats=repeats)
    if not heard.pronunciations and not load_lexicon().known(word):
        clause = f"'{word}' is in no dictionary: write down its phonemes"
        return Proposal("undecided", clause, repeats=repeats)
    if alike.related:
        clause = f"'{word}' {alike.sentence}"
        return Proposal("formal", clause, chance_rate=chance, repeats=repeats)
    if repeats:
        return Proposal("perseveration", f"said to '{repeats}' before", repeats=repeats)
    clause = f"'{word}' is no named neighbour and not similar in sound"
    return Proposal("undecided", clause)


def _alike(target: NamingTarget, ways: Sequence[Sequence[str]]) -> Similarity:
    """The greatest similarity of any way to say a word with any accepted form."""
    found = [most_similar(target.accepted, way) for way in ways]
    return max(found, key=lambda one: (one.related, len(one.shared)), default=Similarity((), ()))


def _ending(target: str, word: str) -> bool:
    """Whether a word is the target in another number or tense."""
    stem = target.removesuffix("e")
    endings = {target + "s", target + "es", stem + "ed", stem + "ing", stem + target[-1:] + "ing"}
    return word in endings | {target.removesuffix("y") + "ies"}


# ------------------------------------------------------------------ what a machine heard


def _of_phonemes(
    target: NamingTarget, phonemes: Sequence[str], earlier: Sequence[Earlier]
) -> Proposal:
    said = tuple(phonemes)
    words = _homophones(said)
    if not words.common:
        for carrier in _CARRIERS:
            rest = said[len(carrier) :]
            if said[: len(carrier)] == carrier and _homophones(rest).common:
                said, words = rest, _homophones(rest)
                break
    common, rare = words.common, words.rare
    alike = most_similar(target.accepted, said)
    chance = chance_rate() if alike.related else None
    repeats = _repeated(earlier, ways=(said, tuple(phonemes)))
    found = Proposal("undecided", "", common + rare, repeats=repeats)
    if common:
        if alike.related:
            clause = f"sounds like '{common[0]}'{words.how}; {alike.sentence}"
            return replace(found, code="formal", clause=clause, chance_rate=chance)
        neighbour = next((word for word in common if word in target.semantic), None)
        if neighbour is not None:
            named = f"sounds like '{neighbour}'{words.how}, a named neighbour"
            return replace(found, clause=f"{named}: if you hear it, write it down")
        return replace(found, clause=f"sounds like '{common[0]}'{words.how}; not similar in sound")
    phrase = _phrase(said)
    if phrase:
        return replace(found, clause=f"may be several words: '{' '.join(phrase)}'")
    lead = f"no common word (but '{rare[0]}')" if rare else "no word"
    if alike.related:
        clause = f"{lead}; {alike.sentence}"
        return replace(found, code="nonword-related", clause=clause, chance_rate=chance)
    if repeats:
        clause = f"{lead}; the same was said to '{repeats}' before"
        return replace(found, code="perseveration", clause=clause)
    return replace(found, code="nonword-unrelated", clause=f"{lead}; not similar in sound")


@dataclass(frozen=True, slots=True)
class _Words:
    """Words that sound so: common ones, the commonest first, and names and rare words.

    ``how`` is what has to be taken alike for the common ones, as the end of a phrase.
    """

    common: tuple[str, ...]
    rare: tuple[str, ...]
    how: str = ""


def _homophones(phonemes: Sequence[str]) -> _Words:
    """What sounds so; where no common word does, those that do with "cot" and "caught" alike.

    Only a word of SCOWL's sizes up to 35 makes a response a word; the dictionary is full of names.
    [ours]
    """
    found = _sounding(tuple(phonemes))
    if not found.common:
        for way in _merged(tuple(phonemes)):
            if common := _sounding(way).common:
                how = " with the vowels of 'cot' and 'caught' alike"
                return _Words(common, found.rare, how)
    return found


def _sounding(phonemes: tuple[str, ...]) -> _Words:
    lexicon = load_lexicon()
    words = load_dictionary().homophones(phonemes)
    levels = {word: lexicon.level(word) for word in words}
    common = sorted((word for word in words if levels[word]), key=lambda word: levels[word] or 0)
    return _Words(tuple(common), tuple(word for word in words if not levels[word]))


def _merged(phonemes: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The same with one vowel of "cot" or "caught" as the other.

    >>> _merged(("D", "AA", "G")), _merged(("K", "AA", "R"))
    ([('D', 'AO', 'G')], [])
    """
    return [
        (*phonemes[:at], _MERGED[phoneme], *phonemes[at + 1 :])
        for at, phoneme in enumerate(phonemes)
        if phoneme in _MERGED and phonemes[at + 1 : at + 2] != ("R",)
    ]


def _phrase(phonemes: Sequence[str]) -> tuple[str, ...]:
    """The two or more very common words that what was said splits into, or nothing.

    Each has two phonemes or more, so that one stray phoneme makes no phrase; I and a may begin it.
    """
    best: list[tuple[str, ...] | None] = [(), *[None] * len(phonemes)]
    for end in range(1, len(phonemes) + 1):
        for start in range(end):
            before = best[start]
            if before is None or (end - start < 2 and start):
                continue
            shorter = best[end]
            if shorter is not None and len(shorter) <= len(before) + 1:
                continue
            words = sorted(load_dictionary().homophones(phonemes[start:end]), key=len)
            word = next((word for word in words if _very_common(word)), None)
            if word is not None:
                best[end] = (*before, word)
    found = best[-1] or ()
    return found if len(found) > 1 else ()


def _very_common(word: str) -> bool:
    """Whether a word, or the word that a contraction (don't, it's) begins with, is very common."""
    stem = word.removesuffix("n't").partition("'")[0]
    return stem == "i" or load_lexicon().level(stem) == _PHRASE_LEVEL


def _repeated(
    earlier: Sequence[Earlier], *, word: str = "", ways: Sequence[Sequence[str]] = ()
) -> str:
    """The latest earlier item to which the same word or the same phonemes were said."""
    said = {tuple(way) for way in ways if way}
    for one in reversed(earlier):
        if (word and one.word == word) or (one.phonemes and one.phonemes in said):
            return one.item
    return ""
