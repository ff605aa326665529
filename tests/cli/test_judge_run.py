"""Judging stored answers from the command line, over the real client of a service."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabwb.host.judge_prompt_files import load_prompt
from tabwb.host.judge_prompts import bundled_folder
from tests.builders import needs
from tests.cli.conftest import Outcome, Run
from tests.plugins.chat_server import Chat, Handler, chat_server, refuses, says

needs("openai")

TAB = load_prompt(bundled_folder() / "tab-2026.toml")
PRICE = '[[price]]\nmodel = "openai:priced"\nprompt = 1000.0\nreply = 1000.0\nas_of = 2026-01-01\n'


@pytest.fixture(autouse=True)
def given(run: Run) -> None:
    """Five texts, no two alike, that no judge has seen."""
    run("run", "tab", "--model", "echo", "--judge", "none", "--json")


@pytest.fixture
def chat() -> Iterator[Chat]:
    """A model that finds anomia in everything, and now and then jargon."""
    asked: list[int] = []

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        asked.append(1)
        jargon = ("jargon",) if len(asked) % 2 else ()
        says(TAB.labels(("anomia", *jargon)))(handler, body)

    with chat_server(then=answer) as made:
        yield made


def judge(run: Run, chat: Chat, *more: object, model: str = "small") -> Outcome:
    # One after the other, so that it is known which verdict is whose.
    spec = f"tab-2026:openai:{model}@base_url={chat.url},concurrency=1,retries=0"
    return run("judge", "run", 1, "--judge", spec, *more, status=None)


def priced() -> None:
    path = Path(os.environ["TABWB_CONFIG_DIR"]) / "prices.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(PRICE, encoding="utf-8")


def anomia(run: Run) -> list[tuple[object, str]]:
    """Value and status of one feature, answer by answer."""
    return [
        (rating["value"], rating["status"])
        for trial in run("results", 1, "--json").document["trials"]
        for rating in trial["ratings"]
        if rating["measure"] == "anomia"
    ]


def test_a_dry_run_tells_requests_tokens_and_cost_and_asks_nothing(run: Run, chat: Chat) -> None:
    priced()
    told = judge(run, chat, "--dry-run", model="priced")
    assert told.status == 0
    assert "5 to ask, about" in told.err and "tokens sent" in told.err
    assert "1000 and 1000 USD per million tokens" in told.err
    assert "(at most 20,480)" in told.err  # 5 answers, each asked for twice, 2,048 tokens each
    assert "Tell me about your first job." in told.out
    assert chat.bodies == []


def test_requests_are_limited_and_the_same_command_goes_on(run: Run, chat: Chat) -> None:
    # A call is reckoned with a second request, in case its reply cannot be read.
    first = judge(run, chat, "--max-requests", 3)
    assert first.status == 3
    assert "the limit is 3 requests; 2 were sent, and the next answer may take 2" in first.err
    assert "3 calls left" in first.err
    assert "the same command continues from here" in first.err
    assert len(chat.bodies) == 2
    assert judge(run, chat).status == 0
    assert len(chat.bodies) == 5
    assert anomia(run) == [(True, "value")] * 5
    again = judge(run, chat)
    assert again.status == 0
    assert "5 judged already" in again.err
    assert len(chat.bodies) == 5


def test_a_limit_of_cost_is_kept(run: Run, chat: Chat) -> None:
    priced()
    (told,) = judge(run, chat, "--dry-run", "--json", model="priced").document["judging"]
    most = 2 * (told["prompt_tokens"] + 5 * TAB.max_tokens) / 5 * 1000 / 1_000_000
    stopped = judge(run, chat, "--max-cost", 1.5 * most, model="priced")
    assert stopped.status == 3
    assert 1 <= len(chat.bodies) < 5
    assert "USD" in stopped.err.splitlines()[-3]


def test_repetitions_tell_how_far_a_judge_agrees_with_itself(run: Run, chat: Chat) -> None:
    outcome = judge(run, chat, "--repeat", 2, "--json")
    assert outcome.status == 0
    assert len(chat.bodies) == 10
    (document,) = outcome.document["judging"]
    found = {each["feature"]: each for each in document["self_agreement"]}
    assert (found["anomia"]["percent"], found["anomia"]["pairs"]) == (1.0, 5)
    # Of ten calls every other one found jargon, so that it was found 5 times.
    assert 0 <= found["jargon"]["percent"] < 1
    assert len(anomia(run)) == 5


def test_a_judge_that_gave_no_verdict_at_all_has_failed(run: Run) -> None:
    with chat_server(then=says("I would rather talk about the weather.")) as chat:
        outcome = judge(run, chat, "--json")
        assert outcome.status == 1
        assert "gave no verdict: none of 5 replies can be read" in outcome.err
        assert "--again" in outcome.err
        assert outcome.document["judging"][0]["unparsed"] == 5
        again = judge(run, chat)
        assert (again.status, "5 judged already" in again.err) == (0, True)


def test_a_failed_call_is_an_error_and_never_0(run: Run) -> None:
    down = refuses(503, {"message": "overloaded", "type": "server_error"})
    with chat_server(then=down) as chat:
        outcome = judge(run, chat)
    assert outcome.status == 3
    assert "in error" in outcome.err
    assert set(anomia(run)) == {(None, "error")}
    (summary,) = run("results", 1, "--json").document["summary"]["judges"]
    assert summary["symptom_burden"] is None
    assert summary["n_burden"] == 0


def test_administrations_are_chosen_by_filters_or_all(run: Run) -> None:
    run("run", "tab", "--model", "echo", "--subtest", "connected-text", "--tag", "main")
    command = ("judge", "run", "--judge", "rules-1", "--json")
    chosen = run(*command, "--where", "tag=main").document["judging"]
    assert [document["administration"] for document in chosen] == [2]
    every = run(*command, "--all").document["judging"]
    assert [document["administration"] for document in every] == [1, 2]
    run(*command, status=2)
    run(*command, "1", "--all", status=2)


@pytest.mark.parametrize("judge", ["rules", "nobody"])
def test_an_estimate_that_cannot_be_made_prints_no_document(
    run: Run, tmp_path: Path, judge: str
) -> None:
    place = ["--store", tmp_path / "none.db"] if judge == "rules" else []
    outcome = run("judge", "run", 1, "--judge", judge, "--dry-run", "--json", *place, status=None)
    assert (outcome.status != 0, outcome.out, outcome.err.count("error: ")) == (True, "", 1)
