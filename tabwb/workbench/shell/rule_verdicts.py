"""What the rules say of a spoken response, beside what a person said: values and lines.

The naming page shows them after the person's score, the results in the dialog of a response.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.phonology.distance import Step, feature_changes
from tabwb.records.naming import SCORE_KEYS
from tabwb.report.render.naming import SCORES
from tabwb.scoring.naming.target import CODES
from tabwb.workbench.shell.wording import ACCENT, QUIET

if TYPE_CHECKING:
    from tabwb.administer.naming.scores import Naming
    from tabwb.scoring.naming.correct import Correctness

SCORE_WORDS: Mapping[str, str] = {
    score: f"{key} {SCORES[score]}" for key, score in SCORE_KEYS.items()
}
NONE = "·"
SIGNS = {"EQ": "=", "SUB": "~", "INS": "+", "DEL": "-"}
GAP = 4
INDENT = 2
LEAST_LEFT = 17
LEAST_RIGHT = 46
LABEL = 13


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
        phonemes: as transcribed.
        transcriber: what heard it.
        by_ear: whether what a listener heard stands in place of the transcript.
    """

    lines: tuple[tuple[str, str], ...]
    aligned: Aligned | None = None
    phonemes: tuple[str, ...] = ()
    transcriber: str = ""
    by_ear: bool = False


def score_words(score: str, reason: str) -> str:
    """A person's score in words.

    >>> score_words("error", ""), score_words("no-response", "silent")
    ('3 error', '4 no response: silent')
    """
    words = SCORE_WORDS.get(score, score)
    return f"{words}: {reason}" if reason else words


def rule_verdicts(naming: Naming) -> RuleVerdicts:
    """What the machine says, in the words of the page."""
    lines: list[tuple[str, str]] = [
        (rule, verdict_words(one)) for rule, one in (naming.verdicts or {}).items()
    ]
    aligned = None
    distance = naming.distance
    if distance is not None and _by_sound(naming):
        aligned = Aligned(distance.features.steps, distance.phoneme_rate, distance.feature_rate)
    proposal = naming.proposal
    if proposal is not None:
        lines.append(("proposed code", f"{proposal.code}  ({proposal.clause})"))
    transcript = naming.transcript
    return RuleVerdicts(
        tuple(lines),
        aligned,
        naming.phonemes,
        "" if transcript is None else transcript.transcriber,
        naming.by_ear,
    )


def _by_sound(naming: Naming) -> bool:
    """Whether the code, or a candidate for it, is of a kind that the distance tells of."""
    said, proposal = naming.view.code, naming.proposal
    if said is not None:
        codes: tuple[str, ...] = (said.code,)
    else:
        codes = () if proposal is None else (proposal.code, *proposal.candidates)
    return any(CODES[code].phonological for code in codes if code in CODES)


def verdict_words(one: Correctness) -> str:
    """One rule's verdict, with what to check."""
    mark = "- for a person to tell" if one.value is None else "✓" if one.value else "✗"
    remarks = []
    if one.embedded:
        remarks.append("embedded: check by ear")
    if one.form is not None and one.form.reason not in {"", "citation"}:
        remarks.append(one.form.reason)
    if one.edits:
        remarks.append(f"{one.edits} tolerated")
    return f"{mark} ({', '.join(remarks)})" if remarks else mark


def verdict_lines(machine: RuleVerdicts, width: int, *, costs: bool) -> Iterator[Content]:
    """Alignment and rules; with ``costs`` then the features that changed."""
    yield from _beside_or_below(machine, width - INDENT, costs=costs)
    if costs and machine.aligned is not None:
        yield Content("")
        for line in change_lines(machine.aligned):
            yield from _hanging(line, width - INDENT)


def _beside_or_below(machine: RuleVerdicts, width: int, *, costs: bool) -> Iterator[Content]:
    """The alignment at the left, the rules at the right; one below the other where it is narrow."""
    if machine.aligned is None:
        heard = " ".join(machine.phonemes)
        left = [Content(heard)] if heard else [Content.styled("no speech detected", QUIET)]
    else:
        left = list(alignment_lines(machine.aligned, max(width, LEAST_LEFT), costs=costs))
    own = max((line.cell_length for line in left), default=0)
    indent = " " * INDENT
    if own + GAP + LEAST_RIGHT > width:
        for line in (*left, *_rules(machine, width)):
            yield Content.assemble(indent, line)
        return
    column = max(own, LEAST_LEFT if width >= LEAST_LEFT + GAP + LEAST_RIGHT else 0) + GAP
    right = _rules(machine, width - column)
    for one, other in zip_longest(left, right, fillvalue=Content("")):
        space = " " * (column - one.cell_length) if other else ""
        yield Content.assemble(indent, one, space, other)


def _hanging(line: Content, width: int) -> Iterator[Content]:
    """A line over as many as it needs, the later ones further in."""
    first, *rest = line.wrap(max(width - INDENT, 12))
    yield first.pad_left(INDENT)
    for more in rest:
        yield more.pad_left(2 * INDENT)


def _rules(machine: RuleVerdicts, width: int) -> Iterator[Content]:
    lines = list(machine.lines)
    if machine.aligned is not None:
        proposed = [place for place, one in enumerate(lines) if one[0] == "proposed code"]
        at = proposed[0] if proposed else len(lines)
        lines.insert(at, ("distance from target", distance_words(machine.aligned)))
    for name, words in lines:
        label = f"{name:<{LABEL}}  "
        first, *rest = wrap(words, max(width - len(label), 12)) or [""]
        yield Content.assemble((label, QUIET), first)
        for more in rest:
            yield Content.assemble(" " * len(label), more)


def alignment_lines(aligned: Aligned, width: int, *, costs: bool) -> Iterator[Content]:
    """Reference, what was said, operations; with ``costs`` also those.

    A response that is longer than the line goes on in a further block.

    >>> from tabwb.phonology.distance import align_features
    >>> steps = align_features(["D"], ["D", "AH"]).steps
    >>> for line in alignment_lines(Aligned(steps, 1.0, 0.9), 40, costs=False):
    ...     print(line.plain)
    D  ·
    D  AH
    =  +
    """
    block: list[Step] = []
    used = 0
    for one in aligned.steps:
        wide = _width(one, costs=costs)
        if block and used + wide > width:
            yield from _block(block, costs=costs)
            yield Content("")
            block, used = [], 0
        block.append(one)
        used += wide
    yield from _block(block, costs=costs)


def change_lines(aligned: Aligned) -> Iterator[Content]:
    """For each substitution the features that changed, and what they cost together."""
    for one in aligned.steps:
        if one.op == "SUB" and one.ref and one.hyp:
            words = ", ".join(str(change) for change in feature_changes(one.ref, one.hyp))
            yield Content.assemble(
                (f"{one.ref} ~ {one.hyp}", "bold"), f"  {one.cost:g}  ", (words, QUIET)
            )


def _width(one: Step, *, costs: bool) -> int:
    wide = max(len(one.ref or NONE), len(one.hyp or NONE), 2)
    return max(wide, len(f"{one.cost:g}") if costs else 0) + 1


def _block(columns: list[Step], *, costs: bool) -> Iterator[Content]:
    widths = [_width(one, costs=costs) for one in columns]

    def line(cells: list[tuple[str, str]]) -> Content:
        made = [
            Content.styled(text.ljust(wide), style)
            for (text, style), wide in zip(cells, widths, strict=True)
        ]
        return Content("").join(made).rstrip()

    yield line([(one.ref or NONE, "" if one.ref else QUIET) for one in columns])
    yield line([(one.hyp or NONE, _weight(one) if one.hyp else QUIET) for one in columns])
    yield line([(SIGNS[one.op], QUIET if one.op == "EQ" else ACCENT) for one in columns])
    if costs:
        yield line([(f"{one.cost:g}" if one.cost else "", QUIET) for one in columns])


def _weight(one: Step) -> str:
    return "" if one.op == "EQ" else "bold"


def distance_words(aligned: Aligned) -> str:
    """``33 % phonemes, 31 % features``.

    >>> distance_words(Aligned((), 1 / 3, 22.5 / 72))
    '33 % phonemes, 31 % features'
    """
    return f"{aligned.phoneme_share:.0%} phonemes, {aligned.feature_share:.0%} features".replace(
        "%", " %"
    )
