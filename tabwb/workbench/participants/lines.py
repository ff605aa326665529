"""Participants, their consents, sessions and the uses of their data as lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.administer.participants import Participant, counted
from tabwb.analysis.keys import records_filter, words_and_filters, written
from tabwb.records.speakers import SCOPES, Consent, LogEntry, Scope, Study
from tabwb.records.trials import Administration
from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import ScoredAdministration
from tabwb.workbench.shell.columns import Column, laid
from tabwb.workbench.shell.drawn import interval_bar, marks, scale, share_bar
from tabwb.workbench.shell.wording import (
    AMBER,
    QUIET,
    WITHDRAWN,
    consent_words,
    folded,
    glyph_of,
    key_lines,
    sentence,
)

if TYPE_CHECKING:
    from tabwb.workbench.participants.page import Known

NOT_RECORDED = "-"
NO_CONSENT = sentence("no consent is recorded: C records it, f shows a form to print")
GIVEN = "✓"
SIGNS = f"{GIVEN} consent given, {WITHDRAWN} withdrawn, {NOT_RECORDED} not recorded"
"""What the signs of consents mean."""
NOBODY = (
    "No participant yet. A participant has a code, never a name; consents, record, sessions and "
    "every use of the data are listed here."
)
LONGEST = 12
"""Most columns of characters of a value that is not shortened."""
SHOWN = 2
"""The number of latest entries shown of a scope; the first one of these decides."""
AXIS = 16, 24
"""The least and the most columns of a session's interval."""


def sign(participant: Participant, scope: Scope) -> str:
    """Return the sign of what a participant said last about a scope."""
    last = participant.last.get(scope)
    return NOT_RECORDED if last is None else GIVEN if last.given else WITHDRAWN


SCOPE_WORDS: Sequence[Column[tuple[str, str]]] = (
    Column("", lambda one: one[0], style="bold"),
    Column("", lambda one: one[1], least=20, end=True, style=QUIET),
)


def nobody(keys: Sequence[tuple[str, str]], width: int) -> Iterator[Content]:
    """Yield what is shown before there is a participant."""
    yield from folded(NOBODY, width)
    yield Content("")
    yield from key_lines(keys, width)
    yield Content("")
    yield Content.styled("Consent is recorded for each scope; without it nothing is done:", QUIET)
    yield from laid(SCOPE_WORDS, [*SCOPES.items()], width)[1:]


def _brief(participant: Participant) -> Content:
    if not participant.last:
        return Content.styled("! none recorded", AMBER)
    given = f"{GIVEN} {consent_words(participant)}"
    return Content(given if participant.may else f"{WITHDRAWN} withdrawn")


PEOPLE: Sequence[Column[Participant]] = (
    Column("code", lambda one: one.id, least=6, style="bold"),
    Column("sessions", lambda one: str(len(one.sessions)), right=True),
    Column("consent", _brief, rank=1, least=6, end=True),
)
"""The first columns of participants."""


def columns_of(people: Sequence[Participant], study: Study) -> Sequence[Column[Participant]]:
    """Return the columns of participants, also those of records: of which most have a value first.

    In a narrow list those of which fewer have a value are left out, and first the last day.
    """
    known = {one.id: study.values_of(one.speaker.values) for one in people}
    used = Counter(name for values in known.values() for name in values)

    def value(name: str, one: Participant) -> str:
        return written(known[one.id][name]) if name in known[one.id] else NOT_RECORDED

    columns = list(PEOPLE)
    for column in sorted(study.columns_in(known.values()), key=lambda one: -used[one.name]):
        longest = max(len(value(column.name, one)) for one in people)
        columns.append(
            Column(
                column.name, partial(value, column.name), rank=len(columns), style=QUIET,
                right=column.type in ("number", "whole"), least=min(longest, LONGEST),
            )
        )  # fmt: skip
    last: Column[Participant] = Column(
        "last", lambda one: one.last_day, rank=len(columns), style=QUIET
    )
    return [*columns[:2], last, *columns[2:]]


def chosen(people: Sequence[Participant], study: Study, text: str) -> list[Participant]:
    """Return the participants who have each word, and match each filter, of a text.

    Raises:
        UsageError: what looks like a filter is none.
    """
    words, filters = words_and_filters(text)
    has_all = records_filter(filters)
    return [
        one
        for one in people
        if all(word in searched(one, study) for word in words.lower().split())
        and has_all(study.values_of(one.speaker.values))
    ]


def consents(
    participant: Participant, study: Study, read: Known | None, width: int
) -> Iterator[Content]:
    """Yield one line for each scope: states with days, document, who recorded the last one."""
    last = participant.last
    every = {scope: [one for one in participant.consents if one.scope == scope] for scope in SCOPES}

    def states(scope: Scope) -> str:
        return ", ".join(map(_state, reversed(every[scope][-SHOWN:]))) or "not recorded"

    def of_last(value: Callable[[Consent], str], scope: Scope) -> str:
        return value(last[scope]) if scope in last else ""

    def recorded_by(scope: Scope) -> Content:
        return Content.styled(of_last(lambda one: one.by, scope), QUIET)

    columns: Sequence[Column[Scope]] = (
        Column("", partial(sign, participant)),
        Column("scope", lambda scope: Content.styled(scope, "bold")),
        Column("state", states),
        Column("signed form", partial(of_last, lambda one: one.document), rank=2, least=12),
        Column("note", partial(of_last, lambda one: one.note), rank=3, least=12),
        Column("recorded by", recorded_by, rank=4, least=8),
        Column("consent to", lambda scope: Content.styled(SCOPES[scope], QUIET), rank=5),
    )
    yield from laid(columns, list(SCOPES), width)
    earlier = sum(max(len(rows) - SHOWN, 0) for rows in every.values())
    if earlier:
        yield Content.styled(f"{plural(earlier, 'earlier entry', 'earlier entries')}", QUIET)
    if not last:
        yield Content.styled(NO_CONSENT, QUIET)


def _state(consent: Consent) -> str:
    return f"{'given' if consent.given else 'withdrawn'} {consent.on}"


FACTS: Sequence[Column[tuple[str, str, str]]] = (
    Column("", lambda one: one[0], least=12, style=QUIET),
    Column("", lambda one: one[1], least=12, end=True, style="bold"),
    Column("", lambda one: one[2], rank=1, least=12, end=True, style=QUIET),
)
"""The columns of a record: name, value, what it means."""


def record(
    participant: Participant, study: Study, read: Known | None, width: int
) -> Iterator[Content]:
    """Yield the record and the number of rows stored.

    Args:
        participant: whose.
        study: has titles and units of columns.
        read: what is stored, or None while it is read.
        width: columns of characters.
    """
    columns = {column.name: column for column in study.columns}
    speaker = participant.speaker
    facts: list[tuple[str, str, str]] = []
    for name, value in speaker.values.items():
        column = columns.get(name)
        unit = f" {column.unit}" if column and column.unit else ""
        facts.append((name, f"{value}{unit}", column.title if column else ""))
    known = study.values_of(speaker.values)
    facts += [
        (name, str(value), "follows from the other values")
        for name, value in known.items()
        if name not in speaker.values
    ]
    yield from laid(FACTS, facts, width)[1:]
    for doubt in study.doubts(speaker.values):
        yield from folded(f"! {doubt}", width, AMBER)
    if speaker.version:
        words = f"version {speaker.version}, {speaker.recorded_at[:10]}, by {speaker.by}"
        yield from folded(words, width, QUIET)
    else:
        yield from folded("No record: E adds values.", width, QUIET)
    if read is not None:
        kept = counted({name: n for name, n in read.counts.items() if n})
        yield from folded(f"Stored: {kept or 'nothing else'}.", width, QUIET)


def session_columns(
    scored: Mapping[int, ScoredAdministration],
) -> Sequence[Column[Administration]]:
    """Return the columns of sessions, with the share right."""

    def right(one: Administration) -> str:
        found = scored.get(one.id)
        return f"{found.right}/{found.scored}" if found and found.scored else ""

    return (
        Column("", glyph_of),
        Column("#", lambda one: str(one.id), right=True),
        Column("date", lambda one: one.session_date or "not known"),
        Column("battery", lambda one: one.battery, least=8),
        Column("given", lambda one: f"{one.answered}/{one.planned}", right=True, rank=2),
        Column("right", right, right=True),
        Column(scale, lambda one, width: _interval(scored.get(one.id), width), rank=3, grow=AXIS),
        Column("items", lambda one: _marks(scored.get(one.id)), rank=4),
    )


def _interval(scored: ScoredAdministration | None, width: int) -> Content:
    if scored is None or scored.share is None:
        return Content("")
    if len(scored.rated) > 1:  # intervals are of subtests
        return share_bar(scored.share, width)
    interval = scored.intervals.get(scored.rated[0].title)
    ends = (None, None) if interval is None else (interval.low, interval.high)
    return interval_bar(ends[0], scored.share, ends[1], width=width)


def _marks(scored: ScoredAdministration | None) -> Content:
    shown = [one for one in scored.scores.subtests if one.marks] if scored else []
    return Content("   ").join(marks(one, person=True) for one in shown)


def uses(
    participant: Participant, study: Study, read: Known | None, width: int
) -> Iterator[Content]:
    """Yield the log of uses of a participant's data, the latest first."""
    if read is None or not read.uses:
        return
    columns: Sequence[Column[LogEntry]] = (
        Column("when", lambda one: one.at[:16].replace("T", " ")),
        Column("what", lambda one: one.act),
        Column("#", lambda one: str(one.administration or ""), right=True),
        Column("who", lambda one: Content.styled(one.who, QUIET), least=6),
        Column("detail", lambda one: Content.styled(one.detail, QUIET), rank=1, least=10),
    )
    yield from laid(columns, read.uses, width)


def searched(participant: Participant, study: Study) -> str:
    """Return the text in which the filter looks."""
    known = study.values_of(participant.speaker.values)
    values = " ".join(f"{name} {value}" for name, value in known.items())
    scopes = " ".join(scope for scope in SCOPES if scope in participant.may)
    return f"{participant.id} {values} {scopes}".lower()
