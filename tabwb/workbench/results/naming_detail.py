"""One response to a picture: the picture, who says what of it, its sound, its alignment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.analysis.tables.said import SCORES
from tabwb.media.wording import plain
from tabwb.phonology.inventory import to_ipa
from tabwb.records.states import AttemptState
from tabwb.workbench.results.naming_presenter import NamedResponse
from tabwb.workbench.results.presenter import ResponseRow
from tabwb.workbench.shell.columns import short_spec
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.rule_verdicts import verdict_lines
from tabwb.workbench.shell.wording import AMBER, QUIET, folded, seconds

MOST = 100
HIDDEN = "Scores and transcripts of others are shown after your score."


def title_of(row: ResponseRow) -> str:
    """Return the title of the pane of a response: its place, its item and its mark."""
    number, of = row.item.place
    words = row.verdict if row.named is None else _score(row.named)
    mark = f"{MARKS[row.glyph]} {words}".strip()
    return f"{number} of {of}   {row.item.trial.plan.item}   {mark}"


def _score(named: NamedResponse) -> str:
    score = named.item.score
    return SCORES[score] if score else "" if named.item.status == "answered" else named.item.status


def fact_lines(
    row: ResponseRow, rater: str, width: int, *, arpabet: bool = False
) -> Iterator[Content]:
    """Yield the target, and what each person says of the response."""
    width = min(width, MOST)
    named = row.named
    if named is None:
        yield from _text_lines(row, width)
        return
    view = named.naming.view
    forms = ", ".join(_written(form, arpabet) for form in view.item.accepted)
    yield Content.assemble((f"{named.item.target}", "bold"))
    yield from folded(f"accepted {forms}", width, QUIET)
    if named.hidden:
        yield from folded(HIDDEN, width, AMBER)
    facts = (
        *named.by_people,
        *named.facts,
        *_of_trial(row),
        ("rater", f"{rater or 'without an ID'}   R another"),
    )
    column = max((len(name) for name, _ in facts), default=0) + 2
    for name, words in facts:
        first, *rest = folded(words, max(width - column, 12))
        yield Content.assemble((f"{name:<{column}}", QUIET), first)
        yield from (line.pad_left(column) for line in rest)


def _of_trial(row: ResponseRow) -> Iterator[tuple[str, str]]:
    trial = row.item.trial
    if trial.reason:
        yield "reason", trial.reason
    for attempt in trial.attempts:
        if attempt.state is not AttemptState.OK:
            yield f"attempt {attempt.number}", f"{attempt.state.value}: {attempt.error}"
    for note in row.notes:
        yield "note", note


def _text_lines(row: ResponseRow, width: int) -> Iterator[Content]:
    """Yield prompt and answer of an item that was not named."""
    item = row.item
    for name, words in (("sent", item.sent), ("expected", item.expected or "")):
        if words:
            yield Content.styled(name, f"bold {QUIET}")
            yield from folded(words, width)
    attempt = item.attempt
    latency = seconds(attempt.latency_s) if attempt else ""
    yield Content.styled(f"response  {latency}", f"bold {QUIET}")
    yield from folded((attempt.response if attempt else "") or "(no response)", width)
    for name, words in _of_trial(row):
        yield Content.assemble((f"{name}  ", QUIET), words)


def rule_lines(row: ResponseRow, width: int, *, arpabet: bool = False) -> Iterator[Content]:
    """Yield what the rules say with the alignment, further transcripts, and corrections."""
    named, width = row.named, min(width, MOST)
    if named is None:
        yield from _ratings(row, width)
        return
    rules = named.by_rules
    if rules is not None:
        by = short_spec(rules.transcriber)
        title = f"Rules on a draft by {by}" if by else "Rules"
        yield _head("Rules on what was heard" if rules.by_ear else title)
        yield from verdict_lines(rules, width, costs=True, ipa=not arpabet)
    for transcriber, phonemes in named.transcripts:
        said = _written(phonemes, arpabet) if phonemes else "no speech"
        words = f"{short_spec(transcriber)}: {said}"
        yield from folded(f"also transcribed by {words}", width, QUIET)
    if named.corrections:
        yield from (Content(""), _head("Corrections, latest last"))
        for made in named.corrections:
            yield from folded("  ".join(filter(None, made)), width)


def _ratings(row: ResponseRow, width: int) -> Iterator[Content]:
    for rating in row.item.trial.ratings:
        value = rating.status.value if rating.value is None else f"{rating.value:g}"
        words = f"{rating.rater}  {plain(rating.measure)} {value}  {rating.reason}"
        yield from folded(words.rstrip(), width)


def _written(phonemes: Sequence[str], arpabet: bool) -> str:
    return " ".join(phonemes) if arpabet else f"/{to_ipa(phonemes)}/"


def _head(words: str) -> Content:
    return Content.styled(words, f"bold {QUIET}")
