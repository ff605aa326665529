"""``tabwb export --format psst``: spoken responses in the layout of the corpus."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from tabwb_annotations.table import cell_of, correctness_of, phonemes_of
from tabwb_annotations.tiers import (
    Annotated,
    Document,
    Made,
    annotated,
    not_carried,
    sound_name,
    write_folder,
)

from tabwb.records.speakers import Value
from tabwb.records.speech import is_typed
from tabwb.speech.files import read_clip, write_wav
from tabwb_psst.corpus import (
    COLUMNS,
    CORRECTNESS,
    OF_SESSIONS,
    OF_SYSTEMS,
    RATE,
    SESSIONS,
    SPLITS,
    SYSTEMS,
    TABLE,
    UNSPLIT,
    recorded_name,
)

SAME_S: Final = 0.001
"""A response that begins and ends with its recording by less than this is the whole of it."""
PERSON: Final = "person:"
NOTE: Final = (
    f"The layout of the PSST corpus: 'tabwb import psst' of this folder reads it. The splits are "
    f"the column split of the participants' records, else group; responses of participants whose "
    f"record has none of {', '.join(SPLITS)} are in {UNSPLIT}/, which other readers do not know. "
    "test is the subtest's title; transcript is a person's, empty where nobody transcribed; "
    "correctness is a person's score, right or not, empty where nobody scored, whether or not a "
    f"cue was given before. Transcripts of machines are in {SYSTEMS}/, participants' records in "
    f"{SESSIONS}. A response that is a part of a recording is a 16-bit WAV of its own; other "
    "sounds are the recordings, unaltered. The originals are in the store."
)


@dataclass(frozen=True, slots=True)
class _Response:
    """One line of a table, and what else is written of the response."""

    split: str
    cells: Mapping[str, object]
    heard: Mapping[str, str]
    write_sound: Callable[[Path], object] | None


@dataclass(slots=True)
class _Names:
    """Names that may be parts of files' names, each once."""

    taken: set[str] = field(default_factory=set)

    def of(self, text: str) -> str:
        """Return a name like a text that was not returned before."""
        name = found = re.sub("[^A-Za-z0-9_.+-]+", "-", text).strip(".-") or "x"
        number = 1
        while found.casefold() in self.taken:
            number += 1
            found = f"{name}-{number}"
        self.taken.add(found.casefold())
        return found


class PsstExporter:
    """Splits with tables and sounds, accepted pronunciations, sessions, transcripts of systems."""

    suffix = ""
    sound = True

    def export(self, document: Document, out: Path) -> None:
        """Write the folder."""
        recordings = [one for one in annotated(document) if one.trials]
        sessions = _sessions(recordings)
        responses = list(_responses(document, recordings, sessions))
        made: list[Made] = []
        for split in (*SPLITS, UNSPLIT):
            own = [one.cells for one in responses if one.split == split]
            if own or split != UNSPLIT:
                made.append(Made(f"{split}/{TABLE}", _table(COLUMNS, own)))
        made += [
            Made(f"{one.split}/{one.cells['filename']}", one.write_sound)
            for one in responses
            if one.write_sound is not None
        ]
        accepted = json.dumps(_accepted(recordings), indent=1, ensure_ascii=False)
        made.append(Made(CORRECTNESS, partial(_write, accepted)))
        told = list(sessions.values())
        names = dict.fromkeys(name for row in told for name in row)
        made.append(Made(SESSIONS, _table((*OF_SESSIONS, *names), told)))
        files = _Names()
        for system in sorted({name for one in responses for name in one.heard}):
            rows = [
                {"utterance_id": one.cells["utterance_id"], "asr": system, "asr_transcript": said}
                for one in responses
                if (said := one.heard.get(system)) is not None
            ]
            made.append(Made(f"{SYSTEMS}/{files.of(system)}.tsv", _table(OF_SYSTEMS, rows)))
        carried = ["score", "transcriber", *["further transcript"][: _has_all(recordings)]]
        notes = [NOTE, not_carried(document, recordings, carried, "The PSST layout")]
        silent = [replace(one, sound=None) for one in recordings]  # written as responses
        write_folder(out, made if responses else [], silent, document, notes)


def _sessions(recordings: Iterable[Annotated]) -> dict[str, dict[str, object]]:
    """Return, by uid of the administration, the session's name and what is said of it."""
    raters: defaultdict[str, set[str]] = defaultdict(set)
    given: dict[str, Mapping[str, Any]] = {}
    for recording in recordings:
        uid = recording.administration["uid"]
        given[uid] = recording.administration
        scores = (str(trial["naming"]["score_by"]) for trial in recording.trials)
        raters[uid] |= {by.removeprefix(PERSON) for by in scores if by.startswith(PERSON)}
    names = _Names()
    return {
        uid: {
            "session": names.of(one.get("title") or f"{one['examinee']}-{one['id']}"),
            "speaker": one["examinee"],
            "session_date": one.get("session_date"),
            "rater": next(iter(raters[uid])) if len(raters[uid]) == 1 else None,
            **{recorded_name(name): value for name, value in (one.get("speaker") or {}).items()},
        }
        for uid, one in given.items()
    }


def _split_of(record: Mapping[str, Value]) -> str:
    """Return the folder of a participant.

    >>> _split_of({"split": "valid"}), _split_of({"group": "Test"}), _split_of({"split": "dev"})
    ('valid', 'test', 'unsplit')
    """
    named = (str(record.get(name, "")).casefold() for name in ("split", "group"))
    return next((split for split in named if split in SPLITS), UNSPLIT)


def _responses(
    document: Document,
    recordings: Iterable[Annotated],
    sessions: Mapping[str, Mapping[str, object]],
) -> Iterator[_Response]:
    places = _places(document)
    names = _Names()
    for recording in recordings:
        given = recording.administration
        session = str(sessions[given["uid"]]["session"])
        record = given.get("speaker") or {}
        split = _split_of(record)
        for trial in recording.trials:
            naming = trial["naming"]
            test = recording.tests.get(trial["subtest"], given["battery"])
            code = re.sub("[^A-Za-z0-9]+", "", test)[:3] or "x"
            place = places[given["battery_hash"], trial["subtest"], trial["item"]]
            identity = names.of(f"{session}-{code}{place:02}-{trial['item']}")
            start, end = naming["start_s"] or 0.0, naming["end_s"] or recording.seconds
            whole = start < SAME_S and end > recording.seconds - SAME_S
            suffix = Path(sound_name(recording)).suffix if whole else ".wav"
            file = f"audio/{code.casefold()}/{session}/{identity}{suffix}"
            sound = recording.sound
            heard = {
                str(one["transcriber"]): str(phonemes_of(one))
                for one in naming["transcripts"]
                if one["status"] != "error"
            }
            typed = [said for by, said in heard.items() if is_typed(by)]
            cells = {
                "utterance_id": identity,
                "session": session,
                "test": test,
                "prompt": naming["target"],
                "transcript": typed[-1] if typed else None,
                "correctness": correctness_of(naming),
                "aq_index": record.get("AQ"),
                "duration_frames": round((end - start) * RATE),
                "filename": file if sound is not None else None,
            }
            machines = {by: said for by, said in heard.items() if not is_typed(by)}
            stretch = None if whole else (start, end)
            write = None if sound is None else partial(_copy, sound, stretch)
            yield _Response(split, cells, machines, write)


def _places(document: Document) -> dict[tuple[str, str, str], int]:
    """Return the place of each item in its subtest, by hash of the battery, subtest and item."""
    places: dict[tuple[str, str, str], int] = {}
    counts: dict[tuple[str, str], int] = {}
    for part in document.get("documents", [document]):
        version = part["administration"]["battery_hash"]
        for trial in part["trials"]:
            key = (version, trial["subtest"], trial["item"])
            if key not in places:
                places[key] = counts[key[:2]] = counts.get(key[:2], 0) + 1
    return places


def _accepted(recordings: Iterable[Annotated]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for recording in recordings:
        for trial in recording.trials:
            naming = trial["naming"]
            found.setdefault(naming["target"], {}).update(dict.fromkeys(naming["accepted"]))
    return {target: list(forms) for target, forms in found.items()}


def _has_all(recordings: Iterable[Annotated]) -> bool:
    """Return whether nobody transcribed a response twice, and one person at most."""
    by = [
        ["manual" if is_typed(one["transcriber"]) else one["transcriber"]
         for one in trial["naming"]["transcripts"]]
        for recording in recordings for trial in recording.trials
    ]  # fmt: skip
    return all(len(set(own)) == len(own) for own in by)


def _copy(sound: Path, stretch: tuple[float, float] | None, path: Path) -> None:
    """Copy a recording, or a stretch of it."""
    if stretch is None:
        shutil.copyfile(sound, path)
    else:
        write_wav(path, *read_clip(sound, *stretch))


def _table(
    columns: Sequence[str], rows: Sequence[Mapping[str, object]]
) -> Callable[[Path], object]:
    names = list(dict.fromkeys(columns))
    lines = ["\t".join(names)]
    lines += ["\t".join(cell_of(row.get(name)) for name in names) for row in rows]
    return partial(_write, "\n".join(lines))


def _write(text: str, path: Path) -> None:
    path.write_text(f"{text}\n", encoding="utf-8")
