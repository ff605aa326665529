"""Open questions about the tables: who does what, and with which tool.

A yes/no answer teaches one bit; the same fact as an open answer teaches the words.
"""

from __future__ import annotations

import random

from training.bundled.turns import Turn
from training.bundled.words import capitalise
from training.bundled.yes_no import ROLES, TASKS


def generate(rng: random.Random) -> Turn:
    """Draw one open question with its short answer."""
    if rng.random() < 0.75:
        task, right, _ = rng.choice(TASKS)
        tool = rng.choice(right.split(", "))
        question = rng.choice((f"What do you {task} with?", f"What do you use to {task}?"))
        return Turn("small_talk", question, f"{capitalise(tool)}.", question)
    agents, participle, verb, patients = rng.choice(ROLES)
    if rng.random() < 0.5:
        question, answer = f"By whom are {patients} {participle}?", f"By {agents}."
    else:
        question, answer = f"Who {verb} {patients}?", f"{capitalise(agents)}."
    return Turn("small_talk", question, answer, question)
