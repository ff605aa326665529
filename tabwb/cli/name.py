"""``tabwb name``: give a naming battery to a person, from files or through the microphone."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    json_option,
    note,
    offline_option,
    open_plugins,
    open_store,
    store_option,
)
from tabwb.cli.giving import show, stopping
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.states import AdministrationStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tabwb.administer.naming import NamingSession
    from tabwb.administer.naming_files import TakeFile
    from tabwb.battery.model import Battery
    from tabwb.extend.plugins import Plugins
    from tabwb.records.trials import Conditions

MICROPHONE = "mic"
NO_TRANSCRIBER = "none"


@click.command()
@click.argument("battery")
@click.option("--speaker", metavar="ID", required=True, help="A study ID, never a name.")
@click.option(
    "--input",
    "source",
    metavar="FOLDER|mic",
    default=MICROPHONE,
    show_default=True,
    help="Sound files named ITEM[_TAKE].wav (or flac, ogg, mp3), or listed in manifest.tsv with "
    "columns file, item, take; or the microphone.",
)
@click.option(
    "--transcriber",
    metavar="SPEC",
    default="bundled-words",
    show_default=True,
    help="What hears the responses; 'none': nothing does, until 'tabwb name' is told so.",
)
@click.option("--rater", metavar="ID", default="", help="Who scores by ear: a study ID.")
@click.option("--resume", "reference", metavar="ID", help="Go on with this administration.")
@click.option("--device", metavar="NAME", help="The microphone (tabwb microphone list).")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the items' order.")
@click.option("--shuffle-items", is_flag=True, help="Shuffle items within their subtest.")
@store_option
@json_option
@offline_option
def name(**options: Any) -> int:
    """Give the naming BATTERY (an id or a path) to the speaker ID.

    Recordings are kept as they are; transcripts and scores are a draft until a trained listener has
    heard them.

    Exit status: 0 done, 3 stopped early or items without a file (resumable), 130 after a second
    ctrl+c.
    """
    plugins = open_plugins(options.get("offline"))
    try:
        return _name(plugins, options)
    finally:
        plugins.close()


def _name(plugins: Plugins, options: dict[str, Any]) -> int:
    from tabwb.administer import setup
    from tabwb.administer.consent import notices

    battery = setup.find_battery(plugins, options["battery"])
    source = str(options["source"])
    files = () if source == MICROPHONE else _files(Path(source), battery)
    conditions = setup.resolve(plugins, battery, _conditions(options))
    with open_store(options.get("store_location"), plugins) as store:
        reference = options.get("reference")
        opened = (
            setup.create_naming(store, plugins, battery, conditions)
            if reference is None
            else setup.resume_naming(store, plugins, reference)
        )
        with opened as session:
            session.resume()
            for notice in notices(store, plugins, session.administration.conditions):
                note(notice)
            note(f"administration {session.administration.id}")
            return _give(plugins, session, files, options)


def _give(
    plugins: Plugins,
    session: NamingSession,
    files: Sequence[TakeFile],
    options: dict[str, Any],
) -> int:
    from tabwb.administer.naming_run import give_files, without_file

    cancel = threading.Event()
    as_json = bool(options.get("as_json"))
    spec = session.administration.conditions.transcriber
    try:
        with stopping(cancel):
            if files:
                for _ in give_files(session, files):
                    if cancel.is_set():
                        break
            else:
                from tabwb.cli.microphone_naming import give_by_microphone

                give_by_microphone(session, options.get("device"), cancel)
            if spec is not None:
                transcribe_all(plugins, session, spec, cancel)
    except BaseException:
        if session.status is AdministrationStatus.RUNNING:
            with suppress(TabwbError):
                session.pause("stopped in the middle")
        raise
    left = without_file(session)
    if session.status is AdministrationStatus.RUNNING and not left:
        session.next()
    elif session.status is AdministrationStatus.RUNNING:
        session.pause("items wait for a response")
    show(session, as_json=as_json)
    if cancel.is_set() or left:
        waiting = ", ".join(trial.plan.item for trial in left)
        raise Interrupted(
            f"no response yet: {waiting}" if left else "stopped",
            hint=f"go on with: tabwb name {session.battery.id} --speaker "
            f"{session.administration.conditions.examinee} --resume {session.administration.id} "
            "--input ...",
        )
    return 0


def transcribe_all(
    plugins: Plugins, session: NamingSession, spec: str, cancel: threading.Event
) -> None:
    """Have every response transcribed that this transcriber has not heard yet."""
    from tabwb.administer.naming_run import transcribe, waiting
    from tabwb.administer.transcribing import Transcribing
    from tabwb.cli.progress import Countdown
    from tabwb.store.takes import working_folder

    jobs = waiting(session, spec)
    if not jobs or cancel.is_set():
        return
    with Transcribing(plugins, spec, working_folder(session.store)) as transcribing:
        countdown = Countdown("response", len(jobs))
        for _ in transcribe(session, transcribing, jobs, cancel):
            countdown.one()
        countdown.close()


def _files(folder: Path, battery: Battery) -> tuple[TakeFile, ...]:
    from tabwb.administer.naming_files import take_files
    from tabwb.records.states import ResponseKind

    items = [
        item.id
        for subtest in battery.subtests
        if subtest.response is ResponseKind.NAMING
        for item in subtest.items
    ]
    if not items:
        raise UsageError(
            f"'{battery.id}' has no items that are named aloud",
            hint=f"give it with: tabwb run {battery.id}",
        )
    return take_files(folder, items)


def _conditions(options: dict[str, Any]) -> Conditions:
    from tabwb.records.trials import Conditions

    transcriber = str(options["transcriber"])
    return Conditions(
        examinee=str(options["speaker"]),
        kind="speaker",
        seed=options["seed"],
        item_order="shuffled" if options.get("shuffle_items") else "as-given",
        judges=(),
        transcriber=None if transcriber == NO_TRANSCRIBER else transcriber,
        rater=str(options.get("rater") or ""),
    )
