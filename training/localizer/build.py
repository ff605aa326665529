"""Build the items of the localizer: sentences, and lists of nonwords of the same lengths.

    python -m training.localizer.build

The sentences are our own (``sentences.txt``). The nonwords are made by :func:`nonword`; the draws
depend on a fixed seed alone, so that the same sentences and word lists give the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from tabwb.lesion.draw import Draws

SENTENCES = Path(__file__).with_name("sentences.txt")
OUT = Path(__file__).parents[2] / "tabwb" / "lesion" / "data" / "language-1.toml"
SEED = 12
ONSETS = (
    *("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "j", "w", "h"),
    *("bl", "br", "dr", "fl", "fr", "gl", "gr", "kl", "kr", "pl", "pr", "sl", "sm", "sn", "sp"),
    *("st", "tr", "tw", "sh", "ch", "th"),
)
VOWELS = ("a", "e", "i", "o", "u", "a", "e", "i", "o", "u", "ai", "ea", "ee", "oa", "oi", "oo")
CODAS = (
    *("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "t", "z", "x", "ck", "ft", "lm", "lp"),
    *("mp", "nd", "nk", "nt", "rb", "rf", "rk", "rn", "sk", "sp", "sh", "th"),
)
SHORT = 3
"""Nonwords of so many letters come in several lists, as short words do in several sentences."""
HEAD = """\
# Items of the localizer of lesions (docs/localizer.md): sentences, and lists of nonwords
# with as many letters at each place. Made by python -m training.localizer.build; do not edit.
# Our own texts, under the licence of tabwb (MIT).
format = 1
name = "language-1"
"""


def nonword(letters: int, draws: Iterator[int], known: Collection[str]) -> str:
    """Return a pronounceable text of so many letters that is no word.

    Syllables of an onset, a vowel and, one time in two, a coda are put together until the length is
    right; what is too long or a word is made again.

    Args:
        letters: how many, 2 or more.
        draws: random numbers.
        known: words, and nonwords that are taken.
    """
    while True:
        text = ""
        while len(text) < letters:
            if text or next(draws) % 4:  # one in four begins with a vowel
                text += ONSETS[next(draws) % len(ONSETS)]
            text += VOWELS[next(draws) % len(VOWELS)]
            if next(draws) % 2:
                text += CODAS[next(draws) % len(CODAS)]
        if len(text) == letters and text not in known:
            return text


def nonword_lists(sentences: Sequence[str], known: Collection[str]) -> list[str]:
    """Return a list of nonwords for each sentence, as many letters at each place.

    Args:
        sentences: words with one space between them, a capital and a full stop.
        known: words.
    """
    draws, taken = map(int, _numbers()), set(known)
    lists = []
    for sentence in sentences:
        own: list[str] = []
        for word in sentence.rstrip(".").split():
            own.append(nonword(len(word), draws, taken))
            taken.add(own[-1])
        taken.difference_update(one for one in own if len(one) <= SHORT)
        lists.append(" ".join(own).capitalize() + ".")
    return lists


def _numbers() -> Iterator[int]:
    stream = Draws(SEED, "language-1", "nonwords")
    while True:
        yield from stream.take(1024)


def written() -> str:
    """Return the content of the file of items."""
    sentences = SENTENCES.read_text("utf-8").split("\n")[:-1]
    words = files("tabwb.scoring").joinpath("data", "words.txt").read_text("ascii").split()
    known = {*words, *(word for one in sentences for word in one.lower().rstrip(".").split())}
    text = HEAD
    for condition, label, texts in (
        ("first", "sentences", sentences),
        ("second", "nonwords", nonword_lists(sentences, known)),
    ):
        lines = "".join(f'    "{one}",\n' for one in texts)
        text += f'\n[{condition}]\nlabel = "{label}"\ntexts = [\n{lines}]\n'
    return text


if __name__ == "__main__":
    OUT.write_text(written(), "utf-8")
