"""Transcripts of words as phonemes: by the pronunciation dictionary, else by the letters.

A transcriber of words gives no sounds. The usual pronunciations of its words are compared with
accepted ones; a word in no dictionary is pronounced by letter-to-sound rules and listed, because
its sounds were not heard.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from tabwb.phonology.dictionary import load_dictionary
from tabwb.phonology.letters import guessed_sound
from tabwb.records.speech import Segment, Transcript

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
            sound = _known(word)
            if not sound:
                sound = (guessed_sound(word.replace("'", "")) if word else None) or ()
                (guessed if sound else lacking).append(word or segment.phoneme)
            segments += _spread(segment, sound or (NOISE,))
    words_by_key = {WORDS: [segment.phoneme for segment in transcript.segments]}
    words_by_key |= {
        key: words for key, words in ((GUESSED, guessed), (UNPRONOUNCED, lacking)) if words
    }
    notes = {key: json.dumps(words, ensure_ascii=False) for key, words in words_by_key.items()}
    return replace(
        transcript,
        segments=tuple(segments),
        unit="phonemes",
        metadata={**transcript.metadata, **notes},
    )


def _known(word: str) -> tuple[str, ...]:
    first = next(iter(load_dictionary().pronunciations(word)), None) if word else None
    return () if first is None else first.phonemes


def _spread(segment: Segment, phonemes: tuple[str, ...]) -> list[Segment]:
    step = (segment.end_s - segment.start_s) / len(phonemes)
    return [
        Segment(
            phoneme,
            segment.start_s + number * step,
            segment.start_s + (number + 1) * step,
            segment.confidence,
        )
        for number, phoneme in enumerate(phonemes)
    ]
