"""``tabwb speaker``: records, consents, the log and deletion on the command line."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tabwb.records.speakers import SCOPES
from tests.cli.conftest import Run, in_process

TYPED = ("run", "tab", "--speaker", "S-014", "--research-protocol", "IRB-7")
ANSWERS = "xylophone\n" * 15 + ("xylophonist\n\n") * 5


@pytest.fixture(autouse=True)
def _operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABWB_OPERATOR", "ada")


@pytest.fixture
def typed() -> None:
    """An administration to S-014, typed by somebody unregistered."""
    outcome = in_process(TYPED, stdin=ANSWERS)
    assert "no consent of speaker S-014 is recorded" in outcome.err


# ---------------------------------------------------------------- records


def test_a_speaker_is_registered_with_what_is_known(run: Run) -> None:
    added = run("speaker", "add", "S-014", "AQ=71.3", "dialect=Scots", "--json")
    assert added.status == 0
    speaker = added.document["speaker"]
    assert (speaker["id"], speaker["version"], speaker["by"]) == ("S-014", 1, "ada")
    assert speaker["values"] == {"AQ": 71.3, "dialect": "Scots"}
    assert run("speaker", "show", "S-014", "--json").document == added.document
    shown = run("speaker", "show", "S-014").out
    assert "AQ  71.3" in shown
    assert "record      not recorded" in shown


def test_a_record_is_changed_by_a_new_version(run: Run) -> None:
    run("speaker", "add", "S-014", "AQ=71.3", "dialect=Scots")
    changed = run("speaker", "set", "S-014", "AQ=", "months_post_onset=18", "--json")
    assert changed.document["speaker"]["values"] == {"dialect": "Scots", "months_post_onset": 18}
    assert changed.document["speaker"]["version"] == 2
    again = run("speaker", "add", "S-014")
    assert (again.status, "already registered" in again.err) == (2, True)


def test_units_are_shown(run: Run) -> None:
    shown = run("speaker", "add", "S-014", "months_post_onset=18", "age_years=61").out
    assert "months_post_onset  18.0 months" in shown
    assert "age_years  61.0 years" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "Jane Doe"), "is not a valid participant code"),
        (("add", "S-014", "AQ"), "is not COLUMN=VALUE"),
        (("add", "S-014", "AQ=1", "AQ=2"), "given twice"),
        (("add", "S-014", "AQ=120"), "a number from 0 to 100"),
        (("add", "S-014", "dialekt=x"), "did you mean 'dialect'"),
        (("consent", "S-014", "--scope", "record"), "no day"),
        (("consent", "S-014", "--given"), "no scope"),
        (("consent", "S-014", "--all", "--given", "--withdrawn"), "exclude each other"),
        (("consent", "S-014", "--scope", "record", "--given", "yesterday"), "is not a valid date"),
        (("consent", "S-014", "--scope", "everything", "--given"), "everything"),
    ],
)
def test_what_is_off_is_said_and_nothing_is_kept(
    run: Run, words: tuple[str, ...], said: str
) -> None:
    outcome = run("speaker", *words)
    assert (outcome.status, said in outcome.err) == (2, True), outcome.err
    assert "S-014" not in run("speaker", "list").out


def test_an_id_of_another_shape_is_warned_of_once(run: Run) -> None:
    assert "warning: 'Jane'" in run("speaker", "add", "Jane").err
    assert "warning" not in run("speaker", "set", "Jane", "AQ=1").err


def test_the_columns_are_those_of_the_study(run: Run, monkeypatch: pytest.MonkeyPatch,
                                            tmp_path: Path) -> None:  # fmt: skip
    project = tmp_path / "project"
    project.mkdir()
    (project / "tabwb.toml").write_text(
        '[study]\nspeaker_id_pattern = "P[0-9]"\n'
        'columns = [{ name = "hours", type = "number", unit = "h", minimum = 0 }]\n'
    )
    monkeypatch.chdir(project)
    assert run("trust").status == 0
    study = run("speaker", "columns", "--json").document["study"]
    assert study["speaker_id_pattern"] == "P[0-9]"
    assert study["columns"][-1]["name"] == "hours"
    assert "a number from 0 (h)" in run("speaker", "columns").out
    assert run("speaker", "add", "P1", "hours=12").status == 0


# ---------------------------------------------------------------- consents


def test_consents_are_given_and_withdrawn_scope_by_scope(run: Run) -> None:
    given = run(
        "speaker", "consent", "S-014", "--scope", "record", "--scope", "rate",
        "--given", "2026-01-02", "--document", "IRB-7/014", "--json",
    )  # fmt: skip
    assert given.document["speaker"]["may"] == ["record", "rate"]
    withdrawn = run("speaker", "consent", "S-014", "--scope", "rate", "--withdrawn")
    assert "✓ record      given 2026-01-02, IRB-7/014" in withdrawn.out
    assert f"✗ rate        withdrawn {date.today()}" in withdrawn.out
    shown = run("speaker", "consent", "S-014", "--json").document["speaker"]
    assert shown["may"] == ["record"]
    assert [row["given"] for row in shown["consents"]] == [True, True, False]


def test_every_scope_at_once(run: Run) -> None:
    run("speaker", "consent", "S-014", "--all", "--given")
    assert run("speaker", "show", "S-014", "--json").document["speaker"]["may"] == list(SCOPES)


def test_a_day_in_the_future_is_refused(run: Run) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=2)).date()
    outcome = run("speaker", "consent", "S-014", "--scope", "record", "--given", tomorrow)
    assert (outcome.status, "in the future" in outcome.err) == (2, True)


def test_those_who_agreed_to_something_are_listed(run: Run) -> None:
    for speaker, scope in (("S-001", "train"), ("S-002", "record")):
        run("speaker", "consent", speaker, "--scope", scope, "--given")
    listed = run("speaker", "list", "--may", "train", "--json").document["speakers"]
    assert [row["id"] for row in listed] == ["S-001"]
    assert [row["id"] for row in run("speaker", "list", "--json").document["speakers"]] == [
        "S-001",
        "S-002",
    ]


def test_the_scopes_are_explained(run: Run) -> None:
    said = run("speaker", "consent", "--help").out
    for scope, meaning in SCOPES.items():
        assert scope in said
        assert meaning in said


# ---------------------------------------------------------------- acts


def test_who_withdrew_is_given_nothing_more(run: Run) -> None:
    run("speaker", "consent", "S-014", "--scope", "record", "--withdrawn")
    refused = run(*TYPED)
    assert refused.status == 1
    assert "withdrew consent to recording" in refused.err


@pytest.mark.usefixtures("typed")
def test_an_export_asks_for_share_and_is_logged(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    run("speaker", "add", "S-014")
    refused = run("export", 1, "--out", out)
    assert (refused.status, out.exists()) == (1, False)
    assert "S-014" in refused.err
    assert run("export", 1, "--out", out, "--within-study").status == 0
    run("speaker", "consent", "S-014", "--scope", "share", "--given")
    assert run("export", 1, "--out", out, "--force").status == 0
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


# ---------------------------------------------------------------- deletion


@pytest.mark.usefixtures("typed")
def test_a_deleted_speaker_leaves_a_tombstone(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "tabwb-data"
    run("export", 1, "--out", tmp_path / "o.jsonl")
    assert any(b"xylophonist" in path.read_bytes() for path in store.rglob("*") if path.is_file())
    done = run("speaker", "delete", "S-014", "--reason", "withdrawn", "--yes", "--json")
    assert done.status == 0
    deleted = done.document["deleted"]
    assert (deleted["speaker"], deleted["reason"], deleted["by"]) == ("S-014", "withdrawn", "ada")
    assert deleted["counts"]["administrations"] == 1
    assert deleted["finished"] is True
    assert done.document["exports"] == [f"jsonl, within the study: {tmp_path / 'o.jsonl'}"]
    for path in store.rglob("*"):
        assert not (path.is_file() and b"xylophonist" in path.read_bytes())
    listed = run("speaker", "list")
    assert "S-014 was deleted on" in listed.out
    gone = run("speaker", "show", "S-014")
    assert (gone.status, "was deleted on" in gone.err) == (1, True)
    assert run("results", "--json").document["administrations"] == []


def test_nothing_is_deleted_unless_confirmed(run: Run) -> None:
    run("speaker", "add", "S-014")
    outcome = in_process(("speaker", "delete", "S-014", "--reason", "other"), stdin="S-014\n")
    assert (outcome.status, "--yes" in outcome.err) == (2, True)
    assert run("speaker", "show", "S-014").status == 0


class Keyboard(io.StringIO):
    """What a person types at a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_person_types_the_id_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("speaker", "add", "S-014", "AQ=71.3")
    monkeypatch.setattr("sys.stdin", Keyboard("S-041\n"))
    refused = run("speaker", "delete", "S-014", "--reason", "other")
    assert (refused.status, "nothing was deleted" in refused.err) == (2, True)
    monkeypatch.setattr("sys.stdin", Keyboard("S-014\n"))
    done = run("speaker", "delete", "S-014", "--reason", "other")
    assert (done.status, "speaker S-014: 1 record\n" in done.err) == (0, True)
    assert "S-014 was deleted on" in done.out


def test_an_empty_store_says_so(run: Run) -> None:
    run("speaker", "add", "S-014")
    run("speaker", "delete", "S-014", "--reason", "entered-by-mistake", "--yes")
    assert "S-014 was deleted" in run("speaker", "list").out
    assert run("speaker", "log", "S-999").err == "the log is empty\n"


def test_a_reason_is_asked_for(run: Run) -> None:
    run("speaker", "add", "S-014")
    assert run("speaker", "delete", "S-014", "--yes").status == 2
    assert run("speaker", "show", "S-014").status == 0


def test_nobody_there_is_said_so(run: Run) -> None:
    run("speaker", "add", "S-001")
    for words in (("show", "S-999"), ("consent", "S-999"), ("set", "S-999", "AQ=1")):
        outcome = run("speaker", *words)
        assert (outcome.status, "no speaker 'S-999'" in outcome.err) == (1, True)
