"""Odd files, stores and values end with a message or a value, never with "unexpected"."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tabwb.cli.common import print_json
from tabwb.host.keys import redact, remember
from tabwb.store.store import Store
from tests.cli.conftest import Run


def test_a_speaker_without_a_record_is_shown(run: Run) -> None:
    run("speaker", "consent", "S-014", "--scope", "record", "--given")
    shown = run("speaker", "show", "S-014")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.startswith("S-014  no record\n")


def test_a_long_value_is_cut_in_messages(run: Run, battery_file: Path) -> None:
    run("run", battery_file, "--model", "echo")
    for given, status in (
        (("run", battery_file, "--model", "echo", "--seed", "x" * 100_000), 2),
        (("run", battery_file, "--model", "echo", "--temperature", "hot " * 50_000), 2),
        (("run", "b" * 100_000, "--model", "echo"), None),
        (("results", "a" * 100_000), 1),
        (("results", "--where", "seed>" + "9 a" * 50_000), 2),
    ):
        done = run(*given, status=status)
        assert len(done.err) < 1_000 and "…" in done.err, given[-1][:9]


def test_an_id_is_taken_as_it_is_printed(run: Run, battery_file: Path) -> None:
    run("run", battery_file, "--model", "echo")
    assert run("results", "#1", "--json").out == run("results", "1", "--json").out
    for bound in ("seed>nan", "seed<inf"):
        assert "is not a value of 'seed'" in run("results", "--where", bound, status=2).err


def test_texts_of_a_table_of_answers_need_no_battery(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "rt.jsonl"
    table.write_text('{"item":"ct1","response":"We went to the sea."}\n', encoding="utf-8")
    done = run("import", table, "--model", "m", status=2)
    assert "--column text=NAME" in done.err
    run("import", table, "--model", "m", "--column", "text=response", "--judge", "none")


def test_a_row_that_ends_early_in_a_csv_is_a_located_problem(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("items.csv").write_text("id,prompt,expected\na,Say a.,a\nb\n")
    refused = run("battery", "new", "mine", "--from", "items.csv", status=1)
    assert "unexpected" not in refused.err
    assert "items.csv:3" in refused.err + refused.out


@pytest.mark.parametrize("lost", ["xmin = 0", "intervals [1]:", "item [1]:", 'text = ""'])
def test_a_textgrid_without_a_field_is_damaged(lost: str, tmp_path: Path) -> None:
    pytest.importorskip("praatio")
    from tabwb.records.errors import TabwbError
    from tabwb.speech.annotations import read_annotations

    text = (
        'File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0 \nxmax = 1 \n'
        "tiers? <exists> \nsize = 1 \nitem []: \n    item [1]:\n"
        '        class = "IntervalTier" \n        name = "item" \n        xmin = 0 \n'
        "        xmax = 1 \n        intervals: size = 2 \n        intervals [1]:\n"
        '            xmin = 0 \n            xmax = 0.5 \n            text = "dog" \n'
        "        intervals [2]:\n            xmin = 0.5 \n            xmax = 1 \n"
        '            text = "" \n'
    )
    file = tmp_path / "a.TextGrid"
    assert lost in text
    file.write_text(text.replace(lost, ""))
    try:
        read_annotations(file)
    except TabwbError as error:
        assert "damaged" in str(error)


def test_a_replay_of_a_device_is_refused(run: Run, battery_file: Path) -> None:
    run("run", battery_file, "--model", "replay:/dev/zero", status=1, err="is not a regular file")


def test_people_are_not_exported_from_a_store_that_cannot_log(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, battery_file: Path
) -> None:
    typed = "dog\n\nfish\n\nhouse.\n\n"
    run("run", battery_file, "--speaker", "S-014", stdin=typed)
    monkeypatch.setattr(Store, "only_read", True)
    out = tmp_path / "out.jsonl"
    refused = run("export", 1, "--within-study", "--out", out, status=1)
    assert "not written from a store that cannot be written" in refused.err
    assert not out.exists()


def test_a_number_that_is_not_finite_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"format": 1, "mean": 1e308 + 1e308, "rows": [{"value": float("nan")}, (1.5,)]})
    assert json.loads(capsys.readouterr().out) == {
        "format": 1,
        "mean": None,
        "rows": [{"value": None}, [1.5]],
    }


@pytest.mark.parametrize("before", ["", "a", "user:", "Basic "])
def test_a_key_sent_back_in_base64_is_redacted(before: str) -> None:
    import base64

    remember("sk-odd-input-0123456789")
    sent = base64.b64encode(f"{before}sk-odd-input-0123456789 end".encode()).decode()
    shown = redact(f"refused: {sent}")
    assert "[key]" in shown
    assert sent not in shown


def test_a_stored_battery_that_was_changed_is_damage(run: Run, battery_file: Path) -> None:
    run("run", battery_file, "--model", "echo", "--store", "s.db")
    with closing(sqlite3.connect("s.db")) as connection, connection:
        connection.execute(
            "UPDATE texts SET text = replace(text, '\"subtest\"', '\"subtests\"')"
            " WHERE id IN (SELECT canonical_id FROM batteries)"
        )
    for command in (("results", 1), ("results",), ("resume", 1)):
        told = run(*command, "--store", "s.db", status=None)
        assert "unexpected" not in told.err
    run("results", 1, "--store", "s.db", status=1, err="is not the one that was kept")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
