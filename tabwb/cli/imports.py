"""``tabwb import``: spoken naming from TextGrid, EAF and the PSST corpus' folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import json_option, note, open_store, opened_plugins, print_json, store_option
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.speakers import Origin, origins_beside, read_day

if TYPE_CHECKING:
    from tabwb.administer.naming.imports import ImportedSession


@click.command(name="import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--battery", required=True, metavar="ID|PATH", help="The battery whose items were named."
)
@click.option("--speaker", metavar="ID", help="Participant code; default: the one in the source.")
@click.option("--session", metavar="NAME", help="Only this session of a table with several.")
@click.option(
    "--origin",
    type=click.Choice(["human", "model", "unknown"]),
    default=None,
    help="Who responded; default: as the export says, otherwise unknown, which is protected as a "
    "person's.",
)
@click.option(
    "--rater",
    metavar="ID",
    default="import",
    show_default=True,
    help="The rater who transcribed and scored them.",
)
@click.option(
    "--tier",
    "tiers",
    metavar="OURS=THEIRS",
    multiple=True,
    help="A tier by its name in the file, for example item=Wort; 'code=' leaves one out; "
    "repeatable.",
)
@click.option(
    "--date",
    metavar="YYYY-MM-DD",
    help="The date of the session. Default: the column session_date or date of a PSST table, "
    "else the date inside the sound files, else not known.",
)
@store_option
@json_option
def import_(**options: Any) -> None:
    """Read spoken naming from PATH: a TextGrid, an EAF, a folder of them, or a PSST folder.

    Sound files beside them are stored unchanged. Missing items are not administered. The time of
    the picture, cues and marks are not read, so there is no latency.
    """
    from tabwb.administer.consent import Guard
    from tabwb.administer.naming.imports import read_sessions
    from tabwb.administer.naming.run import import_session
    from tabwb.administer.session import setup
    from tabwb.report.documents.document import list_document

    with opened_plugins() as plugins:
        battery = setup.find_battery(plugins, options["battery"])
        path: Path = options["path"]
        if not path.exists():
            raise UsageError("is not there", where=str(path))
        origin, participant = _made_by(path, options)
        sessions = _chosen(read_sessions(path, battery, _tiers(options["tiers"])), options)
        day = read_day(options["date"], "--date") if options["date"] else ""
        for imported in sessions:
            if not day and not imported.date:
                source = imported.source
                note(f"{source}: the date of the session is not known; give it with --date")
        made: list[int] = []
        with open_store(options["store_location"], plugins) as store:
            for imported in sessions:
                speaker = options["speaker"] or participant or imported.speaker
                if not speaker:
                    raise UsageError(
                        "the speaker of these responses is not known: give --speaker ID"
                    )
                conditions = Conditions(
                    examinee=speaker,
                    kind="speaker",
                    judges=(),
                    rater=options["rater"],
                    origin=origin,
                    session_date=day or imported.date,
                )
                conditions = setup.resolve(plugins, battery, conditions)
                if origin == "unknown":
                    note(
                        f"{imported.source}: who responded is not known (no README.txt of an "
                        f"export is beside it): the responses are protected as those of {speaker}. "
                        "Say it with --origin human and --speaker ID, or with --origin model"
                    )
                with setup.create_naming(store, plugins, battery, conditions) as session:
                    for notice in Guard(store, plugins, conditions).notices():
                        note(notice)
                    number = session.administration.id
                    try:
                        import_session(session, imported, options["rater"])
                    except BaseException:
                        note(f"administration {number} holds only a part of {imported.source}")
                        raise
                    made.append(number)
                    note(
                        f"administration {number}: {len(imported.responses)} responses of {speaker}"
                    )
            if options["as_json"]:
                print_json(list_document([store.administration(number) for number in made]))


def _made_by(path: Path, options: dict[str, Any]) -> tuple[Origin, str]:
    """Return who made the answers: what an export says of itself counts before the options."""
    exports = [export for export in origins_beside(path) if path.is_dir() or path.stem == export[0]]
    exports = exports or list(origins_beside(path))
    origins = {origin for _, origin, _ in exports}
    people = {participant for _, _, participant in exports if participant}
    asked: Origin | None = options["origin"]
    if asked == "model" and origins - {"model"}:
        raise UsageError(
            "--origin model: the export says that a person, or an unknown examinee, responded",
            where=str(path),
        )
    speaker = options["speaker"]
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


def _chosen(sessions: Sequence[ImportedSession], options: dict[str, Any]) -> list[ImportedSession]:
    """Return those that are asked for; several are not all of the one speaker who is named."""
    names = ", ".join(session.speaker for session in sessions if session.speaker)
    asked = options["session"]
    chosen = [session for session in sessions if asked in {None, session.speaker}]
    if not chosen:
        raise UsageError(f"there is no session '{asked}'", allowed=names or "none is named here")
    if len(chosen) > 1 and options["speaker"]:
        raise UsageError(
            f"the source has {len(chosen)} sessions: {names}",
            hint="select the speaker's with --session NAME; "
            "without --speaker each session keeps its own",
        )
    return chosen


def _tiers(texts: tuple[str, ...]) -> dict[str, str]:
    from tabwb.administer.naming.imports import TIERS

    tiers: dict[str, str] = {}
    for text in texts:
        ours, sign, theirs = text.partition("=")
        if not sign or ours not in TIERS:
            allowed = f"OURS=THEIRS with OURS one of {', '.join(TIERS)}"
            raise UsageError(f"'{text}' is not a tier", allowed=allowed)
        tiers[ours] = theirs
    return tiers
