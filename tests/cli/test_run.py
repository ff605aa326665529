"""``run``, ``resume``, ``results``, ``export``, ``trial``: as a person or a script uses them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.administer.cost import Limits
from tabwb.cli.command import Countdown
from tabwb.operations.operation import Told
from tabwb.records import events
from tests.cli.conftest import ANSWERS, Run, on_terminal, replayed
from tests.plugins.chat_server import chat_server, says

TELLING = """
[battery]
id = "telling"
title = "Telling"
version = "1"
language = "en"
license = "MIT"

[[subtest]]
id = "stories"
title = "Stories"
response = "connected-text"
item = [{ id = "s1", prompt = "Tell me about a trip." }]

[[feature]]
id = "hedging"
key = "hedging"
title = "Hedging"
definition = "Words that leave a statement open."

[[grouping]]
id = "all"
title = "All"
source = "ours"
category = [{ id = "all", title = "All", features = ["hedging"] }]
"""


def test_an_export_replayed_gives_the_same_answers_and_scores(run: Run, tmp_path: Path) -> None:
    first = run("run", "tab", "--model", "echo", "--json").document
    exported = tmp_path / "answers.jsonl"
    run("export", 1, "--format", "jsonl", "--out", exported)
    lines = [json.loads(line) for line in exported.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 20
    assert lines[0].keys() >= {
        "administration", "subtest", "item", "replicate", "prompt", "response", "status",
        "latency_s", "ratings",
    }  # fmt: skip
    again = run("run", "tab", "--model", f"replay:{exported}", "--json").document
    assert [t["response"] for t in again["trials"]] == [t["response"] for t in first["trials"]]
    assert again["summary"] == first["summary"]


CANNOT_BE_DONE = (
    ("run tab", 2, "name one examinee"),
    ("run tab --model echo --speaker S1", 2, "name one examinee"),
    ("run tbb --model echo", 2, "tab"),
    ("run tab --model ehco", 2, "echo"),
    ("run tab --model echo@dealy=1", 2, "delay"),
    ("run tab --model echo --judge rulez", 2, "rules"),
    ("run tab --speaker S-01", 2, "research-protocol"),
    ("run tab --model echo --replicates 0", 2, "replicates"),
    ("run ./nowhere.toml --model echo", 2, "nowhere.toml"),
    ("rnu", 2, "run"),
    ("resume 7", 1, "no store"),
    ("results 7", 1, "no store"),
    ("export 1 --format jsnl --out x", 2, "jsonl"),
)


def test_what_cannot_be_done_is_said_in_one_message(run: Run) -> None:
    for words, status, said in CANNOT_BE_DONE:
        outcome = run(*words.split(), status=status, err=said)
        assert "Traceback" not in outcome.err
        assert outcome.out == ""


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals of this kind here")
def test_who_waits_for_a_model_is_told_that_it_loads() -> None:
    written = on_terminal("run", "tab", "--model", "echo", "--limit", "1")
    assert written.startswith(b"loading echo")


def test_a_relative_path_holds_from_another_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("run", "tab", "--model", "echo")
    run("export", 1, "--format", "jsonl", "--out", "said.jsonl")
    run("run", "tab", "--model", "replay:said.jsonl")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    run("trial", "undo", 2)
    resumed = run("resume", 2, "--json")
    assert resumed.document["administration"]["examinee"] == f"replay:{tmp_path / 'said.jsonl'}"


def test_resuming_what_is_done_shows_it_and_asks_nothing(run: Run) -> None:
    first = run("run", "tab", "--model", "echo", "--json", err="administration 1")
    again = run("resume", 1, "--json")
    assert again.document == first.document


def test_greedy_replicates_are_warned_of(run: Run) -> None:
    outcome = run("run", "tab", "--model", "echo", "--replicates", 2, "--json", err="identical")
    (judge,) = outcome.document["summary"]["judges"]
    assert judge["n_responses"] == 5
    weighed = ("--model", "bundled", "--protocol", "enforced", "--temperature", 0.9)
    said = run("run", "tab", *weighed, "--replicates", 2, "--dry-run", "--judge", "none").err
    assert "replicates of items with options will be identical" in said


def test_help_imports_click_and_our_own_light_modules_only() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from tabwb.cli.main import main; main(['--help']); "
        "print(*sorted({m.split('.')[0] for m in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    heavy = {
        "pydantic", "numpy", "rich", "textual", "tomli", "tomllib",
        "pluggy", "torch", "transformers", "platformdirs", "asyncio", "tabwb_builtin",
    }  # fmt: skip
    assert not heavy & loaded


def test_a_replay_gives_every_replicate_of_the_file(run: Run, tmp_path: Path) -> None:
    run("run", "tab", "--model", "echo", "--temperature", "1", "--replicates", 3, "--judge", "none")
    out = tmp_path / "answers.jsonl"
    run("export", 1, "--out", out)
    replay = ("run", "tab", "--model", f"replay:{out}", "--judge", "none", "--json")
    whole = run(*replay)
    assert len(whole.document["trials"]) == 60
    assert "3 replicates, as in the file" in whole.err
    part = run(*replay, "--replicates", 1)
    assert len(part.document["trials"]) == 20
    assert "the file holds 3 replicates" in part.err


def test_a_judge_of_a_battery_without_features_is_warned_of(run: Run, battery_file: Path) -> None:
    done = run("run", battery_file, "--model", "echo", "--judge", "rules")
    assert "battery 'small' has no features" in done.err
    assert "features" not in run("run", battery_file, "--model", "echo").err


def test_a_judge_with_features_that_the_battery_lacks_is_warned_of(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "telling.toml"
    path.write_text(TELLING, encoding="utf-8")
    done = run("run", path, "--model", "echo", "--judge", "rules")
    assert "battery 'telling' does not have 7 features of judge 'rules-2': " in done.err
    assert "it gives no burden (the battery has: hedging)" in done.err
    again = run("judge", "run", 1, "--judge", "rules", "--again")
    assert again.err.count("does not have 7 features of judge 'rules-2': ") == 1
    asked = run("run", path, "--model", "echo", "--judge", "tab-2026:echo", status=1)
    assert asked.err.count("does not have 19 features of judge 'tab-2026:echo': ") == 1


def test_missing_recorded_answers_do_not_stop_the_run(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    lines = [
        {"subtest": "connected-text", "item": "ct1", "replicate": 0, "response": "We went home."},
        {"subtest": "repetition", "item": "rp5", "replicate": 0, "response": "house."},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done = run("run", "tab", "--model", f"replay:{file}@origin=model", "--json", status=3)
    states = [trial["state"] for trial in done.document["trials"]]
    assert states.count("answered") == 2
    assert states[-1] == "answered"
    assert "18 items are in error" in done.err


PRICE = '[[price]]\nmodel = "openai:priced"\nprompt = 1000.0\nreply = 1000.0\nas_of = 2026-01-01\n'
ECHO = ("run", "tab", "--model", "echo", "--judge", "none", "--json")


def answered(run: Run) -> list[int]:
    return [one["answered"] for one in run("results", "--json").document["administrations"]]


def test_a_run_sends_no_more_requests_than_allowed_and_is_resumed(run: Run) -> None:
    first = run(*ECHO, "--max-requests", 7, status=3)
    assert (first.status, answered(run)) == (3, [7])
    assert "the limit of 7 requests is reached" in first.err
    assert (run("resume", 1, "--max-requests", 5, status=3).status, answered(run)) == (3, [12])
    assert (run("resume", 1).status, answered(run)) == (0, [20])
    run(*ECHO, "--max-requests", 20)


def test_a_batch_stays_within_the_limit(run: Run) -> None:
    pytest.importorskip("openai", reason="needs tabwb[openai]")
    with chat_server(then=says("dog")) as chat:
        model = f"openai:m@base_url={chat.url}"
        stopped = run(
            "run", "tab", "--model", model, "--judge", "none", "--max-requests", 6, status=3
        )
        assert (stopped.status, len(chat.bodies), answered(run)) == (3, 6, [6])


def test_model_and_judges_share_the_limit(run: Run) -> None:
    stopped = run(
        "run", "tab", "--model", "echo", "--judge", "tab-2026:echo", "--max-requests", 21, status=3
    )
    assert (stopped.status, answered(run)) == (3, [20])
    assert "judge run 1" in stopped.err


def test_a_limit_of_cost_needs_a_price() -> None:
    with pytest.raises(tabwb.UsageError, match="needs a price"):
        Limits(cost=1.0).check(None)


def test_a_limit_of_cost_is_kept(run: Run) -> None:
    pytest.importorskip("openai", reason="needs tabwb[openai]")
    with chat_server(then=says("dog")) as chat:
        limited = ("run", "tab", "--model", f"openai:priced@base_url={chat.url}",
                   "--judge", "none", "--max-tokens", 16, "--max-cost", 0.3)  # fmt: skip
        path = Path(os.environ["TABWB_CONFIG_DIR"]) / "prices.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(PRICE, encoding="utf-8")
        run(*limited, status=3)
        # Each request is reserved with its longest reply; what was spent is known afterwards.
        assert 0 < answered(run)[0] == len(chat.bodies) < 20


def test_python_has_the_same_limits() -> None:
    with pytest.raises(tabwb.Interrupted, match="limit of 3 requests"):
        tabwb.run("tab", "echo", judges=[], max_requests=3)
    with tabwb.open() as study:
        assert study.administrations()["answered"].to_list() == [3]
    with pytest.raises(tabwb.Interrupted):
        tabwb.resume(None, 1, max_requests=1)
    with pytest.raises(tabwb.UsageError, match="max_requests: 0 cannot be used"):
        tabwb.resume(None, 1, max_requests=0)
    assert tabwb.resume(None, 1).id == 1


def test_dry_run_prints_every_prompt_and_asks_nothing(run: Run, tmp_path: Path) -> None:
    outcome = run("run", "tab", "--model", "echo", "--dry-run", "--store", tmp_path / "s.db")
    assert "Which one is an animal with a mane? (lion, drum, violin, giraffe, boot, boat)" in (
        outcome.out
    )
    assert "Respond to the following prompt in 3–5 full sentences:" in outcome.out
    assert not (tmp_path / "s.db").exists()
    listed = run("results", "--json", "--store", tmp_path / "s.db")
    assert listed.document == {"format": 1, "administrations": []}
    grouped = run("results", "--by", "model", "--json", "--store", tmp_path / "s.db")
    assert grouped.document["groups"] == []
    assert not (tmp_path / "s.db").exists()


def test_dry_run_for_a_person_shows_what_the_person_gets(run: Run) -> None:
    who = ("--speaker", "S-014", "--research-protocol", "IRB-1")
    outcome = run("run", "tab", *who, "--dry-run", "--json")
    assert (outcome.status, outcome.document["examinee"]) == (0, "S-014")


def test_dry_run_is_exactly_what_is_sent(run: Run) -> None:
    dry = run("run", "tab", "--model", "echo", "--dry-run", "--json").document
    sent = run("run", "tab", "--model", "echo", "--json").document
    assert [prompt["messages"][-1]["content"] for prompt in dry["prompts"]] == [
        trial["prompt"] for trial in sent["trials"]
    ]


def test_dry_run_shows_what_a_protocol_does_with_the_options(run: Run) -> None:
    dry = ("run", "tab", "--model", "bundled", "--dry-run", "--protocol")
    said = run(*dry, "likelihood").out
    assert "[protocol likelihood]\nweighed, not written: lion | drum" in said
    assert said.count("weighed, not written: Yes | No") == 5
    assert said.count("no options: answered freely") == 10
    assert "[protocol enforced]\nheld to one of: Yes | No" in run(*dry, "enforced").out
    assert "[protocol" not in run(*dry, "generate").out
    prompts = run(*dry, "enforced", "--json").document["prompts"]
    found = {each["item"]: (each["protocol"], each["options"]) for each in prompts}
    assert found["sc1"] == ("enforced", ["Yes", "No"])
    assert found["rp1"] == ("generate", [])


def test_dry_run_tells_what_a_judge_with_a_model_will_take(run: Run) -> None:
    dry = ("run", "tab", "--model", "echo", "--judge", "tab-2026:bundled", "--dry-run")
    said = run(*dry).err
    assert "judges by itself when everything is answered: 5 answers, at most 10 requests" in said
    (one,) = run(*dry, "--json").document["judging"]
    assert one == {
        "judge": "tab-2026:bundled",
        "responses": 5,
        "requests_at_most": 10,
        "cost_at_most": 0.0,
    }


def test_dry_run_says_the_smallest_difference_the_design_can_show(run: Run) -> None:
    dry = ("run", "tab", "--model", "bundled", "--replicates", 20, "--temperature", 1, "--dry-run")
    said = run(*dry).err
    assert "p is at least 0.0625, so it never reaches .05" in said
    burden, these, accuracy, _ = run(*dry, "--json").document["smallest_difference"]
    assert (burden["estimand"], burden["items"], burden["replicates"]) == (
        "prompts like these", 5, 20,
    )  # fmt: skip
    never = "sign flips over 5 items never reach .05"
    assert (burden["difference"], burden["reason"]) == (None, never)
    assert these["difference"] == pytest.approx(0.65, abs=0.05)
    assert "labels" in these["test"] and "sign flips" in accuracy["test"]
    assert (accuracy["measure"], accuracy["items"]) == ("accuracy", 15)
    assert accuracy["smallest_p"] == 2**-14


def test_a_dry_run_says_what_reasoning_may_take(run: Run) -> None:
    plain = ("run", "tab", "--judge", "none", "--dry-run", "--json", "--model")
    spec = "openai:thinker@base_url=http://127.0.0.1:9/v1"
    without = run(*plain, spec).document["estimate"]
    added = run(*plain, f"{spec},reasoning_tokens=1000").document["estimate"]
    assert without["reasoning_tokens_at_most"] == 0
    assert added["reasoning_tokens_at_most"] == 20 * 1000
    assert added["reply_tokens_at_most"] == without["reply_tokens_at_most"] + 20 * 1000


def test_quiet_and_verbose(run: Run, battery_file: Path) -> None:
    command = ("run", battery_file, "--model", "echo", "--judge", "none", "--replicates", 20,
               "--temperature", 1, "--batch-size", 1)  # fmt: skip
    assert run(*command, "-q").err == ""
    assert run("-q", *command).err == ""
    assert run(*command, "-v").err.count("item ") == 60
    assert run(*command).err.count("item ") == 21


def test_the_system_message_is_sent_and_stored(
    run: Run, tmp_path: Path, battery_file: Path
) -> None:
    text = battery_file.read_text(encoding="utf-8")
    own = 'system = { text = "Answer.", source = "ours" }\n'
    battery_file.write_text(text.replace("[battery]\n", f"[battery]\n{own}", 1), encoding="utf-8")
    for given, sent in (("You are terse.", "You are terse."), ("none", None), (None, "Answer.")):
        options = () if given is None else ("--system", given)
        made = run("run", battery_file, "--model", "echo", *options, "--json").document
        assert made["administration"]["system_message"] == given
        out = tmp_path / f"{given}.jsonl"
        run("export", made["administration"]["id"], "--format", "jsonl", "--out", out)
        lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert {line["system"] for line in lines} == {sent}


def test_unlike_system_messages_are_never_pooled(run: Run, battery_file: Path) -> None:
    run("run", battery_file, "--model", "echo")
    run("run", battery_file, "--model", "echo", "--system", "You are terse.")
    groups = run("results", "--by", "model", "--json").document["groups"]
    assert [[one["id"] for one in group["administrations"]] for group in groups] == [[1], [2]]


NOISE = "words:drop:0.3@seed=3"


def given(run: Run, *more: object) -> dict[str, Any]:
    done = run("run", "tab", "--model", "echo", "--judge", "none", "--limit", 2, "--json", *more)
    document: dict[str, Any] = done.document
    return document


def test_the_items_texts_alone_differ(run: Run) -> None:
    plain, noisy = (given(run, *more)["trials"] for more in ((), ("--prompt-noise", NOISE)))
    fields = ("subtest", "item", "options", "expected", "foils", "tags")
    assert [[t[f] for f in fields] for t in plain] == [[t[f] for f in fields] for t in noisy]
    shorter = [len(b["prompt"].split()) < len(a["prompt"].split())
               for a, b in zip(plain, noisy, strict=True)]  # fmt: skip
    assert sum(shorter) > len(plain) / 2
    choice = next(b for b in noisy if b["options"])
    assert ", ".join(choice["options"]) in choice["prompt"]
    # What was stored is what was sent: the model returns its prompt.
    assert all(b["response"] == b["prompt"] for b in noisy)


def test_it_is_a_condition_that_is_grouped_filtered_and_never_pooled(run: Run) -> None:
    for more in ((), ("--prompt-noise", NOISE), ("--prompt-noise", "words:mask:.2")):
        given(run, *more)
    rows = run("results", "--by", "prompt-noise", "--json").document["groups"]
    assert [row["name"] for row in rows] == [
        "no prompt noise", NOISE, "words:mask:0.2@seed=1",
    ]  # fmt: skip
    parts = run("results", "--by", "prompt-noise-operation,prompt-noise-amount", "--json")
    assert [row["values"] for row in parts.document["groups"]][1:] == [
        {"prompt-noise-operation": "drop", "prompt-noise-amount": 0.3},
        {"prompt-noise-operation": "mask", "prompt-noise-amount": 0.2},
    ]
    by_model = run("results", "--by", "model", "--json").document["groups"]
    assert len(by_model) == 3
    chosen = run("results", "--by", "model", "--where", "prompt-noise-amount<0.3", "--json")
    assert len(chosen.document["groups"]) == 1


def test_an_export_is_imported_with_it(run: Run, tmp_path: Path) -> None:
    first = given(run, "--prompt-noise", NOISE)
    for format_id, name in (("inspect", "a.eval"), ("lm-eval", "a"), ("jsonl", "a.jsonl")):
        file, store = tmp_path / name, tmp_path / f"{format_id}.db"
        run("export", 1, "--format", format_id, "--out", file)
        run("import", file, "--battery", "tab", "--store", store)
        again = run("results", 1, "--store", store, "--json").document
        assert again["administration"]["prompt_noise"] == NOISE
        answered = [t["prompt"] for t in again["trials"] if t["state"] == "answered"]
        assert answered == [t["prompt"] for t in first["trials"]]


def test_what_is_refused(run: Run) -> None:
    person = run("run", "tab", "--speaker", "S-1", "--prompt-noise", NOISE, status=2)
    assert person.status == 2 and "applies only to models" in person.err
    wrong = run("run", "tab", "--model", "echo", "--prompt-noise", "words:spin", status=2)
    assert wrong.status == 2 and "the prompt noise 'words:spin' has the operation" in wrong.err
    idle = run(
        "run", "tab", "--model", "echo", "--limit", 1, "--prompt-noise", "words:drop:1e-9", status=2
    )
    assert idle.status == 2 and "changes none of the 4 prompts" in idle.err


def test_a_refused_option_leaves_no_administration(run: Run) -> None:
    echo = ("--model", "echo")
    for arguments, said in (
        ((*echo, "--temperature", "nan"), "not in the range 0<=x<=10"),
        ((*echo, "--top-p", "nan"), "not in the range 0<x<=1"),
        ((*echo, "--seed", "9" * 30), "not in the range"),
        ((*echo, "--seed", f"-{'9' * 30}"), "not in the range"),
        ((*echo, "--stop", ""), "--stop: an empty text"),
        (("--model", ""), "is not a spec"),
        (("--speaker", "", "--research-protocol", "X"), "is not a valid participant code"),
    ):
        run("run", "tab", *arguments, status=2, err=said)
    assert run("results", "--json").document["administrations"] == []


def test_the_largest_seeds_can_be_stored(run: Run) -> None:
    for seed in (-(2**53), 2**53):
        outcome = run(
            "run", "tab", "--model", "echo", "--seed", seed, "--shuffle-options", "--json"
        )
        assert outcome.document["administration"]["seed"] == seed


LINE = {"subtest": "connected-text", "item": "ct1", "replicate": 0, "response": "It was fine."}


def test_a_replay_file_that_is_no_export_is_named_with_its_line(run: Run, tmp_path: Path) -> None:
    replayed = tmp_path / "answers.jsonl"
    for content, said in (
        (b"[" * 100_000, ":1: cannot be read"),
        (b'{"replicate": ' + b"9" * 5_000 + b"}", ":1: cannot be read"),
        (b"NaN", ":1: is not a JSON object"),
        (b"\xff", ":1: is not UTF-8"),
    ):
        replayed.write_bytes(content)
        outcome = run("run", "tab", "--model", f"replay:{replayed}", status=1, err=said)
        assert "unexpected" not in outcome.err
    assert run("results", "--json").document["administrations"] == []


def test_a_replay_file_may_begin_with_a_byte_order_mark(run: Run, tmp_path: Path) -> None:
    replayed = tmp_path / "answers.jsonl"
    replayed.write_text(json.dumps(LINE), encoding="utf-8-sig")
    outcome = run("run", "tab", "--model", f"replay:{replayed}", "--json", status=3)
    assert outcome.document["trials"][0]["response"] == "It was fine."


def test_a_configuration_that_is_a_pipe_is_refused_and_not_waited_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("tabwb.toml")
    run("results", status=2, err="tabwb.toml: cannot be read: is not a regular file")


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


def saying(path: Path, texts: tuple[str, ...]) -> str:
    """The spec of a model that answers the five connected texts so."""
    spec = replayed(path)
    said = iter(texts)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line["subtest"] == "connected-text":
            line["response"] = next(said)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return spec


WITHOUT_LANGUAGE: dict[str, tuple[str, ...]] = {
    "the": ("the " * 12,) * 5,
    "words": SALAD,
    "refusals": REFUSALS,
    "sentence": ("I was very happy that day.",) * 5,
}
CAUSES = ("degenerate", "degenerate", "refused", "repeated-answer", "prompt-echo")


def test_answers_without_language_have_no_burden(run: Run, tmp_path: Path) -> None:
    bad = [saying(tmp_path / f"{name}.jsonl", texts) for name, texts in WITHOUT_LANGUAGE.items()]
    good = saying(tmp_path / "good.jsonl", ANSWERS)
    for model in (*bad, "echo", good):
        run("run", "tab", "--model", model, "--json")
    found = run("results", "--by", "model", "--json").document["groups"]
    groups = {group["by"]["model"]: group["summary"]["judges"][0] for group in found}
    # Sorted from the highest burden down: what is not usable comes last, not first.
    assert next(iter(groups)) == good
    first = groups[good]
    assert (first["usable"], first["few_usable"]) == (5, False)
    assert first["symptom_burden"] is not None
    for number, (model, cause) in enumerate(zip((*bad, "echo"), CAUSES, strict=True), start=1):
        last = groups[model]
        assert (last["usable"], last["n"], last["causes"]) == (0, 5, {cause: 5})
        assert (last["symptom_burden"], last["status"]) == (None, "undefined")
        assert last["few_usable"] is True
        assert last["words_mean"] is None and set(last["present"].values()) == {0}
        assert set(last["rates"].values()) == {None}
        shown = " ".join(run("results", number).out.split())
        assert "usable 0 of 5: 5 " in shown and "symptom burden - (few usable)" in shown


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ten seconds go by whenever the time is asked for."""
    ticks = count(0.0, 10.0)
    monkeypatch.setattr("tabwb.cli.command.time.monotonic", lambda: next(ticks))
    yield


def begun(number: int, planned: int) -> Told:
    return Told(f"words w{number}", number, planned, timed=number - 1)


@pytest.mark.usefixtures("clock")
def test_the_time_left_is_that_of_the_items_after_the_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    countdown = Countdown("item", each=True)
    for number in (1, 2, 3, 4):
        countdown.tell(begun(number, 6720))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "item 1/6720  words w1"
    # The first came at 0 s, the third at the next glance, 10 s later: 5 s each, 6716 to come.
    assert lines[-1].startswith("item 4/6720  words w4")
    assert lines[-1].endswith("about 9.3 h left")


@pytest.mark.usefixtures("clock")
def test_waits_and_errors_are_said_even_where_the_rest_is_quiet(
    capsys: pytest.CaptureFixture[str],
) -> None:
    countdown = Countdown("item", quiet=True)
    countdown.tell(begun(1, 20))
    waiting = events.Waiting(1, 1, 12.0, "rate limit (429)")
    countdown.tell(Told("item 1: rate limit (429), waiting 12 s", waits=True, event=waiting))
    countdown.tell(Told("", 1, 20, problem="item 1 in error: the service is down"))
    assert capsys.readouterr().err.splitlines() == [
        "item 1: rate limit (429), waiting 12 s",
        "item 1 in error: the service is down",
    ]


@pytest.mark.usefixtures("clock")
def test_a_silent_service_is_said_unless_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    silence = events.Waiting(1, 1, 75.0, "no byte for 45 s (limit 120 s)", voids=False)
    for quiet in (False, True):
        told = Told(f"item 1: {silence.reason}", 1, 20, waits=True, event=silence)
        Countdown("item", quiet=quiet).tell(told)
    assert capsys.readouterr().err == "item 1: no byte for 45 s (limit 120 s)\n"


@pytest.mark.usefixtures("clock")
def test_elsewhere_than_on_a_terminal_there_is_a_line_for_each_5_percent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    countdown = Countdown("item")
    for number in range(1, 14_001):
        countdown.tell(begun(number, 14_000))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[0].startswith("item 1/14000")
    assert lines[1].startswith("item 700/14000")
    assert lines[-1].startswith("item 14000/14000")


def test_python_m_imports_no_module_of_the_current_folder(tmp_path: Path) -> None:
    for name in ("click", "json", "tomllib"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('code of this folder ran')")
    command = [sys.executable, "-m", "tabwb", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
