"""``run``, ``resume``, ``results``, ``export``, ``trial``: as a person or a script uses them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome, Run

ADMINISTRATION_KEYS = {
    "id", "uid", "status", "battery", "battery_version", "battery_hash", "examinee", "model",
    "seed", "protocol", "decoding", "lesion",
}  # fmt: skip
TRIAL_KEYS = {
    "subtest", "item", "replicate", "prompt", "response", "state", "status", "latency_s",
    "attempts", "ratings",
}  # fmt: skip
SUBTEST_KEYS = {
    "id", "n", "correct", "correct_normalised", "correct_extracted", "interval",
    "chance_corrected", "baselines", "yes_rate", "balanced_accuracy", "by_tag", "by_foil",
}  # fmt: skip
JUDGE_KEYS = {
    "rater", "scope", "features", "n_features", "n_responses", "n_distinct", "words_mean",
    "no_burden", "symptom_burden", "status", "categories",
}  # fmt: skip

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


def test_tab_given_to_echo_has_the_documents_shape(run: Run) -> None:
    outcome = run("run", "tab", "--model", "echo", "--json")
    assert outcome.status == 0, outcome.err
    document = outcome.document
    assert document["format"] == 1
    assert document["administration"].keys() >= ADMINISTRATION_KEYS
    assert document["administration"]["status"] == "done"
    assert document["administration"]["model_facts"] == {"model": "echo"}
    assert len(document["trials"]) == 20
    assert document["trials"][0].keys() >= TRIAL_KEYS
    assert [subtest["id"] for subtest in document["summary"]["subtests"]] == [
        "connected-text",
        "word-comprehension",
        "sentence-comprehension",
        "repetition",
    ]
    assert all(subtest.keys() >= SUBTEST_KEYS for subtest in document["summary"]["subtests"])
    (judge,) = document["summary"]["judges"]
    assert judge.keys() >= JUDGE_KEYS
    assert judge["rater"] == "rules-2"
    assert judge["scope"] == "connected-text"
    assert judge["n_features"] == 7
    assert judge["n_responses"] == 5


def test_an_export_replayed_gives_the_same_answers_and_scores(run: Run, tmp_path: Path) -> None:
    first = run("run", "tab", "--model", "echo", "--json").document
    exported = tmp_path / "answers.jsonl"
    assert run("export", 1, "--format", "jsonl", "--out", exported).status == 0
    lines = [json.loads(line) for line in exported.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 20
    assert lines[0].keys() >= {
        "administration", "subtest", "item", "replicate", "prompt", "response", "status",
        "latency_s", "ratings",
    }  # fmt: skip
    again = run("run", "tab", "--model", f"replay:{exported}", "--json").document
    assert [t["response"] for t in again["trials"]] == [t["response"] for t in first["trials"]]
    assert again["summary"] == first["summary"]


def test_an_export_with_rotated_options_can_be_replayed(run: Run, tmp_path: Path) -> None:
    rotated = ("--rotate-options", "--judge", "none", "--json")
    first = run("run", "tab", "--model", "echo", *rotated).document
    exported = tmp_path / "answers.jsonl"
    run("export", 1, "--out", exported)
    again = run("run", "tab", "--model", f"replay:{exported}", *rotated).document
    assert len(again["trials"]) == 5 + 5 * 6 + 5 + 5
    assert [t["response"] for t in again["trials"]] == [t["response"] for t in first["trials"]]


def test_an_export_never_overwrites_unless_told(run: Run, tmp_path: Path) -> None:
    run("run", "tab", "--model", "echo")
    out = tmp_path / "a.jsonl"
    out.write_text("mine")
    refused = run("export", 1, "--out", out)
    assert refused.status == 1
    assert "already exists" in refused.err
    assert out.read_text() == "mine"
    assert run("export", 1, "--out", out, "--force").status == 0


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["run", "tab"], 2, "name one examinee"),
        (["run", "tab", "--model", "echo", "--speaker", "S1"], 2, "name one examinee"),
        (["run", "tbb", "--model", "echo"], 2, "tab"),
        (["run", "tab", "--model", "ehco"], 2, "echo"),
        (["run", "tab", "--model", "echo@dealy=1"], 2, "delay"),
        (["run", "tab", "--model", "echo", "--judge", "rulez"], 2, "rules"),
        (["run", "tab", "--speaker", "S-01"], 2, "research-protocol"),
        (["run", "tab", "--model", "echo", "--replicates", "0"], 2, "replicates"),
        (["run", "./nowhere.toml", "--model", "echo"], 2, "nowhere.toml"),
        (["rnu"], 2, "run"),
        (["resume", "7"], 1, "no store"),
        (["results", "7"], 1, "no store"),
        (["export", "1", "--format", "jsnl", "--out", "x"], 2, "jsonl"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_message(
    run: Run, arguments: list[str], status: int, said: str
) -> None:
    outcome = run(*arguments)
    assert outcome.status == status, outcome
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


def test_trials_can_be_voided_undone_and_noted_after_the_fact(run: Run) -> None:
    run("run", "tab", "--model", "echo")
    assert run("trial", "void", 1, "repetition/rp1", "--reason", "misread").status == 0
    document = run("results", 1, "--json").document
    repetition = document["summary"]["subtests"][3]
    assert repetition["n"] == 4
    assert run("trial", "undo", 1).status == 0
    assert run("results", 1, "--json").document["summary"]["subtests"][3]["n"] == 5
    assert run("trial", "note", 1, "rp1", "loud street").status == 0
    assert run("trial", "rescore", 1).status == 0
    assert run("trial", "void", 1, "nothing", "--reason", "x").status == 2


def test_resuming_what_is_done_says_so(run: Run) -> None:
    run("run", "tab", "--model", "echo")
    assert "no items are left" in run("resume", 1).err


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals of this kind here")
def test_who_waits_for_a_model_is_told_that_it_loads() -> None:
    ours, theirs = os.openpty()
    subprocess.run(
        [sys.executable, "-m", "tabwb", "run", "tab", "--model", "echo"],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        timeout=60,
    )
    os.close(theirs)
    # The kernel keeps only so much of what nobody has read yet; the first of it is there.
    assert os.read(ours, 4096).startswith(b"loading echo")
    os.close(ours)


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
    assert resumed.status == 0, resumed.err
    assert resumed.document["administration"]["examinee"] == f"replay:{tmp_path / 'said.jsonl'}"


def test_practice_items_are_given_and_belong_into_no_score(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "b" / "battery.toml"
    path.parent.mkdir()
    path.write_text(PRACTICE, encoding="utf-8")
    document = run("run", path, "--model", "echo", "--json").document
    assert [trial["practice"] for trial in document["trials"]] == [True, False]
    (subtest,) = document["summary"]["subtests"]
    assert (subtest["planned"], subtest["n"]) == (1, 1)
    assert document["administration"]["planned"] == 1


PRACTICE = """
[battery]
id = "warm-up"
title = "Warm up"
version = "1"
language = "en"
license = "MIT"
examinees = ["model"]

[[subtest]]
id = "saying"
title = "Saying"
response = "verbatim"
template = "{prompt}"
scorers = ["repetition"]
item = [
  { id = "p1", prompt = "cup", expected = "cup", practice = true },
  { id = "s1", prompt = "house", expected = "house" },
]
"""


def test_a_model_that_cannot_be_opened_leaves_no_administration(run: Run, tmp_path: Path) -> None:
    outcome = run("run", "tab", "--model", f"replay:{tmp_path / 'nowhere.jsonl'}")
    assert outcome.status == 1
    assert "nowhere.jsonl" in outcome.err
    assert run("results", "--json").document["administrations"] == []


def test_resuming_what_is_done_shows_it_and_asks_nothing(run: Run) -> None:
    first = run("run", "tab", "--model", "echo", "--json")
    assert "administration 1" in first.err
    again = run("resume", 1, "--json")
    assert again.status == 0
    assert again.document == first.document


def test_greedy_replicates_are_warned_of(run: Run) -> None:
    outcome = run("run", "tab", "--model", "echo", "--replicates", 2, "--json")
    assert outcome.status == 0
    assert "identical" in outcome.err
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


def limits_sent(outcome: Outcome) -> list[int]:
    return [trial["reply"]["decoding"]["max_tokens"] for trial in outcome.document["trials"]]


def test_max_tokens_replaces_the_batterys_limits_up_and_down(run: Run) -> None:
    echo = ("run", "tab", "--model", "echo", "--judge", "none", "--json")
    own = run(*echo)
    assert set(limits_sent(own)) == {64, 96, 256}
    assert own.document["administration"]["decoding"]["max_tokens"] is None
    for most in (8, 1024):
        given = run(*echo, "--max-tokens", most)
        assert set(limits_sent(given)) == {most}
        assert given.document["administration"]["decoding"]["max_tokens"] == most


def test_a_replay_gives_every_replicate_of_the_file(run: Run, tmp_path: Path) -> None:
    run("run", "tab", "--model", "echo", "--temperature", "1", "--replicates", 3, "--judge", "none")
    out = tmp_path / "answers.jsonl"
    assert run("export", 1, "--out", out).status == 0
    replay = ("run", "tab", "--model", f"replay:{out}", "--judge", "none", "--json")
    whole = run(*replay)
    assert len(whole.document["trials"]) == 60
    assert "3 replicates, as in the file" in whole.err
    part = run(*replay, "--replicates", 1)
    assert len(part.document["trials"]) == 20
    assert "the file holds 3 replicates" in part.err


def test_the_same_sampled_run_twice_has_the_same_seeds_and_another_seed_none_of_them(
    run: Run,
) -> None:
    echo = ("run", "tab", "--model", "echo", "--temperature", "1", "--judge", "none", "--json")
    first, again, other = (
        [
            trial["reply"]["decoding"]["seed"]
            for trial in run(*echo, "--seed", seed).document["trials"]
        ]
        for seed in (1, 1, 2)
    )
    assert first == again
    assert len(set(first) | set(other)) == 40


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
    asked = run("run", path, "--model", "echo", "--judge", "tab-2026:echo")
    assert asked.err.count("does not have 19 features of judge 'tab-2026:echo': ") == 1


def test_missing_recorded_answers_do_not_stop_the_run(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    lines = [
        {"subtest": "connected-text", "item": "ct1", "replicate": 0, "response": "We went home."},
        {"subtest": "repetition", "item": "rp5", "replicate": 0, "response": "house."},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done = run("run", "tab", "--model", f"replay:{file}@origin=model", "--json")
    assert done.status == 3
    states = [trial["state"] for trial in done.document["trials"]]
    assert states.count("answered") == 2
    assert states[-1] == "answered"
    assert "18 items are in error" in done.err
