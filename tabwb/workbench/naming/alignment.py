"""What was said beside what should have been said, phoneme by phoneme, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from tabwb.phonology.distance import Step, feature_changes
from tabwb.workbench.naming.snapshots import Aligned
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET

NONE = "·"
SIGNS = {"EQ": "=", "SUB": "~", "INS": "+", "DEL": "-"}


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


class AlignmentView(WidthAwareWidget):
    """One alignment; nothing without one."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._aligned: Aligned | None = None
        self._costs = False

    def show(self, aligned: Aligned | None, *, costs: bool) -> None:
        """Show this one, with its costs and the features that changed where there is room."""
        if (aligned, costs) != (self._aligned, self._costs):
            self._aligned, self._costs = aligned, costs
            self.display = aligned is not None
            self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """The lines."""
        if self._aligned is None:
            return Content("")
        lines = list(alignment_lines(self._aligned, width, costs=self._costs))
        return Content("\n").join([*lines, *(change_lines(self._aligned) if self._costs else ())])
