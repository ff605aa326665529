"""Which administrations ``tabwb export`` writes, and that it writes whole files or none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import wide_table
from tabwb.analysis.selection import Selection, selected_groups
from tabwb.store.store import Store
from tests.cli.conftest import Run, replayed


def numbers(out: Path) -> list[int]:
    lines = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    return list(dict.fromkeys(line["seed"] for line in lines))


def test_all_or_those_with_a_value(run: Run, tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        assert run("run", "tab", "--model", "echo", "--seed", seed).status == 0
    assert run("export", "--all", "--out", tmp_path / "all.jsonl").status == 0
    assert numbers(tmp_path / "all.jsonl") == [1, 2, 3]
    assert run("export", "--where", "seed=1,3", "--out", tmp_path / "some.jsonl").status == 0
    assert numbers(tmp_path / "some.jsonl") == [1, 3]
    chosen = run("export", 2, 3, "--where", "seed>2", "--out", tmp_path / "one.jsonl")
    assert chosen.status == 0 and numbers(tmp_path / "one.jsonl") == [3]
    for wrong in ([], [1, "--all"], ["--where", "item=wc1"]):
        assert run("export", *wrong, "--out", tmp_path / "no.jsonl").status == 2
    assert run("export", "--where", "seed=9", "--out", tmp_path / "no.jsonl").status != 0
    assert not (tmp_path / "no.jsonl").exists()


def test_table_2_of_the_docs_has_the_numbers_of_results(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each model answers twice. Of the greedy one, identical responses count once.
    for name, options in (("greedy", ()), ("sampled", ("--temperature", "0.7"))):
        said = replayed(tmp_path / f"{name}.jsonl")
        for _ in range(2):
            assert run("run", "tab", "--model", f"{said}@origin=model", *options).status == 0
    assert run("run", "tab", "--model", "echo").status == 0
    out = tmp_path / "table"
    wide = ("--format", "parquet", "--wide", "--partition-by", "model,subtest")
    assert run("export", "--all", *wide, "--out", out).status == 0
    monkeypatch.chdir(tmp_path)
    with Store.open(tmp_path / "tabwb-data" / "tabwb.db") as store:
        groups = selected_groups(store, (), Selection(by=("model",)))
    judged = [
        judge.burden
        for group in groups
        for judge in group.summary.judges
        if judge.terms.rater == "rules-2" and judge.burden.n_burden
    ]
    expected = sorted((one.n_burden, one.symptom_burden.value or 0.0) for one in judged)
    assert [n for n, _ in expected] == [4, 8]
    for rows in (wide_table.by_duckdb(), wide_table.by_polars()):
        found = sorted((n, mean) for _, n, mean in rows if n)
        assert [n for n, _ in found] == [4, 8]
        assert [mean for _, mean in found] == pytest.approx([mean for _, mean in expected])


def test_options_of_parquet_are_refused_elsewhere(run: Run, tmp_path: Path) -> None:
    assert run("run", "tab", "--model", "echo").status == 0
    outcome = run("export", 1, "--format", "csv", "--wide", "--out", tmp_path / "a.csv")
    assert outcome.status == 2
    assert "--wide and --partition-by are for --format parquet" in outcome.err
    assert not list(tmp_path.glob("a.csv*"))


@pytest.mark.crash
def test_a_killed_export_leaves_the_older_file_and_no_draft(run: Run, tmp_path: Path) -> None:
    assert run("run", "tab", "--model", "echo", "--replicates", 30).status == 0
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
    assert run("export", 1, "--out", tmp_path / "b.jsonl").status == 0  # sweeps drafts
    assert [path.name for path in out.iterdir()] == ["a.csv"]
