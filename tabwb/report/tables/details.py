"""The tables of a report behind the compact one: burdens, features, accuracies, statuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from tabwb.battery.model import Battery
from tabwb.records.words import plural
from tabwb.report.measures import BURDEN, FEATURE_RATE, SUBTEST_MEASURES, WORDS_MEAN
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import Terms, short_labels
from tabwb.report.summaries.subtests import SubtestSummary
from tabwb.report.tables.captioned import Captioned, Footnote
from tabwb.report.tables.compact import baseline_notes, burden_notes, judges_of
from tabwb.report.tables.declared import number, of_judge, text, truth, whole, with_interval
from tabwb.report.tables.group_names import GroupNames, column_names, group_table, snake
from tabwb.scoring.burden import Burden
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimand, EstimatedInterval
from tabwb.tables.rounding import ends_of
from tabwb.tables.table import Column, RecordColumn
from tabwb.tasks.task_type import task_type

COLUMNS_AT_ONCE = 6
"""A table of features has no more of them; the others are in the next table."""
THESE = "95 % interval for exactly these prompts, or why there is none"


def burden_tables(rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the burdens of groups, one table for each judge and its terms."""
    judges = judges_of(rows)
    for judge, label in zip(judges, short_labels(judges), strict=True):
        table = group_table(f"burden-{label}", rows, names, [*_burden_columns(judge.terms)])
        features = plural(len(judge.burden.features), "feature")
        caption = f"Symptom burden over {features}: {label}, {judge.scope.replace('-', ' ')}."
        notes = map(Footnote, burden_notes(rows, names, judge.terms))
        yield Captioned(table, caption, tuple(notes))


def _burden_columns(terms: Terms) -> Iterator[RecordColumn]:
    taken = of_judge(terms)
    yield whole("n", "N", "responses over which the burden is the mean",
                taken(lambda burden: burden.n_burden))  # fmt: skip
    yield whole("usable", "Usable", "usable responses in the judge's scope",
                taken(lambda burden: burden.usable.usable))  # fmt: skip
    yield whole("judged", "Of", "responses in the judge's scope",
                taken(lambda burden: burden.n_responses))  # fmt: skip
    yield whole("distinct", "Distinct", "different texts among them",
                taken(lambda burden: burden.n_distinct))  # fmt: skip
    yield from with_interval(
        Column("burden", "Burden", BURDEN.meaning, "number", BURDEN.unit, 2),
        taken(lambda burden: burden.symptom_burden.value),
        taken(lambda burden: burden.interval),
        why=taken(lambda burden: burden.interval_reason),
    )
    yield truth("burden_few", "Few usable", "fewer than half are usable",
                taken(lambda burden: burden.usable.few))  # fmt: skip
    yield text("these_prompts", "These prompts", THESE,
               taken(lambda burden: _these(burden.intervals)))  # fmt: skip
    yield number("words", "Words", WORDS_MEAN.meaning,
                 taken(lambda burden: burden.words_mean.value),
                 unit=WORDS_MEAN.unit, digits=1)  # fmt: skip


def feature_tables(
    battery: Battery, rows: Sequence[Grouped], names: GroupNames
) -> Iterator[Captioned]:
    """Yield the rates of features, one table or several for each judge and its terms."""
    titles = {feature.id: feature.title for feature in battery.features}
    judges = judges_of(rows)
    for judge, label in zip(judges, short_labels(judges), strict=True):
        features = judge.burden.features
        if not any(own.burden.n_burden for row in rows if (own := row.judge(judge.terms))):
            continue
        at_once = -(-len(features) // max(1, -(-len(features) // COLUMNS_AT_ONCE)))
        for start in range(0, len(features), at_once or 1):
            shown = features[start : start + at_once]
            called = column_names(shown, [column.name for column in names.columns(rows)])
            columns = [
                column
                for feature in shown
                for column in _feature_columns(
                    judge.terms, feature, titles.get(feature, feature), called[feature]
                )
            ]
            part = f", {start + 1} to {start + len(shown)}" if len(features) > len(shown) else ""
            caption = f"Share of responses with a feature{part}: {label}."
            yield Captioned(group_table(f"features-{label}-{start}", rows, names, columns), caption)


def _feature_columns(terms: Terms, feature: str, title: str, name: str) -> Sequence[RecordColumn]:
    def taken(value: Callable[[Burden], Any]) -> Callable[[Grouped], Any]:
        return of_judge(terms)(lambda burden: value(burden) if burden.n_burden else None)

    meaning = f"{FEATURE_RATE.meaning}: {feature}"
    return with_interval(
        Column(name, title, meaning, "number", FEATURE_RATE.unit, 2),
        taken(lambda burden: burden.rate(feature).value),
        taken(lambda burden: burden.rate_intervals(feature)[0].interval),
        why=taken(lambda burden: burden.rate_intervals(feature)[0].reason),
    )


def accuracy_tables(
    battery: Battery, rows: Sequence[Grouped], names: GroupNames
) -> Iterator[Captioned]:
    """Yield the accuracies of each subtest that is scored right or wrong."""
    for subtest in battery.subtests:
        parts = [part for row in rows if (part := row.part(subtest.id))]
        if not any(part.share.scored for part in parts):
            continue
        yes_no = bool(task_type(subtest.response).answers)
        columns = [*_accuracy_columns(subtest.id, yes_no=yes_no)]
        own = {one.id: one.id for one in battery.subtests}
        found = [note for note in baseline_notes(rows, own) if note.columns == (subtest.id,)]
        notes = [Footnote(note.text) for note in found]
        table = group_table(f"accuracy-{subtest.id}", rows, names, columns)
        yield Captioned(table, f"{subtest.title}: accuracy.", tuple(notes))


def _accuracy_columns(subtest: str, *, yes_no: bool) -> Iterator[RecordColumn]:
    def taken(value: Callable[[SubtestSummary], Any]) -> Callable[[Grouped], Any]:
        def cell(row: Grouped) -> Any:
            part = row.part(subtest)
            return None if part is None or not part.share.scored else value(part)

        return cell

    yield whole("n", "N", "responses with a verdict", taken(lambda part: part.share.scored))
    yield from with_interval(
        Column("exact", "Exact", "share of right responses, policy exact", "number", "share", 2),
        taken(lambda part: part.share.accuracy().value),
        taken(lambda part: part.share.interval()),
        why=taken(lambda part: part.share.interval_reason()),
    )
    yield text("these_prompts", "These prompts", THESE,
               taken(lambda part: _these(part.share.intervals())))  # fmt: skip
    for policy in POLICIES[1:]:
        yield number(
            policy, policy.capitalize(), f"share of right responses, policy {policy}",
            taken(partial(_accuracy, policy)), unit="share",
        )  # fmt: skip
    for measure in SUBTEST_MEASURES:
        if measure.yes_no and yes_no:
            yield number(
                measure.id, measure.title.capitalize(), measure.meaning,
                taken(partial(_estimate, measure.id)), unit="share",
            )  # fmt: skip


def _accuracy(policy: str, part: SubtestSummary) -> float | None:
    return part.share.accuracy(policy).value


def _estimate(measure: str, part: SubtestSummary) -> float | None:
    return part.estimate(measure).value


def error_tables(
    battery: Battery, rows: Sequence[Grouped], names: GroupNames
) -> Iterator[Captioned]:
    """Yield the kinds of errors of each subtest in which there are some, under the policy exact."""
    for subtest in battery.subtests:
        kinds = dict.fromkeys(
            kind
            for row in rows
            if (part := row.part(subtest.id))
            for kind, errors in part.by_foil.items()
            if errors.errors["exact"]
        )
        if not kinds:
            continue
        columns = []
        own = column_names(kinds, [column.name for column in names.columns(rows)])
        for kind in kinds:
            words = kind.replace("-", " ")
            meaning = f"errors of the kind {words}, of the responses to items that allow it"
            value = partial(_errors, subtest.id, kind)
            columns.append(text(own[kind], words.capitalize(), meaning, value))
        table = group_table(f"errors-{subtest.id}", rows, names, columns)
        yield Captioned(table, f"{subtest.title}: errors by kind, policy exact.")


def _errors(subtest: str, kind: str, row: Grouped) -> str | None:
    part = row.part(subtest)
    errors = None if part is None else part.by_foil.get(kind)
    return None if errors is None else f"{errors.errors['exact']} of {errors.of}"


def status_table(rows: Sequence[Grouped], names: GroupNames) -> Captioned:
    """Return how many responses count, and their statuses."""
    columns = [
        whole("responses", "Responses", "responses that count", lambda row: row.summary.answers.n),
        whole("usable", "Usable", "usable responses among them",
              lambda row: row.summary.answers.usable.usable),
        whole("distinct", "Distinct", "different texts among them",
              lambda row: row.summary.answers.n_distinct),
    ]  # fmt: skip
    for status in dict.fromkeys(one for row in rows for one in row.summary.answers.statuses):
        title = status.replace("-", " ").capitalize()
        meaning = f"responses with the status {status}"
        columns.append(whole(f"status_{snake(status)}", title, meaning, partial(_number, status)))
    table = group_table("statuses", rows, names, columns)
    return Captioned(table, "Responses and their statuses.")


def _number(status: str, row: Grouped) -> int:
    return row.summary.answers.statuses.get(status, 0)


def _these(intervals: Sequence[EstimatedInterval]) -> str | None:
    found = next((one for one in intervals if one.estimand is Estimand.THESE_PROMPTS), None)
    if found is None:
        return None
    if found.interval is None:
        return found.reason.partition(":")[0]
    return f"[{', '.join(ends_of(found.interval.low, found.interval.high, 2))}]"
