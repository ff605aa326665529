"""``tabwb trial``: what is done to single trials after the fact. Nothing recorded is changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from tabwb.cli.common import note, open_plugins, open_store, store_option
from tabwb.records.errors import UsageError
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.session import Session


@click.group()
def trial() -> None:
    """Declare a trial void, note on it, undo, rescore.

    A TRIAL is its number in the administration, or ITEM or SUBTEST/ITEM where that names just one.
    """


@trial.command()
@click.argument("administration")
@click.argument("trial_name", metavar="TRIAL")
@click.option("--reason", required=True, help="Why it must not count.")
@store_option
def void(administration: str, trial_name: str, reason: str, store_location: str | None) -> int:
    """Declare TRIAL void: its answers stay in the store and do not count."""
    with _opened(administration, store_location) as session:
        number = _number(session, trial_name)
        session.void(reason, number)
        note(f"trial {number} of administration {session.administration.id} is void")
    return 0


@trial.command("note")
@click.argument("administration")
@click.argument("trial_name", metavar="TRIAL")
@click.argument("text")
@store_option
def write_note(administration: str, trial_name: str, text: str, store_location: str | None) -> int:
    """Write a note on TRIAL."""
    with _opened(administration, store_location) as session:
        number = _number(session, trial_name)
        session.note(text, number)
        note(f"noted on trial {number} of administration {session.administration.id}")
    return 0


@trial.command()
@click.argument("administration")
@store_option
def undo(administration: str, store_location: str | None) -> int:
    """Take back the latest answer, skip, void or discontinuation of ADMINISTRATION."""
    with _opened(administration, store_location) as session:
        for event in session.undo():
            note(f"taken back: {getattr(event, 'what', '')}")
    return 0


@trial.command()
@click.argument("administration")
@store_option
def rescore(administration: str, store_location: str | None) -> int:
    """Rate every counting answer of ADMINISTRATION again; earlier ratings stay in the store."""
    with _opened(administration, store_location) as session:
        made = session.rescore()
        note(f"{plural(len(made), 'answer')} rated again")
    return 0


@contextmanager
def _opened(administration: str, store_location: str | None) -> Iterator[Session]:
    from tabwb.administer import setup

    plugins = open_plugins()
    try:
        with (
            open_store(store_location, plugins, create=False) as store,
            setup.resume(store, plugins, administration) as session,
        ):
            yield session
    finally:
        plugins.close()


def _number(session: Session, name: str) -> int:
    if name.isdecimal():
        return int(name)
    found = [
        trial.plan.number
        for trial in session.trials
        if name in {trial.plan.item, f"{trial.plan.subtest}/{trial.plan.item}"}
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"'{name}' names {len(found)} trials", allowed=", ".join(map(str, found)))
    raise UsageError(
        f"administration {session.administration.id} has no trial '{name}'",
        allowed=f"1 to {len(session.trials)}, ITEM, or SUBTEST/ITEM",
    )
