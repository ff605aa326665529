"""``tabwb report``: the file, the methods on standard output, references, refusals."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tabwb.records.words import RESEARCH_ONLY
from tests.cli.conftest import Run, in_process, replayed


@pytest.fixture
def two(run: Run, tmp_path: Path) -> None:
    """Administrations of two made-up models."""
    for name in "ab":
        spec = replayed(tmp_path / f"{name}.jsonl")
        assert run("run", "tab", "--model", spec).status == 0


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
    refused = run(*arguments)
    assert refused.status == 1
    assert "the file already exists" in refused.err
    assert run(*arguments, "--force").status == 0
    assert out.read_bytes() == content


@pytest.mark.usefixtures("two")
def test_methods_are_printed_as_text_and_as_a_document(run: Run, tmp_path: Path) -> None:
    bib = tmp_path / "refs.bib"
    told = run("report", "--by", "model", "--methods", "--bib", bib)
    assert told.status == 0, told.err
    assert told.out.startswith("Materials. The Text Aphasia Battery (id tab, version 2026.1, ")
    assert "2 models responded: replay:a.jsonl" in told.out
    document = run("report", "--by", "model", "--methods", "--json").document
    assert document["format"] == 1
    assert document["paragraphs"][0]["title"] == "Materials"
    assert bib.read_text().count("\n}\n") == len(document["references"])
    assert "@misc{tab,\n  author = {Nathan Roll and Jill Kries and" in bib.read_text()


@pytest.mark.usefixtures("two")
def test_a_report_is_of_what_is_chosen(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "r.md"
    assert run("report", 2, "--out", out, "--title", "Only b").status == 0
    text = out.read_text()
    assert text.startswith("# Only b\n")
    assert "a.jsonl" not in text
    assert "tabwb report 2 --title 'Only b' --out r.md" in text
    shown = in_process(["report", 2, "--out", "-"])
    assert shown.status == 0, shown.err
    assert shown.out.startswith("<!doctype html>")


def test_what_cannot_be_written_is_refused_before_anything_is_read(
    run: Run, tmp_path: Path
) -> None:
    for arguments, message in (
        ((), "a report needs a file"),
        (("--out", tmp_path / "r.pdf"), "does not end in the name of a format of reports"),
        (("--bib", tmp_path / "b", "--json"), "--json prints the methods"),
        (("--methods", "--responses", 2), "--responses needs a report"),
        (("--methods", "--out", "-"), "both write to standard output"),
    ):
        refused = run("report", *arguments)
        assert refused.status == 2, arguments
        assert message in refused.err
    empty = run("report", "--out", tmp_path / "r.html")
    assert empty.status == 1
    assert not list(tmp_path.glob("r.*"))


def test_a_report_of_choices_in_one_order_has_no_table_of_positions(
    run: Run, tmp_path: Path
) -> None:
    battery = tmp_path / "keys.toml"
    battery.write_text(
        """[battery]
id = "keys"
title = "Keys"
version = "1"
language = "en"
license = "MIT"
examinees = ["model"]
[[subtest]]
id = "words"
title = "Words"
response = "choice"
template = "{prompt} ({options})"
[[subtest.item]]
id = "first"
prompt = "Which is an animal?"
options = ["lion", "drum"]
expected = "lion"
[[subtest.item]]
id = "last"
prompt = "Which makes music?"
options = ["lion", "drum"]
expected = "drum"
""",
        encoding="utf-8",
    )
    assert run("run", battery, "--model", "echo").status == 0
    out = tmp_path / "r.md"
    written = run("report", "--out", out)
    assert written.status == 0, written.err
    assert "## Positions" not in out.read_text()
