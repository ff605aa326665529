"""Targets of naming items, the codes of responses, and the accepted form that an attempt equals."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from tabwb.phonology.dictionary import load_dictionary
from tabwb.phonology.inventory import is_vowel, to_ipa
from tabwb.scoring.text import fold_case

Rule = Literal["correct-any", "correct-first"]
"""Which correctness decides (``docs/naming-rules.md``)."""
Number = Literal["ignored", "scored"]
"""Whether "cats" is right for *cat*."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """One pronunciation that is right.

    Attributes:
        reason: why it is accepted: ``citation``, ``dialect``, ``other name`` ...
        word: the word that it pronounces, where that is not the target (``couch`` for *sofa*).
        written: the IPA that the battery has, where it has IPA.
    """

    phonemes: tuple[str, ...]
    reason: str
    word: str = ""
    written: str = field(default="", compare=False)

    @property
    def ipa(self) -> str:
        """In IPA, as the battery writes it."""
        return self.written or to_ipa(self.phonemes)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Allowed deviation from an accepted form; either ``slips`` or ``share`` is set.

    Attributes:
        slips: most phonemes deleted, inserted or replaced.
        share: least share of the accepted form's phonemes, in order (VNT: 0.5).
    """

    slips: int | None = None
    share: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamingTarget:
    """What a response is compared with.

    Attributes:
        target: the word.
        accept: every pronunciation that is right, the usual one first.
        semantic, visual, parts: words, lower case, of related meaning, for what the picture may be
            taken for, and for its parts.
        unrelated: words known to be unrelated in meaning: similar ones are *formal*.
    """

    target: str
    accept: tuple[Accepted, ...]
    semantic: tuple[str, ...] = ()
    visual: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    unrelated: tuple[str, ...] = ()

    @property
    def accepted(self) -> tuple[tuple[str, ...], ...]:
        """The phonemes of the accepted pronunciations alone."""
        return tuple(form.phonemes for form in self.accept)

    @property
    def own(self) -> tuple[tuple[str, ...], ...]:
        """The accepted pronunciations of the target itself, not of another name for it."""
        own = ("", fold_case(self.target))
        return tuple(form.phonemes for form in self.accept if fold_case(form.word) in own)

    @property
    def names(self) -> frozenset[str]:
        """The words that are right, lower case."""
        words = {self.target, *(form.word for form in self.accept)} - {""}
        return frozenset(map(fold_case, words))

    @property
    def listed(self) -> frozenset[str]:
        """Every word that the item names, lower case."""
        lists = (self.semantic, self.visual, self.parts, self.unrelated)
        return self.names | {word for words in lists for word in words}


Proposer = Literal["machine", "machine with a heard word", "person"]


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of response; ``phonological`` where the distance from the target is meaningful."""

    definition: str
    proposer: Proposer
    phonological: bool = False


_HEARD: Final = "machine with a heard word"
CODES: Final[Mapping[str, Code]] = {
    "correct": Code("an accepted name, by the rule that decides", "machine", True),
    "semantic": Code("a word of related meaning", _HEARD),
    "formal": Code("a word similar in sound, not in meaning", _HEARD, True),
    "mixed": Code("a word of related meaning and similar in sound", _HEARD, True),
    "unrelated": Code("a word related neither in meaning nor in sound", _HEARD),
    "nonword-related": Code("not a word, similar in sound to the target", "machine", True),
    "nonword-unrelated": Code("not a word, not similar in sound", "machine"),
    "perseveration": Code("the response to an earlier item, repeated", _HEARD),
    "morphological": Code("the target with another ending or part", _HEARD, True),
    "picture-part": Code("a part of the picture is named", _HEARD),
    "visual": Code("something that looks alike is named", _HEARD),
    "blend": Code("two words combined into one", "person", True),
    "description": Code("the thing is described, not named", _HEARD),
    "fragment": Code("an attempt broken off, without a complete one", _HEARD, True),
    "no-response": Code("nothing is said, or only that no name comes", "machine"),
    "other": Code("none of these", "person"),
    "undecided": Code("not decided yet", "machine"),
}
"""Every code; only those of ``machine`` are proposed without a listener."""

FLAGS: Final[Mapping[str, str]] = {
    "self-corrected": "a wrong attempt came before the right one",
    "late": "speech began after the time limit",
    "after-cue": "a cue had been given",
    "dialect": "the accepted form is one of a dialect",
    "number": "the name in another number: 'cats' for 'cat'",
    "carrier": "an article or a phrase before the name was left out",
    "filler": "a filler ('um') was left out",
    "false-start": "a repeated beginning ('b- bed') was left out",
    "rejected": "a name was rejected ('not a dog')",
    "repeated": "the same was said twice",
    "conduite": "several attempts, each nearer to the name",
    "dont-know": "the speaker says that no name comes",
    "repeats": "the same was said to an earlier item",
    "guessed-sound": "the word has no listed pronunciation: it follows from its letters",
    "mapped-sound": "a sound outside of the 40 phonemes was mapped to the nearest",
    "embedded": "more speech follows or precedes the name without a pause: check by ear",
}

NO_SPEECH: Final = "no speech detected"
"""Clause of the machine's ``no-response``: it cannot distinguish silence from a refusal."""

NO_RESPONSE_KINDS: Final[Mapping[str, str]] = {
    "silent": "nothing was said",
    "dont-know": "said that no name comes",
    "refused": "did not want to answer",
}
"""Kinds of the score *no response*."""

PERSON_SCORES: Final[Mapping[str, str]] = {
    "right": "an accepted name",
    "self-corrected": "right in the end, after a wrong attempt",
    "error": "anything else that was said",
    "no-response": "silent, no name comes, or refused",
    "not-scorable": "it cannot be scored, for a reason that is given",
}
"""A person's score of a response (:data:`tabwb.records.naming.SCORES`)."""


def right_by_score(score: str, rule: Rule = "correct-any") -> bool | None:
    """Return whether a person's score is right; None where it cannot be scored.

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

    >>> [code_by_score(each) for each in ("right", "no-response", "error")]
    ['correct', 'no-response', '']
    >>> code_by_score("self-corrected"), code_by_score("self-corrected", "correct-first")
    ('correct', '')
    """
    if right_by_score(score, rule):
        return "correct"
    return "no-response" if score == "no-response" else ""


Variety = Literal[
    "non-rhotic",
    "cot-caught",
    "trap-bath",
    "th-fronting",
    "h-dropping",
    "foot-strut",
    "t-glottalling",
    "raising",
]
"""Differences of a participant's English from General American."""
VARIETIES: Final[Mapping[Variety, str]] = {
    "non-rhotic": "no R before a consonant or at the end (car, butter)",
    "cot-caught": "the vowels of 'cot' and 'caught' are one",
    "trap-bath": "the vowel of 'palm' in 'bath'",
    "th-fronting": "F and V for TH ('baff')",
    "h-dropping": "no H at the beginning ('ouse)",
    "foot-strut": "the vowels of 'foot' and 'strut' are one",
    "t-glottalling": "a glottal stop for T, which transcripts leave out",
    "raising": "a raised first vowel in 'house' and 'price'",
}
_WEAK = "weak"
"""Name of the alternatives of every speaker: weak vowels, flaps, coarticulation."""
_VOICELESS = ("P", "T", "K", "CH", "F", "TH", "S", "SH", "HH")


@dataclass(frozen=True, slots=True)
class Matched:
    """An accepted form that an attempt equals, weak vowels ignored or in varieties of English."""

    form: Accepted
    weak: bool = False
    varieties: tuple[Variety, ...] = ()


def matched(
    phonemes: Sequence[str],
    accept: Sequence[Accepted],
    target: str,
    varieties: Sequence[Variety] = (),
) -> Matched | None:
    """Return the accepted form that an attempt equals, None where it equals none (rule 7).

    A form is matched phoneme by phoneme: each place may have alternatives, each with the name of
    what allows it. Equal forms come before forms equal except for weak vowels, and these before
    forms equal in a variety; of several, the battery's first.

    >>> dog = (Accepted(("D", "AO", "G"), "citation"),)
    >>> matched(("D", "AA", "G"), dog, "dog") is None
    True
    >>> matched(("D", "AA", "G"), dog, "dog", ("cot-caught",)).varieties
    ('cot-caught',)
    """
    text = "".join(f"{phoneme} " for phoneme in phonemes)

    def first(*assumed: Variety) -> Accepted | None:
        names = frozenset({_WEAK, *assumed})
        patterns = (_pattern(form.phonemes, form.word or target, names) for form in accept)
        matches = zip(accept, patterns, strict=True)
        return next((form for form, pattern in matches if pattern.fullmatch(text)), None)

    for form in accept:
        if tuple(phonemes) == form.phonemes:
            return Matched(form)
    if weak := first():
        return Matched(weak, weak=True)
    if first(*varieties):
        for count in (1, 2, len(varieties)):
            for some in itertools.combinations(varieties, count):
                if form_in := first(*some):
                    return Matched(form_in, varieties=some)
    return None


def stress_of(phonemes: Sequence[str], word: str) -> str:
    """Return the stress of each vowel of a word: ``1``, ``2`` or ``0``, none.

    From the dictionary; for a form that it lacks, only the first vowel is stressed [ours].

    >>> stress_of("P EH N S AH L".split(), "pencil"), stress_of("B L OW R AH".split(), "blora")
    ('10', '10')
    """
    for pronunciation in load_dictionary().pronunciations(word):
        if pronunciation.phonemes == tuple(phonemes):
            return pronunciation.stress
    vowels = sum(map(is_vowel, phonemes))
    return "1" + "0" * (vowels - 1) if vowels else ""


@lru_cache(maxsize=4096)
def _pattern(form: tuple[str, ...], word: str, names: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern of all ways to say a form, each phoneme followed by a blank."""
    stress = iter(stress_of(form, word))
    places = []
    for at, phoneme in enumerate(form):
        stressed = is_vowel(phoneme) and next(stress, "1") != "0"
        others = [way for name, way in _ways(form, at, stressed=stressed) if name in names]
        ways = ["".join(f"{sound} " for sound in way) for way in ((phoneme,), *others)]
        places.append(f"(?:{'|'.join(dict.fromkeys(ways))})")
    return re.compile("".join(places))


def _ways(form: Sequence[str], at: int, *, stressed: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the alternatives of a phoneme of a form, each with what allows it."""
    phoneme = form[at]
    before = form[at - 1] if at else ""
    after = form[at + 1] if at + 1 < len(form) else ""
    if phoneme in ("AH", "IH") and not stressed:
        yield _WEAK, ("IH" if phoneme == "AH" else "AH",)
    if phoneme in ("T", "D", "DX") and is_vowel(after) and (is_vowel(before) or before == "R"):
        yield from ((_WEAK, (consonant,)) for consonant in ("T", "D", "DX") if consonant != phoneme)
    if after == "R" and phoneme in ("T", "D"):
        yield _WEAK, ("CH" if phoneme == "T" else "JH",)
    if phoneme == "ER":
        yield "non-rhotic", ("AH",)
    if phoneme == "R" and at and not is_vowel(after):
        yield "non-rhotic", ()
        yield "non-rhotic", ("AH",)
    if phoneme in ("AA", "AO") and after != "R":
        yield "cot-caught", ("AO" if phoneme == "AA" else "AA",)
    if phoneme == "AE":
        yield "trap-bath", ("AA",)
    if phoneme == "TH":
        yield "th-fronting", ("F",)
    if phoneme == "DH" and at:
        yield "th-fronting", ("V",)
    if phoneme == "HH" and not at:
        yield "h-dropping", ()
    if phoneme == "AH" and stressed:
        yield "foot-strut", ("UH",)
    if phoneme == "T" and at:
        yield "t-glottalling", ()
    if phoneme == "AW":
        yield "raising", ("OW",)
    if phoneme == "AY" and after in _VOICELESS:
        yield "raising", ("AH", "IH")
        yield "raising", ("AH", "Y")
