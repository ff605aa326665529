"""``tabwb speaker``: what a study knows of its speakers, what they agreed to, who did what."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    configuration,
    json_option,
    note,
    open_store,
    opened_plugins,
    print_json,
    store_option,
)
from tabwb.records.errors import UsageError
from tabwb.records.speakers import (
    REASONS,
    SCOPES,
    LogEntry,
    Scope,
    check_id,
    in_force,
)
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.records.speakers import Study
    from tabwb.store.store import Store

Command = Callable[..., None]
TODAY = "today"
scope_type = click.Choice(list(SCOPES))
EXPLAINED = "\b\n" + "\n".join(f"{scope:<12}{meaning}" for scope, meaning in SCOPES.items())


def _day_option(flag: str, text: str) -> Callable[[Command], Command]:
    return click.option(flag, metavar="[DAY]", is_flag=False, flag_value=TODAY, help=text)


@click.group()
def speaker() -> None:
    """Manage speakers: records, consents, the log, deletion.

    A speaker is a person, named by the study's ID and never by name. [study] in tabwb.toml says how
    IDs are written and which columns a record has.
    """


@speaker.command("list")
@click.option("--may", "scope", type=scope_type, help="Only speakers with consent to this.")
@store_option
@json_option
def list_speakers(scope: Scope | None, store_location: str | None, as_json: bool) -> None:
    """List speakers with their consents, and deleted speakers."""
    from tabwb.administer.participants import participants

    with _opened(store_location) as store:
        rows: list[dict[str, Any]] = [
            {
                "id": person.id,
                "version": person.speaker.version,
                "may": list(person.may),
                "administrations": len(person.sessions),
            }
            for person in participants(store)
            if scope is None or scope in person.may
        ]
        stones = store.people.tombstones()
    if as_json:
        print_json({"format": 1, "speakers": rows, "deleted": list(map(asdict, stones))})
        return
    width = max((len(row["id"]) for row in rows), default=0)
    for row in rows:
        agreed = ", ".join(row["may"]) or "no consent recorded"
        known = "" if row["version"] else ", no record"
        given_to = plural(row["administrations"], "administration")
        click.echo(f"{row['id']:<{width}}  {given_to:<19} {agreed}{known}")
    for stone in stones:
        click.echo(f"{stone.speaker} was deleted on {stone.deleted_at[:10]} ({stone.reason})")
    if not rows and not stones:
        note("no speakers")


@speaker.command()
@click.argument("speaker_id", metavar="ID")
@store_option
@json_option
def show(speaker_id: str, store_location: str | None, as_json: bool) -> None:
    """Show all records of the speaker ID."""
    study = configuration().study
    with _opened(store_location) as store:
        document = _document(store, speaker_id)
    _print(document, study, as_json=as_json)


@speaker.command()
@click.argument("speaker_id", metavar="ID")
@click.argument("values", metavar="[COLUMN=VALUE]...", nargs=-1)
@store_option
@json_option
def add(
    speaker_id: str, values: tuple[str, ...], store_location: str | None, as_json: bool
) -> None:
    """Register the speaker ID with its record: tabwb speaker add S-014 AQ=71.3 group=A."""
    _keep(speaker_id, values, store_location, as_json=as_json, new=True)


@speaker.command("set")
@click.argument("speaker_id", metavar="ID")
@click.argument("values", metavar="COLUMN=VALUE...", nargs=-1, required=True)
@store_option
@json_option
def set_values(
    speaker_id: str, values: tuple[str, ...], store_location: str | None, as_json: bool
) -> None:
    """Record new values of the speaker ID; COLUMN= removes a value.

    Earlier versions stay.
    """
    _keep(speaker_id, values, store_location, as_json=as_json, new=False)


@speaker.command()
@json_option
def columns(as_json: bool) -> None:
    """List the columns of a speaker's record in this study."""
    study = configuration().study
    if as_json:
        rows = [asdict(column) for column in study.columns]
        document = {"speaker_id_pattern": study.id_pattern, "columns": rows}
        print_json({"format": 1, "study": document})
        return
    click.echo(f"IDs are written {study.id_pattern}")
    width = max(len(column.name) for column in study.columns)
    for column in study.columns:
        title = f"{column.title}: " if column.title else ""
        click.echo(f"{column.name:<{width}}  {title}{column.allowed}")


@speaker.command(epilog=EXPLAINED)
@click.argument("speaker_id", metavar="ID")
@click.option(
    "--scope",
    "scopes",
    type=scope_type,
    multiple=True,
    help="The scope of the consent; repeatable.",
)
@click.option("--all", "every", is_flag=True, help="Every scope.")
@_day_option("--given", "Given on this day (2026-11-21); without a day: today.")
@_day_option("--withdrawn", "Withdrawn on this day; without a day: today.")
@click.option("--document", default="", metavar="WHERE", help="The place of the signed form.")
@click.option("--note", "words", default="", metavar="TEXT", help="A note.")
@store_option
@json_option
def consent(
    speaker_id: str,
    scopes: tuple[Scope, ...],
    every: bool,
    given: str | None,
    withdrawn: str | None,
    document: str,
    words: str,
    store_location: str | None,
    as_json: bool,
) -> None:
    """Record consents or withdrawals of the speaker ID; without options show them."""
    from tabwb.administer.participants import keep_consents

    wanted = tuple(SCOPES) if every else tuple(dict.fromkeys(scopes))
    day = withdrawn if given is None else given
    if day is None and (wanted or document or words):
        raise UsageError("no day: give --given [DAY] or --withdrawn [DAY]")
    if given is not None and withdrawn is not None:
        raise UsageError("--given and --withdrawn exclude each other")
    if day is not None and not wanted:
        raise UsageError("no scope: give --scope SCOPE or --all", allowed=", ".join(SCOPES))
    with _opened(store_location, create=day is not None) as store:
        if day is None:
            store.people.speaker(speaker_id)
        else:
            _warn(store, speaker_id)
            on = date.today().isoformat() if day == TODAY else day
            keep_consents(
                store,
                speaker_id,
                wanted,
                given=given is not None,
                day=on,
                document=document,
                note=words,
            )
        shown = _document(store, speaker_id)
    if as_json:
        print_json({"format": 1, "speaker": shown})
    else:
        _print_consents(shown)


@speaker.command()
@click.argument("speaker_id", metavar="[ID]", default="")
def form(speaker_id: str) -> None:
    """Print a consent form with a question for each scope, for the speaker ID.

    It is a draft: adapt it to the rules of your ethics committee.
    """
    from tabwb.administer.consent_form import consent_form

    if speaker_id:
        check_id(speaker_id)
    click.echo(consent_form(speaker_id), nl=False)


@speaker.command()
@click.argument("speaker_id", metavar="[ID]", required=False)
@click.option("--administration", type=int, metavar="N", help="Only of this administration.")
@store_option
@json_option
def log(
    speaker_id: str | None, administration: int | None, store_location: str | None, as_json: bool
) -> None:
    """Show the log of uses of people's data, oldest first: all, or of the speaker ID."""
    with _opened(store_location) as store:
        entries = store.people.log_entries(speaker_id, administration)
    if as_json:
        print_json({"format": 1, "log": [asdict(entry) for entry in entries]})
        return
    for entry in entries:
        click.echo(_line(entry))
    if not entries:
        note("the log is empty")


@speaker.command()
@click.argument("speaker_id", metavar="ID")
@click.option(
    "--reason", type=click.Choice(REASONS), required=True, help="The reason; kept permanently."
)
@click.option("--yes", is_flag=True, help="Do not ask for the ID again.")
@store_option
@json_option
def delete(
    speaker_id: str, reason: str, yes: bool, store_location: str | None, as_json: bool
) -> None:
    """Delete the speaker ID with all records; this cannot be undone.

    The ID, the day, the reason, who deleted, counts, and the log of earlier uses stay.
    """
    from tabwb.administer.participants import deletion_preview

    with _opened(store_location) as store:
        preview = deletion_preview(store, speaker_id)
        note(f"speaker {speaker_id}: {preview.goes}")
        for sentence in preview.stays:
            note(sentence)
        if not yes:
            _confirm(speaker_id)
        stone = store.people.delete_speaker(speaker_id, reason)
    if as_json:
        shared = [{"sha256": sha256, "also_of": other} for sha256, other in preview.shared]
        exports = list(preview.copies)
        print_json(
            {"format": 1, "deleted": asdict(stone), "exports": exports, "kept_recordings": shared}
        )
    else:
        click.echo(f"{speaker_id} was deleted on {stone.deleted_at[:10]} ({stone.reason})")
    if not stone.finished:
        note(
            "another program has the store open; remaining traces are removed when the store "
            "is opened next"
        )


def _opened(location: str | None, *, create: bool = False) -> Store:
    with opened_plugins() as plugins:
        return open_store(location, plugins, create=create)


def _keep(
    speaker_id: str, values: Sequence[str], location: str | None, *, as_json: bool, new: bool
) -> None:
    from tabwb.administer.participants import keep_record, record_values

    study, texts = configuration().study, _pairs(values)
    record_values(study, texts)  # before a store is made
    with _opened(location, create=new) as store:
        if new:
            _warn(store, speaker_id)
        keep_record(store, study, speaker_id, texts, new=new)
        document = _document(store, speaker_id)
    _print(document, study, as_json=as_json)


def _warn(store: Store, speaker_id: str) -> None:
    """Warn of a new ID that is not as the study writes them."""
    check_id(speaker_id)
    remark = configuration().study.remark(speaker_id)
    if remark and speaker_id not in {person.id for person in store.people.speakers()}:
        note(f"warning: {remark}")


def _pairs(values: Iterable[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in values:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"'{text}' is not COLUMN=VALUE", allowed="for example AQ=71.3")
        if name in pairs:
            raise UsageError(f"'{name}' is given twice")
        pairs[name] = value
    return pairs


def _confirm(speaker_id: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            "the deletion was not confirmed: this is not a terminal", hint="confirm it with --yes"
        )
    typed: str = click.prompt("Type the ID again to delete all of this permanently", err=True)
    if typed.strip() != speaker_id:
        raise UsageError(f"'{typed.strip()}' is not '{speaker_id}': nothing was deleted")


def _document(store: Store, speaker_id: str) -> dict[str, Any]:
    speaker = store.people.speaker(speaker_id)
    consents = store.people.consents(speaker_id)
    rows = [asdict(consent) for consent in consents]
    return {
        "id": speaker.id,
        "version": speaker.version,
        "values": dict(speaker.values),
        "recorded_at": speaker.recorded_at or None,
        "by": speaker.by or None,
        "may": list(in_force(consents)),
        "consents": [
            {key: value for key, value in row.items() if key != "speaker"} for row in rows
        ],
        "data": store.people.data_of(speaker_id),
    }


def _print(document: dict[str, Any], study: Study, *, as_json: bool) -> None:
    if as_json:
        print_json({"format": 1, "speaker": document})
        return
    version = document["version"]
    day = (document["recorded_at"] or "")[:10]
    recorded = f"version {version}, {day}, by {document['by']}" if version else "no record"
    click.echo(f"{document['id']}  {recorded}")
    units = {column.name: column.unit for column in study.columns}
    for name, value in document["values"].items():
        unit = units.get(name, "")
        click.echo(f"  {name}  {value}{f' {unit}' if unit else ''}")
    from tabwb.administer.participants import counted

    _print_consents(document)
    click.echo(f"  {counted(document['data'])}")


def _print_consents(document: dict[str, Any]) -> None:
    last = {row["scope"]: row for row in document["consents"]}
    for scope in SCOPES:
        row = last.get(scope)
        if row is None:
            click.echo(f"  - {scope:<10}  not recorded")
            continue
        sign, word = ("✓", "given") if row["given"] else ("✗", "withdrawn")
        more = "".join(f", {row[key]}" for key in ("document", "note") if row[key])
        click.echo(f"  {sign} {scope:<10}  {word} {row['on']}{more}")


def _line(entry: LogEntry) -> str:
    number = "" if entry.administration is None else f"administration {entry.administration}"
    parts = (entry.at[:19], entry.who, entry.act, entry.speaker, number, entry.detail)
    return "  ".join(part for part in parts if part)
