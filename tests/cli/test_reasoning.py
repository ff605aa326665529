"""The thinking of a model from the server to results, exports, imports and judges."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tabwb.host import guarded
from tests.cli.conftest import Outcome, Run
from tests.plugins.chat_server import Behaviour, Handler, chat_server, chunk

BATTERY = """
[battery]
id = "lions"
title = "Lions"
version = "1"
language = "en"
license = "MIT"

[battery.system]
text = "Be brief."
source = "ours"

[[feature]]
id = "anomia"
title = "Anomia"
key = "Anomia"
definition = "x"

[[subtest]]
id = "choice"
title = "Choice"
response = "choice"
template = "{prompt} ({options})"
scorers = ["choice"]
[[subtest.item]]
id = "c1"
prompt = "Which one has a mane?"
options = ["lion", "drum"]
expected = "lion"
[[subtest]]
id = "told"
title = "Told"
response = "connected-text"
template = "{prompt}"
[[subtest.item]]
id = "t1"
prompt = "Tell me about lions."
"""
THOUGHT = "The drum is not an animal. The drum has no mane."
TAGGED = f"<think>\n{THOUGHT}\n</think>\n\nlion"


@pytest.fixture
def lions(tmp_path: Path) -> Path:
    path = tmp_path / "lions.toml"
    path.write_text(BATTERY, encoding="utf-8")
    return path


def thinks(text: str, *, finish: str = "stop", **fields: str) -> Behaviour:
    """Streams fields of reasoning, then a text in pieces that cut its tags."""
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        chunks = [chunk(**fields)] if fields else []
        chunks += [*map(chunk, pieces), chunk(finish=finish)]
        handler.stream([json.dumps(each) for each in chunks] + ["[DONE]"])

    return answer


def trials_of(done: Outcome) -> dict[str, Any]:
    return {trial["item"]: trial for trial in done.document["trials"]}


def run_with(run: Run, lions: Path, behaviour: Behaviour, *more: object, options: str = "") -> Any:
    with chat_server(behaviour, behaviour) as chat:
        spec = f"openai:m@base_url={chat.url}{options}"
        done = run("run", lions, "--model", spec, "--judge", "none", "--json", *more)
    assert done.status == 0, done.err
    return trials_of(done)


@pytest.mark.parametrize(
    "behaviour",
    [
        thinks(TAGGED),
        thinks("lion", reasoning_content=THOUGHT),
        thinks("lion", reasoning=THOUGHT),
        thinks("lion", reasoning_content=THOUGHT, reasoning=THOUGHT),
        thinks("lion", thinking=THOUGHT),
        thinks(f"{THOUGHT}\n</think>\n\nlion"),
        thinks(f"[THINK]{THOUGHT}[/THINK]lion"),
    ],
    ids=["tags", "field", "other field", "both fields", "third field", "end alone", "mistral"],
)
def test_the_thinking_is_kept_and_not_scored(run: Run, lions: Path, behaviour: Behaviour) -> None:
    trial = run_with(run, lions, behaviour)["c1"]
    assert (trial["response"], trial["reasoning"], trial["status"]) == ("lion", THOUGHT, "ok")
    exact = next(one for one in trial["ratings"] if one["measure"] == "exact")
    assert exact["value"] == 1.0
    assert trial["attempts"][0]["reasoning"] == THOUGHT
    assert "reasoning" not in trial["attempts"][0]["metadata"]


def test_thinking_without_an_end_is_no_empty_answer(run: Run, lions: Path) -> None:
    trial = run_with(run, lions, thinks("<think>The drum", finish="length"))["c1"]
    assert (trial["response"], trial["reasoning"]) == ("", "The drum")
    assert (trial["status"], trial["usable"]) == ("truncated", False)
    assert trial["reply"]["cause"] == "thinking used the limit of tokens"


def test_the_template_gets_its_keywords_and_the_option_keeps_the_text(
    run: Run, lions: Path
) -> None:
    with chat_server(thinks(TAGGED), thinks(TAGGED)) as chat:
        options = "chat.enable_thinking=false,chat.budget=7,reasoning=keep"
        spec = f"openai:m@base_url={chat.url},{options}"
        done = run("run", lions, "--model", spec, "--judge", "none", "--json")
    asked = {"enable_thinking": False, "budget": 7}
    assert [body["chat_template_kwargs"] for body in chat.bodies] == [asked, asked]
    trial = trials_of(done)["c1"]
    assert (trial["response"], trial["reasoning"]) == (TAGGED, None)
    assert done.document["administration"]["examinee"] == spec
    assert done.document["summary"]["answers"]["with_reasoning"] == 0


def test_a_word_that_is_no_value_is_refused(run: Run, lions: Path) -> None:
    run("run", lions, "--model", "echo@reasoning=maybe", status=2, err="reasoning")


def test_exports_have_it_apart_and_give_it_back(run: Run, lions: Path, tmp_path: Path) -> None:
    run_with(run, lions, thinks(TAGGED))
    lines, table = tmp_path / "out.jsonl", tmp_path / "out.csv"
    run("export", "1", "--format", "jsonl", "--out", lines)
    run("export", "1", "--format", "csv", "--out", table)
    first = json.loads(lines.read_text().splitlines()[0])
    assert (first["response"], first["reasoning"]) == ("lion", THOUGHT)
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["response"], row["reasoning"]) for row in rows} == {("lion", THOUGHT)}
    assert {row["system"] for row in rows} | {first["system"]} == {"Be brief."}
    for form, name in (("inspect", "log.eval"), ("lm-eval", "logs")):
        run("export", "1", "--format", form, "--out", tmp_path / name)
    for source in (lines, tmp_path / "log.eval", tmp_path / "logs"):
        done = run("import", source, "--battery", lions, "--json", "--again")
        number = done.document["administrations"][0]["id"]
        trial = trials_of(run("results", number, "--json"))["c1"]
        assert (trial["response"], trial["reasoning"]) == ("lion", THOUGHT)
    again = run("run", lions, "--model", f"replay:{lines}", "--judge", "none", "--json")
    trial = trials_of(again)["c1"]
    assert (trial["response"], trial["reasoning"]) == ("lion", THOUGHT)


def test_imported_answers_lose_their_thinking(run: Run, lions: Path, tmp_path: Path) -> None:
    line = {"item": "c1", "response": "lion", "reasoning_content": THOUGHT, "model": "m"}
    for number, (name, content) in enumerate(
        (
            ("a.csv", f'item,response,model\nc1,"{TAGGED}",m\n'),
            ("b.csv", f'item,response,reasoning,model\nc1,lion,"{THOUGHT}",m\n'),
            ("a.jsonl", json.dumps({"item": "c1", "response": TAGGED, "model": "m"})),
            ("b.jsonl", json.dumps(line)),
        ),
        start=1,
    ):
        (tmp_path / name).write_text(content, encoding="utf-8")
        run("import", tmp_path / name, "--battery", lions)
        trial = trials_of(run("results", number, "--json"))["c1"]
        assert (trial["response"], trial["reasoning"]) == ("lion", THOUGHT)


def test_a_person_who_writes_a_tag_has_written_it(run: Run, lions: Path, tmp_path: Path) -> None:
    said = {"item": "c1", "response": TAGGED, "participant": "S-1", "origin": "human"}
    (tmp_path / "a.jsonl").write_text(json.dumps(said), encoding="utf-8")
    run("import", tmp_path / "a.jsonl", "--battery", lions, "--research-protocol", "P")
    trial = trials_of(run("results", "1", "--json"))["c1"]
    assert (trial["response"], trial["reasoning"]) == (TAGGED, None)


def test_what_an_earlier_version_stored_is_said_and_mended(
    run: Run, lions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:  # versions before 0.2.0 kept nothing apart
        earlier.setattr(guarded, "separated", lambda reply, option: reply)
        spec = f"echo@text={TAGGED.replace(chr(10), ' ')}"
        run("run", lions, "--model", spec, "--judge", "none")
    judge = "tab-2026:echo@text={}"
    run(
        "judge", "run", "1", "--judge", judge, "--scope", "all", status=1
    )  # its replies are no verdicts
    before = run("results", "1", "--json")
    assert before.document["summary"]["answers"]["with_reasoning"] == 2
    assert any("trial rescore" in notice for notice in before.document["notices"])
    assert trials_of(before)["c1"]["response"].startswith("<think>")
    by_model = run("results", "1", "--by", "model", "--json").document["groups"][0]
    assert by_model["summary"]["answers"]["with_reasoning"] == 2
    run("trial", "rescore", "1", err="judge run 1")
    after = run("results", "1", "--json")
    trial = trials_of(after)["c1"]
    assert (trial["response"], trial["reasoning"], trial["status"]) == ("lion", THOUGHT, "ok")
    assert [attempt["state"] for attempt in trial["attempts"]] == ["ok", "ok"]
    assert trial["attempts"][0]["response"].startswith("<think>")
    assert after.document["summary"]["answers"]["with_reasoning"] == 0
    assert not any(one["rater"].startswith("tab-2026") for one in trial["ratings"])
    exact = next(one for one in trial["ratings"] if one["measure"] == "exact")
    assert exact["value"] == 1.0
    run("trial", "rescore", "1")
    assert len(trials_of(run("results", "1", "--json"))["c1"]["attempts"]) == 2
    run("judge", "run", "1", "--judge", judge, "--scope", "all", status=1)
    judged = trials_of(run("results", "1", "--json"))["c1"]["ratings"]
    assert any(one["rater"].startswith("tab-2026") for one in judged)


def test_the_thinking_of_a_judge_is_no_part_of_its_verdict(run: Run, lions: Path) -> None:
    run_with(run, lions, thinks("Lions have manes, and they sleep most of the day."))
    keys = run("judge", "show", "tab-2026", "--json").document
    features = dict.fromkeys(_keys(keys), 0)
    with chat_server(thinks(f'<think>{{"Anomia": 1}}</think>{json.dumps(features)}')) as chat:
        judge = f"tab-2026:openai:m@base_url={chat.url}"
        run("judge", "run", "1", "--judge", judge)
    trial = trials_of(run("results", "1", "--json"))["t1"]
    given = [one for one in trial["ratings"] if one["rater"].startswith("tab-2026")]
    assert {one["status"] for one in given} <= {"value", "undefined"}
    assert {one["value"] for one in given if one["status"] == "value"} == {0.0}
    assert trial["judgements"][0]["raw"].startswith("<think>")


def test_thinking_that_is_taken_back_is_no_wait(run: Run, lions: Path) -> None:
    run_with(run, lions, thinks("Lions have manes, and they sleep most of the day."))
    features = dict.fromkeys(_keys(run("judge", "show", "tab-2026", "--json").document), 0)
    ended = thinks(f"A mane.\n</think>\n{json.dumps(features)}")
    with chat_server(ended, ended) as chat:
        spec = f"openai:m@base_url={chat.url}"
        judged = run("judge", "run", "1", "--judge", f"tab-2026:{spec}", "-q")
        tried = run("model", "test", spec)
    assert (judged.status, tried.status) == (0, 0)
    assert "0 s" not in judged.err + tried.err


def _keys(shown: Any) -> list[str]:
    return [feature["key"] for feature in shown.get("prompt", shown)["features"]]
