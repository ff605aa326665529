"""The training text as a stream of conversations, and the check that excludes the battery."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from training.bundled import choice, facts, repetition, small_talk, stories, yes_no
from training.bundled.tab_items import TAB_OPTIONS, TAB_PROMPTS, TAB_TARGETS
from training.bundled.turns import Conversation, Turn
from training.bundled.words import HELD_OUT_WORDS

SYSTEM = "This is a conversation in everyday English. Reply to each message directly."
_OTHER_SYSTEMS = (
    "You are a friendly conversation partner.",
    "Reply in everyday English.",
    "Answer each message.",
)


class LeakedItemError(ValueError):
    """A part of the battery, or a held-out word, is in the training text."""


@dataclass(frozen=True)
class Mixture:
    """Shares of the tasks, and how conversations are built from them.

    ``drill`` is the share of conversations with copying only; ``quiz`` is the share of
    those with a series of questions without system message and instructions: one answer in twenty
    tokens instead of one in eighty.
    """

    connected: float = 0.16
    choice: float = 0.27
    yes_no: float = 0.27
    repetition: float = 0.29
    small_talk: float = 0.01
    single_turn: float = 0.5
    longest: int = 6
    drill: float = 0.0
    quiz: float = 0.0


COPYING_FIRST = Mixture(
    connected=0.06, choice=0.12, yes_no=0.1, repetition=0.72, small_talk=0.0, drill=0.8
)
MIXED = Mixture(drill=0.04)
QUESTIONS_FIRST = replace(MIXED, drill=0.0, quiz=0.5)
QUESTIONS_TOO = replace(MIXED, connected=0.22, repetition=0.23, drill=0.02, quiz=0.2)
LONG = Mixture(single_turn=0.0, longest=20)


def normalise(text: str) -> str:
    """Normalise case, white space, apostrophes and dashes, so that every leak is detected.

    >>> normalise("  The  Sun’s up – now ")
    "the sun's up - now"
    """
    text = text.lower().replace("’", "'").replace("‘", "'").replace("–", "-")
    return re.sub(r"\s+", " ", text).strip()


_PROMPTS = tuple(normalise(p) for p in TAB_PROMPTS)
_TARGETS = tuple(normalise(t) for t in TAB_TARGETS)
_BARE_TARGETS = frozenset(t.rstrip(".") for t in _TARGETS)
_OPTION_SETS = frozenset(frozenset(options) for options in TAB_OPTIONS)
_HELD_OUT = re.compile(r"\b(?:" + "|".join(HELD_OUT_WORDS) + r")\b")


def assert_no_battery_item(turn: Turn) -> None:
    """Raise `LeakedItemError` if ``turn`` has an item of the battery or a held-out word.

    Held out are: every prompt, every target sentence anywhere, every target as the answer of a
    repetition with or without its stop, every set of options, and the held-out words.
    """
    text = normalise(f"{turn.user}\n{turn.assistant}")
    for prompt in _PROMPTS:
        if prompt in text:
            raise LeakedItemError(f"battery prompt in the training text: {prompt!r}")
    for target in _TARGETS:
        if " " in target and target.rstrip(".") in text:
            raise LeakedItemError(f"battery target in the training text: {target!r}")
    if turn.task == "repetition" and normalise(turn.assistant).rstrip(".!?,;: ") in _BARE_TARGETS:
        raise LeakedItemError(f"battery target as a repetition: {turn.assistant!r}")
    if frozenset(turn.options) in _OPTION_SETS:
        raise LeakedItemError(f"battery options in the training text: {turn.options!r}")
    if found := _HELD_OUT.search(text):
        raise LeakedItemError(f"held-out word in the training text: {found.group()!r}")


def draw_turn(rng: random.Random, mixture: Mixture) -> Turn:
    """Draw one turn of the training text."""
    tasks = ("connected", "choice", "yes_no", "repetition", "small_talk")
    weights = [getattr(mixture, task) for task in tasks]
    makers = {
        "connected": stories.generate,
        "choice": choice.generate,
        "yes_no": yes_no.generate,
        "repetition": repetition.generate,
        "small_talk": small_talk.generate,
    }
    return draw_clean(lambda: makers[rng.choices(tasks, weights)[0]](rng))


def draw_clean(make: Callable[[], Turn]) -> Turn:
    """Call ``make`` until its turn has no held-out material."""
    while True:
        turn = make()
        try:
            assert_no_battery_item(turn)
        except LeakedItemError:
            continue
        return turn


def draw_conversation(rng: random.Random, mixture: Mixture) -> Conversation:
    """Draw a conversation, mostly under the battery's own system message."""
    if rng.random() < mixture.drill:
        return Conversation(None, (repetition.drill(rng),))
    if rng.random() < mixture.quiz:
        return draw_quiz(rng)
    style = rng.random()
    system = SYSTEM if style < 0.8 else None if style < 0.95 else rng.choice(_OTHER_SYSTEMS)
    count = 1 if rng.random() < mixture.single_turn else rng.randint(2, mixture.longest)
    return Conversation(system, tuple(draw_turn(rng, mixture) for _ in range(count)))


def draw_quiz(rng: random.Random) -> Conversation:
    """Draw four to sixteen questions of one kind with their answers only."""
    kind = rng.random()

    def question() -> Turn:
        if kind < 0.35:
            return choice.generate(rng)
        if kind < 0.45:
            return facts.generate(rng)
        family = rng.choices(list(yes_no.PRACTICE), list(yes_no.PRACTICE.values()))[0]
        return yes_no.generate(rng, family=family)

    turns = (draw_clean(question) for _ in range(rng.randint(4, 16)))
    return Conversation(None, tuple(_without_instruction(turn) for turn in turns))


def _without_instruction(turn: Turn) -> Turn:
    for instruction in (choice.INSTRUCTION, yes_no.INSTRUCTION):
        if turn.user.startswith(instruction):
            return replace(turn, user=turn.user.removeprefix(instruction).lstrip())
    return turn


def assert_clean(conversations: Sequence[Conversation]) -> None:
    """Check finished text once more, as it goes into training; see `assert_no_battery_item`."""
    for conversation in conversations:
        for turn in conversation.turns:
            assert_no_battery_item(turn)


def stream(seed: int, mixture: Mixture) -> Iterator[Conversation]:
    """Yield conversations without end; the same seed gives the same text."""
    rng = random.Random(seed)
    while True:
        yield draw_conversation(rng, mixture)
