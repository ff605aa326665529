"""Checks of exporters, importers and statistics."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tabwb.analysis.administrations import load_columns
from tabwb.analysis.statistics.plugins import computed, plugin_responses_of
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import AnswerFile, Exporter, Importer, SpokenFile
from tabwb.plugin_api.extensions import Responses, Statistic
from tabwb.records.answers import RecordedAnswer
from tabwb.records.errors import TabwbError
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import prepare_corpus
from tabwb.testing.checks import Checks, document_of, expect, plugins_of, run_checks

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
        run_checks(f"exporter '{spec}'", _export_checks(exporter, given, folder))


def _export_checks(exporter: Exporter, document: Document, folder: Path) -> Checks:
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


def check_importer(
    spec: str,
    path: Path,
    *,
    names: Mapping[str, str] | None = None,
    plugins: Plugins | None = None,
) -> None:
    """Check an importer: contract, failure, determinism.

    Args:
        spec: the id of the format.
        path: a file, or a folder, of this format.
        names: field to what the file calls it, where a user would have to say it.
        plugins: with the importer; None for those installed.

    Raises:
        NonConformance: the importer does not keep its contract.
    """
    with plugins_of(plugins) as loaded:
        importer = loaded.importer(spec)
        run_checks(f"importer '{spec}'", _import_checks(loaded, importer, path, names or {}))


def _import_checks(
    plugins: Plugins, importer: Importer, path: Path, names: Mapping[str, str]
) -> Checks:
    def check_recognised() -> None:
        expect(importer.recognises(path) is True, f"recognises({path.name}) is not True")

    def check_read() -> None:
        read = importer.read(path, names)
        if isinstance(read, SpokenFile):
            prepared = prepare_corpus(plugins, read, None)
            expect(bool(prepared.sessions), "read() returned no response to an item")
            given = [one for each, _ in prepared.sessions for one in each.responses]
            lost = [one.sound for one in given if one.sound and not one.sound.is_file()]
            expect(not lost, f"a sound file that is not there: {lost[:1]}")
            return
        expect(isinstance(read, AnswerFile), f"read() returned a {type(read).__name__}")
        expect(bool(read.answers), "read() returned no answers")
        for answer in read.answers:
            expect(isinstance(answer, RecordedAnswer), f"an answer is a {type(answer).__name__}")
            expect(bool(answer.where), "an answer does not say where it is from")
            what = read.texts or answer.item or answer.prompt or answer.question
            expect(bool(what), f"{answer.where}: neither item nor prompt")
            plain = all(isinstance(value, str) for value in answer.metadata.values())
            expect(plain, f"{answer.where}: metadata that is not text")
        expect(all(file.exists() for file in read.files), "a file that was read is not there")

    def check_same() -> None:
        expect(importer.read(path, names) == importer.read(path, names), "unlike answers")

    def check_missing() -> None:
        missing = path.with_name(f"not-there{path.suffix}")
        try:
            importer.read(missing, names)
        except TabwbError:
            return
        expect(False, "reading a file that is not there raised no TabwbError")

    return {
        "contract, recognises": check_recognised,
        "contract, what is read": check_read,
        "determinism": check_same,
        "failure, a file that is not there": check_missing,
    }


def check_statistic(
    statistic_id: str, *, plugins: Plugins | None = None, battery: str = "tab"
) -> None:
    """Check a statistic: contract, determinism, and that it changes nothing.

    It is computed over responses of ``echo`` to a battery, and over none.

    Args:
        statistic_id: its id.
        plugins: with the statistic; None for those installed.
        battery: an id or path.

    Raises:
        NonConformance: the statistic does not keep its contract.
    """
    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as name:
        known = {statistic.id: statistic for statistic in loaded.statistics()}
        expect(
            statistic_id in known,
            f"there is no statistic {statistic_id!r}: {', '.join(known) or 'none is registered'}; "
            + "; ".join(map(str, loaded.problems)),
        )
        document_of(loaded, Path(name), battery)
        with Store.open(Path(name) / "sample.db") as store:
            given = plugin_responses_of(load_columns(store))
            checks = _statistic_checks(known[statistic_id], given)
            run_checks(f"statistic '{statistic_id}'", checks)


def _with_judges(responses: Responses, n: int) -> Responses:
    """Return responses with judges enough: each further one has the ratings of the first."""
    first, features = next(iter(responses.judges.items()))
    further = {f"{first}-{k}": features for k in range(2, n - len(responses.judges) + 2)}
    return replace(
        responses,
        raters={**responses.raters, **dict.fromkeys(further, responses.raters[first])},
        values=lambda rater, measure: responses.values(
            first if rater in further else rater, measure
        ),
        judges={**responses.judges, **further},
    )


def _statistic_checks(statistic: Statistic, responses: Responses) -> Checks:
    if len(responses.judges) < statistic.judges:
        responses = _with_judges(responses, statistic.judges)
    failed = (f"'{statistic.id}' failed: ", f"statistic '{statistic.id}' ")  # or at a limit

    def check_values() -> None:
        for value in computed(statistic, responses):
            expect(not value.reason.startswith(failed), value.reason)
            told = value.value is not None or not value.reason.endswith("without a reason")
            told = told or value.reason.startswith("the function returned None")
            expect(told, f"{value.reason}: return StatisticValue(None, reason=...)")

    def check_none() -> None:
        nothing = responses.table.take(responses.table["words"].values < 0)
        without = replace(responses, table=nothing, values=lambda rater, measure: np.zeros(0))
        for value in computed(statistic, without):
            expect(not value.reason.startswith(failed), value.reason)

    def check_same() -> None:
        first, second = (computed(statistic, responses) for _ in range(2))
        expect(first == second, f"unlike values: {first} and {second}")

    def check_unchanged() -> None:
        before = list(responses.table.rows())
        computed(statistic, responses)
        expect(before == list(responses.table.rows()), "it changed the responses")

    return {
        "contract, what is returned": check_values,
        "contract, without responses": check_none,
        "determinism": check_same,
        "contract, the responses stay as they are": check_unchanged,
    }
