"""The sessions of a participant, and sets of their items, as people name them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from tabwb.records.errors import UsageError
from tabwb.records.trials import Administration
from tabwb.report.summaries.change import Place, sets_of_rows, sets_of_tags
from tabwb.report.summaries.load import AdministrationData
from tabwb.store.store import Store


def sessions_of(store: Store, participant: str, battery: str | None = None) -> list[Administration]:
    """Return the administrations of a participant with answers, all of one battery version.

    Args:
        store: where they are.
        participant: study ID.
        battery: its id, if there are sessions of several.

    Raises:
        UsageError: there is none, or they are of several batteries or versions.
    """
    own = [one for one in store.administrations() if one.conditions.study_id == participant]
    if not own:
        known = dict.fromkeys(
            one.conditions.study_id for one in store.administrations() if one.conditions.study_id
        )
        raise UsageError(
            f"there is no session of '{participant}'",
            allowed=", ".join(filter(None, known)) or "the store has no sessions of people",
            hint="tabwb speaker list",
        )
    names = dict.fromkeys(one.battery for one in own)
    if battery is None and len(names) > 1:
        raise UsageError(
            f"'{participant}' has sessions of several batteries",
            allowed=", ".join(names),
            hint="--battery ID",
        )
    chosen = [one for one in own if one.answered and battery in (None, one.battery)]
    if not chosen:
        raise UsageError(
            f"'{participant}' has no answers to '{battery or own[0].battery}'",
            allowed=", ".join(names),
        )
    versions = dict.fromkeys(one.battery_version for one in chosen)
    if len({one.battery_hash for one in chosen}) > 1:
        raise UsageError(
            f"'{participant}' was given several versions of {chosen[0].battery}: "
            + ", ".join(versions),
            allowed="sessions with one version",
        )
    return chosen


def chosen_sessions(sessions: Sequence[Administration], named: str | None) -> list[Administration]:
    """Return the sessions that a person names by the administration's number or by day.

    Args:
        sessions: of one participant.
        named: numbers or days (YYYY-MM-DD) with commas between; None: all.

    Raises:
        UsageError: there is no such session.
    """
    if named is None:
        return list(sessions)
    wanted = [one.strip().removeprefix("#") for one in named.split(",") if one.strip()]
    known = {name for one in sessions for name in (str(one.id), one.session_date) if name}
    for name in wanted or [named]:
        if name not in known:
            raise UsageError(
                f"there is no session '{name}'",
                allowed=", ".join(f"#{one.id} ({one.session_date})" for one in sessions),
                hint="--sessions N,N or --sessions YYYY-MM-DD,YYYY-MM-DD",
            )
    return [one for one in sessions if {str(one.id), one.session_date} & set(wanted)]


def named_sets(
    members: Sequence[AdministrationData], sets: str | None
) -> Mapping[str, tuple[Place, ...]]:
    """Return the sets of items that a person names, by name.

    Args:
        members: sessions with one battery.
        sets: tags of its items with commas between, or a CSV file with the columns item and set.

    Raises:
        UsageError: an item or tag is not in the battery, or the file cannot be read.
    """
    subtests = members[0].battery.subtests
    if sets is None:
        return {}
    if not sets.endswith(".csv"):
        tags = dict.fromkeys(name.strip() for name in sets.split(",") if name.strip())
        return sets_of_tags(subtests, list(tags))
    file = Path(sets)
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            return sets_of_rows(subtests, list(csv.DictReader(lines)), file.name)
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"'{sets}' cannot be read: {problem}", where="--sets") from problem
