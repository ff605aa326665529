"""Results of an administration as tables, and the list of administrations.

Rich is imported with this module, which commands import only when they print.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tabwb.analysis.cautions import bounds_words, cautions
from tabwb.analysis.names import name_in, names_of
from tabwb.analysis.norms import norms_of
from tabwb.analysis.statistics.results import Results
from tabwb.analysis.tables.captioned import Captioned, Footnote
from tabwb.battery.model import Battery
from tabwb.media.terminal import ForWidth, SpecCell, empty_table
from tabwb.media.views.results import features_table, own_tables, statistics_tables
from tabwb.media.views.tables import shown_columns, view_of
from tabwb.media.views.typed import captioned_view
from tabwb.media.wording import (
    burden_words,
    causes_listed,
    features_of,
    intervals_words,
    number,
    tally,
    terms_of,
    usable_words,
    without_burden,
)
from tabwb.records.conditions import line_of
from tabwb.records.trials import Administration
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge

BAR = 12
NARROW_BAR = 6
RATES_FROM = 68
"""From so many columns on the share of responses with a category is shown beside its bar."""
POLICIES_FROM = 58
"""From so many columns on the policies *normalised* and *extracted* have columns."""
_STATUS = {
    "running": "▸ running",
    "interrupted": "! interrupted",
    "paused": "‖ paused",
    "done": "✓ complete",
    "discontinued": "■ discontinued",
}


def administration_view(
    administration: Administration,
    battery: Battery,
    results: Results,
    *,
    details: bool = False,
    arpabet: bool = False,
    written: Callable[[Iterable[str]], str] = "\n".join,
) -> RenderableType:
    """Return the results of one administration."""
    conditions = administration.conditions
    facts = [conditions.examinee, *line_of(conditions).values()]
    if conditions.kind == "speaker":
        facts.append(f"session {administration.session_date or 'of unknown date'}")
    progress = f"{administration.answered}/{administration.planned}"
    title = f"#{administration.id}  {battery.title} {battery.version}"
    head = Table.grid(expand=True)
    head.add_column()
    head.add_column(justify="right", no_wrap=True)
    head.add_row(Text(title, style="bold"), f"{_STATUS[administration.status_word]}  {progress}")
    parts: list[RenderableType] = [head, Text("  ·  ".join(facts), style="dim")]
    if administration.title:
        parts.insert(1, Text(administration.title))
    if administration.tags:
        parts.append(Text(f"tags: {', '.join(administration.tags)}", style="dim"))
    parts += [Text(f"note: {note}", style="dim") for note in administration.notes]
    if administration.reason:
        parts.append(Text(f"reason: {administration.reason}", style="dim"))
    if sentence := opening_sentence(battery, results):
        parts += [Text(), Text(sentence)]
    parts += [Text(), *summary_view(results, battery, details=details, arpabet=arpabet)]
    if conditions.kind != "model" and (norms := norms_of(conditions.examinee, battery.id, results)):
        shown = norms.select(shown_columns(norms))
        notes = tuple(map(Footnote, norms.notes))
        parts += [captioned_view(Captioned(shown, view_of(norms).caption, notes)), Text()]
    sentences = cautions(
        battery,
        results,
        model=conditions.kind == "model",
        lesion=conditions.lesion is not None,
        given=[administration],
    )
    return Group(*parts, Text(written(sentences), style="dim"))


MOST_FOUND = 3
"""So many features that were found most often are named."""


def opening_sentence(battery: Battery, results: Results) -> str:
    """Return how many answers and names are right, and which features the first judge found."""
    scored = [part.right for part in results.parts if part.right.n]
    n, right = sum(one.n for one in scored), sum(one.total or 0 for one in scored)
    told = []
    if n:
        share = f"All {n}" if right == n > 1 else f"{tally(right)} of {n}"
        told.append(f"{share} scored answers are right")
    names = [one.summary.accuracy[0] for one in results.named]
    if n := sum(one.n for one in names):
        still_open = sum(one.open for one in names)
        without = f" ({still_open} without a verdict)" if still_open else ""
        told.append(f"{sum(one.correct for one in names)} of {n} names are right{without}")
    elif names:
        told.append("no name has a verdict")
    if results.judges:
        told.append(_found(battery, results.judges[0]))
    elif battery.features:
        told.append("no judge has looked for features")
    words = "; ".join(told)
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _found(battery: Battery, judge: Judge) -> str:
    burden, of = judge.burden, len(battery.features)
    seen = f"its set: {len(burden.features)} of {of}"
    if not burden.n_burden:
        return f"{judge.rater} has rated no response ({seen})"
    titles = {feature.id: feature.title.lower() for feature in battery.features}
    most = Counter({name: n for name, n in burden.present.items() if n}).most_common()
    named = ", ".join(f"{titles[name]} in {tally(n)}" for name, n in most[:MOST_FOUND])
    found = plural(len(most), "feature") if most else "no feature"
    more = f" and {len(most) - MOST_FOUND} more" if len(most) > MOST_FOUND else ""
    listed = f": {named}{more}" if most else ""
    where = plural(burden.n_burden, "response")
    if burden.n_burden < burden.usable.usable:  # what it found in others is not counted
        where += " with a burden"
    return f"{judge.rater} found {found} in {where} ({seen}){listed}"


def summary_view(
    results: Results,
    battery: Battery,
    *,
    details: bool = False,
    arpabet: bool = False,
) -> Iterator[RenderableType]:
    """Yield subtests, measures of their scorers, burdens, and statistics."""
    if results.named:
        from tabwb.media.views.naming import naming_tables

        for subtest in results.named:
            yield from map(captioned_view, naming_tables(subtest, arpabet=arpabet))
    yield from map(captioned_view, own_tables(results, battery, details=details))
    for judge in results.judges:
        yield burden_view(judge, category_titles(battery))
        yield Text()
        if details:
            yield captioned_view(features_table(judge, results, battery))
    yield from map(captioned_view, statistics_tables([results]))


def category_titles(battery: Battery) -> dict[str, str]:
    """Return the titles of a battery's categories, by id."""
    categories = (category for grouping in battery.groupings for category in grouping.categories)
    return {category.id: category.title for category in categories}


def burden_view(judge: Judge, titles: Mapping[str, str]) -> RenderableType:
    """Return the burden of one judge, with rater, scope, set and numbers of responses."""
    burden = judge.burden
    line = Text.assemble(
        ("symptom burden  ", "bold"),
        (burden_words(burden), "bold cyan"),
        (f" over {features_of(judge)}", "bold"),
    )
    facts = (
        f"{terms_of(judge)}  ·  {plural(burden.n_responses, 'response')}, "
        f"{burden.n_distinct} distinct  ·  {number(burden.words_mean)} words"
    )
    parts: list[RenderableType] = [Text(usable_words(burden.usable)), line]
    if burden.symptom_burden.defined and (intervals := intervals_words(burden.intervals)):
        parts.append(Text(f"95 %: {', '.join(intervals)}"))
    parts += map(Text, bounds_words(burden))
    if reason := burden.symptom_burden.reason:
        parts.append(Text(reason, style="dim"))
    parts.append(Text(facts, style="dim"))
    if without := without_burden(burden):
        parts.append(Text(f"usable but without a burden: {causes_listed(without)}", style="dim"))
    if judge.not_judged:
        parts.append(Text(f"not rated yet: {judge.not_judged}", style="dim"))
    if any(category.count.defined for category in judge.burden.categories.values()):
        parts.append(ForWidth(partial(_category_bars, judge, titles)))
    return Padding(Group(*parts), (0, 1))


def _category_bars(judge: Judge, titles: Mapping[str, str], width: int) -> Table:
    bars = Table.grid(padding=(0, 2))
    bars.add_column()
    bars.add_column(no_wrap=True)
    bars.add_column(justify="right", no_wrap=True)
    if width >= RATES_FROM:
        bars.add_column(justify="right", style="dim", no_wrap=True)
    longest = max(len(titles.get(name, name)) for name in judge.burden.categories)
    room = width - longest - len("0.00 of 1") - 4
    length = BAR if width >= RATES_FROM else min(NARROW_BAR, max(room, 1))
    for name, category in judge.burden.categories.items():
        if category.count.value is not None and category.rate.value is not None:
            cells = (
                titles.get(name, name),
                _bar(category.count.value / category.of, length),
                f"{category.count.value:.2f} of {category.of}",
                f"in {category.rate.value:.2f} of responses",
            )
            bars.add_row(*cells[: len(bars.columns)])
    return bars


def _bar(share: float, length: int) -> Text:
    full = round(share * length)
    return Text.assemble(("━" * full, "cyan"), ("─" * (length - full), "dim"))


def _listed(given: Administration, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield name_in(names, given.conditions), ""
    if given.title:
        yield given.title, "bold"
    words = [text for name, text in line_of(given.conditions).items() if name != "lesion"]
    yield ", ".join(words), "dim"
    if given.tags:
        yield f"tags: {', '.join(given.tags)}", "dim"
    for note in given.notes:
        yield f"note: {note}", "dim"


def list_view(administrations: Sequence[Administration]) -> RenderableType:
    """Return the administrations of a store: who, and how, with title, tags and notes."""
    if not administrations:
        return Text("No administrations yet. Start one with: tabwb run tab --model bundled")
    made = empty_table()
    made.add_column("id", justify="right", no_wrap=True)
    made.add_column("battery", no_wrap=True)
    made.add_column("examinee", ratio=1)
    made.add_column("answered", justify="right", no_wrap=True)
    made.add_column("status", no_wrap=True)
    made.add_column("given (UTC)", no_wrap=True, style="dim")
    names = names_of(given.conditions for given in administrations)
    for given in administrations:
        made.add_row(
            str(given.id),
            given.battery,
            SpecCell(tuple(_listed(given, names))),
            f"{given.answered}/{given.planned}",
            _STATUS[given.status_word],
            given.given_at,
        )
    return made
