"""Recordings in a folder, a file for each response, given as one administration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from tabwb.administer.naming.files import (
    MANIFEST,
    TakeFile,
    check_sounds,
    date_of,
    item_names,
    left_out,
    take_files,
)
from tabwb.administer.naming.imports import ANNOTATED, TABLE
from tabwb.administer.naming.order import leave_out, reason_to_discontinue
from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.battery.model import Battery
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions, conditions_of
from tabwb.records.declared_conditions import Audience
from tabwb.records.errors import UsageError
from tabwb.records.speakers import read_day
from tabwb.speech.files import ALLOWED, SUFFIXES


@dataclass(frozen=True, slots=True)
class FolderImport:
    """What is to be imported, as the user says it.

    Attributes:
        path: of the folder.
        battery: its id or path.
        speaker: the participant code.
        transcriber: a spec, or ``none``.
        date: of the session; empty: as the manifest or the files say.
    """

    path: Path
    battery: str
    speaker: str
    transcriber: str
    date: str = ""


@dataclass(frozen=True, slots=True)
class PreparedFolder:
    """The recordings of a folder with their conditions, and what the user is to know of them."""

    battery: Battery
    conditions: Conditions
    files: tuple[TakeFile, ...]
    notes: tuple[str, ...] = ()


def holds_recordings(path: Path) -> bool:
    """Return whether this is a folder of sound files without annotations."""
    if not path.is_dir() or (path / TABLE).is_file():
        return False
    kinds = {file.suffix.lower() for file in path.iterdir()}
    return not kinds & ANNOTATED and ((path / MANIFEST).is_file() or not kinds.isdisjoint(SUFFIXES))


def read_folder(folder: Path, battery: Battery) -> tuple[tuple[TakeFile, ...], str]:
    """Return the takes in a folder, and which of its files are left out, or nothing."""
    items = item_names(battery)
    if not items:
        raise UsageError(
            f"'{battery.id}' has no items to name aloud",
            hint=f"give it with: tabwb run {battery.id}",
        )
    files = take_files(folder, items)
    check_sounds(files)
    others = ", ".join(path.name for path in left_out(folder, files))
    note = f"left out: {others} ({ALLOWED} named by item, or in {MANIFEST})"
    return files, note if others else ""


def prepare_folder(plugins: Plugins, request: FolderImport) -> PreparedFolder:
    """Read the recordings of a folder, and return what will be stored; nothing is stored."""
    if not request.speaker:
        raise UsageError("recordings need a participant code", hint="say who speaks: a study ID")
    battery = setup.find_battery(plugins, request.battery)
    files, note = read_folder(request.path, battery)
    day = read_day(request.date, "--date") if request.date else date_of(files)
    audience: Audience = "described" if battery.judged_aloud else "spoken"
    asked = conditions_of(request.speaker, audience, {"transcriber": request.transcriber})
    conditions = setup.resolve(plugins, battery, replace(asked, session_date=day))
    unknown = "" if day else "the date of the session is not known"
    return PreparedFolder(battery, conditions, files, tuple(filter(None, (note, unknown))))


def settle(session: Session, *, discontinue: str = "", stopped: bool = False) -> str:
    """End an administration to which nothing more is given now; return what the user is to know.

    It is complete where every item is answered. Otherwise it is paused, or discontinued.

    Args:
        session: running.
        discontinue: the reason to discontinue it, or empty.
        stopped: whether the user stopped: items that are not needed are not left out yet.
    """
    words = reason_to_discontinue(session.spoken)
    if not stopped:
        leave_out(session.spoken)
    if not session.spoken.waiting(aloud=True) and not session.spoken.waiting(aloud=False):
        session.next()
    elif discontinue.strip() and not stopped:
        session.discontinue(discontinue)
    else:
        session.pause("items wait for a response")
    return words
