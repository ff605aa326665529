"""What the first page says of the highlighted administration or participant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.records.trials import Administration
from tabwb.workbench.engine.view_models import (
    UNFINISHED,
    ScoredAdministration,
    SubtestScore,
)
from tabwb.workbench.home.lines import Known, sessions_profile
from tabwb.workbench.shell.columns import Column, Heading, laid
from tabwb.workbench.shell.drawn import interval_bar, marks, scale
from tabwb.workbench.shell.widgets import content_of
from tabwb.workbench.shell.wording import (
    AMBER,
    QUIET,
    WITHDRAWN,
    conditions_words,
    folded,
    name_of,
    sentence,
    special_words,
    spread,
    status_words,
)

if TYPE_CHECKING:
    from tabwb.administer.participants import Participant

MOST_PRESENT = 8
"""The number of features listed that are present."""


def administration_details(
    administration: Administration, scored: ScoredAdministration | None, width: int
) -> Iterator[Content]:
    """Yield name, conditions and scores of an administration."""
    yield from folded(name_of(administration), width, "bold")
    yield spread(
        Content(status_words(administration)),
        Content.styled(administration.given_at, QUIET),
        width,
    )
    words = special_words(administration) or conditions_words(administration)
    yield from folded(", ".join(words), width, QUIET)
    if administration.reason:
        yield from folded(administration.reason, width, QUIET)
    if administration.status in UNFINISHED:
        yield from folded("Enter continues it. Answered items are not given again.", width, QUIET)
    yield Content("")
    if scored is None:
        yield Content.styled("… reading the scores", QUIET)
        return
    if scored.problem:
        yield from folded(f"The scores cannot be read: {scored.problem}", width, AMBER)
        return
    yield from _subtests(scored, width)
    yield from _burdens(scored, width)


def _subtests(scored: ScoredAdministration, width: int) -> Iterator[Content]:
    given = [one for one in scored.scores.subtests if one.given]
    if not given:
        yield Content.styled("No item was given yet.", QUIET)
        return
    rows: list[SubtestScore | Heading] = []
    for one in given:
        rows.append(one)
        if one.marks:
            drawn = marks(one, person=scored.scores.person)
            rows.append(Heading(Content.assemble("  ", drawn)))
    rated = any(one.right is not None for one in given)
    columns: Sequence[Column[SubtestScore]] = (
        Column("", lambda one: one.title, least=8, end=True),
        Column("right" if rated else "", _count, right=True),
        Column(scale if rated else "", partial(_bar, scored), grow=(8, 60), rank=1),
    )
    yield from laid(columns, rows, width)[0 if rated else 1 :]
    yield Content("")


def _count(subtest: SubtestScore) -> str:
    if subtest.right is None:
        return f"{subtest.given} given"
    return f"{subtest.right}/{subtest.scored}"


def _bar(scored: ScoredAdministration, subtest: SubtestScore, width: int) -> Content:
    if subtest.right is None or not subtest.scored:
        return Content("")
    interval = scored.intervals.get(subtest.title)
    ends = (None, None) if interval is None else (interval.low, interval.high)
    return interval_bar(ends[0], subtest.right / subtest.scored, ends[1], width=width)


def _burdens(scored: ScoredAdministration, width: int) -> Iterator[Content]:
    from tabwb.media.views.administration import burden_view  # not before the first frame

    titles = scored.scores.titles
    for judge in scored.scores.judges:
        yield Content.styled("FEATURES", f"bold {QUIET}")
        yield content_of(burden_view(judge, titles), width)
        present = Counter({one: n for one, n in judge.burden.present.items() if n})
        if present:
            yield Content("")
            head = f"FEATURES PRESENT (of {judge.burden.n_burden} responses)"
            yield Content.styled(head, f"bold {QUIET}")
        for feature, count in present.most_common(MOST_PRESENT):
            yield spread(Content(titles.get(feature, feature)), Content(str(count)), width)
        if judge.caution:
            yield Content("")
            yield from folded(sentence(judge.caution), width, QUIET)
        yield Content("")
    for name, left in scored.unjudged:
        yield from folded(f"{name}: {left} responses are not judged yet", width, QUIET)


def participant_details(participant: Participant, known: Known, width: int) -> Iterator[Content]:
    """Yield record, consents and sessions of a participant."""
    yield Content.styled(participant.id, "bold")
    values = participant.speaker.values
    words = ", ".join(f"{name} {value}" for name, value in values.items())
    yield from folded(words or "no record", width, QUIET)
    yield Content("")
    yield Content.styled("CONSENT", f"bold {QUIET}")
    last = participant.last
    from tabwb.records.speakers import SCOPES  # not before the first frame

    for scope in SCOPES:
        consent = last.get(scope)
        if consent is None:
            yield spread(Content(f"- {scope}"), Content.styled("not recorded", QUIET), width)
            continue
        sign, word = ("✓", "given") if consent.given else (WITHDRAWN, "withdrawn")
        when = Content.styled(f"{word} {consent.on}", QUIET)
        yield spread(Content(f"{sign} {scope}"), when, width)
    yield Content("")
    yield Content.assemble(
        ("SESSIONS", f"bold {QUIET}"), "   ", sessions_profile(participant, known)
    )
    for one in reversed(participant.sessions):
        scored = known.get(one.id)
        right = f"{scored.right}/{scored.scored} right" if scored and scored.scored else ""
        day = one.session_date or "no date"
        yield spread(Content(f"{day}  #{one.id} {one.battery}"), Content(right), width)
    if not participant.sessions:
        yield Content.styled("none yet", QUIET)
