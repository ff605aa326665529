"""Summaries over columns count what trials have, for stores of every kind."""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace
from functools import partial
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from tabwb.analysis.administrations import (
    AdministrationData,
    load_administrations,
    load_columns,
    outlines,
    with_columns,
)
from tabwb.analysis.agreement import Choices, agreement_of
from tabwb.analysis.contrast import members_compared
from tabwb.analysis.grouping import grouped
from tabwb.analysis.judges import disagreements, judge_report
from tabwb.analysis.keys import Value, key_of
from tabwb.analysis.ratings import Gathered, read_ratings
from tabwb.analysis.statistics.naming import heard_in
from tabwb.analysis.statistics.summary import pool
from tabwb.analysis.stored_ratings import gather_heard, rated_administrations, rated_set
from tabwb.battery.forms import Form, Question
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery
from tabwb.media.documents.contrasts import difference_json
from tabwb.media.documents.document import summary_json
from tabwb.media.views.judges import judges_document
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.exchange import Decoding, Message
from tabwb.records.naming import (
    Coded,
    Heard,
    Observation,
    Scored,
    TextSet,
    Transcribed,
    observation_to_json,
)
from tabwb.records.rating_sets import CANNOT_TELL, Adjudication, Assignment, SampleRating
from tabwb.records.ratings import Declaration, Judged, Judgement, Rating, undefined, valued
from tabwb.records.states import (
    AttemptState,
    Protocol,
    RatingStatus,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import (
    Attempt,
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    PlannedTrial,
    RatingsEntry,
    Trial,
)
from tabwb.store.store import Store
from tests.administer.naming_parts import heard as transcript
from tests.administer.naming_parts import naming_battery
from tests.analysis.given import SAMPLED, data_of
from tests.analysis.rating_parts import HEAD, rated, written
from tests.analysis.recount import counts_of, recount
from tests.analysis.test_pairs import given, words
from tests.cli.conftest import ANSWERS, TAB
from tests.store import parts
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


RIGHT = words("lion", "boot", "knife")
JOINED = "mlp.up:zero:0.3@layers=0-2,seed=7+mlp.down:scale:0.3@layers=0-2,factor=0.5,seed=7"


@pytest.mark.parametrize(
    ("lesion", "key", "values"),
    [
        ("mlp.down:prune:0.3@layers=0-2,-1", "target", ("mlp.down",)),
        ("mlp.down:prune:0.3@layers=0-2,-1", "operation", ("zero",)),
        ("mlp.down:prune:0.3@layers=0-2,-1", "layers", ("0-2,-1",)),
        ("mlp.down:prune:0.3@layers=0-2,-1", "seed", ()),  # nothing is drawn
        ("mlp.down:zero:0.3", "layers", ("all",)),
        ("mlp.down:zero:0.3", "seed", (1,)),
        ("mlp.down:zero", "amount", (1.0,)),
        (JOINED, "target", ("mlp.up+mlp.down",)),
        (JOINED, "operation", ()),
        (JOINED, "amount", (0.3,)),
        (JOINED, "layers", ("0-2",)),
        (JOINED, "seed", (7,)),
        (JOINED, "kind", ("mlp.up:zero:*@layers=0-2+mlp.down:scale:*@layers=0-2,factor=0.5",)),
        ("attention.q:zero:0.1+attention.k:zero:0.2", "amount", ()),
        ("noise:mlp@severity=0.05,seed=4", "severity", (0.05,)),  # another tool's
        ("noise:mlp@severity=0.05,seed=4", "seed", (4.0,)),
        ("noise:mlp@severity=0.05,seed=4", "amount", ()),
        (None, "target", ()),
    ],
)
def test_a_key_is_what_joined_lesions_share(
    lesion: str | None, key: str, values: tuple[Value, ...]
) -> None:
    data = given(1, replace(SAMPLED, lesion=lesion), *RIGHT)
    assert key_of(f"lesion-{key}").values(data) == values


def members(by: str, *together: str) -> dict[str, list[int]]:
    lesions = ("mlp:zero:0.1@seed=1", "mlp:zero:0.1@seed=2", "mlp:zero:0.2@seed=1",
               "attention:zero:0.1@seed=1", None)  # fmt: skip
    chosen = [given(at, replace(SAMPLED, lesion=one), *RIGHT) for at, one in enumerate(lesions, 1)]
    groups = grouped(chosen, by, together=together)
    assert len({group.name for group in groups}) == len(groups)
    return {group.name: [one.administration.id for one in group.members] for group in groups}


def test_seeds_are_apart_unless_they_are_pooled_on_purpose() -> None:
    assert list(members("lesion-target,lesion-amount").values()) == [[1], [2], [3], [4], [5]]
    pooled = members("lesion-target,lesion-amount", "lesion-seed")
    assert list(pooled.values()) == [[1, 2], [3], [4], [5]]
    assert "mlp, lesion amount 0.1" in next(iter(pooled))
    # The seed alone is pooled over: other amounts of one target stay apart.
    assert list(members("lesion-target", "lesion-seed").values()) == [[1, 2], [3], [4], [5]]
    with pytest.raises(UsageError, match="lesion-amount"):
        members("model", "lesion-amount")  # keeps nothing apart


def test_the_role_parts_intact_lesioned_and_control() -> None:
    lesions = (None, "mlp:zero:0.1", "projections:zero:0.1")
    chosen = [given(at, replace(SAMPLED, lesion=one), *RIGHT) for at, one in enumerate(lesions, 1)]
    tagged = replace(chosen[2].administration, tags=("sweep", "control"))
    chosen[2] = replace(chosen[2], administration=tagged)
    groups = grouped(chosen, "lesion-role,lesion-target", together=("lesion",))
    labels = ["intact, no lesion target", "lesion, mlp", "control, projections"]
    assert [group.label for group in groups] == labels


def test_values_become_verdicts_and_everything_else_is_missing(tmp_path: Path) -> None:
    rows = [
        ("a", "R2", "jargon", "present"), ("a", "R10", "jargon", 0), ("b", "R2", "jargon", ""),
        ("b", "R10", "jargon", "cannot-tell"), ("a", "rules-2", "jargon", 1),
        ("a", "adjudicated", "jargon", 1),
    ]  # fmt: skip
    found = rated(tmp_path, rows)
    assert found.raters == ("R2", "R10", "rules-2") and found.judges == {"rules-2"}
    assert found.verdicts[..., 0].tolist() == [[1, -1], [0, -2], [1, -1]]
    assert found.adjudicated is not None and found.adjudicated[:, 0].tolist() == [1, -1]
    # A spreadsheet's file is read alike.
    path = tmp_path / "sheet.csv"
    path.write_bytes(
        "\ufeffrater;value;response;measure;remark\r\nR1;1;a;jargon;x\r\n;;;\r\nR2;0;a;jargon\r\n"
        .encode()
    )  # fmt: skip
    assert read_ratings(path).verdicts.tolist() == [[[1]], [[0]]]


def test_kinds_of_measures_follow_from_their_values(tmp_path: Path) -> None:
    rows = [
        ("a", "R1", "anomia", 3), ("a", "R1", "code", "semantic"), ("a", "R1", "jargon", 1),
        ("a", "R1", "phonemes", "D AO G"), ("a", "R1", "heard", "dog"),
        ("a", "R2", "heard", "Dog"),
    ]  # fmt: skip
    found = rated(tmp_path, rows)
    kinds = {one.measure.id: one.measure.kind for one in found.others}
    assert kinds == {"anomia": "scale", "code": "choice", "phonemes": "phonemes", "heard": "text"}
    assert next(one.words for one in found.others if one.measure.kind == "text") == ("dog",)
    assert [feature.id for feature in found.features] == ["jargon"]
    as_codes = rated(tmp_path, rows, kinds={"jargon": "choice"})
    assert not as_codes.features


def test_later_occasions_and_speakers(tmp_path: Path) -> None:
    rows = [
        ("a", "R1", "jargon", 1, "second", "P1"), ("a", "R1", "jargon", 0, "first", "P1"),
        ("b", "R1", "jargon", 1, "first", "P1"), ("c", "R1", "jargon", 1, "first", ""),
        ("d", "R1", "jargon", 1, "first", ""),
    ]  # fmt: skip
    found = rated(tmp_path, rows, HEAD + ",occasion,speaker")
    assert found.verdicts[0, :, 0].tolist() == [1, 1, 1, 1]  # what stands first in the file counts
    assert found.again[0][0, :, 0].tolist() == [0, -1, -1, -1]
    assert found.speakers is not None
    first, second, third, fourth = found.speakers.tolist()
    assert first == second and len({first, third, fourth}) == 3


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (["a,R1,jargon,1", "a,R1,jargon,0"], 3, "twice"),
        (["a,R1,jargon,1", "", "b,R1,jargon,2x"], 4, "'2x' is not a value of 'jargon'"),
        (["a,R1,jargon,present", "b,R1,jargon,absnt"], 3, "'absnt' is not a value"),
        (["a,R1,,1"], 2, "'measure' is empty"),
        (["a,R1,jargon,1,9"], 2, "5 cells"),
        (['a,R1,jargon,"1'], 2, "not valid CSV"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(
    tmp_path: Path, lines: list[str], line: int, message: str
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    with pytest.raises(TabwbError) as raised:
        read_ratings(path)
    assert raised.value.where == f"{path}:{line}" and message in raised.value.message


def test_columns_judges_and_measures_that_are_not_there(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", [("a", "R1", "jargon", 1)])
    with pytest.raises(UsageError, match="no rater 'R3'"):
        read_ratings(path, judges=["R3"])
    with pytest.raises(UsageError, match="no measure 'jargn'"):
        read_ratings(path, kinds={"jargn": "choice"})
    with pytest.raises(TabwbError, match="no column 'rater'"):
        read_ratings(written(path, [("a", "R1", "j", 1)], "response,ratr,measure,value"))


def talked(store: Store) -> int:
    """An administration of TAB with five connected texts, the last one refused."""
    battery = load_battery(TAB)
    store.keep_battery(battery, {})
    texts = next(subtest for subtest in battery.subtests if subtest.id == "connected-text")
    plan = [
        PlannedTrial(number, texts.id, item.id, 0, (), item.prompt)
        for number, item in enumerate(texts.items, start=1)
    ]
    record = store.create_administration(
        battery, Conditions("replay:a.jsonl", "model"), plan, versions={}
    )
    for number, text in enumerate(ANSWERS, start=1):
        status = ResponseStatus.REFUSED if number == 5 else ResponseStatus.OK
        given = Attempt(1, text, AttemptState.OK, status, StopReason.END, 0.1)
        store.append(record.id, [AttemptEntry(number, given)])
    return record.id


def verdict(store: Store, number: int, rater: str, trial: int, **values: float | None) -> None:
    ratings = tuple(
        undefined(rater, name, "cannot tell") if value is None else valued(rater, name, value)
        for name, value in values.items()
    )
    store.append(number, [RatingsEntry(trial, 1, ratings)])


def test_administrations_leave_out_what_is_unusable_or_outside_of_a_set(store: Store) -> None:
    number = talked(store)
    for rater, features in (("rules-2", ("jargon",)), ("rules-1", ("jargon", "anomia"))):
        store.append(number, [DeclarationEntry(Declaration(rater, features))])
    store.append(number, [DeclarationEntry(Declaration("R1", ("jargon", "anomia"), kind="person"))])
    for trial in range(1, 6):
        verdict(store, number, "rules-2", trial, jargon=1.0, anomia=1.0)
        verdict(store, number, "R1", trial, jargon=float(trial < 3), anomia=None)
    verdict(store, number, "rules-1", 2, jargon=0.0, anomia=0.0)
    found = rated_administrations(store, [number])
    assert found.raters == ("R1", "rules-1", "rules-2")
    assert found.judges == {"rules-1", "rules-2"}
    assert [one.id for one in found.features] == ["anomia", "jargon"]
    assert list(found.samples) == [f"{number}:{trial}:1" for trial in range(1, 5)]
    assert found.verdicts[..., 1].tolist() == [[1, 1, 0, 0], [-1, 0, -1, -1], [1, 1, 1, 1]]
    assert found.verdicts[..., 0].tolist() == [[-2] * 4, [-1, 0, -1, -1], [-1] * 4]


def test_a_judge_that_was_asked_again_is_compared_with_itself(store: Store) -> None:
    number, judge = talked(store), "tab-2026:gemini:x"
    for trial, again in ((1, 0.0), (2, 1.0)):
        verdict(store, number, judge, trial, jargon=1.0)
        said = (valued(judge, "jargon", again),)
        repeated = Judgement(said, rater=judge, repeat=1, key=f"{trial:064x}")
        copied = replace(repeated, same_as=1, key=f"{trial + 2:064x}")
        store.keep_judgements(number, [Judged(trial, 1, repeated), Judged(3, 1, copied)])
    found = rated_administrations(store, [number])
    assert found.verdicts[0, :, 0].tolist() == [1, 1]
    (again_given,) = found.again
    assert again_given[0, :, 0].tolist() == [0, 1]


def test_nobody_has_rated(store: Store) -> None:
    number = talked(store)
    with pytest.raises(UsageError, match="nobody has rated"):
        rated_administrations(store, [number])
    verdict(store, number, "R1", 5, jargon=1.0)
    with pytest.raises(UsageError, match="no rated response"):
        rated_administrations(store, [number])


def says(
    position: int, rater: str = "R1", purpose: str = "rate", **answers: object
) -> SampleRating:
    number = position if position < 10 else position - 9
    return SampleRating(rater, position, number, purpose, answers, complete=True)  # type: ignore[arg-type]


def test_a_set_has_people_again_settled_values_and_judges(store: Store) -> None:
    number = talked(store)
    kept = parts.rated_set(store, number, 4, more=[Assignment("R1", 10, 1, "again")])
    store.sets.rate_all(
        kept.id,
        [
            says(1, jargon=1.0, anomia=3.0),
            says(2, jargon=CANNOT_TELL, anomia=0.0),
            says(1, "R2", jargon=0.0, anomia=1.0),
            says(10, purpose="again", jargon=0.0, anomia=0.0),
        ],
    )
    store.sets.adjudicate(kept.id, Adjudication(1, "jargon", 0.0, "heard again", "Z"))
    store.append(number, [DeclarationEntry(Declaration("rules-2", ("jargon",)))])
    verdict(store, number, "rules-2", 2, jargon=1.0)
    found = rated_set(store, "pilot")
    assert found.raters == ("R1", "R2", "rules-2") and found.judges == {"rules-2"}
    assert [one.id for one in found.features] == ["jargon", "anomia"]
    assert found.verdicts[..., 0].tolist() == [[1, -2, -1, -1], [0, -1, -1, -1], [-1, 1, -1, -1]]
    assert found.verdicts[..., 1].tolist() == [[1, 0, -1, -1], [1, -1, -1, -1], [-1] * 4]
    assert found.again[0][0, 0].tolist() == [0, 0] and (found.again[0][1:] == -1).all()
    assert found.adjudicated is not None and found.adjudicated[0].tolist() == [0, -1]
    (scale,) = found.others  # the raw values of the scale are kept beside its cut
    assert scale.measure.id == "anomia" and scale.values[0, :2].tolist() == [3.0, 0.0]


def test_administrations_count_flagged_ratings_as_their_set_does(store: Store) -> None:
    number = talked(store)
    names = ("jargon", "anomia")
    form = Form("two", "1", "Two", "MIT", "", tuple(Question(one, one) for one in names),
                unmarked="absent", min_seconds=5.0)  # fmt: skip
    assert rated_in(store, number) is None
    kept = parts.rated_set(store, number, 4, form=form.canonical)
    store.sets.rate_all(
        kept.id,
        [
            replace(says(1, jargon=1.0, anomia=0.0), seconds=9.0, confirmed=()),
            replace(says(2, jargon=0.0, anomia=0.0), seconds=9.0, confirmed=names),
            replace(says(2, "R2", jargon=0.0, anomia=0.0), seconds=1.0, confirmed=()),
        ],
    )
    found, of_set = rated_in(store, number), rated_set(store, kept.id)
    assert of_set.flagged is not None
    assert found == {("R1", f"{number}:2:1"), ("R2", f"{number}:2:1")}
    assert int(of_set.flagged.sum()) == len(found)


def rated_in(store: Store, number: int) -> set[tuple[str, str]] | None:
    for trial in range(1, 5):
        verdict(store, number, "rules-2", trial, jargon=0.0)
    found = rated_administrations(store, [number])
    if found.flagged is None:
        return None
    raters, samples = np.nonzero(found.flagged)
    return {
        (found.raters[at], found.samples[row])
        for at, row in zip(raters.tolist(), samples.tolist(), strict=True)
    }


def test_a_set_says_what_judges_cannot_rate_and_that_nobody_has_rated(store: Store) -> None:
    kept = parts.rated_set(store, talked(store), 5)
    with pytest.raises(UsageError, match="nobody has rated"):
        rated_set(store, kept.id)
    store.sets.rate_all(kept.id, [says(5, jargon=1.0, anomia=0.0)])
    found = rated_set(store, kept.id)
    assert found.notes[0].startswith("A feature rated on a scale is present from ")
    assert found.notes[1].startswith("1 sample of 5 cannot be described")
    assert found.verdicts[0, 4].tolist() == [1, 0]


def test_listeners_of_names_by_both_rules_with_codes_and_transcripts(tmp_path: Path) -> None:
    battery = load_battery(naming_battery(tmp_path))
    said: tuple[Observation, ...] = (
        Scored(1, "self-corrected", "person:A"),
        Scored(1, "right", "B"),
        Coded(1, "correct", "person:A"),
        Coded(1, "semantic", "B"),
        Heard(1, "Dog", "person:A"),
        Transcribed(1, transcript("D AO G", by="manual:A")),
        Transcribed(1, transcript("D AO", by="bundled-words")),
    )
    attempt = Attempt(1, "", AttemptState.OK, ResponseStatus.OK, StopReason.END, 0.1)
    trial = Trial(
        PlannedTrial(1, "nouns", "dog", 0, (), ""),
        TrialState.ANSWERED,
        (attempt,),
        observations=tuple(observation_to_json(one) for one in said),
    )
    heard = list(heard_in([data_of(battery, [trial], Conditions("S-1", "speaker"))]))
    gathered = Gathered(["dog:1:1"], ())
    machines = gather_heard(gathered, heard, 0)
    assert heard[0][:2] == ("dog:1:1", "S-1") and machines == {"bundled-words"}
    given = gathered.rated(
        ("A", "B", "bundled-words"), source="a session", judges=frozenset(machines)
    )
    assert given.right is not None
    assert given.right[:2, 0].tolist() == [[1, 0], [1, 1]]  # any, first
    compared = agreement_of(given, Choices(draws=0))
    (code,) = compared.rows("answers", measure="code")
    (confused,) = compared.rows("confusions", measure="code")
    assert code["n"] == 1 and (confused["one"], confused["other"]) == ("correct", "semantic")
    (pair,) = compared.rows("transcripts")
    assert (pair["edits"], pair["phonemes_first"], pair["phonemes_second"]) == (1, 3, 2)
