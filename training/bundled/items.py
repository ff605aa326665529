"""The items of the evaluation: the battery's twenty and held-out items of each task."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.bundled import choice, repetition, stories, tab_items, yes_no
from training.bundled.corpus import normalise
from training.bundled.turns import Task, Turn

BATTERY = Path(__file__).parents[2] / "batteries" / "tab" / "battery.toml"


@dataclass(frozen=True)
class Item:
    """One message of the user; ``expected`` is empty for connected text."""

    group: str
    task: Task
    user: str
    expected: str


_RESPONSES: dict[str, Task] = {
    "connected-text": "connected",
    "choice": "choice",
    "yes-no": "yes_no",
    "verbatim": "repetition",
}
TAB_GROUPS: dict[Task, str] = {
    "connected": "connected text",
    "choice": "word comprehension",
    "yes_no": "sentence comprehension",
    "repetition": "repetition",
}


def _read_battery(path: Path) -> list[Item]:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    items = []
    for subtest in data["subtest"]:
        task = _RESPONSES[subtest["response"]]
        for entry in subtest["item"]:
            values: dict[str, Any] = {
                "instructions": subtest["instructions"]["text"],
                "prompt": entry["prompt"],
                "options": ", ".join(entry.get("options", ())),
            }
            user = subtest["template"].format_map(values)
            items.append(Item(TAB_GROUPS[task], task, user, entry.get("expected", "")))
    return items


def _items_as_printed() -> list[Item]:
    rows: list[tuple[Task, str, str]] = []
    rows += [("connected", f"{stories.INSTRUCTION}\n{p}", "") for p in tab_items.CONNECTED]
    rows += [
        ("choice", f"{choice.INSTRUCTION}\n{q} ({o})", o.split(", ")[0])
        for q, o in tab_items.CHOICE
    ]
    rows += [("yes_no", f"{yes_no.INSTRUCTION}\n{q}", a) for q, a in tab_items.YES_NO]
    rows += [
        ("repetition", f"{repetition.INSTRUCTION}\nPlease repeat exactly: {t}", t)
        for t in tab_items.REPETITION
    ]
    return [Item(TAB_GROUPS[task], task, user, expected) for task, user, expected in rows]


def battery_items(path: Path = BATTERY) -> list[Item]:
    """Read the twenty items from the battery file, or take them as printed if it is missing."""
    return _read_battery(path) if path.exists() else _items_as_printed()


def _collect(group: str, count: int, draw: Callable[[], Turn | None]) -> list[Item]:
    seen: set[str] = set()
    out: list[Item] = []
    battery = [normalise(item.user.partition("\n")[2]) for item in battery_items()]
    while len(out) < count:
        turn = draw()
        if turn is None or turn.user in seen or normalise(turn.user) in battery:
            continue
        seen.add(turn.user)
        out.append(Item(group, turn.task, turn.user, turn.assistant))
    return out


def _in_battery_form(target: str) -> Turn:
    user = f"{repetition.INSTRUCTION}\nPlease repeat exactly: {target}"
    return Turn("repetition", user, target)


def held_out_items(count: int, seed: int = 7) -> list[Item]:
    """Draw ``count`` items of each group whose words, sentences or questions are held out.

    Repetition comes in the battery's form; for the others any form that training uses.
    """
    rng = random.Random(seed)

    def sentence(shortest: int, longest: int) -> Turn | None:
        text = repetition.sentence(rng, "held", longest=longest)
        if not repetition.is_held_out(text) or not shortest <= len(text.split()) <= longest:
            return None
        return _in_battery_form(text)

    def word() -> Turn | None:
        text = repetition.word(rng, "held")
        return _in_battery_form(text)

    return [
        *_collect("repetition: words", count, word),
        *_collect("repetition: sentences of 3-10 words", count, lambda: sentence(3, 10)),
        *_collect("repetition: sentences of 11-14 words", count, lambda: sentence(11, 14)),
        *_collect("choice", count, lambda: choice.generate(rng, "held")),
        *_collect("yes/no", count, lambda: yes_no.generate(rng, "held")),
    ]


def held_out_families(count: int, seed: int = 8) -> list[Item]:
    """Draw ``count`` held-out yes/no questions of each family."""
    rng = random.Random(seed)
    items: list[Item] = []
    for name in yes_no.FAMILIES:

        def draw(name: str = name) -> Turn:
            return yes_no.generate(rng, "held", name)

        items += _collect(f"yes/no: {name}", count, draw)
    return items


def held_out_prompts(count: int, seed: int = 7) -> list[tuple[str, Item]]:
    """Draw prompts for connected text that training never saw, each with its topic's name."""
    rng = random.Random(seed)
    out: dict[str, tuple[str, Item]] = {}
    while len(out) < count:
        topic, turn = stories.draw(rng, "held")
        out[turn.question] = (topic, Item("connected text", "connected", turn.user, ""))
    return list(out.values())
