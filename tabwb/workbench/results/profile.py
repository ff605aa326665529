"""How often each feature is present, judge by judge, with the burden: values and lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.analysis.cautions import bounds_words
from tabwb.analysis.statistics.results import Results
from tabwb.battery.model import Battery, Category
from tabwb.media.wording import (
    between,
    burden_words,
    causes_listed,
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
from tabwb.workbench.shell.drawn import interval_bar, scale, share_bar
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge

BAR, MOST_BAR = 6, 16
"""Columns of a bar, at least and at most."""
AXIS = 16
"""Least columns of the intervals."""
ENDS = 11
"""Columns of both ends of an interval."""


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
    axis = min(width - len(words) - len(over) - 9, 2 * MOST_BAR)
    found = burden.interval
    low, high = (None, None) if found is None else (found.low, found.high)
    parts: list[Content | tuple[str, str]] = [(words, f"bold {ACCENT}"), (f"  {over}", "")]
    if axis >= AXIS and value is not None:
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
    name = max(map(len, profiles.titles.values()), default=8)
    counts = [max([len(_count(rate)) for rate in own.values()] or [1]) for own in profiles.rates]
    room = width - name - 2 - sum(counts) - 3 * len(counts)
    if several:
        bar, axis, ends = min(max(room // len(counts), BAR), MOST_BAR), 0, 0
    else:
        ends = ENDS if room >= BAR + ENDS else 0
        axis = room - ends - MOST_BAR
        axis = min(axis, 2 * MOST_BAR) if axis >= AXIS else 0
        bar = max(min(room - ends - axis, MOST_BAR), 0)
    yield Content.assemble(*_heads(name, counts, bar, axis, ends))
    for category in profiles.categories:
        yield from _category(profiles, category)
        for feature in category.features:
            parts: list[Content | tuple[str, str]] = []
            known = [own.get(feature, Rate()) for own in profiles.rates]
            any_known = any(rate.of for rate in known)
            parts.append((f"{profiles.titles[feature]:<{name}}  ", "" if any_known else QUIET))
            for rate, count in zip(known, counts, strict=True):
                parts += [(f"{_count(rate):>{count}} ", "" if rate.of else QUIET)]
                parts += [share_bar(rate.share, bar) if rate.of else Content(" " * bar), ("  ", "")]
            found = known[0].interval
            if axis and found is not None:
                share = known[0].share
                parts += [interval_bar(found.low, share, found.high, width=axis), ("  ", "")]
            if ends and found is not None:
                parts.append((between(found), QUIET))
            yield Content.assemble(*parts)


def _heads(
    name: int, counts: Sequence[int], bar: int, axis: int, ends: int
) -> Iterator[Content | tuple[str, str]]:
    yield (f"{'feature':<{name}}  ", QUIET)
    for at, count in enumerate(counts):
        letter = ascii_uppercase[at % 26] if len(counts) > 1 else "present"
        yield (f"{letter:<{count + bar + 3}}"[: count + bar + 3], QUIET)
    if axis:
        yield scale(axis)
        yield "  ", ""
    if ends:
        yield "95 %", QUIET


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


def _count(rate: Rate) -> str:
    return f"{tally(rate.present)}/{rate.of}" if rate.of else NONE
