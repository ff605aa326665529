"""The description of written files for other programs: a Data Package of the Frictionless standard.

Version 1 of https://specs.frictionlessdata.io, which readers of version 2 accept. It has format,
size and SHA-256 of each file, and type, unit and meaning of each column of a table. People read
the text beside it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tabwb.analysis.plain import Json
from tabwb.battery.model import Battery
from tabwb.host.writing import PACKAGE_START, is_explanation
from tabwb.plugin_api.components import Exporter
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.files import write_private
from tabwb.records.words import RESEARCH_ONLY

NAME = "datapackage.json"
"""The end of the name of every description; readers recognise it."""
_TYPES = {
    "text": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "list of text": "array",
    "JSON": "object",
    "list of JSON": "array",
}
_MEDIATYPES = {
    ".csv": "text/csv",
    ".jsonl": "application/jsonl",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".cha": "text/plain",
    ".eaf": "application/xml",
    ".textgrid": "text/plain",
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".zip": "application/zip",
}
_BINARY = frozenset({".parquet", ".wav", ".flac", ".zip", ".eval"})
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True, slots=True)
class Described:
    """A file to describe.

    Attributes:
        file: where it lies now.
        path: from the description's folder, where it will lie.
        columns: of a table, with the attributes of :data:`COLUMN_HAS`; empty for any other file.
        mediatype, suffix: empty: from its path.
    """

    file: Path
    path: str
    columns: Sequence[Any] = ()
    mediatype: str = ""
    suffix: str = ""


def described(out: Path, exporter: Exporter) -> list[Described]:
    """Return the files that an exporter wrote: one, or those of a folder."""
    columns = exporter.columns
    for column in columns:
        missing = [name for name in COLUMN_HAS if not hasattr(column, name)]
        if missing:
            raise ComponentError(
                f"{type(exporter).__name__}.columns has {column!r:.60}, which lacks "
                + ", ".join(missing),
                where=str(out),
                allowed="objects with " + ", ".join(COLUMN_HAS),
                hint="the file is written and has no description; report it to the plugin's author",
            )
    mediatype = exporter.mediatype
    if out.is_file():
        return [Described(out, out.name, columns, mediatype, exporter.suffix)]
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != NAME)
    folder = out.parent if columns else out
    return [
        Described(file, file.relative_to(folder).as_posix(), columns, mediatype) for file in files
    ]


COLUMN_HAS = ("name", "type", "meaning", "unit")
"""The attributes of a column that an exporter declares."""


def package(files: Iterable[Described], batteries: Iterable[Battery], title: str) -> str:
    """Return the description of files as JSON."""
    resources = list(_named(files))
    name = resources[0]["name"] if len(resources) == 1 else "tabwb-export"
    described: Json = {
        "tabwb": version("tabwb"),
        "profile": "data-package",
        "name": name,
        "title": title,
        "description": RESEARCH_ONLY,
        "sources": [_source(battery) for battery in batteries],
        "resources": resources,
    }
    text = json.dumps(described, ensure_ascii=False, indent=2) + "\n"
    assert text.startswith(PACKAGE_START)
    return text


def _description_of(out: Path, *, table: bool = False) -> Path:
    """Return where the description of an export is: in its folder, or beside its file."""
    inside = out.is_dir() and not table
    return out / NAME if inside else out.with_name(f"{out.name}.{NAME}")


def check_description(out: Path) -> None:
    """Check that the description of a file would replace no file of others."""
    place = _description_of(out)
    if place.exists() and not is_explanation(place):
        raise TabwbError(
            "is a file that tabwb did not write",
            where=str(place),
            hint="the export needs this name: move the file, or choose another name",
        )


def write_description(
    files: Sequence[Described], out: Path, batteries: Iterable[Battery], title: str
) -> None:
    """Write the description of an export."""
    place = _description_of(out, table=any(file.columns for file in files))
    write_private(place, package(files, batteries, title))


def _named(files: Iterable[Described]) -> Iterator[Json]:
    used: set[str] = set()
    for described in files:
        slug = re.sub(r"[^a-z0-9._-]+", "-", described.path.lower()).strip("-") or "file"
        name, n = slug, 1
        while name in used:
            n += 1
            name = f"{slug}-{n}"
        used.add(name)
        yield {"name": name, **_resource(described)}


def _resource(described: Described) -> Json:
    suffix = (described.suffix or Path(described.path).suffix).lower()
    digest = hashlib.sha256()
    with described.file.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    resource: Json = {
        "path": described.path,
        "format": suffix.removeprefix(".") or "bin",
        "mediatype": described.mediatype or _MEDIATYPES.get(suffix, "application/octet-stream"),
    }
    if suffix not in _BINARY:
        resource["encoding"] = "utf-8"
    resource |= {
        "bytes": described.file.stat().st_size,
        "hash": f"sha256:{digest.hexdigest()}",
    }
    if described.columns:
        resource["profile"] = "tabular-data-resource"
        if suffix in _SEPARATORS:
            resource["dialect"] = {"delimiter": _SEPARATORS[suffix], "lineTerminator": "\r\n"}
        resource["schema"] = {
            "fields": [field(column) for column in described.columns],
            "missingValues": [""],
        }
    return resource


def field(column: Any) -> Json:
    """Return a column as a field of a Table Schema.

    >>> from tabwb.records.columns import Column
    >>> field(Column("n", "N", "responses", "integer", "responses"))
    {'name': 'n', 'type': 'integer', 'description': 'responses', 'unit': 'responses'}
    """
    constraints: dict[str, Any] = {}
    if getattr(column, "required", False):
        constraints["required"] = True
    if allowed := getattr(column, "allowed", ()):
        constraints["enum"] = list(allowed)
    return {
        "name": column.name,
        "type": _TYPES[column.type],
        "description": column.meaning,
        **({"unit": column.unit} if column.unit else {}),
        **({"constraints": constraints} if constraints else {}),
    }


def _source(battery: Battery) -> Json:
    url = battery.url or (f"https://doi.org/{battery.doi}" if battery.doi else "")
    return {
        "title": f"{battery.title} ({battery.id} {battery.version})",
        **({"path": url} if url else {}),
        **({"citation": battery.citation} if battery.citation else {}),
        "license": battery.license,
        "sha256": battery.content_hash,
    }
