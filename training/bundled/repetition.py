"""Repetition items: words, pseudo-words, lists and sentences to repeat unchanged."""

from __future__ import annotations

import random
from collections.abc import Callable

from training.bundled.tables import Table
from training.bundled.turns import Turn
from training.bundled.words import (
    ADJECTIVES,
    ADVERBS,
    HELD_OUT_WORDS,
    NAMES,
    NOUNS,
    PLACE_NAMES,
    PLURAL_NOUNS,
    VERBS,
    Split,
    capitalise,
    gerund,
    in_split,
    pseudo_word,
    third_person,
    with_article,
)

INSTRUCTION = "Repeat the text exactly as it stands; punctuation and capital letters matter."
_OTHER_INSTRUCTIONS = (
    "Repeat the text exactly.",
    "Say exactly what is written, with the same punctuation.",
    "Give back the following text without any change.",
    "Copy the words as they stand.",
)
_REQUESTS = (
    "Please repeat: {}",
    "Repeat: {}",
    "Repeat after me: {}",
    "Repeat exactly: {}",
    "Please say: {}",
    "Say this: {}",
    "Please repeat this exactly: {}",
    "Copy this: {}",
    "{}",
)

_TABLE = Table("repetition")
_PATTERNS = _TABLE.lines("patterns")
_TAILS = _TABLE.lines("tails")
_DAYS = _TABLE.words("days")
_MONTHS = _TABLE.words("months")
_DIRECTIONS = _TABLE.words("directions")
_NUMBERS = _TABLE.words("numbers")


def _slot(name: str, rng: random.Random, apostrophe: str) -> str:
    verb = rng.choice(VERBS)
    values: dict[str, Callable[[], str]] = {
        "A": lambda: rng.choice(ADJECTIVES),
        "aA": lambda: with_article(rng.choice(ADJECTIVES)),
        "N": lambda: rng.choice(NOUNS),
        "aN": lambda: with_article(rng.choice(NOUNS)),
        "P": lambda: rng.choice(PLURAL_NOUNS),
        "B": lambda: verb[0],
        "V": lambda: verb[1],
        "L": lambda: verb[2],
        "S": lambda: third_person(verb[0]),
        "G": lambda: gerund(verb[0]),
        "D": lambda: rng.choice(ADVERBS),
        "c": lambda: apostrophe + rng.choice(("d", "ll", "ve")),
        "be": lambda: apostrophe + "re",
        "pro": lambda: rng.choice(("we", "they", "you")),
        "Pro": lambda: rng.choice(("We", "They", "You")),
        "neg": lambda: (
            rng.choice(("don", "didn", "can", "couldn", "won", "hadn")) + f"{apostrophe}t"
        ),
        "name": lambda: rng.choice(NAMES),
        "place": lambda: rng.choice(PLACE_NAMES),
        "day": lambda: rng.choice(_DAYS),
        "month": lambda: rng.choice(_MONTHS),
        "direction": lambda: rng.choice(_DIRECTIONS),
        "num": lambda: rng.choice(_NUMBERS),
    }
    return values[name]()


def _fill(pattern: str, rng: random.Random, apostrophe: str) -> str:
    out, rest = "", pattern
    while "{" in rest:
        before, _, rest = rest.partition("{")
        name, _, rest = rest.partition("}")
        out += before + _slot(name, rng, apostrophe)
    return (out + rest).replace("'", apostrophe)


def _swap_words(text: str, rng: random.Random, split: Split) -> str:
    """Replace some words by unseen ones; held-out items always get a held-out word this way."""
    words = text.split(" ")
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(words))
        if split == "held":
            words[place] = rng.choice(HELD_OUT_WORDS)
        else:
            words[place] = pseudo_word(rng, split)
    return " ".join(words)


def sentence(rng: random.Random, split: Split, unusual: float = 0.35, longest: int = 14) -> str:
    """Draw a sentence of three to ``longest`` words; ``unusual`` is the share with odd words."""
    apostrophe = rng.choice("'’")
    text = _fill(rng.choice(_PATTERNS), rng, apostrophe)
    while rng.random() < 0.4:
        text += " " + _fill(rng.choice(_TAILS), rng, apostrophe)
    words = text.split(" ")[:longest]
    if rng.random() < 0.12:
        rng.shuffle(words)
    text = " ".join(words).rstrip(",")
    if rng.random() < unusual:
        text = _swap_words(text, rng, split)
    if rng.random() < 0.9:
        text = capitalise(text)
    end = rng.random()
    return text + ("." if end < 0.8 else "?" if end < 0.87 else "!" if end < 0.93 else "")


def word(rng: random.Random, split: Split) -> str:
    """Draw one word, mostly with a stop after it, as the batteries print it."""
    kind = rng.random()
    if split == "held" and kind < 0.6:
        text = rng.choice(HELD_OUT_WORDS)
    elif kind < 0.45:
        text = rng.choice(rng.choice((NOUNS, ADJECTIVES, ADVERBS, PLURAL_NOUNS, NAMES)))
    else:
        text = pseudo_word(rng, split)
    style = rng.random()
    text = capitalise(text) if style < 0.2 else text.upper() if style < 0.23 else text
    end = rng.random()
    return text + ("." if end < 0.75 else "!" if end < 0.8 else "?" if end < 0.85 else "")


def word_list(rng: random.Random, split: Split) -> str:
    """Draw two to nine unrelated words, which grammar does not predict."""
    count = rng.randint(2, 9)
    pools = (NOUNS, ADJECTIVES, ADVERBS, PLURAL_NOUNS, NAMES)
    words = [
        pseudo_word(rng, split) if rng.random() < 0.5 else rng.choice(rng.choice(pools))
        for _ in range(count)
    ]
    return rng.choice((" ", " ", ", ")).join(words) + rng.choice(("", ".", "."))


def drill(rng: random.Random) -> Turn:
    """Draw one to thirty unrelated words to repeat, without an instruction.

    Half of such a conversation is copying, and most are short, so that attention heads learn early
    to copy.
    """
    pools = (NOUNS, ADJECTIVES, ADVERBS, PLURAL_NOUNS, NAMES)
    words = [
        pseudo_word(rng, "train") if rng.random() < 0.5 else rng.choice(rng.choice(pools))
        for _ in range(rng.choice((1, 2, 2, 3, 4, 5, 6, 8, 12, 20, 30)))
    ]
    text = " ".join(words)
    return Turn("repetition", text, text)


def symbols(rng: random.Random, split: Split) -> str:
    """Draw digits, signs and letters beyond ASCII, so that any text can be repeated."""
    del split
    pool = '0123456789-–+/()%&"“”;:…éèüöäßñçøåłžαβγñ€£✓ABCXYZ'
    parts = [
        "".join(rng.choice(pool) for _ in range(rng.randint(1, 5)))
        if rng.random() < 0.6
        else rng.choice(NOUNS)
        for _ in range(rng.randint(1, 4))
    ]
    return " ".join(parts)


def _target(rng: random.Random, split: Split) -> str:
    kind = rng.random()
    if kind < 0.36:
        return word(rng, split)
    if kind < 0.84:
        return sentence(rng, split, unusual=0.5)
    return word_list(rng, split) if kind < 0.97 else symbols(rng, split)


def turn_for(target: str, rng: random.Random) -> Turn:
    """Ask for ``target`` in one of the known forms, mostly in the batteries' own."""
    plain = rng.random() < 0.75
    request = "Please repeat exactly: {}" if plain else rng.choice(_REQUESTS)
    instruction = INSTRUCTION
    if not plain and rng.random() < 0.6:
        instruction = rng.choice(_OTHER_INSTRUCTIONS + ("",) * 4)
    if request == "{}" and not instruction:
        instruction = INSTRUCTION
    user = f"{instruction}\n{request.format(target)}".lstrip("\n")
    return Turn("repetition", user, target)


def is_held_out(target: str) -> bool:
    """Tell whether ``target`` as a whole, or a word in it, is held out of the training."""
    bare = target.lower().rstrip(".!?")
    return in_split(bare, "held") or any(w in HELD_OUT_WORDS for w in bare.split())


def generate(rng: random.Random, split: Split = "train") -> Turn:
    """Draw one repetition turn whose target belongs to ``split``."""
    while True:
        target = _target(rng, split)
        if is_held_out(target) == (split == "held"):
            return turn_for(target, rng)
