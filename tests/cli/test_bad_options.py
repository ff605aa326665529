"""Options that no administration can have are refused before one is begun."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "echo", "--temperature", "nan"], "not in the range 0<=x<=10"),
        (["--model", "echo", "--top-p", "nan"], "not in the range 0<x<=1"),
        (["--model", "echo", "--seed", "9" * 30], "not in the range"),
        (["--model", "echo", "--seed", f"-{'9' * 30}"], "not in the range"),
        (["--model", "echo", "--stop", ""], "--stop: an empty text"),
        (["--model", ""], "is not a spec"),
        (["--speaker", "", "--research-protocol", "X"], "is not a valid participant code"),
    ],
)
def test_a_refused_option_leaves_no_administration(
    run: Run, arguments: list[str], said: str
) -> None:
    outcome = run("run", "tab", *arguments)
    assert outcome.status == 2
    assert said in outcome.err
    assert run("results", "--json").document["administrations"] == []


def test_the_largest_seeds_can_be_stored(run: Run) -> None:
    for seed in (-(2**53), 2**53):
        outcome = run(
            "run", "tab", "--model", "echo", "--seed", seed, "--shuffle-options", "--json"
        )
        assert outcome.status == 0, outcome.err
        assert outcome.document["administration"]["seed"] == seed


LINE = {"subtest": "connected-text", "item": "ct1", "replicate": 0, "response": "It was fine."}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 100_000, ":1: cannot be read"),
        (b'{"replicate": ' + b"9" * 5_000 + b"}", ":1: cannot be read"),
        (b"NaN", ":1: is not a JSON object"),
        (b"\xff", ":1: is not UTF-8"),
    ],
    ids=["nested", "number", "nan", "bytes"],
)
def test_a_replay_file_that_is_no_export_is_named_with_its_line(
    run: Run, tmp_path: Path, content: bytes, said: str
) -> None:
    replayed = tmp_path / "answers.jsonl"
    replayed.write_bytes(content)
    outcome = run("run", "tab", "--model", f"replay:{replayed}")
    assert outcome.status == 1
    assert said in outcome.err
    assert "unexpected" not in outcome.err
    assert run("results", "--json").document["administrations"] == []


def test_a_replay_file_may_begin_with_a_byte_order_mark(run: Run, tmp_path: Path) -> None:
    replayed = tmp_path / "answers.jsonl"
    replayed.write_text(json.dumps(LINE), encoding="utf-8-sig")
    outcome = run("run", "tab", "--model", f"replay:{replayed}", "--json")
    assert outcome.document["trials"][0]["response"] == "It was fine."


def test_a_configuration_that_is_a_pipe_is_refused_and_not_waited_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("tabwb.toml")
    outcome = run("results")
    assert outcome.status == 2
    assert "tabwb.toml: cannot be read: is not a regular file" in outcome.err
