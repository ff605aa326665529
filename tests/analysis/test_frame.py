"""Summaries over columns count what trials have, for stores of every kind."""

from __future__ import annotations

import json
import os
import random
from functools import partial
from importlib import resources
from pathlib import Path

import pytest

from tabwb.analysis.administrations import (
    AdministrationData,
    load_administrations,
    load_columns,
    outlines,
    with_columns,
)
from tabwb.analysis.contrast import members_compared
from tabwb.analysis.judges import disagreements, judge_report
from tabwb.analysis.statistics.summary import pool
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery
from tabwb.media.documents.contrasts import difference_json
from tabwb.media.documents.summary_json import summary_json
from tabwb.media.views.judges import judges_document
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding, Message
from tabwb.records.naming import TextSet, observation_to_json
from tabwb.records.ratings import Declaration, Judged, Judgement, Rating, valued
from tabwb.records.states import AttemptState, Protocol, RatingStatus, ResponseStatus, StopReason
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
from tests.analysis.recount import counts_of, recount
from tests.store.conftest import location  # noqa: F401 - a fixture

BATTERY = Path(str(resources.files("tabwb_batteries"))) / "tab" / "battery.toml"
TEXTS = ["", " ", "Yes", "No", "yes.", "It is a dog.", "we we we went", "I do not know.", "lion",
         "The boat was red and the lake was cold that day.", "Rain."]  # fmt: skip
SEEDS = range(5, 5 + int(os.environ.get("TABWB_TEST_STORES", "4")))
"""Some of the first four repeat draws; more stores with ``TABWB_TEST_STORES``."""


class Made:
    """A store with administrations drawn by a seeded generator."""

    given: Conditions

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.random = random.Random(seed)
        self.battery: Battery = load_battery(BATTERY)
        self.features = [feature.id for feature in self.battery.features]
        store.keep_battery(self.battery, {})
        self.drawn: dict[tuple[str, int, int], tuple[str, dict[str, str]]] = {}

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def conditions(self) -> Conditions:
        greedy = self.often(0.4)
        if self.often(0.15):
            return Conditions(self.random.choice(["S-1", "S-2"]), "speaker", judges=())
        return Conditions(
            self.random.choice(["bundled", "echo", "transformers:m@threads=2", "replay:a.jsonl"]),
            "model",
            seed := self.random.choice([0, 1]),
            decoding=Decoding(temperature=0.0 if greedy else 1.0, seed=seed),
            protocol=self.random.choice(list(Protocol)),
            origin="model" if self.often(0.1) else None,
        )

    def administration(self) -> None:
        # One in two repeats the one before: with all of its draws, or with most of them.
        self.repeats = self.random.choice([0.0, 0.0, 0.95, 1.0]) if self.drawn else 0.0
        conditions = self.given if self.repeats else self.conditions()
        self.given, self.before, self.drawn = conditions, self.drawn, {}
        items = [(subtest, item) for subtest in self.battery.subtests for item in subtest.items]
        replicates = self.random.choice([1, 1, 3])
        plan = [
            PlannedTrial(
                number, subtest.id, item.id, replicate,
                tuple(self.random.sample(item.options, len(item.options))),
                f"{item.prompt}", self.often(0.03),
            )
            for number, (replicate, (subtest, item)) in enumerate(
                ((replicate, pair) for replicate in range(replicates) for pair in items), 1
            )
        ]  # fmt: skip
        made = self.store.create_administration(self.battery, conditions, plan, {"tabwb": "0"})
        self.declared = [
            Declaration("rules-2", tuple(self.features[:7]), caution="only words"),
            Declaration("all:x", tuple(self.features[3:]), scope="all", prompt_text="Judge."),
            Declaration("plain", (), kind="judge"),
            Declaration(
                "repetition",
                (),
                kind="scorer",
                measures={"exact": "share", "close": "verdict", "normalised": "verdict"},
            ),
        ]
        declared = [one for one in self.declared if self.often(0.6)]
        entries: list[Entry] = []
        self.steps = 0
        self.legacy = self.often(0.2)
        self.answers = self.random.choice([0.0, 0.02, 0.9, 0.9, 0.9])
        self.rated = self.random.choice([0.0, 1.0, 1.0, 1.0])
        judged: list[Judged] = []
        for trial in plan:
            if self.often(self.answers):
                entries += self.answered(trial, made.id, judged)
        entries += [DeclarationEntry(one) for one in declared]
        if self.often(0.5):
            entries += [EventEntry("noted", None, "a note"), EventEntry("finished")]
        self.store.append(made.id, entries)
        if judged:
            self.store.keep_judgements(made.id, judged)

    def answered(self, trial: PlannedTrial, number: int, judged: list[Judged]) -> list[Entry]:
        entries: list[Entry] = []

        def step(entry: Entry) -> int:
            entries.append(entry)
            self.steps += 1
            return self.steps

        subtest = self.battery.subtest(trial.subtest)
        for attempt in range(1, self.random.choice([1, 1, 1, 1, 2]) + 1):
            state = AttemptState.ERROR if self.often(0.04) else AttemptState.OK
            text = self.random.choice(
                [*TEXTS, *trial.options, subtest.item(trial.item).expected or "x"]
            )
            status = self.random.choice([ResponseStatus.OK] * 12 + [*ResponseStatus])
            at = step(AttemptEntry(trial.number, self.attempt(trial, attempt, text, state, status)))
            if state is AttemptState.ERROR:
                continue
            given = self.ratings(subtest.scorers, subtest.task.connected)
            if given and self.often(self.rated):
                entries.append(RatingsEntry(trial.number, attempt, tuple(given)))
            if self.often(0.1):
                again = self.ratings(subtest.scorers, subtest.task.connected)
                if again:
                    entries.append(RatingsEntry(trial.number, attempt, tuple(again)))
            if subtest.task.connected and self.often(0.3):
                judged.append(self.judgement(trial.number, attempt))
            if self.often(0.03):
                event = step(
                    EventEntry(self.random.choice(["voided", "skipped"]), trial.number, "why")
                )
                if self.often(0.4):
                    step(EventEntry("undone", trial.number, "", event))
            if self.often(0.02):
                step(EventEntry("undone", trial.number, "", at))
            if self.often(0.02):
                written = TextSet(attempt, "I wrote it.", "ok", "person:R1")
                step(EventEntry("observed", trial.number, observation_to_json(written)))
        return entries

    def attempt(
        self, trial: PlannedTrial, number: int, text: str, state: AttemptState,
        status: ResponseStatus,
    ) -> Attempt:  # fmt: skip
        metadata: dict[str, str] = {}
        place = trial.item, trial.replicate, number
        if place in self.before and self.often(self.repeats):
            text, metadata = self.before[place]
        elif not self.legacy:
            metadata["seed"] = str(self.random.choice([0, 10**9]) + 10 * trial.number + number)
        for name, values in {
            "protocol": [one.value for one in Protocol], "sampled": ["no", "yes"],
            "batch_exact": ["no", "yes"], "cause": ["max_tokens", "silence"],
            "replayed_sampled": ["yes"], "replayed_line": ["1", "2"],
            "replayed_administration": ["u1", ""],
        }.items():  # fmt: skip
            if place not in self.before and self.often(0.08):
                metadata[name] = self.random.choice(values)
        messages = () if trial.number % 5 == 0 else (Message("user", trial.prompt),)
        self.drawn[place] = text, metadata
        failed = state is AttemptState.ERROR
        return Attempt(
            number, "" if failed else text, state, None if failed or self.often(0.05) else status,
            StopReason.ERROR if failed else StopReason.END, 0.5, messages,
            "no connection" if failed else "", metadata, "2026-05-01T12:00:00.000+00:00",
        )  # fmt: skip

    def ratings(self, scorers: tuple[str, ...], connected: bool) -> list[Rating]:
        given: list[Rating] = []
        for scorer in scorers:
            if self.often(0.9):
                given += [
                    self.rating(scorer, measure, ["", "lion", "lion (foil: semantic)", "no option",
                                                  "ambiguous: a, b", "other"])
                    for measure in ("exact", "normalised", "extracted", "words", "mattr", "close")
                ]  # fmt: skip
        sets = {"rules-2": self.features[:7], "old": self.features[:4], "all:x": self.features[3:],
                "plain": ["fluency", "rate"]}  # fmt: skip
        for rater, features in sets.items():
            if self.often(0.7) and (connected or self.often(0.3)):
                given += [
                    self.rating(rater, feature, ["", "refused: so", "too short"])
                    for feature in features
                    if not self.often(0.01)
                ]
        return given

    def rating(self, rater: str, measure: str, reasons: list[str]) -> Rating:
        reason = self.random.choice(reasons)
        if self.often(0.02):
            failures = [RatingStatus.UNDEFINED, RatingStatus.UNPARSED, RatingStatus.ERROR]
            return Rating(rater, measure, None, self.random.choice(failures), reason)
        value = self.random.choice([0.0, 1.0])
        if measure in ("words", "mattr", "fluency", "rate"):
            value = self.random.choice([0.1, 0.7, 3.0, 40.0, 80.0])
        return valued(rater, measure, value, reason)

    def judgement(self, trial: int, attempt: int) -> Judged:
        features = self.features[3:]
        call = Judgement(
            tuple(valued("all:x", feature, self.often(0.2)) for feature in features),
            rater="all:x", key="00" * 32, raw="raw",
            prompt_text=self.random.choice(["Judge.", "Judge well."]),
            stop_reason=StopReason.END,
        )  # fmt: skip
        return Judged(trial, attempt, call)


@pytest.mark.parametrize("seed", SEEDS)
def test_summaries_count_what_the_trials_have(
    seed: int,
    location: str,  # noqa: F811
) -> None:
    with Store.open(location) as store:
        made = Made(store, seed)
        for _ in range(made.random.choice([1, 3, 5])):
            made.administration()
        columns, objects = load_columns(store), load_administrations(store)
        places = list(range(len(objects)))
        for members in [*([place] for place in places), places, places[::2]]:
            read, trials = ([data[at] for at in members] for data in (columns, objects))
            found = pool(read, interval=True)
            assert counts_of(found) == recount(trials)
            printed = json.dumps(summary_json(found))
            kept = load_columns(store, [objects[at].administration.id for at in members])
            assert json.dumps(summary_json(pool(kept, interval=True))) == printed
            assert json.dumps(summary_json(pool(trials, interval=True))) == printed
        for before, after in zip(objects, columns, strict=True):
            assert before.model_facts == after.model_facts
            assert before.notes == after.notes
            assert before.declarations == after.declarations


def explained(feature: str, store: Store, side: list[int]) -> tuple[AdministrationData, ...]:
    return with_columns(store, outlines(store, side), explained=[feature])


@pytest.mark.parametrize("seed", SEEDS)
def test_comparisons_read_the_same_from_columns_and_trials(
    seed: int,
    location: str,  # noqa: F811
) -> None:
    with Store.open(location) as store:
        made = Made(store, seed)
        for _ in range(3):
            made.administration()
        feature = made.features[4]
        said = []
        for read in (partial(explained, feature), load_administrations):
            first, second = (read(store, side) for side in ([1], [2, 3]))
            compared = difference_json(members_compared(first, second, ("A", "B")))
            judges = judges_document(judge_report([("", second)]))
            said.append((json.dumps([compared, judges]), disagreements(second, feature)))
        assert said[0] == said[1]
