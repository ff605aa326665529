"""The rater ``chat-codes``: what the codes of a CHAT transcript say of TAB's features.

Codes are those of the CHAT manual and of AphasiaBank's error coding; word and utterance codes are
assigned to features as Casilio et al. (2019, table 5) do for the same features of APROCSA, where
they do. A feature is present where the text has a code for it, and absent where it has none and
the transcript is coded in that way at all; otherwise it is undefined. Nothing is guessed: features
for which CHAT has no code are undefined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tabwb.records.ratings import Declaration, Rating, undefined, valued
from tabwb_interchange.chat_said import Said

RATER = "chat-codes"
CAUTION = "codes of the transcript, which a transcriber wrote for another purpose"
SHOWN = 3
"""How many codes a reason names."""
POSTCODES = frozenset(("es", "jar", "per", "cir", "gram"))
"""Codes of whole utterances in AphasiaBank."""
FUNCTION_WORDS = frozenset(
    (
        *("art", "aux", "comp", "conj", "coord", "cop", "det", "inf", "mod", "part", "poss"),
        *("prep", "pro", "pron", "rel", "neg"),
        *(
            "a",
            "am",
            "an",
            "and",
            "are",
            "at",
            "be",
            "because",
            "been",
            "but",
            "by",
            "can",
            "could",
        ),
        *("did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "him", "his", "i"),
        *(
            "if",
            "in",
            "into",
            "is",
            "it",
            "its",
            "me",
            "my",
            "of",
            "off",
            "on",
            "onto",
            "or",
            "our",
        ),
        *("out", "over", "she", "should", "that", "the", "their", "them", "there", "these", "they"),
        *("this", "those", "to", "up", "was", "we", "were", "who", "will", "with", "would", "you"),
        "your",
    )
)
"""What can follow the 0 of an omitted function word: its part of speech or the word."""

Basis = str
ERRORS: Basis = "error codes ([* ...])"
UTTERANCES: Basis = "codes of utterances ([+ es], [+ jar], ...)"
MARKS: Basis = "marks of retracing, fragments, fillers or broken utterances"
_Find = Callable[[Said], Iterator[str]]


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a feature is found.

    Attributes:
        basis: what kind of coding a transcript must have, for the feature to be absent.
        find: yields what says that it is present.
    """

    basis: Basis
    find: _Find


def _coded(pattern: str) -> _Find:
    known = re.compile(pattern)

    def find(said: Said) -> Iterator[str]:
        for code, words in said.errors:
            if known.match(code.replace(" ", "").replace("-", ":")):
                yield f"{words} [* {code}]"

    return find


def _post(*codes: str) -> _Find:
    return lambda said: (f"[+ {code}]" for code in said.postcodes if code in codes)


def _any(*finds: _Find) -> _Find:
    return lambda said: (found for find in finds for found in find(said))


def _abandoned(said: Said) -> Iterator[str]:
    for terminator, before in said.terminators:
        if terminator in ("+...", "+..?", "+//.", "+//?"):
            yield f"{before} {terminator}"


def _retraced(said: Said) -> Iterator[str]:
    return (f"{words} [{mark}]" for mark, words, size in said.retracings if size > 1)


def _neologisms(said: Said) -> Iterator[str]:
    yield from _coded(r"n(:|$)")(said)
    yield from (f"{word}@n" for word in said.neologisms)


def _left_out(said: Said) -> Iterator[str]:
    return (f"0{word}" for word in said.omitted if word.lower() in FUNCTION_WORDS)


RULES: dict[str, _Rule] = {
    "abandoned-utterances": _Rule(MARKS, _abandoned),
    "empty-speech": _Rule(UTTERANCES, _post("es")),
    "semantic-paraphasias": _Rule(ERRORS, _coded(r"s:(r(?!:(gc|prep|pro|det))|ur|uk|per)")),
    "phonemic-paraphasias": _Rule(ERRORS, _coded(r"p(:[wnm]|$)")),
    "neologisms": _Rule(ERRORS, _neologisms),
    "jargon": _Rule(UTTERANCES, _post("jar")),
    "perseverations": _Rule(ERRORS, _any(_coded("s:per"), _post("per"))),
    "stereotypies-and-automatisms": _Rule(ERRORS, _coded(r"n:(k|uk):s")),
    "omission-of-bound-morphemes": _Rule(ERRORS, _coded(r"m:(a:)?(0|base)")),
    "omission-of-function-words": _Rule(ERRORS, _left_out),
    "paragrammatism": _Rule(ERRORS, _coded(r"m:(a:)?(\+|=|c(:|$)|irr|sub|vsg|vun)")),
    "false-starts": _Rule(MARKS, lambda said: (f"&+{text}" for text in said.fragments)),
    "retracing": _Rule(MARKS, _retraced),
}
"""Feature to how it is found. A retracing is of two words or more, as APROCSA defines it."""

WITHOUT_CODE = (
    *("anomia", "short-and-simplified-utterances", "conduite-d-approche", "meaning-unclear"),
    *("off-topic", "overall-communication-impairment"),
)
FEATURES = (*RULES, *WITHOUT_CODE)


def bases_of(utterances: Iterable[Said]) -> frozenset[Basis]:
    """Return the kinds of coding that a transcript has somewhere."""
    found: set[Basis] = set()
    for said in utterances:
        if said.errors or said.omitted or said.neologisms:
            found.add(ERRORS)
        if POSTCODES & set(said.postcodes):
            found.add(UTTERANCES)
        if said.marked:
            found.add(MARKS)
    return frozenset(found)


def ratings_of(
    said: Said, bases: frozenset[Basis], features: Iterable[str] = FEATURES
) -> tuple[Rating, ...]:
    """Return what the codes of a text say of each feature.

    >>> from tabwb_interchange.chat_said import said
    >>> text = said("the dog [: cat] [* s:r] ran .")
    >>> [(r.measure, r.value, r.reason) for r in ratings_of(text, bases_of([text]), [
    ...     "semantic-paraphasias", "neologisms", "jargon"])]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('semantic-paraphasias', 1.0, 'dog [* s:r]'), ('neologisms', 0.0, ''),
     ('jargon', None, 'the transcript has no codes of utterances ([+ es], [+ jar], ...)')]
    """
    return tuple(_rating(said, bases, feature) for feature in features)


def _rating(said: Said, bases: frozenset[Basis], feature: str) -> Rating:
    rule = RULES.get(feature)
    if rule is None:
        return undefined(RATER, feature, "CHAT has no code for it")
    found = list(rule.find(said))
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        return valued(RATER, feature, True, f"{'; '.join(found[:SHOWN])}{more}")
    if rule.basis not in bases:
        return undefined(RATER, feature, f"the transcript has no {rule.basis}")
    return valued(RATER, feature, False)


def declaration() -> Declaration:
    """Return what the rater declares of itself."""
    return Declaration(RATER, tuple(RULES), caution=CAUTION)
