"""``tabwb import``: answers from tables and logs of other tools, and spoken naming."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    json_option,
    note,
    offline_option,
    open_store,
    opened_plugins,
    print_json,
    store_option,
    verbosity_options,
)
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.speakers import Origin, origins_beside, read_day

if TYPE_CHECKING:
    from tabwb.administer.naming.imports import ImportedSession
    from tabwb.plugin_api.components import Importer
    from tabwb.plugin_api.registry.plugins import Plugins


@click.command(name="import")
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--battery", required=True, metavar="ID|PATH", help="The battery whose items were answered."
)
@click.option(
    "--format",
    "format_id",
    metavar="F",
    help="table, inspect, lm-eval or naming; default: as the file looks.",
)
@click.option("--model", metavar="NAME", help="The model that answered: a spec, or any name.")
@click.option("--speaker", metavar="ID", help="Participant code; default: the one in the source.")
@click.option(
    "--origin",
    type=click.Choice(["human", "model", "unknown"]),
    default=None,
    help="Who responded; default: as the file says. 'unknown' is protected as a person's.",
)
@click.option(
    "--column",
    "columns",
    metavar="FIELD=NAME",
    multiple=True,
    help="Tables: a field by its column's name, for example response=text; repeatable.",
)
@click.option(
    "--number-replicates",
    is_flag=True,
    help="Tables without a column replicate: take further answers to an item as replicates.",
)
@click.option(
    "--skip-unknown", is_flag=True, help="Tables: leave out answers to no item of the battery."
)
@click.option(
    "--judge",
    "judges",
    metavar="SPEC",
    multiple=True,
    help="Answers: judge of connected text, as in run; repeatable. Default: rules.",
)
@click.option(
    "--research-protocol",
    metavar="ID",
    help="The protocol under which a battery made for models was given to a person.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Answers: store them although the store has the answers of this file already.",
)
@click.option("--dry-run", is_flag=True, help="Answers: show what would be imported.")
@click.option("--session", metavar="NAME", help="Naming: only this session of several.")
@click.option(
    "--rater",
    metavar="ID",
    help="Naming: the rater who transcribed and scored. Default: import.",
)
@click.option(
    "--tier",
    "tiers",
    metavar="OURS=THEIRS",
    multiple=True,
    help="Naming: a tier by its name in the file, for example item=Wort; 'code=' leaves one out; "
    "repeatable.",
)
@click.option(
    "--date",
    metavar="YYYY-MM-DD",
    help="The date of the session. Default: as the file says (of sound files, the date inside), "
    "else not known.",
)
@verbosity_options
@store_option
@json_option
@offline_option
def import_(**options: Any) -> None:
    """Read answers that were given elsewhere from PATH, and score them with the battery.

    A table (CSV, TSV, JSON lines) with the columns item and response; a log of inspect_ai; samples
    of lm-evaluation-harness; or spoken naming: a TextGrid, an EAF, a folder of them, or a PSST
    folder, with the sound files beside them. All answers of a file are stored, or none.
    """
    with opened_plugins(options["offline"]) as plugins:
        path: Path = options["path"]
        if str(path) != "-" and not path.exists():
            raise UsageError("there is no such file or folder", where=str(path))
        importer = _importer(plugins, path, options["format_id"])
        _check_options(options, naming=importer is None)
        if importer is None:
            _import_naming(plugins, path, options)
            return
        from tabwb.cli.import_answers import import_file

        import_file(plugins, importer, path, options)


NAMING = "naming"
"""The format of spoken naming, which no plugin reads."""
ANNOTATIONS = (".textgrid", ".eaf")
ONLY_ANSWERS = (
    *("model", "columns", "number_replicates", "skip_unknown", "judges", "dry_run", "again"),
)
ONLY_NAMING = ("session", "rater", "tiers")


def _importer(plugins: Plugins, path: Path, format_id: str | None) -> Importer | None:
    """Return the importer of a file: the one that is asked for, else the first that knows it."""
    if format_id == NAMING:
        return None
    if format_id is not None:
        return plugins.importer(format_id)
    from tabwb.plugin_api.registry.guarded_importer import recognising

    known = [descriptor.id for descriptor in plugins.descriptors("importers")]
    found = recognising(map(plugins.importer, known), path)
    if found is not None:
        return found
    if path.is_file() and path.suffix.lower() not in ANNOTATIONS:
        raise UsageError(
            "is not a file of a known format",
            where=str(path),
            allowed="CSV, TSV and JSON lines of answers, a log of inspect_ai, samples of lm_eval, "
            "TextGrid, EAF, formats of plugins",
            hint=f"name it: --format {', '.join([*known, NAMING])}; save a spreadsheet as CSV",
        )
    return None


def _check_options(options: dict[str, Any], *, naming: bool) -> None:
    """Refuse options that mean nothing for what is read."""
    for name in ONLY_ANSWERS if naming else ONLY_NAMING:
        if options[name]:
            flag = {"columns": "column", "judges": "judge", "tiers": "tier"}.get(name, name)
            raise UsageError(
                f"--{flag.replace('_', '-')} is for {'answers' if naming else 'spoken naming'}",
                where=str(options["path"]),
                hint="name the format of the file with --format",
            )


def _import_naming(plugins: Plugins, path: Path, options: dict[str, Any]) -> None:
    from tabwb.administer.consent import Guard
    from tabwb.administer.naming.imports import read_sessions
    from tabwb.administer.naming.run import import_session
    from tabwb.administer.session import setup
    from tabwb.report.documents.document import list_document

    rater = options["rater"] or "import"
    battery = setup.find_battery(plugins, options["battery"])
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
                raise UsageError("the speaker of these responses is not known: give --speaker ID")
            conditions = Conditions(
                examinee=speaker,
                kind="speaker",
                judges=(),
                rater=rater,
                research_protocol=options["research_protocol"],
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
                    import_session(session, imported, rater)
                except BaseException:
                    note(f"administration {number} holds only a part of {imported.source}")
                    raise
                made.append(number)
                note(f"administration {number}: {len(imported.responses)} responses of {speaker}")
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
