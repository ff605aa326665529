"""A naming battery given without a screen: responses are files, transcripts come in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from tabwb.administer.consent import Guard
from tabwb.administer.naming.files import TakeFile, item_names
from tabwb.administer.naming.imports import ImportedSession, Named, cued
from tabwb.administer.naming.live import job_of
from tabwb.administer.naming.views import observed, spoken_attempt, with_onset
from tabwb.administer.session.pausing import pausing
from tabwb.administer.session.session import Events, Session
from tabwb.administer.transcription.transcribe import Job, Transcribing
from tabwb.plugin_api.components import Cancel
from tabwb.records import events
from tabwb.records.errors import StoreError
from tabwb.records.files import sha256_of
from tabwb.records.naming import (
    Cued,
    Marked,
    PictureShown,
    RecordingBegan,
    RecordingEnded,
    Take,
)
from tabwb.records.specs import uuid7
from tabwb.records.speech import Transcript, is_typed
from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.records.trials import AttemptEntry, Entry, EventEntry, Trial
from tabwb.speech import files as sound_files
from tabwb.speech.level import onset
from tabwb.speech.quality import quality


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


def waiting(
    session: Session, spec: str, *, by_any: bool = False, typed_again: bool = False
) -> tuple[Job, ...]:
    """The responses that this transcriber has not heard yet, or failed on."""
    jobs: list[Job | None] = []
    growing = session.spoken.recordings.growing
    for trial in session.trials:
        view = session.spoken.view(trial.plan.number)
        if view is None or view.take is None or view.take.recording in growing:
            continue
        heard = view.transcripts
        good = {transcript.transcriber for transcript in heard if transcript.status != "error"}
        good -= view.outdated
        if (spec in good and not (typed_again and is_typed(spec))) or (by_any and good - {spec}):
            continue
        with suppress(StoreError):  # lost with the program that recorded it, or damaged
            jobs.append(job_of(session, view))
    return tuple(filter(None, jobs))


def transcribe(
    session: Session, transcribing: Transcribing, jobs: Sequence[Job], cancel: Cancel
) -> Iterator[events.Event]:
    """Have responses transcribed, and store each transcript as it comes."""
    if jobs:
        permit(session, transcribing.spec)
    for job, transcript in transcribing.run(jobs, cancel):
        if not _stands(session, job, transcript):
            yield from session.spoken.transcribed(job.trial, job.attempt, transcript)


def _stands(session: Session, job: Job, transcript: Transcript) -> bool:
    """Whether this is what was typed before, word for word."""
    view = session.spoken.view(job.trial)
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


def permit(session: Session, spec: str) -> None:
    """Check the consent before a transcriber hears the speaker, and log the act."""
    given = session.administration
    acts = Guard(session.store, session.plugins, given.conditions).check_transcribing(spec)
    session.store.people.log(*(replace(act, administration=given.id) for act in acts))


def _give(session: Session, trial: Trial, file: TakeFile) -> Iterator[events.Event]:
    uid = uuid7()
    samples, rate = sound_files.read_clip(file.path)
    seconds = len(samples) / rate
    kept = session.spoken.recordings.keep(uid, file.path)
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
    numbers = {(trial.plan.subtest, trial.plan.item): trial.plan.number for trial in session.trials}
    places = item_names(session.battery)
    for at, named in enumerate(imported.responses, start=1):
        number = numbers[places[named.item]]
        if at == begun:  # it may have stopped before all that was said of the response
            session.state.number, session.state.awaiting = number, False
            yield from _said_elsewhere(session, named, by)
        if at <= begun:
            continue
        recorded = None
        if (path := named.sound) is not None:
            if path not in kept:
                uid, sound = uids.get(sha256_of(path)) or uuid7(), sound_files.info(path)
                sha256 = session.spoken.recordings.keep(uid, path)
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
    attempt = spoken_attempt(trial, take, coded=session.spoken.is_coded(trial))
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

    It is discontinued where items are missing. Where the import fails it is paused: what was stored
    stays, and the same import continues.
    """
    session.resume()
    with pausing(session):
        for _ in import_responses(session, imported, by):
            pass
    if session.spoken.waiting(aloud=True):
        session.discontinue(f"not in {imported.source.name}")
    else:
        session.next()


def _said_elsewhere(session: Session, named: Named, by: str) -> Iterator[events.Event]:
    """Store what was said of the current response, without what is stored of it already."""
    trial = session.current
    assert trial is not None and trial.counting is not None  # it was just imported
    view = session.spoken.view(trial.plan.number)
    assert view is not None
    for start, end in named.examiner[len(view.examiner) :]:
        yield from session.spoken.examiner(start, end)
    if named.score is not None and view.score is None:
        reason = "as in the source" if named.score == "not-scorable" else ""
        yield from session.spoken.score(named.score, reason=reason)
    for written in named.transcripts[len(view.transcripts) :]:
        transcript = replace(written, transcriber=written.transcriber or f"manual:{by}")
        yield from session.spoken.transcribed(trial.plan.number, trial.counting.number, transcript)
    if named.note and named.note not in trial.notes:
        yield from session.corrections.note(named.note)
    if named.heard and view.heard is None:
        yield from session.spoken.listening.hear(named.heard)
    if named.code and not view.codes:
        yield from session.spoken.listening.code(named.code)
