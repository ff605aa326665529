"""Recordings that are in the store already: imported again, each would count once more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from tabwb.battery.model import Battery
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.files import sha256_of
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration
from tabwb.store.store import Store

OPEN = frozenset({AdministrationStatus.RUNNING, AdministrationStatus.PAUSED})


def holder_of(
    store: Store,
    battery: Battery,
    conditions: Conditions,
    sounds: Iterable[Path],
    *,
    note: str = "",
    but: Collection[int] = (),
) -> Administration | None:
    """Return the newest administration that an import of these began, or None.

    Its recordings are all among these, or it has no response yet and the same conditions.
    """
    digests = {sha256_of(path) for path in sounds}
    # What was given here and annotated elsewhere comes back as a new administration.
    wanted = (battery.content_hash, conditions.examinee, conditions.origin is None)
    for given in reversed(store.administrations()):
        given_to = (given.battery_hash, given.conditions.examinee, given.conditions.origin is None)
        if given.id in but or given_to != wanted:
            continue
        kept = {recording.sha256 for recording in store.people.recordings(given.id)}
        if kept:
            held = kept <= digests
        elif given.answered:
            held = bool(note) and note in store.facts([given.id])[0].notes
        else:
            held = given.status in OPEN and _alike(given.conditions, conditions)
        if held:
            return given
    return None


def _alike(one: Conditions, other: Conditions) -> bool:
    names = ("transcriber", "rater", "origin", "session_date", "item_order")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def continues(given: Administration, transcriber: str | None) -> bool:
    """Return whether an import can continue an administration."""
    return given.status in OPEN and given.conditions.transcriber == transcriber


def stored_already(given: Administration, hint: str = "") -> UsageError:
    """Return the error of an import whose recordings are in the store."""
    once_more = "to store them once more: --again (again=True in Python)"
    return UsageError(
        f"these responses of {given.conditions.examinee} are in the store already: "
        f"administration {given.id}, transcriber {given.conditions.transcriber or 'none'}",
        hint="; ".join(filter(None, (hint, once_more))),
    )


def begun_earlier(
    store: Store,
    battery: Battery,
    conditions: Conditions,
    sounds: Iterable[Path],
    tell: Callable[[str], object],
    hint: Callable[[Administration], str] = lambda given: "",
) -> Administration | None:
    """Return the administration that is to be continued with these recordings, or None."""
    given = holder_of(store, battery, conditions, sounds)
    if given is None:
        return None
    if not continues(given, conditions.transcriber):
        raise stored_already(given, hint(given))
    tell(f"administration {given.id} was begun with these recordings; it continues")
    return given
