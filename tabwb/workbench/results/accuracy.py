"""The accuracies of the subtests with intervals and baselines, as lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from textual.content import Content

from tabwb.analysis.statistics.results import Part
from tabwb.media.wording import baselines_of, between, count, number
from tabwb.workbench.shell.columns import Column, laid
from tabwb.workbench.shell.drawn import BASELINE, BOTH, VALUE, interval_bar, scale
from tabwb.workbench.shell.wording import ACCENT, QUIET

LIKE = ", prompts like these"
"""Is left out of the legend where it has no room."""
LEGEND_BOTH = (("   ", ""), (BOTH, ACCENT), (f" one on {VALUE} or an end", QUIET))
"""Is shown where a baseline is in the cell of an estimate or of an end."""


def given_subtests(parts: Sequence[Part]) -> list[Part]:
    """Return the subtests of the part of the battery that is given; all where none is planned."""
    return [part for part in parts if part.number("planned")] or list(parts)


def accuracy_lines(parts: Sequence[Part], width: int) -> Iterator[Content]:
    """Yield a line for each subtest: right answers, the interval on an axis, the baselines."""
    subtests = given_subtests(parts)
    if not any(subtest.right.n for subtest in subtests):
        yield from laid(GIVEN, subtests, width)[1:]
        return
    lines = laid(ACCURACY, subtests, width)
    yield from lines
    both = any(BOTH in line.plain for line in lines)
    whole = _legend(LIKE, both)
    yield (whole if whole.cell_length <= width else _legend("", both)).truncate(
        width, ellipsis=True
    )


def _legend(intervals: str, both: bool) -> Content:
    return Content.assemble(
        (VALUE, ACCENT),
        (" right   ", QUIET),
        ("├─┤", ACCENT),
        (f" 95 %{intervals}   ", QUIET),
        (BASELINE, "$foreground"),
        (" baseline", QUIET),
        *(LEGEND_BOTH if both else ()),
    )


def _drawn(subtest: Part, width: int) -> Content:
    right = subtest.right
    if not right.n:
        return Content.styled(_given(subtest), QUIET)
    low, high = (right.interval.low, right.interval.high) if right.interval else (None, None)
    lines = [one.value for one in subtest.baselines.values() if one.value is not None]
    return interval_bar(low, right.value.value, high, width=width, baseline=lines)


def _policy(place: int) -> Callable[[Part], str]:
    def cell(subtest: Part) -> str:
        rows = list(subtest.policies("accuracy").values())
        return count(rows[place].total) if subtest.right.n and place < len(rows) else ""

    return cell


def _given(subtest: Part) -> str:
    n = subtest.number("counted")
    return f"{n} given" if n else "none given yet"


def _right(subtest: Part) -> str:
    return f"{count(subtest.right.total)}/{subtest.right.n}" if subtest.right.n else ""


def _interval(subtest: Part) -> str:
    return between(subtest.right.interval) if subtest.right.n else ""


def _baselines(subtest: Part) -> str:
    words = [baselines_of(subtest)] if subtest.right.n else []
    guessing = subtest.baselines.get("guessing")
    if guessing is not None and guessing.defined and subtest.right.n:
        words.append(f"guessing {number(guessing)}")
    return ", ".join(filter(None, words))


TITLE: Column[Part] = Column("", lambda subtest: subtest.title, least=14)
GIVEN: Sequence[Column[Part]] = (TITLE, Column("", _given, style=QUIET))
"""The columns where no answer is right or wrong."""
ACCURACY: Sequence[Column[Part]] = (
    TITLE,
    Column("right", _right, right=True, style="bold"),
    Column(scale, _drawn, grow=(16, 40)),
    Column("95 %", _interval),
    Column("norm.", _policy(1), right=True, rank=2),
    Column("extr.", _policy(2), right=True, rank=2),
    Column("baselines", _baselines, rank=1, style=QUIET),
)
"""The columns of right answers; baselines that have no room are drawn all the same."""
