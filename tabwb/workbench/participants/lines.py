"""Participants, their consents, sessions and the uses of their data as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from textual.content import Content

from tabwb.administer.participants import Participant, counted
from tabwb.records.speakers import SCOPES, Consent
from tabwb.records.study import Study
from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import ScoredAdministration
from tabwb.workbench.participants.view_models import ParticipantRead
from tabwb.workbench.shell.administration_words import glyph_of
from tabwb.workbench.shell.column_list import Laid
from tabwb.workbench.shell.columns import TextColumn, in_columns
from tabwb.workbench.shell.drawn import interval_bar, share_bar
from tabwb.workbench.shell.marks import marks
from tabwb.workbench.shell.wording import AMBER, QUIET, folded, sentence

NOT_RECORDED = "-"
GIVEN, WITHDRAWN = "✓", "✗"
SIGNS = f"{GIVEN} consent given, {WITHDRAWN} withdrawn, {NOT_RECORDED} not recorded"
"""What the signs of consents mean."""
SHOWN = 2
"""The number of latest entries shown of a scope; the first one of these decides."""
BAR = 24
"""Columns of a session's interval."""


def signs(participant: Participant) -> str:
    """Return one sign for each scope, in the order of :data:`SCOPES`."""
    last = participant.last
    return " ".join(
        NOT_RECORDED if scope not in last else GIVEN if last[scope].given else WITHDRAWN
        for scope in SCOPES
    )


def listed(participants: Sequence[Participant], width: int) -> Laid:
    """Return head and lines of participants, for a number of columns."""
    recorded = [
        ", ".join(f"{name} {value}" for name, value in one.speaker.values.items())
        for one in participants
    ]
    return in_columns(
        [
            TextColumn("code", [Content.styled(one.id, "bold") for one in participants], least=6),
            TextColumn("sessions", [str(len(one.sessions)) for one in participants], right=True),
            TextColumn(
                "last", [Content.styled(one.last_day, QUIET) for one in participants], rank=1
            ),
            TextColumn("consent", [_brief(one) for one in participants], rank=2, least=12),
            TextColumn("record", [Content.styled(words, QUIET) for words in recorded], rank=3,
                       least=12),
        ],
        width,
    )  # fmt: skip


def _brief(participant: Participant) -> Content:
    given, last = len(participant.may), len(participant.last)
    if not last:
        return Content.styled("! none recorded", AMBER)
    words = f"{GIVEN} {given}/{len(SCOPES)}" if given else f"{WITHDRAWN} withdrawn"
    withdrawn = [scope for scope, one in participant.last.items() if not one.given]
    more = f", {WITHDRAWN} {', '.join(withdrawn)}" if given and withdrawn else ""
    return Content(words + more)


def consents(participant: Participant, width: int) -> Iterator[Content]:
    """Yield one line for each scope: states with days, document, who recorded the last one."""
    last = [participant.last.get(scope) for scope in SCOPES]
    every = {scope: [one for one in participant.consents if one.scope == scope] for scope in SCOPES}
    states = [
        ", ".join(_state(one) for one in reversed(rows[-SHOWN:])) or "not recorded"
        for rows in every.values()
    ]
    head, lines = in_columns(
        [
            TextColumn("", signs(participant).split(" ")),
            TextColumn("scope", [Content.styled(scope, "bold") for scope in SCOPES]),
            TextColumn("state", states),
            TextColumn("signed form", [one.document if one else "" for one in last], rank=2,
                       least=12),
            TextColumn("note", [one.note if one else "" for one in last], rank=3, least=12),
            TextColumn("recorded by", [Content.styled(one.by if one else "", QUIET)
                                       for one in last], rank=4, least=8),
            TextColumn("consent to", [Content.styled(SCOPES[scope], QUIET) for scope in SCOPES],
                       rank=5),
        ],
        width,
    )  # fmt: skip
    yield head
    yield from lines
    earlier = sum(max(len(rows) - SHOWN, 0) for rows in every.values())
    if earlier:
        yield Content.styled(f"{plural(earlier, 'earlier entry', 'earlier entries')}", QUIET)


def _state(consent: Consent) -> str:
    return f"{'given' if consent.given else 'withdrawn'} {consent.on}"


def record(
    participant: Participant, study: Study, read: ParticipantRead | None, width: int
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
    for name, value in speaker.values.items():
        column = columns.get(name)
        unit = f" {column.unit}" if column and column.unit else ""
        title = f"   {column.title}" if column and column.title else ""
        yield Content.assemble(
            (f"{name:<18} ", QUIET), (f"{value}{unit}", "bold"), (title, QUIET)
        ).truncate(width, ellipsis=True)
    if speaker.version:
        words = f"version {speaker.version}, {speaker.recorded_at[:10]}, by {speaker.by}"
        yield from folded(words, width, QUIET)
    else:
        yield from folded("No record: e adds values.", width, QUIET)
    if read is not None:
        kept = counted({name: n for name, n in read.counts.items() if n})
        yield from folded(f"Stored: {kept or 'nothing else'}.", width, QUIET)


def sessions(
    participant: Participant, scored: Mapping[int, ScoredAdministration], width: int
) -> Laid:
    """Return head and lines of the sessions, the latest first, with the share right.

    Args:
        participant: whose.
        scored: the scores, by number of the administration.
        width: columns of characters.
    """
    rows = list(reversed(participant.sessions))
    found = [scored.get(one.id) for one in rows]
    return in_columns(
        [
            TextColumn("", [glyph_of(one) for one in rows]),
            TextColumn("#", [str(one.id) for one in rows], right=True),
            TextColumn("date", [one.session_date or "not known" for one in rows]),
            TextColumn("battery", [one.battery for one in rows], least=8),
            TextColumn("given", [f"{one.answered}/{one.planned}" for one in rows], right=True,
                       rank=2),
            TextColumn("right", [f"{one.right}/{one.scored}" if one and one.scored else ""
                                 for one in found], right=True),
            TextColumn("", [_interval(one) for one in found], rank=3),
            TextColumn("items", [_marks(one) for one in found], rank=4),
        ],
        width,
    )  # fmt: skip


def _interval(scored: ScoredAdministration | None) -> Content:
    if scored is None or scored.share is None:
        return Content("")
    if len(scored.rated) > 1:  # intervals are of subtests
        return share_bar(scored.share, BAR)
    interval = scored.intervals.get(scored.rated[0].title)
    ends = (None, None) if interval is None else (interval.low, interval.high)
    return interval_bar(ends[0], scored.share, ends[1], width=BAR)


def _marks(scored: ScoredAdministration | None) -> Content:
    shown = [one for one in scored.scores.subtests if one.marks] if scored else []
    return Content("   ").join(marks(one, person=True) for one in shown)


def uses(read: ParticipantRead, width: int) -> Iterator[Content]:
    """Yield the log of uses of a participant's data, the latest first."""
    head, lines = in_columns(
        [
            TextColumn("when", [one.at[:16].replace("T", " ") for one in read.uses]),
            TextColumn("what", [one.act for one in read.uses]),
            TextColumn("#", [str(one.administration or "") for one in read.uses], right=True),
            TextColumn("who", [Content.styled(one.who, QUIET) for one in read.uses], least=6),
            TextColumn("detail", [Content.styled(one.detail, QUIET) for one in read.uses], rank=1,
                       least=10),
        ],
        width,
    )  # fmt: skip
    yield head
    yield from lines


def meaning(participant: Participant) -> str:
    """Return what may be done with the participant's data, as a sentence."""
    if not participant.last:
        return sentence("no consent is recorded: c records it, f shows a form to print")
    return sentence(", ".join(participant.may) or "every consent was withdrawn")
