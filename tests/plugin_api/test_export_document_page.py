"""docs/export-document.md names every key of what an exporter is given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tabwb.administer.session import setup
from tabwb.analysis.administrations import load_administrations
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.naming import RecordingBegan
from tabwb.report.documents.document import export_document
from tabwb.store.store import Store
from tabwb.testing.samples import document_of
from tests.administer.naming_parts import heard, naming_battery, shown, take

PAGE = Path(__file__).parents[2] / "docs" / "export-document.md"


def section(title: str) -> str:
    return PAGE.read_text(encoding="utf-8").split(f"## `{title}`")[1].split("\n## ")[0]


def lacking(title: str, keys: Mapping[str, Any]) -> list[str]:
    return [key for key in keys if f"`{key}`" not in section(title)]


def naming_document(plugins: Plugins, folder: Path) -> Mapping[str, Any]:
    with Store.open(folder / "naming.db") as store:
        battery = setup.find_battery(plugins, str(naming_battery(folder)))
        conditions = setup.resolve(plugins, battery, Conditions("S-1", "speaker", judges=()))
        with setup.create_naming(store, plugins, battery, conditions) as session:
            session.spoken.keep(None, RecordingBegan("r1", "r1.wav", "a microphone", 16_000))
            session.spoken.show(shown(0.0))
            session.spoken.score("right", take=take(0.0))
            session.spoken.transcribed(1, 1, heard("D AO G"))
        return export_document(load_administrations(store, [1]))


@pytest.mark.parametrize("make", [document_of, naming_document])
def test_every_key_is_described(make: Any, tmp_path: Path) -> None:
    plugins = Plugins.load()
    (document,) = make(plugins, tmp_path)["documents"]
    plugins.close()
    assert set(document) <= {
        "format", "administration", "trials", "recordings", "summary", "moved", "notices",
    }  # fmt: skip
    assert lacking("administration", document["administration"]) == []
    assert lacking("summary", document["summary"]) == []
    for trial in document["trials"]:
        assert lacking("trials", trial) == []
        for part in (*trial["attempts"], *trial["ratings"], *trial["judgements"]):
            assert lacking("trials", part) == []
        assert lacking("trials", trial.get("reply") or {}) == []
