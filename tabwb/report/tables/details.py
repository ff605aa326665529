"""The tables of a report behind the compact one: burdens, features, accuracies, statuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tabwb.battery.model import Battery
from tabwb.records.words import plural
from tabwb.report.measures import BURDEN, FEATURE_RATE, SUBTEST_MEASURES, WORDS_MEAN
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary, Terms, judge_labels
from tabwb.report.summaries.subtests import SubtestSummary
from tabwb.report.tables.captioned import Captioned, Footnote
from tabwb.report.tables.compact import baseline_notes, burden_notes, judges_of
from tabwb.report.tables.group_names import GroupNames, snake
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimand, EstimatedInterval, Interval
from tabwb.tables.table import Column, table_of
from tabwb.tasks.task_type import task_type

COLUMNS_AT_ONCE = 6
"""A table of features has no more of them; the others are in the next table."""
Record = Mapping[str, Any]
Cells = Callable[[Grouped], Record]


def burden_tables(rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the burdens of groups, one table for each judge and its terms.

    Args:
        rows: groups of one battery.
        names: of groups.
    """
    judges = judges_of(rows)
    for judge, label in zip(judges, judge_labels(judges), strict=True):
        declared = [
            *names.columns(rows),
            Column("n", "N", "responses over which the burden is the mean", "integer"),
            Column("usable", "Usable", "usable responses in the judge's scope", "integer"),
            Column("judged", "Of", "responses in the judge's scope", "integer"),
            Column("distinct", "Distinct", "different texts among them", "integer"),
            *_number("burden", "Burden", BURDEN.meaning, BURDEN.unit),
            Column("burden_few", "Few usable", "fewer than half are usable", "boolean"),
            Column("these_prompts", "These prompts", THESE, "text"),
            Column("words", "Words", WORDS_MEAN.meaning, "number", WORDS_MEAN.unit, 1),
        ]

        def cells(row: Grouped, terms: Terms = judge.terms) -> Record:
            own = _of(row, terms)
            if own is None:
                return {}
            burden = own.burden
            return {
                "n": burden.n_burden,
                "usable": burden.usable.usable,
                "judged": burden.n_responses,
                "distinct": burden.n_distinct,
                **_interval("burden", burden.symptom_burden.value, burden.interval),
                "burden_few": burden.usable.few,
                "these_prompts": _these(burden.intervals),
                "words": burden.words_mean.value,
            }

        features = plural(len(judge.burden.features), "feature")
        caption = f"Symptom burden over {features}: {label}, {judge.scope.replace('-', ' ')}."
        notes = [Footnote(text) for text in burden_notes(rows, names, judge.terms)]
        yield _made(f"burden-{label}", caption, declared, rows, names, cells, notes)


def feature_tables(
    battery: Battery, rows: Sequence[Grouped], names: GroupNames
) -> Iterator[Captioned]:
    """Yield the rates of features, one table or several for each judge and its terms.

    Args:
        battery: with the titles of features.
        rows: groups that were given it.
        names: of groups.
    """
    titles = {feature.id: feature.title for feature in battery.features}
    judges = judges_of(rows)
    for judge, label in zip(judges, judge_labels(judges), strict=True):
        features = [
            feature
            for feature in judge.burden.features
            if any(own.burden.n_burden for row in rows if (own := _of(row, judge.terms)))
        ]
        at_once = -(-len(features) // max(1, -(-len(features) // COLUMNS_AT_ONCE)))
        for start in range(0, len(features), at_once or 1):
            shown = features[start : start + at_once]
            declared = [*names.columns(rows)]
            for feature in shown:
                meaning = f"{FEATURE_RATE.meaning}: {feature}"
                title = titles.get(feature, feature)
                declared += _number(snake(feature), title, meaning, FEATURE_RATE.unit)

            def cells(
                row: Grouped, terms: Terms = judge.terms, shown: Sequence[str] = shown
            ) -> Record:
                own = _of(row, terms)
                found: dict[str, Any] = {}
                if own is None or not own.burden.n_burden:
                    return found
                for feature in shown:
                    interval = own.burden.rate_intervals(feature)[0].interval
                    found |= _interval(snake(feature), own.burden.rate(feature).value, interval)
                return found

            part = f", {start + 1} to {start + len(shown)}" if len(features) > len(shown) else ""
            caption = f"Share of responses with a feature{part}: {label}."
            yield _made(f"features-{label}-{start}", caption, declared, rows, names, cells)


def accuracy_tables(
    battery: Battery, rows: Sequence[Grouped], names: GroupNames
) -> Iterator[Captioned]:
    """Yield the accuracies of each subtest that is scored right or wrong.

    Args:
        battery: with the subtests.
        rows: groups that were given it.
        names: of groups.
    """
    for subtest in battery.subtests:
        parts = [part for row in rows if (part := _part(row, subtest.id))]
        if not any(part.share.scored for part in parts):
            continue
        yes_no = [
            measure
            for measure in SUBTEST_MEASURES
            if measure.yes_no and task_type(subtest.response).answers
        ]
        declared = [
            *names.columns(rows),
            Column("n", "N", "responses with a verdict", "integer"),
            *_number("exact", "Exact", "share of right responses, policy exact", "share"),
            Column("these_prompts", "These prompts", THESE, "text"),
            *(
                Column(
                    policy, policy.capitalize(), f"share of right responses, policy {policy}",
                    "number", "share", 2,
                )
                for policy in POLICIES[1:]
            ),
            *(
                Column(
                    measure.id, measure.title.capitalize(), measure.meaning, "number", "share", 2
                )
                for measure in yes_no
            ),
        ]  # fmt: skip

        def cells(row: Grouped, subtest: str = subtest.id, measures: Any = yes_no) -> Record:
            part = _part(row, subtest)
            if part is None or not part.share.scored:
                return {}
            share = part.share
            return {
                "n": share.scored,
                **_interval("exact", share.accuracy().value, share.interval()),
                "these_prompts": _these(share.intervals()),
                **{policy: share.accuracy(policy).value for policy in POLICIES[1:]},
                **{measure.id: part.estimate(measure.id).value for measure in measures},
            }

        own = snake(subtest.id)
        notes = [Footnote(note.text) for note in baseline_notes(rows) if note.columns == (own,)]
        caption = f"{subtest.title}: accuracy."
        yield _made(f"accuracy-{subtest.id}", caption, declared, rows, names, cells, notes)


def error_tables(
    battery: Battery, rows: Sequence[Grouped], names: GroupNames
) -> Iterator[Captioned]:
    """Yield the kinds of errors of each subtest in which there are some, under the policy exact.

    Args:
        battery: with the subtests.
        rows: groups that were given it.
        names: of groups.
    """
    for subtest in battery.subtests:
        kinds = dict.fromkeys(
            kind
            for row in rows
            if (part := _part(row, subtest.id))
            for kind, errors in part.by_foil.items()
            if errors.errors["exact"]
        )
        if not kinds:
            continue
        words = [kind.replace("-", " ") for kind in kinds]
        declared = [
            *names.columns(rows),
            *(
                Column(
                    snake(kind), kind.capitalize(),
                    f"errors of the kind {kind}, of the responses to items that allow it",
                )
                for kind in words
            ),
        ]  # fmt: skip

        def cells(row: Grouped, subtest: str = subtest.id) -> Record:
            part = _part(row, subtest)
            return (
                {}
                if part is None
                else {
                    snake(kind.replace("-", " ")): f"{errors.errors['exact']} of {errors.of}"
                    for kind, errors in part.by_foil.items()
                }
            )

        caption = f"{subtest.title}: errors by kind, policy exact."
        yield _made(f"errors-{subtest.id}", caption, declared, rows, names, cells)


def status_table(rows: Sequence[Grouped], names: GroupNames) -> Captioned:
    """Return how many responses count, and their statuses.

    Args:
        rows: the groups.
        names: of groups.
    """
    statuses = dict.fromkeys(status for row in rows for status in row.summary.answers.statuses)
    declared = [
        *names.columns(rows),
        Column("responses", "Responses", "responses that count", "integer"),
        Column("usable", "Usable", "usable responses among them", "integer"),
        Column("distinct", "Distinct", "different texts among them", "integer"),
        *(
            Column(
                f"status_{snake(status)}", status.replace("-", " ").capitalize(),
                f"responses with the status {status}", "integer",
            )
            for status in statuses
        ),
    ]  # fmt: skip

    def cells(row: Grouped) -> Record:
        answers = row.summary.answers
        return {
            "responses": answers.n,
            "usable": answers.usable.usable,
            "distinct": answers.n_distinct,
            **{f"status_{snake(one)}": answers.statuses.get(one, 0) for one in statuses},
        }

    return _made("statuses", "Responses and their statuses.", declared, rows, names, cells)


THESE = "95 % interval for exactly these prompts, or why there is none"


def _number(name: str, title: str, meaning: str, unit: str) -> tuple[Column, Column, Column]:
    end = "end of the 95 % interval for prompts like these of"
    return (
        Column(name, title, meaning, "number", unit, 2),
        Column(f"{name}_low", "Low", f"lower {end} {name}", "number", unit, 2),
        Column(f"{name}_high", "High", f"upper {end} {name}", "number", unit, 2),
    )


def _interval(name: str, value: float | None, interval: Interval | None) -> Record:
    return {
        name: value,
        f"{name}_low": None if interval is None else interval.low,
        f"{name}_high": None if interval is None else interval.high,
    }


def _these(intervals: Sequence[EstimatedInterval]) -> str | None:
    found = next((one for one in intervals if one.estimand is Estimand.THESE_PROMPTS), None)
    if found is None:
        return None
    if found.interval is None:
        return found.reason.partition(":")[0]
    return f"[{found.interval.low:.2f}, {found.interval.high:.2f}]"


def _of(row: Grouped, terms: Terms) -> JudgeSummary | None:
    return next((judge for judge in row.summary.judges if judge.terms == terms), None)


def _part(row: Grouped, subtest: str) -> SubtestSummary | None:
    return next((part for part in row.summary.subtests if part.id == subtest), None)


def _made(
    table: str,
    caption: str,
    declared: Sequence[Column],
    rows: Sequence[Grouped],
    names: GroupNames,
    cells: Cells,
    notes: Sequence[Footnote] = (),
) -> Captioned:
    called = names.columns(rows)
    values = []
    for row in rows:
        found = cells(row)
        values.append(
            [*names.cells(row), *(found.get(column.name) for column in declared[len(called) :])]
        )
    return Captioned(table_of(snake(table), declared, values), caption, tuple(notes))
