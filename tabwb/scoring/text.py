"""Plain operations on response text that several scorers share."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "„": "“", "«": "»"}
STOP = "."


def straight(text: str) -> str:
    """Return the text with every U+2019 as U+0027: a difference of typesetting only.

    >>> straight("we’d")
    "we'd"
    """
    return text.replace("\u2019", "'")


def words(text: str) -> list[str]:
    """Return the words, case folded: runs of letters and digits, apostrophes inside kept.

    >>> words("We’d go -- in 1980, twice.")
    ["we'd", 'go', 'in', '1980', 'twice']
    """
    return _WORD.findall(straight(text).casefold())


def without_stop(text: str) -> str:
    """Return the text without one final stop.

    >>> without_stop("house."), without_stop("house.."), without_stop("house")
    ('house', 'house.', 'house')
    """
    return text.removesuffix(STOP)


def without_quotes(text: str) -> str:
    """Return the text without the quotation marks that enclose all of it.

    >>> without_quotes('“boot”'), without_quotes("'it's'"), without_quotes('say "boot"')
    ('boot', "it's", 'say "boot"')
    """
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
        text = text[1:-1].strip()
    return text


def normalised(text: str) -> str:
    """Case folded, without outer quotes and one final stop, in or outside the quotes.

    Apostrophes are made equal and outer white space is trimmed. Source: docs/results.md [ours].

    >>> normalised(' "Boot." '), normalised('"Boot".'), normalised("Boot..")
    ('boot', 'boot', 'boot.')
    """
    trimmed = text.strip()
    unquoted = without_quotes(without_stop(trimmed).rstrip())
    if not trimmed.endswith(STOP):
        unquoted = without_stop(unquoted).rstrip()
    return straight(unquoted).casefold()


def word_set(text: str) -> frozenset[str]:
    """Return the words of a closed list written as one text.

    >>> sorted(word_set("a the an"))
    ['a', 'an', 'the']
    """
    return frozenset(text.split())


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two words or sequences.

    Args:
        first: a word, or any sequence of strings.
        second: likewise.

    >>> common_subsequence("pen", "pencil"), common_subsequence("Tuesday", "Thursday")
    (3, 6)
    """
    # One row of the table of lengths as the bits of a number: a bit is 0 where the length grows.
    # Source: Hyyro, Bit-parallel LCS-length computation revisited (2004).
    places: dict[str, int] = {}
    for at, part in enumerate(first):
        places[part] = places.get(part, 0) | 1 << at
    row = everywhere = (1 << len(first)) - 1
    for part in second:
        matched = row & places.get(part, 0)
        row = (row + matched) | (row - matched)
    return len(first) - (row & everywhere).bit_count()


def contains(whole: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether a sequence contains another one without a gap.

    Args:
        whole: words or phonemes.
        part: likewise.

    >>> contains(("HH", "AW", "S"), ("AW", "S")), contains(("HH", "AW", "S"), ("HH", "S"))
    (True, False)
    """
    run, size = tuple(part), len(part)
    return any(tuple(whole[at : at + size]) == run for at in range(len(whole) - size + 1))
