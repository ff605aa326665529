"""Reads CHAT transcripts, and running speech that was transcribed in Praat or ELAN."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tabwb.battery.problems import Problem
from tabwb.battery.task_type import current_study
from tabwb.plugin_api import AnswerFile, AnswerProblems, RecordedAnswer, RecordedRun, TabwbError
from tabwb.records.errors import UsageError
from tabwb.records.files import check_inside
from tabwb.records.trials import check_tag
from tabwb.records.words import near, plural
from tabwb.speech.annotations import read_annotations
from tabwb_interchange import chat_file as chat_codes
from tabwb_interchange.chat_file import (
    ID_FIELDS,
    ChatFile,
    MainTierError,
    Participant,
    Said,
    Tier,
    examinee_of,
    read_chat,
    said,
    speakers_of,
)
from tabwb_interchange.reading import read_bytes, text_of

SUFFIX = ".cha"
NAMING = "utterances.tsv"
"""Our CHAT exports of spoken naming have this table beside the transcripts."""
MOST_BYTES = 32 * 2**20
MOST_FILES = 20_000
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "participant": (),
    "pauses": ("dropped", "kept"),
    "unit": ("gem", "file"),
}
"""What the user can say with ``--column NAME=VALUE``: the code of the speaker on main tiers
(``PAR``), what becomes of pauses, and whether a gem or a whole file is one text. A column of the
participants' records takes the name of a field of ``@ID``: ``aphasia_type=group``."""
LANGUAGES = {
    "ces": "cs", "cym": "cy", "dan": "da", "deu": "de", "ell": "el", "eng": "en", "eus": "eu",
    "fas": "fa", "fin": "fi", "fra": "fr", "heb": "he", "hrv": "hr", "hun": "hu", "isl": "is",
    "ita": "it", "jpn": "ja", "kor": "ko", "nld": "nl", "nor": "no", "pol": "pl", "por": "pt",
    "ron": "ro", "rus": "ru", "slv": "sl", "spa": "es", "swe": "sv", "tur": "tr", "zho": "zh",
}  # fmt: skip
"""ISO 639-3 to BCP 47; other languages keep their three letters, as BCP 47 has them."""


_SINGULAR = re.compile(r"(?<=ch)es\b|(?<=\w)s\b")


class _Options(NamedTuple):
    participant: str
    pauses: bool
    gems: bool
    columns: Mapping[str, str]


class Chat:
    """The importer ``chat``."""

    def recognises(self, path: Path) -> bool:
        """Return whether it is a ``.cha`` file, or a folder that has one and no table of naming."""
        if path.is_dir():
            return not (path / NAMING).is_file() and next(_files(path), None) is not None
        return path.suffix.lower() == SUFFIX

    def read(self, path: Path, names: Mapping[str, str]) -> AnswerFile:
        """Return what one speaker of each file said: one text for each gem."""
        options = _checked(names)
        files = sorted(_files(path)) if path.is_dir() else [path]
        if len(files) > MOST_FILES:
            raise TabwbError(
                f"holds more than {MOST_FILES:,} transcripts", where=str(path),
                hint="import it in parts",
            )  # fmt: skip
        if path.is_dir():
            check_inside(path, files)
        read = [_Transcript(file, options) for file in files]
        if problems := [problem for transcript in read for problem in transcript.problems]:
            raise AnswerProblems(problems)
        languages = {transcript.language for transcript in read}
        if len(languages) > 1:
            raise TabwbError(
                f"holds transcripts in {len(languages)} languages: {', '.join(sorted(languages))}",
                where=str(path), hint="import those of each language by themselves",
            )  # fmt: skip
        answers = tuple(answer for transcript in read for answer in transcript.answers())
        if not answers:
            raise TabwbError("it has no utterances", where=str(path), allowed="main tiers (*PAR:)")
        left_out: Counter[str] = Counter()
        for transcript in read:
            left_out += transcript.dropped
        title = "CHAT transcript" if len(files) == 1 else f"{len(files):,} CHAT transcripts"
        return AnswerFile(
            title, answers, tuple(files), left_out=_counted(left_out), texts=True,
            language=next(iter(languages), "en"), spoken=True,
            declarations=(chat_codes.declaration(),),
            people=tuple(transcript.said_of_person for transcript in read),
        )  # fmt: skip


def _files(folder: Path) -> Iterator[Path]:
    return (
        file
        for file in islice(folder.rglob(f"*{SUFFIX}"), MOST_FILES + 1)
        if file.is_file() and not file.name.startswith(".")
    )


def _checked(names: Mapping[str, str]) -> _Options:
    recorded = [column.name for column in current_study().columns]
    columns = {name: value for name, value in names.items() if name in recorded}
    for name, value in names.items():
        if name not in (*OPTIONS, *recorded):
            raise UsageError(
                f"CHAT has no option '{name}'", where="--column",
                allowed=", ".join((*OPTIONS, *recorded)), hint=f"did you mean '{found}'?"
                if (found := near(name, (*OPTIONS, *recorded))) else None,
            )  # fmt: skip
        if (allowed := ID_FIELDS if name in recorded else OPTIONS[name]) and value not in allowed:
            raise UsageError(
                f"'{value}' is not allowed", where=f"--column {name}", allowed=", ".join(allowed)
            )
    return _Options(
        names.get("participant", ""), names.get("pauses") == "kept", names.get("unit") != "file",
        columns,
    )  # fmt: skip


class _Transcript:
    """One file, read: the utterances of one speaker by gem."""

    def __init__(self, path: Path, options: _Options) -> None:
        self._path, self._options = path, options
        where = str(path)
        self._file: ChatFile = read_chat(text_of(read_bytes(path, MOST_BYTES), where), where)
        self.problems: list[Problem] = list(self._file.problems)
        self._speaker = self._chosen()
        self.dropped: Counter[str] = Counter(self._file.dropped)
        self._texts: dict[str, list[tuple[Tier, Said]]] = {}
        self._read()
        self.problems.sort(key=lambda problem: problem.line)

    @property
    def language(self) -> str:
        """The first language of the file, BCP 47."""
        code = next(iter(self._file.languages), "eng").lower()
        return LANGUAGES.get(code, code)

    def _chosen(self) -> str:
        codes = speakers_of(self._file)
        chosen = self._options.participant or examinee_of(self._file) or ""
        if codes and chosen not in codes:
            message = f"no utterances are by '{chosen}'" if chosen else "the speaker is ambiguous"
            listed = (
                f"{code} ({role}, {plural(count, 'utterance')})"
                for code, count in codes.items()
                if (role := self._participant(code).role or "no role")
            )
            allowed = f"--column participant=CODE, one of {', '.join(listed)}"
            self.problems.append(Problem(str(self._path), 0, "", message, "", allowed))
        return chosen

    def _participant(self, code: str) -> Participant:
        return self._file.participants.get(code, Participant(code))

    def _read(self) -> None:
        everything: list[Said] = []
        by_gem = self._options.gems and self._file.gems
        for tier in self._file.tiers:
            own = tier.code == self._speaker
            try:
                read = said(tier.text, pauses=self._options.pauses, ca=self._file.ca)
            except MainTierError as error:
                if own:
                    place = f"*{tier.code}"
                    self.problems.append(Problem(str(self._path), tier.line, place, str(error)))
                continue
            if not own:
                self.dropped["utterances of other speakers"] += 1
                continue
            everything.append(read)
            if by_gem and not tier.gem:
                self.dropped["utterances outside of gems"] += 1
                continue
            self.dropped += read.dropped
            self._texts.setdefault(tier.gem if by_gem else "", []).append((tier, read))
        self._bases = chat_codes.bases_of(everything)

    def answers(self) -> Iterator[RecordedAnswer]:
        """Yield the text of each gem, with what its codes say."""
        run = self._run()
        person = self._participant(self._speaker)
        told = ("group", "age", "sex", "custom")
        known = {
            "chat.file": self._path.name, "chat.participant": self._speaker,
            **{f"chat.{name}": person.fields.get(name, "") for name in told},
        }  # fmt: skip
        for gem, spoken in self._texts.items():
            whole = _together([read for _, read in spoken])
            yield RecordedAnswer(
                where=f"{self._path}:{spoken[0][0].line}",
                text=whole.text,
                run=run,
                prompt=gem,
                metadata={
                    **{name: value for name, value in known.items() if value},
                    "source.id": f"{self._path.stem}/{gem}" if gem else self._path.stem,
                },
                ratings=chat_codes.ratings_of(whole, self._bases),
            )

    @property
    def said_of_person(self) -> tuple[str, dict[str, str]]:
        """The participant, and what ``@ID`` says by column of the record."""
        person, columns = self._participant(self._speaker), self._options.columns
        taken = {
            name: value for name, value in person.fields.items() if name not in columns.values()
        }
        record = replace(person, fields=taken).record
        record |= {own: person.fields.get(name, "") for own, name in columns.items()}
        return self._code, record

    @property
    def _code(self) -> str:
        return code_of(self._participant(self._speaker).name, self._path)

    def _run(self) -> RecordedRun:
        person = self._participant(self._speaker)
        notes = []
        if self.dropped:
            listed = (f"{count:,} {what}" for what, count in _counted(self.dropped).items())
            notes.append(f"Dropped from the transcript: {', '.join(listed)}.")
        if self._file.lacks:
            notes.append(f"The transcript lacks {', '.join(self._file.lacks)}.")
        return RecordedRun(
            id=str(self._path),
            file=str(self._path),
            origin="human",
            participant=self._code,
            participant_is_own=True,
            session_date=self._file.date,
            tool=f"CHAT transcript, *{self._speaker}",
            tags=_tags(person.fields.get("group", "")),
            notes=tuple(notes),
        )


def _counted(dropped: Counter[str]) -> dict[str, int]:
    """Return what was dropped by its name, the most first; what is there once in the singular.

    >>> _counted(Counter({"words that were not said": 1, "dependent tiers (%mor)": 1, "pauses": 2}))
    {'pauses': 2, 'word that was not said': 1, 'dependent tier (%mor)': 1}
    """
    return {
        what if count > 1 else _SINGULAR.sub("", what, 1).replace(" were ", " was "): count
        for what, count in dropped.most_common()
    }


def code_of(name: str, path: Path) -> str:
    """Return the participant code: the name of the participant where it can be one.

    A name without a digit may be a person's, and is never taken; the file's name takes its place.
    """
    usable = any(sign.isdigit() for sign in name) and " " not in name
    return name if usable else "-".join(path.stem.split())


def _tags(group: str) -> tuple[str, ...]:
    try:
        return (check_tag("-".join(group.replace(",", " ").split())),) if group else ()
    except UsageError:
        return ()


def _together(parts: Sequence[Said]) -> Said:
    whole = Said()
    for part in parts:
        whole.lines += part.lines
        whole.errors += part.errors
        whole.retracings += part.retracings
        whole.fragments += part.fragments
        whole.omitted += part.omitted
        whole.neologisms += part.neologisms
        whole.postcodes += part.postcodes
        whole.terminators += part.terminators
    return whole


SUFFIXES = (".textgrid", ".eaf")
TIER_OPTIONS = ("tier", "language")
"""What the user can say with ``--column NAME=VALUE``."""


class Tiers:
    """The importer ``tiers``; a TextGrid or an EAF is otherwise read as spoken naming."""

    def recognises(self, path: Path) -> bool:
        """Return False: only ``--format tiers`` says that the labels are running speech."""
        return False

    def read(self, path: Path, names: Mapping[str, str]) -> AnswerFile:
        """Return one text for each file: an utterance for each label of the tier."""
        for name in names:
            if name not in TIER_OPTIONS:
                raise UsageError(
                    f"tiers have no option '{name}'",
                    where="--column",
                    allowed=", ".join(TIER_OPTIONS),
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
