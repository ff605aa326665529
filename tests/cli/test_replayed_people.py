"""A person's exported answers that are replayed stay a person's: consent, export, deletion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabwb.administer import consent
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import NoConsent
from tabwb.store.store import Store
from tests.cli.conftest import Run, in_process

FAR = "tab-2026:openai:gpt-4o-mini@base_url=https://api.example.org/v1"
SECRET = "xylophonist"


@pytest.fixture
def exported(run: Run, battery_file: Path, tmp_path: Path) -> Path:
    """What S-014, who may be recorded and nothing more, typed; exported within the study."""
    assert run("speaker", "consent", "S-014", "--scope", "record", "--given").status == 0
    typed = f"dog\n\nfish\n\n{SECRET}\n\n"
    given = in_process(["run", battery_file, "--speaker", "S-014"], stdin=typed)
    assert given.status == 0, given.err
    out = tmp_path / "answers.jsonl"
    assert run("export", 1, "--format", "jsonl", "--out", out, "--within-study").status == 0
    return out


def test_an_export_says_whose_the_answers_are(exported: Path) -> None:
    lines = [json.loads(line) for line in exported.read_text().splitlines()]
    assert {(line["origin"], line["participant"]) for line in lines} == {("human", "S-014")}


def test_a_replay_of_a_persons_answers_is_guarded(
    run: Run, battery_file: Path, exported: Path, tmp_path: Path
) -> None:
    given = run("run", battery_file, "--model", f"replay:{exported}", "--judge", "none")
    assert given.status == 0, given.err
    with Store.open() as store:
        conditions = store.administration(2).conditions
    assert (conditions.made_by, conditions.person, conditions.guarded) == ("human", "S-014", True)
    refused = run("export", 2, "--format", "csv", "--out", tmp_path / "o.csv")
    assert refused.status == 1
    assert "(scope 'share'): S-014" in refused.err
    again = tmp_path / "again.jsonl"
    assert run("export", 2, "--format", "jsonl", "--out", again, "--within-study").status == 0
    assert json.loads(again.read_text().splitlines()[0])["participant"] == "S-014"


def test_a_replay_of_a_persons_answers_reaches_no_service(
    run: Run, battery_file: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TABWB_OFFLINE")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    given = run("run", battery_file, "--model", f"replay:{exported}", "--judge", "none")
    assert given.status == 0, given.err
    plugins = Plugins.load()
    try:
        with Store.open() as store, pytest.raises(NoConsent, match="not consented to rating"):
            conditions = store.administration(2).conditions
            consent.Guard(store, plugins, conditions).check_judging(plugins.judge(FAR))
        assert run("speaker", "consent", "S-014", "--scope", "rate", "--given").status == 0
        with (
            Store.open() as store,
            pytest.raises(NoConsent, match="not consented to sending data"),
        ):
            consent.Guard(store, plugins, conditions).check_judging(plugins.judge(FAR))
    finally:
        plugins.close()


def test_a_deletion_deletes_the_replay_too(
    run: Run, battery_file: Path, exported: Path, tmp_path: Path
) -> None:
    model = f"replay:{exported}"
    assert run("run", battery_file, "--model", model, "--judge", "none").status == 0
    gone = run("speaker", "delete", "S-014", "--reason", "withdrawn", "--yes", "--json")
    assert gone.document["deleted"]["counts"]["administrations"] == 2
    for path in (tmp_path / "tabwb-data").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
    refused = run("run", battery_file, "--model", model, "--judge", "none")
    assert refused.status == 1
    assert "S-014 was deleted" in refused.err


def test_a_person_is_not_declared_a_model(run: Run, battery_file: Path, exported: Path) -> None:
    for option in ("origin=model", "participant=S-015"):
        refused = run("run", battery_file, "--model", f"replay:{exported}@{option}")
        assert refused.status == 2
        assert option in refused.err


def test_answers_of_unknown_origin_are_guarded_until_it_is_said(
    run: Run, battery_file: Path, tmp_path: Path
) -> None:
    file = tmp_path / "answers.jsonl"
    rows = [("words", "w1", "dog"), ("words", "w2", "fish"), ("saying", "s1", "house.")]
    file.write_text(
        "".join(
            json.dumps({"subtest": subtest, "item": item, "replicate": 0, "response": said}) + "\n"
            for subtest, item, said in rows
        )
    )
    for number, (option, origin) in enumerate(
        [("", "unknown"), ("@origin=model", "model"), ("@participant=S-020", "human")], 1
    ):
        given = run("run", battery_file, "--model", f"replay:{file}{option}", "--judge", "none")
        assert given.status == 0, given.err
        assert ("protected as a person's" in given.err) == (origin == "unknown")
        with Store.open() as store:
            assert store.administration(number).conditions.made_by == origin


def test_recorded_answers_that_changed_meanwhile_are_not_mixed_with_the_earlier_ones(
    run: Run, battery_file: Path, tmp_path: Path
) -> None:
    assert run("run", battery_file, "--model", "echo", "--judge", "none").status == 0
    whole, given = tmp_path / "whole.jsonl", tmp_path / "given.jsonl"
    assert run("export", 1, "--format", "jsonl", "--out", whole).status == 0
    begun = "".join(whole.read_text(encoding="utf-8").splitlines(keepends=True)[:1])
    given.write_text(begun, encoding="utf-8")
    stopped = run("run", battery_file, "--model", f"replay:{given}", "--judge", "none")
    assert stopped.status == 3
    given.write_bytes(whole.read_bytes())
    refused = run("resume", 2)
    assert refused.status == 1
    assert "not the one this administration began with: file_sha256 was " in refused.err
    assert "restore the recorded answers as they were" in refused.err
    with Store.open() as store:
        assert sum(trial.counting is not None for trial in store.trials(2)) == 1
    given.write_text(begun, encoding="utf-8")
    assert run("resume", 2).status == 3, "the same file again: it continues"


def test_answers_of_two_persons_are_not_replayed_together(
    run: Run, battery_file: Path, exported: Path, tmp_path: Path
) -> None:
    lines = exported.read_text().splitlines(keepends=True)
    both = tmp_path / "both.jsonl"
    both.write_text("".join([*lines[:-1], lines[-1].replace("S-014", "S-015")]))
    refused = run("run", battery_file, "--model", f"replay:{both}", "--judge", "none")
    assert refused.status != 0
    assert "answers of 2 persons (S-014, S-015)" in refused.err
    assert len(run("results", "--json").document["administrations"]) == 1
