"""Phonemes of the targets and what was heard for them, as a matrix of characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from textual.content import Content

from tabwb.analysis.statistics.naming import Confusions
from tabwb.phonology.distance import feature_changes
from tabwb.phonology.inventory import IPA, phoneme_rank
from tabwb.records.words import plural
from tabwb.workbench.shell.drawn import heat_style
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded

MOST = 100
CELL, LABEL = 3, 4
INSERTED, DELETED = "+", "-"
"""Row of phonemes that no target has, and column of phonemes for which nothing was heard."""
LISTED = 8
"""The most errors that are listed."""


def phoneme_lines(found: Confusions, width: int, *, arpabet: bool = False) -> Iterator[Content]:
    """Yield the most frequent errors with the features that change, then the matrix."""
    if not found.responses:
        yield from folded("No response has been transcribed and compared.", width, QUIET)
        yield from _left_out(found, width)
        return

    def written(phoneme: str) -> str:
        return phoneme if arpabet else IPA.get(phoneme, phoneme)

    yield from _errors(found, width, written)
    yield Content("")
    yield from _matrix(found, width, written)
    words = (
        f"Rows: target; columns: heard, in {plural(found.responses, 'response')}. Number: how "
        f"often; shade: share of the target's phoneme. {DELETED} no phoneme heard; {INSERTED} "
        "none in the target."
    )
    yield from folded(words, min(width, MOST), QUIET)
    yield from _left_out(found, width)


def _left_out(found: Confusions, width: int) -> Iterator[Content]:
    if found.other:
        listed = ", ".join(f"{target} ({code or 'no code'})" for target, code in found.other[:6])
        more = f" and {len(found.other) - 6} more" if len(found.other) > 6 else ""
        words = f"Left out, because their code does not describe sounds: {listed}{more}."
        yield from folded(words, min(width, MOST), QUIET)


def _errors(found: Confusions, width: int, written: Callable[[str], str]) -> Iterator[Content]:
    of = found.of
    wrong = sorted(
        ((step, n) for step, n in found.steps.items() if step[0] != step[1]),
        key=lambda each: (-each[1], phoneme_rank(each[0][0]), phoneme_rank(each[0][1])),
    )
    if not wrong:
        total = sum(found.steps.values())
        yield Content(f"All {total} phonemes were heard as in the target.")
    for (target, heard), n in wrong[:LISTED]:
        if target is None:
            step, rest = f"{INSERTED} {written(heard or '')}", f"{n}"
        elif heard is None:
            step, rest = f"{written(target)} {DELETED}", f"{n}/{of[target]}"
        else:
            step, rest = f"{written(target)} ~ {written(heard)}", f"{n}/{of[target]}"
        changes = ""
        if target is not None and heard is not None:
            changes = ", ".join(str(change) for change in feature_changes(target, heard))
        line = Content.assemble((f"{step:<8}", "bold"), f"{rest:>6}   ", (changes, QUIET))
        yield line.truncate(width, ellipsis=True)
    if len(wrong) > LISTED:
        yield Content.styled(f"and {len(wrong) - LISTED} other steps", QUIET)


def _matrix(found: Confusions, width: int, written: Callable[[str], str]) -> Iterator[Content]:
    """Yield the matrix; where it is too wide, only phonemes with errors, in blocks of columns."""
    rows = sorted({target for target, _ in found.steps}, key=phoneme_rank)
    heads = sorted({heard for _, heard in found.steps}, key=phoneme_rank)
    room = max((width - LABEL) // CELL, 1)
    always: list[str] = []
    if len(heads) > room:
        of = found.of
        always = [
            row for row in rows if row is not None and found.steps.get((row, row), 0) == of[row]
        ]
        rows = [row for row in rows if row not in always]
        heads = [head for head in heads if any((row, head) in found.steps for row in rows)]
    for first in range(0, len(heads), room):
        yield from _block(found, rows, heads[first : first + room], written)
    if always:
        listed = ", ".join(f"{written(row)} {found.of[row]}" for row in always)
        yield from folded(f"Always heard as in the target: {listed}", width, QUIET)


def _block(
    found: Confusions,
    rows: Sequence[str | None],
    heads: Sequence[str | None],
    written: Callable[[str], str],
) -> Iterator[Content]:
    names = (f"{DELETED if head is None else written(head):>{CELL - 1}} " for head in heads)
    yield Content.styled(" " * LABEL + "".join(names), QUIET)
    of = found.of
    for row in rows:
        cells: list[tuple[str, str]] = []
        for head in heads:
            n = found.steps.get((row, head), 0)
            if not n:
                cells.append((f"{'·':>{CELL - 1}} ", QUIET))
                continue
            same = row == head
            style = heat_style(n / of[row])
            cells.append((f"{n:>{CELL - 1}} ", style if same else f"bold {style}"))
        name = INSERTED if row is None else written(row)
        yield Content.assemble((f"{name:<{LABEL}}", ACCENT), *cells)
