"""The accuracies of the subtests with intervals and baselines, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.analysis.statistics.results import Part
from tabwb.media.wording import baselines_of, between, count, number
from tabwb.workbench.shell.drawn import BASELINE, BOTH, VALUE, interval_bar, scale
from tabwb.workbench.shell.shortening import shortened
from tabwb.workbench.shell.wording import ACCENT, QUIET

AXIS, MOST_AXIS = 16, 40
"""Columns of the intervals, at least and at most."""
POLICIES_FROM = 84
"""From so many columns up the policies *normalised* and *extracted* have columns."""
LEAST_TITLE = 14
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
    told = {subtest.id: _baselines(subtest) for subtest in subtests}
    ends = max([4, *(len(_interval(subtest)) for subtest in subtests)])
    rights = max([5, *(len(_right(subtest)) for subtest in subtests if subtest.right.n)])
    last = max([len(words) for words in told.values()], default=0)
    policies = 14 if width >= POLICIES_FROM else 0
    title = max([len(subtest.title) for subtest in subtests] or [8])
    columns = [width, -title, -rights, -ends, -policies, -last, -2 * (4 if last else 3)]
    if sum(columns) < AXIS and last:  # then baselines are drawn, and in words below
        columns[-2:], last = [0, -6], 0
    if sum(columns) < AXIS:
        title = max(title - (AXIS - sum(columns)), LEAST_TITLE)
        columns[1] = -title
    axis = sum(columns)
    axis = min(axis, MOST_AXIS)
    heads: list[Content | str] = [
        f"{'':<{title}}",
        f"{'right':>{rights}}",
        scale(axis),
        f"{'95 %':<{ends}}",
    ]
    heads += [f"{'norm.':>5}  {'extr.':>5}"] if policies else []
    heads += ["baselines"] if last else []
    yield Content("  ").join(_quiet(head) for head in heads)
    both = False
    for subtest in subtests:
        name = f"{shortened(subtest.title, title):<{title}}"
        if not subtest.right.n:
            yield Content.assemble(name, ("  " + _right(subtest), QUIET))
            continue
        line = Content("  ").join(
            Content(part) if isinstance(part, str) else part
            for part in _cells(subtest, name, rights, axis, ends, policies, told, last)
        )
        both = both or BOTH in line.plain
        yield line
    if any(subtest.right.n for subtest in subtests):
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


def _cells(
    subtest: Part,
    name: str,
    rights: int,
    axis: int,
    ends: int,
    policies: int,
    told: dict[str, str],
    last: int,
) -> Iterator[Content | str]:
    right = subtest.right
    interval = right.interval
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    yield name
    yield Content.styled(f"{_right(subtest):>{rights}}", "bold")
    lines = [one.value for one in subtest.baselines.values() if one.value is not None]
    yield interval_bar(low, right.value.value, high, width=axis, baseline=lines)
    yield f"{_interval(subtest):<{ends}}"
    if policies:
        others = list(subtest.policies("accuracy").values())[1:]
        yield "  ".join(f"{count(row.total):>5}" for row in others)
    if last:
        yield Content.styled(told[subtest.id], QUIET)


def _quiet(head: Content | str) -> Content:
    return Content.styled(head, QUIET) if isinstance(head, str) else head


def _right(subtest: Part) -> str:
    right, n = subtest.right, subtest.number("counted")
    if right.n:
        return f"{count(right.total)}/{right.n}"
    return f"{n} given" if n else "none given yet"


def _interval(subtest: Part) -> str:
    return between(subtest.right.interval) if subtest.right.n else ""


def _baselines(subtest: Part) -> str:
    words = [baselines_of(subtest)] if subtest.right.n else []
    guessing = subtest.baselines.get("guessing")
    if guessing is not None and guessing.defined and subtest.right.n:
        words.append(f"guessing {number(guessing)}")
    return ", ".join(filter(None, words))
