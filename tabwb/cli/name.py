"""``tabwb name``: give a naming battery to a person, from files or through the microphone."""

from __future__ import annotations

import shlex
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    json_option,
    note,
    offline_option,
    open_store,
    opened_plugins,
    store_option,
)
from tabwb.cli.giving import pausing, show
from tabwb.cli.options import condition_options, requested_conditions
from tabwb.cli.progress import Countdown
from tabwb.cli.signals import stopping
from tabwb.records.condition import Audience
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.events import Observed
from tabwb.records.naming import Transcribed
from tabwb.records.speakers import read_day
from tabwb.records.states import AdministrationStatus
from tabwb.speech.devices import pick
from tabwb.store.takes import work_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tabwb.administer.naming.files import TakeFile
    from tabwb.administer.session.session import Session
    from tabwb.battery.model import Battery
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.conditions import Conditions
    from tabwb.store.store import Store

MICROPHONE = "mic"


@click.command()
@click.argument("battery")
@click.option("--speaker", metavar="ID", required=True, help="Participant code, never a name.")
@click.option(
    "--input",
    "source",
    metavar="FOLDER|mic",
    default=MICROPHONE,
    show_default=True,
    help="Sound files named ITEM[_TAKE].wav (or flac, ogg, mp3), or listed in manifest.tsv with "
    "columns file, item, take; or the microphone.",
)
@condition_options("name", "transcriber", "rater", "seed")
@click.option("--resume", "reference", metavar="ID", help="Resume this administration.")
@click.option(
    "--discontinue",
    metavar="REASON",
    default="",
    help="Items without a recording were not given: end here, for this reason.",
)
@click.option(
    "--date",
    "session_date",
    metavar="YYYY-MM-DD",
    help="When the recordings of FOLDER were made. Default: the column date of manifest.tsv, else "
    "the date inside the sound files, else not known.",
)
@click.option("--device", metavar="NAME", help="The microphone (tabwb microphone list).")
@store_option
@json_option
@offline_option
def name(**options: Any) -> int:
    """Give the naming BATTERY (an id or a path) to the speaker ID.

    Recordings are stored unchanged; transcripts and scores are a draft until a trained listener has
    heard the recordings. All files of a folder are imported, whatever the battery's order; practice
    items and items below the basal may have no file. Items without a picture are typed: here with
    --input mic, otherwise with 'tabwb resume'.

    Exit status: 0 done, 3 stopped early, items without a file or responses without a transcript
    (resumable), 130 after a second ctrl+c.
    """
    with opened_plugins(options.get("offline")) as plugins:
        return _name(plugins, options)


def _name(plugins: Plugins, options: dict[str, Any]) -> int:
    from tabwb.administer.session import setup

    location, reference = options.get("store_location"), options.get("reference")
    if reference is None:
        battery = setup.find_battery(plugins, options["battery"])
        files = _files(options, battery)
        conditions = _conditions(options, battery)
        conditions = replace(conditions, session_date=_session_date(options, files))
        conditions = setup.resolve(plugins, battery, conditions)
        with open_store(location, plugins) as store:
            _check_microphone(store, options)
            with setup.create_naming(store, plugins, battery, conditions) as session:
                given = session.administration.conditions
                return _begin(session, files, given.transcriber, options)
    with (
        open_store(location, plugins, create=False) as store,
        setup.resume_naming(store, plugins, reference) as session,
    ):
        battery = session.battery  # as it was when it was begun, whatever the file says now
        asked = options["battery"]
        _check_same(
            session,
            asked if asked == battery.id else setup.find_battery(plugins, asked).id,
            options,
        )
        spec = session.administration.conditions.transcriber
        if _said("transcriber"):
            spec = setup.resolve(plugins, battery, _conditions(options, battery)).transcriber
            spec = setup.notated(store, plugins, session.administration.conditions, spec)
        session.spoken.listener = options["rater"] or ""
        return _begin(session, _files(options, battery), spec, options)


def _conditions(options: dict[str, Any], battery: Battery) -> Conditions:
    audience: Audience = "described" if battery.judged_aloud else "spoken"
    return requested_conditions("name", str(options["speaker"]), audience, options)


def _session_date(options: dict[str, Any], files: Sequence[TakeFile]) -> str | None:
    """Return the day of the session: of the option, else of the manifest or the files.

    Raises:
        UsageError: it is not a day, or several differ.
    """
    from tabwb.administer.naming.files import date_of

    said = options["session_date"]
    if options["source"] == MICROPHONE:
        if said is not None:
            raise UsageError(
                "a recording made now has today's date", where="--date", hint="leave it out"
            )
        return None
    found = date_of(files) if said is None else read_day(said, "--date")
    if not found:
        note("the date of the session is not known; give it with --date YYYY-MM-DD")
    return found


def _check_microphone(store: Store, options: dict[str, Any]) -> None:
    """Check the consent and the device before an administration begins."""
    from tabwb.administer.consent import check

    if options["source"] == MICROPHONE:
        check(store, str(options["speaker"]), "record")
        pick(options.get("device"))


def _begin(
    session: Session, files: Sequence[TakeFile], spec: str | None, options: dict[str, Any]
) -> int:
    from tabwb.administer.consent import check_transcribing, notices

    store, plugins, given = session.store, session.plugins, session.administration
    if spec is not None:
        check_transcribing(store, plugins, given.conditions, spec)
        if remarks := plugins.resolve("transcribers", spec)[0].remarks:
            note(f"{spec}: {remarks}")
    session.resume()
    for notice in notices(store, plugins, given.conditions):
        note(notice)
    note(f"administration {given.id}")
    _keep_interrupted(session)
    try:
        return _give(session, files, spec, options)
    except Interrupted:
        raise
    except TabwbError:
        note(f"the recording is kept; continue with: {_resume(session, options)}")
        raise


def _keep_interrupted(session: Session) -> None:
    """Keep what a program that died had recorded, so that its responses can be scored."""
    from tabwb.administer.naming.live import adopt_recording, left_over

    for recording, path in left_over(session):
        try:
            adopt_recording(session, recording, path)
        except TabwbError as error:
            note(f"an interrupted recording could not be kept: {error}")
        else:
            note(f"an interrupted recording is kept: {path.name}")


def _said(option: str) -> bool:
    """Return whether an option was given on the command line."""
    source = click.get_current_context().get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


def _check_same(session: Session, battery: str, options: dict[str, Any]) -> None:
    """Check that what is resumed began with the same speaker, battery and conditions."""
    given = session.administration
    began = given.conditions
    differs = [
        (what, has)
        for what, has, asked in (
            ("speaker", began.examinee, options["speaker"]),
            ("battery", session.battery.id, battery),
            (
                "date of the session",
                began.session_date,
                options["session_date"] if _said("session_date") else began.session_date,
            ),
            ("seed", began.seed, options["seed"] if _said("seed") else began.seed),
            (
                "order",
                began.item_order,
                "shuffled" if options["item_order_shuffled"] else began.item_order,
            ),
        )
        if has != asked
    ]
    if differs:
        said = ", ".join(f"{what} {has}" for what, has in differs)
        raise UsageError(
            f"administration {given.id} began with another: {said}",
            hint=f"continue with: {_resume(session, options)}",
        )


def _resume(session: Session, options: dict[str, Any]) -> str:
    speaker, number = session.administration.conditions.examinee, session.administration.id
    return shlex.join(
        [
            *("tabwb", "name", str(options["battery"]), "--speaker", speaker),
            *("--resume", str(number), "--input", str(options["source"])),
            *(("--transcriber", str(options["transcriber"])) if _said("transcriber") else ()),
        ]
    )


def _give(
    session: Session, files: Sequence[TakeFile], spec: str | None, options: dict[str, Any]
) -> int:
    from tabwb.administer.naming.run import give_files, other_sounds, waiting

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
        elif session.status is AdministrationStatus.RUNNING and not _only_ends(options):
            from tabwb.cli.microphone_naming import give_by_microphone

            give_by_microphone(session, options.get("device"), cancel)
        if spec is not None:
            by_any = not _said("transcriber")
            transcribe_all(session.plugins, session, spec, cancel, by_any=by_any)
    if session.status is AdministrationStatus.RUNNING:
        _settle(session, str(options["discontinue"]), stopped=cancel.is_set())
    show(session, as_json=bool(options.get("as_json")))
    if unwritten := session.spoken.unwritten:
        note(
            f"no text yet: {', '.join(unwritten)}; write it with: "
            f"tabwb trial heard {session.administration.id} ITEM TEXT"
        )
    aloud, typed = session.spoken.waiting_aloud, session.spoken.waiting_typed
    if aloud or cancel.is_set():
        names = ", ".join(trial.plan.item for trial in aloud)
        raise Interrupted(
            f"no response yet: {names}" if aloud else "stopped",
            hint=f"continue with: {_resume(session, options)}",
        )
    if typed:
        raise Interrupted(
            f"no answer yet: {', '.join(trial.plan.item for trial in typed)}",
            hint=f"they are typed: tabwb resume {session.administration.id}",
        )
    if (
        deaf := []
        if spec is None
        else [job.name for job in waiting(session, spec, by_any=not _said("transcriber"))]
    ):
        raise Interrupted(
            f"not transcribed: {', '.join(deaf)}",
            hint=f"correct it, then continue with: {_resume(session, options)}",
        )
    return 0


def _only_ends(options: dict[str, Any]) -> bool:
    """Return whether an administration is resumed only to be ended."""
    return bool(options["reference"] and options["discontinue"] and not _said("source"))


def _settle(session: Session, reason: str, *, stopped: bool) -> None:
    """Finish what has been given; pause where something still waits."""
    from tabwb.administer.naming.order import leave_out, reason_to_discontinue

    if reason_to_end := reason_to_discontinue(session.spoken):
        note(reason_to_end)
    if not stopped:
        leave_out(session.spoken)
    if not session.spoken.waiting_aloud and not session.spoken.waiting_typed:
        session.next()
    elif reason.strip() and not stopped:
        session.discontinue(reason)
    else:
        session.pause("items wait for a response")


def transcribe_all(
    plugins: Plugins,
    session: Session,
    spec: str,
    cancel: threading.Event,
    *,
    by_any: bool = False,
) -> None:
    """Transcribe every response that has no transcript yet.

    Args:
        plugins: where the transcriber is registered.
        session: with the responses.
        spec: of the transcriber.
        cancel: set by ctrl+c.
        by_any: leave out what any transcriber has transcribed, not only this one.
    """
    from tabwb.administer.naming.run import transcribe, waiting
    from tabwb.administer.transcription.transcribe import Transcribing

    jobs = waiting(session, spec, by_any=by_any, typed_again=True)
    if not jobs or cancel.is_set():
        return
    with Transcribing(plugins, spec, work_root(session.store)) as transcribing:
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
    from tabwb.administer.naming.files import (
        MANIFEST,
        check_sounds,
        item_names,
        left_out,
        take_files,
    )
    from tabwb.speech.files import ALLOWED

    if options["source"] == MICROPHONE:
        return ()
    items = item_names(battery)
    if not items:
        raise UsageError(
            f"'{battery.id}' has no items to name aloud",
            hint=f"give it with: tabwb run {shlex.quote(str(options['battery']))}",
        )
    folder = Path(options["source"])
    files = take_files(folder, items)
    check_sounds(files)
    if others := [path.name for path in left_out(folder, files)]:
        note(f"left out: {', '.join(others)} ({ALLOWED} named by item, or in {MANIFEST})")
    return files
