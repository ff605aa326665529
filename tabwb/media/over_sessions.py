"""The sessions of each participant of a report, compared item by item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabwb.battery.model import Battery
from tabwb.media.studied import Studied, is_persons
from tabwb.records.errors import UsageError
from tabwb.report.summaries.change import Change, change_of
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.sessions import sets_of_tags, tags_as_sets
from tabwb.report.tables.captioned import Captioned, Footnote
from tabwb.report.tables.change import change_table, sessions_table
from tabwb.report.tables.named import shown_columns


@dataclass(frozen=True, slots=True)
class Followed:
    """A participant with several sessions of one battery, under the name that may be printed.

    Attributes:
        members: the sessions in order of day; where study IDs may not be printed, "session 1",
            "session 2" and so on stand for their days.
        sets: tags of the battery that divide its items, such as trained and untrained.
    """

    name: str
    battery: Battery
    members: tuple[AdministrationData, ...]
    sets: tuple[str, ...]
    change: Change


def followed(about: Studied) -> Iterator[Followed]:
    """Yield the participants who answered one battery in several sessions, with the change.

    Whoever has no answer that is scored right or wrong is left out.
    """
    own: dict[tuple[str, str], list[AdministrationData]] = {}
    for member in about.members:
        if is_persons(member) and member.administration.conditions.study_id is not None:
            own.setdefault((member.battery.content_hash, about.name(member)), []).append(member)
    for (_, name), members in own.items():
        if len(members) < 2:
            continue
        battery = members[0].battery
        sets = tags_as_sets(battery.subtests)
        printable = tuple(_printable(about, members))
        try:
            change = change_of(printable, sets_of_tags(battery.subtests, sets))
        except UsageError:  # nothing was scored
            continue
        yield Followed(name, battery, printable, sets, change)


def _printable(about: Studied, members: list[AdministrationData]) -> Iterator[AdministrationData]:
    ordered = sorted(
        members, key=lambda member: (member.administration.session_date, member.administration.id)
    )
    yield from ordered if about.study_ids else map(about.unnamed, ordered)


def change_tables(about: Studied, found: Followed) -> Iterator[Captioned]:
    """Yield the right answers in each session of a participant, and the tests of change."""
    made = (
        (sessions_table(found.change), "right answers in each session"),
        (change_table(found.change), "change between sessions"),
    )
    for table, what in made:
        left = {"participant", "battery", "battery_version", "phase"}
        left |= set() if about.study_ids else {"date"}
        yield Captioned(
            table.select([name for name in shown_columns(table) if name not in left]),
            f"{found.name[:1].upper()}{found.name[1:]}, {found.battery.title}: {what}.",
            tuple(map(Footnote, table.notes)),
        )
