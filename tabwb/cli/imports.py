"""``tabwb import``: answers from tables and logs of other tools, and spoken naming."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    json_option,
    mark_options,
    note,
    offline_option,
    open_store,
    opened_plugins,
    print_json,
    store_option,
    verbosity_options,
)
from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins
    from tabwb.plugin_api.components import Importer


@click.command(name="import")
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--battery",
    metavar="ID|PATH",
    help="The battery whose items were answered. Texts without a battery need none: their prompts "
    "become the items of one.",
)
@click.option(
    "--format",
    "format_id",
    metavar="F",
    help="table, chat, inspect, lm-eval, naming, tiers (running speech of a TextGrid or EAF), or "
    "one of a plugin; default: recognised from the file.",
)
@click.option(
    "--model",
    metavar="NAME",
    help="The model: a spec or a name; default: the file's.",
)
@click.option(
    "--speaker",
    metavar="ID",
    help="The participant code; default: the file's.",
)
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
    help="Tables: the column that has a field, for example response=text. CHAT: "
    "participant=PAR, pauses=kept, unit=file. tiers: tier=NAME, language=de. Repeatable.",
)
@click.option(
    "--number-replicates",
    is_flag=True,
    help="Tables without a column 'replicate': the second answer to an item is its replicate 2.",
)
@click.option(
    "--skip-unknown",
    is_flag=True,
    help="Tables: leave out answers that match no item of the battery.",
)
@click.option(
    "--judge",
    "judges",
    metavar="SPEC",
    multiple=True,
    help="Answers: a judge of connected text, as in 'tabwb run'; repeatable. Default: rules.",
)
@click.option(
    "--research-protocol",
    metavar="ID",
    help="The protocol under which a battery made for models was given to a person.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Store the answers or sessions even if the store has them already.",
)
@click.option("--dry-run", is_flag=True, help="Answers: show what would be imported.")
@click.option("--set", "set_name", metavar="NAME", help="Ratings: the rating set to make of them.")
@click.option(
    "--form", metavar="ID|PATH", help="Ratings: the form that they answer. Default: tab-19."
)
@click.option(
    "--mapping",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Ratings: a file (TOML) that maps columns, raters and values.",
)
@click.option(
    "--counts",
    metavar="RULE",
    help="Ratings: whose count: primary:CODE, majority (default), consensus, adjudicated.",
)
@click.option("--session", metavar="NAME", help="Naming: only this session of several.")
@click.option(
    "--rater",
    metavar="ID",
    help="Naming: the rater who transcribed and scored. Default: as the source says, else import.",
)
@click.option(
    "--tier",
    "tiers",
    metavar="OURS=THEIRS",
    multiple=True,
    help="Naming: the tier that has OURS, for example item=Wort; 'code=' leaves one out; "
    "repeatable.",
)
@click.option(
    "--date",
    metavar="YYYY-MM-DD",
    help="The date of the session. Default: as the file says (a sound file: the date in it); "
    "otherwise it is not known.",
)
@mark_options
@verbosity_options
@store_option
@json_option
@offline_option
def import_(**options: Any) -> None:
    """Read answers that were given elsewhere from PATH, and score them with the battery.

    A table (CSV, TSV, JSON lines) with the columns item and response, or text and prompt; a log of
    inspect_ai, or a folder of them; samples of lm-evaluation-harness; CHAT transcripts (.cha); or
    spoken naming: a TextGrid, an EAF, a folder of them, or a PSST folder, with the sound files
    beside them. All answers of a file are stored, or none.

    Ratings made elsewhere (a table with the columns response, rater, measure, value, Label Studio's
    JSON, a REDCap table with --mapping) become the rating set --set NAME; the folder that 'tabwb
    rate export' wrote is restored as a set.
    """
    with opened_plugins(options["offline"]) as plugins:
        path: Path = options["path"]
        if str(path) != "-" and not path.exists():
            raise UsageError("there is no such file or folder", where=str(path))
        if _is_of_ratings(path, options):
            from tabwb.cli.import_ratings import import_file as import_ratings

            import_ratings(plugins, path, options)
            return
        importer = _importer(plugins, path, options["format_id"])
        _check_options(options, naming=importer is None)
        if importer is None:
            if options["battery"] is None:
                raise UsageError("spoken naming needs a battery", hint="name it with --battery ID")
            _import_naming(plugins, path, options)
            return
        from tabwb.cli.import_answers import import_file

        import_file(plugins, importer, path, options)


NAMING = "naming"
"""The format of spoken naming, which no plugin reads."""
ANNOTATIONS = (".textgrid", ".eaf")
ONLY_ANSWERS = (*("model", "columns", "number_replicates", "skip_unknown", "judges", "dry_run"),)
ONLY_NAMING = ("session", "rater", "tiers")
ONLY_RATINGS = ("set_name", "form", "mapping", "counts")
NOT_OF_RATINGS = (
    *("battery", "format_id", "columns", "number_replicates", "skip_unknown", "again", "date"),
    *("research_protocol", "title", "tags", *ONLY_NAMING),
)
FLAGS = {
    "columns": "column", "judges": "judge", "tiers": "tier", "set_name": "set", "tags": "tag",
    "format_id": "format",
}  # fmt: skip


def _flag(name: str) -> str:
    return f"--{FLAGS.get(name, name).replace('_', '-')}"


def _is_of_ratings(path: Path, options: dict[str, Any]) -> bool:
    """Return whether ratings are imported; refuse options that do not fit."""
    from tabwb.administer.rating.elsewhere.reading import is_table_of_ratings
    from tabwb.administer.rating.elsewhere.study import is_study

    if options["set_name"] or is_study(path):
        for name in NOT_OF_RATINGS:
            if options[name]:
                raise UsageError(f"{_flag(name)} is not for ratings", where=str(path))
        return True
    for name in ONLY_RATINGS:
        if options[name]:
            raise UsageError(f"{_flag(name)} is for ratings", hint="--set NAME imports ratings")
    if str(path) != "-" and options["format_id"] is None and is_table_of_ratings(path):
        raise UsageError(
            "this is a table of ratings",
            where=str(path),
            hint="--set NAME makes a rating set of it; 'tabwb agreement FILE' needs no store",
        )
    return False


def _importer(plugins: Plugins, path: Path, format_id: str | None) -> Importer | None:
    """Return the importer of a file; None for spoken naming."""
    if format_id == NAMING:
        return None
    from tabwb.administer.answers.prepared import importer_of

    if (importer := importer_of(plugins, path, format_id)) is not None:
        return importer
    if path.is_file() and path.suffix.lower() not in ANNOTATIONS:
        known = [descriptor.id for descriptor in plugins.descriptors("importers")]
        raise UsageError(
            "is not a file of a known format",
            where=str(path),
            allowed="CSV, TSV and JSON lines of answers, CHAT transcripts (.cha), a log of "
            "inspect_ai, samples of lm_eval, TextGrid, EAF, formats of plugins",
            hint=f"name it: --format {', '.join([*known, NAMING])}; save a spreadsheet as CSV",
        )
    return None


def _check_options(options: dict[str, Any], *, naming: bool) -> None:
    """Refuse options that mean nothing for what is read."""
    for name in ONLY_ANSWERS if naming else ONLY_NAMING:
        if options[name]:
            raise UsageError(
                f"{_flag(name)} is for {'answers' if naming else 'spoken naming'}",
                where=str(options["path"]),
                hint="name the format of the file with --format",
            )


def _import_naming(plugins: Plugins, path: Path, options: dict[str, Any]) -> None:
    from tabwb.media.documents.document import list_document
    from tabwb.records.trials import Marks, changes
    from tabwb.tasks.spoken_naming.giving import NamingImport, import_sessions, prepare_sessions

    marked = changes(Marks(), title=options["title"], add=options["tags"])
    names = ("battery", "speaker", "origin", "session", "research_protocol")
    request = NamingImport(
        path,
        rater=options["rater"] or "",
        tiers=_tiers(options["tiers"]),
        date=options["date"] or "",
        **{name: options[name] for name in names},
    )
    prepared = prepare_sessions(plugins, request)
    for line in prepared.notes:
        note(line)
    with open_store(options["store_location"], plugins) as store:
        made = []
        for number, held in import_sessions(
            store, plugins, prepared, note, marked, again=options["again"]
        ):
            note(f"administration {number}: {held}")
            made.append(number)
        if options["as_json"]:
            print_json(list_document([store.administration(number) for number in made]))


def _tiers(texts: tuple[str, ...]) -> dict[str, str]:
    from tabwb.tasks.spoken_naming.imports import TIERS

    tiers: dict[str, str] = {}
    for text in texts:
        ours, sign, theirs = text.partition("=")
        if not sign or ours not in TIERS:
            allowed = f"OURS=THEIRS with OURS one of {', '.join(TIERS)}"
            raise UsageError(f"'{text}' is not a tier", allowed=allowed)
        tiers[ours] = theirs
    return tiers
