"""Operations on response text that several scorers share: words, plain text, segments."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tabwb.records.languages import primary_language

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_QUOTES = {
    '"': '"', "'": "'", "`": "`", "＂": "＂", "“": "”", "‘": "’", "„": "“”", "‚": "‘’", "«": "»",
    "»": "«", "‹": "›", "›": "‹", "”": "”“", "’": "’‘", "「": "」", "『": "』", "《": "》",
    "〈": "〉", "〝": "〞〟", "｢": "｣",
}  # fmt: skip
_MOST_QUOTES = 20
_DIRECTIONS = "\u200e\u200f\u061c\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufeff\u200b"
"""Invisible signs around a text: its direction, a byte order mark, a space without width."""
_STOPS = "。．｡！？、，،؟؛۔।॥։።፧၊။។៕๚"
"""Marks that end a sentence in scripts other than Latin, full-width ones included."""
_JOINERS = "\u200c\u200d"


def straight(text: str) -> str:
    """Return the text composed (NFC), with every U+2019 as U+0027: differences of encoding only.

    >>> straight("we’d"), straight("Lo\u0308we")
    ("we'd", 'Löwe')
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text).replace("\u2019", "'")


def fold_case(text: str, language: str = "") -> str:
    """Return the text composed and case folded; ß stays a letter of its own, unlike ss.

    In Turkish and Azerbaijani (``tr``, ``az``) i with and without a dot are two letters.

    >>> fold_case("MAẞE"), fold_case("Masse"), fold_case("ISIK", "tr"), fold_case("ΟΔΟΣ")
    ('maße', 'masse', 'ısık', 'οδοσ')
    """
    if text.isascii() and not language:
        return text.casefold()
    composed = unicodedata.normalize("NFC", text)
    if language and primary_language(language) in ("tr", "az"):
        composed = composed.replace("I", "ı").replace("İ", "i")
    if "ß" not in composed and "ẞ" not in composed:
        return unicodedata.normalize("NFC", composed.casefold())
    kept = next(sign for sign in map(chr, range(0xE000, 0xF900)) if sign not in composed)
    folded = re.sub("[ßẞ]", kept, composed).casefold().replace(kept, "ß")
    return unicodedata.normalize("NFC", folded)


def words(text: str) -> list[str]:
    """Return the words, case folded: runs of letters and digits, apostrophes inside kept.

    A combining mark and a joiner belong to the word that they stand in. Scripts without spaces
    have no words here (:func:`is_unspaced`).

    >>> words("We’d go -- in 1980, twice."), words("हिन्दी में")
    (["we'd", 'go', 'in', '1980', 'twice'], ['हिन्दी', 'में'])
    """
    folded = fold_case(straight(text))
    return _WORD.findall(folded) if folded.isascii() else marked(_WORD, folded)


def marked(pattern: re.Pattern[str], text: str) -> list[str]:
    """Return what a pattern of words finds, combining marks and joiners kept in their words."""
    letters = _with_letters(text)
    if letters is text:
        return pattern.findall(text)
    spans = (match.span() for match in pattern.finditer(letters))
    return [text[start:end] for start, end in spans]


def count_words(text: str) -> int:
    """Return the number of words.

    >>> count_words("We’d go -- in 1980, twice."), count_words("हिन्दी में")
    (5, 2)
    """
    return len(_WORD.findall(_with_letters(fold_case(straight(text)))))


def _with_letters(text: str) -> str:
    """Return a text with marks as letters, so that they part no word."""
    if text.isascii():
        return text
    inside = "".join(sign for sign in set(text) if sign in _JOINERS or is_mark(sign))
    if not inside:
        return text
    signs = re.escape(inside)
    if re.search(rf"(?<![^\W_{signs}])[{signs}]", text) is None:
        return text.translate(dict.fromkeys(map(ord, inside), "\u02d0"))
    after_letter = rf"(?<=[^\W_])[{signs}]+"
    return re.sub(after_letter, lambda found: "\u02d0" * len(found.group()), text)


def is_mark(sign: str) -> bool:
    """Return whether a sign is a combining mark, part of a letter; those of emoji are not."""
    is_variation = "\ufe00" <= sign <= "\ufe0f"
    return unicodedata.category(sign) in ("Mn", "Mc") and not is_variation


def is_unspaced(text: str) -> bool:
    """Return whether half of the letters or more are of a script written without spaces.

    Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan: text between spaces is not one word.

    >>> is_unspaced("我和妹妹一起坐火车去了北京"), is_unspaced("We ate 寿司 in Rome")
    (True, False)
    """
    if text.isascii():
        return False
    letters = [sign for sign in text if sign.isalpha()]
    return bool(letters) and 2 * sum(map(_is_unspaced, letters)) >= len(letters)


def _is_unspaced(sign: str) -> bool:
    code = ord(sign)
    return (
        0x0E00 <= code <= 0x0FFF  # Thai, Lao, Tibetan
        or 0x1000 <= code <= 0x109F  # Burmese
        or 0x1780 <= code <= 0x17FF  # Khmer
        or 0x3040 <= code <= 0x312F  # Hiragana, Katakana, Bopomofo
        or 0x3400 <= code <= 0x9FFF  # Chinese
        or 0xF900 <= code <= 0xFAFF
        or 0xFF66 <= code <= 0xFF9D
        or 0x20000 <= code <= 0x3FFFF
    )


def without_quotes(text: str) -> str:
    """Return the text without the quotation marks that enclose all of it.

    >>> without_quotes('“boot”'), without_quotes("'it's'"), without_quotes('say "boot"')
    ('boot', "it's", 'say "boot"')
    >>> without_quotes("»Löwe«"), without_quotes("「はい」"), len(without_quotes('"' * 100))
    ('Löwe', 'はい', 60)
    """
    for _ in range(_MOST_QUOTES):
        if len(text) < 2 or text[-1] not in _QUOTES.get(text[0], ()):
            break
        text = text[1:-1].strip()
    return text


def without_stop(text: str) -> str:
    """Return the text without one final stop, of any script.

    >>> without_stop("house."), without_stop("はい。"), without_stop("house!")
    ('house', 'はい', 'house!')
    """
    return text[:-1].rstrip() if text.endswith((".", *_STOPS)) else text


def normalised(text: str, language: str = "") -> str:
    r"""Return the text case folded, without outer quotes and one final stop in or outside them.

    Apostrophes are made equal and outer white space is trimmed. Source: docs/results.md [ours].
    The stops of other scripts and full-width marks are stops too.

    >>> normalised(' "Boot." '), normalised('"Boot".'), normalised("Boot..")
    ('boot', 'boot', 'boot.')
    >>> normalised("「はい。」"), normalised("„Maße“."), normalised("نعم؟")
    ('はい', 'maße', 'نعم')
    >>> normalised("\u200fنعم\u200f"), normalised("”نعم“")
    ('نعم', 'نعم')
    """
    trimmed = text.strip().strip(_DIRECTIONS).strip()
    stopped = without_stop(trimmed)
    unquoted = without_quotes(stopped)
    if stopped == trimmed:
        unquoted = without_stop(unquoted)
    return fold_case(straight(unquoted), language)


def names_alike(said: str, word: str, language: str = "") -> bool:
    """Return whether a text and a word are equal when normalised, or written in capitals.

    In capitals SS is also the letter ß: STRASSE is *Straße*, Strasse is another spelling [ours].

    >>> names_alike("STRASSE", "Straße"), names_alike("Masse", "Maße"), names_alike("maße.", "Maße")
    (True, False, True)
    """
    if normalised(said, language) == normalised(word, language):
        return True
    return is_in_capitals(*(without_quotes(without_stop(one.strip())) for one in (said, word)))


def is_in_capitals(said: str, word: str) -> bool:
    """Return whether a text is a word with ß in capitals, written SS.

    >>> is_in_capitals("STRASSE", "Straße"), is_in_capitals("Strasse", "Straße")
    (True, False)
    """
    return "ß" in word and said.isupper() and straight(said) == straight(word).upper()


def word_set(text: str) -> frozenset[str]:
    """Return the words of a closed list written as one text.

    >>> sorted(word_set("a the an"))
    ['a', 'an', 'the']
    """
    return frozenset(text.split())


def regular_plurals(word: str) -> frozenset[str]:
    """Return the spellings that a regular plural may have.

    >>> sorted(regular_plurals("knife"))
    ['knifees', 'knifes', 'knives']
    """
    spellings = {word + "s", word + "es"}
    if word.endswith("y"):
        spellings.add(word[:-1] + "ies")
    if word.endswith(("f", "fe")):
        spellings.add(word.removesuffix("e").removesuffix("f") + "ves")
    return frozenset(spellings)


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two words or sequences.

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

    >>> contains(("HH", "AW", "S"), ("AW", "S")), contains(("HH", "AW", "S"), ("HH", "S"))
    (True, False)
    """
    run, size = tuple(part), len(part)
    if run and run[0] not in whole:
        return False
    return any(tuple(whole[at : at + size]) == run for at in range(len(whole) - size + 1))


_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,30}>")
_BOXED = re.compile(r"\\boxed\s*\{([^{}]*)\}")
_MARKUP = re.compile(r"[*_`#~$\\\"“”„«»‹›{}\[\]]")
_SPELLED = re.compile(r"(?<![\w'-])[^\W\d_](?:[-. ][^\W\d_]){2,}(?![\w'-])")
_PIECE = re.compile(r"[^\W_]+(?:['-][^\W_]+)*'?|\n|[.,;:!?()|/=–—-]+|[^\w\s]")
_LETTER = re.compile(r"[^\W_]")
BREAKS = word_set("because since while whereas but unlike although though so therefore thus hence")
_BEFORE_SO = word_set("think believe guess say suppose hope do not")
_NEXT_TURN = re.compile(
    r"(?:(?:q|question|user|human|instructions?|prompt|input|example|exercise|task)\s*\d*\s*[:.)]"
    r"|answer with\b)",
    re.IGNORECASE,
)
_QUESTION_WORDS = 4
_STRETCH = 4


@dataclass(frozen=True, slots=True)
class TextSegment:
    """Words between two marks."""

    words: tuple[str, ...]
    before: str = ""
    after: str = ""

    @property
    def is_question(self) -> bool:
        """Whether a question mark ends it."""
        return "?" in self.after


MOST_READ = 40_000
"""Characters of a text that rules read [ours]; a description has about 1,000."""
PART_READ = f"of the first and the last {MOST_READ // 2:,} characters"
"""Stored with what a scorer says of a longer text."""


def read_parts(text: str) -> tuple[str, str]:
    """Return beginning and end of a text of more than :data:`MOST_READ` characters [ours].

    An answer that long is degenerate; a careful reader takes its beginning or its end.

    >>> read_parts("boot"), list(map(len, read_parts("boot " * 10_000)))
    (('boot', ''), [20000, 20000])
    """
    half = MOST_READ // 2
    return (text, "") if len(text) <= MOST_READ else (text[:half], text[-half:])


def read_part(text: str) -> str:
    r"""Return a text as far as rules read it, as one text.

    >>> read_part("boot"), len(read_part("boot " * 10_000))
    ('boot', 40001)
    """
    return "\n".join(filter(None, read_parts(text)))


def plain(text: str, spelled: Iterable[str] = ()) -> str:
    """Return the text case folded, without markup and signs around an answer [ours].

    Compatibility forms are normalised (NFKC: full-width letters); invisible signs, quotation marks,
    Markdown and tags are removed; a word whose letters are separated (B-O-O-T) is joined.

    >>> plain("**Ｂoot**", ["boot"]), plain("B-O-O-T", ["boot"]), plain("<b>no</b>").strip()
    ('boot', 'boot', 'no')
    """
    folded = unicodedata.normalize("NFKC", straight(text)).translate(_INVISIBLE)
    folded = _BOXED.sub(r" answer: \1 ", folded)
    folded = fold_case(straight(_MARKUP.sub("", _TAG.sub(" ", folded))))
    wanted = {fold_case(word) for word in spelled}

    def joined(match: re.Match[str]) -> str:
        word = re.sub(r"[-. ]", "", match.group())
        return word if word in wanted else match.group()

    return _SPELLED.sub(joined, folded) if wanted else folded


def words_of(text: str) -> list[str]:
    """Return the words of plain text; hyphens join, so that *boot-shaped* is one word.

    >>> words_of("the boot-shaped thing, isn't it")
    ['the', 'boot-shaped', 'thing', "isn't", 'it']
    """
    return [piece for piece in marked(_PIECE, text) if _LETTER.match(piece)]


def answered(text: str, prompts: Sequence[str], marks: Iterable[Sequence[str]]) -> str:
    r"""Return the text up to where a next question begins, as base models write one.

    A next question is a line that is a line of the prompt, opens as a turn (*Q:*, *User:*) or asks
    in four words or more, after a line that names an answer.

    >>> answered("no\nq: is it?\na: yes", [], [["yes"], ["no"]])
    'no'
    """
    asked = {tuple(words_of(line)) for prompt in prompts for line in prompt.splitlines()} - {()}
    answers = [tuple(mark) for mark in marks]
    named = False
    kept: list[str] = []
    for line in text.splitlines():
        words = tuple(words_of(line))
        asks = words in asked or ("?" in line and len(words) >= _QUESTION_WORDS)
        if named and (asks or _NEXT_TURN.match(line.strip())):
            break
        kept.append(line)
        named = named or (not asks and any(contains(words, mark) for mark in answers))
    return "\n".join(kept)


def segments(
    text: str, prompts: Sequence[str] = (), options: Sequence[Sequence[str]] = ()
) -> tuple[TextSegment, ...]:
    """Return the segments of a text without the words of the prompt.

    Removed are lines of the prompt, the list of all options in order, and stretches of four or more
    words of a line of the prompt that contain an option.

    >>> [one.words for one in segments("boot, not boat. because a boat floats")]
    [('boot',), ('not', 'boat'), ('because', 'a', 'boat', 'floats')]
    >>> [one.words for one in segments("is it? (a, b) b", ["is it? (a, b)"], [["a"], ["b"]])]
    [('b',)]
    """
    pieces = marked(_PIECE, text)
    places = [at for at, piece in enumerate(pieces) if _LETTER.match(piece)]
    words = [pieces[at] for at in places]
    gone = {places[at] for at in _prompted(words, prompts, options)}
    parts: list[TextSegment] = []
    current: list[str] = []
    before = ""

    def close(after: str) -> None:
        nonlocal before
        if current:
            parts.append(TextSegment(tuple(current), before, after))
            current.clear()
        before = after

    for at, piece in enumerate(pieces):
        if at in gone:
            if current:
                close("\n")
        elif _LETTER.match(piece):
            if piece in BREAKS and current and (piece != "so" or current[-1] not in _BEFORE_SO):
                close("")
            current.append(piece)
        else:
            close(piece)
    close("")
    return tuple(parts)


def _prompted(
    words: Sequence[str], prompts: Sequence[str], options: Sequence[Sequence[str]]
) -> set[int]:
    if not prompts:
        return set()
    lines = [run for prompt in prompts for line in prompt.splitlines() if (run := words_of(line))]
    listed = [word for option in options for word in option]
    units = [run for run in lines if len(run) > 1]
    if len(options) > 2:
        units.append(listed)
    gone: set[int] = set()
    for unit in sorted(units, key=len, reverse=True):
        size = len(unit)
        for at in range(len(words) - size + 1):
            if words[at : at + size] == unit and at not in gone:
                gone.update(range(at, at + size))
    questions = [_without(run, listed) for run in lines]
    stretches = {
        tuple(run[at : at + _STRETCH]) for run in questions for at in range(len(run) - _STRETCH + 1)
    }
    marks = {tuple(option) for option in options}
    for at in range(len(words) - _STRETCH + 1):
        stretch = tuple(words[at : at + _STRETCH])
        if stretch in stretches and any(contains(stretch, mark) for mark in marks):
            gone.update(range(at, at + _STRETCH))
    return gone


def _without(run: list[str], listed: list[str]) -> list[str]:
    size = len(listed)
    places = (at for at in range(len(run) - size + 1) if size and run[at : at + size] == listed)
    at = next(places, None)
    return run if at is None else run[:at] + run[at + size :]
