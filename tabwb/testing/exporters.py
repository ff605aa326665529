"""Checks of an exporter."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Exporter, StreamingExporter
from tabwb.records.errors import TabwbError
from tabwb.testing.checks import Checks, expect, plugins_of, run_checks
from tabwb.testing.samples import document_of

Document = Mapping[str, Any]


def check_exporter(
    spec: str, *, plugins: Plugins | None = None, document: Document | None = None
) -> None:
    """Check an exporter: contract, failure, determinism.

    Args:
        spec: the id of the format.
        plugins: with the exporter; None for those installed.
        document: what to export; None for an administration of TAB to ``echo``.

    Raises:
        NonConformance: the exporter does not keep its contract.
    """
    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exporter = loaded.exporter(spec)
        given = document_of(loaded, folder) if document is None else document
        run_checks(f"exporter '{spec}'", _checks(exporter, given, folder))


def _checks(exporter: Exporter, document: Document, folder: Path) -> Checks:
    suffix = exporter.suffix

    def check_suffix() -> None:
        valid = isinstance(suffix, str) and (not suffix or suffix.startswith("."))
        expect(valid, f"suffix is {suffix!r}; allowed: '.csv' or '' for a folder")

    def check_written() -> None:
        out = folder / f"written{suffix}"
        before = copy.deepcopy(dict(document))
        exporter.export(document, out)
        expect(before == dict(document), "export() changed the document that it was given")
        expect(out.is_file() if suffix else out.is_dir(), f"nothing was written to {out.name}")
        for path in _files(out) if os.name == "posix" else ():
            shared = path.stat().st_mode & 0o077
            expect(not shared, f"{path.name} can be read by others; what people said is private")

    def check_same() -> None:
        written = []
        for place in (folder / "again1", folder / "again2"):
            place.mkdir()
            out = place / f"export{suffix}"
            exporter.export(document, out)
            written.append({path.name: path.read_bytes() for path in _files(out)})
        expect(written[0].keys() == written[1].keys(), "one document twice gave different files")
        differing = [name for name in written[0] if written[0][name] != written[1][name]]
        expect(not differing, f"one document twice gave different bytes: {', '.join(differing)}")

    def check_stream() -> None:
        if not isinstance(exporter, StreamingExporter):
            return
        whole, stream = folder / "whole", folder / "stream"
        parts = ({**part, "trials": iter(part["trials"])} for part in document["documents"])
        for place in (whole, stream):
            place.mkdir()
        exporter.export(document, whole / f"export{suffix}")
        exporter.export_stream(parts, stream / f"export{suffix}")
        written = [
            [(path.name, path.read_bytes()) for path in _files(place)] for place in (whole, stream)
        ]
        expect(written[0] == written[1], "export() and export_stream() wrote different bytes")

    def check_unwritable() -> None:
        out = folder / "not-there" / f"export{suffix}"
        try:
            exporter.export(document, out)
        except TabwbError:
            expect(not out.exists(), "a failed export left something behind")
            return
        expect(False, "writing into a folder that is not there raised no TabwbError")

    return {
        "contract, suffix": check_suffix,
        "contract, what is written": check_written,
        "determinism": check_same,
        "contract, documents read while they are written": check_stream,
        "failure, a folder that is not there": check_unwritable,
    }


def _files(out: Path) -> list[Path]:
    return sorted(path for path in out.rglob("*") if path.is_file()) if out.is_dir() else [out]
