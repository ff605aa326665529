"""A simulated validation study of the size of TAB (section 6): does it give back what went in?

``python -m benchmarks.rating_study [--seed N] [--overlap N]``. 561 texts (306 of people, 255 of
models) are imported, planned for five raters, rated with known error rates, compared, and what
raters differ on is settled. Every step is the program's own; only what raters say is drawn. Prints
how many of the intervals of error rates and prevalences contain the values that were used.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.battery.forms import form_from_canonical
from tabwb.cli.main import main as tabwb
from tabwb.records.rating_sets import Adjudication, RatingSet, SampleRating
from tabwb.store.store import Store

PEOPLE, MODELS, RATERS = 306, 255, ("R1", "R2", "R3", "R4", "R5")
WORDS = ("the", "a", "we", "went", "dog", "thing", "was", "it", "kite", "water", "um", "red")


@dataclass(frozen=True, slots=True)
class Truth:
    """What is simulated.

    Attributes:
        prevalence: of each feature, shape (features,).
        errors: rater to sensitivity and specificity.
        present: sample to which features it has, shape (features,).
    """

    prevalence: NDArray[np.float64]
    errors: Mapping[str, tuple[float, float]]
    present: Mapping[int, NDArray[np.bool_]]


def write_texts(path: Path, draw: np.random.Generator) -> None:
    """Write the texts of people and models as a table.

    Args:
        path: of the table.
        draw: random numbers.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("id", "text", "prompt", "source", "origin"))
        for number in range(PEOPLE + MODELS):
            human = number < PEOPLE
            source = f"P{number % 34:03d}" if human else f"model-{number % 5}"
            said = " ".join(draw.choice(WORDS, int(draw.integers(15, 60))))
            origin = "human" if human else "model"
            table.writerow(
                (f"t{number}", f"{said} {number}", f"Question {number % 6}", source, origin)
            )


def truth_of(kept: RatingSet, samples: Sequence[int], draw: np.random.Generator) -> Truth:
    """Return drawn prevalences, error rates and samples.

    Args:
        kept: the set.
        samples: their numbers.
        draw: random numbers.
    """
    features = len(form_from_canonical(kept.form).questions)
    prevalence = draw.uniform(0.1, 0.5, features)
    errors = {
        rater: (float(draw.uniform(0.7, 0.95)), float(draw.uniform(0.85, 0.98)))
        for rater in kept.raters
    }
    return Truth(prevalence, errors, {one: draw.random(features) < prevalence for one in samples})


def rate(store: Store, kept: RatingSet, truth: Truth, draw: np.random.Generator) -> int:
    """Let every rater rate everything; return the number of ratings.

    Args:
        store: with the set.
        kept: the set.
        truth: what is there, and how raters err.
        draw: random numbers.
    """
    measures = form_from_canonical(kept.form).measures
    n = 0
    for rater, (sensitivity, specificity) in truth.errors.items():
        ratings = []
        for one in store.sets.assignments(kept.id, rater):
            chance = np.where(truth.present[one.sample], sensitivity, 1 - specificity)
            said = (draw.random(len(measures)) < chance).astype(float).tolist()
            answers = dict(zip(measures, said, strict=True))
            ratings.append(
                SampleRating(
                    rater, one.position, one.sample, one.purpose, answers, True, seconds=40
                )
            )
        store.sets.rate_all(kept.id, ratings)
        n += len(ratings)
    return n


def inside(found: Sequence[Mapping[str, Any]], truth: Truth) -> tuple[int, int]:
    """Return how many intervals contain the value used, and how many there are.

    Args:
        found: ``error_rates`` of the document of agreement.
        truth: the values.
    """
    checks = []
    for row, prevalence in zip(found, truth.prevalence.tolist(), strict=True):
        checks.append((row["prevalence_interval"], prevalence))
        for rater in row["raters"]:
            if rater["rater"] in truth.errors:
                names = ("sensitivity_interval", "specificity_interval")
                checks += zip(
                    (rater[name] for name in names), truth.errors[rater["rater"]], strict=True
                )
    known = [(interval, value) for interval, value in checks if interval]
    return sum(low <= value <= high for (low, high), value in known), len(known)


def settle(store: Store, kept: RatingSet, truth: Truth) -> int:
    """Settle everything that raters differ on by the truth; return how many answers that is.

    Args:
        store: with the set.
        kept: the set.
        truth: what is there.
    """
    measures = form_from_canonical(kept.form).measures
    said: dict[int, list[Mapping[str, Any]]] = {}
    for rating in store.sets.ratings(kept.id):
        if rating.purpose == "rate":
            said.setdefault(rating.sample, []).append(rating.answers)
    n = 0
    for sample, answers in said.items():
        for place, measure in enumerate(measures):
            if len({one[measure] for one in answers}) > 1:
                value = float(truth.present[sample][place])
                row = Adjudication(sample, measure, value, "simulated", "A1")
                store.sets.adjudicate(kept.id, row)
                n += 1
    return n


def document(*arguments: str) -> dict[str, Any]:
    """Return the JSON document that a command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = tabwb([*arguments, "--json"])
    assert status == 0, arguments
    loaded: dict[str, Any] = json.loads(out.getvalue())
    return loaded


def main() -> None:
    """Run the study and print what it gives back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--overlap", type=int, default=240)
    given = parser.parse_args()
    draw = np.random.default_rng(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        place, table = str(Path(folder) / "study.db"), Path(folder) / "texts.csv"
        write_texts(table, draw)
        with contextlib.redirect_stdout(io.StringIO()):
            assert tabwb(["import", str(table), "--store", place]) == 0
        plan = document(
            *("rate", "plan", "study", "--raters", ",".join(RATERS), "--seed", str(given.seed)),
            *("--overlap", str(given.overlap), "--raters-per-sample", "3", "--stratify", "origin"),
            *("--case", "lower", "--punctuation", "none", "--store", place),
        )
        print(f"planned: {plan['samples']} samples, {plan['rated_by_several']} by three raters")
        with Store.open(place) as store:
            kept = store.sets.get("study")
            truth = truth_of(kept, [one.number for one in store.sets.samples(kept.id)], draw)
            began = time.perf_counter()
            n = rate(store, kept, truth, draw)
            print(f"rated: {n} in {time.perf_counter() - began:.1f} s")
        found = document("agreement", "study", "--details", "--store", place)
        hits, of = inside(found["error_rates"], truth)
        print(f"error rates and prevalences inside their 95 % intervals: {hits} of {of}")
        weighted = found["summary"]["positive_count_weighted"]
        print(f"kappa, weighted by positives: {weighted['kappa']:.3f} {weighted['kappa_interval']}")
        with Store.open(place) as store:
            print(f"settled: {settle(store, kept, truth)} answers")


if __name__ == "__main__":
    main()
