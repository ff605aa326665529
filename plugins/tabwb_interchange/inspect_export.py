"""Writes logs of inspect_ai: one ``.eval`` file for each administration.

Written against the schema of inspect_ai 0.3.285 (log format version 2) without importing it: a zip
archive with ``header.json``, ``summaries.json`` and one member for each sample. One response is one
sample; its replicate, counted from 1, is the epoch.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from tabwb.plugin_api import ComponentError, Exporter, write_with
from tabwb.records.files import open_private
from tabwb.records.words import RESEARCH_ONLY
from tabwb_interchange.inspect_content import VERSION, LogContent, summary_of
from tabwb_interchange.reading import new_folder

NOTE = (
    "A log of inspect_ai (format version 2, as inspect_ai 0.3.285 writes it): inspect view, or "
    "inspect_ai.log.read_eval_log. A sample is one counted response, its epoch the replicate from "
    "1. A score has the numbers of one scorer or judge by measure; a measure that is undefined, "
    "unparsed or in error is null, with its status in the score's metadata. The metrics are plain "
    "means over samples: identical responses that tabwb counts once are counted each time. tabwb's "
    "own summary, with intervals, is in the metadata of the results. Practice items are left out."
)
_MOMENT = (1980, 1, 1, 0, 0, 0)
_SPOOLED = 4 * 2**20


class InspectExporter(Exporter):
    """One ``.eval`` file, or a folder of them where the name does not end in ``.eval``."""

    suffix = ".eval"
    messages = True

    def export_stream(self, documents: Iterable[Mapping[str, Any]], out: Path) -> None:
        """Write the counted responses of documents, each as it is read."""
        if out.suffix == ".eval":
            rest = iter(documents)
            first = next(rest, None)
            if first is None:
                raise ComponentError("there are no administrations", where=str(out))
            _write(first, out)
            if next(rest, None) is not None:
                out.unlink(missing_ok=True)
                out.with_name(f"{out.name}.README.txt").unlink(missing_ok=True)
                raise ComponentError(
                    "a .eval file holds one administration",
                    where=str(out),
                    hint="name a new folder with --out, and each gets its own file in it",
                )
            return
        with new_folder(out, NOTE) as folder:
            for document in documents:
                with _opened(folder.path / _file_name(document["administration"])) as file:
                    _archive(document, file)
                folder.tell_of(document)


def _file_name(administration: Mapping[str, Any]) -> str:
    """Return the name of a log: when the administration began, its battery, its uid."""
    created = administration["created_at"].replace(":", "-").replace("+", "-").replace(".", "-")
    return f"{created}_{administration['battery']}_{administration['uid']}.eval"


def _write(document: Mapping[str, Any], out: Path) -> None:
    notes = list(dict.fromkeys([RESEARCH_ONLY, *document["notices"], NOTE]))

    def write(path: Path) -> None:
        with _opened(path) as file:
            _archive(document, file)

    write_with(out, write, notes)


def _opened(path: Path) -> IO[bytes]:
    return os.fdopen(open_private(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), "w+b")


def _archive(document: Mapping[str, Any], file: IO[bytes]) -> None:
    log = LogContent(document)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        start = {"version": VERSION, "eval": log.spec, "plan": log.plan}
        _member(archive, "_journal/start.json", start)
        with SpooledTemporaryFile(_SPOOLED) as summaries:
            for sample in log.samples():
                name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
                _member(archive, name, sample)
                summaries.write(b"," if summaries.tell() else b"[")
                summaries.write(_json(summary_of(sample)))
            summaries.write(b"]" if summaries.tell() else b"[]")
            summaries.seek(0)
            with archive.open(_info("summaries.json"), "w", force_zip64=True) as member:
                copyfileobj(summaries, member)
        _member(archive, "header.json", log.header())


def _member(archive: zipfile.ZipFile, name: str, value: object) -> None:
    archive.writestr(_info(name), _json(value))


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _MOMENT)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


def _json(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
