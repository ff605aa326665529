"""The labels of the model and the pronunciations of the recorded words."""

from __future__ import annotations

Phonemes = tuple[str, ...]

# ARPAbet as PSST writes it, appendix A: no stress, one AH, and DX for the flap of "butter".
PHONEMES = (
    *("AA", "AE", "AH", "AO", "AW", "AY", "B", "CH", "D", "DH", "DX", "EH", "ER", "EY"),
    *("F", "G", "HH", "IH", "IY", "JH", "K", "L", "M", "N", "NG", "OW", "OY", "P", "R"),
    *("S", "SH", "T", "TH", "UH", "UW", "V", "W", "Y", "Z", "ZH"),
)
VOWELS = frozenset(
    ("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW")
)
BLANK = 0
LABELS = ("<pad>", *PHONEMES)
NUMBER = {label: number for number, label in enumerate(LABELS)}

# Citation forms of the CMU Pronouncing Dictionary, the first of each word ("zero": the second).
RECORDED_WORDS: dict[str, Phonemes] = {
    word: tuple(phonemes.split())
    for word, phonemes in {
        "backward": "B AE K W ER D",
        "bed": "B EH D",
        "bird": "B ER D",
        "cat": "K AE T",
        "dog": "D AO G",
        "down": "D AW N",
        "eight": "EY T",
        "five": "F AY V",
        "follow": "F AA L OW",
        "forward": "F AO R W ER D",
        "four": "F AO R",
        "go": "G OW",
        "happy": "HH AE P IY",
        "house": "HH AW S",
        "learn": "L ER N",
        "left": "L EH F T",
        "marvin": "M AA R V IH N",
        "nine": "N AY N",
        "no": "N OW",
        "off": "AO F",
        "on": "AA N",
        "one": "W AH N",
        "right": "R AY T",
        "seven": "S EH V AH N",
        "sheila": "SH IY L AH",
        "six": "S IH K S",
        "stop": "S T AA P",
        "three": "TH R IY",
        "tree": "T R IY",
        "two": "T UW",
        "up": "AH P",
        "visual": "V IH ZH AH W AH L",
        "wow": "W AW",
        "yes": "Y EH S",
        "zero": "Z IH R OW",
    }.items()
}


def encode(phonemes: Phonemes) -> list[int]:
    """Number phonemes as the model does.

    >>> encode(("AA", "AE"))
    [1, 2]
    """
    return [NUMBER[phoneme] for phoneme in phonemes]
