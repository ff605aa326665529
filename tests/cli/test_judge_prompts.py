"""``tabwb judge list|show|check``, and the published prompt on its way through the program."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tabwb.host.judge_prompt_files import load_prompt
from tabwb.host.judge_prompts import bundled_folder
from tests.cli.conftest import Run

TAB = load_prompt(bundled_folder() / "tab-2026.toml")
SMALL = """\
[judge]
id = "tiny"
title = "A tiny prompt"
version = "1"
license = "CC0-1.0"
caution = "not compared with expert raters"

[prompt]
user = "{transcript} {definitions}"
repair = "Again: {problem}"

[[feature]]
id = "anomia"
key = "Anomia"
definition = "Word-finding difficulties."
"""


STORIES = (
    "We went to the sea last summer. The water was cold, but we swam every day.",
    "My brother and I built a small house of wood. It stood in the garden for years.",
    "I worked in a bakery. I had to get up at four in the morning.",
    "There is a park near my flat. I like to walk there in the evening.",
    "First I cut some bread and cheese. Then I wash a tomato and put everything on a plate.",
)


def says(name: str, text: str) -> None:
    """A profile of a model that says one thing."""
    folder = Path(os.environ["TABWB_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "tabwb.toml").open("a", encoding="utf-8") as file:
        file.write(f"[profile.{name}]\nid = 'echo'\noptions.text = '''{text}'''\n")


def stories() -> Path:
    """A file of five recorded stories for TAB."""
    file = Path(os.environ["TABWB_CONFIG_DIR"]) / "stories.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    known = {"subtest": "connected-text", "replicate": 0, "kind": "model"}
    lines = [
        known | {"item": f"ct{number}", "response": story}
        for number, story in enumerate(STORIES, start=1)
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file


def judged(run: Run, spec: str, *more: object) -> Mapping[str, Any]:
    """Everything that a judge says of five stories, as the results have it."""
    run("run", "tab", "--model", f"replay:{stories()}", "--judge", "none", "--json", status=3)
    run("judge", "run", 1, "--judge", spec, *more, status=None)
    found: Mapping[str, Any] = run("results", 1, "--json").document
    return found


def ratings(document: Mapping[str, Any], rater: str) -> list[Mapping[str, Any]]:
    return [
        rating
        for trial in document["trials"]
        for rating in trial["ratings"]
        if rating["rater"].startswith(rater)
    ]


# ---------------------------------------------------------------- list, show, check


def test_list_names_features_version_and_file(run: Run) -> None:
    rows = {row["id"]: row for row in run("judge", "list", "--json").document["judges"]}
    assert len(rows["tab-2026"]["features"]) == 19
    assert rows["tab-2026"]["version"] == "2026.1"
    assert Path(rows["tab-2026"]["file"]).name == "tab-2026.toml"
    assert rows["tab-2026"]["spec"] == "tab-2026:CHAT-MODEL"
    assert rows["tab-2026+likelihood"]["aliases"] == ["likelihood"]
    assert rows["rules-2"]["file"] is None
    assert len(rows["rules-2"]["features"]) == 7
    assert rows["surprisal"]["features"] is None
    assert "tab-2026+prompt:CHAT-MODEL" in run("judge", "list").out


def test_show_prints_the_messages_as_they_are_sent(run: Run) -> None:
    shown = run("judge", "show", "tab-2026", "--response", "I went home.", "--json").document
    messages = [(each["role"], each["content"]) for each in shown["messages"]]
    assert messages == [(each.role, each.content) for each in TAB.messages("I went home.", "")]
    assert shown["prompt_sha256"] == hashlib.sha256(TAB.canonical.encode()).hexdigest()
    assert len(shown["known_gaps"]) == 2
    page = run("judge", "show", "tab-2026", "--response", "I went home.").out
    assert TAB.messages("I went home.", "")[1].content in page
    assert all(f"known gap: {gap}" in page for gap in TAB.known_gaps)


def test_show_tells_how_a_likelihood_judge_reads_labels(run: Run) -> None:
    page = run("judge", "show", "likelihood+null").out
    assert "1 where its probability is above 0.5" in page
    assert "calibrated on the passage 'N/A'" in page
    plain = run("judge", "show", "tab-2026", "--json").document["prompt_sha256"]
    assert run("judge", "show", "likelihood", "--json").document["prompt_sha256"] != plain


@pytest.mark.parametrize(
    ("judge", "words"),
    [("tab-2025", "did you mean 'tab-2026'?"), ("rules", "'rules-2' has no prompt for a model")],
)
def test_show_refuses_what_has_no_prompt(run: Run, judge: str, words: str) -> None:
    run("judge", "show", judge, status=2, err=words)


def test_check_takes_a_file_or_an_id(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(SMALL, encoding="utf-8")
    outcome = run("judge", "check", path)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("ok: tiny 1, 1 feature, 0 examples, sha256 ")
    run("judge", "check", "tab-2026+prompt")


# ---------------------------------------------------------------- through the program


def test_the_published_prompt_with_a_model_that_answers_well(run: Run) -> None:
    says("well", TAB.labels(("anomia", "off-topic")))
    document = judged(run, "tab-2026:profile:well")
    (judge,) = document["summary"]["judges"]
    assert judge["symptom_burden"] == 2.0
    assert judge["n_features"] == 19
    found = ratings(document, "tab-2026")
    assert len(found) == 5 * 19
    assert {rating["measure"] for rating in found if rating["value"]} == {"anomia", "off-topic"}


def test_dry_run_shows_the_prompt_and_asks_nothing(run: Run) -> None:
    says("well", TAB.labels(()))
    run("run", "tab", "--model", "echo", "--judge", "none", "--json")
    outcome = run("judge", "run", 1, "--judge", "tab-2026:profile:well", "--dry-run", "--json")
    (document,) = outcome.document["judging"]
    sent = document["requests"][0]["messages"]
    answer = "Respond to the following prompt in 3–5 full sentences:\n"
    answer += "Tell me about the best trip you ever took."
    assert [each["content"] for each in sent] == [each.content for each in TAB.messages(answer, "")]
    assert not ratings(run("results", 1, "--json").document, "tab-2026")


def test_the_prompts_of_an_unfinished_judging_anew_are_named(run: Run) -> None:
    path = Path(os.environ["TABWB_CONFIG_DIR"]) / "judges" / "tiny.toml"
    path.parent.mkdir(parents=True)
    path.write_text(SMALL, encoding="utf-8")
    says("well", '{"Anomia": 0}')
    before = judged(run, "tiny:profile:well")["summary"]["judges"][0]
    assert before["other_prompts"] == {}
    path.write_text(SMALL.replace("Again:", "Once more:"), encoding="utf-8")
    more = ("judge", "run", 1, "--judge", "tiny:profile:well")
    run(*more, "--max-requests", 4, status=3)
    (now,) = run("results", 1, "--json").document["summary"]["judges"]
    # Two requests at most for each answer: 2 of 5 were judged anew.
    assert now["prompt_hash"] != before["prompt_hash"]
    (left,) = now["other_prompts"].items()
    assert left[0] == before["prompt_hash"]
    assert 1 <= left[1] <= 3
    said = f"of the verdicts on 5 responses {left[1]} under {before['prompt_hash'][:8]}"
    for shown in (("1",), ("--by", "model")):
        assert said in " ".join(run("results", *shown).out.split())
    run(*more)
    (whole,) = run("results", 1, "--json").document["summary"]["judges"]
    assert whole["other_prompts"] == {}


@pytest.mark.parametrize(
    ("extra", "client", "name"),
    [("openai", "openai", "gpt-4o-mini"), ("gemini", "google.genai", "gemini-2.5-flash")],
)
def test_a_dry_run_needs_neither_client_library_nor_network(
    run: Run, monkeypatch: pytest.MonkeyPatch, extra: str, client: str, name: str
) -> None:
    model = f"{extra}:{name}"
    near = model + "@base_url=http://localhost:9/v1"
    run("run", "tab", "--model", "echo", "--judge", "none", "--json")
    monkeypatch.setitem(sys.modules, client, None)
    judge = ("judge", "run", 1, "--judge", f"tab-2026:{model}")
    told = run(*judge, "--dry-run", err=" USD (")
    assert "Tell me about the best trip" in told.out
    run("run", "tab", "--model", model, "--dry-run")
    run(*judge, status=1, err="offline")
    asked = run("judge", "run", 1, "--judge", f"tab-2026:{near}", status=1)
    assert f'pip install "tabwb[{extra}]"' in asked.err


@pytest.mark.torch
@pytest.mark.usefixtures("here")
def test_a_judge_without_features_has_no_burden_and_no_vote(run: Run) -> None:
    pytest.importorskip("torch", reason="needs tabwb[local]")
    says("well", TAB.labels(("anomia",)))
    document = judged(run, "surprisal:bundled", "--judge", "tab-2026:profile:well")
    found = ratings(document, "surprisal")
    assert {rating["measure"] for rating in found} == {"surprisal", "perplexity"}
    bits = {rating["value"] for rating in found if rating["measure"] == "surprisal"}
    assert len(bits) == 5
    assert all(0 < value < 40 for value in bits)
    assert [judge["rater"] for judge in document["summary"]["judges"]] == ["tab-2026:profile:well"]
    (judge,) = run("judge", "report", 1, "--json").document["judges"]
    assert judge["rater"] == "tab-2026:profile:well"


@pytest.mark.parametrize(
    ("judge", "words"),
    [("surprisal:echo", "log probabilities"), ("tiny:echo", "tiny.toml:3: judge.titel")],
)
def test_a_judge_that_cannot_be_made_is_refused_before_anything_is_asked(
    run: Run, judge: str, words: str
) -> None:
    path = Path(os.environ["TABWB_CONFIG_DIR"]) / "judges" / "tiny.toml"
    path.parent.mkdir(parents=True)
    path.write_text(SMALL.replace("title", "titel"), encoding="utf-8")
    run("run", "tab", "--model", "echo", "--judge", judge, status=1, err=words)
    assert run("results", "--json").document["administrations"] == []
