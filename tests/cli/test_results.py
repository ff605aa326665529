"""``tabwb results`` and ``tabwb diff`` on stores with none, one and several administrations."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tabwb.media.wording import between
from tabwb.records.ratings import Declaration, valued
from tabwb.records.trials import DeclarationEntry, RatingsEntry
from tabwb.scoring.intervals import burden_interval
from tabwb.scoring.rules.passage import FEATURES
from tabwb.store.store import Store
from tests.cli.conftest import Run, replayed

JUDGE = "tab-2026:gemini:x"


def give(run: Run, model: str = "echo", *more: str) -> None:
    outcome = run("run", "tab", "--model", model, *more, "--json")
    assert outcome.status == 0, outcome.err


def models(tmp_path: Path) -> tuple[str, str, str]:
    """Specs of three models with usable answers: of a base, an instruct and another model."""
    base, instruct, other = (replayed(tmp_path / f"{name}.jsonl") for name in "abc")
    return base, instruct, other


def judge(tmp_path: Path, administration: int, present: Mapping[str, float], prompt: str) -> None:
    """Write a judge's verdicts on the connected texts into the store, as a plugin's would be."""
    told = Declaration(JUDGE, FEATURES, caution="labels by a language model", prompt_text=prompt)
    with Store.open(str(tmp_path / "tabwb-data" / "tabwb.db"), create=False) as store:
        texts = [
            trial
            for trial in store.trials(administration)
            if trial.plan.subtest == "connected-text"
        ]
        ratings = tuple(valued(JUDGE, name, present.get(name, 0.0)) for name in FEATURES)
        store.append(
            administration,
            [
                DeclarationEntry(told),
                *(RatingsEntry(trial.plan.number, 1, ratings) for trial in texts),
            ],
        )


@pytest.fixture
def pair(run: Run, tmp_path: Path) -> None:
    """1 and 2: a base and an instruct model of one family and size; 3: one without a profile."""
    *both, other = models(tmp_path)
    for tuning, spec in zip(("base", "instruct"), both, strict=True):
        outcome = run(
            "model", "add", f"of-{tuning}", spec, "--family", "E-1", "--tuning", tuning,
            "--parameters", "360M",
        )  # fmt: skip
        assert outcome.status == 0, outcome.err
        give(run, f"profile:of-{tuning}")
    give(run, other)


def table_after(text: str, title: str) -> list[list[str]]:
    """Headings and rows of the first table at or below this line, cell by cell."""
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(title))
    rule = next(at for at in range(start, len(lines)) if "───" in lines[at])
    end = next(at for at in range(rule, len(lines)) if not lines[at].strip())
    return [line.split() for line in (lines[rule - 1], *lines[rule + 1 : end])]


def test_an_empty_store_has_nothing_to_show_and_that_is_no_failure(run: Run) -> None:
    assert "tabwb run" in run("results").out
    for by in ("administration", "model", "family,tuning", "subtest", "item-tag"):
        outcome = run("results", "--by", by, "--json")
        assert outcome.status == 0
        assert outcome.document == {
            "format": 1, "groups": [], "pairs": [], "over_families": [], "notices": [],
        }  # fmt: skip
    assert "There are no administrations to show." in run("results", "--by", "model").out


def test_a_store_lists_what_it_holds(run: Run) -> None:
    give(run)
    listed = run("results", "--json").document["administrations"]
    assert [(one["id"], one["answered"], one["planned"]) for one in listed] == [(1, 20, 20)]
    assert "20/20" in run("results").out


def test_one_administration_has_its_trials(run: Run) -> None:
    give(run)
    document = run("results", 1, "--json").document
    assert len(document["trials"]) == 20
    assert document["summary"]["answers"]["n"] == 20
    assert document["summary"]["answers"]["statuses"] == {"prompt-echo": 20}
    (rules,) = document["summary"]["judges"]
    assert (rules["usable"], rules["n"], rules["causes"]) == (0, 5, {"prompt-echo": 5})
    assert (rules["symptom_burden"], rules["interval"]) == (None, None)
    short, long = run("results", 1).out, run("results", 1, "--details").out
    assert "features, rules-2" not in short
    assert ["False", "starts", "-", "0", "-", "-"] in table_after(long, " features, rules-2")


@pytest.mark.usefixtures("pair")
class TestSeveral:
    """With three administrations in the store."""

    def test_two_stand_side_by_side(self, run: Run, tmp_path: Path) -> None:
        base, _, other = models(tmp_path)
        document = run("results", 1, 3, "--json").document
        labels = [group["by"]["administration"] for group in document["groups"]]
        assert labels == [f"#1 {base}", f"#3 {other}"]

    def test_the_table_itself_is_a_file_with_one_row_for_each_model(
        self, run: Run, tmp_path: Path
    ) -> None:
        base, _, _ = models(tmp_path)
        judge(tmp_path, 1, {"anomia": 1}, "one")
        assert run("run", "tab", "--model", base, "--judge", "none", "--seed", 2).status == 0
        out = tmp_path / "models.csv"
        written = run("results", "--by", "model", "--csv", out)
        assert (written.status, written.out) == (0, ""), written.err
        with out.open(encoding="utf-8", newline="") as file:
            rows = {row["model"]: row for row in csv.DictReader(file)}
        # Files are named without their folders.
        assert list(rows) == ["replay:a.jsonl", "replay:b.jsonl", "replay:c.jsonl"]
        assert not any(str(tmp_path) in model for model in rows)
        first, second = rows["replay:a.jsonl"], rows["replay:b.jsonl"]
        assert (first["administrations"], first["tunings"]) == ("1 4", "base | unknown")
        expected = burden_interval([[1.0]] * 5, 19).interval
        assert expected is not None
        # A judge's name may hold an address; its columns have a short one.
        called = next(name for name, value in first.items() if value == JUDGE)
        assert called == "judge1"
        assert not [name for name in first if "http" in name or len(name) > 60]
        figures = [float(first[f"{called} {name}"]) for name in ("burden", "low", "high")]
        assert figures == [1.0, expected.low, expected.high]
        assert (first[f"{called} N"], first[f"{called} not_judged"]) == ("5", "0")
        assert (second[f"{called} burden"], second[f"{called} not_judged"]) == ("", "5")
        assert float(first["word-comprehension accuracy"]) == 0.0
        assert (first["word-comprehension N"], first["given_protocol"]) == ("5", "generate")
        notes = Path(f"{out}.README.txt").read_text(encoding="utf-8")
        assert "not a medical device" in notes and "low and high" in notes
        assert all(f"- {name}: " in notes for name in first)
        before = out.read_bytes()
        again = run("results", "--by", "model", "--csv", out)
        assert (again.status, out.read_bytes()) == (1, before)
        assert "already exists" in again.err
        assert run("results", "--csv", tmp_path / "list.csv").status == 2

    def test_several_judges_have_tables_of_their_own(self, run: Run, tmp_path: Path) -> None:
        base, instruct, other = models(tmp_path)
        judge(tmp_path, 1, {"anomia": 1, "off-topic": 1}, "one")
        judge(tmp_path, 2, {"anomia": 1}, "one")
        judge(tmp_path, 3, {}, "another")
        document = run("results", "--by", "model", "--json").document
        found = {
            (group["by"]["model"], each["rater"], each["n_features"]): each["symptom_burden"]
            for group in document["groups"]
            for each in group["summary"]["judges"]
        }
        assert found[base, JUDGE, 19] == 2.0
        assert found[instruct, JUDGE, 19] == 1.0
        assert found[other, JUDGE, 19] == 0.0
        assert {key[2] for key in found if key[1] == "rules-2"} == {7}
        text = run("results", "--by", "model").out
        assert text.count("symptom burden over 19 features") == 2, "one table for each prompt"
        head, *rows = table_after(text, f"symptom burden over 19 features  ·  {JUDGE}")
        assert head == ["model", "usable", "distinct", "N", "burden", "95", "%", "words"]
        figures = [row[1:5] for row in rows if "5/5" in row]
        assert figures == [["5/5", "5", "5", "2.00"], ["5/5", "5", "5", "1.00"]]
        assert max(map(len, text.splitlines())) <= 80

    def test_one_judge_can_be_shown_alone(self, run: Run, tmp_path: Path) -> None:
        judge(tmp_path, 1, {"anomia": 1}, "one")
        for arguments in (("1",), ("--by", "model"), ("1", "2")):
            text = run("results", *arguments, "--judge", JUDGE).out
            assert JUDGE in text and "rules-2" not in text
        # The alias stands for the judge's own name.
        assert "rules-2" in run("results", 1, "--judge", "rules").out
        outcome = run("results", "--by", "model", "--judge", "nobody")
        assert outcome.status == 2
        assert "nobody" in outcome.err and "rules-2, tab-2026:x" in outcome.err

    def test_a_family_has_its_pair(self, run: Run, tmp_path: Path) -> None:
        base, instruct, other = models(tmp_path)
        judge(tmp_path, 1, {"anomia": 1, "off-topic": 1}, "one")
        judge(tmp_path, 2, {"anomia": 1}, "one")
        document = run("results", "--by", "family", "--json").document
        assert [group["by"]["family"] for group in document["groups"]] == [
            "E-1",
            f"{other}, family unknown",
        ]
        (found,) = document["pairs"]
        assert (found["family"], found["parameters"]) == ("E-1", 360_000_000)
        assert (found["base"], found["instruct"]) == (base, instruct)
        burdens = {each["rater"]: each for each in found["differences"] if each["scope"]}
        # Every text has both features, or one: the width is that of the draws alone.
        assert burdens[JUDGE]["difference"] == 1.0
        low, high = burdens[JUDGE]["interval"]
        half = 2.776445 * ((2 + 0.1) / 5 + (1 + 0.1) / 5) ** 0.5
        assert (low, high) == (pytest.approx(1 - half), pytest.approx(1 + half))
        assert burdens["rules-2"]["difference"] == 0.0
        text = run("results", "--by", "family").out
        assert "E-1, 360,000,000 parameters: base - instruct" in text

    def test_rows_are_sorted_as_asked(self, run: Run, tmp_path: Path) -> None:
        base, instruct, other = models(tmp_path)
        judge(tmp_path, 2, {"anomia": 1}, "one")
        judge(tmp_path, 3, {"anomia": 1, "jargon": 1}, "one")

        def order(*more: str) -> list[str]:
            document: Any = run("results", "--by", "model", "--json", *more).document
            return [group["by"]["model"] for group in document["groups"]]

        assert order("--judge", JUDGE) == [other, instruct, base]
        assert order("--sort", "name") == [base, instruct, other]

    def test_an_option_that_would_change_nothing_is_refused(self, run: Run) -> None:
        for arguments in (("--sort", "N"), ("--judge", "rules"), ("--details",)):
            assert run("results", *arguments).status == 2
        assert run("results", 1, "--sort", "N").status == 2

    def test_models_that_are_pooled_are_named(self, run: Run, tmp_path: Path) -> None:
        answers = tmp_path / "answers.jsonl"
        assert run("export", 1, "--format", "jsonl", "--out", answers).status == 0
        give(run, f"replay:{answers}")
        document = run("results", "--by", "lesion", "--json").document
        (group,) = document["groups"]
        assert group["by"] == {"lesion": "no lesion"}
        assert group["mixed"]["examinee"][-1] == f"replay:{answers}"

    def test_two_models_are_compared_item_by_item(self, run: Run, tmp_path: Path) -> None:
        judge(tmp_path, 1, {"anomia": 1}, "one")
        judge(tmp_path, 2, {}, "another")
        document = run("diff", 1, 2, "--json").document
        assert document["format"] == 1
        compared = document["compared"]
        assert [each["rater"] for each in compared if each["policy"] == "exact"] == [
            None,
            "choice",
            "yes-no",
            "repetition",
        ]
        assert [each["rater"] for each in compared if each["measure"] == "symptom burden"] == [
            "rules-2"
        ]
        assert {each["feature"] for each in compared if each["measure"] == "feature rate"} > {
            "jargon",
            "neologisms",
        }
        (left,) = document["left_out"]
        assert left["rater"] == JUDGE and "prompt" in left["reason"]
        text = run("diff", 1, 2).out
        assert f"{JUDGE}: judged under other terms" in " ".join(text.split())
        assert "20 items, 20 answered alike" in text

    def test_conditions_that_two_sides_do_not_share_are_named(self, run: Run) -> None:
        sampled = ("run", "tab", "--model", "echo", "--temperature", 1, "--judge", "none")
        number = run(*sampled, "--json").document["administration"]["id"]
        document = run("diff", 1, number, "--json").document
        assert set(document["unlike"]) == {"decoding"}
        assert "A and B also differ in decoding: " in run("diff", 1, number).out
        assert run("diff", 1, 2, "--json").document["unlike"] == {}

    def test_judges_are_set_against_each_other(self, run: Run, tmp_path: Path) -> None:
        judge(tmp_path, 1, {"jargon": 1}, "one")
        judge(tmp_path, 2, {"jargon": 1}, "another")
        document = run("judge", "report", 1, 2, "--json").document
        # Two models: a row for each judge of each.
        assert [one["rater"] for one in document["judges"]] == ["rules-2", JUDGE] * 2
        assert len({one["group"] for one in document["judges"]}) == 2
        assert [one["symptom_burden"] for one in document["judges"]] == [0.0, 1.0] * 2
        assert [pair["first"] for pair in document["pairs"]] == ["rules-2", "rules-2"]
        (left,) = document["left_out"]
        assert left["reason"] == "no response in common"
        by_feature = {each["feature"]: each for each in document["pairs"][0]["by_feature"]}
        assert (by_feature["jargon"]["samples"], by_feature["jargon"]["percent"]) == (5, 0.0)
        text = run("judge", "report", 1, 2).out
        expected = between(burden_interval([[1.0]] * 5, 19).interval)
        assert "gemini:x" in text and f"5 of 5 1.00 {expected}" in " ".join(text.split())


def test_a_run_gives_the_same_intervals_as_its_results(run: Run, tmp_path: Path) -> None:
    model = replayed(tmp_path / "answers.jsonl")
    given = run("run", "tab", "--model", model, "--json").document["summary"]
    assert given == run("results", 1, "--json").document["summary"]
    assert given["judges"][0]["interval"] is not None
    assert "95 %" in run("run", "tab", "--model", model).out.split("symptom burden")[1]


def test_recorded_answers_of_unknown_origin_are_not_called_answers_of_people(
    run: Run, tmp_path: Path
) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(
        json.dumps({"subtest": "repetition", "item": "rp1", "replicate": 0, "response": "house."})
    )
    run("run", "tab", "--model", f"replay:{own}")
    give(run)
    written = run("results", "--by", "model", "--csv", tmp_path / "models.csv")
    assert "left out: 1 administration of recorded answers of unknown origin" in written.err
    assert "@origin=model" in written.err and "of people" not in written.err
