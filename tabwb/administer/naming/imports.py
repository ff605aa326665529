"""Named responses from elsewhere: annotation files and the PSST corpus' table, read into records.

Nothing is guessed: an item that the battery does not have, or a label that is not a phoneme, is an
error with its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tabwb.administer.naming.files import item_names
from tabwb.administer.naming.labels import (
    attempt_of,
    code_of,
    correctness_of,
    heard_of,
    phoneme_of,
    score_of,
    seconds_of,
    transcriber_of,
)
from tabwb.battery.model import Battery
from tabwb.battery.naming import naming_item
from tabwb.phonology.inventory import SILENT
from tabwb.phonology.labels import map_labels
from tabwb.phonology.transcripts import read_table
from tabwb.records.errors import UsageError
from tabwb.records.naming import Score
from tabwb.records.speakers import read_day
from tabwb.records.speech import Segment
from tabwb.speech.annotations import Annotations, Interval, read_annotations
from tabwb.speech.files import check_whole, recorded_on

TABLE = "utterances.tsv"
TIERS = (
    "item", "target", "attempt", "phoneme", "transcriber", "heard", "score", "code", "examiner",
)  # fmt: skip
"""The tiers that are read; our exports have them, others can be named in their place."""
DIVIDED = "evenly divided within each attempt"
UNTIMED = "none"
MACHINE = "asr"
"""The transcriber of a column ``asr_transcript`` of others, who do not name it."""
PROPOSED = "(proposed)"
SAME_S = 0.0015
"""Times that differ by less are the same: ELAN has whole milliseconds."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was transcribed elsewhere.

    Attributes:
        segments: seconds from the beginning of the response; none where nothing was heard.
        times: where they come from.
        by: transcriber as tabwb calls it; empty: a person whom the source does not name.
        dropped: a machine's labels without a phoneme, with how often each came.
    """

    segments: tuple[Segment, ...]
    times: str
    by: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Named:
    """One response that was given elsewhere.

    Attributes:
        item: as :func:`tabwb.administer.naming.files.item_names` calls it.
        start_s, end_s: its stretch of the recording; ``end_s`` None: to the end.
        transcripts: by machines and people, the one that is shown first last.
        score: a person's, or None.
        heard, code: a person's, or empty.
        examiner: stretches of the recording in which the administrator speaks.
    """

    item: str
    start_s: float = 0.0
    end_s: float | None = None
    transcripts: tuple[Written, ...] = ()
    score: Score | None = None
    heard: str = ""
    code: str = ""
    examiner: tuple[tuple[float, float], ...] = ()
    sound: Path | None = None


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """The responses of one speaker in one session.

    Attributes:
        speaker: as the source calls it, or empty.
        source: where it is from.
        responses: in the order given.
        date: when the session was held, ISO 8601; empty where the source does not say it.
    """

    speaker: str
    source: Path
    responses: tuple[Named, ...]
    date: str = ""


def read_sessions(
    path: Path, battery: Battery, tiers: Mapping[str, str] | None = None
) -> tuple[ImportedSession, ...]:
    """The sessions in a PSST folder, an annotation file, or a folder of annotation files.

    Args:
        path: the folder or file.
        battery: whose items they are.
        tiers: our name of a tier to the file's own.

    Raises:
        UsageError: nothing there can be read, or it does not fit the battery.
    """
    if (path / TABLE).is_file():
        return tuple(_of_table(path / TABLE, battery))
    files = (
        sorted(each for each in path.iterdir() if each.suffix.lower() in {".textgrid", ".eaf"})
        if path.is_dir()
        else [path]
    )
    if not files:
        raise UsageError(
            "nothing here can be read",
            where=str(path),
            allowed=f"a TextGrid, an EAF, a folder of them, or a folder with {TABLE}",
        )
    responses: list[Named] = []
    named: dict[str, Path] = {}
    for file in files:
        annotations = read_annotations(file)
        if path.is_dir() and not any(annotations.tiers.values()):
            continue  # nothing is said of this recording: a take that did not count
        here = tuple(_of_annotations(annotations, battery, tiers or {}))
        for item in {one.item for one in here}:
            if named.setdefault(item, file) is not file:
                raise UsageError(
                    f"'{item}' is named in two files: {named[item].name}, {file.name}",
                    where=str(path),
                    hint="a folder is one session of one speaker: use one folder for each",
                )
        responses += here
    if not responses:
        raise UsageError("nothing is labelled here", where=str(path))
    _check_sounds(responses)
    return (ImportedSession("", path, tuple(responses), _date_in(responses)),)


def items_of(battery: Battery) -> dict[str, str]:
    """What an item may be called in a source, lower case, to its name: name and target."""
    names = item_names(battery)
    found: dict[str, str] = {}
    for name, (subtest, item) in names.items():
        found.setdefault(naming_item(battery.subtest(subtest).item(item)).name.casefold(), name)
    return found | {name.casefold(): name for name in names}


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
        item = items.get(window.label.strip().casefold())
        if item is None:
            raise _no_item(window.label, items, f"{where} at {window.start_s:.3f} s")
        yield Named(
            item,
            window.start_s,
            window.end_s,
            tuple(_written(tiers, window, where)),
            score_of(_label(tiers["score"], window), where),
            heard_of(_label(tiers["heard"], window, named=False), where),
            code_of(_label(tiers["code"], window), where),
            tuple((each.start_s, each.end_s) for each in _inside(tiers["examiner"], window)),
            annotations.sound,
        )


def _written(
    tiers: Mapping[str, Sequence[Interval]], window: Interval, where: str
) -> Iterator[Written]:
    named = [each.label.strip() for each in _inside(tiers["transcriber"], window)]
    by = transcriber_of(named[0] if named else "", where)
    phonemes = _inside(tiers["phoneme"], window)
    if phonemes:
        segments = [
            Segment(
                phoneme_of(each.label, f"{where} at {each.start_s:.3f} s"),
                each.start_s - window.start_s,
                each.end_s - window.start_s,
            )
            for each in phonemes
        ]
        yield Written(tuple(segments), "of the phoneme tier", by)
        return
    attempts = [
        (each, _attempt(each.label, f"{where} at {each.start_s:.3f} s"))
        for each in _inside(tiers["attempt"], window)
    ]
    if not attempts:
        return  # nobody transcribed it: who heard nothing writes <sil>
    spoken = [(each, said) for each, said in attempts if not _is_silent(said)]
    if not spoken or (len(spoken) == 1 and _covers(spoken[0][0], window)):
        labels = [label for _, said in spoken for label in said]
        yield Written(_untimed(labels), UNTIMED, by)
        return
    found: list[Segment] = []
    for attempt, said in spoken:
        step = (attempt.end_s - attempt.start_s) / len(said)
        first = attempt.start_s - window.start_s
        found += [
            Segment(phoneme, first + at * step, first + (at + 1) * step)
            for at, phoneme in enumerate(said)
        ]
    yield Written(tuple(found), DIVIDED, by)


def _attempt(label: str, where: str) -> tuple[str, ...]:
    """The phonemes of an attempt, with the silences that are written in it."""
    if any(each in SILENT for each in label.split()):
        return tuple(phoneme_of(each, where) for each in label.split())
    return attempt_of(label, where)


def _covers(attempt: Interval, window: Interval) -> bool:
    """Whether an attempt is as long as its response: when in it it was said nobody knows."""
    return attempt.start_s <= window.start_s + SAME_S and attempt.end_s >= window.end_s - SAME_S


def _inside(intervals: Sequence[Interval], window: Interval) -> list[Interval]:
    return [
        each
        for each in intervals
        if window.start_s <= (each.start_s + each.end_s) / 2 < window.end_s
    ]


def _label(intervals: Sequence[Interval], window: Interval, *, named: bool = True) -> str:
    """The label of a window, without the name of who gave it in brackets behind it.

    What a machine had proposed is left out.

    Args:
        intervals: of the tier.
        window: of the response.
        named: whether this tier says who gave a label; else brackets are a part of it.
    """
    found = [each.label.strip() for each in _inside(intervals, window)]
    if named:
        found = [each.partition(" (")[0].strip() for each in found if PROPOSED not in each]
    return found[0] if found else ""


# ------------------------------------------------------------------ the PSST table


def _of_table(table: Path, battery: Battery) -> Iterator[ImportedSession]:
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
    for row in rows.rows:
        cells = row.cells
        item = items.get(cells["prompt"].casefold())
        if item is None:
            raise _no_item(cells["prompt"], items, row.where)
        session = cells.get("session") or cells["utterance_id"].rpartition("-")[0].strip()
        if day := (cells.get("session_date") or cells.get("date") or "").strip():
            dates.setdefault(session, set()).add(read_day(day, row.where))
        sessions.setdefault(session, []).append(_row(cells, item, table.parent, row.where))
    for session, responses in sessions.items():
        _check_sounds(responses)
        found = dates.get(session, set())
        if len(found) > 1:
            raise UsageError(
                f"session '{session}' is of {len(found)} days: {', '.join(sorted(found))}",
                where=str(table),
            )
        day = next(iter(found), "") or _date_in(responses)
        yield ImportedSession(session, table, tuple(responses), day)


def _date_in(responses: Sequence[Named]) -> str:
    """The day that the sound files of a session say, where they agree; else empty."""
    sounds = {one.sound for one in responses if one.sound is not None}
    days = {day for sound in sounds if (day := recorded_on(sound))}
    return days.pop() if len(days) == 1 else ""


def _row(row: Mapping[str, str], item: str, folder: Path, where: str) -> Named:
    transcripts: list[Written] = []
    if heard := row.get("asr_transcript", "").split():
        found = map_labels(heard, "arpabet")
        by = transcriber_of(row.get("asr") or MACHINE, where)
        transcripts.append(Written(_untimed(found.phonemes), UNTIMED, by, dict(found.dropped)))
    if typed := row["transcript"].split():
        said = [phoneme_of(label, where) for label in typed]
        transcripts.append(Written(_untimed(said), UNTIMED))
    name = row.get("filename", "")
    sound = folder / name if name else None
    if sound is not None and not sound.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"'{name}' lies outside the folder", where=where)
    if sound is not None and not sound.is_file():
        raise UsageError(f"there is no file '{name}'", where=where)
    return Named(
        item,
        seconds_of(row.get("start_s"), where) or 0.0,
        seconds_of(row.get("end_s"), where),
        tuple(transcripts),
        correctness_of(row.get("correctness"), where),
        sound=sound,
    )


def _untimed(labels: Sequence[str]) -> tuple[Segment, ...]:
    return () if _is_silent(labels) else tuple(Segment(label, 0.0, 0.0) for label in labels)


def _is_silent(labels: Sequence[str]) -> bool:
    return all(label in SILENT for label in labels)


def _check_sounds(responses: Sequence[Named]) -> None:
    """Every response lies inside its sound file, before any is kept.

    Raises:
        TabwbError: a file is not a sound file, or is damaged or too short.
    """
    seconds: dict[Path, float] = {}
    for each in responses:
        if each.sound is None:
            continue
        if each.sound not in seconds:
            seconds[each.sound] = check_whole(each.sound).seconds
        end = seconds[each.sound] if each.end_s is None else each.end_s
        if not each.start_s < min(end, seconds[each.sound]):
            raise UsageError(
                f"'{each.item}' from {each.start_s:.3f} s to {end:.3f} s is outside its recording",
                where=str(each.sound),
                allowed=f"0 to {seconds[each.sound]:.3f} s",
            )


def _no_item(label: str, items: Mapping[str, str], where: str) -> UsageError:
    from difflib import get_close_matches

    near = get_close_matches(label.casefold(), list(items), 1)
    return UsageError(
        f"the battery has no item '{label}'",
        where=where,
        allowed=", ".join(dict.fromkeys(items.values())),
        hint=f"did you mean '{near[0]}'?" if near else "name the battery it is of: --battery",
    )
