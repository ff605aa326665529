"""The figures of naming subtests as lines: right names, latency, cues, codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.media.views.naming import BASES, fact_lines
from tabwb.media.wording import between
from tabwb.records.words import NONE, plural
from tabwb.scoring.estimate import Interval
from tabwb.workbench.results.naming_presenter import NamingPart
from tabwb.workbench.shell.drawn import interval_bar, scale, share_bar
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded

MOST = 100
"""Columns of the longest line."""
LABEL = 30
RANGE = 9
"""Columns of an interval in figures, such as 0.22-0.96."""
LEAST_BAR, MOST_BAR = 8, 48


def right_lines(part: NamingPart, width: int) -> Iterator[Content]:
    """Yield right names by each basis and tag with intervals, then what the counts rest on."""
    rows = [(BASES[one.basis], one) for one in part.subtest.summary.accuracy]
    tags = [(f"  {tag}", one) for tag, one in part.subtest.by_tag.items()]
    shares = [(name, one.correct, one.n, one.interval, one.open) for name, one in rows]
    shares[1:1] = [(name, one.correct, one.n, one.interval, one.open) for name, one in tags]
    yield from share_lines([row[:4] for row in shares], width, remarks=[
        f"{row[4]} open" if row[4] else "" for row in shares
    ])  # fmt: skip
    for words in fact_lines(part.subtest):
        yield from folded(words, min(width, MOST), QUIET, 0)


def share_lines(
    rows: Sequence[tuple[str, int, int, Interval | None]],
    width: int,
    *,
    remarks: Sequence[str] = (),
) -> Iterator[Content]:
    """Yield a row for each share: name, count of total, interval drawn and in figures, remark.

    >>> from tabwb.scoring.estimate import clopper_pearson
    >>> lines = list(share_lines([("Listener", 1, 4, clopper_pearson(1, 4))], 50))
    >>> lines[1].plain
    'Listener  1/4  ├─────●────────────┤      0.01-0.81'
    """
    remarks = remarks or [""] * len(rows)
    most = max((len(name) for name, *_ in rows), default=0)
    counts = [f"{right}/{of}" if of else NONE for _, right, of, _ in rows]
    column = max((len(words) for words in counts), default=0)
    tail = max(map(_tail, remarks, (interval for *_, interval in rows)), default=0)
    whole = min(width, MOST) - column - RANGE - tail - 6
    label = min(most, LABEL, max(whole - LEAST_BAR, width // 3, 8))
    room = whole - label
    bar = min(max(room, 0), MOST_BAR)
    if bar < LEAST_BAR:
        bar = 0
    if bar:
        heads = f"{'right':>{label + 2 + column}}  "
        yield Content.assemble((heads, QUIET), scale(bar), ("  95 %", QUIET))
    for (name, right, of, interval), words, remark in zip(rows, counts, remarks, strict=True):
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        ends = between(interval)
        drawn = interval_bar(low, right / of if of else None, high, width=bar) if bar else ""
        yield Content.assemble(
            Content(name).truncate(label, ellipsis=True, pad=True),
            "  ",
            (f"{words:>{column}}  ", "bold"),
            drawn,
            "  " if bar else "",
            (f"{remark:>{RANGE}}", QUIET) if remark and not interval else f"{ends:>{RANGE}}",
            (f"  {remark}" if remark and interval else "", QUIET),
        )


def _tail(remark: str, interval: Interval | None) -> int:
    """Return the columns of a remark after the interval; without one it is in its place."""
    return len(remark) + 2 if interval and remark else max(len(remark) - RANGE, 0)


def latency_lines(part: NamingPart, width: int) -> Iterator[Content]:
    """Yield the latencies on an axis, right names and others apart, then quartiles."""
    found = part.latencies
    if not found.right and not found.other:
        words = "No response has a latency: the time of the picture is not known."
        yield from folded(words, min(width, MOST), QUIET)
        return
    label = 18
    bar = max(min(width, MOST) - label, LEAST_BAR)
    top = max(found.slowest, 1.0)
    for name, values in (("right names", found.right), ("other responses", found.other)):
        if values:
            yield Content.assemble(f"{name:<{label}}", (_strip(values, bar, top), ACCENT))
    if found.median is not None:
        low, high = found.quartiles or (found.median, found.median)
        drawn = interval_bar(low, found.median, high, width=bar, highest=top)
        yield Content.assemble(f"{'  middle half':<{label}}", drawn)
    yield Content.assemble(f"{'seconds':<{label}}", scale(bar, highest=top))
    if found.median is not None:
        low, high = found.quartiles or (found.median, found.median)
        interval = found.interval
        words = (
            f"Median of {plural(len(found.right), 'right name')} {found.median:.2f} s, middle half "
            f"{low:.2f} to {high:.2f} s"
        )
        if interval is None:
            words += "; fewer than 6 right names give the median no interval"
        else:
            words += f"; 95 % interval of the median {interval.low:.2f} to {interval.high:.2f} s"
        yield from folded(f"{words}. From the picture to the onset.", min(width, MOST), QUIET)


def _strip(values: Sequence[float], width: int, top: float) -> str:
    """Return values on an axis from 0: ``│`` for one response in a column, else how many.

    >>> _strip([0.0, 0.5, 0.5, 1.0], 5, 1.0)
    '│ 2 │'
    """
    counts = [0] * width
    for value in values:
        counts[min(round(value / top * (width - 1)), width - 1)] += 1
    signs = (" " if not n else "│" if n == 1 else str(n) if n < 10 else "+" for n in counts)
    return "".join(signs).rstrip()


def cue_lines(part: NamingPart, width: int) -> Iterator[Content]:
    """Yield the share of right names before any cue and after each kind of cue."""
    if not part.cues:
        yield Content.styled("No cue was given.", QUIET)
        return
    rows = []
    for cue in part.cues:
        name = f"after a {cue.kind} cue" if cue.kind else "without a cue"
        rows.append((name, cue.right, cue.of, cue.interval))
    remarks = ["" if cue.counts is not False else "does not count" for cue in part.cues]
    yield from share_lines(rows, width, remarks=remarks)
    words = "Only items that were not named without help are cued, so they are the harder ones."
    yield from folded(words, min(width, MOST), QUIET)


def code_lines(part: NamingPart, width: int) -> Iterator[Content]:
    """Yield how often each code was given, and proposed where no listener decided."""
    summary = part.subtest.summary
    names = dict.fromkeys((*summary.codes, *summary.proposed))
    if not names:
        yield Content.styled("No response has a code.", QUIET)
        return
    total = max((*summary.codes.values(), *summary.proposed.values()))
    label = max(map(len, names)) + 2
    drafts = bool(summary.proposed)
    bar = max(min(width - label - 8 - (12 if drafts else 0), MOST_BAR), 4)
    head = f"{'':<{label + bar}}{'given':>6}" + ("    proposed" if drafts else "")
    yield Content.styled(head, QUIET)
    for name in names:
        given, proposed = summary.codes.get(name, 0), summary.proposed.get(name, 0)
        yield Content.assemble(
            f"{name:<{label}}",
            share_bar((given + proposed) / total, bar),
            (f"{given or NONE:>6}", "bold"),
            (f"{proposed or NONE:>12}" if drafts else "", QUIET),
        )
