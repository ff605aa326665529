"""Cautions on a terminal: whole once in a store, then counted in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_cautions_are_whole_once_in_a_store_and_always_in_a_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(*words: object, terminal: bool = True, store: str = "one.db") -> str:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
        return " ".join(run("--store", tmp_path / store, *words).out.split())

    first, second = "instrument for research", "cautions shown before"
    for store in ("one.db", "other.db"):
        given = shown("run", "tab", "--model", "echo", terminal=False, store=store)
        assert first in given
    assert first in shown("results", 1)
    again = shown("results", 1)
    assert first not in again
    assert second in again
    assert first in shown("results", 1, "--cautions")
    assert first in shown("results", 1, terminal=False)
    assert first in shown("results", 1, store="other.db")
