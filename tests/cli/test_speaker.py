"""``tabwb speaker``: records, consents, the log and deletion on the command line."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tabwb.administer import consent
from tabwb.host.plugins import Plugins
from tabwb.records.errors import NoConsent
from tabwb.store.store import Store
from tests.cli.conftest import Run

TYPED = ("run", "tab", "--speaker", "S-014", "--research-protocol", "IRB-7")
ANSWERS = "xylophone\n" * 15 + ("xylophonist\n\n") * 5


@pytest.fixture(autouse=True)
def _operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABWB_OPERATOR", "ada")


@pytest.fixture
def typed(run: Run) -> None:
    """An administration to S-014, typed by somebody unregistered."""
    run(*TYPED, stdin=ANSWERS, status=3, err="no consent of speaker S-014 is recorded")


def test_what_is_off_is_said_and_nothing_is_kept(run: Run) -> None:
    for words, said in (
        (("add", "Jane Doe"), "is not a valid participant code"),
        (("add", "S-014", "AQ"), "is not COLUMN=VALUE"),
        (("add", "S-014", "AQ=1", "AQ=2"), "given twice"),
        (("add", "S-014", "AQ=120"), "a number from 0 to 100"),
        (("add", "S-014", "dialekt=x"), "did you mean 'dialect'"),
        (("consent", "S-014", "--scope", "record"), "no day"),
        (("consent", "S-014", "--given"), "no scope"),
        (("consent", "S-014", "--all", "--given", "--withdrawn"), "given or withdrawn, not both"),
        (("consent", "S-014", "--scope", "record", "--given", "yesterday"), "is not a valid date"),
        (("consent", "S-014", "--scope", "everything", "--given"), "everything"),
    ):
        run("speaker", *words, status=2, err=said)
    assert "S-014" not in run("speaker", "list", status=None).out


def test_the_columns_are_those_of_the_study(run: Run, monkeypatch: pytest.MonkeyPatch,
                                            tmp_path: Path) -> None:  # fmt: skip
    project = tmp_path / "project"
    project.mkdir()
    (project / "tabwb.toml").write_text(
        '[study]\nspeaker_id_pattern = "P[0-9]"\n'
        'columns = [{ name = "hours", type = "number", unit = "h", minimum = 0 }]\n'
    )
    monkeypatch.chdir(project)
    run("trust")
    study = run("speaker", "columns", "--json").document["study"]
    assert study["speaker_id_pattern"] == "P[0-9]"
    assert study["columns"][-1]["name"] == "hours"
    assert "a number from 0 (h)" in run("speaker", "columns").out
    run("speaker", "add", "P1", "hours=12")


def test_a_record_and_its_consents_are_shown(run: Run) -> None:
    added = run("speaker", "add", "S-014", "AQ=71.3", "dialect=Scots", "--json").document
    assert (added["speaker"]["version"], added["speaker"]["by"]) == (1, "ada")
    run("speaker", "add", "S-014", status=2, err="already registered")
    shown = run("speaker", "show", "S-014").out
    assert "AQ  71.3" in shown and "record      not recorded" in shown
    scopes = ("--scope", "record", "--scope", "rate", "--given", "2026-01-02")
    run("speaker", "consent", "S-014", *scopes, "--document", "IRB-7/014")
    withdrawn = run("speaker", "consent", "S-014", "--scope", "rate", "--withdrawn")
    assert "✓ record      given 2026-01-02, IRB-7/014" in withdrawn.out
    assert f"✗ rate        withdrawn {date.today()}" in withdrawn.out


def test_a_day_in_the_future_is_refused(run: Run) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=2)).date()
    outcome = run("speaker", "consent", "S-014", "--scope", "record", "--given", tomorrow, status=2)
    assert (outcome.status, "in the future" in outcome.err) == (2, True)


@pytest.mark.usefixtures("typed")
def test_an_export_asks_for_share_and_is_logged(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    run("speaker", "add", "S-014")
    refused = run("export", 1, "--out", out, status=1)
    assert (refused.status, out.exists()) == (1, False)
    assert "S-014" in refused.err
    run("export", 1, "--out", out, "--within-study")
    run("speaker", "consent", "S-014", "--scope", "share", "--given")
    run("export", 1, "--out", out, "--force")
    log = run("speaker", "log", "S-014", "--json").document["log"]
    assert [(entry["act"], entry["who"], entry["detail"]) for entry in log] == [
        ("recorded", "ada", "tab"),
        ("registered", "ada", ""),
        ("export-begun", "ada", f"jsonl, within the study: {out}"),
        ("exported", "ada", f"jsonl, within the study: {out}"),
        ("export-begun", "ada", f"jsonl, shared: {out}"),
        ("exported", "ada", f"jsonl, shared: {out}"),
    ]
    lines = run("speaker", "log", "--administration", 1).out.splitlines()
    assert len(lines) == 5
    assert "ada  recorded  S-014  administration 1  tab" in lines[0]


@pytest.mark.usefixtures("typed")
def test_a_deleted_speaker_leaves_a_tombstone(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "tabwb-data"
    run("export", 1, "--out", tmp_path / "o.jsonl")
    assert any(b"xylophonist" in path.read_bytes() for path in store.rglob("*") if path.is_file())
    done = run("speaker", "delete", "S-014", "--reason", "withdrawn", "--yes", "--json")
    deleted = done.document["deleted"]
    assert (deleted["speaker"], deleted["reason"], deleted["by"]) == ("S-014", "withdrawn", "ada")
    assert deleted["counts"]["administrations"] == 1
    assert deleted["finished"] is True
    assert done.document["exports"] == [f"jsonl, within the study: {tmp_path / 'o.jsonl'}"]
    for path in store.rglob("*"):
        assert not (path.is_file() and b"xylophonist" in path.read_bytes())
    listed = run("speaker", "list")
    assert "S-014 was deleted on" in listed.out
    run("speaker", "show", "S-014", status=1, err="was deleted on")
    assert run("results", "--json").document["administrations"] == []


def test_nothing_is_deleted_unless_confirmed(run: Run) -> None:
    run("speaker", "add", "S-014")
    delete = ("speaker", "delete", "S-014", "--reason", "other")
    run(*delete, stdin="S-014\n", status=2, err="--yes")
    run("speaker", "show", "S-014")


class Keyboard(io.StringIO):
    """What a person types at a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_person_types_the_id_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("speaker", "add", "S-014", "AQ=71.3")
    monkeypatch.setattr("sys.stdin", Keyboard("S-041\n"))
    run("speaker", "delete", "S-014", "--reason", "other", status=2, err="nothing was done")
    monkeypatch.setattr("sys.stdin", Keyboard("S-014\n"))
    done = run("speaker", "delete", "S-014", "--reason", "other", err="speaker S-014: 1 record\n")
    assert "S-014 was deleted on" in done.out


def test_nobody_there_is_said_so(run: Run) -> None:
    run("speaker", "add", "S-001")
    for words in (("show", "S-999"), ("consent", "S-999"), ("set", "S-999", "AQ=1")):
        run("speaker", *words, status=1, err="no speaker 'S-999'")


FAR = "tab-2026:openai:gpt-4o-mini@base_url=https://api.example.org/v1"
SECRET = "xylophonist"


@pytest.fixture
def exported(run: Run, battery_file: Path, tmp_path: Path) -> Path:
    """What S-014, who may be recorded and nothing more, typed; exported within the study."""
    run("speaker", "consent", "S-014", "--scope", "record", "--given")
    typed = f"dog\n\nfish\n\n{SECRET}\n\n"
    run("run", battery_file, "--speaker", "S-014", stdin=typed)
    out = tmp_path / "answers.jsonl"
    run("export", 1, "--format", "jsonl", "--out", out, "--within-study")
    return out


def test_a_replay_of_a_persons_answers_is_guarded(
    run: Run, battery_file: Path, exported: Path, tmp_path: Path
) -> None:
    run("run", battery_file, "--model", f"replay:{exported}", "--judge", "none")
    with Store.open() as store:
        conditions = store.administration(2).conditions
    assert (conditions.made_by, conditions.person, conditions.guarded) == ("human", "S-014", True)
    refused = run("export", 2, "--format", "csv", "--out", tmp_path / "o.csv", status=1)
    assert "(scope 'share'): S-014" in refused.err
    again = tmp_path / "again.jsonl"
    run("export", 2, "--format", "jsonl", "--out", again, "--within-study")
    assert json.loads(again.read_text().splitlines()[0])["participant"] == "S-014"


def test_a_replay_of_a_persons_answers_reaches_no_service(
    run: Run, battery_file: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TABWB_OFFLINE")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    run("run", battery_file, "--model", f"replay:{exported}", "--judge", "none")
    plugins = Plugins.load()
    try:
        with Store.open() as store, pytest.raises(NoConsent, match="not consented to rating"):
            conditions = store.administration(2).conditions
            consent.Guard(store, plugins, conditions).check_judging(plugins.judge(FAR))
        run("speaker", "consent", "S-014", "--scope", "rate", "--given")
        with Store.open() as store, pytest.raises(NoConsent, match="not consented to sending data"):
            consent.Guard(store, plugins, conditions).check_judging(plugins.judge(FAR))
    finally:
        plugins.close()


def test_a_deletion_deletes_the_replay_too(
    run: Run, battery_file: Path, exported: Path, tmp_path: Path
) -> None:
    model = f"replay:{exported}"
    run("run", battery_file, "--model", model, "--judge", "none")
    gone = run("speaker", "delete", "S-014", "--reason", "withdrawn", "--yes", "--json")
    assert gone.document["deleted"]["counts"]["administrations"] == 2
    for path in (tmp_path / "tabwb-data").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
    run("run", battery_file, "--model", model, "--judge", "none", status=1, err="S-014 was deleted")


def test_a_person_is_not_declared_a_model(run: Run, battery_file: Path, exported: Path) -> None:
    for option in ("origin=model", "participant=S-015"):
        run("run", battery_file, "--model", f"replay:{exported}@{option}", status=2, err=option)


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
        assert ("protected as a person's" in given.err) == (origin == "unknown")
        with Store.open() as store:
            assert store.administration(number).conditions.made_by == origin


def test_recorded_answers_that_changed_meanwhile_are_not_mixed_with_the_earlier_ones(
    run: Run, battery_file: Path, tmp_path: Path
) -> None:
    run("run", battery_file, "--model", "echo", "--judge", "none")
    whole, given = tmp_path / "whole.jsonl", tmp_path / "given.jsonl"
    run("export", 1, "--format", "jsonl", "--out", whole)
    begun = "".join(whole.read_text(encoding="utf-8").splitlines(keepends=True)[:1])
    given.write_text(begun, encoding="utf-8")
    run("run", battery_file, "--model", f"replay:{given}", "--judge", "none", status=3)
    given.write_bytes(whole.read_bytes())
    refused = run("resume", 2, status=1)
    assert "not the one this administration began with: file_sha256 was " in refused.err
    assert "restore the recorded answers as they were" in refused.err
    with Store.open() as store:
        assert sum(trial.counting is not None for trial in store.trials(2)) == 1
    given.write_text(begun, encoding="utf-8")
    run("resume", 2, status=3)


def test_answers_of_two_persons_are_not_replayed_together(
    run: Run, battery_file: Path, exported: Path, tmp_path: Path
) -> None:
    lines = exported.read_text().splitlines(keepends=True)
    both = tmp_path / "both.jsonl"
    both.write_text("".join([*lines[:-1], lines[-1].replace("S-014", "S-015")]))
    refused = run("run", battery_file, "--model", f"replay:{both}", "--judge", "none", status=2)
    assert refused.status != 0
    assert "answers of 2 persons (S-014, S-015)" in refused.err
    assert len(run("results", "--json").document["administrations"]) == 1
