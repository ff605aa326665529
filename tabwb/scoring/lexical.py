"""Lexical diversity of a text: type-token ratio, its moving average, and MTLD."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tabwb.records.words import plural
from tabwb.scoring.estimate import Estimate, ratio

WINDOW = 50
THRESHOLD = 0.72
"""Type-token ratio at which a factor of MTLD ends."""
SHORT = 100
"""Below this number of words TTR and MTLD depend on the length; the reason says so."""
SHORTEST = 50
"""Below this number of words MATTR and MTLD are undefined."""
NO_WORDS = "the text has no words"

MEASURES = frozenset({"words", "ttr", "mattr", "mtld"})


def ttr(text: Sequence[str]) -> Estimate:
    """Return different words / words, which falls with length; undefined for a text without words.

    >>> ttr(["the", "cat", "the", "dog"]).value
    0.75
    """
    return ratio(len(set(text)), len(text), NO_WORDS)


def mattr(text: Sequence[str], window: int = WINDOW) -> Estimate:
    """Moving-average type-token ratio: the mean TTR over all windows of ``window`` words.

    Undefined for a text shorter than one window. Source: Covington and McFall, Journal of
    Quantitative Linguistics 17 (2010), 94.

    >>> mattr(["a", "b", "a", "c"], window=3).value
    0.8333333333333334
    >>> mattr(["a", "b"], window=3).reason
    '2 words, fewer than the window of 3'
    """
    if window < 1:
        raise ValueError(f"a window needs 1 word or more, not {window}")
    if len(text) < window:
        return Estimate(None, f"{plural(len(text), 'word')}, fewer than the window of {window}")
    inside = Counter(text[:window])
    types = len(inside)
    for out, into in zip(text, text[window:], strict=False):
        inside[into] += 1
        inside[out] -= 1
        if not inside[out]:
            del inside[out]
        types += len(inside)
    return Estimate(types / window / (len(text) - window + 1))


def mtld(text: Sequence[str], threshold: float = THRESHOLD, shortest: int = SHORTEST) -> Estimate:
    """Return the measure of textual lexical diversity: mean words per factor, in both directions.

    A factor is a run of words until its TTR has fallen to the threshold; what is left over at the
    end counts as ``(1 - TTR) / (1 - threshold)`` of a factor. One direction gives words / factors,
    the result is the mean of both. Undefined for a text under ``shortest`` words, and where no
    factor is complete in one of the directions. Source: McCarthy and Jarvis, Behavior Research
    Methods 42 (2010), 381; the two limits: docs/results.md [ours].

    >>> mtld(["the", "cat"] * 30).value
    3.0
    >>> mtld(["the", "cat"]).reason
    '2 words, fewer than 50'
    >>> mtld(["the", "cat"], shortest=2).reason
    'no factor is complete in 2 words'
    """
    if not 0 < threshold < 1:
        raise ValueError(f"a threshold lies between 0 and 1, not at {threshold}")
    if not text:
        return Estimate(None, NO_WORDS)
    if len(text) < shortest:
        return Estimate(None, f"{plural(len(text), 'word')}, fewer than {shortest}")
    sides = [_factors(direction, threshold) for direction in (text, text[::-1])]
    if min(sides) < 1:
        return Estimate(None, f"no factor is complete in {plural(len(text), 'word')}")
    return Estimate(sum(len(text) / factors for factors in sides) / 2)


def defined_at(measure: str, words: float | None) -> bool:
    """Return whether a measure has a value in a text with this number of words.

    >>> defined_at("mtld", 35), defined_at("ttr", 35), defined_at("mtld", None)
    (False, True, True)
    """
    return measure not in ("mattr", "mtld") or words is None or words >= SHORTEST


def _factors(text: Sequence[str], threshold: float) -> float:
    factors, size = 0.0, 0
    types: set[str] = set()
    for word in text:
        size += 1
        types.add(word)
        if len(types) / size <= threshold:
            factors, size, types = factors + 1, 0, set()
    if size:
        factors += (1 - len(types) / size) / (1 - threshold)
    return factors
