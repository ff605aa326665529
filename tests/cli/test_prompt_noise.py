"""``tabwb run --prompt-noise``: what is sent, stored, told apart and exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.conftest import Run

NOISE = "words:drop:0.3@seed=3"


def given(run: Run, *more: object) -> dict[str, Any]:
    done = run("run", "tab", "--model", "echo", "--judge", "none", "--limit", 2, "--json", *more)
    assert done.status == 0, done.err
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
        assert run("export", 1, "--format", format_id, "--out", file).status == 0
        done = run("import", file, "--battery", "tab", "--store", store)
        assert done.status == 0, done.err
        again = run("results", 1, "--store", store, "--json").document
        assert again["administration"]["prompt_noise"] == NOISE
        answered = [t["prompt"] for t in again["trials"] if t["state"] == "answered"]
        assert answered == [t["prompt"] for t in first["trials"]]


def test_what_is_refused(run: Run) -> None:
    person = run("run", "tab", "--speaker", "S-1", "--prompt-noise", NOISE)
    assert person.status == 2 and "applies only to models" in person.err
    wrong = run("run", "tab", "--model", "echo", "--prompt-noise", "words:spin")
    assert wrong.status == 2 and "the prompt noise 'words:spin' has the operation" in wrong.err
    idle = run("run", "tab", "--model", "echo", "--limit", 1, "--prompt-noise", "words:drop:1e-9")
    assert idle.status == 2 and "changes none of the 4 prompts" in idle.err
