"""Common words that are only synthesised, and errors of naming tasks."""

from __future__ import annotations

from pathlib import Path

from training.words.pronunciations import Phonemes

OTHER_WORDS = tuple((Path(__file__).parent / "other_words.txt").read_text(encoding="utf-8").split())

# What may be said instead of the six naming words: substitutions, omissions, additions.
NAMING_ERRORS: tuple[Phonemes, ...] = tuple(
    tuple(form.split())
    for form in (
        *("D AO G IY", "D AO", "D AO K", "G AO G", "D AA G", "D AO G AH", "B AO G", "T AO G"),
        *("K AE", "K AE P", "T AE T", "K AA T", "G AE T", "K AE T IY", "AE T", "K AE S"),
        *("B EH", "B EH T", "P EH D", "B IH D", "B AE D", "D EH D", "B EH B", "B R EH D"),
        *("B ER", "B ER T", "B ER B", "P ER D", "B AO R D", "D ER D", "B ER D IY", "ER D"),
        *("HH AW", "AW S", "HH AW Z", "HH AA S", "HH OW S", "M AW S", "HH AW S IY", "HH AW T"),
        *("T IY", "R IY", "TH IY", "T R EY", "K R IY", "T L IY", "T R IY Z", "CH R IY"),
        *("D R AO G", "K R AE T", "B L EH D", "S T R IY", "T W IY", "F R IY", "D AO D"),
    )
)
