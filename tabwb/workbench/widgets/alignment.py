"""What was said beside what should have been said, phoneme by phoneme, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from tabwb.workbench.naming_snapshots import Aligned, AlignedPhoneme, FeatureChange
from tabwb.workbench.widgets.painted import Painted
from tabwb.workbench.wording import ACCENT, QUIET

NONE = "·"
_SIGNS = {-1.0: "-", -0.5: "-+", 0.0: "0", 0.5: "+-", 1.0: "+"}
"""How the values of features are printed (PSST, table 4)."""


def sign(value: float) -> str:
    """A feature's value as it is printed.

    >>> sign(-1.0), sign(0.5), sign(0.25)
    ('-', '+-', '0.25')
    """
    return _SIGNS.get(value, f"{value:g}")


def change_words(one: FeatureChange) -> str:
    """``voice + > -``.

    >>> change_words(FeatureChange("voice", 1.0, -1.0))
    'voice + > -'
    """
    return f"{one.feature} {sign(one.reference)} > {sign(one.said)}"


def alignment_lines(aligned: Aligned, width: int, *, costs: bool) -> Iterator[Content]:
    """Reference, what was said, operations; with ``costs`` also those and the features.

    A response that is longer than the line goes on in a further block.

    >>> columns = (AlignedPhoneme("=", "D", "D", 0.0), AlignedPhoneme("+", "", "AH", 21.0))
    >>> for line in alignment_lines(Aligned(columns, 1.0, 0.9), 40, costs=False):
    ...     print(line.plain)
    D  ·
    D  AH
    =  +
    """
    block: list[AlignedPhoneme] = []
    used = 0
    for one in aligned.columns:
        wide = _width(one, costs=costs)
        if block and used + wide > width:
            yield from _block(block, costs=costs)
            yield Content("")
            block, used = [], 0
        block.append(one)
        used += wide
    yield from _block(block, costs=costs)
    if not costs:
        return
    for one in aligned.columns:
        if one.operation == "~":
            words = ", ".join(change_words(change) for change in one.changes)
            yield Content.assemble(
                (f"{one.reference} ~ {one.said}", "bold"),
                f"  {one.cost:g}  ",
                (words, QUIET),
            )


def _width(one: AlignedPhoneme, *, costs: bool) -> int:
    wide = max(len(one.reference), len(one.said), 2)
    return max(wide, len(f"{one.cost:g}") if costs else 0) + 1


def _block(columns: list[AlignedPhoneme], *, costs: bool) -> Iterator[Content]:
    widths = [_width(one, costs=costs) for one in columns]

    def line(cells: list[tuple[str, str]]) -> Content:
        made = [
            Content.styled(text.ljust(wide), style)
            for (text, style), wide in zip(cells, widths, strict=True)
        ]
        return Content("").join(made).rstrip()

    yield line([(one.reference or NONE, QUIET if not one.reference else "") for one in columns])
    yield line([(one.said or NONE, QUIET if not one.said else _weight(one)) for one in columns])
    yield line([(one.operation, QUIET if one.operation == "=" else ACCENT) for one in columns])
    if costs:
        yield line([(f"{one.cost:g}" if one.cost else "", QUIET) for one in columns])


def _weight(one: AlignedPhoneme) -> str:
    return "" if one.operation == "=" else "bold"


def distance_words(aligned: Aligned) -> str:
    """``33 % phonemes, 31 % features``.

    >>> distance_words(Aligned((), 1 / 3, 22.5 / 72))
    '33 % phonemes, 31 % features'
    """
    return f"{aligned.phoneme_share:.0%} phonemes, {aligned.feature_share:.0%} features".replace(
        "%", " %"
    )


class AlignmentView(Painted):
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
        return Content("\n").join(alignment_lines(self._aligned, width, costs=self._costs))
