"""``tabwb agreement``: the page, the document, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

from tests.analysis.rating_parts import verdict_rows, written
from tests.analysis.test_agreement import people_and_judge
from tests.cli.conftest import Run

LABELS = re.compile(r"\b(fair|substantial|slight|moderate|poor|excellent)\b", re.IGNORECASE)


def test_the_page_has_no_verbal_label_and_the_figure_is_drawn(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", verdict_rows(people_and_judge()))
    found = run("agreement", path, "--draws", 200, "--figure", tmp_path / "f.svg")
    assert found.status == 0, found.err
    assert (tmp_path / "f.svg").exists()
    assert not LABELS.search(" ".join(found.out.split()))
    assert max(map(len, found.out.splitlines())) <= 80


def test_what_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", [("a", "R1", "jargon", 1), ("a", "R2", "jargon", 0)])
    assert run("agreement", tmp_path / "none.csv").status == 1
    unknown = run("agreement", path, "--judge", "R9")
    assert unknown.status == 2 and "there is no rater 'R9'" in unknown.err
    wrong = run("agreement", path, "--kind", "jargon=kind")
    assert wrong.status == 2 and "present-absent, scale" in wrong.err
    alone = run("agreement", path, "12")
    assert alone.status == 2 and "read alone" in alone.err
