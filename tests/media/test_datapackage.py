"""The description beside every export, read by the library of the standard."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from frictionless import Package, Resource, validate

from tabwb.media.documents.exporting import export
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.store.store import Store
from tests.analysis.test_frame import Made


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an export in each format of two administrations and a person's."""
    folder = tmp_path_factory.mktemp("written")
    plugins = Plugins.load()
    with Store.open(folder / "s.db") as store:
        made = Made(store, 9)
        for _ in range(3):
            made.administration()
        for format_id in ("jsonl", "csv", "parquet"):
            export(store, plugins, (), format_id, folder / f"a.{format_id}", within_study=True)
    plugins.close()
    return folder


def described(file: Path) -> dict[str, Any]:
    document = json.loads(file.with_name(f"{file.name}.datapackage.json").read_text("utf-8"))
    assert [resource["path"] for resource in document["resources"]] == [file.name]
    resource: dict[str, Any] = document["resources"][0]
    return resource


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_every_row_is_as_its_columns_are_described(written: Path, name: str) -> None:
    report = validate(str(written / f"{name}.datapackage.json"), type="package")
    assert report.flatten(["rowNumber", "fieldName", "type", "note"]) == []
    assert report.tasks[0].stats["rows"] > 50


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_size_and_hash_are_those_of_the_file(written: Path, name: str) -> None:
    content = (written / name).read_bytes()
    resource = described(written / name)
    assert resource["bytes"] == len(content)
    assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    package = Package(str(written / f"{name}.datapackage.json"))
    assert Package.validate_descriptor(package.to_descriptor()).valid
    assert package.resources[0].schema.field_names == [
        field["name"] for field in resource["schema"]["fields"]
    ]


def test_a_changed_file_is_found_by_its_hash(written: Path, tmp_path: Path) -> None:
    for tail in ("", ".datapackage.json"):
        (tmp_path / f"a.csv{tail}").write_bytes((written / f"a.csv{tail}").read_bytes())
    (tmp_path / "a.csv").write_bytes((tmp_path / "a.csv").read_bytes().replace(b"Rain.", b"Rani."))
    resource = Package(str(tmp_path / "a.csv.datapackage.json")).resources[0]
    assert isinstance(resource, Resource)
    assert resource.validate().flatten(["type"]) == [["hash-count"]]


def test_the_battery_is_named_as_source(written: Path) -> None:
    document = json.loads((written / "a.csv.datapackage.json").read_text("utf-8"))
    (source,) = document["sources"]
    assert source["title"] == "Text Aphasia Battery (tab 2026.1)"
    assert source["license"] == "MIT" and "Gwilliams" in source["citation"]
    assert "not a medical device" in document["description"]
