"""Pronunciations of English words, General American: the CMU dictionary, else a graphone model.

A graphone is one or two letters with the phonemes they stand for (Bisani and Ney 2008, Speech
Communication 50, 434-451); the model is trained by ``training/lexicon/letters.py``. Processor time
on a busy two-core machine: :func:`load_dictionary` 60 ms, its index by sound 250 ms at the first
query; a word 10 microseconds, a sound a few. Licences: ``data/README.md``.
"""

from __future__ import annotations

import gzip
import itertools
import json
import lzma
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from math import log

from tabwb.phonology.inventory import is_vowel, to_ipa
from tabwb.records.speech import Segment, Transcript

_MOST_FLAPS = 6
"""More than any word has; each may be T or D, so that n of them sound in 2^n ways."""


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """ARPAbet without stress, and the stress of each vowel: ``1`` primary, ``2`` secondary, 0."""

    phonemes: tuple[str, ...]
    stress: str

    @property
    def arpabet(self) -> str:
        """ARPAbet with stress, as the dictionary writes it.

        >>> Pronunciation(("B", "AH", "T", "ER"), "10").arpabet
        'B AH1 T ER0'
        """
        digits = iter(self.stress)
        return " ".join(
            phoneme + next(digits) if is_vowel(phoneme) else phoneme for phoneme in self.phonemes
        )

    @property
    def flapped(self) -> tuple[str, ...] | None:
        """The phonemes with the flap of American English, None where it cannot occur.

        T and D are flapped after a vowel or R and before a vowel without stress (PSST, table 8:
        "butter"). [ours]

        >>> Pronunciation(("B", "AH", "T", "ER"), "10").flapped
        ('B', 'AH', 'DX', 'ER')
        >>> Pronunciation(("AH", "T", "AE", "K"), "01").flapped is None
        True
        """
        digits = iter(self.stress)
        stress = [next(digits) if is_vowel(phoneme) else "" for phoneme in self.phonemes]
        phonemes = list(self.phonemes)
        for at in range(1, len(phonemes) - 1):
            after_vowel = is_vowel(phonemes[at - 1]) or phonemes[at - 1] == "R"
            if phonemes[at] in ("T", "D") and stress[at + 1] == "0" and after_vowel:
                phonemes[at] = "DX"
        return tuple(phonemes) if "DX" in phonemes else None


def place_of(word: bytes, block: bytes, end: bytes) -> int:
    """Return where the lines of a word begin, or would begin, by binary search."""
    low, high = 0, len(block) - 1
    while low < high:
        start = block.rfind(b"\n", low, (low + high) // 2 + 1)
        if block[start + 1 : block.index(end, start + 1)] < word:
            low = block.find(b"\n", start + 1)
        else:
            high = start
    return low


class Dictionary:
    """Words and their pronunciations; upper and lower case are the same.

    Args:
        block: lines of word, phonemes and stress, separated by tabs, the pronunciations of one word
            beside each other, every line ended.
    """

    def __init__(self, block: bytes) -> None:
        self._block = b"\n" + block

    def pronunciations(self, word: str) -> tuple[Pronunciation, ...]:
        """Return the pronunciations of a word, the usual one first; empty for an unknown word.

        >>> [each.arpabet for each in load_dictionary().pronunciations("Dog")]
        ['D AO1 G']
        >>> load_dictionary().pronunciations("blorf")
        ()
        """
        wanted = word.lower().replace("’", "'")
        if not wanted or not wanted.isascii() or not wanted.isprintable():
            return ()
        lead = f"\n{wanted}\t".encode("ascii")
        at, pronunciations = place_of(wanted.encode("ascii"), self._block, b"\t"), []
        while self._block.startswith(lead, at):
            end = self._block.index(b"\n", at + 1)
            _, phonemes, stress = self._block[at + 1 : end].decode("ascii").split("\t")
            pronunciations.append(Pronunciation(tuple(phonemes.split()), stress))
            at = end
        return tuple(pronunciations)

    def homophones(self, phonemes: Sequence[str]) -> tuple[str, ...]:
        """Return the words with these phonemes, ignoring stress, sorted; a flap is T or D.

        >>> load_dictionary().homophones(("B", "EH", "R"))
        ('baehr', 'baer', 'bahr', 'bair', 'bare', 'bear', 'behr')
        >>> load_dictionary().homophones(("B", "AH", "DX", "ER"))
        ('butter',)
        """
        if sum(phoneme == "DX" for phoneme in phonemes) > _MOST_FLAPS:
            return ()
        if not "".join(phonemes).isascii():
            return ()  # a sound that no word of the dictionary has
        alternatives = [("T", "D") if phoneme == "DX" else (phoneme,) for phoneme in phonemes]
        ways = (" ".join(way).encode("ascii") for way in itertools.product(*alternatives))
        words = (self._by_sound.get(way, ()) for way in ways)
        return tuple(sorted(set(itertools.chain.from_iterable(words))))

    def __len__(self) -> int:
        """Return how many pronunciations there are."""
        return len(self._lines)

    def entry(self, number: int) -> tuple[str, tuple[str, ...]]:
        """Return a word and one of its pronunciations by number, for drawing words at random.

        >>> load_dictionary().entry(40000)
        ('excellence', ('EH', 'K', 'S', 'AH', 'L', 'AH', 'N', 'S'))
        """
        word, phonemes, _ = self._lines[number].decode("ascii").split("\t")
        return word, tuple(phonemes.split())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Every word once, by alphabet."""
        heads = (line.partition(b"\t")[0].decode("ascii") for line in self._lines)
        return tuple(word for word, _ in itertools.groupby(heads))

    def near(self, word: str, most: int = 5) -> tuple[str, ...]:
        """Return known words with a similar spelling, the nearest first.

        >>> load_dictionary().near("girafe", 1)
        ('giraffe',)
        """
        from difflib import get_close_matches

        wanted = word.lower()
        rivals = [
            rival
            for rival in self.words
            if abs(len(rival) - len(wanted)) <= 2 and rival[:1] == wanted[:1]
        ]
        return tuple(get_close_matches(wanted, rivals, most, cutoff=0.7))

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._block.split(b"\n")[1:-1]

    @cached_property
    def _by_sound(self) -> dict[bytes, list[str]]:
        by_sound: dict[bytes, list[str]] = {}
        for line in self._lines:
            word, phonemes, _ = line.split(b"\t")
            by_sound.setdefault(phonemes, []).append(word.decode("ascii"))
        return by_sound


@lru_cache(maxsize=1)
def load_dictionary() -> Dictionary:
    """Return the shipped dictionary, read once."""
    data = files("tabwb.phonology") / "data" / "cmudict.tsv.gz"
    return Dictionary(gzip.decompress(data.read_bytes()))


Graphone = tuple[str, tuple[str, ...]]

ORDER = 6
DISCOUNT = 0.75
"""Discount of each count in favour of the shorter context (absolute discounting)."""
BEAM = 24
BEGIN, END = "\x02", "\x03"
FIRST = 0x100
"""Character of the first graphone in n-grams."""


@dataclass(frozen=True, slots=True)
class LettersModel:
    """Graphones by their letters, and counts of successors by context, a string of graphones."""

    graphones: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]
    counts: Mapping[str, Mapping[str, int]]

    def probability(self, context: str, symbol: str) -> float:
        """Return the probability of a graphone after a context, interpolated over all orders.

        ``P(g|h) = max(c(hg) - D, 0) / C(h) + D T(h) / C(h) P(g|h')``: C is the sum and T the number
        of the counts after h, h' the context without its first graphone (Kneser-Ney; the counts of
        the lower orders are numbers of distinct predecessors).
        """
        probability = 1.0 / (1 + sum(map(len, self.graphones.values())))
        for length in range(len(context) + 1):
            after = self.counts.get(context[len(context) - length :])
            if after is None:
                break
            total = sum(after.values())
            kept = max(after.get(symbol, 0) - DISCOUNT, 0.0)
            probability = kept / total + DISCOUNT * len(after) / total * probability
        return probability

    def pronounce(self, word: str) -> tuple[str, ...] | None:
        """Return the likeliest pronunciation of a word of letters a-z; None if there is none."""
        letters = "".join(letter for letter in word.lower() if "a" <= letter <= "z")
        beams: list[dict[tuple[str, tuple[str, ...]], float]] = [
            {} for _ in range(len(letters) + 1)
        ]
        beams[0][BEGIN, ()] = 0.0
        for at, beam in enumerate(beams[:-1]):
            best = sorted(beam.items(), key=lambda entry: -entry[1])[:BEAM]
            for (context, phonemes_so_far), score in best:
                for size in (1, 2):
                    for symbol, phonemes in self.graphones.get(letters[at : at + size], ()):
                        if at + size > len(letters):
                            continue
                        state = ((context + symbol)[1 - ORDER :], phonemes_so_far + phonemes)
                        new = score + log(self.probability(context, symbol))
                        old = beams[at + size].get(state)
                        if old is None or new > old:
                            beams[at + size][state] = new
        last = {
            phonemes_so_far: score + log(self.probability(context, END))
            for (context, phonemes_so_far), score in sorted(
                beams[-1].items(), key=lambda entry: entry[1]
            )
            if phonemes_so_far
        }
        return max(last, key=last.__getitem__, default=None)


def read_model(lines: Iterable[str]) -> LettersModel:
    """Read a model: graphones, an empty line, then counts.

    A line of counts is the length of the n-gram's beginning that it shares with the line before,
    the rest of the n-gram and a tab with the count (nothing for 1).
    """
    graphones: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    counts: dict[str, dict[str, int]] = {}
    rows = iter(lines)
    for number, row in enumerate(rows):
        if not row:
            break
        letters, *phonemes = row.split(" ")
        graphones.setdefault(letters, []).append((chr(FIRST + number), tuple(phonemes)))
    before = ""
    for row in rows:
        rest, _, count = row[1:].partition("\t")
        before = before[: int(row[0])] + rest
        counts.setdefault(before[:-1], {})[before[-1]] = int(count or 1)
    return LettersModel({key: tuple(value) for key, value in graphones.items()}, counts)


@lru_cache(maxsize=1)
def load_letters() -> LettersModel:
    """Return the shipped model, read once."""
    data = files("tabwb.phonology") / "data" / "letters.txt.xz"
    return read_model(lzma.decompress(data.read_bytes()).decode("utf-8").split("\n"))


LONGEST = 50
"""Letters; the longest word of the dictionary has 28. The time grows with the square."""


@lru_cache(maxsize=256)
def guessed_sound(word: str) -> tuple[str, ...] | None:
    """Return the likely pronunciation of a word in no dictionary, ARPAbet without stress.

    A word of more than :data:`LONGEST` letters has none.

    >>> [" ".join(guessed_sound(word) or ()) for word in ("twee", "treeb", "blag")]
    ['T W IY', 'T R IY B', 'B L AE G']
    """
    return load_letters().pronounce(word) if len(word) <= LONGEST else None


WORDS = "words"
"""Metadata key: JSON list of the words that were heard."""
GUESSED = "words_by_letters"
"""Metadata key: JSON list of those that are in no dictionary, pronounced by their letters."""
UNPRONOUNCED = "words_unpronounced"
"""Metadata key: JSON list of those without letters to pronounce; noise replaces them."""
NOISE = "<spn>"
_LETTERS = re.compile(r"[a-z]+(?:'[a-z]+)*")
_BETWEEN_WORDS = re.compile(r"[^\w']+")


Sound = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word of a transcriber, or a name of several words, with its sound."""

    segment: Segment
    word: str
    sound: Sound
    guessed: bool = False


def spoken_words(
    transcript: Transcript, names: Mapping[str, Sound] | None = None
) -> tuple[SpokenWord, ...]:
    """Return the words of a transcript of words, each with its sound.

    A name sounds as it is accepted, whatever a dictionary of English says; another word has its
    first pronunciation in the CMU dictionary, else that of letter-to-sound rules.

    >>> said = Transcript("x", "ok", (Segment("Katze", 0, 1), Segment("blorf", 1, 2)), "words")
    >>> [(one.word, " ".join(one.sound), one.guessed)
    ...  for one in spoken_words(said, {"Katze": ("K", "AE", "T")})]
    [('katze', 'K AE T', False), ('blorf', 'B L AO R F', True)]
    """
    written = [
        (segment, word)
        for segment in transcript.segments
        for word in _plain_words(segment.phoneme) or [""]
    ]
    accepted = {tuple(_plain_words(name)): sound for name, sound in (names or {}).items()}
    longest = max(map(len, accepted), default=0)
    found: list[SpokenWord] = []
    at = 0
    while at < len(written):
        lengths = range(min(longest, len(written) - at), 0, -1)
        runs = {n: tuple(word for _, word in written[at : at + n]) for n in lengths}
        n = next((n for n, run in runs.items() if run in accepted), 0)
        if n:
            (first, _), (last, _) = written[at], written[at + n - 1]
            whole = replace(first, end_s=last.end_s)
            found.append(SpokenWord(whole, " ".join(runs[n]), accepted[runs[n]]))
        else:
            found += _sounding(*written[at])
        at += n or 1
    return tuple(found)


def _plain_words(text: str) -> list[str]:
    """Return the words of a text, lower case, without punctuation around them."""
    lowered = unicodedata.normalize("NFC", text).lower().replace("\u2019", "'")
    words = (part.strip("'_") for part in _BETWEEN_WORDS.split(lowered))
    return [word for word in words if word]


def _sounding(segment: Segment, word: str) -> Iterator[SpokenWord]:
    for part in _LETTERS.findall(word) or [""]:
        if listed := load_dictionary().pronunciations(part):
            yield SpokenWord(segment, part, listed[0].phonemes)
        elif sound := guessed_sound(part.replace("'", "")):
            yield SpokenWord(segment, part, sound, guessed=True)
        else:
            yield SpokenWord(segment, part, (NOISE,))


def pronounced(transcript: Transcript, names: Mapping[str, Sound] | None = None) -> Transcript:
    """Return a transcript of words as one of phonemes; one of phonemes as it is.

    The stretch of a word (:func:`spoken_words`) is divided evenly among its phonemes, because
    nothing is known of their times.

    >>> said = Transcript("x", "ok", (Segment("A", 0.0, 0.1), Segment("dog", 0.1, 0.7)), "words")
    >>> found = pronounced(said)
    >>> found.unit, found.phonemes, found.metadata["words"]
    ('phonemes', ('AH', 'D', 'AO', 'G'), '["A", "dog"]')
    >>> pronounced(Transcript("x", "ok", (Segment("blorf", 0, 1),), "words")).metadata[GUESSED]
    '["blorf"]'
    """
    if transcript.unit != "words":
        return transcript
    words = spoken_words(transcript, names)
    segments = tuple(segment for word in words for segment in _spread(word.segment, word.sound))
    guessed = [word.word for word in words if word.guessed]
    lacking = [word.word or word.segment.phoneme for word in words if word.sound == (NOISE,)]
    lists = {WORDS: [segment.phoneme for segment in transcript.segments]}
    lists |= {GUESSED: guessed} if guessed else {}
    lists |= {UNPRONOUNCED: lacking} if lacking else {}
    notes = {key: json.dumps(words, ensure_ascii=False) for key, words in lists.items()}
    metadata = {**transcript.metadata, **notes}
    return replace(transcript, segments=segments, unit="phonemes", metadata=metadata)


def guessed_phonemes(
    transcript: Transcript, names: Mapping[str, Sound] | None = None
) -> tuple[bool, ...]:
    """Return of each phoneme of :func:`pronounced` whether it follows from letters alone."""
    if transcript.unit != "words":
        return (False,) * len(transcript.segments)
    words = spoken_words(transcript, names)
    return tuple(word.guessed for word in words for _ in word.sound)


def _spread(segment: Segment, phonemes: tuple[str, ...]) -> list[Segment]:
    step = (segment.end_s - segment.start_s) / len(phonemes)
    times = [segment.start_s + number * step for number in range(len(phonemes) + 1)]
    return [
        Segment(phoneme, start_s, end_s, segment.confidence)
        for phoneme, start_s, end_s in zip(phonemes, times, times[1:], strict=False)
    ]


_MOST_FORMS = 8


@dataclass(frozen=True, slots=True)
class Form:
    """One way to say a word, or several words.

    Attributes:
        phonemes: ARPAbet without stress.
        arpabet: with the stress of the dictionary; empty for a form that is derived.
        reason: ``citation`` for the first, ``variant``, or ``flap``.
        homophones: other words with this sound; none for several words.
    """

    phonemes: tuple[str, ...]
    arpabet: str
    reason: str
    homophones: tuple[str, ...] = ()

    @property
    def ipa(self) -> str:
        """In IPA."""
        return to_ipa(self.phonemes)


def forms_of(words: str) -> tuple[Form, ...]:
    """Return every pronunciation of words separated by blanks or hyphens; none if unknown.

    The dictionary's first is the citation form; a form with the flap of American English follows
    each that allows it. Dialects are added by the author.

    >>> [(" ".join(form.phonemes), form.reason) for form in forms_of("water")]
    [('W AO T ER', 'citation'), ('W AO DX ER', 'flap')]
    >>> forms_of("blorf")
    ()
    """
    parts = [part for part in re.split(r"[\s-]+", words.strip()) if part]
    dictionary = load_dictionary()
    choices = [dictionary.pronunciations(part) for part in parts]
    forms: dict[tuple[str, ...], Form] = {}
    for way in itertools.islice(itertools.product(*choices), _MOST_FORMS) if parts else ():
        joined = Pronunciation(
            tuple(itertools.chain.from_iterable(pronunciation.phonemes for pronunciation in way)),
            "".join(pronunciation.stress for pronunciation in way),
        )
        ways = [(joined.phonemes, joined.arpabet, "variant" if forms else "citation")]
        if joined.flapped is not None:
            ways.append((joined.flapped, "", "flap"))
        for phonemes, arpabet, why in ways:
            if phonemes not in forms:
                others = dictionary.homophones(phonemes)
                same = tuple(word for word in others if word != words.strip().lower())
                forms[phonemes] = Form(phonemes, arpabet, why, same)
    return tuple(forms.values())
