"""Spoken naming as tables: right answers by rule, item by item, codes, cues, sessions over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tabwb.analysis.measures import NAMING_MEASURES
from tabwb.analysis.statistics.naming_agreement import (
    RaterAgreement,
    code_agreements,
    rater_agreements,
)
from tabwb.analysis.tables.said import (
    borrowed_line,
    code_of,
    heard_or_transcribed,
    rater_name,
    score_of,
    transcribed,
    verdict_of,
)
from tabwb.media.terminal import ForWidth, table
from tabwb.media.views.contrasts import sides_table
from tabwb.media.wording import between, chance, plain
from tabwb.records.ratings import rule_of
from tabwb.records.words import NONE, plural
from tabwb.scoring.naming.summary import NamedItem, NamingAccuracy, right_by

if TYPE_CHECKING:
    from tabwb.analysis.statistics.naming import (
        Changed,
        NamedDifference,
        NamedPair,
        NamedSubtest,
    )

BASES = {measure.id: measure.title for measure in NAMING_MEASURES}
BAR = 20
WIDE = 100
"""From so many columns on the latency is shown beside what was heard."""
HEARD = 7
"""So many columns has what was heard at least."""
WORD = 20
"""No word of ours in a cell is longer; a longer ID is broken."""


def naming_views(subtest: NamedSubtest, *, arpabet: bool = False) -> Iterator[RenderableType]:
    """Yield the tables of one naming subtest."""
    yield _accuracy_table(subtest)
    yield ForWidth(partial(_items_table, subtest.items, arpabet=arpabet))
    if legend := _legend(subtest.items):
        yield Padding(Text(legend, style="dim"), (0, 1, 1, 1))
    facts = (*fact_lines(subtest), *_measured_lines(subtest))
    yield Padding(Text("\n".join(facts), style="dim"), (0, 1))
    for title, codes in (
        ("Codes (listener)", subtest.summary.codes),
        ("Proposed codes (draft), items without a listener's", subtest.summary.proposed),
    ):
        if codes:
            yield _codes_table(title, codes)


def _accuracy_table(subtest: NamedSubtest) -> RenderableType:
    first = f"{subtest.title} (rule {subtest.rules.rule})"
    made = table("right", "of", "95 %", "open", first=first)
    for accuracy in subtest.summary.accuracy:
        made.add_row(BASES[accuracy.basis], *_right(accuracy), str(accuracy.open))
    return made


def _right(accuracy: NamingAccuracy) -> tuple[Text, str, str]:
    correct = Text(str(accuracy.correct) if accuracy.n else NONE, style="bold")
    return correct, str(accuracy.n), between(accuracy.interval)


def _items_table(items: Sequence[NamedItem], width: int, *, arpabet: bool) -> RenderableType:
    """Return a row for each item: what was heard or transcribed, its scores, and why."""
    heard = _heard(items)
    latency = width >= WIDE or not heard
    transcripts = [transcribed(item, arpabet=arpabet) for item in items]
    scores, codes = [score_of(item) for item in items], [code_of(item) for item in items]
    gap = 2 if width >= WIDE else 1
    made = Table(box=None, expand=True, pad_edge=False, padding=(0, gap, 0, 0))
    made.add_column("item", overflow="fold", header_style="dim")  # gives way first
    # The width of a column with a ratio is its least.
    if heard:
        made.add_column("heard", ratio=2, width=HEARD, overflow="fold", header_style="dim")
    own = ["transcript", *(said for said in transcripts if not said.startswith("/"))]
    own = own[:1] if arpabet else own
    made.add_column(
        "transcript", ratio=3, width=_widest_word(own), overflow="fold", header_style="dim"
    )
    made.add_column("score", width=_width(["score", *scores], width // 6), overflow="fold",
                    header_style="dim")  # fmt: skip
    for heading in ("any", "first"):
        made.add_column(heading, no_wrap=True, header_style="dim")
    made.add_column("code", width=_width(["code", *codes], width // 5), overflow="fold",
                    header_style="dim")  # fmt: skip
    if latency:
        made.add_column("latency", justify="right", no_wrap=True, header_style="dim")
    for item, transcript, score, code in zip(items, transcripts, scores, codes, strict=True):
        made.add_row(
            item.item,
            *((f"“{item.heard}”" if item.heard else NONE,) if heard else ()),
            transcript,
            score,
            verdict_of(item, "correct-any"),
            verdict_of(item, "correct-first"),
            code,
            *((_seconds(item.latency_s),) if latency else ()),
        )
    return Padding(made, (0, 0, 0, 1))


def _width(cells: Sequence[str], most: int) -> int:
    """Return the columns of characters for texts that wrap, at least their longest word."""
    return max(min(max(map(cell_len, cells)), most), _widest_word(cells))


def _widest_word(cells: Sequence[str]) -> int:
    """Return the length of the longest word; that of an ID may be broken."""
    return min(max(cell_len(word) for cell in cells for word in cell.split()), WORD)


def _heard(items: Sequence[NamedItem]) -> bool:
    return any(item.heard for item in items)


def _seconds(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f} s"


def _legend(items: Sequence[NamedItem]) -> str:
    """Return what the signs in the table of these items mean.

    >>> _legend([NamedItem("a", "dog", "answered", heard="dog", proposed="correct")])
    'in quotes: as a person heard it; a code with ? is proposed by rule'
    """
    signs = (
        (_heard(items), "in quotes: as a person heard it"),
        (any(item.rules for item in items),
         "any, first: the rules on what was heard, else on the transcript"),
        (any(None in item.rules.values() for item in items), "? there: a person must tell"),
        (any(item.proposed and not item.code for item in items),
         "a code with ? is proposed by rule"),
    )  # fmt: skip
    return "; ".join(words for there, words in signs if there)


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


def _codes_table(title: str, codes: Mapping[str, int]) -> RenderableType:
    most = max(codes.values())
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim")
    made.add_column(no_wrap=True)
    made.add_column(justify="right")
    for code, count in codes.items():
        made.add_row(code, Text("━" * round(BAR * count / most), style="cyan"), str(count))
    return Padding(Group(Text(title, style="bold"), made), (1, 0, 0, 1))


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
    if by_tag := subtest.by_tag:
        shares = (
            f"{tag} {share.correct} of {share.n} ({between(share.interval)})"
            for tag, share in by_tag.items()
        )
        yield f"counted as right by tag, with 95 % intervals: {', '.join(shares)}"
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


def sessions_table(sessions: Sequence[tuple[str, str, NamedSubtest]]) -> RenderableType:
    """Return sessions over time, or groups, with bars."""
    made = table("right", "of", "95 %", "latency", first="session")
    for label, day, subtest in sessions:
        accuracy = subtest.summary.accuracy[0]
        bar = "━" * round(BAR * (accuracy.rate or 0))
        name = Text.assemble(f"{label}  {day}  " if day else f"{label}  ", (bar, "cyan"))
        made.add_row(name, *_right(accuracy), _seconds(subtest.summary.latency_median_s))
    return made


MCNEMAR = (
    "gained: wrong in A and right in B; lost: right in A and wrong in B; p: McNemar's exact test, "
    "two-sided; mid-p: with half the chance of the observed split"
)


def naming_difference(difference: NamedDifference, *, everything: bool) -> Iterator[RenderableType]:
    """Yield the views of a subtest that was named aloud: names counted as right, codes, items."""
    headings = ("A right", "B right", "items", "gained", "lost", "p", "mid-p")
    made = table(*headings, first=difference.title)
    for changed in difference.changed:
        made.add_row(*_row(changed))
    yield made
    if left := max((changed.left_out for changed in difference.changed), default=0):
        yield Text(
            f"left out, as a side has no verdict: at most {plural(left, 'item')}", style="dim"
        )
    yield Text(MCNEMAR, style="dim")
    codes = table("A", "B", first="code (a person's, else proposed)")
    first, second = difference.codes
    for code in {**first, **second}:
        codes.add_row(code, str(first.get(code, 0)), str(second.get(code, 0)))
    if codes.row_count:
        yield codes
    pairs = difference.pairs
    shown = [pair for pair in pairs if everything or pair.differs]
    alike = sum(not pair.differs for pair in pairs)
    yield Text(f"{plural(len(pairs), 'item')}, {alike} alike in every respect", style="dim")
    if shown:
        yield _named_items(shown)


def _row(changed: Changed) -> tuple[str | Text, ...]:
    counts = map(str, (changed.first, changed.second, changed.items))
    test = changed.test
    if test is None:
        return BASES[changed.basis], *counts, *(NONE,) * 4
    p = Text(chance(test.p), style="bold")
    return BASES[changed.basis], *counts, str(test.gained), str(test.lost), p, chance(test.mid_p)


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
