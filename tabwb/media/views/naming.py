"""Spoken naming as tables: right answers by rule, item by item, codes; and sentences on these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.analysis.measures import NAMING_MEASURES
from tabwb.analysis.statistics.naming_agreement import (
    RaterAgreement,
    code_agreements,
    rater_agreements,
)
from tabwb.analysis.tables.captioned import Captioned, Footnote
from tabwb.analysis.tables.declared import LIKE, ends, p_value, text, whole
from tabwb.analysis.tables.said import (
    borrowed_line,
    code_of,
    heard_or_transcribed,
    rater_name,
    said_table,
    score_of,
)
from tabwb.media.terminal import sides_table
from tabwb.media.views.typed import captioned_view
from tabwb.media.wording import between, plain
from tabwb.records.ratings import rule_of
from tabwb.records.words import NONE, plural
from tabwb.scoring.naming.summary import NamedItem, right_by
from tabwb.tables.table import records_table

if TYPE_CHECKING:
    from tabwb.analysis.statistics.naming import NamedDifference, NamedPair, NamedSubtest

BASES = {measure.id: measure.title for measure in NAMING_MEASURES}
LESS = ("target", "cues")
"""Columns of what was said that papers have besides."""


class _Told(NamedTuple):
    """What a row is of, by its name."""

    name: str
    of: Any


RIGHT = (
    text("basis", "Names", "what decides whether a name is right, or a tag of items", "name"),
    whole("right", "Right", "right names", lambda one: one.of.correct if one.of.n else None),
    whole("n", "Of", "names with a verdict", "of.n"),
    *ends("right_", LIKE, "of.interval"),
    whole("open", "Open", "names without a verdict", "of.open"),
)
CODES = (
    text("code", "Code", "of responses", "name"),
    whole("given", "Listener", "codes of a listener", lambda one: one.of.codes.get(one.name)),
    whole("proposed", "Proposed (draft)", "by rule, where a listener has none",
          lambda one: one.of.proposed.get(one.name)),
)  # fmt: skip
CHANGED = (
    text("basis", "Names", "what decides whether a name is right", lambda one: BASES[one.basis]),
    whole("first", "A right", "right names of the first side"),
    whole("second", "B right", "right names of the second side"),
    whole("items", "Items", "with one verdict on each side"),
    whole(
        "gained", "Gained", "wrong in A and right in B", lambda one: one.test and one.test.gained
    ),
    whole("lost", "Lost", "right in A and wrong in B", lambda one: one.test and one.test.lost),
    p_value("p", "p", "of McNemar's exact test", lambda one: one.test and one.test.p),
    p_value("mid_p", "mid-p", "of the same test", lambda one: one.test and one.test.mid_p),
)
CODES_OF_SIDES = (
    text("code", "Code", "a person's, else proposed", "name"),
    whole("first", "A", "of the first side", lambda one: one.of[0].get(one.name, 0)),
    whole("second", "B", "of the second side", lambda one: one.of[1].get(one.name, 0)),
)


def naming_tables(subtest: NamedSubtest, *, arpabet: bool = False) -> Iterator[Captioned]:
    """Yield the tables of one naming subtest."""
    summary = subtest.summary
    shares = [_Told(BASES[one.basis], one) for one in summary.accuracy]
    shares[1:1] = [_Told(f"{shares[0].name}: {tag}", one) for tag, one in subtest.by_tag.items()]
    facts = (*fact_lines(subtest), *_measured_lines(subtest))
    yield Captioned(
        records_table("names-right", RIGHT, shares),
        f"{subtest.title} (rule {subtest.rules.rule})",
        tuple(map(Footnote, facts)),
    )
    said = said_table("said", subtest.items, arpabet=arpabet)
    shown = said.select([name for name in said.names if name not in LESS])
    yield Captioned(shown, "", tuple(map(Footnote, said.notes)))
    if codes := dict.fromkeys((*summary.codes, *summary.proposed)):
        rows = [_Told(code, summary) for code in codes]
        yield Captioned(records_table("codes", CODES, rows), "Codes")


def uncoded_line(items: Sequence[NamedItem]) -> str:
    """Return how many errors that a listener scored have no listener's code; empty: none.

    They are in no table of codes: what the rules propose of them stands here.

    >>> item = NamedItem("a", "dog", "answered", score="error", proposed="semantic")
    >>> uncoded_line([item, item])
    '2 errors without a code of the listener; proposed (draft): semantic 2'
    """
    uncoded = [item for item in items if item.score == "error" and not item.code]
    if not uncoded:
        return ""
    proposed = Counter(item.proposed for item in uncoded if item.proposed)
    words = f"{plural(len(uncoded), 'error')} without a code of the listener"
    listed = ", ".join(f"{code} {count}" for code, count in proposed.most_common())
    return f"{words}; proposed (draft): {listed}" if listed else words


def raters_line(items: Sequence[NamedItem], primary: str = "") -> str:
    """Return whose score counts where several people scored; empty where one person did.

    >>> item = NamedItem("a", "dog", "answered", score="right", score_by="person:R1",
    ...                  other_scores=(("person:R2", "error"),))
    >>> raters_line([item])
    '1 item scored by several raters: the score of the first rater counts (R1)'
    >>> raters_line([item], "R1")
    '1 item scored by several raters: the score of the primary rater R1 counts'
    """
    if (rule := rule_of(primary)) is not None:
        scored = [len(item.other_scores) for item in items if item.other_scores]
        n_open = sum(not item.score for item in items if item.other_scores)
        if max(scored, default=0) < 2:
            return ""
        number = plural(sum(n > 1 for n in scored), "item")
        words = f"{number} scored by several raters: the {rule} of their scores counts"
        return f"{words}; {n_open} without one, open" if n_open else words
    several = [item for item in items if item.other_scores]
    if not several:
        return ""
    counting = list(dict.fromkeys(rater_name(item.score_by) for item in several))
    words = f"{plural(len(several), 'item')} scored by several raters: the score of "
    first = "the first rater counts"
    if not primary:
        return f"{words}{first} ({', '.join(counting)})"
    own = rater_name(primary) if ":" in primary else primary
    words += f"the primary rater {own} counts"
    return words if counting == [own] else f"{words}; where {own} has none, {first}"


def agreement_line(pair: RaterAgreement) -> str:
    """Return how far two listeners agree.

    >>> agreement_line(RaterAgreement("person:R1", "person:R2", 3, 2, 0.5, what="code",
    ...                               differences=(("semantic", "formal", 1),)))
    "R1 and R2 code 2 of 3 names alike, Cohen's kappa 0.50; unlike: semantic/formal 1"
    """
    kappa = "undefined: neither varies" if pair.kappa is None else f"{pair.kappa:.2f}"
    if pair.interval is not None:
        kappa += f" (95 % {between(pair.interval)})"
    elif pair.kappa is not None and pair.what == "score":
        kappa += " (no interval: 3 names or fewer are right, or not right, for a listener)"
    alike = f"{pair.agreed} of {plural(pair.n, 'name')} alike"
    words = (
        f"{rater_name(pair.first)} and {rater_name(pair.second)} {pair.what} {alike}"
        f"{' (right or not)' if pair.what == 'score' else ''}, Cohen's kappa {kappa}"
    )
    if not pair.differences:
        return words
    return f"{words}; unlike: {', '.join(f'{a}/{b} {n}' for a, b, n in pair.differences)}"


def fact_lines(subtest: NamedSubtest) -> Iterator[str]:
    """Yield how many items have which status, what scores them, and how far raters agree."""
    summary = subtest.summary
    yield ", ".join(f"{count} {plain(name)}" for name, count in summary.statuses.items())
    if summary.by_listener or summary.by_rule:
        yield (
            f"what counts: {plural(summary.by_listener, 'item')} scored by a listener, "
            f"{summary.by_rule} by the battery's rule"
        )
    for words in (uncoded_line(subtest.items), borrowed_line(summary)):
        if words:
            yield words
    by = Counter(item.transcriber for item in subtest.items if item.transcriber)
    if by:
        names = [f"{name} ({count})" for name, count in by.items()] if len(by) > 1 else by
        yield f"transcribed by {', '.join(names)}"
    corrected = sum(item.score == "self-corrected" for item in subtest.items)
    if corrected and subtest.rules.rule == "correct-first":
        yield (
            f"{corrected} self-corrected: right for the listener, an error by the battery's rule "
            "(correct-first)"
        )
    if raters := raters_line(subtest.items, subtest.primary):
        yield raters
    for pair in (*rater_agreements(subtest.items), *code_agreements(subtest.items)):
        yield agreement_line(pair)


def _measured_lines(subtest: NamedSubtest) -> Iterator[str]:
    summary = subtest.summary
    for cue in summary.cues:
        counts = "counts" if cue.counts else "does not count"
        items = plural(cue.given, "item")
        yield f"{cue.kind} cue ({counts}): {items} cued, {cue.right_after} right after it"
    if summary.latency_median_s is not None:
        answers = plural(summary.latency_n, "right answer")
        yield (
            f"median latency {summary.latency_median_s:.2f} s over {answers}; for description, not "
            "for psychophysics"
        )


MCNEMAR = (
    "gained: wrong in A and right in B; lost: right in A and wrong in B; p: McNemar's exact test, "
    "two-sided; mid-p: with half the chance of the observed split"
)


def naming_difference(difference: NamedDifference, *, everything: bool) -> Iterator[RenderableType]:
    """Yield the views of a subtest that was named aloud: names counted as right, codes, items."""
    notes = [Footnote(MCNEMAR)]
    if left := max((changed.left_out for changed in difference.changed), default=0):
        notes.insert(
            0, Footnote(f"left out, as a side has no verdict: at most {plural(left, 'item')}")
        )
    table = records_table("names-changed", CHANGED, difference.changed)
    yield captioned_view(Captioned(table, difference.title, tuple(notes)))
    first, second = difference.codes
    if codes := [_Told(code, difference.codes) for code in {**first, **second}]:
        yield captioned_view(Captioned(records_table("codes", CODES_OF_SIDES, codes), "Codes"))
    pairs = difference.pairs
    shown = [pair for pair in pairs if everything or pair.differs]
    alike = sum(not pair.differs for pair in pairs)
    yield Text(f"{plural(len(pairs), 'item')}, {alike} alike in every respect", style="dim")
    if shown:
        yield _named_items(shown)


def _named_items(pairs: list[NamedPair]) -> Table:
    made = sides_table()
    for pair in pairs:
        made.add_row(pair.item, _side(pair.first), _side(pair.second))
    return made


def _side(responses: tuple[NamedItem, ...]) -> Text:
    if not responses:
        return Text("not given", style="dim")
    return Text("\n").join(map(_response, responses))


def _response(item: NamedItem) -> Text:
    right = right_by(item, "outcome")
    mark = {True: "✓ ", False: "✗ ", None: "? "}[right] if item.status == "answered" else ""
    facts = (heard_or_transcribed(item), score_of(item), code_of(item))
    return Text.assemble((mark, "bold"), ", ".join(fact for fact in facts if fact != NONE) or NONE)
