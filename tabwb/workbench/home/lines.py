"""The first page as lines: what is installed, what there is, and what is highlighted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.analysis.differing import Curve, curve_of, differing, facts_name, facts_of
from tabwb.analysis.differing import examinee_names as short_examinees
from tabwb.records.columns import ends_of
from tabwb.records.series import Series
from tabwb.records.trials import Administration
from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import (
    UNFINISHED,
    BatteryEntry,
    Catalogue,
    ModelEntry,
    ScoredAdministration,
    SubtestScore,
)
from tabwb.workbench.shell.columns import Column, Heading, R, laid
from tabwb.workbench.shell.drawn import interval_bar, marks, scale, share_bar, spark
from tabwb.workbench.shell.widgets import content_of
from tabwb.workbench.shell.wording import (
    AMBER,
    QUIET,
    WITHDRAWN,
    conditions_words,
    consent_words,
    folded,
    glyph_of,
    name_of,
    sentence,
    special_words,
    spread,
    state_word,
    status_words,
)

if TYPE_CHECKING:
    from tabwb.administer.participants import Participant


Known = Mapping[int, ScoredAdministration]
"""The scores that were read, by number of the administration."""
BAR = 8
"""Columns of the bar of the share right."""
MOST_SESSIONS = 8
"""The number of latest sessions in a participant's profile."""
NO_BURDEN = "-"
MARKS_INDENT = 2
"""Columns before the marks of an administration, below its line."""
MOST_MARKS = 30
"""With more marks than this there are a number and a bar for each subtest instead."""
LEAST_WORDS = 8
"""Conditions are left out where they have fewer columns."""
SHORT_BAR = 5
"""Columns of such a bar."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """One line under *Continue*: an administration, and what is left to do with it.

    Attributes:
        id: ``17``, or ``judge:17`` where judges are to be asked.
    """

    id: str
    administration: Administration
    words: str


def unfinished(
    administrations: Sequence[Administration], interrupted: Sequence[int], known: Known
) -> list[Unfinished]:
    """Return what can be continued, the latest first."""
    rows = [
        Unfinished(
            str(one.id),
            one,
            "! recording interrupted" if one.id in interrupted else state_word(one),
        )
        for one in administrations
    ]
    for scored in known.values():
        for judge, left in scored.unjudged[:1]:
            number = scored.administration.id
            words = f"judge {judge}: {left} not judged"
            rows.append(Unfinished(f"judge:{number}", scored.administration, words))
    return sorted(rows, key=lambda row: -row.administration.id)


def unfinished_columns(rows: Sequence[Unfinished]) -> Sequence[Column[Unfinished]]:
    """Return the columns of what can be continued."""
    examinees = short_examinees([row.administration.conditions for row in rows])
    names = {row.id: name for row, name in zip(rows, examinees, strict=True)}

    def words(row: Unfinished) -> Content:
        return Content.styled(row.words, AMBER if row.words.startswith("!") else "")

    def given(row: Unfinished) -> Administration:
        return row.administration

    return (
        Column("", lambda row: _sign(row.administration)),
        Column("#", lambda row: str(row.administration.id), right=True),
        Column("battery", lambda row: row.administration.battery, least=8),
        Column("with", lambda row: names[row.id], least=WITH),
        Column("given", lambda row: _progress(row.administration), right=True),
        Column("", words, rank=2),
        *_when(given, 3),
    )


INSET = "  "
"""Before the names of the members of a series."""
WITH = 38
"""So many columns of names are not cut: others are left out before."""
Row = Administration | Series[Administration]


@dataclass(frozen=True, slots=True)
class Recent:
    """The latest administrations: a sweep or a series is one row until it is opened.

    Attributes:
        names: what tells each of those shown from the others, by number.
        curves: of each series the share right and the burden, once all its scores are known.
    """

    rows: Sequence[Row]
    opened: Collection[object]
    names: Mapping[int, str]
    curves: Mapping[object, tuple[Curve, Curve]]

    @classmethod
    def of(cls, found: Sequence[Row], opened: Collection[object], known: Known) -> Recent:
        """Return the rows for what was found."""
        singles = [one for one in found if isinstance(one, Administration)]
        given = [one.conditions for one in singles]
        names = dict(zip((one.id for one in singles), short_examinees(given), strict=True))
        rows: list[Row] = []
        curves: dict[object, tuple[Curve, Curve]] = {}
        for row in found:
            rows.append(row)
            if isinstance(row, Administration):
                continue
            members, scored = row.members, [known.get(one.id) for one in row.members]
            if not all(scored) and row.key not in opened:
                continue
            facts = facts_of([one.conditions for one in members], seeds=True)
            if all(scored):
                shares = [one.share if one else None for one in scored]
                burdens = [_burden_value(one) for one in scored]
                curves[row.key] = (
                    curve_of(members, shares, facts),
                    curve_of(members, burdens, facts),
                )
            if row.key in opened:
                rows += members
                own = differing(facts).own
                names |= {
                    one.id: f"{INSET}{facts_name(own[at]) or one.given_at}"
                    for at, one in enumerate(members)
                }
        return cls(rows, opened, names, curves)


def row_id(row: Row) -> object:
    """Return what tells a row from others: a number, or the key of a series."""
    return str(row.id) if isinstance(row, Administration) else row.key


def recent_columns(known: Known, recent: Recent, *, profiles: bool) -> Sequence[Column[Row]]:
    """Return the columns of the latest administrations."""

    def cell(
        own: Callable[[Administration], Content | str],
        series: Callable[[Series[Administration]], Content | str] = lambda one: "",
    ) -> Callable[[Row], Content | str]:
        return lambda row: own(row) if isinstance(row, Administration) else series(row)

    def line(at: int) -> Callable[[Series[Administration]], Content]:
        return lambda row: curve_line(found[at]) if (found := recent.curves.get(row.key)) else (
            Content.styled("…", QUIET)
        )  # fmt: skip

    def told(row: Administration) -> Content:
        return Content("") if recent.names[row.id].startswith(INSET) else _conditions(row)

    def sign(row: Series[Administration]) -> str:
        return "▾" if row.key in recent.opened else "▸"

    def last(row: Row) -> Administration:
        return row if isinstance(row, Administration) else row.members[0]

    shown: tuple[Column[Row], ...] = (
        Column(
            "conditions", cell(told, lambda row: _along(row, recent)), rank=3, least=16, end=True
        ),
    )
    return (
        Column("", cell(_sign, sign)),
        Column("#", cell(lambda one: str(one.id)), right=True),
        Column("battery", lambda row: last(row).battery, least=7, end=True),
        Column("with", cell(lambda one: recent.names[one.id], lambda row: row.title), least=WITH),
        *(() if profiles else shown),
        Column("given", cell(_progress, _complete), right=True, rank=4),
        Column("right", cell(lambda one: _right(known.get(one.id)), line(0)), right=True),
        Column("", cell(lambda one: _right_bar(known.get(one.id))), rank=6),
        Column("burden", cell(lambda one: _burden(known.get(one.id)), line(1)), right=True, rank=1),
        *_when(last, 2),
    )


LINE = 10
"""Columns of the small line of a series."""


def curve_line(curve: Curve) -> Content:
    """Return a small line of a curve, from 0 to its highest value or to 1."""
    known = [value for value in curve.values if value is not None]
    return spark(curve.values, LINE, highest=max([*known, 1.0])) if known else Content(NO_BURDEN)


def _along(row: Series[Administration], recent: Recent) -> Content:
    found = recent.curves.get(row.key)
    return Content.styled(found[0].words if found else "", QUIET)


def _complete(row: Series[Administration]) -> str:
    return f"{sum(one.status not in UNFINISHED for one in row.members)}/{len(row.members)}"


def profile_line(known: Known, recent: Recent, row: Row, width: int) -> Content:
    """Return the line below an administration: a mark for each item, then the conditions."""
    if isinstance(row, Administration):
        return _profile(known.get(row.id), _conditions(row), width)
    return Content.assemble(" " * MARKS_INDENT, _along(row, recent)).truncate(width)


def series_details(row: Series[Administration], recent: Recent, width: int) -> Iterator[Content]:
    """Yield what the members of a series have in common, in what they differ, and their curves."""
    split = differing(facts_of([one.conditions for one in row.members], seeds=True))
    yield from folded(row.title, width, "bold")
    yield Content.styled(f"{_complete(row)} complete. Enter shows or hides them.", QUIET)
    yield Content("")
    for title, curve in zip(("right", "burden"), recent.curves.get(row.key, ()), strict=False):
        known = [value for value in curve.values if value is not None]
        ends = "-".join(ends_of(min(known), max(known), 2)) if known else ""
        line = Content.assemble(curve_line(curve), f"  {title} {ends}  ", (curve.words, QUIET))
        yield line.truncate(width, ellipsis=True)
    yield Content("")
    if split.keys:
        yield from folded(f"They differ in {', '.join(split.keys)}.", width)
    yield from folded(f"All: {facts_name(split.common)}", width, QUIET)


def _conditions(administration: Administration) -> Content:
    return Content.styled(", ".join(special_words(administration)), QUIET)


def participant_columns(known: Known) -> Sequence[Column[Participant]]:
    """Return the columns of participants."""
    return (
        Column("", _consent_sign),
        Column("code", lambda one: Content.styled(one.id, "bold"), least=6),
        Column("sessions", lambda one: str(len(one.sessions)), right=True),
        Column("right", lambda one: sessions_profile(one, known)),
        Column("", lambda one: _latest_right(one, known), rank=2),
        Column("last", lambda one: Content.styled(one.last_day, QUIET), rank=1),
        Column("consents", _consents, rank=3, least=8),
    )


def sessions_profile(participant: Participant, known: Known) -> Content:
    """Return a small profile of the shares right of the latest sessions."""
    latest = participant.sessions[-MOST_SESSIONS:]
    scored = [known.get(one.id) for one in latest]
    shares = [one.share if one else None for one in scored]
    return spark(shares, MOST_SESSIONS, highest=1.0) if any(scored) else Content("")


def _latest_right(participant: Participant, known: Known) -> str:
    scored = known.get(participant.sessions[-1].id) if participant.sessions else None
    return _right(scored)


def _consents(participant: Participant) -> Content:
    words = consent_words(participant) if participant.last else "none recorded"
    return Content.styled(words, QUIET)


def _consent_sign(participant: Participant) -> Content:
    if participant.may:
        return Content("✓")
    return Content(WITHDRAWN) if participant.last else Content.styled("!", AMBER)


CONSENT_SIGNS = f"✓ consents, {WITHDRAWN} withdrew every consent, ! no consent recorded"
"""What the signs before participants mean."""
STATE_SIGNS = (
    "▸ running, ‖ paused, ✓ complete, ■ discontinued, ! interrupted. Items: ✓ right, ✗ wrong, "
    "● given, · not given, › skipped, ∅ void, ! in error. Right: of the responses that were "
    "scored. Burden: features present per response, by the first judge."
)
"""What the signs and columns of administrations mean."""


def _when(of: Callable[[R], Administration], rank: int) -> tuple[Column[R], Column[R]]:
    """Return the columns of day and minute; the minute is left out first."""
    return (
        Column("date", lambda row: Content.styled(_day_minute(of(row))[0], QUIET), rank=rank),
        Column("", lambda row: Content.styled(_day_minute(of(row))[1], QUIET), rank=rank + 3),
    )


def _day_minute(administration: Administration) -> tuple[str, str]:
    """Return day and minute for two columns; the minute is empty where only the day is known.

    >>> from tabwb.records.conditions import Conditions
    >>> from tabwb.records.states import AdministrationStatus
    >>> one = Administration(3, "", AdministrationStatus.DONE, "naming-demo", "1", "", "",
    ...                      Conditions("S-020", "speaker", session_date=""), "", 6, 6)
    >>> _day_minute(one)
    ('not known', '')
    """
    day = administration.session_date
    return (day, administration.given_at[11:16]) if day else ("not known", "")


def _progress(administration: Administration) -> str:
    return f"{administration.answered}/{administration.planned}"


def _sign(administration: Administration) -> Content:
    amber = administration.interrupted
    return Content.styled(glyph_of(administration), AMBER if amber else "")


def _right(scored: ScoredAdministration | None) -> str:
    if scored is None:
        return ""
    return f"{scored.right}/{scored.scored}" if scored.scored else "-"


def _right_bar(scored: ScoredAdministration | None) -> Content:
    share = scored.share if scored else None
    return Content("") if share is None else share_bar(share, BAR)


def _burden_value(scored: ScoredAdministration | None) -> float | None:
    judges = scored.scores.judges if scored else ()
    return judges[0].burden.symptom_burden.value if judges else None


def _burden(scored: ScoredAdministration | None) -> str:
    from tabwb.media.wording import number  # not before the first frame

    if scored is None:
        return ""
    judges = scored.scores.judges
    return number(judges[0].burden.symptom_burden) if judges else NO_BURDEN


def _profile(scored: ScoredAdministration | None, words: Content, width: int) -> Content:
    """Return one mark for each item at the left and, where there is room, words at the right."""
    indent = Content(" " * MARKS_INDENT)
    line = indent
    if scored is not None:
        shown = [one for one in scored.scores.subtests if one.given]
        few = sum(len(one.marks) for one in shown) <= MOST_MARKS
        for bar in (SHORT_BAR, 0):
            parts = [_short_marks(one, scored.scores.person, few, bar) for one in shown]
            line = Content.assemble(indent, Content("  ").join(parts))
            if line.cell_length <= width:
                break
        line = line.truncate(width, ellipsis=True)
    room = width - line.cell_length - 2
    if room < LEAST_WORDS:
        return line
    return spread(line, Content.styled(_beginning(words.plain, room), QUIET), width)


def _beginning(words: str, room: int) -> str:
    """Return the words, or as many of their parts as fit.

    >>> _beginning("temperature 0.8, 3 replicates, seed 3", 33)
    'temperature 0.8, 3 replicates, …'
    """
    shown = words
    while len(shown) > room and (words := words.rpartition(", ")[0]):
        shown = f"{words}, …"
    return shown if len(shown) <= room else ""


def _short_marks(subtest: SubtestScore, person: bool, few: bool, width: int) -> Content:
    if few and subtest.marks:
        spaced = marks(subtest, person=person)
        shown = Content("").join(spaced[at] for at in range(0, len(spaced), 2))
    elif subtest.right is None or not subtest.scored:
        shown = Content(f"{subtest.given} given")
    else:
        bar = share_bar(subtest.right / subtest.scored, width) if width else Content("")
        shown = Content.assemble(f"{subtest.right}/{subtest.scored} ", bar).rstrip()
    return Content.assemble((f"{subtest.short} ", QUIET), shown)


KINDS = {"model": "models", "speaker": "people"}
"""How the kinds of examinees are named."""


def installed_lines(catalogue: Catalogue, width: int) -> Iterator[Content]:
    """Yield the batteries with their items, and the models, a line for each."""
    batteries: Sequence[Column[BatteryEntry]] = (
        Column("", lambda one: Content.styled(one.id, "bold"), least=8),
        Column("", lambda one: plural(one.n_items, "item"), right=True),
        Column("", _for_whom, rank=2),
        Column("", lambda one: _quiet(one.problem or one.title), least=12, rank=1),
    )
    models: Sequence[Column[ModelEntry]] = (
        Column("", lambda one: Content.styled(one.shape, "bold"), least=12),
        Column("", lambda one: _quiet(one.note), least=12, rank=1),
    )
    yield Content.styled("BATTERIES", f"bold {QUIET}")
    yield from laid(batteries, catalogue.batteries, width)[1:]
    yield Content("")
    yield Content.styled("MODELS", f"bold {QUIET}")
    yield from laid(models, catalogue.models, width)[1:]


def _for_whom(battery: BatteryEntry) -> str:
    kinds = [words for kind, words in KINDS.items() if kind in battery.examinees]
    return f"for {' and '.join(kinds)}" if kinds else ""


def _quiet(words: str) -> Content:
    return Content.styled(words, QUIET)


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
        yield from folded(f"{name}: not judged yet: {plural(left, 'response')}", width, QUIET)


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
