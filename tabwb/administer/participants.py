"""Participants as lists and pages show them: record, consents, sessions, what a deletion removes.

A *participant* is a speaker of :mod:`tabwb.records.speakers`, named by the study's ID. The command
``tabwb speaker`` and the workbench use these functions.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tabwb.administer.consent import check_store
from tabwb.records.columns import PARTICIPANT
from tabwb.records.errors import UsageError
from tabwb.records.files import read_file
from tabwb.records.speakers import (
    IMPORT_OF,
    KIND,
    SCOPES,
    Consent,
    Scope,
    Speaker,
    Study,
    Value,
    check_id,
    exports,
    in_force,
    operator,
    read_day,
)
from tabwb.records.trials import Administration
from tabwb.records.words import as_written, plural
from tabwb.store.store import Store


@dataclass(frozen=True, slots=True)
class Participant:
    """One participant of a store.

    Attributes:
        speaker: the latest record; version 0 without one.
        consents: everything that was given and withdrawn, in the order recorded.
        sessions: the administrations, in the order of their dates; unknown dates come first.
    """

    speaker: Speaker
    consents: tuple[Consent, ...] = ()
    sessions: tuple[Administration, ...] = ()

    @property
    def id(self) -> str:
        """The study ID."""
        return self.speaker.id

    @property
    def may(self) -> tuple[Scope, ...]:
        """The scopes of the consents in force."""
        return tuple(in_force(self.consents))

    @property
    def last(self) -> Mapping[Scope, Consent]:
        """The last consent or withdrawal of each scope that has one; it decides."""
        return {consent.scope: consent for consent in self.consents}

    @property
    def last_day(self) -> str:
        """The day of the latest session, ISO 8601; empty without one, or if it is not known."""
        return self.sessions[-1].session_date if self.sessions else ""


def participants(
    store: Store, administrations: Sequence[Administration] | None = None
) -> tuple[Participant, ...]:
    """Return every participant who is known by record, consent or session, in the order of IDs."""
    given: dict[str, list[Administration]] = defaultdict(list)
    for administration in store.administrations() if administrations is None else administrations:
        if administration.conditions.guarded:
            given[administration.conditions.person].append(administration)
    consents: dict[str, list[Consent]] = defaultdict(list)
    for consent in store.people.consents():
        consents[consent.speaker].append(consent)
    return tuple(
        Participant(
            speaker,
            tuple(consents[speaker.id]),
            tuple(sorted(given[speaker.id], key=lambda one: (one.session_date, one.id))),
        )
        for speaker in store.people.speakers()
    )


def record_values(study: Study, texts: Mapping[str, str]) -> dict[str, Value]:
    """Return the values that texts stand for; empty texts have none."""
    return study.read({name: text for name, text in texts.items() if text.strip()})


def keep_record(
    store: Store, study: Study, speaker: str, texts: Mapping[str, str], *, new: bool
) -> Speaker:
    """Record values of a participant and return the new version of the record.

    An empty text removes a value, also that of a column whose plugin is not there any more.
    """
    before = {} if new else store.people.speaker(speaker).values
    texts = {name: text for name, text in texts.items() if text != str(before.get(name))}
    record = record_values(study, texts)
    for name in texts.keys() - before.keys():
        study.column(name)
    if new:
        check_id(speaker)
        if store.people.speaker_versions(speaker):
            raise UsageError(
                f"speaker {speaker} is already registered",
                hint=f"change the record with: tabwb speaker set {speaker} COLUMN=VALUE",
            )
    record = {name: before[name] for name in before if name not in texts} | record
    study.check_record(record)
    if record:
        check_store(store, speaker)
    return store.people.keep_speaker(Speaker(speaker, record))


SHOWN = 20
"""Differences that people are shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a file states of a participant and was not stored.

    Attributes:
        speaker: study ID.
        column: of the record.
        stated: by the file, as it stands there.
        recorded: what the record has; None: the value cannot be stored, and ``why`` says why.
    """

    speaker: str
    column: str
    stated: str
    recorded: Value | None = None
    why: str = ""

    def __str__(self) -> str:
        if self.recorded is None:
            return f"{self.speaker}: {self.column}: {self.why}"
        return (
            f"{self.speaker}: {self.column} is {self.recorded} in the record, "
            f"'{self.stated}' in the file"
        )


@dataclass(frozen=True, slots=True)
class Filling:
    """What a file states of participants beside their records.

    ``new`` are the whole records with what is new, by study ID; ``differences`` are not stored.
    """

    new: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return whose records change, and the differences, as plain values."""
        return {"filled": list(self.new), "differences": list(map(asdict, self.differences))}

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each of the first differences."""
        for one in self.differences[:SHOWN]:
            yield f"not stored: {one}"
        if more := len(self.differences[SHOWN:]):
            yield f"not stored: {more} more, which --json lists"


Stated = Iterable[tuple[str, Mapping[str, str]]]
"""Study IDs with texts by column, as a file has them; empty texts state nothing."""


def planned_records(store: Store | None, study: Study, stated: Stated) -> Filling:
    """Return what :func:`fill_records` would store; without a store nothing is recorded yet."""
    records: dict[str, dict[str, Value]] = {}
    if store is not None:
        records = {one.id: dict(one.values) for one in store.people.speakers()}
    new: dict[str, Mapping[str, Value]] = {}
    differences: dict[Difference, None] = {}
    for speaker, texts in stated:
        check_id(speaker)
        # The kind allows others; what follows from a number is not stored a second time.
        for name in sorted(texts, key=lambda name: (name != KIND, bool(_bands_of(study, name)))):
            text = texts[name].strip()
            record = records.setdefault(speaker, {})
            known = study.values_of(record)
            try:
                value = study.column(name).read(text) if text else None
                if value is not None and name not in known:
                    study.check_record({**record, name: value})
            except UsageError as error:
                allowed = f"; allowed: {error.allowed}" if error.allowed else ""
                differences[Difference(speaker, name, text, why=error.message + allowed)] = None
                continue
            if value is None or known.get(name) == value:
                continue
            if name in known:
                differences[Difference(speaker, name, text, known[name])] = None
            elif doubts := study.doubts({**record, name: value}):
                differences[Difference(speaker, name, text, why=doubts[0])] = None
            else:
                record[name] = value
                new[speaker] = record
    return Filling(new, tuple(differences))


def _bands_of(study: Study, name: str) -> str:
    return next((column.bands_of for column in study.columns if column.name == name), "")


CODES = ("id", "participant", "participant_id", "speaker", "code")
"""What a table calls the column of participant codes, where nobody says it."""


def read_participants(
    path: Path, study: Study, code: str = "", names: Mapping[str, str] | None = None
) -> tuple[tuple[tuple[str, Mapping[str, str]], ...], tuple[str, ...]]:
    """Return what a table states of participants, and its columns that no record has.

    Args:
        path: CSV or TSV with one line for each participant.
        study: what is recorded of participants.
        code: the column with the codes; empty: one of :data:`CODES`.
        names: column of the record to what the table calls it, where that is another name.
    """
    text = read_file(path).decode("utf-8-sig", "replace")
    first = text.lstrip().partition("\n")[0]
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    header = [name.strip() for name in rows.fieldnames or ()]
    rows.fieldnames = header
    usual = (name for name in header if name.casefold() in CODES)
    code = code or next(usual, "")
    wanted = {study.column(own).name: name for own, name in (names or {}).items()}
    for name in (code, *wanted.values()):
        if name not in header:
            what = f"there is no column '{name}'" if name else "no column has the participant codes"
            hint = None if name else "name it: --id NAME"
            raise UsageError(what, where=str(path), allowed=", ".join(header), hint=hint)
    known = {column.name for column in study.columns}
    # Of our exports; there 'speaker' and 'session' may be what the table is of.
    for name in sorted(header, key=lambda name: not name.startswith(PARTICIPANT)):
        own = name.removeprefix(PARTICIPANT)
        if own in known and name != code:
            wanted.setdefault(own, name)
    stated = []
    for row in rows:
        if speaker := (row[code] or "").strip():
            check_id(speaker)
            texts = {own: as_written(row[name] or "") for own, name in wanted.items()}
            stated.append((speaker, texts))
    used = (code, *wanted.values())
    return tuple(stated), tuple(name for name in header if name and name not in used)


def fill_records(store: Store, study: Study, stated: Stated, source: str) -> Filling:
    """Store what a file states of participants and their records do not have, in one commit.

    Every import calls this, or :func:`planned_records` and :func:`store_records`. What a record
    contradicts, and what cannot be read, is returned and not stored: nothing is overwritten. A
    participant of whom only files have told is not registered by it
    (:mod:`tabwb.administer.consent`).

    Args:
        store: open for writing.
        study: what is recorded of participants.
        stated: by the file.
        source: the file's name.
    """
    filling = planned_records(store, study, stated)
    store_records(store, filling, source)
    return filling


def store_records(store: Store, filling: Filling, source: str) -> None:
    """Store the records that :func:`planned_records` returned, in one commit."""
    for speaker in filling.new:
        check_store(store, speaker)
    by = f"{IMPORT_OF}{source} by {operator()}"
    if filling.new:
        records = [Speaker(one, record, by=by) for one, record in filling.new.items()]
        store.people.keep_speakers(records)


def keep_consents(
    store: Store,
    speaker: str,
    scopes: Sequence[Scope],
    *,
    given: bool,
    day: str,
    document: str = "",
    note: str = "",
) -> None:
    """Record consents to some scopes, or their withdrawal, in one commit."""
    if not scopes:
        raise UsageError("no scope: choose at least one", allowed=", ".join(SCOPES))
    check_id(speaker)
    on = read_day(day)
    store.people.keep_consents(
        [Consent(speaker, scope, given, on, document.strip(), note.strip()) for scope in scopes]
    )


@dataclass(frozen=True, slots=True)
class DeletionPreview:
    """What the deletion of a participant removes, and what it leaves.

    Attributes:
        speaker: study ID.
        counts: number of rows that are removed, by kind.
        copies: exports in the log, which are not removed; those that only began say so.
        shared: recordings that another ID has too, and that ID; their sound is kept.
    """

    speaker: str
    counts: Mapping[str, int]
    copies: tuple[str, ...] = ()
    shared: tuple[tuple[str, str], ...] = ()

    @property
    def goes(self) -> str:
        """What is removed, in words; kinds of which there is nothing are left out."""
        return counted({name: count for name, count in self.counts.items() if count})

    @property
    def stays(self) -> tuple[str, ...]:
        """What is left, one sentence each, without a full stop."""
        others = Counter(other for _, other in self.shared)
        return (
            *(f"an export that tabwb does not delete: {copy}" for copy in self.copies),
            *(
                f"{plural(count, 'recording')} that {other} has too will be kept: the audio stays "
                f"until {other} is deleted"
                for other, count in others.items()
            ),
            "backups of the store contain these data too",
        )


def deletion_preview(store: Store, speaker: str) -> DeletionPreview:
    """Return what the deletion of a participant would remove and leave; nothing is deleted."""
    store.people.speaker(speaker)
    written = exports(store.people.log_entries(speaker))
    copies = [
        detail if finished else f"{detail} (begun, not finished)"
        for detail, finished in written.items()
    ]
    return DeletionPreview(
        speaker,
        store.people.data_of(speaker),
        tuple(dict.fromkeys(copies)),
        store.people.shared_recordings(speaker),
    )


def counted(counts: Mapping[str, int]) -> str:
    """Return numbers of rows in words.

    >>> counted({"administrations": 3, "records": 1})
    '3 administrations, 1 record'
    """
    return ", ".join(plural(count, name.removesuffix("s")) for name, count in counts.items())
