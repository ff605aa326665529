"""``tabwb figure``: files, what they say of themselves, people, and what is refused."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import median

import pytest
from PIL import Image

from tabwb.media.figures import FIGURES
from tests.cli.conftest import Run, replayed


@pytest.fixture
def given(run: Run, tmp_path: Path) -> None:
    """Two models in the store: administrations 1 and 2."""
    for name in ("a", "b"):
        spec = replayed(tmp_path / f"{name}.jsonl")
        outcome = run("run", "tab", "--model", f"{spec}@origin=model")
        assert outcome.status == 0, outcome.err


def test_lists_every_figure_with_its_options(run: Run) -> None:
    listed = run("figure", "--list")
    assert listed.status == 0
    assert [line.partition(":")[0] for line in listed.out.splitlines()
            if line and not line.startswith(" ")] == list(FIGURES)  # fmt: skip
    document = run("figure", "--list", "--json").document
    assert [figure["id"] for figure in document["figures"]] == list(FIGURES)


@pytest.mark.usefixtures("given")
class TestFigure:
    """With two models in the store."""

    def test_writes_a_figure_and_the_numbers_drawn(self, run: Run, tmp_path: Path) -> None:
        out, data = tmp_path / "burden.png", tmp_path / "burden.csv"
        written = run("figure", "burden", "--out", out, "--data", data, "--width", "double")
        assert written.status == 0, written.err
        with data.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert [row["group"] for row in rows] == ["replay:a.jsonl", "replay:b.jsonl"]
        assert "symptom" in data.with_name("burden.csv.README.txt").read_text().lower()
        with Image.open(out) as image:
            assert image.width == int(190 / 25.4 * 300)
            said = image.info["Comment"]
        assert "tabwb figure burden --width double" in said
        assert str(tmp_path) not in said and "--out" not in said

    def test_draws_the_latency_of_every_response(self, run: Run, tmp_path: Path) -> None:
        data = tmp_path / "latency.csv"
        drawn = run("figure", "latency", "--out", tmp_path / "latency.svg", "--data", data)
        assert drawn.status == 0, drawn.err
        trials = run("results", 1, "--json").document["trials"]
        with data.open(newline="", encoding="utf-8") as file:
            (row, _) = csv.DictReader(file)
        assert int(row["n"]) == len(trials) == 20
        assert float(row["value"]) == pytest.approx(median(one["latency_s"] for one in trials))

    def test_names_the_administrations_by_uid(self, run: Run, tmp_path: Path) -> None:
        (uid, _) = (each["uid"] for each in run("results", "--json").document["administrations"])
        out = tmp_path / "accuracy.svg"
        assert run("figure", "accuracy", 1, "--out", out).status == 0
        assert f"tabwb figure accuracy {uid} --width single" in out.read_text()

    def test_writes_the_same_bytes_twice(self, run: Run, tmp_path: Path) -> None:
        first, second = tmp_path / "x.pdf", tmp_path / "y.pdf"
        for out in (first, second):
            assert run("figure", "accuracy", "--out", out).status == 0
        assert first.read_bytes() == second.read_bytes()

    def test_replaces_a_file_only_when_forced(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "a.pdf"
        out.write_text("mine")
        refused = run("figure", "burden", "--out", out)
        assert (refused.status, out.read_text()) == (1, "mine")
        assert "--force" in refused.err
        assert run("figure", "burden", "--out", out, "--force").status == 0
        assert out.read_bytes().startswith(b"%PDF")

    def test_compares_two_groups(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "differences.svg"
        assert run("figure", "differences", 1, 2, "--out", out).status == 0

    def test_refuses_what_cannot_be_drawn(self, run: Run, tmp_path: Path) -> None:
        out = ("--out", tmp_path / "x.pdf")
        for arguments, message in (
            (("burdens", *out), "did you mean 'burden'?"),
            (("burden", "--out", tmp_path / "x.jpg"), ".pdf, .svg, .png"),
            (("burden", *out, "--width", "7"), "cannot be 7 mm wide"),
            (("burden", *out, "--option", "policy=exact"), "no option 'policy'"),
            (("accuracy", *out, "--option", "exact"), "is not NAME=VALUE"),
            (("burden",), "--out is missing"),
            ((), "tabwb figure --list"),
            (("agreement", *out), "no two judges"),
            (("dose", *out), "fewer than two amounts"),
        ):
            refused = run("figure", *arguments)
            assert (refused.status, message in refused.err) == (2, True), refused.err
        assert list(tmp_path.glob("x.*")) == []


@pytest.mark.usefixtures("given")
class TestPeople:
    """With a registered speaker who has not agreed to share."""

    @pytest.fixture(autouse=True)
    def speaker(self, run: Run, given: None, tmp_path: Path) -> None:
        for scope in ("record", "rate"):
            consent = ("speaker", "consent", "S-014", "--scope", scope, "--given", "2026-01-02")
            assert run(*consent).status == 0
        answers = tmp_path / "person.jsonl"
        replayed(answers)
        answers.write_text(answers.read_text().replace('"origin": "model"', '"origin": "human"'))
        spec = f"replay:{answers}@origin=human,participant=S-014"
        outcome = run("run", "tab", "--model", spec)
        assert outcome.status == 0, outcome.err

    def test_people_are_left_out_of_a_figure_of_the_store(self, run: Run, tmp_path: Path) -> None:
        out, data = tmp_path / "a.pdf", tmp_path / "a.csv"
        written = run("figure", "accuracy", "--out", out, "--data", data)
        assert written.status == 0
        assert "left out: 1 administration of people" in written.err
        assert "person" not in data.read_text()

    def test_a_person_who_is_named_must_have_agreed_to_share(
        self, run: Run, tmp_path: Path
    ) -> None:
        out = tmp_path / "a.pdf"
        refused = run("figure", "accuracy", 3, "--out", out)
        assert refused.status == 1
        assert "S-014" in refused.err and "share" in refused.err
        assert not out.exists()
        assert run("figure", "accuracy", 3, "--out", out, "--within-study").status == 0
        log = run("speaker", "log", "S-014").out
        assert "figure accuracy, within the study" in log

    def test_participants_are_numbered_unless_their_ids_are_asked_for(
        self, run: Run, tmp_path: Path
    ) -> None:
        place, data = tmp_path / "a.svg", tmp_path / "a.csv"
        assert run("tag", 3, "--add", "S-014-pre").status == 0
        asked = ("figure", "accuracy", 3, "--by", "tag", "--where", "tag=S-014-pre", "--force",
                 "--within-study", "--out", place, "--data", data)  # fmt: skip
        assert run(*asked).status == 0
        assert "participant 1" in data.read_text()
        assert "S-014" not in data.read_text() + place.read_text()
        assert run(*asked, "--study-ids").status == 0
        assert "S-014-pre" in data.read_text() and "--study-ids" in place.read_text()
