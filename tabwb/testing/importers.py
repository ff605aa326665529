"""Checks of an importer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import AnswerFile, Importer
from tabwb.records.answers import RecordedAnswer
from tabwb.records.errors import TabwbError
from tabwb.testing.checks import Checks, expect, plugins_of, run_checks


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
        run_checks(f"importer '{spec}'", _checks(importer, path, names or {}))


def _checks(importer: Importer, path: Path, names: Mapping[str, str]) -> Checks:
    def check_recognised() -> None:
        expect(importer.recognises(path) is True, f"recognises({path.name}) is not True")

    def check_read() -> None:
        read = importer.read(path, names)
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
