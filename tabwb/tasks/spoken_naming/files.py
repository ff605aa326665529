"""Takes as files: their names; recordings that are in the store already."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from tabwb.battery.model import Battery
from tabwb.records.classes import dataclass
from tabwb.records.conditions import Conditions
from tabwb.records.errors import MissingExtra, TabwbError, UsageError
from tabwb.records.files import file_inside, open_file, sha256_of
from tabwb.records.speakers import read_day
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration
from tabwb.records.words import near
from tabwb.speech.files import ALLOWED, SUFFIXES, check_whole, recorded_on
from tabwb.store.store import Store

MANIFEST = "manifest.tsv"
COLUMNS = ("file", "item", "take", "date")
LONGEST_LINE = 10_000
"""Characters of a line of the manifest; the reader of tables refuses cells of more than 131,072."""
_NAME = re.compile(r"(?P<item>.+?)(?:_(?P<take>[0-9]{1,4}))?", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class TakeFile:
    """A sound file that holds one take of one item.

    Attributes:
        item: one of :func:`item_names`.
        take: 1-based; of several takes of an item the last one counts.
        date: when it was recorded, as the manifest says, or empty.
    """

    item: str
    take: int
    path: Path
    date: str = ""


def item_names(battery: Battery) -> dict[str, tuple[str, str]]:
    """Return what folders and manifests call each naming item, to (subtest, item)."""
    spoken = (subtest for subtest in battery.subtests if subtest.task.spoken)
    places = [(subtest.id, item.id) for subtest in spoken for item in subtest.items]
    count = Counter(item for _, item in places)
    return {
        item if count[item] == 1 else f"{subtest}/{item}": (subtest, item)
        for subtest, item in places
    }


def date_of(files: Sequence[TakeFile]) -> str:
    """Return the day of recordings, by their manifest or else by the files, ISO 8601; or
    nothing.
    """
    dates = {file.date for file in files if file.date}
    days = sorted(dates or {day for file in files if (day := recorded_on(file.path))})
    if len(days) > 1:
        raise UsageError(
            f"the recordings are of {len(days)} days: {', '.join(days)}",
            hint="a session is one day: give its date with --date, or import each day separately",
        )
    return days[0] if days else ""


def check_sounds(files: Sequence[TakeFile]) -> None:
    """Read every file before any is imported."""
    wrong: list[str] = []
    for file in files:
        try:
            check_whole(file.path)
        except MissingExtra:
            raise
        except TabwbError as error:
            wrong.append(str(error).splitlines()[0])
    if wrong:
        hint = "nothing was stored; repair or remove these files"
        raise TabwbError("\n".join(wrong), allowed=ALLOWED, hint=hint)


def take_files(folder: Path, items: Collection[str]) -> tuple[TakeFile, ...]:
    """Return the takes in a folder, item by item in order of takes."""
    if not folder.is_dir():
        allowed = "a folder of sound files named by item, or 'mic'"
        raise UsageError(f"'{folder}' is not a folder", allowed=allowed)
    manifest = folder / MANIFEST
    takes = list(_of_manifest(manifest) if manifest.is_file() else _of_names(folder, items))
    if not takes:
        raise UsageError(
            "no sound file found",
            where=str(folder),
            allowed=f"files ending in {', '.join(SUFFIXES)}",
        )
    _check(takes, items, folder)
    return tuple(sorted(takes))


def left_out(folder: Path, files: Sequence[TakeFile]) -> tuple[Path, ...]:
    """Return the other files of a folder: of another format, or not in its manifest."""
    # Not Path.resolve: that raises where a link leads back to itself.
    taken = {os.path.realpath(path) for path in (*(file.path for file in files), folder / MANIFEST)}
    return tuple(
        path
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.startswith(".") and os.path.realpath(path) not in taken
    )


def _of_names(folder: Path, items: Collection[str]) -> Iterator[TakeFile]:
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in SUFFIXES or path.name.startswith("."):
            continue
        file_inside(folder, path.name, str(folder))
        if path.stem in items:  # an item's own id may end in a number
            yield TakeFile(path.stem, 1, path)
            continue
        parts = _NAME.fullmatch(path.stem)
        assert parts is not None  # the pattern takes any name
        yield TakeFile(parts["item"], int(parts["take"] or 1), path)


def _of_manifest(manifest: Path) -> Iterator[TakeFile]:
    try:
        with open_file(manifest) as file:
            text = file.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TabwbError(f"the manifest cannot be read: {error}", where=str(manifest)) from error
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            raise UsageError(
                f"a line of {len(line):,} characters is too long",
                where=f"{manifest}:{number}",
                allowed=f"up to {LONGEST_LINE:,} characters",
            )
    rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    header = [name.strip() for name in next(rows, [])]
    if not {"file", "item"} <= set(header):
        raise UsageError(
            "the first line must name the columns",
            where=f"{manifest}:1",
            allowed="file, item and perhaps take and date, with tabs between them",
        )
    for number, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        where = f"{manifest}:{number}"
        cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
        take = cells.get("take") or "1"
        if not cells.get("file") or not cells.get("item"):
            raise UsageError("a line names a file and an item", where=where)
        if not re.fullmatch("[0-9]{1,4}", take) or not int(take):
            raise UsageError(f"'{take}' is not a valid take", where=where, allowed="1, 2, 3 ...")
        path = file_inside(manifest.parent, cells["file"], where)
        date = read_day(cells["date"], where) if cells.get("date") else ""
        yield TakeFile(cells["item"], int(take), path, date)


def _check(takes: Sequence[TakeFile], items: Collection[str], folder: Path) -> None:
    unknown = sorted({take.item for take in takes} - set(items))
    if unknown:
        meant = {name: near(name, items) for name in unknown}
        names = (f"{name} (did you mean {like}?)" if like else name for name, like in meant.items())
        raise UsageError(
            f"no item of the battery is called {', '.join(names)}",
            where=str(folder),
            allowed=", ".join(items),
            hint=f"rename the files, or say whose they are in {MANIFEST}: {', '.join(COLUMNS)}",
        )
    places: dict[tuple[str, int], Path] = {}
    for take in takes:
        first = places.setdefault((take.item, take.take), take.path)
        if first is not take.path:
            raise UsageError(
                f"two files are take {take.take} of '{take.item}': {first.name}, {take.path.name}",
                where=str(folder),
                hint="number them: ITEM_1, ITEM_2",
            )


OPEN = frozenset({AdministrationStatus.RUNNING, AdministrationStatus.PAUSED})


def holder_of(
    store: Store,
    battery: Battery,
    conditions: Conditions,
    sounds: Iterable[Path],
    *,
    note: str = "",
    but: Collection[int] = (),
) -> Administration | None:
    """Return the newest administration that an import of these began, or None.

    Its recordings are all among these, or it has no response yet and the same conditions.
    """
    digests = {sha256_of(path) for path in sounds}
    # What was given here and annotated elsewhere comes back as a new administration.
    wanted = (battery.content_hash, conditions.examinee, conditions.origin is None)
    for given in reversed(store.administrations()):
        given_to = (given.battery_hash, given.conditions.examinee, given.conditions.origin is None)
        if given.id in but or given_to != wanted:
            continue
        kept = {recording.sha256 for recording in store.people.recordings(given.id)}
        if kept:
            held = kept <= digests
        elif given.answered:
            held = bool(note) and note in store.facts([given.id])[0].notes
        else:
            held = given.status in OPEN and _alike(given.conditions, conditions)
        if held:
            return given
    return None


def _alike(one: Conditions, other: Conditions) -> bool:
    names = ("transcriber", "rater", "origin", "session_date", "item_order")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def continues(given: Administration, transcriber: str | None) -> bool:
    """Return whether an import can continue an administration."""
    return given.status in OPEN and given.conditions.transcriber == transcriber


def stored_already(given: Administration, hint: str = "") -> UsageError:
    """Return the error of an import whose recordings are in the store."""
    once_more = "to store them once more: --again (again=True in Python)"
    return UsageError(
        f"these responses of {given.conditions.examinee} are in the store already: "
        f"administration {given.id}, transcriber {given.conditions.transcriber or 'none'}",
        hint="; ".join(filter(None, (hint, once_more))),
    )


def begun_earlier(
    store: Store,
    battery: Battery,
    conditions: Conditions,
    sounds: Iterable[Path],
    tell: Callable[[str], object],
    hint: Callable[[Administration], str] = lambda given: "",
) -> Administration | None:
    """Return the administration that is to be continued with these recordings, or None."""
    given = holder_of(store, battery, conditions, sounds)
    if given is None:
        return None
    if not continues(given, conditions.transcriber):
        raise stored_already(given, hint(given))
    tell(f"administration {given.id} was begun with these recordings; it continues")
    return given
