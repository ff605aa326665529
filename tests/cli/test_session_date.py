"""The day on which answers were given: taken in on every way, stored, shown, exported."""

from __future__ import annotations

import csv
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.administer.naming_parts import naming_battery
from tests.cli.conftest import Outcome, Run

soundfile = pytest.importorskip("soundfile")
CLIP = Path(__file__).parents[1] / "data" / "speech" / "dog_d1a4fb3f_0.flac"
DAY = "2019-03-09"


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    (tmp_path / "battery").mkdir()
    (tmp_path / "sounds").mkdir()
    shutil.copy(CLIP, tmp_path / "sounds" / "dog.flac")
    return naming_battery(tmp_path / "battery")


def _name(run: Run, battery: Path, *more: object) -> Outcome:
    sounds = battery.parent.parent / "sounds"
    return run(
        *("name", battery, "--speaker", "S-014", "--input", sounds, "--transcriber", "none"), *more
    )


def _date(run: Run, number: int = 1) -> object:
    found: object = run("results", number, "--json").document["administration"]["session_date"]
    return found


def _dated(path: Path) -> None:
    samples, rate = soundfile.read(path)
    with soundfile.SoundFile(path, "w", rate, 1) as file:
        file.date = "2020-06-01"
        file.write(samples)


def test_the_date_is_said_and_shown_in_the_list_and_above_the_results(
    run: Run, battery: Path
) -> None:
    _name(run, battery, "--date", DAY)
    assert _date(run) == DAY
    assert DAY in run("results").out
    assert f"session {DAY}" in run("results", "1").out


def test_a_manifest_has_the_date(run: Run, battery: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "sounds" / "manifest.tsv"
    manifest.write_text(f"file\titem\tdate\ndog.flac\tdog\t{DAY}\n", encoding="utf-8")
    _name(run, battery)
    assert _date(run) == DAY


def test_a_sound_file_has_the_date_inside(run: Run, battery: Path, tmp_path: Path) -> None:
    _dated(tmp_path / "sounds" / "dog.flac")
    _name(run, battery)
    assert _date(run) == "2020-06-01"


def test_a_date_that_nobody_says_is_not_known_and_not_today(run: Run, battery: Path) -> None:
    said = _name(run, battery)
    assert "the date of the session is not known" in said.err
    assert _date(run) is None
    assert "date not known" in " ".join(run("results").out.split())


@pytest.mark.parametrize("said", ["9.3.2019", "2019-02-30", "20190309", "2999-01-01"])
def test_what_is_no_past_day_is_refused(run: Run, battery: Path, said: str) -> None:
    refused = _name(run, battery, "--date", said)
    assert refused.status == 2
    assert said in refused.err
    assert not run("results", "--json").document["administrations"]


def test_recordings_of_several_days_are_refused(run: Run, battery: Path, tmp_path: Path) -> None:
    shutil.copy(CLIP, tmp_path / "sounds" / "cat.flac")
    rows = f"file\titem\tdate\ndog.flac\tdog\t{DAY}\ncat.flac\tcat\t2019-03-10\n"
    (tmp_path / "sounds" / "manifest.tsv").write_text(rows, encoding="utf-8")
    refused = _name(run, battery)
    assert refused.status == 2
    assert "2 days: 2019-03-09, 2019-03-10" in refused.err


def test_the_microphone_is_of_today(run: Run, battery: Path) -> None:
    refused = run("name", battery, "--speaker", "S-014", "--date", DAY)
    assert refused.status == 2
    assert "today's date" in refused.err


@pytest.mark.parametrize(
    ("column", "flag"), [("session_date", ()), ("date", ()), ("", ("--date",))]
)
def test_an_import_has_the_date(
    run: Run, battery: Path, tmp_path: Path, column: str, flag: tuple[str, ...]
) -> None:
    head = "utterance_id\tprompt\ttranscript" + (f"\t{column}" if column else "")
    row = "u-1\tdog\tD AO G" + (f"\t{DAY}" if column else "")
    (tmp_path / "psst").mkdir()
    (tmp_path / "psst" / "utterances.tsv").write_text(f"{head}\n{row}\n", encoding="utf-8")
    day = (DAY,) if flag else ()
    made = run("import", tmp_path / "psst", "--battery", battery, "--speaker", "S-014", *flag, *day)
    assert made.status == 0, made.err
    assert _date(run) == DAY


def test_a_typed_administration_is_of_the_day_it_was_given(run: Run) -> None:
    run("run", "tab", "--model", "echo")
    assert _date(run) in {datetime.now(UTC).date().isoformat()}


@pytest.mark.parametrize(
    "format_id", ["attempts", "csv", "jsonl", "psst", "chat", "eaf", "textgrid"]
)
def test_every_export_has_the_date(run: Run, battery: Path, tmp_path: Path, format_id: str) -> None:
    _name(run, battery, "--date", DAY)
    run("trial", "score", "1", "dog", "right")
    out = tmp_path / "out"
    made = run("export", "1", "--format", format_id, "--out", out, "--within-study")
    assert made.status == 0, made.err
    if format_id in {"attempts", "csv"}:
        with out.open(encoding="utf-8", newline="") as file:
            assert {row["session_date"] for row in csv.DictReader(file)} == {DAY}
    elif format_id == "jsonl":
        assert json.loads(out.read_text("utf-8").splitlines()[0])["session_date"] == DAY
    else:
        kind = {"psst": "tsv", "chat": "cha", "eaf": "eaf", "textgrid": "txt"}[format_id]
        (path,) = out.glob(f"*.{kind}")
        text = path.read_text(encoding="utf-8")
        assert ("@Date:\t09-MAR-2019" if kind == "cha" else DAY) in text


def test_an_export_that_is_taken_in_again_keeps_the_date(
    run: Run, battery: Path, tmp_path: Path
) -> None:
    _name(run, battery, "--date", DAY)
    run("trial", "score", "1", "dog", "right")
    run("export", "1", "--format", "psst", "--out", tmp_path / "psst", "--within-study")
    made = run("import", tmp_path / "psst", "--battery", battery, "--speaker", "S-014")
    assert made.status == 0, made.err
    assert _date(run, 2) == DAY
