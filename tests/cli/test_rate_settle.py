"""``tabwb rate disputed`` and ``tabwb rate settle``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.store.store import Store
from tests.administer.rating.adjudication_parts import JUDGE, disputed_set
from tests.cli.conftest import Run


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        disputed_set(store)
    return path


def test_what_raters_differ_on_is_listed_with_all_verdicts(run: Run, place: Path) -> None:
    shown = run("rate", "disputed", "pilot", "--store", place)
    assert shown.status == 0, shown.err
    assert shown.out.splitlines()[:4] == [
        "sample 2  anomia  (Anomia)",
        "  text 2",
        "  R1 2, R2 0, R3 not rated",
        "",
    ]
    assert f"  R1 present, R2 absent, R3 absent\n  {JUDGE} absent\n" in shown.out
    assert shown.err == "3 answers; 0 of 2 that people differ on are settled\n"
    document = run("rate", "disputed", "pilot", "--measure", "jargon", "--json",
                   "--store", place).document  # fmt: skip
    assert [(one["sample"], one["judges_differ"]) for one in document["disputes"]] == [
        (1, pytest.approx(1 / 3)),
        (2, 1.0),
    ]
    unknown = run("rate", "disputed", "pilot", "--measure", "pauses", "--store", place)
    assert unknown.status != 0
    assert "allowed: jargon, anomia" in unknown.err


def test_a_value_is_settled_and_taken_back(run: Run, place: Path) -> None:
    settle = ("rate", "settle", "pilot", "1", "jargon", "--store", place)
    assert "needs a reason" in run(*settle, "present").err
    made = run(*settle, "present", "--reason", "no such words", "--who", "A1")
    assert (made.status, made.err) == (0, "sample 1, jargon: present; 1 of 2 settled\n")
    listed = run("rate", "disputed", "pilot", "--settled", "--json", "--store", place).document
    (one,) = listed["disputes"]
    assert (one["settled"]["answer"], one["settled"]["who"]) == (1.0, "A1")
    back = run(*settle, "--undo", "--json").document
    assert back["answer"] is None
    assert [row["answer"] for row in back["history"]] == [1.0, None]
    assert run(*settle).status == 2
