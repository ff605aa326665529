"""A naming battery given without a screen: files of recordings, sessions of elsewhere.

Responses are files, transcripts come in batches.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from tabwb.administer.answers.importing import noted_file
from tabwb.administer.consent import Guard
from tabwb.administer.session import setup
from tabwb.administer.session.session import Events, Session
from tabwb.administer.transcription import Job, Transcribing, notated, permit, wrong_in
from tabwb.battery.loader import NamedFiles, battery_from_canonical, canonical_json
from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Cancel, SpokenFile
from tabwb.records import events
from tabwb.records.conditions import Conditions, conditions_of
from tabwb.records.declared_conditions import Audience
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import sha256_of
from tabwb.records.naming import (
    Cued,
    ImportedSession,
    Marked,
    Named,
    PictureShown,
    RecordingBegan,
    RecordingEnded,
    Take,
)
from tabwb.records.ratings import check_own
from tabwb.records.speakers import Origin, losses_beside, origins_beside, read_day
from tabwb.records.specs import uuid7
from tabwb.records.speech import Transcript, is_typed
from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.records.trials import (
    Administration,
    AttemptEntry,
    Entry,
    EventEntry,
    Marks,
    Trial,
    changes,
)
from tabwb.records.words import plural
from tabwb.scoring.text import fold_case
from tabwb.speech import files as sound_files
from tabwb.speech.files import ALLOWED, SUFFIXES
from tabwb.speech.finding import quality
from tabwb.speech.level import onset
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.imports import (
    ANNOTATED,
    MANIFEST,
    TABLE,
    TIERS,
    Step,
    TakeFile,
    check_sounds,
    continues,
    cued,
    date_of,
    holder_of,
    item_names,
    items_of,
    left_out,
    read_sessions,
    stored_already,
    take_files,
)
from tabwb.tasks.spoken_naming.strategy import leave_out, reason_to_discontinue
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.tasks.spoken_naming.views import observed, spoken_attempt, with_onset


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
        raise UsageError(
            "recordings need a participant code",
            hint="say who speaks, for example S-014, never a name",
        )
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
    words = reason_to_discontinue(spoken_in(session))
    if not stopped:
        leave_out(spoken_in(session))
    if not session.waiting(aloud=True) and not session.waiting(aloud=False):
        session.next()
    elif discontinue.strip() and not stopped:
        session.discontinue(discontinue)
    else:
        session.pause("items wait for a response")
    return words


def give_files(session: Session, files: Sequence[TakeFile]) -> Iterator[events.Event]:
    """Import a file for each item that still waits, in the order of the battery.

    What was recorded was given: neither a start item nor the end of a subtest leaves a file out.
    Of replicates the first one that waits gets it. Where the takes of an item that are kept are the
    first ones of its files, as after a stop in the middle, the others follow.
    """
    takes = {item: list(group) for item, group in groupby(sorted(files), lambda file: file.item)}
    names = {place: name for name, place in item_names(session.battery).items()}
    for trial in filter(session.is_aloud, session.trials):
        name = names[trial.plan.subtest, trial.plan.item]
        for file in _left(session, trial, takes.get(name, [])):
            takes.pop(name, None)
            yield from _give(session, trial, file)


def _left(session: Session, trial: Trial, files: Sequence[TakeFile]) -> Sequence[TakeFile]:
    if trial.state is TrialState.PLANNED:
        return files
    given = len(trial.attempts)
    running = session.status is AdministrationStatus.RUNNING
    if not running or trial.state is not TrialState.ANSWERED or given >= len(files):
        return ()
    sounds = _stored_sounds(session)
    takes = [Take.of_metadata(attempt.metadata) for attempt in trial.attempts]
    known = [None if take is None else sounds.get(take.recording) for take in takes]
    return files[given:] if known == [sha256_of(file.path) for file in files[:given]] else ()


def _stored_sounds(session: Session) -> dict[str, str]:
    recordings = session.store.people.recordings(session.administration.id)
    return {recording.uid: recording.sha256 for recording in recordings}


def transcribe(
    session: Session, transcribing: Transcribing, jobs: Sequence[Job], cancel: Cancel
) -> Iterator[events.Event]:
    """Have responses transcribed, and store each transcript as it comes."""
    if jobs:
        permit(session, transcribing.spec)
    for job, transcript in transcribing.run(jobs, cancel):
        if not _stands(session, job, transcript):
            yield from spoken_in(session).transcribed(job.trial, job.attempt, transcript)


def _stands(session: Session, job: Job, transcript: Transcript) -> bool:
    """Whether this is what was typed before, word for word."""
    view = spoken_in(session).view(job.trial)
    earlier = () if view is None else view.transcripts
    return any(
        (other.transcriber, other.status, other.phonemes)
        == (transcript.transcriber, transcript.status, transcript.phonemes)
        for other in earlier
        if other.status != "error"
    )


def other_sounds(session: Session, files: Sequence[TakeFile]) -> tuple[str, ...]:
    """Return the files whose sound is not among those stored of their item."""
    names = {place: name for name, place in item_names(session.battery).items()}
    sounds = _stored_sounds(session)
    kept: dict[str, set[str | None]] = {}
    for trial in filter(session.is_aloud, session.trials):
        takes = [Take.of_metadata(attempt.metadata) for attempt in trial.attempts]
        known = {sounds.get(take.recording) for take in takes if take is not None}
        if known:
            kept.setdefault(names[trial.plan.subtest, trial.plan.item], set()).update(known)
    first = {file.item: file.path for file in sorted(files, reverse=True)}
    return tuple(
        path.name
        for item, path in sorted(first.items())
        if item in kept and sha256_of(path) not in kept[item]
    )


def _give(session: Session, trial: Trial, file: TakeFile) -> Iterator[events.Event]:
    uid = uuid7()
    samples, rate = sound_files.read_clip(file.path)
    seconds = len(samples) / rate
    kept = spoken_in(session).recordings.keep(uid, file.path)
    take = Take(uid, 0.0, seconds, remarks="; ".join(quality(samples, rate).remarks))
    take = with_onset(take, onset(samples, rate))
    began = RecordingBegan(uid, file.path.name, "file", rate)
    recorded = (began, take, RecordingEnded(uid, kept, seconds))
    yield from _import(session, trial.plan.number, recorded)


def import_responses(
    session: Session, imported: ImportedSession, by: str
) -> Iterator[events.Event]:
    """Store responses given and transcribed elsewhere; yield the events after each commit.

    What an import that stopped has stored of them is not stored again.
    """
    kept: dict[Path, tuple[RecordingBegan, RecordingEnded]] = {}
    uids = {sha256: uid for uid, sha256 in _stored_sounds(session).items()}
    begun = sum(len(trial.attempts) for trial in session.trials)
    numbers: dict[tuple[str, str], list[int]] = {}
    for trial in session.trials:
        numbers.setdefault((trial.plan.subtest, trial.plan.item), []).append(trial.plan.number)
    places = item_names(session.battery)
    for at, named in enumerate(imported.responses, start=1):
        # The following response to an item is its next replicate, or another take of the last one.
        of_item = numbers[places[named.item]]
        number = of_item.pop(0) if len(of_item) > 1 else of_item[0]
        if at == begun:  # it may have stopped before all that was said of the response
            session.state.number, session.state.awaiting = number, False
            yield from _said_elsewhere(session, named, by)
        if at <= begun:
            continue
        recorded = None
        if (path := named.sound) is not None:
            if path not in kept:
                uid, sound = uids.get(sha256_of(path)) or uuid7(), sound_files.info(path)
                sha256 = spoken_in(session).recordings.keep(uid, path)
                began = RecordingBegan(uid, path.name, "file", sound.rate)
                kept[path] = began, RecordingEnded(uid, sha256, sound.seconds)
            began, ended = kept[path]
            end_s = min(named.end_s or ended.seconds, ended.seconds)
            take = Take(
                began.recording,
                named.start_s,
                end_s,
                named.shown_s,
                named.onset_s,
                onset_method=named.onset_method,
            )
            recorded = began, take, ended
        given: list[Cued | Marked] = [*cued(session.battery, named)]
        given += map(Marked, named.marks)
        yield from _import(session, number, recorded, given)
        yield from _said_elsewhere(session, named, by)


def _import(
    session: Session,
    number: int,
    recorded: tuple[RecordingBegan, Take, RecordingEnded] | None,
    given: Sequence[Cued | Marked] = (),
) -> Events:
    """Store a response given elsewhere, with its recording; an earlier answer becomes void."""
    began, take, ended = recorded or (None, None, None)
    session.state.must_run()
    trial, administration = session.history.trial(number), session.administration.id
    attempt = spoken_attempt(trial, take, coded=spoken_in(session).is_coded(trial))
    entries: list[Entry] = []
    made: list[events.Event] = []
    if trial.counting is not None:
        reason = "another take follows"
        entries.append(EventEntry("voided", number, reason))
        made.append(events.TrialVoided(administration, number, reason))
    entries.append(EventEntry("trial-started", number))
    if began is not None:
        picture = PictureShown(began.recording, None if take is None else take.shown_s)
        entries += [observed(None, began), observed(number, picture)]
    entries += [observed(number, each) for each in given]
    entries.append(AttemptEntry(number, attempt))
    if ended is not None:
        entries.append(observed(None, ended))
    made += [
        events.TrialStarted(administration, trial.plan),
        events.AttemptRecorded(administration, number, attempt),
    ]
    done = session.commit(entries, *made)
    session.state.number, session.state.awaiting = number, False
    return done


def import_session(session: Session, imported: ImportedSession, by: str) -> None:
    """Store the responses of a session that was held elsewhere, and end the administration.

    Items that its source does not have become *not administered*, as in an import of texts.
    """
    session.resume()
    for _ in import_responses(session, imported, by):
        pass
    absent = f"not in {imported.source.name}"
    missing = session.waiting(aloud=True)
    session.commit([EventEntry("not-needed", trial.plan.number, absent) for trial in missing])
    session.next()


def _said_elsewhere(session: Session, named: Named, by: str) -> Iterator[events.Event]:
    """Store what was said of the current response, without what is stored of it already."""
    trial = session.current
    assert trial is not None and trial.counting is not None  # it was just imported
    view = spoken_in(session).view(trial.plan.number)
    assert view is not None
    for start, end in named.examiner[len(view.examiner) :]:
        yield from spoken_in(session).examiner(start, end)
    if named.score is not None and view.score is None:
        reason = "as in the source" if named.score == "not-scorable" else ""
        yield from spoken_in(session).score(named.score, reason=reason)
    for written in named.transcripts[len(view.transcripts) :]:
        transcript = replace(written, transcriber=written.transcriber or f"manual:{by}")
        yield from spoken_in(session).transcribed(
            trial.plan.number, trial.counting.number, transcript
        )
    if named.note and named.note not in trial.notes:
        yield from session.corrections.note(named.note)
    if named.heard and view.heard is None:
        yield from spoken_in(session).listening.hear(named.heard)
    if named.code and not view.codes:
        yield from spoken_in(session).listening.code(named.code)


IMPORTED_BY = "import"
"""The rater of scores whose rater the source does not name."""


@dataclass(frozen=True, slots=True)
class NamingImport:
    """What is to be imported, as the user says it.

    Attributes:
        path: an annotation file, a folder of them, or a folder with ``utterances.tsv``.
        battery: its id or path.
        speaker, origin, session, date: where they are not as in the source.
        rater: who transcribed and scored; empty: as the source says, else ``import``.
        tiers: our name of a tier to the file's own.
        research_protocol: under which a person was given a battery for models.
    """

    path: Path
    battery: str
    speaker: str | None = None
    origin: Origin | None = None
    session: str | None = None
    rater: str = ""
    tiers: Mapping[str, str] = field(default_factory=dict)
    research_protocol: str | None = None
    date: str = ""


@dataclass(frozen=True, slots=True)
class PreparedSessions:
    """The sessions of a source with their conditions, and what the user is to know of them.

    ``made``: the battery is made of the source; its versions have the same sessions.
    """

    battery: Battery
    sessions: tuple[tuple[ImportedSession, Conditions], ...]
    notes: tuple[str, ...] = ()
    made: bool = False


def prepare_sessions(
    plugins: Plugins, request: NamingImport, step: Step = lambda: None
) -> PreparedSessions:
    """Read the sessions of a source, and return what will be stored; nothing is stored."""
    battery = setup.find_battery(plugins, request.battery)
    origin, participant = _made_by(request)
    for ours in request.tiers:
        if ours not in TIERS:
            raise UsageError(f"'{ours}' is not a tier", allowed=", ".join(TIERS))
    sessions = _chosen(read_sessions(request.path, battery, request.tiers, step), request)
    day = read_day(request.date, "--date") if request.date else ""
    made = []
    notes = [f"{request.path}: not in this export: {lost}" for lost in losses_beside(request.path)]
    for imported in sessions:
        source = imported.source
        raters = sorted(_raters(imported))
        rater = request.rater or (raters[0] if len(raters) == 1 else IMPORTED_BY)
        if len(raters) > 1 and not request.rater:
            notes.append(
                f"{source}: scores by {', '.join(raters)} are stored as those of one rater, "
                f"'{IMPORTED_BY}'; --rater ID names another"
            )
        if not day and not imported.date:
            notes.append(f"{source}: the date of the session is not known; give it with --date")
        speaker = request.speaker or participant or imported.speaker
        if not speaker:
            raise UsageError("the speaker of these responses is not known: give --speaker ID")
        if origin == "unknown":
            notes.append(
                f"{source}: who responded is not known (no README.txt of an export is beside it): "
                f"the responses are protected as those of {speaker}. Say it with --origin human "
                "and --speaker ID, or with --origin model"
            )
        conditions = Conditions(
            examinee=speaker,
            kind="speaker",
            judges=(),
            rater=rater,
            research_protocol=request.research_protocol,
            origin=origin,
            session_date=day or imported.date,
        )
        made.append((imported, setup.resolve(plugins, battery, conditions)))
    return PreparedSessions(battery, tuple(made), tuple(notes))


def prepare_corpus(plugins: Plugins, given: SpokenFile, argument: str | None) -> PreparedSessions:
    """Return what will be stored of a corpus; its own battery where no other is named."""
    battery = (
        made_battery(given.battery) if argument is None else setup.find_battery(plugins, argument)
    )
    items = items_of(battery)
    left_out: Counter[str] = Counter()
    made: list[tuple[ImportedSession, Conditions]] = []
    for session in given.sessions:
        known = []
        for response in session.responses:
            if wrong := next(filter(None, map(wrong_in, response.transcripts)), ""):
                where = f"{session.source}: {session.speaker}, {response.item}"
                raise TabwbError(f"a transcript cannot be used: {wrong}", where=where)
            if item := items.get(fold_case(response.item)):
                known.append(replace(response, item=item))
            else:
                left_out[response.item] += 1
        if not known:
            continue
        most = max(Counter(response.item for response in known).values())
        raters = _raters(session)
        conditions = Conditions(
            examinee=session.speaker, kind="speaker", judges=(),
            rater=raters.pop() if len(raters) == 1 else given.rater,
            origin="human", session_date=session.date, replicates=most,
        )  # fmt: skip
        resolved = setup.resolve(plugins, battery, conditions)
        made.append((replace(session, responses=tuple(known)), resolved))
    lost = ", ".join(f"{item} ({count})" for item, count in left_out.items())
    notes = (*given.notes, *([f"no item of '{battery.id}': {lost}"] if lost else ()))
    return PreparedSessions(battery, tuple(made), notes, made=argument is None)


def _raters(imported: ImportedSession) -> set[str]:
    return {response.rater for response in imported.responses} - {""}


def made_battery(tables: Mapping[str, Any]) -> Battery:
    """Return the battery of tables that a program made, checked as a file is."""
    from tabwb.battery.rules import validate

    _, broken = validate(dict(tables), None)
    if broken:
        listed = "; ".join(f"{'.'.join(map(str, one.path))}: {one.message}" for one in broken[:5])
        raise TabwbError(f"a battery cannot be made of this: {listed}")
    return battery_from_canonical(canonical_json(tables, NamedFiles()), "made for imported speech")


def import_sessions(
    store: Store,
    plugins: Plugins,
    prepared: PreparedSessions,
    tell: Callable[[str], object],
    marks: Sequence[EventEntry] = (),
    step: Step = lambda: None,
    *,
    again: bool = False,
) -> Iterator[tuple[int, str]]:
    """Store the sessions of a source; yield the number of each administration and what it holds.

    A session that the store has is left out; one that an import began is continued.
    """
    with store.lock_import():
        holders = [None] * len(prepared.sessions) if again else _holders(store, prepared)
        version = prepared.battery.content_hash
        held = [given for given in holders if given is not None]
        known = [
            given for given in held if given.battery_hash != version or not continues(given, None)
        ]
        others = sum(given.battery_hash != version for given in known)
        words = f"{plural(others, 'session')} with other items or accepted pronunciations"
        if known and len(known) == len(holders):
            raise stored_already(known[0], words if others else "")
        if others:
            tell(f"in the store already: {words}")
        guards = (Guard(store, plugins, conditions) for _, conditions in prepared.sessions)
        for notice in Guard.notices_of(guards):
            tell(notice)
        for (imported, conditions), given in zip(prepared.sessions, holders, strict=True):
            step()
            if given in known:
                yield given.id, f"{conditions.examinee}, in the store already"
                continue
            with store.together():  # a session is stored whole, or not at all
                if given is None:
                    opened = create_naming(store, plugins, prepared.battery, conditions)
                else:
                    opened = resume_naming(store, plugins, given.id)
                with opened as session:
                    session.kept_back = []
                    if given is None:
                        titled = changes(Marks(), title=imported.title)
                        session.commit((*marks, *titled, *_noted(imported)))
                    import_session(session, imported, conditions.rater or IMPORTED_BY)
            for event in session.kept_back:
                session.tell(event)
            count = plural(len(imported.responses), "response")
            yield session.administration.id, f"{count} of {conditions.examinee}"


def _holders(store: Store, prepared: PreparedSessions) -> list[Administration | None]:
    """Return for each session the administration that has it, or its first part."""
    found: list[Administration | None] = []
    for imported, conditions in prepared.sessions:
        note = next((entry.text for entry in _noted(imported)), "")
        others = {given.id for given in found if given is not None}
        sounds = _sounds(imported)
        found.append(
            holder_of(
                store, prepared.battery, conditions, sounds, note=note, but=others,
                any_version=prepared.made,
            )
        )  # fmt: skip
    return found


def _sounds(imported: ImportedSession) -> set[Path]:
    return {response.sound for response in imported.responses if response.sound is not None}


def _noted(imported: ImportedSession) -> tuple[EventEntry, ...]:
    """Return the note by which responses without a recording are known again."""
    if _sounds(imported):
        return ()
    digest = hashlib.sha256(repr(imported.responses).encode()).hexdigest()
    return (EventEntry("noted", None, f"Imported from {noted_file(imported.source.name, digest)}"),)


def _made_by(request: NamingImport) -> tuple[Origin, str]:
    """Return who made the answers: what an export says of itself counts before the user's word."""
    path, asked, speaker = request.path, request.origin, request.speaker
    exports = [export for export in origins_beside(path) if path.is_dir() or path.stem == export[0]]
    exports = exports or list(origins_beside(path))
    origins = {origin for _, origin, _ in exports}
    people = {participant for _, _, participant in exports if participant}
    if asked == "model" and origins - {"model"}:
        raise UsageError(
            "--origin model: the export says that a person, or an unknown examinee, responded",
            where=str(path),
        )
    if speaker and people and speaker not in people:
        raise UsageError(
            f"--speaker {speaker}: according to the export, the responses are those of "
            f"{', '.join(sorted(people))}",
            where=str(path),
            hint="consent and deletion use that ID",
        )
    recorded: Origin = next(iter(origins)) if len(origins) == 1 else "unknown"
    if asked is not None and recorded != "human":
        recorded = asked
    return recorded, next(iter(people)) if len(people) == 1 else ""


def _chosen(sessions: Sequence[ImportedSession], request: NamingImport) -> list[ImportedSession]:
    """Return those that are asked for; several are not all of the one speaker who is named."""
    names = ", ".join(session.speaker for session in sessions if session.speaker)
    asked = request.session
    chosen = [session for session in sessions if asked in {None, session.speaker}]
    if not chosen:
        raise UsageError(f"there is no session '{asked}'", allowed=names or "none is named here")
    if len(chosen) > 1 and request.speaker:
        raise UsageError(
            f"the source has {len(chosen)} sessions: {names}",
            hint="select the speaker's with --session NAME; "
            "without --speaker each session keeps its own",
        )
    return chosen


def create_naming(
    store: Store, plugins: Plugins, battery: Battery, conditions: Conditions
) -> Session:
    """Begin an administration of a battery that is answered aloud, as :func:`setup.create`."""
    check_own(conditions.rater)
    if not battery.spoken:
        raise UsageError(
            f"'{battery.id}' has no items that are named aloud",
            hint=f"give it with: tabwb run {battery.id}",
        )
    spec = notated(store, plugins, conditions, conditions.transcriber)
    conditions = replace(conditions, transcriber=spec)
    _check_typed(plugins, spec)
    session = setup.create(store, plugins, battery, conditions)
    spoken_in(session).aloud = True
    return session


def resume_naming(store: Store, plugins: Plugins, reference: int | str) -> Session:
    """Open an administration of a battery that is answered aloud again, as :func:`setup.resume`."""
    session = setup.resume(store, plugins, reference)
    if session.is_spoken:
        spoken_in(session).aloud = True
        return session
    number = session.administration.id
    session.close()
    raise UsageError(
        f"administration {number} is not spoken naming",
        hint=f"continue with: tabwb resume {number}",
    )


def _check_typed(plugins: Plugins, transcriber: str | None) -> None:
    if transcriber is None or not is_typed(transcriber):
        return
    with closing(plugins.open_transcriber(transcriber)) as typed:
        typed.open()
