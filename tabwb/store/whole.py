"""Administrations that are stored whole: their plan with everything that was recorded elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tabwb.records.conditions import Conditions
from tabwb.records.speakers import LogEntry, operator
from tabwb.records.trials import Entry, PlannedTrial
from tabwb.store import people_rows, write
from tabwb.store.database import Transaction
from tabwb.store.keys import Keys


@dataclass(frozen=True, slots=True)
class WholeAdministration:
    """An administration with all its entries, the last of which ends it.

    Attributes:
        conditions: how it was given; specs as they are to be stored.
        plan: every trial, numbered.
        versions: package to version.
        entries: everything that is recorded, in order.
        acts: lines of the log of people's data; its number is filled in.
    """

    conditions: Conditions
    plan: Sequence[PlannedTrial]
    versions: Mapping[str, str]
    entries: Sequence[Entry]
    acts: Sequence[LogEntry] = ()


def insert(
    transaction: Transaction, keys: Keys, battery_id: int, given: WholeAdministration
) -> int:
    """Insert an administration with its entries and log; return its number."""
    conditions = given.conditions
    if conditions.guarded:
        people_rows.refuse_deleted(transaction, conditions.person)
    number = write.insert_administration(
        transaction, keys, battery_id, conditions, given.plan, given.versions
    )
    write.append(transaction, keys, number, given.entries)
    for act in given.acts:
        entry = replace(act, administration=number, who=act.who or operator())
        people_rows.insert_log(transaction, entry)
    return number
