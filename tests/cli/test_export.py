"""``tabwb export`` onto whatever may stand at the place that was named."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tabwb.report.documents.exporting import Writer
from tests.cli.conftest import Run


@pytest.fixture
def given(run: Run) -> None:
    """A store with administration 1."""
    assert run("run", "tab", "--model", "echo").status == 0


@pytest.mark.usefixtures("given")
class TestExport:
    """With one administration in the store."""

    def test_replaces_no_folder(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "folder"
        out.mkdir()
        outcome = run("export", 1, "--out", out, "--force")
        assert outcome.status == 1
        assert "this folder already exists" in outcome.err
        assert list(tmp_path.glob("folder*")) == [out]

    def test_replaces_no_pipe(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "pipe"
        os.mkfifo(out)
        outcome = run("export", 1, "--out", out, "--force")
        assert outcome.status == 1
        assert "this is a device or a pipe" in outcome.err
        assert out.is_fifo()

    def test_replaces_no_store(self, run: Run, tmp_path: Path) -> None:
        store = tmp_path / "tabwb-data" / "tabwb.db"
        outcome = run("export", 1, "--out", store, "--force")
        assert outcome.status == 1
        assert "which no export replaces" in outcome.err
        assert run("results", 1).status == 0

    def test_follows_a_link(self, run: Run, tmp_path: Path) -> None:
        target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
        target.write_text("mine")
        link.symlink_to(target)
        refused = run("export", 1, "--out", link)
        assert refused.status == 1
        assert target.read_text() == "mine"
        assert run("export", 1, "--out", link, "--force").status == 0
        assert link.is_symlink()
        assert target.read_text(encoding="utf-8").startswith('{"administration"')

    def test_leaves_a_readme_that_is_not_its_own_alone(self, run: Run, tmp_path: Path) -> None:
        out, beside = tmp_path / "a.csv", tmp_path / "a.csv.README.txt"
        beside.write_text("my notes on this study", encoding="utf-8")
        outcome = run("export", 1, "--format", "csv", "--out", out, "--force")
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
            outcome = run("export", 1, "--out", out)
        assert outcome.status == 1
        assert "another program wrote this file in the meantime" in outcome.err
        assert out.read_text() == "of another program"
        assert list(tmp_path.glob("a.*")) == [out]
        assert run("export", 1, "--out", out, "--force").status == 0

    def test_replaces_its_own_readme(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "a.csv"
        for _ in range(2):
            assert run("export", 1, "--format", "csv", "--out", out, "--force").status == 0
        # What people said is for its user's eyes alone.
        files = list(tmp_path.glob("a.csv*"))
        assert [path.stat().st_mode & 0o777 for path in files] == [0o600] * 3

    def test_parquet_holds_the_rows_of_csv_with_types(self, run: Run, tmp_path: Path) -> None:
        run("model", "add", "tiny", "echo", "--family", "demo", "--parameters", "7", "--force")
        run("run", "tab", "--model", "profile:tiny")
        for name in ("csv", "parquet"):
            out = tmp_path / f"a.{name}"
            assert run("export", 1, 2, "--format", name, "--out", out).status == 0
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
        outcome = run("export", 1, "--out", tmp_path / name)
        assert outcome.status == 1
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


def test_files_have_the_stored_and_the_effective_status(run: Run, tmp_path: Path) -> None:
    # One sentence for every prompt: stored as ok, counted as a repeated answer.
    said = "I was very happy that day."
    assert run("run", "tab", "--model", f"echo@text={said}").status == 0
    for name in ("csv", "jsonl"):
        outcome = run("export", 1, "--format", name, "--out", tmp_path / f"a.{name}")
        assert outcome.status == 0, outcome.err
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
