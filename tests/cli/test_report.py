"""``tabwb report``: the file, the methods on standard output, references, refusals."""

from __future__ import annotations

import csv
import html
import re
import shlex
import stat
from pathlib import Path

import pytest
from PIL import Image

from tabwb.media.figures import FIGURES
from tabwb.records.words import RESEARCH_ONLY
from tests.builders import built, copied
from tests.cli.conftest import Run, in_process, replayed


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Administrations 1 and 2, of two made-up models."""
    folder = tmp_path_factory.mktemp("report")
    models = [replayed(folder / f"{name}.jsonl") for name in "ab"]
    return built(folder, *(("run", "tab", "--model", model, "-q") for model in models))


@pytest.fixture
def two(made: Path, tmp_path: Path) -> None:
    """The store with two models, as the store of this test."""
    copied(made, tmp_path)


@pytest.mark.usefixtures("two")
def test_a_report_is_one_private_file_that_is_never_overwritten(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    arguments = ("report", "--by", "model", "--out", out, "--responses", 1)
    written = run(*arguments)
    assert (written.status, written.out) == (0, ""), written.err
    content = out.read_bytes()
    assert RESEARCH_ONLY.replace("'", "&#39;").encode() in content
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert b"tabwb report --by model --responses 1 --out r.html" in content
    assert str(tmp_path).encode() not in content
    assert not list(tmp_path.glob("r.html.*"))
    run(*arguments, status=1, err="the file already exists")
    run(*arguments, "--force")
    assert out.read_bytes() == content


@pytest.mark.usefixtures("two")
def test_methods_are_printed_as_text_and_as_a_document(run: Run, tmp_path: Path) -> None:
    bib = tmp_path / "refs.bib"
    told = run("report", "--by", "model", "--methods", "--bib", bib)
    assert told.out.startswith("Materials. The Text Aphasia Battery (id tab, version 2026.1, ")
    assert "2 models responded: replay:a.jsonl" in told.out
    document = run("report", "--by", "model", "--methods", "--json").document
    assert document["format"] == 1
    assert document["paragraphs"][0]["title"] == "Materials"
    run("rate", "plan", "pilot", "1", "2", "--raters", "R1")
    planned = run("report", "--by", "model", "--methods", "--json").document
    assert planned["paragraphs"] == document["paragraphs"]  # nobody has rated yet
    assert bib.read_text().count("\n}\n") == len(document["references"])
    assert "@misc{tab,\n  author = {Nathan Roll and Jill Kries and" in bib.read_text()


@pytest.mark.usefixtures("two")
def test_a_report_is_of_what_is_chosen(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "r.md"
    run("report", 2, "--out", out, "--title", "Only b")
    text = out.read_text()
    assert text.startswith("# Only b\n")
    assert "a.jsonl" not in text
    assert "tabwb report 2 --title 'Only b' --out r.md" in text


def test_what_cannot_be_written_is_refused_before_anything_is_read(
    run: Run, tmp_path: Path
) -> None:
    for arguments, message in (
        ((), "a report needs a file"),
        (("--out", tmp_path / "r.pdf"), "does not end in the name of a format of reports"),
        (("--methods", "--responses", 2), "--responses: this needs a report"),
        (("--methods", "--out", "-"), "both write to standard output"),
    ):
        run("report", *arguments, status=2, err=message)
    run("report", "--out", tmp_path / "r.html", status=1)
    assert not list(tmp_path.glob("r.*"))


def test_lists_every_figure_with_its_options(run: Run) -> None:
    listed = run("figure", "--list")
    assert [line.partition(":")[0] for line in listed.out.splitlines()
            if line and not line.startswith(" ")] == list(FIGURES)  # fmt: skip
    document = run("figure", "--list", "--json").document
    assert [figure["id"] for figure in document["figures"]] == list(FIGURES)


@pytest.mark.usefixtures("two")
class TestFigure:
    def test_writes_a_figure_and_the_numbers_drawn(self, run: Run, tmp_path: Path) -> None:
        out, data = tmp_path / "burden.png", tmp_path / "burden.csv"
        run("figure", "burden", "--out", out, "--data", data, "--width", "double")
        with data.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert [row["group"] for row in rows if not row["item"]] == [
            "replay:a.jsonl",
            "replay:b.jsonl",
        ]
        assert "symptom" in data.with_name("burden.csv.README.txt").read_text().lower()
        with Image.open(out) as image:
            assert image.width == int(190 / 25.4 * 300)
            said = image.info["Comment"]
        assert "tabwb figure burden --width double" in said
        assert str(tmp_path) not in said and "--out" not in said

    def test_replaces_a_file_only_when_forced(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "a.pdf"
        out.write_text("mine")
        refused = run("figure", "burden", "--out", out, status=1)
        assert (refused.status, out.read_text()) == (1, "mine")
        assert "--force" in refused.err
        run("figure", "burden", "--out", out, "--force")
        assert out.read_bytes().startswith(b"%PDF")

    def test_refuses_what_cannot_be_drawn(self, run: Run, tmp_path: Path) -> None:
        out = ("--out", tmp_path / "x.pdf")
        for arguments, message in (
            (("burdens", *out), "did you mean 'burden'?"),
            (("burden", "--out", tmp_path / "x.jpg"), ".pdf, .svg, .png"),
            (("burden", *out, "--width", "7"), "cannot be 7 mm wide"),
            (("burden", *out, "--option", "policy=exact"), "no option 'policy'"),
            (("accuracy", *out, "--option", "exact"), "is not NAME=VALUE"),
            (("burden",), "--out: a file is needed"),
            ((), "tabwb figure --list"),
            (("agreement", *out), "no two judges"),
            (("dose", *out), "fewer than two amounts"),
        ):
            run("figure", *arguments, status=2, err=message)
        assert list(tmp_path.glob("x.*")) == []


@pytest.mark.usefixtures("two")
def test_figures_of_people_are_for_who_agreed_and_name_nobody(run: Run, tmp_path: Path) -> None:
    run("speaker", "consent", "S-014", "--scope", "record", "--scope", "rate",
        "--given", "2026-01-02")  # fmt: skip
    answers = tmp_path / "person.jsonl"
    replayed(answers)
    answers.write_text(answers.read_text().replace('"origin": "model"', '"origin": "human"'))
    run("run", "tab", "--model", f"replay:{answers}@origin=human,participant=S-014", "-q")
    place, data = tmp_path / "a.svg", tmp_path / "a.csv"
    draw = ("figure", "accuracy", "--out", place, "--data", data)
    run(*draw, err="left out: 1 administration of people")
    assert "person" not in data.read_text()
    place.unlink()
    run(*draw, 3, "--force", status=1, err=("S-014", "share"))
    assert not place.exists()
    run("tag", 3, "--add", "S-014-pre")
    asked = (*draw, 3, "--by", "tag", "--where", "tag=S-014-pre", "--force", "--within-study")
    run(*asked)
    log = run("speaker", "log", "S-014").out
    assert re.search("figure accuracy.*, within the study: ", log)
    assert "participant 1" in data.read_text()
    assert "S-014" not in data.read_text() + place.read_text()
    run(*asked, "--study-ids")
    assert "S-014-pre" in data.read_text() and "--study-ids" in place.read_text()


def test_the_command_of_the_reproduction_runs(run: Run) -> None:
    run("run", "tab", "--model", "echo", "-q")
    written = in_process(["report", 1, "--out", "-"]).out
    assert written.startswith("<!doctype html>")
    (command,) = re.findall(r"tabwb (run tab [^<\n]*)", html.unescape(written))
    run(*shlex.split(command), "-q")
    first, second = (run("results", n, "--json").document["administration"] for n in (1, 2))
    assert first["judges"] == second["judges"] == ["rules-2"]
    assert first["rater_versions"] == second["rater_versions"]
