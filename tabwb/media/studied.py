"""What a report is about: the groups, their administrations, and the names that it may print."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from tabwb.analysis.administrations import AdministrationData, model_of
from tabwb.analysis.change import Change, change_of, days_of, sets_of_tags, tags_as_sets
from tabwb.analysis.file_names import file_names, named, without_folders
from tabwb.analysis.grouping import Grouped, grouped
from tabwb.battery.model import Battery
from tabwb.media.sentences import listed, ranges, spread
from tabwb.media.views.results import GroupNames
from tabwb.records.conditions import RECORDED, Conditions
from tabwb.records.errors import UsageError
from tabwb.records.words import plural, visible

MOST_NAMES = 3
"""A group of more participants has their number as its name."""
MOST_NUMBERS = 10
"""So many administrations or more are named by ranges of numbers."""
Members = Sequence[AdministrationData]


@dataclass(frozen=True, slots=True)
class Studied:
    """The groups of a report; participants are numbered unless ``study_ids`` may be printed.

    ``names``: administration to the name of its examinee, a model's without its lesion;
    ``sessions``: of a person to what stands for its day, such as ``session 2``; ``days``: to the
    days since the first session, where the days of all are known.
    """

    rows: tuple[Grouped, ...]
    study_ids: bool = False
    names: Mapping[int, str] = field(default_factory=dict)
    sessions: Mapping[int, str] = field(default_factory=dict)
    days: Mapping[int, int] = field(default_factory=dict)
    rated: tuple[dict[str, Any], ...] = ()

    @property
    def members(self) -> tuple[AdministrationData, ...]:
        """The administrations of all groups, each once, by number."""
        found = {
            member.administration.id: member for row in self.rows for member in row.group.members
        }
        return tuple(found[number] for number in sorted(found))

    @property
    def models(self) -> list[AdministrationData]:
        """The administrations to models."""
        return [member for member in self.members if not is_persons(member)]

    @property
    def persons(self) -> list[AdministrationData]:
        """The administrations to people, and those that may be."""
        return [member for member in self.members if is_persons(member)]

    @property
    def is_part(self) -> bool:
        """Whether only some responses of the administrations were chosen."""
        return any(member.part is not None for row in self.rows for member in row.group.members)

    @property
    def batteries(self) -> tuple[Battery, ...]:
        """The batteries that were given, in order of appearance."""
        given = {row.battery.content_hash: row.battery for row in self.rows}
        return tuple(given.values())

    def rows_of(self, battery: Battery) -> tuple[Grouped, ...]:
        """Return the groups that were given a battery."""
        return tuple(row for row in self.rows if row.battery.content_hash == battery.content_hash)

    def name(self, member: AdministrationData) -> str:
        """Return the printed name of the examinee of an administration."""
        return self.names[member.administration.id]

    def some(self, chosen: Sequence[AdministrationData]) -> str:
        """Return the words for some administrations: their models, or the number of people.

        A model of which only a part of the administrations is meant has their numbers; of people
        the administrations are then counted.
        """
        whole = dict(spread(self.members, self.name))
        if all(is_persons(member) for member in chosen):
            names = set(map(self.name, chosen))
            if sum(len(whole[name]) for name in names) > len(chosen):
                return plural(len(chosen), "administration")
            return people(chosen, self.name)
        words = []
        for name, members in spread(chosen, self.name):
            part = ""
            if len(members) < len(whole[name]):
                numbers = [member.administration.id for member in members]
                named = listed(f"#{number}" for number in numbers)
                part = f" in {named if len(numbers) < MOST_NUMBERS else f'#{ranges(numbers)}'}"
            words.append(f"{name}{part}")
        return listed(words)

    def varied(
        self, members: Members, value: Callable[[AdministrationData], Hashable] | str
    ) -> dict[str, Any] | None:
        """Return which values administrations have, each with the names of those that have it.

        A name is that of a condition. ``each`` has the numbers of administrations of one model with
        each value, where every model has the same numbers; else it is empty. Of nobody: None.
        """
        if not members:
            return None
        of = attrgetter(f"conditions.{value}") if isinstance(value, str) else value
        found = spread(members, of)
        by_name = [Counter(map(self.name, having)) for _, having in found]
        names = set(map(self.name, members))
        own = {tuple(count[name] for count in by_name) for name in names}
        alike = len(own) == 1 and len(names) > 1 and len(found) > 1
        counts = own.pop() if alike and not any(map(is_persons, members)) else ()
        several = len(found) > 1
        return {
            "of": [
                {"value": each, "names": self.some(own) if several else "", "n": len(own)}
                for each, own in found
            ],
            "each": () if 0 in counts else counts,
        }

    def session(self, member: AdministrationData) -> str:
        """Return the name of a session as it may be printed."""
        number, day = member.administration.id, member.administration.session_date
        when = day if self.study_ids else self.sessions.get(number, "")
        return ", ".join(filter(None, (self.name(member), when, f"#{number}")))

    @property
    def group_names(self) -> GroupNames:
        """The names of groups as they may be printed."""
        return GroupNames(self._renamed)

    @property
    def printable_rows(self) -> tuple[Grouped, ...]:
        """The groups under the names that may be printed."""
        return tuple(
            row
            if (title := visible(self.title(row))) == row.group.title
            else replace(
                row,
                group=replace(
                    row.group, label=title, short=title, apart=(), values=(), called="", told=()
                ),
            )
            for row in self.rows
        )

    @property
    def drawn_rows(self) -> tuple[Grouped, ...]:
        """The groups for figures: as they may be printed, members too; study IDs are in none."""
        if self.study_ids:
            return self.rows
        return tuple(
            replace(row, group=replace(row.group, members=tuple(map(self.unnamed, given))))
            for row in self.printable_rows
            for given in (row.group.members,)
        )

    def unnamed(self, member: AdministrationData) -> AdministrationData:
        """Return an administration of a person with a number in place of the ID, and of the day."""
        if not is_persons(member):
            return member
        name, conditions = self.name(member), member.conditions
        number = member.administration.id
        day = f" (day {self.days[number]})" if number in self.days else ""
        hidden = replace(
            conditions,
            examinee=name,
            participant=name if conditions.participant else "",
            session_date=f"{self.sessions.get(number, '')}{day}",
        )
        return replace(member, administration=replace(member.administration, conditions=hidden))

    def unless_named(self, text: str) -> str:
        """Return a command, or a comment in its place if it has a study ID not asked for."""
        people = [member for member in self.members if is_persons(member)]
        if self.study_ids or not _names_somebody(text, people):
            return text
        return "# the command has a study ID in it: --study-ids prints it"

    def title(self, row: Grouped) -> str:
        """Return the name of a group as it may be printed."""
        return self.group_names.title(row)

    def _renamed(self, text: str, row: Grouped) -> str:
        """Return a name of a group without folders and, if not asked for, without study IDs."""
        members = row.group.members
        if not is_persons(members[0]):
            specs = (model_of(member.conditions) for member in members)
            return named(text, file_names(specs))
        if self.study_ids or not _names_somebody(text, members):
            return text
        if len(members) == 1 and "administration" in row.group.keys:
            return f"#{members[0].administration.id} {self.name(members[0])}"
        names = dict.fromkeys(map(self.name, members))
        who = listed(names) if len(names) <= MOST_NAMES else people(members, self.name)
        conditions = row.group.conditions
        told = conditions and text.endswith(f"({conditions})")
        return f"{who} ({conditions})" if told and not _names_somebody(conditions, members) else who


def studied(rows: Sequence[Grouped], *, study_ids: bool = False) -> Studied:
    """Return what a report is about, with a name for each examinee."""
    made = Studied(tuple(rows), study_ids)
    numbers: dict[str, dict[str, int]] = {}
    names: dict[int, str] = {}
    for member in made.members:
        if is_persons(member):
            noun, person = noun_of(member), _person_of(member.conditions)
            known = numbers.setdefault(noun, {})
            number = known.setdefault(person, len(known) + 1)
            names[member.administration.id] = person if study_ids else f"{noun} {number}"
    for group in grouped(list(map(_intact, made.models)), "model"):
        for member in group.members:
            names[member.administration.id] = without_folders(group.short)
    sessions, days = _sessions(made.members, names)
    return replace(made, names=names, sessions=sessions, days=days)


def _intact(member: AdministrationData) -> AdministrationData:
    """Return an administration as if no lesion had been applied: one model has one name."""
    given = member.administration
    if not given.conditions.lesion:
        return member
    conditions = replace(given.conditions, lesion=None)
    return replace(member, administration=replace(given, conditions=conditions))


def _sessions(
    members: Sequence[AdministrationData], names: Mapping[int, str]
) -> tuple[dict[int, str], dict[int, int]]:
    """Return the numbers and days of sessions of each person with each battery, by day."""
    own: dict[tuple[str, str], list[AdministrationData]] = {}
    for member in filter(is_persons, members):
        key = member.battery.content_hash, names[member.administration.id]
        own.setdefault(key, []).append(member)
    found: dict[int, str] = {}
    days: dict[int, int] = {}
    for given in own.values():
        given.sort(key=lambda one: (one.administration.session_date, one.administration.id))
        digits = len(str(len(given)))
        for number, member in enumerate(given, start=1):
            found[member.administration.id] = f"session {number:0{digits}}"
        after = days_of([one.administration.session_date for one in given])
        days |= zip((one.administration.id for one in given), after, strict=False)
    return found, days


def is_persons(member: AdministrationData) -> bool:
    """Return whether the responses are, or may be, a person's."""
    return member.conditions.guarded


def is_sampled(member: AdministrationData) -> bool:
    """Return whether a model drew its responses at a temperature here."""
    conditions = member.conditions
    return conditions.kind == "model" and not is_recorded(member) and not conditions.decoding.greedy


def noun_of(member: AdministrationData) -> str:
    """Return what whoever made guarded responses is called: it may be a model, if nobody knows."""
    unknown = member.conditions.made_by == "unknown"
    return "unknown source" if unknown else "participant"


def people(members: Sequence[AdministrationData], name: Callable[[AdministrationData], str]) -> str:
    """Return how many people made responses, and how many sources nobody knows."""
    nouns = spread(members, noun_of)
    return listed(plural(len(set(map(name, own))), noun) for noun, own in nouns)


def _person_of(conditions: Conditions) -> str:
    """Return who made guarded responses, as far as it is known."""
    return without_folders(conditions.person)


def is_recorded(member: AdministrationData) -> bool:
    """Return whether the responses were made elsewhere, and read here."""
    conditions = member.conditions
    return conditions.origin is not None or conditions.examinee.startswith(RECORDED)


def _names_somebody(text: str, members: Sequence[AdministrationData]) -> bool:
    for member in members:
        conditions = member.conditions
        for known in (conditions.examinee, conditions.person):
            # In a tag the ID may be joined to other words: S-014-pre, pilot_S-014.
            if re.search(rf"(?<![^\W_]){re.escape(known)}(?![^\W_])", text, re.IGNORECASE):
                return True
    return False


@dataclass(frozen=True, slots=True)
class Followed:
    """A participant with several sessions of one battery, under the name that may be printed.

    ``members`` are the sessions in order of day; where study IDs may not be printed, "session 1",
    "session 2" and so on stand for their days. ``sets`` are tags that divide the battery's items.
    """

    name: str
    battery: Battery
    members: Members
    sets: tuple[str, ...]
    change: Change


def followed(about: Studied) -> Iterator[Followed]:
    """Yield the participants who answered one battery in several sessions, with the change.

    Whoever has no answer that is scored right or wrong is left out.
    """
    own: dict[tuple[str, str], list[AdministrationData]] = {}
    for member in about.members:
        if is_persons(member) and member.conditions.study_id is not None:
            own.setdefault((member.battery.content_hash, about.name(member)), []).append(member)
    for (_, name), members in own.items():
        if len(members) < 2:
            continue
        battery = members[0].battery
        sets = tags_as_sets(battery.subtests)
        members.sort(key=lambda one: (one.administration.session_date, one.administration.id))
        printable = tuple(members if about.study_ids else map(about.unnamed, members))
        with suppress(UsageError):  # nothing was scored
            change = change_of(printable, sets_of_tags(battery.subtests, sets))
            yield Followed(name, battery, printable, sets, change)
