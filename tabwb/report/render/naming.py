"""Spoken naming as tables: right answers by rule, item by item, codes, cues, sessions over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tabwb.phonology.inventory import SILENT, to_ipa
from tabwb.records.words import plural
from tabwb.report.measures import NAMING_MEASURES, NONE
from tabwb.report.render.printing import ForWidth, table
from tabwb.report.render.wording import between, plain
from tabwb.report.summaries.naming import NamedSubtest
from tabwb.scoring.naming.summary import NamedItem

BASES = {measure.id: measure.title for measure in NAMING_MEASURES}
SCORES: Mapping[str, str] = {
    "right": "right",
    "self-corrected": "self-corrected",
    "error": "error",
    "no-response": "no response",
    "not-scorable": "cannot be scored",
}
"""What a person says of a response, in the words of the keys that say it."""
BAR = 20
WIDE = 100
"""From so many columns on the latency is shown beside what was heard."""


def naming_views(
    subtest: NamedSubtest, *, arpabet: bool = False, items: bool = True
) -> Iterator[RenderableType]:
    """Yield the tables of one naming subtest.

    Args:
        subtest: the one to show.
        arpabet: show phonemes in ARPAbet instead of IPA.
        items: show a row for each item too.
    """
    yield accuracy_table(subtest)
    if items:
        yield ForWidth(partial(items_table, subtest.items, arpabet=arpabet))
        if legend := legend_of(subtest.items):
            yield Padding(Text(legend, style="dim"), (0, 1, 1, 1))
    yield Padding(Text(facts_of(subtest), style="dim"), (0, 1))
    for title, codes in (
        ("Codes (listener)", subtest.summary.codes),
        ("Proposed codes (draft), items without a listener's", subtest.summary.proposed),
    ):
        if codes:
            yield codes_table(title, codes)


def accuracy_table(subtest: NamedSubtest) -> RenderableType:
    """Return the right answers by each basis; the rule of the battery is named."""
    made = table(
        "right", "of", "95 % exact", "open", first=f"{subtest.title} (rule {subtest.rules.rule})"
    )
    for one in subtest.summary.accuracy:
        made.add_row(
            BASES[one.basis],
            Text(str(one.correct) if one.n else NONE, style="bold"),
            str(one.n),
            between(one.interval) if one.interval is not None else NONE,
            str(one.open),
        )
    return made


def items_table(
    items: Sequence[NamedItem], width: int = WIDE, *, arpabet: bool = False
) -> RenderableType:
    """Return a row for each item: the response, its scores, and why.

    What a person heard is shown beside the transcript; the rules use it where there is such a word.

    Args:
        items: in order.
        width: columns of characters; the latency is left out where a word was heard and there are
            fewer than :data:`WIDE`.
        arpabet: show phonemes in ARPAbet instead of IPA.
    """
    heard = _heard(items)
    latency = width >= WIDE or not heard
    made = Table(box=None, expand=True, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column("item", no_wrap=True, header_style="dim")
    if heard:
        made.add_column("heard", ratio=2, overflow="fold", header_style="dim")
    made.add_column("transcript", ratio=3, overflow="fold", header_style="dim")
    several = any(one.other_scores for one in items)
    made.add_column("score", no_wrap=not several, overflow="fold", header_style="dim")
    for heading in ("any", "first"):
        made.add_column(heading, no_wrap=True, header_style="dim")
    made.add_column("code", ratio=4, overflow="fold", header_style="dim")
    if latency:
        made.add_column("latency", justify="right", no_wrap=True, header_style="dim")
    for one in items:
        made.add_row(
            one.item,
            *((f"“{one.heard}”" if one.heard else NONE,) if heard else ()),
            transcribed(one, arpabet=arpabet),
            score_of(one),
            verdict_of(one, "correct-any"),
            verdict_of(one, "correct-first"),
            code_of(one),
            *((NONE if one.latency_s is None else f"{one.latency_s:.2f} s",) if latency else ()),
        )
    return Padding(made, (0, 0, 0, 1))


def _heard(items: Sequence[NamedItem]) -> bool:
    return any(one.heard for one in items)


def legend_of(items: Sequence[NamedItem]) -> str:
    """Return what the signs in the table of these items mean.

    >>> legend_of([NamedItem("a", "dog", "answered", heard="dog", proposed="correct")])
    'in quotes: as a person heard it; a code with ? is proposed by rule'
    """
    open_ = any(value is None for one in items for value in one.rules.values())
    signs = (
        (_heard(items), "in quotes: as a person heard it"),
        (any(one.rules for one in items),
         "any, first: the rules on what was heard, else on the transcript"),
        (open_, "? there: a person must tell"),
        (any(one.proposed and not one.code for one in items), "a code with ? is proposed by rule"),
    )  # fmt: skip
    return "; ".join(words for there, words in signs if there)


def heard_or_transcribed(one: NamedItem, *, arpabet: bool = False) -> str:
    """Return what was heard, in quotation marks, else what was transcribed.

    Args:
        one: the response.
        arpabet: show phonemes in ARPAbet instead of IPA.

    >>> heard_or_transcribed(NamedItem("a", "dog", "answered", heard="dog"))
    '“dog”'
    """
    return f"“{one.heard}”" if one.heard else transcribed(one, arpabet=arpabet)


def transcribed(one: NamedItem, *, arpabet: bool = False) -> str:
    """Return what was transcribed, in IPA or ARPAbet; a dash where nobody transcribed.

    Args:
        one: the response.
        arpabet: show phonemes in ARPAbet instead of IPA.

    >>> dog = NamedItem("a", "dog", "answered", phonemes=("K", "AE", "<sil>", "D", "AO", "G"))
    >>> transcribed(dog), transcribed(dog, arpabet=True)
    ('/kæ dɔɡ/', 'K AE <sil> D AO G')

    >>> transcribed(NamedItem("a", "dog", "answered", transcriber="manual:a.tsv"))
    'no speech'
    >>> noise = NamedItem("a", "dog", "answered", phonemes=("<spn>",), transcriber="manual:a.tsv")
    >>> transcribed(noise)
    'unintelligible'
    >>> transcribed(NamedItem("a", "dog", "answered"))
    '-'
    """
    if one.transcriber and all(each in SILENT for each in one.phonemes):
        return "no speech" if all(each == SILENT[0] for each in one.phonemes) else "unintelligible"
    if arpabet or not one.phonemes:
        return " ".join(one.phonemes) or NONE
    parts = [
        to_ipa(group) for silent, group in groupby(one.phonemes, SILENT.__contains__) if not silent
    ]
    return f"/{' '.join(parts)}/"


def score_of(one: NamedItem) -> str:
    """Return a person's score, or the status of the item.

    >>> score_of(NamedItem("a", "dog", "answered", person=True))
    'right'
    >>> score_of(NamedItem("a", "dog", "answered", person=False, score="no-response"))
    'no response'
    >>> score_of(NamedItem("a", "dog", "void"))
    'void'
    """
    if one.status in {"answered", "not-scorable"} and one.score:
        said = SCORES[one.score]
        if not one.other_scores:
            return said
        others = ", ".join(f"{rater_of(by)} {SCORES[each]}" for by, each in one.other_scores)
        return f"{said} ({rater_of(one.score_by)}; {others})"
    if one.status != "answered":
        return plain(one.status)
    if one.person is None:
        return NONE
    return "right" if one.person else "not right"


def rater_of(by: str) -> str:
    """Return a rater's ID for people.

    >>> rater_of("person:R1"), rater_of("person")
    ('R1', 'rater without an ID')
    """
    return by.partition(":")[2] or "rater without an ID"


def raters_line(items: Sequence[NamedItem], primary: str = "") -> str:
    """Return whose score counts where several people scored; empty where one person did.

    Args:
        items: all of the subtest.
        primary: the rater whose scores count; empty: whoever scored first.

    >>> one = NamedItem("a", "dog", "answered", score="right", score_by="person:R1",
    ...                 other_scores=(("person:R2", "error"),))
    >>> raters_line([one])
    '1 item scored by several raters: the score of whoever scored first counts (R1)'
    >>> raters_line([one], "R1")
    '1 item scored by several raters: the score of the primary rater R1 counts'
    """
    several = [one for one in items if one.other_scores]
    if not several:
        return ""
    counting = list(dict.fromkeys(rater_of(one.score_by) for one in several))
    said = f"{plural(len(several), 'item')} scored by several raters: the score of "
    first = "whoever scored first counts"
    if not primary:
        return f"{said}{first} ({', '.join(counting)})"
    own = rater_of(primary) if ":" in primary else primary
    if counting == [own]:
        return f"{said}the primary rater {own} counts"
    return f"{said}the primary rater {own} counts; where {own} has none, {first}"


def verdict_of(one: NamedItem, rule: str) -> str:
    """Return the sign for a rule's verdict: right, wrong, or that a person must decide.

    Args:
        one: the response.
        rule: ``correct-any`` or ``correct-first``.

    >>> verdict_of(NamedItem("a", "dog", "answered", rules={"correct-any": True}), "correct-any")
    '✓'
    """
    return {True: "✓", False: "✗", None: "?"}[one.rules[rule]] if rule in one.rules else NONE


def code_of(one: NamedItem) -> str:
    """Return a listener's code, else the proposed one with a question mark, and the flags."""
    code = one.code or (f"{one.proposed}?" if one.proposed else "")
    return ", ".join(filter(None, (code, *one.flags))) or NONE


def codes_table(title: str, codes: Mapping[str, int]) -> RenderableType:
    """Return a code profile as bars.

    Args:
        title: above them.
        codes: code to number of items.
    """
    most = max(codes.values())
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim")
    made.add_column(no_wrap=True)
    made.add_column(justify="right")
    for code, count in codes.items():
        full = round(BAR * count / most)
        made.add_row(code, Text("━" * full, style="cyan"), str(count))
    return Padding(_titled(title, made), (1, 0, 0, 1))


def facts_of(subtest: NamedSubtest) -> str:
    """Return lines on statuses, raters, self-corrections, cues and latency."""
    summary = subtest.summary
    lines = [", ".join(f"{plain(name)} {count}" for name, count in summary.statuses.items())]
    if summary.by_listener or summary.by_rule:
        lines.append(
            f"Battery rule: {plural(summary.by_listener, 'item')} scored by a listener, "
            f"{summary.by_rule} by rule"
        )
    by = Counter(one.transcriber for one in subtest.items if one.transcriber)
    if by:
        lines.append(f"transcribed by {', '.join(_with_count(*each, by) for each in by.items())}")
    corrected = sum(one.score == "self-corrected" for one in subtest.items)
    if corrected and subtest.rules.rule == "correct-first":
        lines.append(
            f"{corrected} self-corrected: right for the listener, an error by the battery's rule "
            "(correct-first)"
        )
    if said := raters_line(subtest.items, subtest.primary):
        lines.append(said)
    for cue in summary.cues:
        counts = "counts" if cue.counts else "does not count"
        said = f"{plural(cue.given, 'item')} cued, {cue.right_after} right after it"
        lines.append(f"{cue.kind} cue ({counts}): {said}")
    if summary.latency_median_s is not None:
        of = plural(summary.latency_n, "right answer")
        lines.append(
            f"median latency {summary.latency_median_s:.2f} s over {of}; for description, not for "
            "psychophysics"
        )
    return "\n".join(lines)


def _with_count(transcriber: str, count: int, of: Mapping[str, int]) -> str:
    return transcriber if len(of) == 1 else f"{transcriber} ({count})"


def sessions_table(sessions: Sequence[tuple[str, str, NamedSubtest]]) -> RenderableType:
    """Return sessions over time: (label, day, subtest), oldest first, with bars."""
    made = table("right", "of", "95 % exact", "latency", first="session")
    for label, day, subtest in sessions:
        one = subtest.summary.accuracy[0]
        full = 0 if one.rate is None else round(BAR * one.rate)
        latency = subtest.summary.latency_median_s
        made.add_row(
            Text.assemble(f"{label}  {day}  ", ("━" * full, "cyan")),
            Text(str(one.correct) if one.n else NONE, style="bold"),
            str(one.n),
            between(one.interval) if one.interval is not None else NONE,
            NONE if latency is None else f"{latency:.2f} s",
        )
    return made


def _titled(title: str, made: Table) -> Table:
    whole = Table.grid()
    whole.add_row(Text(title, style="bold"))
    whole.add_row(made)
    return whole
