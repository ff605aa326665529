"""The sessions of a participant, and sets of their items, as people name them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path

from tabwb.battery.model import Item, Subtest
from tabwb.records.errors import UsageError
from tabwb.records.files import open_file
from tabwb.records.trials import Administration
from tabwb.records.words import separated
from tabwb.report.summaries.change import Place
from tabwb.report.summaries.load import AdministrationData
from tabwb.store.store import Store


def sessions_of(store: Store, participant: str, battery: str | None = None) -> list[Administration]:
    """Return the administrations of a participant with answers, all of one battery version."""
    own = [one for one in store.administrations() if one.conditions.study_id == participant]
    if not own:
        known = dict.fromkeys(
            one.conditions.study_id for one in store.administrations() if one.conditions.study_id
        )
        raise UsageError(
            f"there is no session of '{participant}'",
            allowed=", ".join(filter(None, known)) or "none: the store has no session of a person",
            hint="tabwb speaker list",
        )
    names = dict.fromkeys(one.battery for one in own)
    several = [
        name for name in names if sum(one.battery == name for one in own if one.answered) > 1
    ]
    if battery is None and len(names) > 1 and len(several) == 1:
        battery = several[0]
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
    """Return the sessions that a person names by the administration's number or by day."""
    if named is None:
        return list(sessions)
    wanted = [one.removeprefix("#") for one in separated(named)]
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
    """Return the sets of items that a person names, by name."""
    subtests = members[0].battery.subtests
    if sets is None:
        return {}
    if not sets.endswith(".csv"):
        tags = dict.fromkeys(separated(sets))
        return sets_of_tags(subtests, list(tags))
    file = Path(sets)
    try:
        with TextIOWrapper(open_file(file), encoding="utf-8-sig", newline="") as lines:
            return sets_of_rows(subtests, list(csv.DictReader(lines)), file.name)
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"'{sets}' cannot be read: {problem}", where="--sets") from problem


def tags_as_sets(subtests: Sequence[Subtest]) -> tuple[str, ...]:
    """Return the tags that divide a battery's items into sets, such as trained and untrained.

    They do where there are two to four of them, no item has two, and each has two items or more.

    >>> from tabwb.battery.model import Item
    >>> items = [Item(f"i{n}", "", tags=(tag,)) for n, tag in enumerate(["a", "a", "b", "b"])]
    >>> tags_as_sets([Subtest("s", "S", "free", items=tuple(items))])
    ('a', 'b')
    """
    items = [item for subtest in subtests for item in subtest.items]
    numbers = Counter(tag for item in items for tag in item.tags)
    divide = 2 <= len(numbers) <= 4 and min(numbers.values()) > 1
    return tuple(numbers) if divide and all(len(item.tags) < 2 for item in items) else ()


def sets_of_tags(subtests: Sequence[Subtest], tags: Sequence[str]) -> dict[str, tuple[Place, ...]]:
    """Return sets of items from the items' tags in the battery."""
    items: list[tuple[Place, Item]] = [
        ((subtest.id, item.id), item) for subtest in subtests for item in subtest.items
    ]
    known = dict.fromkeys(tag for _, item in items for tag in item.tags)
    for tag in tags:
        if tag not in known:
            raise UsageError(
                f"no item of the battery has the tag '{tag}'",
                allowed=", ".join(known) or "the battery has no tags: name a CSV file of sets",
                hint="--sets FILE.csv with the columns item, set",
            )
    return {tag: tuple(place for place, item in items if tag in item.tags) for tag in tags}


def sets_of_rows(
    subtests: Sequence[Subtest], rows: Iterable[Mapping[str, str]], name: str
) -> dict[str, tuple[Place, ...]]:
    """Return sets of items from the rows of a file."""
    places: dict[str, list[Place]] = {}
    for subtest in subtests:
        for item in subtest.items:
            places.setdefault(item.id, []).append((subtest.id, item.id))
    sets: dict[str, list[Place]] = {}
    for line, row in enumerate(rows, start=2):
        if row.get("item") is None or row.get("set") is None:
            raise UsageError(f"{name} line {line}: no column 'item' or 'set'", allowed="item, set")
        wanted = (row.get("subtest") or "").strip()
        found = [
            place
            for place in places.get(row["item"].strip(), ())
            if not wanted or place[0] == wanted
        ]
        if not found:
            raise UsageError(
                f"{name} line {line}: the battery has no item '{row['item']}'"
                + (f" in '{wanted}'" if wanted else ""),
                allowed=", ".join(list(places)[:12]) + (" ..." if len(places) > 12 else ""),
            )
        if len(found) > 1:
            raise UsageError(
                f"{name} line {line}: '{row['item']}' is an item of several subtests",
                hint="add a column subtest",
            )
        if row["set"].strip():
            sets.setdefault(row["set"].strip(), []).append(found[0])
    return {name: tuple(dict.fromkeys(own)) for name, own in sets.items()}
