"""Named responses from elsewhere: folders of recordings, annotation files, the PSST corpus' table.

Nothing is guessed: an unknown item, or a label that is not a phoneme, is an error with its place.
"""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from tabwb.battery.model import Battery
from tabwb.phonology.inventory import SILENT, normalise_label, parse_pronunciation
from tabwb.phonology.labels import map_labels
from tabwb.phonology.transcripts import read_table
from tabwb.records.columns import PARTICIPANT
from tabwb.records.conditions import Conditions
from tabwb.records.errors import MissingExtra, TabwbError, UsageError
from tabwb.records.files import check_inside, file_inside, open_file, sha256_of
from tabwb.records.naming import (
    SCORES,
    TIME_UNKNOWN,
    Cued,
    ImportedSession,
    Named,
    Score,
)
from tabwb.records.speakers import read_day, session_day
from tabwb.records.specs import parse_spec
from tabwb.records.speech import Segment, Transcript
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration
from tabwb.records.words import near
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.target import CODES
from tabwb.scoring.text import fold_case
from tabwb.speech.annotations import Annotations, Interval, read_annotations
from tabwb.speech.files import ALLOWED, SUFFIXES, check_whole, recorded_on
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.items import naming_item
from tabwb.tasks.spoken_naming.task import NamingRules, cues_of

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
    _check_takes(takes, items, folder)
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


def _check_takes(takes: Sequence[TakeFile], items: Collection[str], folder: Path) -> None:
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
    any_version: bool = False,
) -> Administration | None:
    """Return the newest administration that an import of these began, or None.

    Its recordings are all among these, or it has no response yet and the same conditions. It is of
    the same version of the battery, or of any.
    """
    digests = {sha256_of(path) for path in sounds}
    # What was given here and annotated elsewhere comes back as a new administration.
    version = battery.id if any_version else battery.content_hash
    wanted = (version, conditions.examinee, conditions.origin is None)
    for given in reversed(store.administrations()):
        version = given.battery if any_version else given.battery_hash
        given_to = (version, given.conditions.examinee, given.conditions.origin is None)
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


_LISTENERS = re.compile(r"(.+?) \(person(?::[^();]*)?(?:, counts)?\)(?:; |$)")
"""A word that was heard, with its listener."""


def item_of(label: str, items: Mapping[str, str], where: str) -> str:
    """Return the item of the battery that a label names."""
    if item := items.get(fold_case(label.strip())):
        return item
    meant = near(fold_case(label), items)
    raise UsageError(
        f"the battery has no item '{label}'",
        where=where,
        allowed=", ".join(dict.fromkeys(items.values())),
        hint=f"did you mean '{meant}'?" if meant else "name the battery it is of: --battery",
    )


def attempt_of(label: str, where: str) -> tuple[str, ...]:
    """Return the phonemes of an attempt, ARPAbet; or labels of silence."""
    if any(part in SILENT for part in label.split()):
        return tuple(phoneme_of(part, where) for part in label.split())
    try:
        return parse_pronunciation(label, beyond="keep")
    except (TabwbError, ValueError) as error:
        message = f"'{label}' is not an attempt in phonemes"
        raise _unread(message, where, "attempt", "ARPAbet or IPA") from error


def phoneme_of(label: str, where: str) -> str:
    """Return the phoneme of a label in ARPAbet, or a label of silence."""
    if label.strip() in SILENT:
        return label.strip()
    if (phoneme := normalise_label(label)) is not None:
        return phoneme
    try:
        (phoneme,) = parse_pronunciation(label, beyond="keep")
    except (TabwbError, ValueError) as error:
        raise UsageError(f"'{label}' is not a phoneme", where=where) from error
    return phoneme


def heard_in(label: str, where: str) -> str:
    """Return what a person heard, or nothing; of several listeners in our exports, the first."""
    if several := _LISTENERS.match(label):
        label = several[1]
    return _parsed(label, parse_heard, "cannot have been heard", where, "heard")


def transcriber_in(label: str, where: str) -> str:
    """Return the spec of a transcriber, or nothing."""
    return _parsed(label, parse_spec, "is not a valid transcriber", where, "transcriber")


def _parsed(label: str, parse: Callable[[str], object], problem: str, where: str, tier: str) -> str:
    try:
        if label:
            parse(label)
    except TabwbError as error:
        raise _unread(f"'{label}' {problem}: {error.message}", where, tier) from error
    return label


def code_in(label: str, where: str) -> str:
    """Return a response code, or nothing."""
    if label and label not in CODES:
        raise _unread(f"'{label}' is not a valid response code", where, "code", ", ".join(CODES))
    return label


def _unread(message: str, where: str, tier: str, allowed: str | None = None) -> UsageError:
    hint = f"leave the tier out: --tier {tier}="
    return UsageError(message, where=where, allowed=allowed, hint=hint)


def score_in(label: str, where: str) -> Score | None:
    """Return a score, or None where the label is empty."""
    for score in SCORES:
        if label.casefold() == score:
            return score
    if label:
        raise UsageError(f"'{label}' is not a valid score", where=where, allowed=", ".join(SCORES))
    return None


def seconds_in(cell: str | None, where: str) -> float | None:
    """Return a time, or None where the cell is empty."""
    text = (cell or "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds < inf:
        raise UsageError(f"'{text}' is not a number of seconds", where=where)
    return seconds


def correctness_in(cell: str | None, where: str) -> Score | None:
    """Return the score of a cell with a truth value, or None where it is empty."""
    match (cell or "").strip().casefold():
        case "":
            return None
        case "true" | "1":
            return "right"
        case "false" | "0":
            return "error"
    raise UsageError(f"'{cell}' is not a valid correctness", where=where, allowed="TRUE, FALSE")


_RATER = re.compile(r"[\w-]+ \((?:person:)?(?P<rater>[^,()]+)(?P<counts>, counts)?\)")


def rater_in(label: str) -> str:
    """Return whose score counts in a label of our exports, or nothing.

    >>> rater_in("right (person:A, counts); error (person:B)"), rater_in("right (B)"), rater_in("x")
    ('A', 'B', '')
    """
    found = list(_RATER.finditer(label))
    counting = [one for one in found if one["counts"]] or (found if len(found) == 1 else [])
    return counting[0]["rater"] if counting else ""


def cues_in(cell: str, where: str) -> list[tuple[str, float | None]]:
    """Return the kinds and seconds of cues; None where a time is not known.

    >>> cues_in("semantic@1.5 phonemic", "t.tsv:2")
    [('semantic', 1.5), ('phonemic', None)]
    """
    given: list[tuple[str, float | None]] = []
    for part in cell.split():
        kind, apart, time = part.partition("@")
        at_s = seconds_in(time, where)
        if not kind or (apart and at_s is None):
            raise UsageError(f"'{part}' is not a cue", where=where, allowed="KIND@SECONDS, or KIND")
        given.append((kind, at_s))
    return given


def stretches_in(cell: str, where: str) -> list[tuple[float, float]]:
    """Return stretches of a recording, seconds.

    >>> stretches_in("1.5-2 4-4.25", "t.tsv:2")
    [(1.5, 2.0), (4.0, 4.25)]
    """
    parts = [part.partition("-") for part in cell.split()]
    found = [(seconds_in(a, where), seconds_in(b, where)) for a, _, b in parts]
    given = [(a, b) for a, b in found if a is not None and b is not None and a < b]
    if len(given) < len(found):
        raise UsageError(f"'{cell}' are not stretches", where=where, allowed="START-END ...")
    return given


TABLE = "utterances.tsv"
TIERS = (
    "item", "target", "attempt", "phoneme", "transcriber", "heard", "score", "code", "examiner",
    "cue", "picture", "onset", "mark", "note",
)  # fmt: skip
"""The tiers that are read; our exports have them, others can be named in their place."""
ANNOTATED = {".textgrid", ".eaf"}
DIVIDED = "evenly divided within each attempt"
UNTIMED = "none"
MACHINE = "asr"
"""The transcriber of a column ``asr_transcript`` of others, who do not name it."""
PROPOSED = "(proposed)"
SAME_S = 0.0015
"""Times that differ by less are the same: ELAN has whole milliseconds."""


Step = Callable[[], object]
"""Is called before each file that is read and each session that is stored; raises to stop."""


def read_sessions(
    path: Path,
    battery: Battery,
    tiers: Mapping[str, str] | None = None,
    step: Step = lambda: None,
) -> tuple[ImportedSession, ...]:
    """Return the sessions in an annotation file, a folder of them, or a folder with a table."""
    if (path / TABLE).is_file():
        return tuple(_of_table(path / TABLE, battery, step))
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in ANNOTATED)
        check_inside(path, files)
    if not files:
        raise UsageError(
            "nothing here can be read",
            where=str(path),
            allowed=f"a TextGrid, an EAF, a folder of them, or a folder with {TABLE}",
            hint="recordings alone: tabwb name BATTERY --speaker ID --input FOLDER",
        )
    responses: list[Named] = []
    named: dict[str, Path] = {}
    for file in files:
        step()
        annotations = read_annotations(file)
        if path.is_dir() and not any(annotations.tiers.values()):
            continue  # no label for this recording: a take that did not count
        here = tuple(_of_annotations(annotations, battery, tiers or {}))
        for item in {response.item for response in here}:
            if named.setdefault(item, file) is not file:
                raise UsageError(
                    f"'{item}' is named in two files: {named[item].name}, {file.name}",
                    where=str(path),
                    hint="a folder is one session of one speaker: use one folder for each",
                )
        responses += here
    if not responses:
        raise UsageError("nothing is labelled here", where=str(path))
    _check(responses, battery, step)
    day = session_day(path) or _date_in(responses)
    return (ImportedSession("", path, tuple(responses), day),)


def cued(battery: Battery, named: Named) -> Iterator[Cued]:
    """Yield the cues that were given before a response, as the battery has them."""
    subtest_id, item_id = item_names(battery)[named.item]
    subtest = battery.subtest(subtest_id)
    rules = subtest.rules or NamingRules()
    cues = cues_of(rules, naming_item(subtest.item(item_id)))
    following = 0
    for kind, at_s in named.cues:
        place = next((at for at in range(following, len(cues)) if cues[at].kind == kind), None)
        if place is None:
            raise UsageError(
                f"'{kind}' is not a cue of '{named.item}' at this place",
                where="" if named.sound is None else str(named.sound),
                allowed=", ".join(cue.kind for cue in cues) or "this item has no cues",
                hint="leave the cues out: --tier cue=",
            )
        following = place + 1
        yield Cued(place, kind, cues[place].counts, at_s)


def items_of(battery: Battery) -> dict[str, str]:
    """What an item may be called in a source (its name and its target, lower case) to its name."""
    names = item_names(battery)
    targets: dict[str, str] = {}
    for name, (subtest, item) in names.items():
        targets.setdefault(fold_case(naming_item(battery.subtest(subtest).item(item)).name), name)
    return targets | {fold_case(name): name for name in names}


# ------------------------------------------------------------------ annotations


def _of_annotations(
    annotations: Annotations, battery: Battery, names: Mapping[str, str]
) -> Iterator[Named]:
    where = str(annotations.path)
    unknown = [name for name in names.values() if name and name not in annotations.tiers]
    if unknown:
        raise UsageError(
            f"there is no tier '{unknown[0]}'",
            where=where,
            allowed=", ".join(annotations.tiers) or "the file has no tier",
        )
    tiers = {name: annotations.tiers.get(names.get(name, name), ()) for name in TIERS}
    windows = tiers["item"] or tiers["target"]
    if not windows:
        raise UsageError(
            "no tier says which item is named where",
            where=where,
            allowed=f"a tier 'item' or 'target'; this file has {', '.join(annotations.tiers)}",
            hint="name the tier: --tier item=NAME",
        )
    items = items_of(battery)
    for window in windows:
        yield Named(
            item_of(window.label, items, f"{where} at {window.start_s:.3f} s"),
            window.start_s,
            window.end_s,
            tuple(_written(tiers, window, where)),
            score_in(_label(tiers["score"], window), where),
            heard_in(_label(tiers["heard"], window, named=False), where),
            code_in(_label(tiers["code"], window), where),
            tuple((spoke.start_s, spoke.end_s) for spoke in _inside(tiers["examiner"], window)),
            annotations.sound,
            rater_in(_label(tiers["score"], window, named=False)),
            tuple(_cue(cue) for cue in _begun(tiers["cue"], window)),
            tuple(mark.start_s for mark in _begun(tiers["mark"], window)),
            *_moments(tiers, window),
            _label(tiers["note"], window, named=False),
        )


def _cue(cue: Interval) -> tuple[str, float | None]:
    """Return the kind of a cue, and its second where the label does not say it is unknown."""
    label = cue.label.strip()
    kind = label.removesuffix(TIME_UNKNOWN)
    return kind, cue.start_s if kind == label else None


def _written(
    tiers: Mapping[str, Sequence[Interval]], window: Interval, where: str
) -> Iterator[Transcript]:
    by = transcriber_in(_label(tiers["transcriber"], window, named=False), where)
    phonemes = _inside(tiers["phoneme"], window)
    if phonemes:
        segments = [
            Segment(
                phoneme_of(phone.label, f"{where} at {phone.start_s:.3f} s"),
                phone.start_s - window.start_s,
                phone.end_s - window.start_s,
            )
            for phone in phonemes
        ]
        yield _transcript(segments, "of the phoneme tier", by)
        return
    attempts = [
        (attempt, attempt_of(attempt.label, f"{where} at {attempt.start_s:.3f} s"))
        for attempt in _inside(tiers["attempt"], window)
    ]
    if not attempts:
        return  # nobody transcribed it: who heard nothing writes <sil>
    spoken = [(attempt, labels) for attempt, labels in attempts if not _is_silent(labels)]
    if not spoken or (len(spoken) == 1 and _is_whole(spoken[0][0], window)):
        yield _untimed([label for _, labels in attempts for label in labels], by)
        return
    divided: list[Segment] = []
    for attempt, labels in spoken:
        step = (attempt.end_s - attempt.start_s) / len(labels)
        first = attempt.start_s - window.start_s
        divided += [
            Segment(label, first + at * step, first + (at + 1) * step)
            for at, label in enumerate(labels)
        ]
    yield _transcript(divided, DIVIDED, by)


def _is_whole(attempt: Interval, window: Interval) -> bool:
    """Whether an attempt is as long as its response: its phonemes have no known times."""
    return attempt.start_s <= window.start_s + SAME_S and attempt.end_s >= window.end_s - SAME_S


def _inside(intervals: Sequence[Interval], window: Interval) -> list[Interval]:
    return [
        interval
        for interval in intervals
        if window.start_s <= (interval.start_s + interval.end_s) / 2 < window.end_s
    ]


def _begun(intervals: Sequence[Interval], window: Interval) -> list[Interval]:
    """Return what begins in a window; of moments only the start is known."""
    return [each for each in intervals if window.start_s - SAME_S <= each.start_s < window.end_s]


def _moments(
    tiers: Mapping[str, Sequence[Interval]], window: Interval
) -> tuple[float | None, float | None, str]:
    """Return when the picture was drawn and when speech began, and who or what said the latter."""
    shown, onset = (next(iter(_begun(tiers[name], window)), None) for name in ("picture", "onset"))
    return (
        None if shown is None else shown.start_s,
        None if onset is None else onset.start_s,
        "" if onset is None else onset.label.strip(),
    )


def _label(intervals: Sequence[Interval], window: Interval, *, named: bool = True) -> str:
    """The first label in a window; ``named``: without who gave it, and none that is proposed."""
    labels = [interval.label.strip() for interval in _inside(intervals, window)]
    if named:
        labels = [label.partition(" (")[0].strip() for label in labels if PROPOSED not in label]
    return labels[0] if labels else ""


# ------------------------------------------------------------------ the PSST table


def _of_table(table: Path, battery: Battery, step: Step) -> Iterator[ImportedSession]:
    rows = read_table(table)
    missing = {"utterance_id", "prompt", "transcript"} - set(rows.columns)
    if missing:
        raise UsageError(
            f"the table has no column {', '.join(sorted(missing))}",
            where=f"{table}:1",
            allowed="utterance_id, prompt, transcript; and session, correctness, filename",
        )
    items = items_of(battery)
    sessions: dict[str, list[Named]] = {}
    dates: dict[str, set[str]] = {}
    stated: dict[str, list[dict[str, str]]] = {}
    for row in rows.rows:
        cells = row.cells
        item = item_of(cells["prompt"], items, row.where)
        session = cells.get("session") or cells["utterance_id"].rpartition("-")[0].strip()
        if day := (cells.get("session_date") or cells.get("date") or "").strip():
            dates.setdefault(session, set()).add(read_day(day, row.where))
        if (told := _told(cells)) and told not in stated.setdefault(session, []):
            stated[session].append(told)
        sessions.setdefault(session, []).append(_row(cells, item, table.parent, row.where))
    for session, responses in sessions.items():
        _check(responses, battery, step)
        days = dates.get(session, set())
        if len(days) > 1:
            raise UsageError(
                f"session '{session}' is of {len(days)} days: {', '.join(sorted(days))}",
                where=str(table),
            )
        day = next(iter(days), "") or _date_in(responses)
        told_of = tuple(stated.get(session, ()))
        yield ImportedSession(session, table, tuple(responses), day, stated=told_of)


def _told(cells: Mapping[str, str]) -> dict[str, str]:
    """Return what a row states of the participant: texts by column of the record.

    >>> _told({"aq_index": "48.5", "participant_site": "Leeds", "participant_sex": ""})
    {'AQ': '48.5', 'site': 'Leeds'}
    """
    named = {"participant_AQ": cells.get("aq_index", ""), **cells}
    people = ((name, text) for name, text in named.items() if name.startswith(PARTICIPANT))
    return {name.removeprefix(PARTICIPANT): text for name, text in people if text}


def _date_in(responses: Sequence[Named]) -> str:
    sounds = {response.sound for response in responses if response.sound is not None}
    days = {day for sound in sounds if (day := recorded_on(sound))}
    return days.pop() if len(days) == 1 else ""


def _row(row: Mapping[str, str], item: str, folder: Path, where: str) -> Named:
    transcripts: list[Transcript] = []
    if heard := row.get("asr_transcript", "").split():
        mapped = map_labels(heard, "arpabet")
        by = transcriber_in(row.get("asr") or MACHINE, where)
        transcripts.append(_untimed(mapped.phonemes, by, dict(mapped.dropped)))
    if typed := row["transcript"].split():
        transcripts.append(_untimed([phoneme_of(label, where) for label in typed]))
    name = row.get("filename", "")
    sound = file_inside(folder, name, where) if name else None
    onset_s = seconds_in(row.get("onset_s"), where)
    return Named(
        item,
        seconds_in(row.get("start_s"), where) or 0.0,
        seconds_in(row.get("end_s"), where),
        tuple(transcripts),
        score_in(row.get("score", ""), where) or correctness_in(row.get("correctness"), where),
        heard_in(row.get("heard", ""), where),
        code_in(row.get("code", ""), where),
        tuple(stretches_in(row.get("examiner", ""), where)),
        sound,
        row.get("rater", ""),
        tuple(cues_in(row.get("cues", ""), where)),
        tuple(
            at_s
            for mark in row.get("marks", "").split()
            if (at_s := seconds_in(mark, where)) is not None
        ),
        seconds_in(row.get("shown_s"), where),
        onset_s,
        "" if onset_s is None else "imported",
        row.get("note", ""),
    )


def _transcript(
    segments: Sequence[Segment], times: str, by: str = "", dropped: Mapping[str, int] | None = None
) -> Transcript:
    kept, meta = tuple(segments), {"times": times}
    return Transcript(by, "ok" if kept else "empty", kept, dropped=dropped or {}, metadata=meta)


def _untimed(
    labels: Sequence[str], by: str = "", dropped: Mapping[str, int] | None = None
) -> Transcript:
    segments = () if _is_silent(labels) else tuple(Segment(label, 0.0, 0.0) for label in labels)
    return _transcript(segments, UNTIMED, by, dropped)


def _is_silent(labels: Sequence[str]) -> bool:
    """Whether nothing was said; unintelligible speech and noise are not silence."""
    return set(labels) <= {SILENT[0]}


def _check(responses: Sequence[Named], battery: Battery, step: Step) -> None:
    """Check that every response lies in its sound file and has cues of its item, before storing."""
    seconds: dict[Path, float] = {}
    for response in responses:
        tuple(cued(battery, response))
    for response in responses:
        sound, start = response.sound, response.start_s
        if sound is None:
            continue
        if sound not in seconds:
            step()
            seconds[sound] = check_whole(sound).seconds
        end = seconds[sound] if response.end_s is None else response.end_s
        if not start < min(end, seconds[sound]):
            raise UsageError(
                f"'{response.item}' from {start:.3f} s to {end:.3f} s is outside its recording",
                where=str(sound),
                allowed=f"0 to {seconds[sound]:.3f} s",
            )
