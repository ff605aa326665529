"""Given whole, the worst answers have no burden that could be taken for a healthy one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ANSWERS, Run, replayed

REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "My apologies, but I'm not able to answer that.",
    "I cannot answer this question.",
    "I'm unable to assist with that request.",
    "Sorry, I can't share personal stories.",
)
SALAD = (
    "of the and to a in that it was for",
    "and the of to in a for it was that",
    "it was of the and to that in a for",
    "to the of and a in for was it that",
    "a the of and to in it that was for",
)


def says(path: Path, texts: tuple[str, ...]) -> str:
    """The spec of a model that answers the five connected texts so."""
    spec = replayed(path)
    said = iter(texts)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line["subtest"] == "connected-text":
            line["response"] = next(said)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return spec


@pytest.mark.parametrize(
    ("texts", "cause"),
    [
        (("the " * 12,) * 5, "degenerate"),
        (SALAD, "degenerate"),
        (REFUSALS, "refused"),
        (("I was very happy that day.",) * 5, "repeated-answer"),
        (None, "prompt-echo"),
    ],
    ids=["the the the", "function words", "refusals", "one sentence", "echo"],
)
def test_answers_without_language_have_no_burden(
    run: Run, tmp_path: Path, texts: tuple[str, ...] | None, cause: str
) -> None:
    bad = "echo" if texts is None else says(tmp_path / "bad.jsonl", texts)
    good = says(tmp_path / "good.jsonl", ANSWERS)
    for model in (bad, good):
        outcome = run("run", "tab", "--model", model, "--json")
        assert outcome.status == 0, outcome.err
    document = run("results", "--by", "model", "--json").document
    first, last = (group["summary"]["judges"][0] for group in document["groups"])
    # Sorted from the highest burden down: what is not usable comes last, not first.
    assert [group["by"]["model"] for group in document["groups"]] == [good, bad]
    assert (last["usable"], last["n"], last["causes"]) == (0, 5, {cause: 5})
    assert (last["symptom_burden"], last["status"], last["few_usable"]) == (None, "undefined", True)
    assert last["words_mean"] is None and set(last["present"].values()) == {0}
    assert set(last["rates"].values()) == {None}
    assert (first["usable"], first["few_usable"]) == (5, False)
    assert first["symptom_burden"] is not None
    shown = " ".join(run("results", 1).out.split())
    assert "usable 0 of 5: 5 " in shown and "symptom burden - (few usable)" in shown
