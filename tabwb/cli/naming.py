"""Give a naming battery to a person, from files or through the microphone: ``tabwb name``."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tabwb.administer.consent import Guard, check
from tabwb.administer.session import setup
from tabwb.administer.session.pausing import pausing
from tabwb.administer.session.remarks import of_language
from tabwb.administer.session.session import Session
from tabwb.administer.transcription.transcribe import Transcribing
from tabwb.battery.model import Battery
from tabwb.cli.common import note, open_store, opened_plugins
from tabwb.cli.giving import show
from tabwb.cli.microphone_naming import give_by_microphone
from tabwb.cli.options import requested_conditions
from tabwb.cli.progress import Countdown
from tabwb.cli.signals import stopping
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.declared_conditions import Audience
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.events import Observed
from tabwb.records.naming import Transcribed
from tabwb.records.speakers import read_day
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration, Marks, changes
from tabwb.speech.devices import pick
from tabwb.store.store import Store
from tabwb.store.takes import work_root
from tabwb.tasks.spoken_naming.files import TakeFile, begun_earlier, date_of
from tabwb.tasks.spoken_naming.giving import (
    create_naming,
    give_files,
    notated,
    other_sounds,
    read_folder,
    resume_naming,
    settle,
    transcribe,
    waiting,
)
from tabwb.tasks.spoken_naming.live import adopt_recording, left_over
from tabwb.tasks.spoken_naming.task import spoken_in

MICROPHONE = "mic"


def give_naming_battery(options: dict[str, Any]) -> None:
    """Give a naming battery as the options of ``tabwb name`` say."""
    with opened_plugins(options["offline"]) as plugins:
        location, reference = options["store_location"], options["reference"]
        marked = changes(Marks(), title=options["title"], add=options["tags"])
        if reference is not None and marked:
            raise UsageError(
                "--title and --tag are for a new administration",
                hint=f"of this one: tabwb tag {reference} --title TEXT --add TAG",
            )
        if reference is None:
            battery = setup.find_battery(plugins, options["battery"])
            files = _files(options, battery)
            conditions = _conditions(options, battery)
            conditions = replace(conditions, session_date=_session_date(options, files))
            conditions = setup.resolve(plugins, battery, conditions)
            with open_store(location, plugins) as store:
                begun = _begun_earlier(store, plugins, battery, conditions, files, options)
                if options["source"] == MICROPHONE:  # checked before an administration begins
                    check(store, options["speaker"], "record")
                    pick(options["device"])
                if begun is None:
                    opened = create_naming(store, plugins, battery, conditions)
                else:
                    opened = resume_naming(store, plugins, begun.id)
                with opened as session:
                    if begun is not None:
                        _check_same(session, battery.id, options)
                        spoken_in(session).listener = options["rater"] or ""
                    session.commit(marked)
                    _begin(session, files, session.administration.conditions.transcriber, options)
            return
        with (
            open_store(location, plugins, create=False) as store,
            resume_naming(store, plugins, reference) as session,
        ):
            battery = session.battery  # as it was when it was begun, whatever the file says now
            asked = options["battery"]
            same = asked == battery.id
            _check_same(session, asked if same else setup.find_battery(plugins, asked).id, options)
            spec = session.administration.conditions.transcriber
            if _was_given("transcriber"):
                spec = setup.resolve(plugins, battery, _conditions(options, battery)).transcriber
                spec = notated(store, plugins, session.administration.conditions, spec)
            spoken_in(session).listener = options["rater"] or ""
            _begin(session, _files(options, battery), spec, options)


def _begun_earlier(
    store: Store,
    plugins: Plugins,
    battery: Battery,
    conditions: Conditions,
    files: Sequence[TakeFile],
    options: dict[str, Any],
) -> Administration | None:
    """Return the administration that a stopped command began with these files, or None."""
    if not files or options["again"]:
        return None
    spec = notated(store, plugins, conditions, conditions.transcriber)
    return begun_earlier(
        store,
        battery,
        replace(conditions, transcriber=spec),
        [file.path for file in files],
        note,
        lambda given: f"to transcribe what it has: {_resume(given, options)}",
    )


def _conditions(options: dict[str, Any], battery: Battery) -> Conditions:
    audience: Audience = "described" if battery.judged_aloud else "spoken"
    return requested_conditions("name", options["speaker"], audience, options)


def _session_date(options: dict[str, Any], files: Sequence[TakeFile]) -> str | None:
    day = options["session_date"]
    if options["source"] == MICROPHONE:
        if day is not None:
            raise UsageError(
                "a recording made now has today's date", where="--date", hint="leave it out"
            )
        return None
    date = date_of(files) if day is None else read_day(day, "--date")
    if not date:
        note("the date of the session is not known; give it with --date YYYY-MM-DD")
    return date


def _begin(
    session: Session, files: Sequence[TakeFile], spec: str | None, options: dict[str, Any]
) -> None:
    store, plugins, given = session.store, session.plugins, session.administration
    if spec is not None:
        Guard(store, plugins, given.conditions).check_transcribing(spec)
        if remarks := plugins.resolve("transcribers", spec)[0].remarks:
            note(f"{spec}: {remarks}")
    session.resume()
    for text in of_language(session.battery):
        note(f"warning: {text}")
    for notice in Guard(store, plugins, given.conditions).notices():
        note(notice)
    note(f"administration {given.id}")
    _keep_interrupted(session)
    try:
        _give(session, files, spec, options)
    except Interrupted:
        raise
    except TabwbError:
        note(f"the recording is kept; continue with: {_resume(session.administration, options)}")
        raise


def _keep_interrupted(session: Session) -> None:
    for recording, path in left_over(session):
        try:
            adopt_recording(session, recording, path)
        except TabwbError as error:
            note(f"an interrupted recording could not be kept: {error}")
        else:
            note(f"an interrupted recording is kept: {path.name}")


def _was_given(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


def _check_same(session: Session, battery: str, options: dict[str, Any]) -> None:
    given = session.administration
    began = given.conditions

    def asked(option: str, has: Any) -> Any:
        return options[option] if _was_given(option) else has

    order = "shuffled" if options["item_order_shuffled"] else began.item_order
    differs = [
        (name, has)
        for name, has, wanted in (
            ("speaker", began.examinee, options["speaker"]),
            ("battery", session.battery.id, battery),
            ("date of the session", began.session_date, asked("session_date", began.session_date)),
            ("seed", began.seed, asked("seed", began.seed)),
            ("order", began.item_order, order),
        )
        if has != wanted
    ]
    if differs:
        differences = ", ".join(f"{name} {has}" for name, has in differs)
        raise UsageError(
            f"administration {given.id} began with another: {differences}",
            hint=f"continue with: {_resume(session.administration, options)}",
        )


def _resume(given: Administration, options: dict[str, Any]) -> str:
    speaker, number = given.conditions.examinee, given.id
    return shlex.join(
        [
            *("tabwb", "name", options["battery"], "--speaker", speaker),
            *("--resume", str(number), "--input", options["source"]),
            *(("--transcriber", options["transcriber"]) if _was_given("transcriber") else ()),
        ]
    )


def _give(
    session: Session, files: Sequence[TakeFile], spec: str | None, options: dict[str, Any]
) -> None:
    by_any = not _was_given("transcriber")
    only_ends = options["reference"] and options["discontinue"] and not _was_given("source")
    cancel = threading.Event()
    with pausing(session), stopping(cancel):
        if options["source"] != MICROPHONE:
            if others := other_sounds(session, files):
                note(
                    f"kept as they were recorded first, not as in {', '.join(others)}; "
                    "save a further take as a new file: ITEM_2.wav"
                )
            for _ in give_files(session, files):
                if cancel.is_set():
                    break
        elif session.status is AdministrationStatus.RUNNING and not only_ends:
            give_by_microphone(session, options["device"], cancel)
        if spec is not None:
            _transcribe_all(session, spec, cancel, by_any=by_any)
    if session.status is AdministrationStatus.RUNNING:
        words = settle(session, discontinue=options["discontinue"], stopped=cancel.is_set())
        if words:
            note(words)
    show(session, as_json=options["as_json"])
    if unwritten := spoken_in(session).unwritten:
        note(
            f"no text yet: {', '.join(unwritten)}; write it with: "
            f"tabwb trial heard {session.administration.id} ITEM TEXT"
        )
    aloud, typed = session.waiting(aloud=True), session.waiting(aloud=False)
    if aloud or cancel.is_set():
        names = ", ".join(trial.plan.item for trial in aloud)
        raise Interrupted(
            f"no response yet: {names}" if aloud else "stopped",
            hint=f"continue with: {_resume(session.administration, options)}",
        )
    if typed:
        raise Interrupted(
            f"no answer yet: {', '.join(trial.plan.item for trial in typed)}",
            hint=f"they are typed: tabwb resume {session.administration.id}",
        )
    if spec is not None and (jobs := waiting(session, spec, by_any=by_any)):
        raise Interrupted(
            f"not transcribed: {', '.join(job.name for job in jobs)}",
            hint=f"correct it, then continue with: {_resume(session.administration, options)}",
        )


def _transcribe_all(session: Session, spec: str, cancel: threading.Event, *, by_any: bool) -> None:
    """Transcribe every response that this transcriber, or ``by_any``, has not transcribed yet."""
    jobs = waiting(session, spec, by_any=by_any, typed_again=True)
    if not jobs or cancel.is_set():
        return
    try:
        transcribing = Transcribing(session.plugins, spec, work_root(session.store), cancel)
    except Interrupted:  # the caller says what is left
        return
    with transcribing:
        if transcribing.caution:
            note(transcribing.caution)
        countdown = Countdown("response", len(jobs))
        for event in transcribe(session, transcribing, jobs, cancel):
            if not isinstance(event, Observed) or not isinstance(event.observation, Transcribed):
                continue
            countdown.advance()
            transcript = event.observation.transcript
            if transcript.status == "error" and event.trial is not None:
                item = session.trials[event.trial - 1].plan.item
                why = transcript.error.splitlines() or ["no reason was given"]
                note(f"! {item}: {why[0]}")
        countdown.status.close()


def _files(options: dict[str, Any], battery: Battery) -> tuple[TakeFile, ...]:
    if options["source"] == MICROPHONE:
        return ()
    files, left_out = read_folder(Path(options["source"]), battery)
    if left_out:
        note(left_out)
    return files
