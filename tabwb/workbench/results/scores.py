"""The accuracies of subtests, and how often each judge found each feature, as lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_uppercase
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.analysis.cautions import bounds_words
from tabwb.analysis.statistics.results import Part, Results
from tabwb.battery.model import Battery, Category
from tabwb.media.wording import (
    baselines_of,
    between,
    burden_words,
    causes_listed,
    count,
    features_of,
    intervals_words,
    number,
    plain,
    tally,
    terms_of,
    usable_words,
    without_burden,
)
from tabwb.records.words import NONE
from tabwb.scoring.estimate import Interval
from tabwb.workbench.shell.columns import Column, Heading, laid
from tabwb.workbench.shell.drawn import BASELINE, BOTH, VALUE, interval_bar, scale, share_bar
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge


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


def _interval_words(subtest: Part) -> str:
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
    Column("95 %", _interval_words),
    Column("norm.", _policy(1), right=True, rank=2),
    Column("extr.", _policy(2), right=True, rank=2),
    Column("baselines", _baselines, rank=1, style=QUIET),
)
"""The columns of right answers; baselines that have no room are drawn all the same."""


BAR, AXIS = (6, 16), (16, 32)
"""Columns of a bar and of an interval, at least and at most."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a judge found a feature.

    Attributes:
        present: responses in which it is present.
        of: responses with a burden; 0: the feature is not in the judge's set.
        share: of the responses, the mean of the items' shares; None where it is undefined.
        interval: of the share, for prompts like these; None where there is none.
    """

    present: float = 0
    of: int = 0
    share: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Profiles:
    """The features of a battery, and how often each judge found them.

    Attributes:
        categories: in the battery's order; the last one, without an id, has the others.
        titles: of the features, by id.
        judges: in the order of the summary.
        rates: of each judge, by feature.
    """

    categories: tuple[Category, ...]
    titles: Mapping[str, str]
    judges: tuple[Judge, ...]
    rates: tuple[dict[str, Rate], ...]


def profiles_of(battery: Battery, results: Results) -> Profiles:
    """Return how often each judge found each feature of a battery."""
    titles = {feature.id: feature.title for feature in battery.features}
    categories = [one for grouping in battery.groupings[:1] for one in grouping.categories]
    inside = {name for category in categories for name in category.features}
    others = tuple(name for name in titles if name not in inside)
    if others:
        categories.append(Category("", "Other" if inside else "", others))
    rates = tuple(
        {name: _rate(judge, name) for name in judge.burden.features} for judge in results.judges
    )
    return Profiles(tuple(categories), titles, results.judges, rates)


def _rate(judge: Judge, feature: str) -> Rate:
    burden = judge.burden
    if not burden.n_burden:
        return Rate()
    found = burden.rate_intervals(feature)[0].interval if burden.sizes else None
    share = burden.rate(feature).value
    return Rate(burden.present[feature], burden.n_burden, share, found)


def burden_lines(judge: Judge, width: int) -> Iterator[Content]:
    """Yield the burden of a judge with its interval, and of which responses it is."""
    burden = judge.burden
    value, of = burden.symptom_burden.value, len(burden.features)
    words = f"burden {burden_words(burden)}"
    over = f"over {features_of(judge)}"
    axis = min(width - len(words) - len(over) - 9, AXIS[1])
    found = burden.interval
    low, high = (None, None) if found is None else (found.low, found.high)
    parts: list[Content | tuple[str, str]] = [(words, f"bold {ACCENT}"), (f"  {over}", "")]
    if axis >= AXIS[0] and value is not None:
        drawn = interval_bar(low, value, high, width=axis, highest=float(of))
        parts += [("  0 ", QUIET), drawn, (f" {of}", QUIET)]
    yield Content.assemble(*parts)
    facts = [usable_words(burden.usable)]
    if value is not None and (intervals := intervals_words(burden.intervals)):
        facts.append(f"95 %: {', '.join(intervals)}")
    facts += bounds_words(burden)
    if burden.symptom_burden.reason:
        facts.append(burden.symptom_burden.reason)
    facts.append(f"{burden.n_distinct} distinct, {number(burden.words_mean)} words")
    if without := without_burden(burden):
        facts.append(f"usable but without a burden: {causes_listed(without)}")
    if judge.not_judged:
        facts.append(f"not rated yet: {judge.not_judged}")
    terms = terms_of(judge).replace("  ·  ", " · ").removeprefix(f"{judge.rater} · ")
    yield from folded(" · ".join([*facts, terms]), width, QUIET)


def profile_lines(profiles: Profiles, width: int) -> Iterator[Content]:
    """Yield the burden of each judge, then a line for each feature with the judges beside."""
    if not profiles.judges:
        yield from folded("No judge has judged these responses yet; j starts one.", width, QUIET)
        return
    several = len(profiles.judges) > 1
    for at, judge in enumerate(profiles.judges):
        letter = f"{ascii_uppercase[at % 26]}  " if several else ""
        yield Content.assemble((letter, "bold"), (judge.rater, "bold"))
        yield from burden_lines(judge, width)
        yield Content("")
    rows: list[str | Heading] = []
    for category in profiles.categories:
        rows += [*map(Heading, _category(profiles, category)), *category.features]
    yield from laid(_columns(profiles), rows, width)


def _columns(profiles: Profiles) -> Iterator[Column[str]]:
    """Yield the title of a feature, and for each judge in how many responses it is present."""

    def title(feature: str) -> Content:
        known = any(feature in own for own in profiles.rates)
        return Content.styled(profiles.titles[feature], "" if known else QUIET)

    yield Column("feature", title, least=22)
    several = len(profiles.judges) > 1
    for at, own in enumerate(profiles.rates):
        head = ascii_uppercase[at % 26] if several else "present"
        yield Column(head, partial(_count, own), right=True)
        yield Column("", partial(_bar, own), rank=3, grow=BAR)
    if not several:
        yield Column(scale, partial(_interval, profiles.rates[0]), rank=2, grow=AXIS)
        yield Column("95 %", partial(_ends, profiles.rates[0]), rank=1, style=QUIET)


def _category(profiles: Profiles, category: Category) -> Iterator[Content]:
    """Yield the title of a category with its mean number of features, judge by judge."""
    if not category.title:
        return
    means = []
    for letter, judge in zip(ascii_uppercase, profiles.judges, strict=False):
        own = judge.burden.categories.get(category.id)
        if own is not None and own.of and own.count.defined:
            name = f"{letter} " if len(profiles.judges) > 1 else ""
            means.append(f"{name}{number(own.count)} of {own.of}")
    told = ", ".join(means)
    yield Content.assemble(
        (f"{plain(category.title)}  ", f"bold {QUIET}"), (f"mean {told}" if told else "", QUIET)
    )


Rates = Mapping[str, Rate]
"""How often one judge found each feature."""


def _count(rates: Rates, feature: str) -> Content:
    rate = rates.get(feature)
    if rate is None or not rate.of:
        return Content.styled(NONE, QUIET)
    return Content(f"{tally(rate.present)}/{rate.of}")


def _bar(rates: Rates, feature: str, width: int) -> Content:
    rate = rates.get(feature)
    return share_bar(rate.share, width) if rate is not None and rate.of else Content("")


def _interval(rates: Rates, feature: str, width: int) -> Content:
    rate = rates.get(feature)
    if rate is None or (found := rate.interval) is None:
        return Content("")
    return interval_bar(found.low, rate.share, found.high, width=width)


def _ends(rates: Rates, feature: str) -> str:
    rate = rates.get(feature)
    return "" if rate is None or rate.interval is None else between(rate.interval)
