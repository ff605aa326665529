"""One model under one judge: right answers, burden, categories, features present."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

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
from tabwb.workbench.shell.drawn import interval_bar, share_bar
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


class ModelDetail(OptionList):
    """The features can be chosen; everything else is between them."""

    HELP = HELP
    ENTER_WORD = "Differ"

    def __init__(self) -> None:
        super().__init__(id="model-detail", classes="enter-opens", compact=True)
        self._shown: tuple[Grouped | None, Basis | None, int] = (None, None, 0)

    def show(self, row: Grouped | None, basis: Basis | None) -> None:
        """Show a model."""
        width = self.content_size.width
        if (row, basis, width) == self._shown:
            return
        before, self._shown = self._shown[0], (row, basis, width)
        same = before is not None and row is not None and before.label == row.label
        at, top = self.highlighted, self.scroll_y
        self.set_options(self._options_of(row, basis, max(width - 2, 24)))
        if same:
            self.scroll_to(y=top, animate=False)
        self.highlighted = at if same and at is not None else None
        if self.highlighted is None and self.has_focus:
            self.highlighted = next(iter(self._features()), None)

    def _features(self) -> list[int]:
        return [place for place, option in enumerate(self.options) if not option.disabled]

    def on_resize(self) -> None:
        """Lay out again."""
        self.show(*self._shown[:2])

    def on_focus(self) -> None:
        """The first feature."""
        if self.highlighted is None:
            self.action_first()

    def to_features(self) -> None:
        """Take the keys, with as many features in sight as there is room for below their head."""
        self.focus()
        self.call_after_refresh(self._show_features)

    def _show_features(self) -> None:
        features = self._features()
        if not features or self.highlighted not in (None, features[0]):
            return
        room = self.scrollable_content_region.height - 2
        self.highlighted = features[min(max(room, 1), len(features)) - 1]
        self.highlighted = features[0]

    def action_cursor_up(self) -> None:
        """Move from the first feature to the widget above it."""
        if self.highlighted in (None, *self._features()[:1]):
            self.scroll_up()
        else:
            super().action_cursor_up()

    def _options_of(self, row: Grouped | None, basis: Basis | None, width: int) -> Iterator[Option]:
        if row is None or basis is None:
            return
        judge = row.judge(basis.terms)
        lines = [*(_quiet(fact, width) for fact in _facts(row)), Content("")]
        lines += [*_answers(row, width), Content("")]
        if judge is None:
            if not row.battery.coded:
                who = "No judge" if basis.terms is None else "This judge"
                words = "has" if basis.terms is None else "has not"
                lines.append(_quiet(f"{who} {words} rated these responses.", width))
        else:
            lines += _judged(row, judge, width)
        yield from (Option(line, disabled=True) for line in lines)
        if judge is not None:
            yield from self._features_of(row, judge, width)
        yield from (Option(line, disabled=True) for line in _statistics(row, width))

    def _features_of(self, row: Grouped, judge: Judge, width: int) -> Iterator[Option]:
        burden = judge.burden
        titles = {feature.id: feature.title for feature in row.battery.features}
        room = max(min(width - TITLES, MOST_AXIS), LEAST_AXIS)
        for feature, count in sorted(burden.present.items(), key=lambda pair: -pair[1]):
            title = Content(titles.get(feature, feature))
            figure = f" {tally(count)}/{burden.n_burden}" if burden.n_burden else f" {NONE}"
            like = burden.rate_intervals(feature)[0].interval if burden.n_burden else None
            drawn = interval_bar(
                None if like is None else like.low,
                burden.rate(feature).value,
                None if like is None else like.high,
                width=room,
            )
            yield Option(spread(title, Content.assemble(drawn, figure), width), id=feature)


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
