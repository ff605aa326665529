"""Stored responses are transcribed by several systems, and the paper's tables are right."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.cli.main import main
from tabwb.records.naming import Transcribed, observations_of
from tabwb.store.store import Store
from tests.builders import DATA, at_home, needs
from tests.made_psst import COLUMNS, made_psst

needs("soundfile", "soxr", "scipy", "pyloudnorm")

EARS = """
import random

from tabwb.plugin_api import Descriptor, Segment, Transcript, hookimpl

WORDS = "D AO G|K AE T|HH AW S|<spn> G OW|S T AA <sil> P|T UW".split("|")


class Ear:
    unit = "phonemes"

    def __init__(self, name):
        self.name = name

    def open(self):
        return {}

    def transcribe_many(self, clips, cancel):
        for at, clip in enumerate(clips):
            chance = random.Random(f"{self.name} {clip.path.rpartition('/')[2]}")
            said = list(clip.accepted[0]) if chance.random() < 0.6 else []
            said = said or chance.choice(WORDS).split()
            if chance.random() < 0.3:
                said.insert(chance.randrange(len(said)), "<spn>")
            if chance.random() < 0.3:
                said[0] = "P"
            segments = tuple(Segment(one, i / 100, i / 100) for i, one in enumerate(said))
            if chance.random() < 0.1:
                yield at, Transcript("", "error", error="deaf")
            else:
                yield at, Transcript("", "ok", segments)

    def close(self):
        pass


@hookimpl
def tabwb_register_transcribers(register):
    for name in ("ear-a", "ear-b"):
        register(Descriptor(name, "Hears", lambda spec, options, name=name: Ear(name)))
"""
SYSTEMS = ("ear-a", "ear-b")
TRANSCRIBE = ("transcribe", "--where", "battery=psst", "--transcriber", "ear-a")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus in a store, heard by two systems."""
    folder = tmp_path_factory.mktemp("psst")
    made_psst(folder / "psst", speakers=12, utterances=72, sounds=False)
    table = folder / "psst" / "train" / "utterances.tsv"
    rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    rows[1][COLUMNS.index("transcript")] = rows[2][COLUMNS.index("correctness")] = ""
    table.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "ears.py").write_text(EARS, encoding="utf-8")
    with at_home(folder):
        assert main(["plugins", "trust", str(folder / "ears.py")]) == 0
        assert main(["import", "psst", str(folder / "psst")]) == 0
        assert main([*TRANSCRIBE, "--transcriber", "ear-b"]) == 0
    return folder


@pytest.fixture(autouse=True)
def home(folder: Path) -> Iterator[None]:
    with at_home(folder):
        yield


@pytest.fixture
def printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*words: str) -> str:
        capsys.readouterr()
        assert main(list(words)) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def table(printed: Callable[..., str]) -> Callable[..., list[dict[str, Any]]]:
    def run(*words: str) -> list[dict[str, Any]]:
        (made,) = json.loads(printed("psst", "table", *words, "--json"))["tables"]
        rows: list[dict[str, Any]] = made["rows"]
        return rows

    return run


# ------------------------------------------------------------------ a second derivation

ORACLE = json.loads((DATA / "psst.json").read_text(encoding="utf-8"))
VALUES = {"-": -1.0, "-+": -0.5, "0": 0.0, "+-": 0.5, "+": 1.0}
FREE = ("<sil>", "<spn>", "<unk>")


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


def utterances(folder: Path) -> list[dict[str, Any]]:
    """The lines of the corpus with the split, the speaker and what each system said."""
    heard: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    with Store.open(folder / "tabwb-data" / "tabwb.db", create=False) as store:
        for given in store.administrations():
            for trial in store.trials(given.id):
                for seen in observations_of(trial):
                    if isinstance(seen, Transcribed) and seen.transcript.status != "error":
                        name = f"{given.title} {trial.plan.item}"
                        heard[name][seen.transcript.transcriber] = seen.transcript.phonemes
    found: list[dict[str, Any]] = []
    accepted = json.loads((folder / "psst" / "correctness.json").read_text(encoding="utf-8"))
    for split in ("train", "valid", "test"):
        with (folder / "psst" / split / "utterances.tsv").open(encoding="utf-8") as file:
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
                    **{name: list(said[name]) if name in said else None for name in SYSTEMS},
                })  # fmt: skip
    assert len(heard) == len(found) == 72
    return found


def amounts(rows: Sequence[dict[str, Any]]) -> tuple[float, int, int]:
    return sum(row["hours"] for row in rows), len(rows), len({row["speaker"] for row in rows})


def rates(rows: Sequence[dict[str, Any]], system: str) -> tuple[int, int, float, int]:
    """Responses, phonemes, feature errors, phoneme errors."""
    both = [
        ([one for one in row["gold"] if one not in FREE],
         [one for one in row[system] if one not in FREE])
        for row in rows if row["gold"] is not None and row[system] is not None
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
        if row["correctness"] and row[system] is not None:
            predicted = contains(row[system], row["forms"], kept=kept)
            found[("T" if (row["correctness"] == "TRUE") == predicted else "F")
                  + "NP"[predicted]] += 1  # fmt: skip
    return found


# ------------------------------------------------------------------ tables


def test_tables_1_and_7_are_sums_over_the_corpus(
    folder: Path, table: Callable[..., list[dict[str, Any]]]
) -> None:
    every = utterances(folder)
    whole = amounts(every)
    for row in table("1"):
        own = amounts([one for one in every if one["split"] == row["split"]])
        for name, value, all_ in zip(("hours", "segments", "speakers"), own, whole, strict=True):
            assert row[name] == pytest.approx(value) and row[f"{name}_share"] == pytest.approx(
                value / all_
            )
    rows = table("7")
    assert [row["split"] for row in rows] == ["train"] * 5 + ["valid"] * 5 + ["test"] * 5
    for row in rows:
        of_split = [one for one in every if one["split"] == row["split"]]
        part = [one for one in of_split if row["severity"] in ("all", one["severity"])]
        under = whole if row["severity"] == "all" else amounts(of_split)
        values = zip(("hours", "segments", "speakers"), amounts(part), under, strict=True)
        for name, value, all_ in values:
            assert row[name] == pytest.approx(value)
            assert row[f"{name}_share"] == pytest.approx(value / all_)


@pytest.mark.parametrize("words", [(), ("--by", "severity"), ("--where", "AQ<50")])
def test_table_2_is_the_rates_of_a_second_derivation(
    folder: Path, table: Callable[..., list[dict[str, Any]]], words: Sequence[str]
) -> None:
    every = [one for one in utterances(folder) if "--where" not in words or one["aq"] < 50]
    rows = table("2", *words)
    assert [row["system"] for row in rows] == sorted(row["system"] for row in rows)
    for row in rows:
        own = [one for one in every if row.get("severity") in (None, one["severity"])]
        n, phonemes, features, errors = rates(own, row["system"])
        expected = {
            "responses": n, "phonemes": phonemes, "feature_errors": features,
            "fer": features / (24 * phonemes), "phoneme_errors": errors, "per": errors / phonemes,
        }  # fmt: skip
        assert {name: row[name] for name in expected} == expected
    assert len(rows) == 2 * (1 if "--by" not in words else 4)


@pytest.mark.parametrize("by", [(), ("--by", "test")])
def test_table_3_is_the_counts_of_a_second_derivation(
    folder: Path, table: Callable[..., list[dict[str, Any]]], by: Sequence[str]
) -> None:
    every, rows = utterances(folder), table("3", *by)
    assert len(rows) == 3 * 2 * (2 if by else 1)
    differ = 0
    for row in rows:
        own = [one for one in every if row.get("test") in (None, one["test"])]
        found = counts(own, row["system"], kept=row["silence"] == "kept")
        tp, fp, fn, tn = (found[name] for name in ("TP", "FP", "FN", "TN"))
        assert (row["tp"], row["fp"], row["fn"], row["tn"]) == (tp, fp, fn, tn)
        assert row["responses"] == sum(found.values())
        assert row["f1"] == pytest.approx(2 * tp / (2 * tp + fp + fn))
        assert row["precision"] == pytest.approx(tp / (tp + fp))
        assert row["recall"] == pytest.approx(tp / (tp + fn))
        assert row["accuracy"] == pytest.approx((tp + tn) / sum(found.values()))
        differ += counts(own, row["system"], kept=True) != counts(own, row["system"], kept=False)
    assert differ, "the two variants are told apart"


def test_the_oracle_of_task_b_holds_for_both_variants() -> None:
    for case in ORACLE["task_b"]:
        said, forms = case["transcript"].split(), [one.split() for one in case["targets"]]
        assert contains(said, forms, kept=True) == case["match_code_as_published"]
        paper = case["match_paper_text_after_removing_sil_spn"]
        assert contains(said, forms, kept=False) == paper


def test_shared_errors_are_those_that_every_system_has(
    folder: Path, table: Callable[..., list[dict[str, Any]]]
) -> None:
    expected = Counter(
        (one["speaker"], one["prompt"])
        for one in utterances(folder)
        if one["correctness"]
        and all(one[name] is not None for name in SYSTEMS)
        and all(
            contains(one[name], one["forms"], kept=False) != (one["correctness"] == "TRUE")
            for name in SYSTEMS
        )
    )
    rows = table("shared")
    assert Counter((row["speaker"], row["prompt"]) for row in rows) == expected and expected


def test_confusions_add_up_to_the_phoneme_errors_of_feature_alignments(
    folder: Path, table: Callable[..., list[dict[str, Any]]]
) -> None:
    by_severity = table("confusion", "--by", "severity")
    for row in table("2", "--by", "severity"):
        own = [
            one for one in by_severity
            if (one["system"], one["severity"]) == (row["system"], row["severity"])
        ]  # fmt: skip
        indel = ORACLE["phoneme_indel"]
        cost = sum(
            one["count"] * (substituted(one["person"], one["heard"]) if one["step"] == "SUB"
                            else indel[one["person"] or one["heard"]])
            for one in own
        )  # fmt: skip
        assert cost == row["feature_errors"]
    changes = table("features")
    assert changes and all(row["count"] > 0 for row in changes)


def test_every_format_has_the_same_cells(
    printed: Callable[..., str], table: Callable[..., list[dict[str, Any]]]
) -> None:
    rows = table("3")
    read = list(csv.DictReader(io.StringIO(printed("psst", "table", "3", "--format", "csv"))))
    assert [[row["system"], row["silence"], int(row["tp"])] for row in read] == [
        [row["system"], row["silence"], row["tp"]] for row in rows
    ]
    for format_id in ("table", "latex", "markdown"):
        text = printed("psst", "table", "3", "--format", format_id)
        assert all(str(row["tp"]) in text for row in rows)
    with tabwb.open() as study:
        (made,) = study.do("psst table", which="3")["tables"]
    assert made.to_dicts() == rows


def test_a_folder_has_its_amounts_and_gold_without_a_store(
    folder: Path, table: Callable[..., list[dict[str, Any]]]
) -> None:
    stored, read = table("7"), table("7", str(folder / "psst"))
    assert [row["segments"] for row in stored] == [row["segments"] for row in read]
    gold = [row for row in table("3", str(folder / "psst")) if row["system"] == "gold"]
    assert gold == [row for row in table("3") if row["system"] == "gold"]
    assert main(["psst", "table", "2", str(folder / "psst")]) == 2


# ------------------------------------------------------------------ transcribing


def test_from_python_and_the_command_line_the_same_responses_wait(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main([*TRANSCRIBE, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["planned"] == document["transcribed"] == document["errors"] > 0
    assert (document["transcribers"], document["refused"]) == (["ear-a"], [])
    with tabwb.open(write=True) as study, pytest.raises(tabwb.TabwbError):
        study.transcribe_stored("battery=psst", transcriber="ear-a")


def test_files_and_stored_responses_exclude_each_other(folder: Path) -> None:
    assert main(["transcribe", str(folder / "psst" / "train"), "--where", "battery=psst"]) == 2
    assert main(["transcribe"]) == 2
    assert main([*TRANSCRIBE, "--tsv"]) == 2


def test_an_administration_that_is_open_elsewhere_is_named_and_the_rest_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(folder / "tabwb-data" / "tabwb.db", create=False) as store, store.lock(1):
        capsys.readouterr()
        assert main([*TRANSCRIBE, "--json"]) == 1
    out, err = capsys.readouterr()
    (refused,) = json.loads(out)["refused"]
    assert "administration 1" in refused and refused in err
