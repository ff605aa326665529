"""The compact table of groups for a paper: who, how many responses, burdens, accuracies.

The form is that of table 2 of the Text Aphasia Battery's paper (model, N, burden), with the
interval of every figure. The table has one row for each group of one battery.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from tabwb.records.words import plural
from tabwb.report.measures import ACCURACY, BASELINES, BURDEN, measure_of
from tabwb.report.summaries.cautions import bounds_words
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary, Terms, cause_in_words, short_labels
from tabwb.report.summaries.subtests import Share
from tabwb.report.tables.captioned import Captioned, Footnote
from tabwb.report.tables.compact_notes import caution_notes, group_notes
from tabwb.report.tables.declared import names_right, of_judge, truth, whole, with_interval
from tabwb.report.tables.group_names import GroupNames, column_names, group_table, snake
from tabwb.tables.table import Column, RecordColumn


def compact_table(rows: Sequence[Grouped], names: GroupNames | None = None) -> Captioned:
    """Return the compact table of groups."""
    names = names or GroupNames()
    battery = rows[0].battery
    columns: list[RecordColumn] = []
    judges = judges_of(rows)
    labels = short_labels(judges)
    prefixes = ["" if len(judges) == 1 else f"{snake(label)}_" for label in labels]
    for judge, label, prefix in zip(judges, labels, prefixes, strict=True):
        columns += _burden_columns(judge.terms, label, prefix)
    if not judges:
        columns.append(whole("n", "N", "responses that count", lambda row: row.summary.answers.n))
    titles = {named.id: named.title for row in rows for named in row.summary.named}
    taken = [column.name for column in (*names.columns(rows), *(one.column for one in columns))]
    own = column_names((*(subtest.id for subtest in battery.subtests), *titles), taken)
    for subtest in battery.subtests:
        if any(part.share.scored for row in rows if (part := row.part(subtest.id))):
            columns += _accuracy_columns(subtest.id, subtest.title, own[subtest.id])
    for naming, title in titles.items():
        columns += _names_right(naming, title, own[naming])
    notes: list[Footnote] = []
    for judge, label, prefix in zip(judges, labels, prefixes, strict=True):
        shown = f"{prefix}n", f"{prefix}burden"
        suffix = f" by {label}" if prefix else ""
        notes += [Footnote(text, shown) for text in burden_notes(rows, names, judge.terms, suffix)]
    notes += caution_notes(judges, [(f"{prefix}n", f"{prefix}burden") for prefix in prefixes])
    notes += baseline_notes(rows, own)
    notes += group_notes(rows, names, own)
    table = group_table("compact", rows, names, columns)
    also = _also(rows, names.columns(rows))
    caption = partial(_caption, rows, judges, labels, prefixes, own)
    return Captioned(table, caption(table.names), tuple(notes), battery.id, also, caption)


def _also(rows: Sequence[Grouped], named: Sequence[Column]) -> dict[str, tuple[str, ...]]:
    """Return other names of the columns that name groups: ``group``, or the one key."""
    if len(named) > 1:
        return {"group": tuple(column.name for column in named)}
    return {snake(rows[0].group.by): (named[0].name,)}


def judges_of(rows: Sequence[Grouped]) -> list[JudgeSummary]:
    """Return one summary of each judge and its terms, in order of appearance."""
    first: dict[Terms, JudgeSummary] = {}
    for row in rows:
        for judge in row.summary.judges:
            first.setdefault(judge.terms, judge)
    return list(first.values())


def _burden_columns(terms: Terms, label: str, prefix: str) -> Iterator[RecordColumn]:
    suffix = f" ({label})" if prefix else ""
    taken = of_judge(terms)
    meaning = "responses over which the burden is the mean"
    yield whole(f"{prefix}n", f"N{suffix}", meaning, taken(lambda own: own.n_burden))
    title = BURDEN.title.removeprefix("symptom ").capitalize()
    column = Column(f"{prefix}burden", f"{title}{suffix}", BURDEN.meaning, "number", BURDEN.unit, 2)
    yield from with_interval(
        column,
        taken(lambda own: own.symptom_burden.value),
        taken(lambda own: own.interval),
        why=taken(lambda own: own.interval_reason),
    )
    marked = "fewer than half of the responses are usable"
    yield truth(f"{prefix}burden_few", "Few usable", marked, taken(lambda own: own.usable.few))


def _accuracy_columns(subtest: str, title: str, name: str) -> Iterator[RecordColumn]:
    def taken(value: Callable[[Share], Any]) -> Callable[[Grouped], Any]:
        return lambda row: None if (part := row.part(subtest)) is None else value(part.share)

    meaning = f"{ACCURACY.meaning}, in {title}"
    column = Column(name, title, meaning, "number", ACCURACY.unit, 2)
    yield from with_interval(
        column,
        taken(lambda share: share.accuracy().value),
        taken(Share.interval),
        why=taken(Share.interval_reason),
    )


def _names_right(subtest: str, title: str, name: str) -> tuple[RecordColumn, ...]:
    meaning = f"share of names that count as right in {title}: {measure_of('outcome').meaning}"
    column = Column(name, title, meaning, "number", ACCURACY.unit, 2)
    return names_right(column, subtest, "outcome")


def _caption(
    rows: Sequence[Grouped],
    judges: Sequence[JudgeSummary],
    labels: Sequence[str],
    prefixes: Sequence[str],
    own: Mapping[str, str],
    columns: Collection[str],
) -> str:
    battery = rows[0].battery
    parts = [
        f"symptom burden over {plural(len(judge.burden.features), 'feature')} "
        f"({label}, {judge.scope.replace('-', ' ')})"
        for judge, label, prefix in zip(judges, labels, prefixes, strict=True)
        if {f"{prefix}n", f"{prefix}burden"} & {*columns}
    ]
    scored = [part.id for row in rows for part in row.summary.subtests if part.share.scored]
    if any(own[subtest] in columns for subtest in scored):
        parts.append("accuracy (policy exact)")
    if any(own[named.id] in columns for row in rows for named in row.summary.named):
        parts.append("names counted as right (a listener's score, else the rule of the battery)")
    shown = " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:]))) or "responses"
    return (
        f"{battery.title} {battery.version}: {shown}, with 95 % intervals for prompts like these."
    )


def burden_notes(
    rows: Sequence[Grouped], names: GroupNames, terms: Terms, suffix: str = ""
) -> Iterator[str]:
    """Yield what must be known of the burdens of a judge: what N is, and what has no burden."""
    yield f"N{suffix}: responses over which the burden is the mean."
    own = [(row, judge) for row in rows if (judge := row.judge(terms))]
    if any(judge.burden.usable.few for _, judge in own):
        yield "†: fewer than half of the responses are usable; such a burden is not to be ranked."
    without: dict[str, list[str]] = {}
    for row, judge in own:
        causes = Counter(judge.burden.no_burden)
        if causes:
            why = ", ".join(
                f"{number} {cause_in_words(cause)}" for cause, number in causes.most_common()
            )
            what = f"{causes.total()} of {judge.burden.n_responses} ({why})"
            without.setdefault(what, []).append(names.title(row))
    if without:
        told = (
            f"{', '.join(having)}{':' if len(having) > 1 else ''} {what}"
            f"{' each' if len(having) > 1 else ''}"
            for what, having in without.items()
        )
        yield f"Responses without a burden{suffix}: {'; '.join(told)}."
    bounded = [(row, words) for row, judge in own for words in bounds_words(judge.burden)]
    if bounded:
        told = (f"{names.title(row)} {words}" for row, words in bounded)
        yield f"Bounds of the burden{suffix}: {'; '.join(told)}."


def baseline_notes(rows: Sequence[Grouped], columns: Mapping[str, str]) -> Iterator[Footnote]:
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
        yield Footnote(f"Baselines of {title}: {shown}.", (columns[subtest],))
