"""A judge after calibration with the consensus of people."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import tabwb
from tabwb.administer.rating.adjudication import judged
from tabwb.analysis.derived import UNDEFINED, with_calibrated
from tabwb.analysis.measures import BURDEN, FEATURE_RATE
from tabwb.battery.forms import Form, Question
from tabwb.battery.loader import load_battery
from tabwb.media.documents.document import summary_json
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Decoding
from tabwb.records.rating_sets import Adjudication, Assignment, Sample, SampleRating
from tabwb.records.ratings import Declaration, valued
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import AttemptEntry, DeclarationEntry, PlannedTrial, RatingsEntry
from tabwb.scoring.intervals import rate_interval
from tabwb.store.store import Store
from tests.cli.conftest import TAB
from tests.store.parts import attempt, set_plan

FORM = Form("one", "1", "One", "MIT", "", (Question("jargon", "Jargon"),))
JARGON = valued("rules-1", "jargon", 1)
DECLARED = {"rules-1": Declaration("rules-1", ("jargon", "anomia"))}


def _judged(store: Store, verdicts: list[int]) -> int:
    """A number of responses with the judge's verdicts."""
    battery = load_battery(TAB)
    items = [(one.id, item) for one in battery.subtests if one.task.connected for item in one.items]
    store.keep_battery(battery, {})
    numbered = list(enumerate(verdicts, start=1))
    planned = [
        PlannedTrial(n, subtest, item.id, n // len(items), (), item.prompt)
        for n, (subtest, item) in zip(range(1, len(verdicts) + 1), cycle(items), strict=False)
    ]
    conditions = Conditions("echo", "model", decoding=Decoding(temperature=1.0))
    number = store.create_administration(battery, conditions, planned, {"tabwb": "0.2.0"}).id
    store.append(number, [DeclarationEntry(DECLARED["rules-1"])])
    said = [AttemptEntry(n, attempt(response=f"We went to town {n} times.")) for n, _ in numbered]
    store.append(number, said)
    given = [(trial, (valued("rules-1", "jargon", verdict),)) for trial, verdict in numbered]
    store.append(number, [RatingsEntry(trial, 1, ratings) for trial, ratings in given])
    return number


def _study(store: Store, n: int = 30, weight: float = 1.0) -> None:
    """The judge calls 12 of 30 present, of which people call 9 so, and of 18 others 4.

    Two people agree on every sample but the last two, of which one is settled as present: of 18
    then 5 have the feature, and 17 have a consensus.
    """
    verdicts = [1] * 12 + [0] * 18
    people = [1] * 9 + [0] * 3 + [1] * 4 + [0] * 14
    number = _judged(store, verdicts[:n])
    samples = tuple(
        Sample(one, number, one, 1, "text", "?", weight=weight if one == 1 else 1.0)
        for one in range(1, n + 1)
    )
    places = tuple(Assignment(code, one, one) for code in ("R1", "R2") for one in range(1, n + 1))
    kept = store.sets.create(set_plan("pilot", FORM.canonical, FORM.id, samples, places))
    store.sets.rate_all(
        kept.id,
        [
            SampleRating(
                code, one, one, "rate",
                {"jargon": float(people[one - 1] != (code == "R2" and one > 28))},
                complete=True,
            )
            for code in ("R1", "R2")
            for one in range(1, n + 1)
        ],
    )  # fmt: skip
    if n == 30:
        store.sets.adjudicate(kept.id, Adjudication(30, "jargon", 1.0, "why", "A1"))


def test_a_verdict_stands_for_the_share_of_samples_with_the_feature(store: Store) -> None:
    _study(store)
    other = _judged(store, [1, 0])
    declared = [DECLARED, DECLARED]
    columns, after = with_calibrated(
        store, store.columns([1, other]), declared, "calibrated:rules-1"
    )
    assert set(columns.ratings) >= {"rules-1", "calibrated:rules-1", "R1", "R2"}
    rater = columns.ratings["calibrated:rules-1"]
    # Present: 9 of 12, absent: 5 of 17; (k + 1/2) / (n + 1), also for the samples themselves.
    present, absent = 9.5 / 13, 5.5 / 18
    expected = [present] * 12 + [absent] * 18 + [present, absent]
    for name in ("jargon", "jargon.probability"):
        assert rater.measures[name].at()[0].tolist() == pytest.approx(expected)
    assert columns.ratings["rules-1"].measures["jargon"].at()[0][0] == 1.0
    own = after[1]["calibrated:rules-1"]
    assert own.features == ("jargon",)
    # Two people rated each sample with a consensus, and two the settled one.
    assert "on 29 samples of each feature (58 verdicts of people); 1 of 2 features" in own.caution
    prompts = {sample.prompt for sample in store.sets.samples(1)}
    assert len(prompts) < 20
    assert f"these samples answer {len(prompts)} prompt" in own.caution
    assert not any(name.startswith("calibrated") for name in store.raters())


def test_the_table_of_ratings_has_the_probabilities(store: Store) -> None:
    _study(store)
    _judged(store, [1, 0])
    with tabwb.open(store.location) as study:
        found = study.ratings(2, judge="calibrated:rules-1").where(measure="jargon")
        assert study._rater("calibrated:rules") == "calibrated:rules-2"
        assert found["value"].to_list() == pytest.approx([9.5 / 13, 5.5 / 18])
        assert set(found["rater"].to_list()) == {"calibrated:rules-1"}


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_an_export_has_the_probabilities_beside_the_verdicts(
    store: Store, tmp_path: Path, format: str
) -> None:
    _study(store)
    _judged(store, [1, 0])
    with tabwb.open(store.location) as study:
        out = study.export(2, format=format, out=tmp_path / "out", judge="calibrated:rules-1")
        again = study.ratings(2, judge="calibrated:rules-1").where(measure="jargon")
    rows = _exported(out, format)
    found = {rater: [value for one, value in rows if one == rater] for rater, _ in rows}
    assert found["rules-1"] == [1.0, 0.0]
    assert found["calibrated:rules-1"] == pytest.approx([9.5 / 13, 5.5 / 18])
    assert again["value"].to_list() == pytest.approx(found["calibrated:rules-1"])


def _exported(out: Path, format: str) -> list[tuple[str, float]]:
    if format == "parquet":
        table = pq.read_table(out)
        return list(zip(table["rater"].to_pylist(), table["value"].to_pylist(), strict=True))
    with out.open(encoding="utf-8") as file:
        if format == "csv":
            return [(row["rater"], float(row["value"])) for row in csv.DictReader(file)]
        return [
            (one["rater"], one["value"]) for line in file for one in json.loads(line)["ratings"]
        ]


def test_a_wide_export_has_a_column_of_probabilities(store: Store, tmp_path: Path) -> None:
    _study(store)
    with tabwb.open(store.location) as study:
        out = study.export(
            1, format="parquet", wide=True, out=tmp_path / "w", judge="calibrated:rules-1"
        )
    table = pq.read_table(out)
    (name,) = [one for one in table.column_names if "calibrated" in one and "jargon" in one]
    assert table[name].to_pylist()[0] == pytest.approx(9.5 / 13)


def test_what_is_no_calibrated_judge_is_refused_by_exports_and_agreement(
    store: Store, tmp_path: Path
) -> None:
    _study(store)
    with tabwb.open(store.location) as study:
        with pytest.raises(UsageError, match="every judge"):
            study.export(1, out=tmp_path / "out", judge="rules-1")
        for name in ("pilot", 1):
            with pytest.raises(UsageError, match="defined for verdicts") as refused:
                study.agreement(name, judges=["calibrated:rules-1"])
        assert "--judge rules-1" in str(refused.value)


def test_results_have_the_mean_of_the_probabilities_with_the_error_of_the_calibration(
    store: Store,
) -> None:
    _study(store)
    verdicts = [1, 0, 0, 0, 0] * 4
    _judged(store, verdicts)
    with tabwb.open(store.location) as study:
        made = study.results(2, judge="calibrated:rules-1")
        (group,) = study.groups(2, judge="calibrated:rules-1")
        other = study.compare(1, 2)
        differences = study.results(
            table="differences", by="administration", baseline="#1", judge="calibrated:rules-1"
        )
    (rate,) = made.where(measure=FEATURE_RATE.id).to_dicts()
    expected = (9.5 / 13 + 4 * 5.5 / 18) / 5
    assert rate["value"] == pytest.approx(expected)
    alone = rate_interval([4, 0, 0, 0, 0], [4] * 5).interval
    assert alone is not None
    known = 9.5 / 13 - 5.5 / 18
    assert rate["high"] - rate["low"] > known * (alone.high - alone.low)
    burden = made.where(measure=BURDEN.id).to_dicts()[0]
    assert burden["value"] == pytest.approx(expected)
    (judge,) = group.results.judges
    document = summary_json(group.results)["judges"][0]
    assert document["rates"] == pytest.approx({"jargon": expected})
    assert document["calibration"]["jargon"]["present"] == pytest.approx(
        {"samples": 12, "people": 9.0, "p": 9.5 / 13}
    )
    assert judge.burden.present["jargon"] == pytest.approx(20 * expected)
    assert len(other) > 0
    assert len(differences) > 0


def test_a_verdict_without_calibration_is_undefined(store: Store) -> None:
    _study(store)
    number = _judged(store, [1, 0])
    anomia = [RatingsEntry(trial, 1, (valued("rules-1", "anomia", 1),)) for trial in (1, 2)]
    store.append(number, anomia)
    columns, after = with_calibrated(
        store, store.columns([number]), [DECLARED], "calibrated:rules-1"
    )
    given = columns.ratings["calibrated:rules-1"].measures["anomia"]
    assert np.isnan(given.at()[0]).all()
    assert set(given.at()[1].tolist()) == {UNDEFINED}
    assert "0 of 10 samples" in columns.reasons[int(given.reasons[0])]
    assert "anomia" not in after[0]["calibrated:rules-1"].features


def test_unusable_responses_do_not_count(store: Store) -> None:
    number = _judged(store, [1, 1])
    refused = replace(attempt(2), status=ResponseStatus.REFUSED)
    store.append(number, [AttemptEntry(2, refused), RatingsEntry(2, 2, (JARGON,))])
    samples = [Sample(1, number, 1, 1, "text", "?"), Sample(2, number, 2, 2, "text", "?")]
    assert judged(store, samples, FORM) == {1: {"jargon": {"rules-1": 1.0}}}


def test_samples_count_by_their_weights(store: Store) -> None:
    _study(store, weight=30.0)
    other = _judged(store, [1])
    columns, _ = with_calibrated(store, store.columns([other]), [DECLARED], "calibrated:rules-1")
    probability = columns.ratings["calibrated:rules-1"].measures["jargon.probability"]
    # Of verdict present: 11 samples of weight 1 and one of 30 are worth n equal ones.
    n = (11 + 30) ** 2 / (11 + 30**2)
    assert probability.at()[0].tolist() == pytest.approx([(n * (8 + 30) / 41 + 0.5) / (n + 1)])


@pytest.mark.parametrize(
    ("n", "name", "error"),
    [
        (20, "calibrated:rules-1", "'rules-1' cannot be calibrated"),
        (20, "calibrated:tab-2026", "'tab-2026' has rated none of these"),
    ],
)
def test_too_few_samples_and_unknown_judges_are_refused(
    store: Store, n: int, name: str, error: str
) -> None:
    _study(store, n)
    with pytest.raises(UsageError, match=error):
        with_calibrated(store, store.columns([1]), [DECLARED], name)
