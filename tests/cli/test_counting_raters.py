"""Whose ratings of connected text count: people and derived raters in results and exports."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tabwb.analysis.administrations import load_administrations, load_columns
from tabwb.battery.form_loader import read_form
from tabwb.battery.loader import load_battery
from tabwb.records.rating_sets import Adjudication, Assignment, Sample, SampleRating, SetPlan
from tabwb.report.summaries.summary import Summary, pool
from tabwb.store.store import Store
from tests.cli.conftest import TAB, Run, replayed

FORMS = TAB.parents[1] / "forms"
PRESENT: dict[str, tuple[set[str] | None, ...]] = {
    "R1": ({"anomia", "jargon"}, {"anomia"}, {"anomia"}, set(), set()),
    "R2": ({"anomia"}, {"anomia"}, {"jargon"}, set(), set()),
    "R3": (set(), {"anomia"}, set(), {"jargon"}, None),
    "R4": (set(), set(), None, set(), None),
}
"""By rater the features found in each of five texts; None: not rated. Text 1 has a tie on anomia,
so that its burden is undefined; text 2 has anomia by three of four."""


@pytest.fixture
def place(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    run("run", "tab", "--model", replayed(tmp_path / "said.jsonl"), "--judge", "rules-1",
        "--store", path)  # fmt: skip
    battery = load_battery(TAB)
    form, problems = read_form(FORMS / "tab-19.toml", lambda _: TAB)
    assert form is not None, problems
    with Store.open(path) as store:
        texts = [
            trial
            for trial in store.trials(1)
            if battery.subtest(trial.plan.subtest).task.connected and trial.counting is not None
        ]
        samples = tuple(
            Sample(n, 1, trial.plan.number, 1, trial.attempts[0].response, trial.plan.prompt)
            for n, trial in enumerate(texts, start=1)
        )
        assert len(samples) == 5
        places = tuple(Assignment(rater, n, n) for rater in PRESENT for n in range(1, 6))
        kept = store.sets.create(
            SetPlan("pilot", form.canonical, form.id, samples, places, counts="majority")
        )
        store.sets.rate_all(
            kept.id,
            [
                SampleRating(
                    rater, n, n, "rate",
                    {measure: float(measure in found) for measure in form.measures},
                    complete=True,
                )
                for rater, given in PRESENT.items()
                for n, found in enumerate(given, start=1)
                if found is not None
            ],
        )  # fmt: skip
        store.sets.adjudicate(kept.id, Adjudication(1, "anomia", 1.0, "clear", "A1"))
    return path


def _burdens(summary: Summary) -> dict[str, tuple[float | None, int, dict[str, int]]]:
    """Mean burden, responses with one, and causes of the others, by rater."""
    return {
        judge.rater: (
            judge.burden.symptom_burden.value,
            judge.burden.n_burden,
            dict(judge.burden.no_burden),
        )
        for judge in summary.judges
    }


EXPECTED = {
    # Text 1 is tied; texts 2 to 5 have 1, 0, 0 and 0 features by more than half.
    "majority": (0.25, 4, {"anomia undefined: no majority": 1}),
    # Settled: text 1 has anomia.
    "consensus": (0.4, 5, {}),
}


@pytest.mark.parametrize("counts", ["majority", "consensus"])
def test_a_derived_rater_has_a_burden_of_its_own_beside_those_of_people(
    place: Path, counts: str
) -> None:
    with Store.open(place) as store:
        by_columns = pool(load_columns(store, [1], primary=counts))
        by_trials = pool(load_administrations(store, [1], primary=counts))
    found = _burdens(by_columns)
    assert found == _burdens(by_trials)
    assert {"rules-1", *PRESENT, "majority"} <= set(found)
    assert found[counts] == EXPECTED[counts]
    assert found["R1"][:2] == (0.8, 5)
    assert found["R4"][:2] == (0.0, 3)


def test_every_output_says_whose_ratings_count_and_has_all_of_them(
    run: Run, place: Path, tmp_path: Path
) -> None:
    document = run("results", "1", "--json", "--store", place).document
    said = "they count in rating set pilot"
    assert (
        f"Verdicts of majority: computed from those of R1, R2, R3, R4; {said}."
        in (document["notices"])
    )
    first = next(trial for trial in document["trials"] if trial["subtest"] == "connected-text")
    anomia = {one["rater"]: one for one in first["ratings"] if one["measure"] == "anomia"}
    assert [anomia[rater]["value"] for rater in PRESENT] == [1.0, 1.0, 0.0, 0.0]
    assert (anomia["majority"]["status"], anomia["majority"]["reason"]) == (
        "undefined",
        "no majority",
    )
    shown = " ".join(run("results", "1", "--store", place).out.split())
    assert said in shown
    own = run("results", "1", "--judge", "consensus", "--counts", "consensus", "--json",
              "--store", place).document  # fmt: skip
    assert [one["rater"] for one in own["summary"]["judges"]] == ["consensus"]
    out = tmp_path / "out.csv"
    assert run("export", "1", "--format", "csv", "--out", out, "--store", place).status == 0
    with out.open(encoding="utf-8", newline="") as file:
        raters = {row["rater"] for row in csv.DictReader(file)}
    assert {*PRESENT, "majority"} <= raters
    with Store.open(place) as store:
        assert not {"majority", "consensus"} & set(store.raters())
    assert json.dumps(document)
