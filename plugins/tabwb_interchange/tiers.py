"""Running speech that was transcribed in Praat or ELAN: the labels of one tier are one text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tabwb.plugin_api import AnswerFile, RecordedAnswer, RecordedRun, TabwbError
from tabwb.records.errors import UsageError
from tabwb.records.files import check_inside
from tabwb.speech.annotations import read_annotations
from tabwb_interchange.chat import code_of

SUFFIXES = (".textgrid", ".eaf")
OPTIONS = ("tier", "language")
"""What the user can say with ``--column NAME=VALUE``."""


class Tiers:
    """The importer ``tiers``; a TextGrid or an EAF is otherwise read as spoken naming."""

    def recognises(self, path: Path) -> bool:
        """Return False: only ``--format tiers`` says that the labels are running speech."""
        return False

    def read(self, path: Path, names: Mapping[str, str]) -> AnswerFile:
        """Return one text for each file: an utterance for each label of the tier."""
        for name in names:
            if name not in OPTIONS:
                raise UsageError(
                    f"tiers have no option '{name}'", where="--column", allowed=", ".join(OPTIONS)
                )
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
            check_inside(path, files)
        if not files:
            raise UsageError("nothing here can be read", where=str(path), allowed="TextGrid, EAF")
        answers = tuple(_answer(file, names.get("tier", "")) for file in files)
        return AnswerFile(
            f"running speech in {files[0].suffix[1:]} files", answers, tuple(files), texts=True,
            language=names.get("language", "en"), spoken=True,
        )  # fmt: skip


def _answer(file: Path, name: str) -> RecordedAnswer:
    tiers = read_annotations(file).tiers
    if not name and len(tiers) == 1:
        (name,) = tiers
    if name not in tiers:
        raise UsageError(
            f"there is no tier '{name}'" if name else "which tier has the speech is not known",
            where=str(file),
            allowed=", ".join(tiers) or "the file has no tier",
            hint="name it: --column tier=NAME",
        )
    labels = [" ".join(interval.label.split()) for interval in tiers[name]]
    if not labels:
        raise TabwbError(f"the tier '{name}' has no labels", where=str(file))
    # A tier of words has no utterances.
    words = all(" " not in label for label in labels)
    return RecordedAnswer(
        where=str(file),
        text=(" " if words else "\n").join(labels),
        run=RecordedRun(
            id=str(file),
            file=str(file),
            origin="human",
            participant=code_of("", file),
            participant_is_own=True,
            tool=f"annotations, tier {name}",
        ),
        metadata={"source.id": file.stem},
    )
