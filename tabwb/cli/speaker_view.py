"""How ``tabwb speaker`` shows a speaker: as a document, and in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from tabwb.records.speakers import SCOPES, LogEntry, in_force
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.records.study import Study
    from tabwb.store.store import Store


def number_given(store: Store) -> dict[str, int]:
    """Return the number of administrations of each person."""
    people = (one.conditions for one in store.administrations() if one.conditions.guarded)
    return Counter(conditions.person for conditions in people)


def document_of(store: Store, speaker_id: str) -> dict[str, Any]:
    """Return a speaker as ``--json`` prints it.

    Args:
        store: that has the record.
        speaker_id: of the study.

    Raises:
        StoreError: there is no speaker of this ID.
    """
    found = store.people.speaker(speaker_id)
    consents = store.people.consents(speaker_id)
    return {
        "id": found.id,
        "version": found.version,
        "values": dict(found.values),
        "recorded_at": found.recorded_at or None,
        "by": found.by or None,
        "may": list(in_force(consents)),
        "consents": [
            {key: value for key, value in asdict(each).items() if key != "speaker"}
            for each in consents
        ],
        "data": store.people.data_of(speaker_id),
    }


def print_speaker(document: dict[str, Any], study: Study) -> None:
    """Print a speaker for people.

    Args:
        document: of :func:`document_of`.
        study: with the units of columns.
    """
    version = document["version"]
    day = (document["recorded_at"] or "")[:10]
    recorded = f"version {version}, {day}, by {document['by']}" if version else "no record"
    click.echo(f"{document['id']}  {recorded}")
    units = {column.name: column.unit for column in study.columns}
    for name, value in document["values"].items():
        unit = units.get(name, "")
        click.echo(f"  {name}  {value}{f' {unit}' if unit else ''}")
    print_consents(document)
    click.echo(f"  {counted(document['data'])}")


def print_consents(document: dict[str, Any]) -> None:
    """Print what a speaker agreed to, scope by scope."""
    last = {each["scope"]: each for each in document["consents"]}
    for scope in SCOPES:
        each = last.get(scope)
        if each is None:
            click.echo(f"  - {scope:<10}  not recorded")
            continue
        sign, word = ("✓", "given") if each["given"] else ("✗", "withdrawn")
        more = "".join(f", {each[key]}" for key in ("document", "note") if each[key])
        click.echo(f"  {sign} {scope:<10}  {word} {each['on']}{more}")


def counted(counts: dict[str, int]) -> str:
    """Return how much there is of a speaker, in words."""
    return ", ".join(plural(count, name.removesuffix("s")) for name, count in counts.items())


def line_of(entry: LogEntry) -> str:
    """Return a line of the log."""
    number = "" if entry.administration is None else f"administration {entry.administration}"
    parts = (entry.at[:19], entry.who, entry.act, entry.speaker, number, entry.detail)
    return "  ".join(part for part in parts if part)
