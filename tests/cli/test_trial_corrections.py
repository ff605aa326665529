"""Corrections of spoken responses from the command line, and several raters in every output."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.administer.naming_parts import naming_battery
from tests.builders import built, copied, recordings, typed_table
from tests.cli.conftest import Run

pytest.importorskip("soundfile")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dog, heard from a file and scored by A and then by B."""
    folder = tmp_path_factory.mktemp("scored")
    sounds = recordings(folder / "sounds", "dog")
    typed = typed_table(folder / "typed.tsv", dog="D AO G")
    return built(
        folder,
        (*("name", naming_battery(folder / "battery"), "--speaker", "S-014", "--rater", "A"),
         *("--input", sounds, "--transcriber", f"manual:{typed}")),
        "trial score 1 dog right",
        "trial score 1 dog error --rater B",
        "trial code 1 dog unrelated --rater B",
    )  # fmt: skip


@pytest.fixture
def given(run: Run, made: Path, tmp_path: Path) -> Run:
    copied(made, tmp_path)
    return run


def _naming(run: Run, *more: str) -> dict[str, object]:
    found: dict[str, object] = run("results", "1", "--json", *more).document["trials"][0]["naming"]
    return found


def test_an_onset_is_corrected_with_a_trail_and_taken_back(given: Run) -> None:
    before = _naming(given)["onset_s"]
    said = given("trial", "onset", "1", "dog", "0.25", "--rater", "B", "--reason", "a click")
    assert said.err.startswith(f"onset {before:.3f} -> 0.250 s")
    after = _naming(given)
    assert (after["onset_s"], after["onset_by"]) == (0.25, "person:B")
    trail = given("trial", "history", "1", "dog").out.splitlines()
    assert [line.split("  ")[1:] for line in trail] == [
        ["person:B", "code unrelated"],
        ["person:B", "onset 0.250 s", "a click"],
    ]
    given("trial", "undo", "1")
    assert _naming(given)["onset_s"] == before


def test_limits_are_corrected_and_lie_in_the_recording(given: Run) -> None:
    said = given("trial", "attempt", "1", "dog", "--start", "0.1", "--end", "0.9")
    assert (said.status, said.err) == (0, "response 0.000 to 1.000 s -> 0.100 to 0.900 s\n")
    after = _naming(given)
    assert (after["start_s"], after["end_s"]) == (0.1, 0.9)
    assert after["phonemes"] == ["D", "AO", "G"]  # typed: they have no times
    refused = given("trial", "attempt", "1", "dog", "--end", "1.5", status=2)
    assert refused.status == 2
    assert "0.1 to 1.5 s is not a stretch of the recording" in refused.err
    given("trial", "attempt", "1", "dog", status=2)


def test_the_rule_of_the_study_says_who_counts(
    given: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "configuration"
    folder.mkdir()
    (folder / "tabwb.toml").write_text('[study]\nprimary_rater = "B"\n', encoding="utf-8")
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(folder))
    assert (_naming(given)["score"], _naming(given)["counts"]) == ("error", "primary")
    assert _naming(given, "--primary", "A")["score"] == "right"
    assert _naming(given, "--counts", "majority")["score"] is None
    given("results", "1", "--counts", "primary:", status=2)


def test_the_study_counts_by_a_rule_or_names_a_rater(
    given: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(tmp_path))
    for written, score in (('"consensus"', None), ('"primary:B"', "error")):
        (tmp_path / "tabwb.toml").write_text(f"[study]\ncounts = {written}\n", encoding="utf-8")
        assert _naming(given)["score"] == score
    for wrong in ('"R1"', '"primary:"', '"majority"\nprimary_rater = "B"'):
        (tmp_path / "tabwb.toml").write_text(f"[study]\ncounts = {wrong}\n", encoding="utf-8")
        given("results", "1", status=2, err="counts")


def test_both_raters_are_in_every_export(given: Run, tmp_path: Path) -> None:
    for name in ("attempts", "textgrid", "eaf", "chat", "csv", "jsonl"):
        out = tmp_path / f"out-{name}"
        given("export", "1", "--format", name, "--out", out, "--within-study")
        files = [out] if out.is_file() else sorted(out.iterdir())
        text = "\n".join(path.read_text("utf-8") for path in files if path.suffix != ".flac")
        assert "person:A" in text and "person:B" in text


def test_the_table_of_attempts_says_which_score_counts(given: Run, tmp_path: Path) -> None:
    out = tmp_path / "attempts.csv"
    given("export", "1", "--format", "attempts", "--out", out, "--within-study", "--primary", "B")
    with out.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["score"], row["counts"]) == ("error", "primary")
    assert row["all_scores"] == "error (person:B, counts); right (person:A)"
    assert json.loads(json.dumps(row))["code"] == "unrelated"


def test_the_table_of_attempts_has_every_score_beside_that_of_a_rule(
    given: Run, tmp_path: Path
) -> None:
    out = tmp_path / "attempts.csv"
    given("trial", "score", "1", "dog", "error", "--rater", "C")
    given("export", "1", "--format", "attempts", "--out", out, "--within-study",
          "--counts", "majority")  # fmt: skip
    with out.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["score"], row["score_by"], row["counts"]) == ("error", "majority", "majority")
    assert row["all_scores"] == (
        "error (majority, counts); right (person:A); error (person:B); error (person:C)"
    )


def test_a_second_rater_is_told_nothing_of_the_first(given: Run) -> None:
    given("trial", "heard", "1", "dog", "gleeb")  # no word: its sound is guessed
    told = given("trial", "heard", "1", "dog", "cat", "--rater", "D").err
    assert "guessed" not in told and "gleeb" not in told and "/" not in told
    given("trial", "heard", "1", "dog", "drooby", "--rater", "D", err="guessed")


def test_the_report_of_a_session_gives_kappa_of_scores_and_codes(given: Run) -> None:
    given("trial", "code", "1", "dog", "semantic", "--rater", "C")
    document = given("results", "1", "--json").document
    (subtest,) = document["summary"]["subtests"]
    (pair,) = [one for one in subtest["naming"]["code_agreement"] if one["second"] == "person:C"][
        1:
    ]
    assert pair["differences"] == [{"first": "unrelated", "second": "semantic", "n": 1}]
    shown = " ".join(given("results", "1").out.split())
    assert "B and C code 0 of 1 name alike, Cohen's kappa " in shown
    assert "unlike: unrelated/semantic 1" in shown
    assert pair["kappa"] is None  # neither varies
