"""An export of several files: a new folder, written whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.host.writing import draft_of
from tabwb.records.errors import TabwbError
from tabwb.records.files import sync_file
from tabwb.records.speakers import origin_line, session_line
from tabwb.records.words import RESEARCH_ONLY
from tabwb_annotations.tiers import Annotated, Document

NOTES = "README.txt"


@dataclass(frozen=True, slots=True)
class Made:
    """One file of an export: its name and the function that writes it."""

    name: str
    write: Callable[[Path], None]


def write_folder(
    out: Path,
    made: Sequence[Made],
    recordings: Sequence[Annotated],
    document: Document,
    notes: Sequence[str],
) -> None:
    """Write files, their recordings, and the notes."""
    if not made:
        raise TabwbError(
            "no spoken naming was recorded in these administrations",
            hint="this format is for spoken naming; jsonl and csv carry every administration",
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise TabwbError(
            "exists and is not an empty folder", where=str(out), hint="choose another name"
        )
    notices = (note for part in document.get("documents", [document]) for note in part["notices"])
    dates = dict.fromkeys(_session(recording.administration) for recording in recordings)
    made_by = dict.fromkeys(_origin(recording) for recording in recordings)
    general = dict.fromkeys((RESEARCH_ONLY, *notices))
    paragraphs = [*general, *notes, "\n".join(dates), "\n".join(made_by)]
    explanation = "\n\n".join(paragraphs) + "\n"
    try:
        with draft_of(out) as draft:
            draft.mkdir(mode=0o700)
            (draft / NOTES).write_text(explanation, encoding="utf-8")
            for file in made:
                file.write(draft / file.name)
            for recording in recordings:
                if recording.sound is not None:
                    shutil.copyfile(recording.sound, draft / sound_name(recording))
            for path in draft.iterdir():
                path.chmod(0o600)  # responses of people are confidential
                sync_file(path)
            if out.exists():
                out.rmdir()
            draft.replace(out)
    except OSError as error:
        raise _unwritable(out, error) from error


def _session(administration: Mapping[str, Any]) -> str:
    """Return who was recorded when."""
    day = administration.get("session_date") or ""
    return session_line(administration["examinee"], administration["id"], day)


def _origin(recording: Annotated) -> str:
    """Return who made the answers, in the line that ``tabwb import`` reads."""
    given = recording.administration
    return origin_line(recording.name, given["origin"], given["participant"])


def sound_name(recording: Annotated) -> str:
    """Return the name of the copy of a recording, which is unaltered."""
    return f"{recording.name}{_suffix(recording.sound)}"


def _suffix(sound: Path | None) -> str:
    if sound is None:
        return ".wav"
    with sound.open("rb") as file:
        beginning = file.read(4)
    known = {b"RIFF": ".wav", b"fLaC": ".flac", b"OggS": ".ogg", b"FORM": ".aiff"}
    return known.get(beginning, ".mp3")


def _unwritable(out: Path, error: OSError) -> TabwbError:
    return TabwbError(
        f"cannot be written: {error.strerror or error}",
        where=str(out),
        hint="choose another place",
    )
