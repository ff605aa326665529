"""The compact table of groups for a paper: who, how many responses, burdens, accuracies.

The form is that of table 2 of the Text Aphasia Battery's paper (model, N, burden), with the
interval of every figure. The table has one row for each group of one battery.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tabwb.records.condition import ColumnType
from tabwb.records.words import plural
from tabwb.report.measures import ACCURACY, BASELINES, BURDEN
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary, Terms, judge_labels
from tabwb.report.summaries.subtests import SubtestSummary
from tabwb.report.tables.captioned import Captioned, Footnote
from tabwb.report.tables.group_names import GroupNames, snake
from tabwb.scoring.estimate import Interval
from tabwb.scoring.naming.summary import NamingAccuracy
from tabwb.tables.table import Column, table_of

Given = Callable[[Grouped], Any]


def compact_table(rows: Sequence[Grouped], names: GroupNames | None = None) -> Captioned:
    """Return the compact table of groups.

    Args:
        rows: at least one group, all of one battery, in the order of the table.
        names: of groups; None: as results have them.
    """
    names = names or GroupNames()
    battery = rows[0].battery
    columns: list[tuple[Column, Given]] = []
    judges = judges_of(rows)
    labels = judge_labels(judges)
    prefixes = ["" if len(judges) == 1 else f"{snake(label)}_" for label in labels]
    for judge, label, prefix in zip(judges, labels, prefixes, strict=True):
        columns += _burden_columns(judge.terms, label, prefix)
    if not judges:
        columns.append((Column("n", "N", "responses that count", "integer"), _answers))
    for subtest in battery.subtests:
        if any(_part(row, subtest.id).share.scored for row in rows if _has(row, subtest.id)):
            columns += _accuracy_columns(subtest.id, subtest.title)
    columns += _naming_columns(rows)
    notes: list[Footnote] = []
    for judge, label, prefix in zip(judges, labels, prefixes, strict=True):
        shown = f"{prefix}n", f"{prefix}burden"
        suffix = f" by {label}" if prefix else ""
        notes += [Footnote(text, shown) for text in burden_notes(rows, names, judge.terms, suffix)]
    notes += baseline_notes(rows)
    table = table_of(
        "compact",
        [*names.columns(rows), *(column for column, _ in columns)],
        [[*names.cells(row), *(value(row) for _, value in columns)] for row in rows],
    )
    return Captioned(table, _caption(rows, judges, labels), tuple(notes))


def _answers(row: Grouped) -> int:
    return row.summary.answers.n


def judges_of(rows: Sequence[Grouped]) -> list[JudgeSummary]:
    """Return one summary of each judge and its terms, in order of appearance."""
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
    yield from _with_interval(snake(subtest), title, meaning, ACCURACY.unit, accuracy, interval)


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
    yield from _with_interval(snake(subtest), title, meaning, ACCURACY.unit, rate, interval)


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


def burden_notes(
    rows: Sequence[Grouped], names: GroupNames, terms: Terms, suffix: str = ""
) -> Iterator[str]:
    """Yield what must be known of the burdens of a judge: what N is, and what has no burden.

    Args:
        rows: the groups.
        names: of groups.
        terms: of the judge.
        suffix: words after N where a table has several judges.
    """
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
            without.append(
                f"{names.title(row)} {causes.total()} of {judge.burden.n_responses} ({why})"
            )
    if without:
        yield f"Responses without a burden{suffix}: {'; '.join(without)}."


def _short(cause: str) -> str:
    """Return why a response has no burden, without the reason of a feature.

    >>> _short("prompt-echo"), _short("jargon undefined: too short")
    ('prompt echo', 'with an undefined feature')
    """
    return "with an undefined feature" if "undefined" in cause else cause.replace("-", " ")


def baseline_notes(rows: Sequence[Grouped]) -> Iterator[Footnote]:
    """Yield the baselines of each subtest, below the column of its accuracy."""
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
        yield Footnote(f"Baselines of {title}: {shown}.", (snake(subtest),))
