"""Targets of naming items, codes of responses, and how a response compares with accepted forms.

Every verdict names its rule, the clause that fired and the accepted form. The distance is not PER
or FER, which compare a transcriber with a human transcript of the same speech.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from tabwb.phonology.dictionary import load_dictionary
from tabwb.phonology.distance import Alignment, align_features, align_phonemes
from tabwb.phonology.inventory import SILENT, is_vowel, to_ipa
from tabwb.records.speech import Segment
from tabwb.scoring.text import common_subsequence, contains, fold_case

BREAK_S = 0.25
"""Shortest silence, in seconds, that separates words (Goldman-Eisler 1968: a pause). [ours]"""
Rule = Literal["correct-any", "correct-first"]
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
    """What a response is compared with."""

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

PERSON_SCORES: Final[Mapping[str, str]] = {
    "right": "an accepted name",
    "self-corrected": "right in the end, after a wrong attempt",
    "error": "anything else that was said",
    "no-response": "silent, no name comes, or refused",
    "not-scorable": "it cannot be scored, for a reason that is given",
}


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


@dataclass(frozen=True, slots=True)
class Correctness:
    """Correctness of one rule on a response.

    Attributes:
        value, clause: whether it is right, None where only a person can decide; why, for people.
        form: the accepted form that was found, or None.
        start_s, end_s: where it was found, on the clock of the segments; None without a form.
        place: number of its first phoneme in the response without silence and noise, from 0.
        edits: phonemes deleted, inserted or replaced that a tolerance let pass.
        embedded: right, but with adjacent phonemes without a pause: check by ear.
        attempt: number of the attempt that was judged, from 1; None where a form may be anywhere.
        provisional: attempts were proposed by a machine.
    """

    rule: Rule
    value: bool | None
    clause: str
    form: Accepted | None = None
    start_s: float | None = None
    end_s: float | None = None
    edits: int = 0
    embedded: bool = False
    attempt: int | None = None
    provisional: bool = False
    place: int | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags of :data:`tabwb.scoring.naming.target.FLAGS` that follow from it."""
        dialect = self.form is not None and self.form.reason == "dialect"
        return ("embedded",) * self.embedded + ("dialect",) * dialect

    def to_json(self) -> dict[str, object]:
        """Return the verdict for documents."""
        rest = ("start_s", "end_s", "edits", "embedded", "attempt", "provisional")
        return {
            **{name: getattr(self, name) for name in ("rule", "value", "clause")},
            "form": None if self.form is None else " ".join(self.form.phonemes),
            "reason": None if self.form is None else self.form.reason,
            **{name: getattr(self, name) for name in rest},
        }


def correct_any(
    segments: Sequence[Segment], accept: Sequence[Accepted], tolerance: Tolerance | None = None
) -> Correctness:
    """Return whether an accepted form occurs anywhere, silence and noise left out.

    Source: PSST, section 3 and task B. Of several places the best is taken: equal before tolerated,
    separated by silence before embedded, the battery's order of forms, the earliest.

    >>> said = [Segment(each, 0.0, 0.0) for each in "D AO G AH".split()]
    >>> found = correct_any(said, [Accepted(("D", "AO", "G"), "citation")])
    >>> found.value, found.embedded, found.clause
    (True, True, '/dɔɡ/ is in the response')
    """
    spoken = [segment for segment in segments if segment.phoneme not in SILENT]
    if not spoken:
        return Correctness("correct-any", False, "no phoneme was heard")
    best = min(_places(spoken, accept, tolerance, _breaks(segments)), default=None)
    if best is None:
        return Correctness("correct-any", False, "the response holds no accepted form")
    edits, embedded, number, start, end = best
    form = accept[number]
    clause = f"/{form.ipa}/ is in the response{but_for(edits)}"
    onset, offset = spoken[start].start_s, spoken[end - 1].end_s
    return Correctness(
        "correct-any", True, clause, form, onset, offset, edits, embedded, place=start
    )


def edits_within(
    phonemes: Sequence[str], form: Sequence[str], tolerance: Tolerance | None
) -> int | None:
    """Return the number of edits between a response and a form; None where that is too far.

    ``slips``: phoneme edit distance of at most so many. ``share``: the longest common subsequence
    over the length of the longer of the two, so that inserted phonemes count too [ours].

    >>> edits_within("K IY N IH NG".split(), "K L IY N IH NG".split(), Tolerance(slips=1))
    1
    >>> edits_within("T AE T".split(), "K AE T".split(), Tolerance(share=0.7)) is None
    True
    """
    if tuple(phonemes) == tuple(form):
        return 0
    if tolerance is None:
        return None
    if tolerance.slips is not None:
        edits = int(align_phonemes(form, phonemes).distance)
        return edits if edits <= tolerance.slips else None
    share = tolerance.share or 1.0
    longer = max(len(phonemes), len(form))
    if common_subsequence(phonemes, form) < share * longer:
        return None
    return int(align_phonemes(form, phonemes).distance)


def _breaks(segments: Sequence[Segment]) -> list[bool]:
    """Return whether there is silence (or nothing) before each phoneme and after the last."""
    apart: list[bool] = []
    silent, last = True, None
    for segment in segments:
        if segment.phoneme in SILENT:
            long = segment.end_s - segment.start_s >= BREAK_S
            timed = segment.end_s > segment.start_s
            silent = silent or (segment.phoneme == SILENT[0] and (long or not timed))
            continue
        apart.append(silent or (last is not None and segment.start_s - last.end_s >= BREAK_S))
        silent, last = False, segment
    return [*apart, True]


def _places(
    spoken: Sequence[Segment],
    accept: Sequence[Accepted],
    tolerance: Tolerance | None,
    apart: Sequence[bool],
) -> Iterator[tuple[int, bool, int, int, int]]:
    """Yield edits, embedded, number of the form, start and end of every right stretch."""
    phonemes = [segment.phoneme for segment in spoken]
    for number, form in enumerate(accept):
        shortest, longest = _lengths(len(form.phonemes), tolerance)
        for start in range(len(phonemes)):
            for end in range(start + shortest, min(start + longest, len(phonemes)) + 1):
                edits = edits_within(phonemes[start:end], form.phonemes, tolerance)
                if edits is not None:
                    yield edits, not (apart[start] and apart[end]), number, start, end


def _lengths(form: int, tolerance: Tolerance | None) -> tuple[int, int]:
    if tolerance is None:
        return form, form
    if tolerance.slips is not None:
        return max(1, form - tolerance.slips), form + tolerance.slips
    share = tolerance.share or 1.0
    return max(1, int(form * share)), int(form / share)


def but_for(edits: int) -> str:
    """Return what a tolerance let pass, for the end of a clause."""
    return f" but for {edits} tolerated phoneme{'s' * (edits > 1)}" if edits else ""


@dataclass(frozen=True, slots=True)
class TargetDistance:
    """Alignments of a response with the nearest accepted form, by phonemes and by features."""

    form: Accepted
    phonemes: Alignment
    features: Alignment

    @property
    def phoneme_rate(self) -> float:
        """Phoneme edits over the accepted form's length; may exceed 1."""
        return self.phonemes.distance / self.phonemes.length

    @property
    def feature_rate(self) -> float:
        """Feature distance over 24 times the accepted form's length."""
        return self.features.distance / self.features.length

    def to_json(self) -> dict[str, object]:
        """Return the distance for documents; a step of the trace is op, accepted, said, cost."""
        return {
            "form": " ".join(self.form.phonemes),
            "phonemes": self.phoneme_rate,
            "phoneme_distance": self.phonemes.distance,
            "phoneme_length": self.phonemes.length,
            "features": self.feature_rate,
            "feature_distance": self.features.distance,
            "feature_length": self.features.length,
            "trace": [[step.op, step.ref, step.hyp, step.cost] for step in self.features.steps],
        }


def distance_from_target(
    phonemes: Sequence[str], accept: Sequence[Accepted]
) -> TargetDistance | None:
    """Return the distance to the nearest accepted form; None without a phoneme.

    The nearest form is one that the response contains without interruption; then by feature rate,
    by phoneme rate, and in the battery's order [ours]. Meaningful for codes that are *phonological*
    in :data:`tabwb.scoring.naming.target.CODES`.

    >>> found = distance_from_target("D AO G AH".split(), [Accepted(("D", "AO", "G"), "citation")])
    >>> found.phonemes.distance, found.phonemes.length, found.features.distance
    (1.0, 3, 22.0)
    """
    spoken = [phoneme for phoneme in phonemes if phoneme not in SILENT]
    if not spoken:
        return None
    distances = (
        TargetDistance(
            form, align_phonemes(form.phonemes, spoken), align_features(form.phonemes, spoken)
        )
        for form in accept
    )

    def rank(distance: TargetDistance) -> tuple[bool, float, float]:
        inside = contains(spoken, distance.form.phonemes)
        return not inside, distance.feature_rate, distance.phoneme_rate

    return min(distances, key=rank, default=None)
