"""Fill a store with the responses of a large study (see ``--help``).

The responses are numbered sentences, the ratings are drawn from a seeded generator. Both are stored
with ``Store.append``, a whole administration in one commit.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from importlib import resources
from pathlib import Path

from tabwb.battery.loader import battery_from_canonical, load_battery
from tabwb.battery.model import Battery
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Message
from tabwb.records.ratings import Declaration, Rating, valued
from tabwb.records.states import AttemptState, ResponseStatus, StopReason
from tabwb.records.trials import (
    Attempt,
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    PlannedTrial,
    RatingsEntry,
)
from tabwb.store.store import Store

RESPONSES, MEASURES = 112_000, 19
"""The numbers of responses and features in TAB, section 6."""


def fill(
    store: Store, *, responses: int = RESPONSES, measures: int = MEASURES, trials: int = 20
) -> None:
    """Add administrations of ``trials`` trials each up to the number of rated responses."""
    generator = random.Random(1)
    battery = _battery()
    features = [feature.id for feature in battery.features]
    declaration = Declaration("tab-2026:replay", tuple(features[:measures]))
    store.keep_battery(battery, {})
    for first in range(0, responses, trials):
        n = min(trials, responses - first)
        conditions = Conditions(f"replay:model-{first % 7}.jsonl", "model", seed=first)
        plan = tuple(_planned(number) for number in range(1, n + 1))
        administration = store.create_administration(battery, conditions, plan, {"tabwb": "0"})
        entries: list[Entry] = []
        for planned in plan:
            entries += _answered(planned, first + planned.number, declaration, generator)
        entries += [EventEntry("finished"), DeclarationEntry(declaration)]
        store.append(administration.id, entries)


def _battery() -> Battery:
    """Return a battery with TAB's features and twenty prompts for connected text."""
    tab = Path(str(resources.files("tabwb_batteries"))) / "tab" / "battery.toml"
    tables = json.loads(load_battery(tab).canonical)
    tables["battery"] |= {"id": "filler", "title": "Filler"}
    items = [{"id": f"item-{n}", "prompt": f"Please say sentence {n}."} for n in range(1, 21)]
    texts = {"id": "connected-text", "title": "Text", "response": "connected-text"}
    tables["subtest"] = [texts | {"item": items}]
    return battery_from_canonical(json.dumps(tables, sort_keys=True))


def _planned(number: int) -> PlannedTrial:
    item = (number - 1) % 20 + 1
    prompt = f"Please say sentence {item}."
    return PlannedTrial(
        number, "connected-text", f"item-{item}", (number - 1) // 20, (), prompt, practice=False
    )


def _answered(
    planned: PlannedTrial, number: int, declaration: Declaration, generator: random.Random
) -> Sequence[Entry]:
    attempt = Attempt(
        number=1,
        response=f"This is sentence {number}, and it goes on for a while as sentences do.",
        state=AttemptState.OK,
        status=ResponseStatus.OK,
        stop_reason=StopReason.END,
        latency_s=generator.random(),
        messages=(Message("user", planned.prompt),),
        metadata={"reply_tokens": "17"},
        recorded_at="2026-05-01T12:00:00.000+00:00",
    )
    ratings: tuple[Rating, ...] = tuple(
        valued(declaration.rater, feature, generator.random() < 0.1)
        for feature in declaration.features
    )
    return (
        EventEntry("trial-started", planned.number),
        AttemptEntry(planned.number, attempt),
        RatingsEntry(planned.number, 1, ratings),
    )


def table_sizes(path: Path) -> dict[str, int]:
    """Return the bytes of each table with its indexes; empty if SQLite has no ``dbstat``."""
    with closing(sqlite3.connect(path)) as connection:
        try:
            return dict(
                connection.execute(
                    "SELECT tbl_name, sum(pgsize) FROM dbstat"
                    " JOIN sqlite_master ON sqlite_master.name = dbstat.name GROUP BY 1"
                ).fetchall()
            )
        except sqlite3.OperationalError:
            return {}


def main() -> None:
    """Fill the named store and print times and sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="an SQLite file; created if it does not exist")
    parser.add_argument("--responses", type=int, default=RESPONSES)
    parser.add_argument("--measures", type=int, default=MEASURES)
    parser.add_argument("--trials", type=int, default=20, help="in each administration")
    asked = parser.parse_args()
    with Store.open(asked.path) as store:
        began = time.perf_counter()
        fill(store, responses=asked.responses, measures=asked.measures, trials=asked.trials)
        sys.stdout.write(f"filled in {time.perf_counter() - began:.1f} s\n")
    with Store.open(asked.path) as store:
        began = time.perf_counter()
        n = len(store.administrations())
        sys.stdout.write(f"{n} administrations listed in {time.perf_counter() - began:.3f} s\n")
        began = time.perf_counter()
        n = len(store.trials(1))
        sys.stdout.write(f"{n} trials read in {time.perf_counter() - began:.3f} s\n")
    for table, size in sorted(table_sizes(asked.path).items(), key=lambda pair: -pair[1]):
        sys.stdout.write(f"{table:<20} {size / 1e6:8.1f} MB\n")


if __name__ == "__main__":
    main()
