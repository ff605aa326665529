"""What a rater writes as phonemes: how it is stored, how it is read so far, and what is wrong."""

from __future__ import annotations

import re

from tabwb.phonology.inventory import mapped_letters, parse_spoken, to_ipa
from tabwb.records.errors import TabwbError


def read_phonemes(text: str) -> str:
    """Return phonemes as they are stored: ARPAbet with one blank between two.

    >>> read_phonemes("dɔɡ"), read_phonemes("d ao  g <sil>")
    ('D AO G', 'D AO G <sil>')
    """
    return " ".join(parse_spoken(text, beyond="allophones"))


def reading_words(text: str) -> str:
    """Return how a text is read so far, in both notations, or what is wrong in it and where.

    >>> reading_words("dɔɡ"), reading_words("D XX G"), reading_words(" ")
    ('D AO G   dɔɡ', "! 'XX' is not a phoneme: the 2nd of 3", '')
    """
    if not text.strip():
        return ""
    try:
        read = parse_spoken(text, beyond="allophones")
    except TabwbError as error:
        at, length = place_of_error(text, error)
        if not length:
            return f"! {error.message}"
        wrong = text[at : at + length]
        if " " in text.strip():
            number, of = len(text[:at].split()) + 1, len(text.split())
            return f"! '{wrong}' is not a phoneme: the {_ordinal(number)} of {of}"
        return f"! '{wrong}' is not a phoneme: at the {_ordinal(at + 1)} letter"
    told = "" if text.isascii() else ", ".join(mapped_letters(re.sub("<[^<>]*>", " ", text)))
    return f"{' '.join(read)}   {to_ipa(read)}" + (f"   ({told})" if told else "")


def place_of_error(text: str, error: TabwbError) -> tuple[int, int]:
    """Return where in a text the label or letter is that an error names, and its length.

    >>> place_of_error("D XX G", TabwbError("'XX' is not a phoneme of the inventory"))
    (2, 2)
    """
    named = re.match(r"'([^']+)'", error.message)
    label = named.group(1) if named else ""
    if not label or label == text:
        return (0, len(label)) if label and " " not in label else (0, 0)
    whole = re.search(rf"(?<!\S){re.escape(label)}(?!\S)", text)
    at = whole.start() if whole else text.find(label)
    return (at, len(label)) if at >= 0 else (0, 0)


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
