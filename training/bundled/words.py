"""Word pools, pseudo-words and the morphology that all generators share."""

from __future__ import annotations

import hashlib
import random
from typing import Literal

from training.bundled.tables import Table

Split = Literal["train", "held"]

_TABLE = Table("words")
NAMES = _TABLE.words("names")
PLACE_NAMES = _TABLE.words("places")
PLURAL_NOUNS = _TABLE.words("plurals")
NOUNS = _TABLE.words("nouns")
ADJECTIVES = _TABLE.words("adjectives")
ADVERBS = _TABLE.words("adverbs")
# base, past, participle of verbs that take an object
VERBS = tuple((a, b, c) for a, b, c in (line.split() for line in _TABLE.lines("verbs")))
# Real words that appear nowhere in the training text; repetition is evaluated on them.
HELD_OUT_WORDS = _TABLE.words("held out")

_ONSETS = _TABLE.words("onsets")
_VOWELS = _TABLE.words("vowels")
_CODAS = _TABLE.words("codas")
_ENDINGS = _TABLE.words("endings")
_PREFIXES = _TABLE.words("prefixes")


def bucket(key: str, size: int) -> int:
    """Return a stable number in ``range(size)`` for ``key``; it does not depend on the seed."""
    digest = hashlib.blake2b(key.lower().encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") % size


def in_split(key: str, split: Split, one_in: int = 15) -> bool:
    """Return whether ``key`` belongs to ``split``; one key in ``one_in`` is always held out."""
    return (bucket(key, one_in) == 0) == (split == "held")


def third_person(verb: str) -> str:
    """Inflect the first word of a verb phrase for he, she or it.

    >>> third_person("carry a bag"), third_person("watch"), third_person("have a mane")
    ('carries a bag', 'watches', 'has a mane')
    """
    head, _, rest = verb.partition(" ")
    irregular = {"have": "has", "be": "is", "do": "does", "go": "goes"}
    if head in irregular:
        head = irregular[head]
    elif head.endswith("y") and head[-2] not in "aeiou":
        head = head[:-1] + "ies"
    elif head.endswith(("s", "sh", "ch", "x", "z", "o")):
        head += "es"
    else:
        head += "s"
    return f"{head} {rest}".rstrip()


def gerund(verb: str) -> str:
    """Give the -ing form of the first word of a verb phrase.

    >>> gerund("cut paper"), gerund("bake"), gerund("see"), gerund("eat")
    ('cutting paper', 'baking', 'seeing', 'eating')
    """
    head, _, rest = verb.partition(" ")
    doubled = {"begin", "chop", "cut", "dig", "drop", "get", "hit", "knit", "plan", "put", "rub"}
    doubled |= {"run", "set", "shut", "sit", "stop", "swim", "travel", "win", "wrap", "nap", "mop"}
    if head in doubled:
        head += head[-1]
    elif head == "tie":
        head = "ty"
    elif head.endswith("e") and not head.endswith(("ee", "ye", "oe")):
        head = head[:-1]
    return f"{head}ing {rest}".rstrip()


def with_article(noun: str) -> str:
    """Put the fitting indefinite article before ``noun``.

    >>> with_article("apple"), with_article("boot"), with_article("uniform")
    ('an apple', 'a boot', 'a uniform')
    """
    vowel = noun[0].lower() in "aeiou" and not noun.startswith(("uni", "use", "one"))
    return f"an {noun}" if vowel else f"a {noun}"


def capitalise(text: str) -> str:
    """Return ``text`` with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def _draw_pseudo_word(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.25:  # two real words cut and joined: natural pieces in an unseen order
        first, second = rng.choice(NOUNS + ADJECTIVES), rng.choice(NOUNS + ADVERBS)
        return first[: rng.randint(1, len(first))] + second[-rng.randint(2, len(second)) :]
    if kind < 0.32:  # letters without any syllable structure
        letters = "abcdefghijklmnopqrstuvwxyz"
        return "".join(rng.choice(letters) for _ in range(rng.randint(2, 8)))
    parts = [rng.choice(_PREFIXES)] if rng.random() < 0.2 else []
    for _ in range(rng.choice((1, 1, 2, 2, 2, 3))):
        parts.append(rng.choice(_ONSETS) + rng.choice(_VOWELS))
        if rng.random() < 0.5:
            parts.append(rng.choice(_CODAS))
    if rng.random() < 0.4:
        parts.append(rng.choice(_ENDINGS))
    return "".join(parts)


def pseudo_word(rng: random.Random, split: Split) -> str:
    """Make a pronounceable or scrambled word that is not an English word."""
    while True:
        word = _draw_pseudo_word(rng)
        if word not in HELD_OUT_WORDS and in_split(word, split):
            return word
