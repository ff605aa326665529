"""What a function answered, exported, imported again, and counted once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tabwb
from tabwb.store.store import Store

LABELS: dict[str, str | int] = {"family": "F", "tuning": "base", "parameters": 1000}


def answer(prompt: str) -> str:
    return "dog" if "barks" in prompt else "house."


@pytest.mark.parametrize("name", ["lines.jsonl", "log.eval", "samples"])
@pytest.mark.parametrize("temperature", [None, 0.0])
def test_a_round_trip_keeps_the_model_and_counts_once(
    name: str, temperature: float | None, battery_file: Path, tmp_path: Path
) -> None:
    place, file = tmp_path / "s.db", tmp_path / name
    format_id = {".jsonl": "jsonl", ".eval": "inspect"}.get(file.suffix, "lm-eval")
    given = tabwb.run(
        battery_file, answer, name="mine", labels=LABELS, temperature=temperature, judges=[],
        store=place,
    )  # fmt: skip
    with tabwb.open(place) as study:
        study.export([given.id], format=format_id, out=file)
        before = study.results(by="model")
    (again,) = tabwb.import_answers(file, battery_file, judges=[], store=place)
    with tabwb.open(place) as study:
        after = study.results(by="model")
    first, second = given.record.conditions, again.record.conditions
    assert second.examinee == first.examinee == "python:mine"
    assert dict(second.labels) == dict(first.labels) == {k: str(v) for k, v in LABELS.items()}
    assert (second.unknown, second.drawn, second.origin) == (first.unknown, first.drawn, "model")
    assert list(after.rows()) == list(before.rows())


def test_lines_keep_what_the_back_end_said(battery_file: Path, tmp_path: Path) -> None:
    place, file = tmp_path / "s.db", tmp_path / "lines.jsonl"
    given = tabwb.run(battery_file, "echo", judges=[], store=place)
    with tabwb.open(place) as study:
        study.export([given.id], out=file)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert all(line["model_facts"]["model"] == "echo" for line in lines)
    facts = {"model": "echo", "dtype": "bfloat16", "template": "chat", "weights_sha256": "ab"}
    text = "".join(json.dumps(line | {"model_facts": facts}) + "\n" for line in lines)
    file.write_text(text, encoding="utf-8")
    (again,) = tabwb.import_answers(file, battery_file, judges=[], store=place)
    with Store.open(place) as store:
        kept = store.history(again.id).model_facts
    assert {name: kept[name] for name in facts} == facts
    assert kept["imported_file"] == "lines.jsonl"


def test_the_decoding_of_a_function_is_known_where_it_is_told_or_stated(
    battery_file: Path, tmp_path: Path
) -> None:
    def asks(prompt: str, *, request: object) -> str:
        return answer(prompt)

    place = tmp_path / "s.db"
    for function, temperature, words in (
        (answer, None, "decoding not known"),
        (answer, 0.7, "temperature 0.7"),
        (asks, None, "greedy"),
    ):
        given = tabwb.run(battery_file, function, temperature=temperature, judges=[], store=place)
        assert given.record.conditions.drawn == words
    with tabwb.open(place) as study:
        said = study.methods([1])
    assert "Responses were given by a Python function whose decoding is not known." in said
    assert "greedily" not in said and "token limit" not in said and "seed" not in said
