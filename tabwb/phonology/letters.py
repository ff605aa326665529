"""Pronunciation of words: by the dictionary, else by a joint n-gram of graphones."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from math import log

from tabwb.phonology.dictionary import load_dictionary
from tabwb.records.speech import Segment, Transcript

Graphone = tuple[str, tuple[str, ...]]
"""Letters and the phonemes they stand for; no phoneme for a silent letter."""

ORDER = 6
"""Graphones in the longest n-gram."""
DISCOUNT = 0.75
"""Discount of each count in favour of the shorter context (absolute discounting)."""
BEAM = 24
"""Partial readings kept for each place in the word."""
BEGIN, END = "\x02", "\x03"
_FIRST = 0x100


@dataclass(frozen=True, slots=True)
class LettersModel:
    """Counts of graphone n-grams.

    Attributes:
        graphones: by the letters they stand for, each with its character in the n-grams.
        counts: of each context (a string of such characters) its successors and their counts.
    """

    graphones: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]
    counts: Mapping[str, Mapping[str, int]]

    def probability(self, context: str, symbol: str) -> float:
        """Return the probability of a graphone after a context, interpolated over all orders.

        ``P(g|h) = max(c(hg) - D, 0) / C(h) + D T(h) / C(h) P(g|h')``: C is the sum and T the number
        of the counts after h, h' the context without its first graphone (Kneser-Ney; the counts of
        the lower orders are numbers of distinct predecessors).

        Args:
            context: characters of the graphones before.
            symbol: character of the graphone.
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
        """Return the likeliest pronunciation of a word of letters a-z; None if there is none.

        Args:
            word: capitals and small letters are the same; other characters are left out.
        """
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
        graphones.setdefault(letters, []).append((chr(_FIRST + number), tuple(phonemes)))
    before = ""
    for row in rows:
        rest, _, count = row[1:].partition("\t")
        before = before[: int(row[0])] + rest
        counts.setdefault(before[:-1], {})[before[-1]] = int(count or 1)
    return LettersModel({key: tuple(value) for key, value in graphones.items()}, counts)


def write_model(graphones: Iterable[Graphone], counts: Mapping[str, int]) -> Iterable[str]:
    """Yield the lines that :func:`read_model` reads.

    Args:
        graphones: in the order of their characters.
        counts: of each n-gram, a string of such characters.
    """
    for letters, phonemes in graphones:
        yield " ".join((letters, *phonemes))
    yield ""
    before = ""
    for gram in sorted(counts):
        shared = 0
        while shared < min(len(before), len(gram) - 1) and before[shared] == gram[shared]:
            shared += 1
        count = counts[gram]
        yield f"{shared}{gram[shared:]}" + (f"\t{count}" if count > 1 else "")
        before = gram


def symbols_of(graphones: Iterable[Graphone]) -> dict[Graphone, str]:
    """Return the character that stands for each graphone in n-grams."""
    return {graphone: chr(_FIRST + number) for number, graphone in enumerate(graphones)}


@lru_cache(maxsize=1)
def load_letters() -> LettersModel:
    """Return the shipped model, read once."""
    data = files("tabwb.phonology") / "data" / "letters.txt.xz"
    return read_model(lzma.decompress(data.read_bytes()).decode("utf-8").split("\n"))


@lru_cache(maxsize=256)
def guessed_sound(word: str) -> tuple[str, ...] | None:
    """Return the likely pronunciation of a word in no dictionary, ARPAbet without stress.

    >>> [" ".join(guessed_sound(word) or ()) for word in ("twee", "treeb", "blag")]
    ['T W IY', 'T R IY B', 'B L AE G']
    """
    return load_letters().pronounce(word)


WORDS = "words"
"""Metadata key: JSON list of the words that were heard."""
GUESSED = "words_by_letters"
"""Metadata key: JSON list of those that are in no dictionary, pronounced by their letters."""
UNPRONOUNCED = "words_unpronounced"
"""Metadata key: JSON list of those without letters to pronounce; noise replaces them."""
NOISE = "<spn>"
"""Replaces a word that cannot be pronounced."""
_LETTERS = re.compile(r"[a-z]+(?:'[a-z]+)*")


def pronounced(transcript: Transcript) -> Transcript:
    """Return a transcript of words as one of phonemes; one of phonemes as it is.

    Each word has its first pronunciation in the CMU dictionary, else that of letter-to-sound rules.
    Its stretch is divided evenly among its phonemes, because nothing is known of their times.

    >>> said = Transcript("x", "ok", (Segment("A", 0.0, 0.1), Segment("dog", 0.1, 0.7)), "words")
    >>> found = pronounced(said)
    >>> found.unit, found.phonemes, found.metadata["words"]
    ('phonemes', ('AH', 'D', 'AO', 'G'), '["A", "dog"]')
    >>> pronounced(Transcript("x", "ok", (Segment("blorf", 0, 1),), "words")).metadata[GUESSED]
    '["blorf"]'
    """
    if transcript.unit != "words":
        return transcript
    segments: list[Segment] = []
    guessed: list[str] = []
    lacking: list[str] = []
    for segment in transcript.segments:
        for word in _LETTERS.findall(segment.phoneme.lower().replace("’", "'")) or [""]:
            listed = load_dictionary().pronunciations(word)
            sound = listed[0].phonemes if listed else None
            if not sound:
                sound = guessed_sound(word.replace("'", "")) if word else None
                (guessed if sound else lacking).append(word or segment.phoneme)
            segments += _spread(segment, sound or (NOISE,))
    lists = {WORDS: [segment.phoneme for segment in transcript.segments]}
    lists |= {GUESSED: guessed} if guessed else {}
    lists |= {UNPRONOUNCED: lacking} if lacking else {}
    notes = {key: json.dumps(words, ensure_ascii=False) for key, words in lists.items()}
    metadata = {**transcript.metadata, **notes}
    return replace(transcript, segments=tuple(segments), unit="phonemes", metadata=metadata)


def _spread(segment: Segment, phonemes: tuple[str, ...]) -> list[Segment]:
    step = (segment.end_s - segment.start_s) / len(phonemes)
    times = [segment.start_s + number * step for number in range(len(phonemes) + 1)]
    return [
        Segment(phoneme, start_s, end_s, segment.confidence)
        for phoneme, start_s, end_s in zip(phonemes, times, times[1:], strict=False)
    ]
