"""What people say of an export: the options of its format, and which administrations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tabwb.records.errors import UsageError
from tabwb.records.specs import parse_spec
from tabwb.report.filters import Filter
from tabwb.report.selection import Selection, outlined
from tabwb.store.store import Store

Where = str | Iterable[str | Filter] | Mapping[str, object]
"""Filters as texts, or keys with their values."""


def with_options(format_id: str, *, wide: bool, partition_by: str) -> str:
    """Return the spec of an export format with its options.

    >>> with_options("parquet", wide=True, partition_by="model, part-limit")
    'parquet@wide=true,partition_by=model+part_limit'
    """
    spec = parse_spec(format_id)
    options = {"wide": "true"} if wide else {}
    if partition_by:
        names = (name.strip().replace("-", "_") for name in partition_by.split(","))
        options["partition_by"] = "+".join(names)
    return str(replace(spec, options={**spec.options, **options}))


def matching(store: Store, references: Sequence[int | str], where: Where) -> list[int]:
    """Return the numbers of the administrations that match filters."""
    choice = Selection.of("administration", where)
    if choice.has_cells:
        raise UsageError(
            "whole administrations are chosen here",
            where="--where",
            allowed="keys of administrations, such as model, battery, tag, temperature",
        )
    return [data.administration.id for data in outlined(store, references, choice)]
