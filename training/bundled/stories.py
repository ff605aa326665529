"""Connected text: three to five sentences that fit the prompt and describe one scene."""

from __future__ import annotations

import random
import re

from training.bundled.tables import Table
from training.bundled.topics import TOPICS, Scene, Topic
from training.bundled.turns import Turn
from training.bundled.words import NAMES, Split, capitalise, in_split

INSTRUCTION = "Respond to the following prompt in 3–5 full sentences:"
_OTHER_INSTRUCTIONS = (
    "Respond to the following prompt in 3-5 full sentences:",
    "Answer in three to five sentences.",
    "Write a few full sentences.",
    "Please answer in full sentences.",
)
_FRAMES = (
    "Tell me about {}.",
    "Tell me about {}.",
    "Tell me about {}.",
    "Describe {}.",
    "Describe {}.",
    "Talk about {}.",
    "Say something about {}.",
    "Can you tell me about {}?",
    "I would like to hear about {}.",
    "What can you tell me about {}?",
    "Write about {}.",
)
_TABLE = Table("stories")
_SHARED: dict[str, tuple[str, ...]] = {
    "relative": _TABLE.lines("relatives"),
    "feeling": _TABLE.words("feelings"),
    "season": ("spring", "summer", "autumn", "winter"),
    "age": ("five", "six", "seven", "eight", "nine", "ten"),
    "teen": ("sixteen", "seventeen", "eighteen"),
    "years": ("three", "five", "seven", "ten", "twenty"),
    "hour": ("six", "half past six", "seven", "half past seven"),
    "friend": NAMES,
    "petname": _TABLE.words("pet names"),
    "bought": ("a red bike", "a new coat", "a present for my mother", "a radio", "a good camera"),
    "mealtime": ("lunch", "dinner", "supper"),
    "weekend_day": ("Saturday", "Sunday"),
    "weekday": ("Sunday", "Saturday"),
}


def _complete(scene: Scene, rng: random.Random) -> Scene:
    """Add the shared slots and the forms that depend on their place in the sentence."""
    values = {name: rng.choice(pool) for name, pool in _SHARED.items()} | scene
    for name in list(values):
        values[f"{name}_cap"] = capitalise(values[name])
        values[f"{name}_lower"] = values[name][:1].lower() + values[name][1:]
    for name, lower in (("hard", "hard_lower"), ("trouble", "trouble_lower")):
        if values.get(name, "").startswith("I "):
            values[lower] = values[name]
    values["Dish_cap"] = values.get("dish_cap", "")
    values["best_noun"] = values.get("best", "").removeprefix("that ")
    if values["best_noun"] != values.get("best", ""):
        values["best_noun"] = "this very much"
    return values


def _tell(topic: Topic, values: Scene, rng: random.Random) -> str:
    dropped = {i for i in topic.optional if rng.random() < 0.4}
    while len(topic.stages) - len(dropped) < 3:
        dropped.pop()
    while len(topic.stages) - len(dropped) > 5:
        dropped.add(rng.choice([i for i in topic.optional if i not in dropped]))
    told = []
    for i, stage in enumerate(topic.stages):
        if i not in dropped:
            told.append(capitalise(rng.choice(stage).format_map(values)))
    return " ".join(told)


def _prompt(topic: Topic, values: Scene, rng: random.Random) -> str:
    if rng.random() < 0.3:
        return rng.choice(topic.prompts).format_map(values)
    return rng.choice(_FRAMES).format(rng.choice(topic.subjects).format_map(values))


def draw(rng: random.Random, split: Split = "train") -> tuple[str, Turn]:
    """Draw one prompt with its text, and name the topic."""
    while True:
        topic = rng.choice(TOPICS)
        values = _complete(rng.choice(topic.scenes), rng)
        prompt = _prompt(topic, values, rng)
        if in_split(prompt, split):
            break
    text = _tell(topic, values, rng)
    style = rng.random()
    instruction = INSTRUCTION
    if style > 0.78:
        instruction = rng.choice((*_OTHER_INSTRUCTIONS, "", "", ""))
    turn = Turn("connected", f"{instruction}\n{prompt}".lstrip("\n"), text, prompt)
    return topic.name, turn


def generate(rng: random.Random, split: Split = "train") -> Turn:
    """Draw one prompt with its text."""
    return draw(rng, split)[1]


_SENTENCE = re.compile(r"(?<=[.!?])(?<!Mr\.)(?<!Mrs\.) (?=[A-Z])")


def sentences(text: str) -> list[str]:
    """Split a text into its sentences."""
    return [s for s in _SENTENCE.split(text.strip()) if s]


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{\w+\}", template)
    return re.compile(".+".join(re.escape(p) for p in parts), re.IGNORECASE)


def topics_of(text: str) -> frozenset[str]:
    """Name the topics whose opening sentences the first sentence of ``text`` could be.

    >>> topics_of("Every morning at six I feed the cat.") == {"morning"}
    True
    """
    first = sentences(text)[0] if text.strip() else ""
    return frozenset(
        topic.name for topic in TOPICS if any(_pattern(t).fullmatch(first) for t in topic.stages[0])
    )
