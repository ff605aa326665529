"""The paper's tables once more: plain loops over the corpus' files and the oracle of distances.

    python -m tests.psst_derivation CORPUS STORE

compares every cell of tables 1, 2, 3 and 7, of 2 also by severity and of AQ below 50.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

from tabwb.cli.main import main
from tabwb.phonology.dictionary import pronounced
from tabwb.records.naming import Transcribed, observations_of
from tabwb.store.store import Store
from tests.builders import DATA

ORACLE = json.loads((DATA / "psst.json").read_text(encoding="utf-8"))
VALUES = {"-": -1.0, "-+": -0.5, "0": 0.0, "+-": 0.5, "+": 1.0}
FREE = ("<sil>", "<spn>", "<unk>")


@cache
def substituted(one: str, other: str) -> float:
    first, second = ORACLE["feature_table"][one], ORACLE["feature_table"][other]
    return sum(abs(VALUES[first[name]] - VALUES[second[name]]) for name in first) / 2


def distance(
    ref: Sequence[str], hyp: Sequence[str], change: Callable[[str, str], float],
    alone: Callable[[str], float],
) -> float:  # fmt: skip
    """Edit distance by the recurrence of Wagner and Fischer."""
    row = [0.0]
    for label in hyp:
        row.append(row[-1] + alone(label))
    for label in ref:
        new = [row[0] + alone(label)]
        for at, other in enumerate(hyp):
            new.append(min(row[at] + change(label, other), row[at + 1] + alone(label),
                           new[at] + alone(other)))  # fmt: skip
        row = new
    return row[-1]


def utterances(corpus: Path, place: Path) -> list[dict[str, Any]]:
    """The lines of the corpus with the split, the speaker and what each system said."""
    heard: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    with Store.open(place, create=False) as store:
        for given in store.administrations():
            for trial in store.trials(given.id):
                for seen in observations_of(trial):
                    if isinstance(seen, Transcribed) and seen.transcript.status != "error":
                        name = f"{given.title} {trial.plan.item}"
                        sounds = pronounced(seen.transcript).phonemes
                        heard[name][seen.transcript.transcriber] = sounds
    found: list[dict[str, Any]] = []
    accepted = json.loads((corpus / "correctness.json").read_text(encoding="utf-8"))
    for split in ("train", "valid", "test"):
        with (corpus / split / "utterances.tsv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                said = heard[f"{row['session']} {row['prompt']}"]
                aq = float(row["aq_index"])
                severity = "mild" if aq > 75 else "moderate" if aq > 50 else (
                    "severe" if aq > 25 else "very severe")  # fmt: skip
                found.append({
                    **row, "split": split, "speaker": row["session"][:-1], "severity": severity,
                    "hours": int(row["duration_frames"]) / 16_000 / 3_600, "aq": aq,
                    "forms": [form.split() for form in accepted[row["prompt"]]],
                    "gold": row["transcript"].split() if row["transcript"] else None,
                    "systems": {
                        name: list(one) for name, one in said.items() if name != "manual:psst"
                    },
                })  # fmt: skip
    assert len(heard) == len(found)
    return found


def said(row: dict[str, Any], system: str) -> list[str] | None:
    found: list[str] | None = row["gold"] if system == "gold" else row["systems"].get(system)
    return found


def amounts(rows: Sequence[dict[str, Any]]) -> tuple[float, int, int]:
    return sum(row["hours"] for row in rows), len(rows), len({row["speaker"] for row in rows})


def rates(rows: Sequence[dict[str, Any]], system: str) -> tuple[int, int, float, int]:
    """Responses, phonemes, feature errors, phoneme errors."""
    both = [
        ([one for one in row["gold"] if one not in FREE],
         [one for one in said(row, system) or () if one not in FREE])
        for row in rows if row["gold"] is not None and said(row, system) is not None
    ]  # fmt: skip
    features = sum(
        distance(ref, hyp, substituted, ORACLE["phoneme_indel"].__getitem__) for ref, hyp in both
    )
    errors = sum(distance(a, b, lambda x, y: x != y, lambda x: 1) for a, b in both)
    return len(both), sum(len(ref) for ref, _ in both), features, int(errors)


def contains(said: Sequence[str], forms: Sequence[Sequence[str]], *, kept: bool) -> bool:
    labels = [one for one in said if kept or one not in FREE]
    return any(f" {' '.join(form)} " in f" {' '.join(labels)} " for form in forms)


def counts(rows: Sequence[dict[str, Any]], system: str, *, kept: bool) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        if row["correctness"] and (heard := said(row, system)) is not None:
            predicted = contains(heard, row["forms"], kept=kept)
            found[("T" if (row["correctness"] == "TRUE") == predicted else "F")
                  + "NP"[predicted]] += 1  # fmt: skip
    return found


# ------------------------------------------------------------------ comparing


Table = Callable[..., list[dict[str, Any]]]
"""Returns the rows of a table of the paper, given the words of its command."""
QUANTITIES = ("hours", "segments", "speakers")


def near(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(1.0, abs(other))


def check_amounts(every: Sequence[dict[str, Any]], table: Table) -> int:
    """Compare tables 1 and 7; return how many rows there were."""
    rows, splits = [*table("1"), *table("7")], {one["split"] for one in every}
    for row in rows:
        of_split = [one for one in every if one["split"] == row["split"]]
        whole = row.get("severity", "all") == "all"
        part = [one for one in of_split if whole or one["severity"] == row["severity"]]
        under = amounts(every if whole else of_split)
        for name, value, all_ in zip(QUANTITIES, amounts(part), under, strict=True):
            assert near(row[name], value), row
            assert near(row[f"{name}_share"], value / all_), row
    assert len(rows) == len(splits) * (2 + len({one["severity"] for one in every}))
    return len(rows)


def check_rates(every: Sequence[dict[str, Any]], table: Table) -> int:
    """Compare table 2: whole, by severity, and below an AQ of 50."""
    systems = sorted({name for one in every for name in one["systems"]})
    below = [one for one in every if one["aq"] < 50]
    of_below = table("2", "--where", "AQ<50")
    by_severity = table("2", "--by", "severity")
    assert [row["system"] for row in table("2")] == systems
    assert len(by_severity) == len(systems) * len({one["severity"] for one in every})
    given = [(every, row) for row in (*table("2"), *by_severity)]
    for known, row in [*given, *((below, row) for row in of_below)]:
        own = [one for one in known if row.get("severity") in (None, one["severity"])]
        n, phonemes, features, errors = rates(own, row["system"])
        expected = {
            "responses": n, "phonemes": phonemes, "feature_errors": features,
            "fer": features / (24 * phonemes), "phoneme_errors": errors, "per": errors / phonemes,
        }  # fmt: skip
        assert {name: row[name] for name in expected} == expected
    return len(given) + len(of_below)


def check_correctness(every: Sequence[dict[str, Any]], table: Table) -> int:
    """Compare table 3, whole and by test, gold also on the responses of each system."""
    rows = [*table("3"), *table("3", "--by", "test")]
    for row in rows:
        own = [
            one for one in every
            if row.get("test") in (None, one["test"])
            and (row["of"] == "all" or said(one, row["of"]) is not None)
        ]  # fmt: skip
        found = counts(own, row["system"], kept=row["silence"] == "kept")
        tp, fp, fn, tn = (found[name] for name in ("TP", "FP", "FN", "TN"))
        assert (row["tp"], row["fp"], row["fn"], row["tn"]) == (tp, fp, fn, tn)
        assert row["responses"] == sum(found.values())
        assert near(row["f1"], 2 * tp / (2 * tp + fp + fn))
        assert near(row["precision"], tp / (tp + fp)) and near(row["recall"], tp / (tp + fn))
        assert near(row["accuracy"], (tp + tn) / sum(found.values()))
        both = rates(own, row["system"])
        assert (row["fer"], row["per"]) == (both[2] / (24 * both[1]), both[3] / both[1])
    return len(rows)


def printed_table(place: Path) -> Table:
    """Return the tables that the command prints of a store."""

    def table(*words: str) -> list[dict[str, Any]]:
        out = io.StringIO()
        with redirect_stdout(out):
            assert main(["psst", "table", *words, "--json", "--store", str(place)]) == 0
        rows: list[dict[str, Any]] = json.loads(out.getvalue())["tables"][0]["rows"]
        return rows

    return table


if __name__ == "__main__":
    corpus, place = map(Path, sys.argv[1:])
    every, made = utterances(corpus, place), printed_table(place)
    for check in (check_amounts, check_rates, check_correctness):
        print(f"{check.__name__}: {check(every, made)} rows are equal")
