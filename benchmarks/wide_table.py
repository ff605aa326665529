"""The paper's table 2 over millions of made-up responses, by DuckDB and by Polars.

``python -m benchmarks.wide_table FOLDER [--responses N]`` makes the wide table of
``tabwb export --wide --partition-by model,subtest`` in FOLDER/table, with random burdens, and runs
the code of docs/beyond-one-machine.md on it. It needs pyarrow, duckdb and polars.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parents[1] / "docs" / "beyond-one-machine.md"
MODELS = 8
GROUP = 250_000
"""Responses that are made at a time."""
FEATURES, ITEMS, TEXTS = 7, 5, 2_000


def code(language: str) -> str:
    """Return the first code of a language in the page."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, language
    return found[1]


def by_duckdb() -> list[tuple[str, int, float]]:
    """Return model, number and mean of table 2 of the folder ``table``, by model."""
    import duckdb

    rows: list[tuple[str, int, float]] = duckdb.sql(code("sql")).fetchall()
    return sorted(rows)


def by_polars() -> list[tuple[str, int, float]]:
    """Return model, number and mean of table 2 of the folder ``table``, by model."""
    names: dict[str, Any] = {}
    exec(code("python"), names)
    return sorted(names["table_2"].rows())


def make(folder: Path, responses: int) -> Iterator[tuple[str, int, float]]:
    """Make the table; yield model, number and mean of what was made."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from tabwb_builtin.columns import ANSWERED, GIVEN
    from tabwb_builtin.parquet import coded, schema_of, wide_columns

    measures = [("rules-2", f"feature-{n}") for n in range(FEATURES)]
    columns = (*GIVEN, *ANSWERED, *wide_columns(measures, ["rules-2"]))
    schema = coded(schema_of(one for one in columns if one.name not in ("model", "subtest")))
    random = np.random.default_rng(1)
    for number in range(MODELS):
        place = folder / "table" / f"model=made-up%3Amodel-{number}" / "subtest=connected-text"
        place.mkdir(parents=True)
        total = n = 0
        with pq.ParquetWriter(place / "part-0.parquet", schema, store_schema=False) as writer:
            for start in range(0, responses // MODELS, GROUP):
                size = min(GROUP, responses // MODELS - start)
                own = _made_up(random, 0.05 + 0.04 * number, start, size)
                burdens = own["rules-2 burden"]
                total += int(burdens.sum())
                n += int((~burdens.mask).sum())
                arrays = [_array(own.get(one.name), one.type, size) for one in schema]
                writer.write_batch(pa.record_batch(arrays, schema=schema))
        yield f"made-up:model-{number}", n, total / n


def _made_up(random: np.random.Generator, rate: float, start: int, size: int) -> dict[str, Any]:
    """Return columns of responses: arrays, single values, or (codes, texts)."""
    present = random.random((FEATURES, size)) < rate
    items = np.arange(size, dtype=np.int32) % ITEMS
    said = random.integers(0, TEXTS, size, dtype=np.int32)
    return {
        "battery": "tab",
        "battery_version": "2026.1",
        "kind": "model",
        "protocol": "generate",
        "practice": False,
        "usable": True,
        "drawn": True,
        "trial_number": np.arange(start + 1, start + size + 1),
        "item": (items, [f"ct{at + 1}" for at in range(ITEMS)]),
        "replicate": (start + np.arange(size)) // ITEMS,
        "prompt": (items, [f"Tell me about {at}." for at in range(ITEMS)]),
        "response": (said, [f"A made-up response number {at}." for at in range(TEXTS)]),
        "latency_s": random.random(size),
        "decoding_seed": random.integers(0, 2**53, size),
        **{f"rules-2 feature-{at}": row.astype(float) for at, row in enumerate(present)},
        # Two in a hundred are undefined.
        "rules-2 burden": np.ma.masked_array(present.sum(0), random.random(size) < 0.02),
    }


def _array(value: Any, kind: Any, size: int) -> Any:
    import pyarrow as pa

    if value is None:
        return pa.nulls(size, kind)
    if isinstance(value, str):
        value = np.zeros(size, np.int32), [value]
    if isinstance(value, tuple):
        return pa.DictionaryArray.from_arrays(*value)
    if isinstance(value, np.ma.MaskedArray):
        return pa.array(value.data, kind, mask=value.mask)
    if isinstance(value, np.ndarray):
        return pa.array(value, kind)
    return pa.repeat(pa.scalar(value, kind), size)


def main() -> None:
    """Make the table, compute with both, print the times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wide_table", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--responses", type=int, default=10_000_000)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    made = sorted(make(options.folder, options.responses))
    size = sum(path.stat().st_size for path in options.folder.rglob("*.parquet"))
    print(f"made: {time.perf_counter() - began:.1f} s, {size / 1e6:.0f} MB")
    os.chdir(options.folder)
    for name, compute in (("DuckDB", by_duckdb), ("Polars", by_polars)):
        began = time.perf_counter()
        table = compute()
        print(f"{name}: {time.perf_counter() - began:.2f} s")
        for (model, n, mean), (expected, count, value) in zip(table, made, strict=True):
            assert (model, n) == (expected, count), (model, n, count)
            assert abs(mean - value) < 1e-9, (model, mean, value)
    for model, n, mean in made:
        print(f"{model}  {n:>10}  {mean:.4f}")


if __name__ == "__main__":
    main()
