"""Choice items: one of the listed words has the property that is asked for."""

from __future__ import annotations

import random

from training.bundled.knowledge import PROPERTIES, THINGS, Property
from training.bundled.turns import Turn
from training.bundled.words import Split, in_split, third_person

INSTRUCTION = "Answer with exactly one of the listed words and nothing else."
_OTHER_INSTRUCTIONS = (
    "Answer with one of the listed words.",
    "Choose one of the words and say nothing else.",
    "Reply with exactly one word from the list.",
    "Pick the right word from the list.",
)
_ADVERBS = ("", "", "usually ", "typically ", "often ", "normally ", "mostly ")
_NEIGHBOURS = {
    thing: tuple(
        sorted(
            (o for o in THINGS if o != thing),
            key=lambda o: (o[0] != thing[0], abs(len(o) - len(thing)), o[-1] != thing[-1], o),
        )[:4]
    )
    for thing in THINGS
}


def _question(prop: Property, kind: str, words: str, rng: random.Random) -> str:
    """Word the question; if the listed things differ in kind, "one" or "thing" always fits."""
    head = rng.choice((*prop.heads, "one", "one", "thing", "object", "item"))
    adverb = rng.choice(_ADVERBS)
    if kind == "is":
        return rng.choice(
            (
                f"Which one is {words}?",
                f"Which one is {words}?",
                f"Which {head} is {words}?",
                f"Which of these is {words}?",
                f"Which word means something that is {words}?",
                f"What is {words}?",
                f"Find the one that is {words}.",
            )
        )
    if kind == "pp":
        return rng.choice(
            (
                f"Which {head} is {adverb}{words}?",
                f"Which {head} is {adverb}{words}?",
                f"Which of these is {adverb}{words}?",
                f"What is {adverb}{words}?",
                f"Choose the {head} that is {adverb}{words}.",
            )
        )
    clause = third_person(words) if kind == "do" else f"{kind} {words}"
    return rng.choice(
        (
            f"Which {head} {clause}?",
            f"Which {head} {clause}?",
            f"Which of these {clause}?",
            f"What {clause}?",
            f"Find the {head} that {clause}.",
        )
    )


def _distractors(key: str, prop: Property, count: int, rng: random.Random) -> list[str]:
    false = set(prop.no)
    out: list[str] = []
    if rng.random() < 0.4:
        close = [n for n in _NEIGHBOURS[key] if n in false]
        out += rng.sample(close, min(len(close), 1))
    if rng.random() < 0.5:  # things that belong to the same scene make the harder distractors
        other = rng.choice(PROPERTIES)
        near = [t for t in other.yes if t in false and t not in out]
        out += rng.sample(near, min(len(near), rng.randint(1, 3), count - len(out)))
    rest = [t for t in prop.no if t not in out]
    return out + rng.sample(rest, count - len(out))


def _user_text(question: str, options: list[str], rng: random.Random) -> str:
    plain = rng.random() < 0.75
    if plain:
        return f"{INSTRUCTION}\n{question} ({', '.join(options)})"
    listed = rng.choice(
        (
            f"{question} ({', '.join(options)})",
            f"{question} Options: {', '.join(options)}",
            f"{question}\n{', '.join(options)}",
            f"{', '.join(options[:-1])} or {options[-1]}: {question}",
        )
    )
    instruction = rng.choice((INSTRUCTION, *_OTHER_INSTRUCTIONS, "", ""))
    return f"{instruction}\n{listed}".lstrip("\n")


def generate(rng: random.Random, split: Split = "train") -> Turn:
    """Draw one choice item; the place of the key among the options is uniform."""
    while True:
        prop = rng.choice(PROPERTIES)
        kind, words = rng.choice(prop.phrases)
        question, key = _question(prop, kind, words, rng), rng.choice(prop.yes)
        if not in_split(question, split, one_in=12):
            continue
        size = 6 if rng.random() < 0.7 else rng.randint(2, 7)
        options = _distractors(key, prop, size - 1, rng)
        rng.shuffle(options)
        options.insert(rng.randrange(size), key)
        text = _user_text(question, options, rng)
        return Turn("choice", text, key, question, tuple(options))
