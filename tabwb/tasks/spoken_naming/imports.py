"""Named responses from elsewhere: annotation files and the PSST corpus' table, read into records.

Nothing is guessed: an unknown item, or a label that is not a phoneme, is an error with its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path

from tabwb.battery.model import Battery
from tabwb.phonology.inventory import SILENT, normalise_label, parse_pronunciation
from tabwb.phonology.labels import map_labels
from tabwb.phonology.transcripts import read_table
from tabwb.records.classes import dataclass
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import check_inside, file_inside
from tabwb.records.naming import SCORES, TIME_UNKNOWN, Cued, Score
from tabwb.records.speakers import read_day, session_day
from tabwb.records.specs import parse_spec
from tabwb.records.speech import Segment, Transcript
from tabwb.records.words import near
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.target import CODES
from tabwb.scoring.text import fold_case
from tabwb.speech.annotations import Annotations, Interval, read_annotations
from tabwb.speech.files import check_whole, recorded_on
from tabwb.tasks.spoken_naming.files import item_names
from tabwb.tasks.spoken_naming.items import naming_item
from tabwb.tasks.spoken_naming.rules import NamingRules, cues_of

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


@dataclass(frozen=True, slots=True)
class Named:
    """One response that was given elsewhere.

    Attributes:
        item: as :func:`tabwb.tasks.spoken_naming.files.item_names` calls it.
        start_s, end_s: its stretch of the recording; ``end_s`` None: to the end.
        transcripts: by machines and people, the one that is shown first last; times count from the
            beginning of the response; the transcriber is empty where the source does not name it.
        score: a person's, or None.
        heard, code: a person's, or empty.
        examiner: stretches of the recording in which the administrator speaks.
        rater: whose score it is, where the source says it.
        cues: kind of each cue that was given, and its second, or None where it is not known.
        marks: seconds at which the administrator marked a new attempt.
        shown_s, onset_s: when the picture was drawn and when speech began.
        onset_method: who or what set the onset.
        note: on the response, or empty.
    """

    item: str
    start_s: float = 0.0
    end_s: float | None = None
    transcripts: tuple[Transcript, ...] = ()
    score: Score | None = None
    heard: str = ""
    code: str = ""
    examiner: tuple[tuple[float, float], ...] = ()
    sound: Path | None = None
    rater: str = ""
    cues: tuple[tuple[str, float | None], ...] = ()
    marks: tuple[float, ...] = ()
    shown_s: float | None = None
    onset_s: float | None = None
    onset_method: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """The responses of one speaker in one session.

    Attributes:
        speaker: as the source calls it, or empty.
        responses: in the order given.
        date: when the session was held, ISO 8601; empty where the source does not say it.
    """

    speaker: str
    source: Path
    responses: tuple[Named, ...]
    date: str = ""


Step = Callable[[], object]
"""Is called before each file that is read and each session that is stored; raises to stop."""


def read_sessions(
    path: Path,
    battery: Battery,
    tiers: Mapping[str, str] | None = None,
    step: Step = lambda: None,
) -> tuple[ImportedSession, ...]:
    """Return the sessions in a PSST folder, an annotation file, or a folder of annotation files."""
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


def _items_of(battery: Battery) -> dict[str, str]:
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
    items = _items_of(battery)
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
    items = _items_of(battery)
    sessions: dict[str, list[Named]] = {}
    dates: dict[str, set[str]] = {}
    for row in rows.rows:
        cells = row.cells
        item = item_of(cells["prompt"], items, row.where)
        session = cells.get("session") or cells["utterance_id"].rpartition("-")[0].strip()
        if day := (cells.get("session_date") or cells.get("date") or "").strip():
            dates.setdefault(session, set()).add(read_day(day, row.where))
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
        yield ImportedSession(session, table, tuple(responses), day)


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
