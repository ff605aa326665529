"""What the rules say of a spoken response, beside what a person said: values and lines.

The naming page shows them after the person's score, the results in the dialog of a response.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.analysis.tables.said import SCORES
from tabwb.phonology.distance import Step, feature_changes
from tabwb.phonology.inventory import ipa_letters
from tabwb.records.columns import fixed
from tabwb.records.naming import SCORE_KEYS
from tabwb.workbench.shell.wording import ACCENT, QUIET

if TYPE_CHECKING:
    from tabwb.analysis.statistics.naming import Naming
    from tabwb.scoring.naming.target import Correctness

SCORE_WORDS: Mapping[str, str] = {
    score: f"{key} {SCORES[score]}" for key, score in SCORE_KEYS.items()
}
REASON_WORDS = {"dont-know": "don't know"}
NONE = "·"
SIGNS = {"EQ": "=", "SUB": "~", "INS": "+", "DEL": "-"}
GAP = 4
INDENT = 2
LEAST_LEFT = 17
LEAST_RIGHT = 46
LABEL = 13
LEAST_BESIDE = 20
"""Fewer columns than these beside the name of a rule: what it says is below the name."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """What was said beside what should have been said.

    Attributes:
        steps: in order; costs are in features.
        phoneme_share: phonemes that differ over phonemes of the accepted form.
        feature_share: features that differ over features of the accepted form.
    """

    steps: tuple[Step, ...]
    phoneme_share: float
    feature_share: float


@dataclass(frozen=True, slots=True)
class RuleVerdicts:
    """What the machine says of the response that counts; shown only when it may be.

    Attributes:
        lines: (rule, what it says), in the order shown.
        aligned: what was said beside the nearest accepted form, or None.
        by_ear: whether what a listener heard replaces the transcript.
    """

    lines: tuple[tuple[str, str], ...]
    aligned: Aligned | None = None
    phonemes: tuple[str, ...] = ()
    transcriber: str = ""
    by_ear: bool = False


def score_words(score: str, reason: str) -> str:
    """Return a person's score in words.

    >>> score_words("error", ""), score_words("no-response", "silent")
    ('3 error', '4 no response: silent')
    >>> score_words("no-response", "dont-know")
    "4 no response: don't know"
    """
    words = SCORE_WORDS.get(score, score)
    return f"{words}: {REASON_WORDS.get(reason, reason)}" if reason else words


def rule_verdicts(naming: Naming) -> RuleVerdicts:
    """Return what the machine says, in the words of the page."""
    lines: list[tuple[str, str]] = [
        (rule, verdict_words(verdict)) for rule, verdict in (naming.verdicts or {}).items()
    ]
    distance, proposal, transcript = naming.distance, naming.proposal, naming.transcript
    aligned = None
    if distance is not None and naming.is_by_sound:
        aligned = Aligned(distance.features.steps, distance.phoneme_rate, distance.feature_rate)
    if proposal is not None:
        lines.append(("proposed code", f"{proposal.code}  ({proposal.clause})"))
    transcriber = "" if transcript is None else transcript.transcriber
    return RuleVerdicts(tuple(lines), aligned, naming.phonemes, transcriber, naming.by_ear)


def verdict_words(verdict: Correctness) -> str:
    """Return one rule's verdict, with what to check."""
    mark = "- for a person to tell"
    if verdict.value is not None:
        mark = "✓" if verdict.value else "✗"
    remarks = ["embedded: check by ear"] if verdict.embedded else []
    if verdict.form is not None and verdict.form.reason not in {"", "citation"}:
        remarks.append(verdict.form.reason)
    if verdict.edits:
        remarks.append(f"{verdict.edits} tolerated")
    return f"{mark} ({', '.join(remarks)})" if remarks else mark


def verdict_lines(
    machine: RuleVerdicts, width: int, *, costs: bool, ipa: bool = True
) -> Iterator[Content]:
    """Yield alignment and rules; with ``costs`` then the features that changed."""
    width -= INDENT
    yield from _beside_or_below(machine, width, costs=costs, ipa=ipa)
    if costs and machine.aligned is not None:
        yield Content("")
        for line in change_lines(machine.aligned, ipa=ipa):
            first, *rest = line.wrap(max(width - INDENT, 12))
            yield first.pad_left(INDENT)
            yield from (more.pad_left(2 * INDENT) for more in rest)


def _beside_or_below(
    machine: RuleVerdicts, width: int, *, costs: bool, ipa: bool
) -> Iterator[Content]:
    """Yield the alignment at the left, the rules at the right, or below where it is narrow."""
    if machine.aligned is None:
        heard = " ".join(ipa_letters(machine.phonemes) if ipa else machine.phonemes)
        left = [Content(heard)] if heard else [Content.styled("no speech detected", QUIET)]
        if machine.by_ear:
            left = []  # the rules read what was heard, not the transcript
    else:
        left = list(alignment_lines(machine.aligned, max(width, LEAST_LEFT), costs=costs, ipa=ipa))
    if not left:
        yield from (line.pad_left(INDENT) for line in _rules(machine, width))
        return
    own = max((line.cell_length for line in left), default=0)
    if own + GAP + LEAST_RIGHT > width:
        yield from (line.pad_left(INDENT) for line in (*left, *_rules(machine, width)))
        return
    column = max(own, LEAST_LEFT if width >= LEAST_LEFT + GAP + LEAST_RIGHT else 0) + GAP
    right = _rules(machine, width - column)
    for line, rule in zip_longest(left, right, fillvalue=Content("")):
        space = " " * (column - line.cell_length) if rule else ""
        yield Content.assemble(line, space, rule).pad_left(INDENT)


def _rules(machine: RuleVerdicts, width: int) -> Iterator[Content]:
    lines = list(machine.lines)
    if machine.aligned is not None:
        proposed = [at for at, (rule, _) in enumerate(lines) if rule == "proposed code"]
        at = proposed[0] if proposed else len(lines)
        lines.insert(at, ("distance from target", distance_words(machine.aligned)))
    for name, words in lines:
        label = f"{name:<{LABEL}}  "
        room = width - len(label)
        if len(words) > room < LEAST_BESIDE:  # the words are below their name
            yield Content.styled(name, QUIET)
            yield from (Content(more).pad_left(INDENT) for more in wrap(words, width - INDENT))
            continue
        first, *rest = wrap(words, max(room, 12)) or [""]
        yield Content.assemble((label, QUIET), first)
        yield from (Content(more).pad_left(len(label)) for more in rest)


def alignment_lines(
    aligned: Aligned, width: int, *, costs: bool, ipa: bool = True
) -> Iterator[Content]:
    """Yield reference, what was said and operations; with ``costs`` also those.

    A response that is longer than the line continues in a further block.

    >>> from tabwb.phonology.distance import align_features
    >>> steps = align_features(["D"], ["D", "AH"]).steps
    >>> for line in alignment_lines(Aligned(steps, 1.0, 0.9), 40, costs=False):
    ...     print(line.plain)
    d  ·
    d  ʌ
    =  +
    """
    block: list[Step] = []
    used = 0
    for step in _in_ipa(aligned.steps) if ipa else aligned.steps:
        step_width = _width(step, costs=costs)
        if block and used + step_width > width:
            yield from _block(block, costs=costs)
            yield Content("")
            block, used = [], 0
        block.append(step)
        used += step_width
    yield from _block(block, costs=costs)


def _in_ipa(steps: Sequence[Step]) -> list[Step]:
    """The same steps, their phonemes in IPA."""
    said = iter(ipa_letters(step.hyp for step in steps if step.hyp))
    reference = iter(ipa_letters(step.ref for step in steps if step.ref))
    return [
        step._replace(ref=step.ref and next(reference), hyp=step.hyp and next(said))
        for step in steps
    ]


def change_lines(aligned: Aligned, *, ipa: bool = True) -> Iterator[Content]:
    """Yield for each substitution the features that changed, and what they cost together."""
    shown = _in_ipa(aligned.steps) if ipa else aligned.steps
    for step, written in zip(aligned.steps, shown, strict=True):
        if step.op == "SUB" and step.ref and step.hyp:
            words = ", ".join(str(change) for change in feature_changes(step.ref, step.hyp))
            yield Content.assemble(
                (f"{written.ref} ~ {written.hyp}", "bold"), f"  {step.cost:g}  ", (words, QUIET)
            )


def _width(step: Step, *, costs: bool) -> int:
    width = max(len(step.ref or NONE), len(step.hyp or NONE), 2)
    return max(width, len(f"{step.cost:g}") if costs else 0) + 1


def _block(steps: list[Step], *, costs: bool) -> Iterator[Content]:
    widths = [_width(step, costs=costs) for step in steps]

    def line(cells: list[tuple[str, str]]) -> Content:
        padded = [
            (text.ljust(width), style) for (text, style), width in zip(cells, widths, strict=True)
        ]
        return Content.assemble(*padded).rstrip()

    def said(step: Step) -> tuple[str, str]:
        if not step.hyp:
            return NONE, QUIET
        return step.hyp, "" if step.op == "EQ" else "bold"

    yield line([(step.ref or NONE, "" if step.ref else QUIET) for step in steps])
    yield line([said(step) for step in steps])
    yield line([(SIGNS[step.op], QUIET if step.op == "EQ" else ACCENT) for step in steps])
    if costs:
        yield line([(f"{step.cost:g}" if step.cost else "", QUIET) for step in steps])


def distance_words(aligned: Aligned) -> str:
    """Return the distance in words.

    >>> distance_words(Aligned((), 1 / 3, 22.5 / 72))
    '0.33 of the target (by features 0.31)'
    """
    by_phonemes, by_features = fixed(aligned.phoneme_share, 2), fixed(aligned.feature_share, 2)
    return f"{by_phonemes} of the target (by features {by_features})"
