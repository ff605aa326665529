"""Parquet as one file, as a folder of partitions, long and wide, read by other programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from tabwb_builtin import partitions

from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.exchange import Decoding
from tabwb.report.documents.exporting import export
from tabwb.store.store import Store
from tests.analysis.test_frame import Made

ODD = "openai:org/m:1b@base_url=http://localhost:1/v1"
NAMES = (ODD, "echo", "transformers:Mödel x")


class Models(Made):
    """Administrations of models, two of one conditions, with names that no folder can have."""

    names = cycle(NAMES)

    def conditions(self) -> Conditions:
        return Conditions(next(self.names), "model", decoding=Decoding(temperature=1.0))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("store") / "s.db") as opened:
        made = Models(opened, 21)
        for _ in range(9):
            made.administration()
        yield opened


@pytest.fixture(scope="module")
def plugins() -> Iterator[Plugins]:
    loaded = Plugins.load()
    yield loaded
    loaded.close()


def written(store: Store, plugins: Plugins, options: str, out: Path) -> Path:
    export(store, plugins, (), f"parquet{options}", out, within_study=True)
    return out


@pytest.mark.parametrize(("wide", "sums"), [("false", "value"), ("true", "rules-2 burden")])
def test_partitions_hold_the_rows_of_one_file(
    store: Store, plugins: Plugins, tmp_path: Path, wide: str, sums: str
) -> None:
    one = pq.read_table(written(store, plugins, f"@wide={wide}", tmp_path / "one.parquet"))
    options = f"@wide={wide},partition_by=model+subtest"
    folder = written(store, plugins, options, tmp_path / "folder")
    everything = f"{folder}/**/*.parquet"
    relation = duckdb.sql(
        f"""SELECT model, subtest, count(*), sum("{sums}")
        FROM read_parquet('{everything}', hive_partitioning = true) GROUP BY ALL"""
    )
    scanned = pl.scan_parquet(folder, hive_partitioning=True)
    by_polars = scanned.group_by("model", "subtest").agg(pl.len(), pl.col(sums).sum().alias("s"))
    dataset = ds.dataset(folder, partitioning="hive").to_table(["model", "subtest", sums])
    read = {
        "duckdb": relation.fetchall(),
        "polars": by_polars.collect().rows(),
        "pyarrow": _summed(dataset, sums),
        "one file": _summed(one, sums),
    }
    expected = sorted(read["one file"])
    assert {model for model, *_ in expected} == set(NAMES)
    for name, rows in read.items():
        for row, other in zip(sorted(rows), expected, strict=True):
            assert row[:3] == other[:3], name
            assert math.isclose(row[3] or 0, other[3] or 0), name
    assert sum(row[2] for row in expected) == one.num_rows


def _summed(table: pa.Table, sums: str) -> list[tuple[Any, ...]]:
    grouped = table.group_by(["model", "subtest"]).aggregate([([], "count_all"), (sums, "sum")])
    order = ["model", "subtest", "count_all", f"{sums}_sum"]
    return [tuple(row.values()) for row in grouped.select(order).to_pylist()]


def test_the_wide_table_has_the_values_of_the_long_one(
    store: Store, plugins: Plugins, tmp_path: Path
) -> None:
    long = pq.read_table(written(store, plugins, "", tmp_path / "long.parquet"))
    wide = pq.read_table(written(store, plugins, "@wide=true", tmp_path / "wide.parquet"))
    values = {
        (row["administration"], row["trial_number"], f"{row['rater']} {row['measure']}"): row[
            "value"
        ]
        for row in long.to_pylist()
        if row["rater"] is not None
    }
    measures = {name for _, _, name in values}
    assert measures < set(wide.column_names)
    for row in wide.to_pylist():
        for name in measures:
            key = row["administration"], row["trial_number"], name
            assert row[name] == values.get(key), key
    assert wide.schema.field("rules-2 burden").type == pa.int64()
    assert wide.schema.field("rules-2 burden").metadata[b"unit"] == b"features"


def test_closed_files_are_continued_in_another_part(
    store: Store, plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "OPEN", 2)
    folder = written(store, plugins, "@wide=true,partition_by=subtest", tmp_path / "folder")
    assert len(list(folder.rglob("part-1.parquet"))) > 1
    one = pq.read_table(written(store, plugins, "@wide=true", tmp_path / "one.parquet"))
    assert ds.dataset(folder, partitioning="hive").count_rows() == one.num_rows


def test_folders_are_private_and_described_beside(
    store: Store, plugins: Plugins, tmp_path: Path
) -> None:
    folder = written(store, plugins, "@partition_by=model", tmp_path / "folder")
    assert {path.name for path in folder.iterdir()} == {
        f"model={quote(name, safe='')}" for name in NAMES
    }
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} == {".parquet"}
    for path in (folder, *folder.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path
    beside = {path.name for path in tmp_path.iterdir() if path.name != "tabwb-data"}
    assert beside == {"folder", "folder.README.txt", "folder.datapackage.json"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("partition_by=modell", "did you mean 'model'"),
        ("partition_by=value", "cannot be partitioned by 'value'"),
        ("partition_by=model+model", "named twice"),
        ("partition_by=battery_hash", "too long for the name of a folder"),
    ],
)
def test_what_cannot_be_a_folder_is_refused(
    store: Store,
    plugins: Plugins,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: str,
    problem: str,
) -> None:
    monkeypatch.setattr(partitions, "LONGEST", 60)
    with pytest.raises(TabwbError) as raised:
        written(store, plugins, f"@{options}", tmp_path / "folder")
    assert problem in str(raised.value)
    assert not list(tmp_path.glob("*folder*"))
