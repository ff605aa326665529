"""``tabwb export`` onto whatever may stand at the place that was named."""

from __future__ import annotations

import csv
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frictionless import validate

from benchmarks import wide_table
from tabwb.analysis.selection import Selection, selected_groups
from tabwb.media.documents.exporting import Writer
from tabwb.store.store import Store
from tests.administer.naming_parts import naming_battery
from tests.builders import recordings, typed_table
from tests.cli.conftest import Run, replayed


@pytest.fixture
def given(run: Run) -> None:
    """A store with administration 1."""
    run("run", "tab", "--model", "echo")


def test_files_have_the_stored_and_the_effective_status(run: Run, tmp_path: Path) -> None:
    # One sentence for every prompt: stored as ok, counted as a repeated answer.
    said = "I was very happy that day."
    run("run", "tab", "--model", f"echo@text={said}")
    for name in ("csv", "jsonl"):
        run("export", 1, "--format", name, "--out", tmp_path / f"a.{name}")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["subtest"] == "connected-text"]
    assert {(row["trial_status"], row["effective_status"], row["usable"]) for row in rows} == {
        ("ok", "repeated-answer", "false")
    }
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    texts = [line for line in lines if line["subtest"] == "connected-text"]
    assert len(texts) == 5
    assert {(one["status"], one["effective_status"], one["usable"]) for one in texts} == {
        ("ok", "repeated-answer", False)
    }


def numbers(out: Path) -> list[int]:
    lines = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    return list(dict.fromkeys(line["seed"] for line in lines))


def test_all_or_those_with_a_value(run: Run, tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        run("run", "tab", "--model", "echo", "--seed", seed)
    run("export", "--all", "--out", tmp_path / "all.jsonl")
    assert numbers(tmp_path / "all.jsonl") == [1, 2, 3]
    run("export", "--where", "seed=1,3", "--out", tmp_path / "some.jsonl")
    assert numbers(tmp_path / "some.jsonl") == [1, 3]
    chosen = run("export", 2, 3, "--where", "seed>2", "--out", tmp_path / "one.jsonl")
    assert chosen.status == 0 and numbers(tmp_path / "one.jsonl") == [3]
    for wrong in ([], [1, "--all"], ["--where", "item=wc1"]):
        run("export", *wrong, "--out", tmp_path / "no.jsonl", status=2)
    assert run("export", "--where", "seed=9", "--out", tmp_path / "no.jsonl", status=2).status != 0
    assert not (tmp_path / "no.jsonl").exists()


def test_table_2_of_the_docs_has_the_numbers_of_results(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each model answers twice. Of the greedy one, identical responses count once.
    said = replayed(tmp_path / "greedy.jsonl")
    sampled = ("bundled", "--subtest", "connected-text", "--temperature", "0.7", "--seed")
    for seed in range(2):
        run("run", "tab", "--model", f"{said}@origin=model")
        run("run", "tab", "--model", *sampled, seed)
    run("run", "tab", "--model", "echo")
    out = tmp_path / "table"
    wide = ("--format", "parquet", "--wide", "--partition-by", "model,subtest")
    run("export", "--all", *wide, "--out", out)
    monkeypatch.chdir(tmp_path)
    with Store.open(tmp_path / "tabwb-data" / "tabwb.db") as store:
        groups = selected_groups(store, (), Selection(by=("model",)))
    judged = [
        judge.burden
        for group in groups
        for judge in group.results.judges
        if judge.terms.rater == "rules-2" and judge.burden.n_burden
    ]
    expected = sorted((one.n_burden, one.symptom_burden.value or 0.0) for one in judged)
    assert [n for n, _ in expected] == [4, 8]
    for rows in (wide_table.by_duckdb(), wide_table.by_polars()):
        found = sorted((n, mean) for _, n, mean in rows if n)
        assert [n for n, _ in found] == [4, 8]
        assert [mean for _, mean in found] == pytest.approx([mean for _, mean in expected])


def test_options_of_parquet_are_refused_elsewhere(run: Run, tmp_path: Path) -> None:
    run("run", "tab", "--model", "echo")
    outcome = run("export", 1, "--format", "csv", "--wide", "--out", tmp_path / "a.csv", status=2)
    assert "--wide and --partition-by are for --format parquet" in outcome.err
    assert not list(tmp_path.glob("a.csv*"))


@pytest.mark.crash
def test_a_killed_export_leaves_the_older_file_and_no_draft(run: Run, tmp_path: Path) -> None:
    run("run", "tab", "--model", "echo", "--replicates", 30)
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.csv").write_text("older")
    command = [sys.executable, "-m", "tabwb.cli.main", "export", "1", "--format", "csv", "--force"]
    for _ in range(2):
        process = subprocess.Popen([*command, "--out", out / "a.csv"], env=os.environ)
        until = time.monotonic() + 60
        while not any(path.name.startswith(".") for path in out.iterdir()):
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (out / "a.csv").read_text() == "older"
    run("export", 1, "--out", tmp_path / "b.jsonl")  # sweeps drafts
    assert [path.name for path in out.iterdir()] == ["a.csv"]


def test_a_file_of_others_is_not_replaced(run: Run, tmp_path: Path) -> None:
    run("run", "tab", "--model", "echo")
    beside = tmp_path / "a.csv.datapackage.json"
    beside.write_text('{"mine": true}', encoding="utf-8")
    refused = run("export", 1, "--format", "csv", "--out", tmp_path / "a.csv", status=1)
    assert refused.status == 1 and "tabwb did not write" in refused.err
    assert not (tmp_path / "a.csv").exists()
    assert beside.read_text(encoding="utf-8") == '{"mine": true}'


def test_groups_are_described_too(run: Run, tmp_path: Path) -> None:
    run("run", "tab", "--model", "echo")
    run("results", "--by", "model", "--csv", tmp_path / "g.csv")
    report = validate(str(tmp_path / "g.csv.datapackage.json"), type="package")
    assert report.flatten(["fieldName", "note"]) == []
    (resource,) = json.loads((tmp_path / "g.csv.datapackage.json").read_text("utf-8"))["resources"]
    types = {field["name"]: field["type"] for field in resource["schema"]["fields"]}
    assert types["model"] == "string" and types["word-comprehension accuracy"] == "number"
    assert types["responses"] == "integer" and types["rules-2 burden few_usable"] == "boolean"


@pytest.fixture
def folders(run: Run, tmp_path: Path) -> list[Path]:
    """Two folders with recorded answers in files of one name, each given as a model."""
    run("run", "tab", "--model", "echo")
    run("export", 1, "--out", tmp_path / "answers.jsonl")
    folders = [tmp_path / "ada-lovelace", tmp_path / "grace-hopper"]
    for folder in folders:
        folder.mkdir()
        shutil.copy(tmp_path / "answers.jsonl", folder)
        run("run", "tab", "--model", f"replay:{folder}/answers.jsonl@origin=model")
    return folders


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_of_two_files_of_one_name(run: Run, folders: list[Path], tmp_path: Path, name: str) -> None:
    out = tmp_path / f"out.{name}"
    run("export", 1, 2, 3, "--format", name, "--out", out)
    for written in tmp_path.glob("out*"):
        text = written.read_text(encoding="utf-8")
        assert not any(folder.name in text for folder in folders), written
    if name == "csv":
        with out.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    else:
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert list(dict.fromkeys(row["examinee"] for row in rows)) == [
        "echo",
        "replay:answers.jsonl@origin=model",
        "replay:answers.jsonl@origin=model (2)",
    ]
    # The store keeps what was given.
    stored = run("results", 2, "--json").document["administration"]["examinee"]
    assert stored == f"replay:{folders[0]}/answers.jsonl@origin=model"


def test_of_a_table_of_groups(run: Run, folders: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "groups.csv"
    run("results", "--by", "model", "--csv", out)
    for written in tmp_path.glob("groups*"):
        text = written.read_text(encoding="utf-8")
        assert not any(folder.name in text for folder in folders), written
    assert "replay:answers.jsonl@origin=model (2)" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["csv", "jsonl", "chat", "psst", "attempts"])
def test_of_a_typed_transcript(run: Run, tmp_path: Path, name: str) -> None:
    pytest.importorskip("soundfile")
    sounds = recordings(tmp_path / "sounds", "dog")
    typed = typed_table(tmp_path / "ada-lovelace" / "typed.tsv", dog="D AO G")
    battery = naming_battery(tmp_path / "battery")
    run(
        *("name", battery, "--speaker", "S-014", "--input", sounds),
        *("--transcriber", f"manual:{typed}", "--date", "2026-03-09"),
        status=3,
    )  # three items have no sound
    out = tmp_path / "out"
    run("export", 1, "--format", name, "--within-study", "--out", out)
    files = [out] if out.is_file() else [each for each in out.rglob("*") if each.is_file()]
    assert files
    assert not any(b"ada-lovelace" in each.read_bytes() for each in files)


@pytest.mark.usefixtures("given")
class TestExport:
    def test_replaces_no_folder(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "folder"
        out.mkdir()
        run("export", 1, "--out", out, "--force", status=1, err="this folder already exists")
        assert list(tmp_path.glob("folder*")) == [out]

    def test_replaces_no_pipe(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "pipe"
        os.mkfifo(out)
        run("export", 1, "--out", out, "--force", status=1, err="this is a device or a pipe")
        assert out.is_fifo()

    def test_replaces_no_store(self, run: Run, tmp_path: Path) -> None:
        store = tmp_path / "tabwb-data" / "tabwb.db"
        run("export", 1, "--out", store, "--force", status=1, err="which no export replaces")
        run("results", 1)

    def test_follows_a_link(self, run: Run, tmp_path: Path) -> None:
        target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
        target.write_text("mine")
        link.symlink_to(target)
        run("export", 1, "--out", link, status=1)
        assert target.read_text() == "mine"
        run("export", 1, "--out", link, "--force")
        assert link.is_symlink()
        assert target.read_text(encoding="utf-8").startswith('{"administration"')

    def test_leaves_a_readme_that_is_not_its_own_alone(self, run: Run, tmp_path: Path) -> None:
        out, beside = tmp_path / "a.csv", tmp_path / "a.csv.README.txt"
        beside.write_text("my notes on this study", encoding="utf-8")
        outcome = run("export", 1, "--format", "csv", "--out", out, "--force", status=1)
        assert outcome.status == 1 and "tabwb did not write" in outcome.err
        assert beside.read_text(encoding="utf-8") == "my notes on this study"
        assert not out.exists()

    def test_replaces_no_file_that_another_program_wrote_meanwhile(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = tmp_path / "a.jsonl"
        write = Writer.write

        def slowly(writer: Writer, draft: Path, place: Path) -> None:
            write(writer, draft, place)
            out.write_text("of another program")

        with monkeypatch.context() as patched:
            patched.setattr(Writer, "write", slowly)
            outcome = run("export", 1, "--out", out, status=1)
        assert outcome.status == 1
        assert "another program wrote this file in the meantime" in outcome.err
        assert out.read_text() == "of another program"
        assert list(tmp_path.glob("a.*")) == [out]
        run("export", 1, "--out", out, "--force")

    def test_replaces_its_own_readme(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "a.csv"
        for _ in range(2):
            run("export", 1, "--format", "csv", "--out", out, "--force")
        # What people said is for its user's eyes alone.
        files = list(tmp_path.glob("a.csv*"))
        assert [path.stat().st_mode & 0o777 for path in files] == [0o600] * 3

    def test_parquet_holds_the_rows_of_csv_with_types(self, run: Run, tmp_path: Path) -> None:
        run("model", "add", "tiny", "echo", "--family", "demo", "--parameters", "7", "--force")
        run("run", "tab", "--model", "profile:tiny")
        for name in ("csv", "parquet"):
            out = tmp_path / f"a.{name}"
            run("export", 1, 2, "--format", name, "--out", out)
        read = pq.read_table(tmp_path / "a.parquet")
        with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert read.num_rows == len(rows) and read.column_names == list(rows[0])
        assert sum(row["value"] != "" for row in rows) == len(rows) - read["value"].null_count
        assert {row["model_parameters"] for row in rows} == {"", "7"}
        assert set(read["model_parameters"].to_pylist()) == {None, 7}
        assert read.schema.field("practice").type == pa.bool_()
        assert read["options"].to_pylist()[-1] is not None
        assert "not a medical device" in read.schema.metadata[b"tabwb"].decode()

    @pytest.mark.parametrize("name", ["nowhere/a.jsonl", "a" * 300, "circle"])
    def test_says_what_cannot_be_written(self, run: Run, tmp_path: Path, name: str) -> None:
        (tmp_path / "circle").symlink_to(tmp_path / "circle")
        outcome = run("export", 1, "--out", tmp_path / name, status=1)
        assert "unexpected" not in outcome.err
        assert name in outcome.err

    @pytest.mark.parametrize(
        "options", [(), ("--format", "csv"), ("--format", "parquet", "--partition-by", "subtest")]
    )
    def test_leaves_nothing_behind_on_a_full_disk(
        self, tmp_path: Path, options: tuple[str, ...]
    ) -> None:
        folder = tmp_path / "out"
        folder.mkdir()

        def almost_full() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            # More than the explanation and SQLite's shared memory, less than the export.
            limit = 40_000 if "parquet" not in options else 33_000
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "tabwb.cli.main",
                "export",
                "1",
                "--out",
                folder / "a",
                *options,
            ],
            preexec_fn=almost_full,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 1
        assert "/a: cannot be written: " in done.stderr
        assert "too large" in done.stderr
        assert list(folder.iterdir()) == []
