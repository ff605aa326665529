"""The description (``datapackage.json``) of what commands write."""

from __future__ import annotations

import json
from pathlib import Path

from frictionless import validate

from tests.cli.conftest import Run


def test_a_file_of_others_is_not_replaced(run: Run, tmp_path: Path) -> None:
    assert run("run", "tab", "--model", "echo").status == 0
    beside = tmp_path / "a.csv.datapackage.json"
    beside.write_text('{"mine": true}', encoding="utf-8")
    refused = run("export", 1, "--format", "csv", "--out", tmp_path / "a.csv")
    assert refused.status == 1 and "tabwb did not write" in refused.err
    assert not (tmp_path / "a.csv").exists()
    assert beside.read_text(encoding="utf-8") == '{"mine": true}'


def test_groups_are_described_too(run: Run, tmp_path: Path) -> None:
    assert run("run", "tab", "--model", "echo").status == 0
    assert run("results", "--by", "model", "--csv", tmp_path / "g.csv").status == 0
    report = validate(str(tmp_path / "g.csv.datapackage.json"), type="package")
    assert report.flatten(["fieldName", "note"]) == []
    (resource,) = json.loads((tmp_path / "g.csv.datapackage.json").read_text("utf-8"))["resources"]
    types = {field["name"]: field["type"] for field in resource["schema"]["fields"]}
    assert types["model"] == "string" and types["word-comprehension accuracy"] == "number"
    assert types["answers"] == "integer" and types["answers_few_usable"] == "boolean"
