"""The rows of exports: every format, and one administration in JSON."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.fill import fill
from benchmarks.measure import Cost, interleaved, process, tabwb
from benchmarks.rows import Result, at_folder
from tabwb.store.store import Store

RESPONSES = 14_000
"""In one administration, with 19 ratings each: the share of one model in the study of TAB."""


def exports(rounds: int) -> Iterator[Result]:
    """Yield exports of 14,000 responses with 266,000 ratings, and ``results ID --json``."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store.db"
        with Store.open(place) as store:
            fill(store, responses=RESPONSES, trials=RESPONSES)

        def run(*arguments: str) -> Cost:
            return process(tabwb(*arguments, "--store", str(place)), environment=at_folder(folder))

        def export(kind: str) -> Cost:
            out = Path(folder) / f"out.{kind}"
            out.unlink(missing_ok=True)
            return run("export", "1", "--format", kind, "--out", str(out))

        costs = interleaved(
            lambda: export("jsonl"),
            lambda: export("csv"),
            lambda: export("parquet"),
            lambda: run("results", "1", "--json"),
            rounds=rounds,
        )
    named = ("JSON Lines", "CSV", "Parquet", "`results ID --json`")
    for what, cost in zip(named, costs, strict=True):
        yield Result(f"{what}, 14,000 responses with 266,000 ratings", "", cost)
