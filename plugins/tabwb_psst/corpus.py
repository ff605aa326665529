"""Read the PSST corpus in the layout of its public data package; nothing is written.

``ROOT/train/utterances.tsv``, ``ROOT/valid/utterances.tsv`` and ``ROOT/test/utterances.tsv`` have
one line per utterance; ``correctness.json`` has the accepted pronunciations of each prompt. A
``filename`` is looked for in the folder of the split, then in ROOT, in each also under ``audio/``.

What else our export writes: ``unsplit/`` for speakers without a split, ``sessions.tsv`` with the
speaker and the participant's record of each session, and ``systems/NAME.tsv`` with what a system
transcribed, as in submissions to the challenge.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args

from tabwb.phonology.corpus import read_forms
from tabwb.phonology.inventory import parse_arpabet, parse_pronunciation
from tabwb.phonology.transcripts import Row, read_table
from tabwb.records.columns import PARTICIPANT
from tabwb.records.errors import MissingExtra, TabwbError, UsageError
from tabwb.records.files import is_inside
from tabwb.records.problems import shortened
from tabwb.records.speakers import check_id, read_day

Split: TypeAlias = Literal["train", "valid", "test"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
TABLE: Final = "utterances.tsv"
UNSPLIT: Final = "unsplit"
CORRECTNESS: Final = "correctness.json"
SESSIONS: Final = "sessions.tsv"
OF_SESSIONS: Final = ("session", "speaker", "session_date", "rater")
"""The columns of sessions before those of participants' records (:func:`recorded_name`)."""
SYSTEMS: Final = "systems"
OF_SYSTEMS: Final = ("utterance_id", "asr_transcript", "asr")
"""``asr`` names the system, where the name of the file does not."""
COLUMNS: Final = (
    "utterance_id", "session", "test", "prompt", "transcript", "correctness", "aq_index",
    "duration_frames", "filename",
)  # fmt: skip
RATE: Final = 16_000
"""``duration_frames`` counts frames at this rate, in Hz."""
LONGEST_S: Final = 3_600
"""No response lasts longer; asked where the sound is not read [ours]."""
LONGEST: Final = 200
"""Characters of an id, a test or a prompt, phonemes of an accepted pronunciation [ours]."""
LABELS: Final = 1_000
"""Of one transcript; the rules of naming take time with the square of it [ours]."""

ProblemKind: TypeAlias = Literal[
    "files", "accepted pronunciations", "lines", "ids twice", "labels", "sounds", "durations",
    "0 s", "splits", "speakers",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one place; what it concerns is left out and the rest is read.

    Of ``durations`` nothing is left out: that of the sound counts. Nor of ``speakers`` whose ids
    differ in capitals only: they stay apart, in one split.
    """

    kind: ProblemKind
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass(frozen=True, slots=True)
class Utterance:
    """One response of the corpus.

    Attributes:
        speaker: by :func:`speaker_of`.
        transcript: ARPAbet with ``<sil>``, ``<spn>``; empty where only silence was heard; None
            where there is no transcript (those of the test split were withheld at first).
        correct: a clinician's judgement, or None.
        aq: the Aphasia Quotient of the WAB-R, or None.
        frames: at 16 kHz, as the table says; the sound's own where the two differ.
        filename: as the table says.
        sound: the file, or None where sounds are not looked for.
        where: FILE:LINE of the table.
    """

    id: str
    session: str
    speaker: str
    test: str
    prompt: str
    split: Split
    transcript: tuple[str, ...] | None
    correct: bool | None
    aq: float | None
    frames: int
    filename: str
    sound: Path | None
    where: str

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.frames / RATE


Accepted: TypeAlias = Mapping[str, tuple[tuple[str, ...], ...]]
"""Prompt, lower case, to its accepted pronunciations, each once."""


@dataclass(frozen=True)
class Corpus:
    """The corpus as far as it can be read.

    Attributes:
        problems: what is wrong, one each, in the order found.
        merged: how often a pronunciation that stood there twice was left out, by prompt.
        sessions: the cells of ``sessions.tsv``, by session.
        systems: what each system transcribed, by id of the utterance.
    """

    root: Path
    utterances: tuple[Utterance, ...]
    accepted: Accepted = field(default_factory=dict)
    merged: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    sessions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    systems: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)

    def split(self, *names: Split) -> tuple[Utterance, ...]:
        """Return the utterances of splits."""
        return tuple(utterance for utterance in self.utterances if utterance.split in names)

    @cached_property
    def by_speaker(self) -> Mapping[str, tuple[Utterance, ...]]:
        """The utterances of each speaker, in the order of the tables."""
        found: defaultdict[str, list[Utterance]] = defaultdict(list)
        for utterance in self.utterances:
            found[utterance.speaker].append(utterance)
        return {speaker: tuple(own) for speaker, own in found.items()}

    @cached_property
    def prompts(self) -> Mapping[str, str]:
        """Each prompt, lower case, to the first test that it is of."""
        found: dict[str, str] = {}
        for utterance in self.utterances:
            found.setdefault(utterance.prompt.casefold(), utterance.test)
        return found

    @property
    def problem_counts(self) -> Mapping[ProblemKind, int]:
        """How many problems there are of each kind."""
        return Counter(problem.kind for problem in self.problems)

    @property
    def left_out(self) -> Mapping[ProblemKind, int]:
        """How often something was left out: utterances, and accepted pronunciations."""
        kept: tuple[ProblemKind, ...] = ("files", "durations", "speakers")
        return {kind: n for kind, n in self.problem_counts.items() if kind not in kept}


_SESSION: Final = re.compile(r"(.*[0-9])[A-Za-z]")


def speaker_of(session: str, utterance_id: str = "") -> str:
    """Return the speaker of a session; without one, of what stands before the id's first hyphen.

    AphasiaBank numbers a site's speakers and gives each of their sessions a letter: ACWT01a and
    ACWT01b are two sessions of ACWT01. Any other name is that of a speaker.

    >>> speaker_of("ACWT01a"), speaker_of("", "ACWT01b-VNT20-shove"), speaker_of("S7")
    ('ACWT01', 'ACWT01', 'S7')
    """
    name = session or utterance_id.partition("-")[0]
    found = _SESSION.fullmatch(name)
    return found[1] if found else name


def recorded_name(name: str) -> str:
    """Return what ``sessions.tsv`` calls a column of participants' records.

    >>> recorded_name("AQ"), recorded_name("rater")
    ('AQ', 'participant_rater')
    """
    return f"{PARTICIPANT}{name}" if name in OF_SESSIONS else name


def is_corpus(root: Path) -> bool:
    """Return whether a folder has a table of utterances of at least one split."""
    return any((root / split / TABLE).is_file() for split in (*SPLITS, UNSPLIT))


def read_corpus(root: Path, correctness: Path | None = None, *, sounds: bool = True) -> Corpus:
    """Read the corpus; what cannot be read is left out and told as a problem.

    Args:
        root: the folder with train, valid and test.
        correctness: the accepted pronunciations; default: ``correctness.json`` in ``root``, and
            none where it is not there.
        sounds: look for the sound files, and read how long they are.

    Raises:
        UsageError: the folder has no table of any split, or a table lacks a column.
        TabwbError: a table or ``correctness`` cannot be read.
    """
    if not is_corpus(root):
        missing = ", ".join(str(root / split / TABLE) for split in SPLITS)
        message = "this is not the PSST corpus" if root.is_dir() else "there is no such folder"
        if root.is_file():
            message = "this is a file; the PSST corpus is a folder"
        raise UsageError(message, where=str(root), hint=f"missing: {missing}")
    problems: list[Problem] = []
    utterances: list[Utterance] = []
    taken: dict[str, str] = {}
    sessions = _sessions(root, problems)
    for folder in (*SPLITS, UNSPLIT):
        table = root / folder / TABLE
        if table.is_file():
            utterances += _of_table(root, folder, sounds, taken, problems, sessions)
        elif folder != UNSPLIT:
            problems.append(Problem("files", str(table), "is missing; the split is left out"))
    accepted, merged = _accepted(root, correctness, utterances, problems)
    kept = tuple(_in_one_split(utterances, problems))
    systems = _systems(root, problems)
    return Corpus(root, kept, accepted, merged, tuple(problems), sessions, systems)


def _sessions(root: Path, problems: list[Problem]) -> dict[str, Mapping[str, str]]:
    """Return what our export says of sessions."""
    path, found = root / SESSIONS, dict[str, Mapping[str, str]]()
    for row in _rows(path, OF_SESSIONS[:2], problems) if path.is_file() else ():
        try:
            check_id(row.cells["speaker"])
            if day := row.cells.get("session_date"):
                read_day(day)
        except TabwbError as error:
            problems.append(Problem("lines", row.where, error.message))
        else:
            found[row.cells["session"]] = row.cells
    return found


def _systems(root: Path, problems: list[Problem]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return what systems transcribed, by id of the utterance and system."""
    found: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for path in sorted((root / SYSTEMS).glob("*.tsv")):
        for row in _rows(path, OF_SYSTEMS[:2], problems):
            try:
                heard = _heard(row.cells["asr_transcript"])
            except TabwbError as error:
                problems.append(Problem("labels", row.where, error.message))
            else:
                found[row.cells["utterance_id"]][row.cells.get("asr") or path.stem] = heard
    return dict(found)


def _heard(text: str) -> tuple[str, ...]:
    """Return the labels of a transcript; none where it is silence."""
    heard = parse_arpabet(text, silent=True)
    if len(heard) > LABELS:
        raise TabwbError(f"a transcript of over {LABELS:,} labels")
    return () if set(heard) == {"<sil>"} else heard


def _rows(path: Path, columns: Sequence[str], problems: list[Problem]) -> Iterable[Row]:
    """Return the rows of a table; those that are broken are told as problems."""
    broken: list[TabwbError] = []
    table = read_table(path, broken)
    if missing := [name for name in columns if name not in table]:
        raise UsageError(
            f"the table has no column {', '.join(missing)}",
            where=f"{table.name}:1",
            allowed=", ".join(columns),
        )
    problems += (Problem("lines", error.where or table.name, error.message) for error in broken)
    return table.rows


def _of_table(
    root: Path,
    folder: str,
    sounds: bool,
    taken: dict[str, str],
    problems: list[Problem],
    sessions: Mapping[str, Mapping[str, str]],
) -> Iterator[Utterance]:
    for row in _rows(root / folder / TABLE, COLUMNS, problems):
        found = _utterance(root, folder, row, sounds, problems, sessions)
        if isinstance(found, Problem):
            problems.append(found)
        elif (first := taken.setdefault(found.id, row.where)) != row.where:
            message = f"'{found.id}' is in {first} already"
            problems.append(Problem("ids twice", row.where, message))
        else:
            yield found


def _utterance(
    root: Path,
    folder: str,
    row: Row,
    sounds: bool,
    problems: list[Problem],
    sessions: Mapping[str, Mapping[str, str]],
) -> Utterance | Problem:
    cells = row.cells
    identity, prompt = cells["utterance_id"], cells["prompt"]
    if not identity or not prompt:
        return Problem("lines", row.where, "utterance_id or prompt is empty")
    for name in ("utterance_id", "test", "prompt"):
        if len(cells[name]) > LONGEST:
            return Problem("lines", row.where, f"{name} has over {LONGEST} characters")
    try:
        transcript = _heard(cells["transcript"])
    except TabwbError as error:
        return Problem("labels", row.where, f"{identity}: {error.message}")
    try:
        correct, aq = row.truth("correctness"), row.number("aq_index")
        frames = int(row.number("duration_frames") or 0)
        session = cells["session"] or identity.partition("-")[0]
        speaker = sessions.get(session, {}).get("speaker") or speaker_of(session)
        check_id(speaker)
    except TabwbError as error:
        return Problem("lines", row.where, f"{identity}: {error.message}")
    if frames <= 0:
        return Problem("0 s", row.where, f"{identity}: duration_frames is {frames}")
    sound: Path | None = None
    if sounds:
        found = _sound(root, folder, cells["filename"], identity, row.where)
        if isinstance(found, Problem):
            return found
        sound, seconds = found
        if abs(frames / RATE - seconds) > max(0.01 * seconds, 0.05):
            message = (
                f"{identity}: duration_frames says {frames / RATE:g} s, the sound has "
                f"{seconds:g} s, which counts"
            )
            problems.append(Problem("durations", row.where, message))
            frames = max(round(seconds * RATE), 1)
    elif frames > LONGEST_S * RATE:
        return Problem("lines", row.where, f"{identity}: {frames / RATE:g} s are over 1 hour")
    return Utterance(
        identity, session, speaker, cells["test"], prompt, split_of(folder),
        transcript if cells["transcript"] else None, correct, aq, frames, cells["filename"], sound,
        row.where,
    )  # fmt: skip


def split_of(folder: str) -> Split:
    """Return the split of a folder; empty where it has those of no split."""
    return cast(Split, folder if folder in SPLITS else "")


def _sound(
    root: Path, split: str, name: str, identity: str, where: str
) -> tuple[Path, float] | Problem:
    """Return the sound file of an utterance and its seconds, or why there is none."""
    from tabwb.speech.files import info

    if not name:
        return Problem("sounds", where, f"{identity}: filename is empty")
    if Path(name).is_absolute():
        return Problem("sounds", where, f"{identity}: '{name}' lies outside the corpus")
    for folder in (root / split, root, root / split / "audio", root / "audio"):
        path = folder / name
        try:
            if not path.is_file():
                continue
        except OSError as error:  # a name that no file can have
            message = f"{identity}: {shortened(name)} cannot be read: {error.strerror}"
            return Problem("sounds", where, message)
        if not is_inside(root, str(path.relative_to(root))):
            return Problem("sounds", where, f"{identity}: '{name}' lies outside the corpus")
        try:
            seconds = info(path).seconds
        except MissingExtra:
            raise
        except TabwbError as error:
            return Problem("sounds", where, f"{identity}: '{name}' {error.message}")
        if not seconds:
            return Problem("0 s", where, f"{identity}: '{name}' holds no sound")
        return path, seconds
    return Problem("sounds", where, f"{identity}: there is no file '{name}'")


def _in_one_split(utterances: Sequence[Utterance], problems: list[Problem]) -> Iterator[Utterance]:
    """Leave out what a speaker has in another split than the one with most of its utterances.

    Speakers whose ids differ in capitals only may be one person: they are told, and count as one.
    """
    count: defaultdict[str, Counter[Split]] = defaultdict(Counter)
    names: dict[str, dict[str, str]] = {}
    for utterance in utterances:
        speaker = utterance.speaker.casefold()
        count[speaker][utterance.split] += 1
        names.setdefault(speaker, {}).setdefault(utterance.speaker, utterance.where)
    for own in names.values():
        (first, _), *more = own.items()
        for other, where in more:
            message = f"speakers {first} and {other} may be one person: write both alike"
            problems.append(Problem("speakers", where, message))
    stays = {speaker: own.most_common(1)[0][0] for speaker, own in count.items()}
    told: set[str] = set()
    for utterance in utterances:
        speaker = utterance.speaker.casefold()
        keeps = stays[speaker]
        if utterance.split == keeps:
            yield utterance
        elif speaker not in told:
            told.add(speaker)
            others = sum(count[speaker].values()) - count[speaker][keeps]
            message = (
                f"speaker {' or '.join(names[speaker])} is in {' and '.join(count[speaker])}; "
                f"{others} outside {keeps} left out"
            )
            problems.append(Problem("splits", utterance.where, message))


def _accepted(
    root: Path, given: Path | None, utterances: Iterable[Utterance], problems: list[Problem]
) -> tuple[dict[str, tuple[tuple[str, ...], ...]], dict[str, int]]:
    path = given or root / CORRECTNESS
    if given is None and not path.is_file():
        problems.append(Problem("files", str(path), "is missing; no pronunciations are accepted"))
        return {}, {}
    accepted, merged = read_correctness(path, problems)
    for prompt in dict.fromkeys(utterance.prompt.casefold() for utterance in utterances):
        if prompt not in accepted:
            message = f"no pronunciation of '{prompt}'"
            problems.append(Problem("accepted pronunciations", str(path), message))
    return accepted, merged


def read_correctness(
    path: Path, problems: list[Problem]
) -> tuple[dict[str, tuple[tuple[str, ...], ...]], dict[str, int]]:
    """Return the accepted pronunciations by prompt, and how many duplicates were merged."""
    accepted: dict[str, tuple[tuple[str, ...], ...]] = {}
    merged: dict[str, int] = {}
    for prompt, forms in read_forms(path).items():
        read: list[tuple[str, ...]] = []
        for form in forms:
            try:
                phonemes = parse_pronunciation(form, beyond="allophones")
                if len(phonemes) > LONGEST:
                    raise TabwbError(f"it has over {LONGEST} phonemes")
                read.append(phonemes)
            except TabwbError as error:
                message = f"{prompt}: {shortened(form)} is left out: {error.message}"
                problems.append(Problem("accepted pronunciations", str(path), message))
        kept = tuple(dict.fromkeys(filter(None, read)))
        if kept:
            accepted[prompt.casefold()] = kept
        if len(read) > len(kept):
            merged[prompt.casefold()] = len(read) - len(kept)
    return accepted, merged
