"""What was said to each picture, and what is said of it: words for tables, and the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from tabwb.phonology.inventory import SILENT, to_ipa
from tabwb.records.ratings import is_derived
from tabwb.records.words import NONE, plural
from tabwb.scoring.naming.summary import NamedItem, NamingSummary

if TYPE_CHECKING:
    from tabwb.tables.table import Table

SCORES: Mapping[str, str] = {
    "right": "right",
    "self-corrected": "self-corrected",
    "error": "error",
    "no-response": "no response",
    "not-scorable": "cannot be scored",
}
"""What a person says of a response, in the words of the keys that say it."""


def heard_or_transcribed(item: NamedItem, *, arpabet: bool = False) -> str:
    """Return what was heard, in quotation marks, else what was transcribed.

    >>> heard_or_transcribed(NamedItem("a", "dog", "answered", heard="dog"))
    '“dog”'
    >>> heard_or_transcribed(NamedItem("a", "dog", "void"))
    '-'
    """
    return f"“{item.heard}”" if item.heard else transcribed(item, arpabet=arpabet)


def transcribed(item: NamedItem, *, arpabet: bool) -> str:
    """Return what was transcribed, in IPA or ARPAbet; a dash where nobody transcribed.

    >>> dog = NamedItem("a", "dog", "answered", phonemes=("K", "AE", "<sil>", "D", "AO", "G"))
    >>> transcribed(dog, arpabet=False), transcribed(dog, arpabet=True)
    ('/kæ dɔɡ/', 'K AE <sil> D AO G')

    >>> transcribed(NamedItem("a", "dog", "answered", transcriber="manual:a.tsv"), arpabet=False)
    'no speech'
    >>> noise = NamedItem("a", "dog", "answered", phonemes=("<spn>",), transcriber="manual:a.tsv")
    >>> transcribed(noise, arpabet=False)
    'unintelligible'
    """
    if item.transcriber and set(item.phonemes) <= set(SILENT):
        return "no speech" if set(item.phonemes) <= {SILENT[0]} else "unintelligible"
    if arpabet or not item.phonemes:
        return " ".join(item.phonemes) or NONE
    parts = [
        to_ipa(group) for silent, group in groupby(item.phonemes, SILENT.__contains__) if not silent
    ]
    return f"/{' '.join(parts)}/"


def score_of(item: NamedItem) -> str:
    """Return a person's score, or the status of the item.

    >>> score_of(NamedItem("a", "dog", "answered", person=True))
    'right'
    >>> score_of(NamedItem("a", "dog", "answered", person=False, score="no-response"))
    'no response'
    >>> score_of(NamedItem("a", "dog", "void"))
    'void'
    """
    if item.status in {"answered", "not-scorable"} and (item.score or item.other_scores):
        words = SCORES[item.score] if item.score else "open"
        several = len(item.other_scores) > is_derived(item.score_by)
        if item.score and not several:
            return words
        others = ", ".join(f"{rater_name(by)} {SCORES[score]}" for by, score in item.other_scores)
        if not item.score:
            return f"{words} ({others})"
        return f"{words} ({rater_name(item.score_by)}; {others})"
    if item.status != "answered":
        return item.status.replace("-", " ")
    return {True: "right", False: "not right", None: NONE}[item.person]


def rater_name(by: str) -> str:
    """Return a rater's ID, or the rule, for people.

    >>> rater_name("person:R1"), rater_name("person"), rater_name("majority")
    ('R1', 'rater without an ID', 'majority')
    """
    if is_derived(by):
        return by
    return by.partition(":")[2] or "rater without an ID"


def verdict_of(item: NamedItem, rule: str) -> str:
    """Return the sign for a rule's verdict: right, wrong, or that a person must decide.

    >>> verdict_of(NamedItem("a", "dog", "answered", rules={"correct-any": True}), "correct-any")
    '✓'
    """
    return {True: "✓", False: "✗", None: "?"}[item.rules[rule]] if rule in item.rules else NONE


def code_of(item: NamedItem) -> str:
    """Return a listener's code, else the proposed one with a question mark, and the flags.

    >>> code_of(NamedItem("a", "dog", "answered", code="semantic", code_by="person:R2",
    ...                   code_source="borrowed"))
    'semantic (borrowed: R2)'
    """
    code = item.code or (f"{item.proposed}?" if item.proposed else "")
    if item.code_source == "borrowed":
        code = f"{code} (borrowed: {rater_name(item.code_by)})"
    return ", ".join(filter(None, (code, *item.flags))) or NONE


def borrowed_line(summary: NamingSummary) -> str:
    """Return how many codes of a profile are borrowed; empty: none.

    >>> from tabwb.scoring.naming.summary import summarise
    >>> borrowed_line(summarise([NamedItem("a", "dog", "answered", code="semantic",
    ...                                    code_source="borrowed")]))
    '1 of 1 code is borrowed: whoever gave it is not the rater whose score counts'
    """
    n, total = summary.borrowed, sum(summary.codes.values())
    if not n:
        return ""
    is_one = n == 1
    return (
        f"{n} of {plural(total, 'code')} {'is' if is_one else 'are'} borrowed: whoever gave "
        f"{'it' if is_one else 'them'} is not the rater whose score counts"
    )


def said_table(name: str, items: Sequence[NamedItem], *, arpabet: bool = False) -> Table:
    """Return a row for each item: what was said, its score and code, cues and latency.

    Columns without any value are left out.
    """
    # The words of this module are shown where no table is, and where numpy is not imported.
    from tabwb.analysis.tables.declared import number, text
    from tabwb.tables.table import records_table

    def known(words: Callable[[NamedItem], str]) -> Callable[[NamedItem], str | None]:
        return lambda item: None if (said := words(item)) == NONE else said

    columns = (
        text("item", "Item", "id of the item"),
        text("target", "Target", "the name asked for"),
        text("heard", "Heard", "as a person heard it",
             lambda item: f"“{item.heard}”" if item.heard else None),
        text("transcript", "Transcript", "as transcribed",
             known(lambda item: transcribed(item, arpabet=arpabet))),
        text("score", "Score", "a listener's score, or the status of the item", known(score_of)),
        *(text(rule, rule.capitalize(), f"whether the rule correct-{rule} calls it right",
               known(partial(verdict_of, rule=f"correct-{rule}"))) for rule in ("any", "first")),
        text("code", "Code", "a listener's code, or with ? the one that the rules propose; flags",
             known(code_of)),
        text("cues", "Cues", "cues that were given, in order", known(_cues)),
        number("latency", "Latency", "from the picture to the onset of speech, seconds",
               "latency_s", unit="s"),
    )  # fmt: skip
    made = [one for one in columns if any(one.value(item) is not None for item in items)]
    return records_table(name, made, items, list(filter(None, [_legend(items)])))


def _legend(items: Sequence[NamedItem]) -> str:
    """Return what the signs in the table of these items mean.

    >>> _legend([NamedItem("a", "dog", "answered", heard="dog", proposed="correct")])
    'a code with ? is proposed by rule'
    """
    signs = (
        (any(item.rules for item in items),
         "any, first: the rules on what was heard, else on the transcript"),
        (any(None in item.rules.values() for item in items), "? there: a person must tell"),
        (any(item.proposed and not item.code for item in items),
         "a code with ? is proposed by rule"),
    )  # fmt: skip
    return "; ".join(words for there, words in signs if there)


def _cues(item: NamedItem) -> str:
    """Return the cues that were given.

    >>> _cues(NamedItem("a", "dog", "answered", cues=(("phonemic", False), ("stimulus", True))))
    'phonemic (does not count), stimulus'
    """
    given = (kind if counts else f"{kind} (does not count)" for kind, counts in item.cues)
    return ", ".join(given) or NONE
