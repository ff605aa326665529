"""A store of known content: every response with the values of its keys and whether it is right."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path

from tabwb.administer.session.plan import plan_trials
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding
from tabwb.records.ratings import Declaration, Rating, valued
from tabwb.records.speakers import Speaker
from tabwb.records.states import AttemptState, Protocol, ResponseStatus, StopReason
from tabwb.records.trials import (
    Attempt,
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    RatingsEntry,
)
from tabwb.store.store import Store

FEATURES = ("anomia", "jargon", "retracing")
LLAMA = "transformers:meta/L-1B"
LABELS = {"family": "L", "tuning": "base", "parameters": "1000"}
SAMPLED = Decoding(temperature=0.7, seed=1)
GIVEN = (
    Conditions(LLAMA, "model", 1, 2, decoding=SAMPLED, labels={**LABELS, "profile": "small"}),
    Conditions(f"{LLAMA}@threads=2", "model", 2, decoding=replace(SAMPLED, seed=2)),
    Conditions(f"{LLAMA}@dtype=float16", "model", 1, decoding=SAMPLED),
    Conditions("openai:gpt", "model", 1, decoding=replace(SAMPLED, temperature=1.0)),
    Conditions("openai:gpt", "model", 3, decoding=SAMPLED, option_order="shuffled"),
    Conditions("openai:gpt", "model", 3, decoding=SAMPLED, lesion="noise:mlp@severity=0.5"),
    Conditions("openai:gpt", "model", 3, decoding=SAMPLED, protocol=Protocol.ENFORCED),
    Conditions("S-01", "speaker", session_date="2026-01-05", research_protocol="P1", judges=()),
    Conditions("S-02", "speaker", session_date="2026-02-05", research_protocol="P1", judges=()),
    Conditions("S-01", "speaker", session_date="2026-03-05", research_protocol="P1", judges=()),
)
GROUPS = {"S-01": "patients", "S-02": "controls"}


@dataclass(frozen=True)
class Known:
    """One response."""

    administration: int
    session: str
    conditions: Conditions
    subtest: str
    item: str
    tags: tuple[str, ...]
    replicate: int
    right: bool | None
    present: frozenset[str] | None


@cache
def tab() -> Battery:
    return load_battery(Path(str(resources.files("tabwb_batteries"))) / "tab" / "battery.toml")


def fill(store: Store, seed: int = 0) -> list[Known]:
    """Give the battery under all of :data:`GIVEN`, one item in ten unanswered."""
    drawn = random.Random(seed)
    store.keep_battery(tab(), {})
    for speaker, group in GROUPS.items():
        store.people.keep_speaker(Speaker(speaker, {"group": group}))
    known: list[Known] = []
    for conditions in GIVEN:
        plan = plan_trials(tab(), conditions)
        made = store.create_administration(tab(), conditions, plan, {"tabwb": "0"})
        number = made.id
        entries: list[Entry] = [
            EventEntry("model-opened", None, '{"revision":"r1"}'),
            DeclarationEntry(Declaration("rules-2", FEATURES)),
        ]
        for trial in plan:
            if drawn.random() < 0.1:
                continue
            text = f"We saw {number} and {trial.number} of them at the lake."
            attempt = Attempt(
                1, text, AttemptState.OK, ResponseStatus.OK, StopReason.END, 0.5,
                metadata={"seed": str(number * 1000 + trial.number)},
            )  # fmt: skip
            entries.append(AttemptEntry(trial.number, attempt))
            subtest = tab().subtest(trial.subtest)
            right, present = None, None
            ratings: list[Rating]
            if subtest.task.connected:
                present = frozenset(name for name in FEATURES if drawn.random() < 0.3)
                ratings = [valued("rules-2", name, float(name in present)) for name in FEATURES]
            else:
                right = drawn.random() < 0.6
                ratings = [
                    valued(subtest.scorers[0], policy, float(right))
                    for policy in ("exact", "normalised", "extracted")
                ]
            entries.append(RatingsEntry(trial.number, 1, tuple(ratings)))
            tags = tuple(subtest.item(trial.item).tags)
            known.append(
                Known(
                    number, made.session_date, conditions, trial.subtest, trial.item, tags,
                    trial.replicate, right, present,
                )
            )  # fmt: skip
        store.append(number, entries)
    return known
