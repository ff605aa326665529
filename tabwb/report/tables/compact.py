"""The compact table of groups for a paper: who, how many responses, burdens, accuracies.

The form is that of table 2 of the Text Aphasia Battery's paper (model, N, burden), with the
interval of every figure. The table has one row for each group of one battery.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tabwb.battery.model import Battery
from tabwb.records.condition import ColumnType
from tabwb.records.words import plural
from tabwb.report.measures import ACCURACY, BASELINES, BURDEN
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary, Terms, judge_labels
from tabwb.report.summaries.subtests import SubtestSummary
from tabwb.scoring.estimate import Interval
from tabwb.scoring.naming.summary import NamingAccuracy
from tabwb.tables.table import Column, Table, table_of

GROUP = "group"
Given = Callable[[Grouped], Any]


class Footnote(NamedTuple):
    """A sentence below a table; it belongs to columns, or to all where it names none."""

    text: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compact:
    """The compact table of the groups that were given one battery.

    Attributes:
        table: the ends of the interval of column ``x`` are ``x_low`` and ``x_high``; ``x_few`` is
            true where fewer than half of the responses are usable.
        caption: what the table shows.
        notes: the sentences that belong below it.
    """

    battery: Battery
    table: Table
    caption: str
    notes: tuple[Footnote, ...]


def compact_tables(
    rows: Sequence[Grouped], title: Callable[[Grouped], str] | None = None
) -> tuple[Compact, ...]:
    """Return a compact table for each battery, in order of appearance.

    Args:
        rows: groups with their summaries, in the order of the table.
        title: the name of a group; None: :attr:`Group.title`.
    """
    name = title or (lambda row: row.group.title)
    hashes = dict.fromkeys(row.battery.content_hash for row in rows)
    return tuple(
        _compact([row for row in rows if row.battery.content_hash == given], name)
        for given in hashes
    )


def _compact(rows: Sequence[Grouped], name: Callable[[Grouped], str]) -> Compact:
    battery = rows[0].battery
    columns: list[tuple[Column, Given]] = [
        (Column(GROUP, _heading(rows), "the name of the group"), name)
    ]
    judges = _judges(rows)
    labels = judge_labels(judges)
    prefixes = ["" if len(judges) == 1 else f"{_snake(label)}_" for label in labels]
    for judge, label, prefix in zip(judges, labels, prefixes, strict=True):
        columns += _burden_columns(judge.terms, label, prefix)
    if not judges:
        columns.append((Column("n", "N", "responses that count", "integer"), _answers))
    for subtest in battery.subtests:
        if any(_part(row, subtest.id).share.scored for row in rows if _has(row, subtest.id)):
            columns += _accuracy_columns(subtest.id, subtest.title)
    columns += _naming_columns(rows)
    table = table_of(
        "compact",
        [column for column, _ in columns],
        [[value(row) for _, value in columns] for row in rows],
    )
    notes: list[Footnote] = []
    for judge, label, prefix in zip(judges, labels, prefixes, strict=True):
        shown = f"{prefix}n", f"{prefix}burden"
        suffix = f" by {label}" if prefix else ""
        notes += [Footnote(text, shown) for text in _burden_notes(rows, name, judge.terms, suffix)]
    notes += _baselines(rows)
    return Compact(battery, table, _caption(rows, judges, labels), tuple(notes))


def _heading(rows: Sequence[Grouped]) -> str:
    titles = dict.fromkeys(title for row in rows for title in row.group.titles)
    return ", ".join(titles).capitalize()


def _answers(row: Grouped) -> int:
    return row.summary.answers.n


def _judges(rows: Sequence[Grouped]) -> list[JudgeSummary]:
    first: dict[Terms, JudgeSummary] = {}
    for row in rows:
        for judge in row.summary.judges:
            first.setdefault(judge.terms, judge)
    return list(first.values())


def _burden_columns(terms: Terms, label: str, prefix: str) -> Iterator[tuple[Column, Given]]:
    suffix = f" ({label})" if prefix else ""

    def of(row: Grouped) -> JudgeSummary | None:
        return next((judge for judge in row.summary.judges if judge.terms == terms), None)

    def number(row: Grouped) -> int | None:
        judge = of(row)
        return None if judge is None else judge.burden.n_burden

    def burden(row: Grouped) -> float | None:
        judge = of(row)
        return None if judge is None else judge.burden.symptom_burden.value

    def interval(row: Grouped) -> Interval | None:
        judge = of(row)
        return None if judge is None else judge.burden.interval

    def few(row: Grouped) -> bool | None:
        judge = of(row)
        return None if judge is None else judge.burden.usable.few

    meaning = "responses over which the burden is the mean"
    yield Column(f"{prefix}n", f"N{suffix}", meaning, "integer"), number
    title = BURDEN.title.removeprefix("symptom ").capitalize()
    yield from _with_interval(
        f"{prefix}burden", f"{title}{suffix}", BURDEN.meaning, BURDEN.unit, burden, interval
    )
    marked = "fewer than half of the responses are usable"
    yield Column(f"{prefix}burden_few", "Few usable", marked, "boolean"), few


def _accuracy_columns(subtest: str, title: str) -> Iterator[tuple[Column, Given]]:
    def accuracy(row: Grouped) -> float | None:
        return _part(row, subtest).share.accuracy().value if _has(row, subtest) else None

    def interval(row: Grouped) -> Interval | None:
        return _part(row, subtest).share.interval() if _has(row, subtest) else None

    meaning = f"{ACCURACY.meaning}, in {title}"
    yield from _with_interval(_snake(subtest), title, meaning, ACCURACY.unit, accuracy, interval)


def _naming_columns(rows: Sequence[Grouped]) -> Iterator[tuple[Column, Given]]:
    titles = {named.id: named.title for row in rows for named in row.summary.named}
    for subtest, title in titles.items():
        yield from _names_right(subtest, title)


def _names_right(subtest: str, title: str) -> Iterator[tuple[Column, Given]]:
    def share(row: Grouped) -> NamingAccuracy | None:
        own = (named for named in row.summary.named if named.id == subtest)
        shares = (share for named in own for share in named.summary.accuracy)
        return next((share for share in shares if share.basis == "outcome"), None)

    def rate(row: Grouped) -> float | None:
        found = share(row)
        return None if found is None else found.rate

    def interval(row: Grouped) -> Interval | None:
        found = share(row)
        return None if found is None else found.interval

    meaning = f"share of names that are right by the rule of the battery, in {title}"
    yield from _with_interval(_snake(subtest), title, meaning, ACCURACY.unit, rate, interval)


def _with_interval(
    name: str,
    title: str,
    meaning: str,
    unit: str,
    value: Given,
    interval: Callable[[Grouped], Interval | None],
) -> Iterator[tuple[Column, Given]]:
    kind: ColumnType = "number"

    def end(which: str) -> Given:
        def of(row: Grouped) -> float | None:
            found = interval(row)
            return None if found is None else float(getattr(found, which))

        return of

    yield Column(name, title, meaning, kind, unit, 2), value
    for which, words in (("low", "lower"), ("high", "upper")):
        told = f"{words} end of the 95 % interval for prompts like these of {name}"
        yield Column(f"{name}_{which}", which.capitalize(), told, kind, unit, 2), end(which)


def _has(row: Grouped, subtest: str) -> bool:
    return any(part.id == subtest for part in row.summary.subtests)


def _part(row: Grouped, subtest: str) -> SubtestSummary:
    return next(part for part in row.summary.subtests if part.id == subtest)


def _snake(text: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")


def _caption(rows: Sequence[Grouped], judges: Sequence[JudgeSummary], labels: Sequence[str]) -> str:
    battery = rows[0].battery
    parts = [
        f"symptom burden over {plural(len(judge.burden.features), 'feature')} "
        f"({label}, {judge.scope.replace('-', ' ')})"
        for judge, label in zip(judges, labels, strict=True)
    ]
    if any(part.share.scored for row in rows for part in row.summary.subtests):
        parts.append("accuracy (policy exact)")
    if any(row.summary.named for row in rows):
        parts.append("right names (battery rule)")
    shown = " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:]))) or "responses"
    return (
        f"{battery.title} {battery.version}: {shown}, with 95 % intervals for prompts like these."
    )


def _burden_notes(
    rows: Sequence[Grouped], name: Callable[[Grouped], str], terms: Terms, suffix: str
) -> Iterator[str]:
    yield f"N{suffix}: responses over which the burden is the mean."
    own = [(row, judge) for row in rows for judge in row.summary.judges if judge.terms == terms]
    if any(judge.burden.usable.few for _, judge in own):
        yield "†: fewer than half of the responses are usable; such a burden is not to be ranked."
    without = []
    for row, judge in own:
        causes: Counter[str] = Counter()
        for cause, number in judge.burden.no_burden.items():
            causes[_short(cause)] += number
        if causes:
            why = ", ".join(f"{number} {cause}" for cause, number in causes.most_common())
            without.append(f"{name(row)} {causes.total()} of {judge.burden.n_responses} ({why})")
    if without:
        yield f"Responses without a burden{suffix}: {'; '.join(without)}."


def _short(cause: str) -> str:
    """Return why a response has no burden, without the reason of a feature.

    >>> _short("prompt-echo"), _short("jargon undefined: too short")
    ('prompt echo', 'with an undefined feature')
    """
    return "with an undefined feature" if "undefined" in cause else cause.replace("-", " ")


def _baselines(rows: Sequence[Grouped]) -> Iterator[Footnote]:
    titles = {measure.id: measure.title for measure in BASELINES}
    values: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
    for row in rows:
        for part in row.summary.subtests:
            for baseline, estimate in part.baselines.items() if part.share.scored else ():
                if estimate.value is not None:
                    own = values.setdefault((part.id, part.title), {})
                    own.setdefault(titles.get(baseline, baseline), {})[f"{estimate.value:.2f}"] = (
                        None
                    )
    for (subtest, title), baselines in values.items():
        shown = ", ".join(
            f"{baseline} {' to '.join(dict.fromkeys((min(found), max(found))))}"
            for baseline, found in baselines.items()
        )
        yield Footnote(f"Baselines of {title}: {shown}.", (_snake(subtest),))
