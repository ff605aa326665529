"""One model under one judge: right answers, burden, categories, features present."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.analysis.grouping import Grouped
from tabwb.analysis.tables.said import borrowed_line
from tabwb.media.wording import (
    FEW,
    baselines_of,
    between,
    number,
    numbered,
    plain,
    right_of,
    size_of,
    tally,
)
from tabwb.records.words import NONE
from tabwb.scoring.naming.summary import NamingSummary
from tabwb.workbench.comparison.rows import Basis
from tabwb.workbench.comparison.table import drawn_share
from tabwb.workbench.shell.columns import Column, Heading
from tabwb.workbench.shell.drawn import interval_bar, share_bar
from tabwb.workbench.shell.row_list import EDGE, RowList
from tabwb.workbench.shell.widgets import content_of
from tabwb.workbench.shell.wording import QUIET, head_words, seconds, sentence, spread

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge

CODE_BAR = 10
"""Columns of the bar of a code."""
HELP = """\
# One model

Right answers with their 95 % interval and baselines, mean features per answer in each category (of
how many features), then in how many responses each feature of the judge's set is present, ├─●─┤
with the 95 % interval of the share. **enter** on a feature shows the responses on which judges
differ about it, the most disputed first. **tab** moves to the next pane.
"""
MOST_STATISTICS = 200
TITLES = 26
"""Columns beside drawn intervals."""
LEAST_AXIS, MOST_AXIS = 8, 24
"""Columns of a drawn interval."""


class ModelDetail(RowList):
    """The features can be chosen; everything else is between them."""

    HELP = HELP
    ENTER_WORD = "Differ"

    def __init__(self) -> None:
        super().__init__(id="model-detail")
        self._shown: tuple[Grouped | None, Basis | None, int] = (None, None, 0)

    def show_model(self, row: Grouped | None, basis: Basis | None) -> None:
        """Show a model."""
        width = max(self.size.width - EDGE - 1, 24)
        if (row, basis, width) == self._shown:
            return
        before, self._shown = self._shown[0], (row, basis, width)
        same = before is not None and row is not None and before.label == row.label
        judge = None if row is None or basis is None else row.judge(basis.terms)
        columns = () if row is None or judge is None else _columns(row, judge)
        lines = [] if row is None or basis is None else [*_lines(row, basis, judge, width)]
        current = None if same and self.current >= 0 else 0 if self.has_focus else -1
        self.show(columns, lines, current=current)
        if not same:
            self.scroll_to(y=0, animate=False)

    def on_resize(self) -> None:
        """Lay out again."""
        self.show_model(*self._shown[:2])
        super().on_resize()

    def to_features(self) -> None:
        """Take the keys, with as many features in sight as there is room for below their head."""
        self.focus()
        self.call_after_refresh(self._show_features)

    def _show_features(self) -> None:
        at = self.rows.index(self.first) if self.first is not None else -1
        if self.current in (-1, at):
            self.go(min(at + max(self.size.height - 3, 0), self._last))
            self.go(at)

    @property
    def _last(self) -> int:
        return self._row_from(len(self.rows) - 1, -1)

    def on_focus(self) -> None:
        """Mark the first feature."""
        if self.current < 0:
            self.action_edge(0)
        super().on_focus()

    def action_move(self, step: int) -> None:
        """Move; from the first feature to the text above it."""
        if step < 0 and (self.current < 0 or self.chosen == self.first):
            self.scroll_up()
        else:
            super().action_move(step)


def _columns(row: Grouped, judge: Judge) -> Sequence[Column[str]]:
    """Return the columns of features: in how many responses each is present."""
    burden = judge.burden
    titles = {feature.id: feature.title for feature in row.battery.features}

    def drawn(feature: str, width: int) -> Content:
        like = burden.rate_intervals(feature)[0].interval if burden.n_burden else None
        ends = (None, None) if like is None else (like.low, like.high)
        return interval_bar(ends[0], burden.rate(feature).value, ends[1], width=width)

    def count(feature: str) -> str:
        return f"{tally(burden.present[feature])}/{burden.n_burden}" if burden.n_burden else NONE

    return (
        Column("", lambda feature: titles.get(feature) or feature, least=20, end=True),
        Column("", drawn, grow=(LEAST_AXIS, MOST_AXIS)),
        Column("", count, right=True),
    )


def _lines(row: Grouped, basis: Basis, judge: Judge | None, width: int) -> Iterator[str | Heading]:
    """Yield the features that are present, with everything else above and below."""
    lines = [*(_quiet(fact, width) for fact in _facts(row)), Content("")]
    lines += [*_answers(row, width), Content("")]
    if judge is not None:
        lines += _judged(row, judge, width)
    elif not row.battery.coded:
        who = "No judge" if basis.terms is None else "This judge"
        words = "has" if basis.terms is None else "has not"
        lines.append(_quiet(f"{who} {words} rated these responses.", width))
    yield from _headings(lines)
    if judge is not None:
        present = judge.burden.present
        yield from sorted(present, key=lambda feature: -present[feature])
    yield from _headings(_statistics(row, width))


def _headings(lines: Iterable[Content]) -> Iterator[Heading]:
    return (Heading(part) for line in lines for part in line.split("\n", allow_blank=True))


def _facts(row: Grouped) -> Iterator[str]:
    numbers = [member.administration.id for member in row.group.members]
    if len(numbers) <= 6:
        for member in row.group.members:
            words = " · ".join(head_words(member.administration))
            yield f"#{member.administration.id}  {words}"
    else:
        yield f"{numbered(numbers[:6])} and {len(numbers) - 6} more"
    labels = [
        size_of(value) if name == "parameters" else f"{plain(name)} {value}"
        for name, value in row.group.labels.items()
    ]
    if labels:
        yield ", ".join(labels)
    for name, values in row.group.mixed.items():
        yield f"pooled over {plain(name)}: {' | '.join(values)}"


def _named_figures(summary: NamingSummary, width: int) -> Iterator[Content]:
    """Yield the latency of right names, and how often each code was given or proposed."""
    if summary.latency_median_s is not None:
        figures = f"{seconds(summary.latency_median_s)}  n={summary.latency_n}"
        yield spread(Content("median latency, right names"), Content(figures), width)
    for title, codes in (("CODES, LISTENER", summary.codes), ("CODES PROPOSED", summary.proposed)):
        total = sum(codes.values())
        if total:
            yield _head(title)
        for code, n in sorted(codes.items(), key=lambda pair: -pair[1]):
            drawn = Content.assemble(share_bar(n / total, CODE_BAR), f" {n:>3} of {total}")
            yield spread(Content(plain(code)), drawn, width)
    if words := borrowed_line(summary):
        yield from (Content.styled(line, QUIET) for line in wrap(words, width))


def _answers(row: Grouped, width: int) -> Iterator[Content]:
    for named in row.results.named:
        counted = named.summary.accuracy[0]
        yield _head(f"{named.title.upper()}, NAMES RIGHT")
        figures = f"{counted.correct} of {counted.n}  {between(counted.interval)}"
        yield spread(Content("rule or listener"), Content(figures), width)
        yield from _named_figures(named.summary, width)
    parts = [part for part in row.results.parts if part.right.n]
    if not parts:
        return
    yield _head("RIGHT (exact)")
    room = max(min(width - TITLES - 2, MOST_AXIS), 0)
    for part in parts:
        figures = f"{right_of(part)}  {between(part.right.interval)}"
        yield spread(Content(part.title), Content(figures), width)
        beside = baselines_of(part)
        balanced = part.value("balanced_accuracy")
        if balanced.defined:
            beside = f"balanced {number(balanced)}, {beside}"
        line = Content.styled(f"  {beside}" if beside else "", QUIET)
        drawn = drawn_share(part, room) if room >= LEAST_AXIS else Content("")
        if beside or room >= LEAST_AXIS:
            yield spread(line, drawn, width)


def _statistics(row: Grouped, width: int) -> Iterator[Content]:
    rows = [one for one in row.results if one.statistic is not None]
    if not rows:
        return
    from tabwb.analysis.names import judge_names  # loads numpy

    yield Content("")
    yield _head("STATISTICS")
    short = judge_names(judge.terms.rater for judge in row.results.judges)
    for one in rows[:MOST_STATISTICS]:
        shown = one.declared.column.format
        figure = shown(one.value.value)
        if one.interval is not None:
            joint = " to " if one.interval.low < 0 else "-"
            figure += f"  {shown(one.interval.low)}{joint}{shown(one.interval.high)}"
        name = ", ".join(filter(None, (one.declared.title, one.part, one.feature)))
        for rater, called in short.items():
            name = name.replace(rater, called)
        if len(name) + 2 + len(figure) > width:  # its end tells two values of a statistic apart
            yield _quiet(name, width)
            name = ""
        yield spread(Content(name), Content(figure), width)
        if not one.value.defined:
            yield _quiet(one.value.reason, width)
    if len(rows) > MOST_STATISTICS:
        yield _quiet(f"{len(rows):,} values: tabwb results --json has all", width)


def _judged(row: Grouped, judge: Judge, width: int) -> Iterator[Content]:
    from tabwb.media.views.administration import burden_view, category_titles  # loads numpy

    yield content_of(burden_view(judge, category_titles(row.battery)), width)
    if judge.burden.usable.few:
        yield Content.styled(f"{FEW}: the burden is not ranked", "$warning")
    if judge.caution:
        yield Content("")
        yield _quiet(sentence(judge.caution), width)
    yield Content("")
    yield _head(f"FEATURES PRESENT (of {judge.burden.n_burden} responses)")
    yield _quiet("enter: where judges differ", width)


def _head(text: str) -> Content:
    return Content.styled(text, f"bold {QUIET}")


def _quiet(text: str, width: int) -> Content:
    return Content.styled("\n".join(wrap(text, width)) or text, QUIET)
