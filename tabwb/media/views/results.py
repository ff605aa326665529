"""The tables of groups in papers and reports, one row for each group of one battery.

The compact table has the form of table 2 of the Text Aphasia Battery's paper (model, N, burden),
with the interval of every figure. A report has the others behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import Grouped, shared_note
from tabwb.analysis.names import judge_names
from tabwb.battery.model import Battery
from tabwb.records.columns import Column, ends_of
from tabwb.records.conditions import title_of
from tabwb.records.words import plural
from tabwb.report.measures import (
    ACCURACY,
    BASELINES,
    BURDEN,
    FEATURE_RATE,
    LATENCY,
    SUBTEST_MEASURES,
    WORDS_MEAN,
    measure_of,
)
from tabwb.report.summaries.cautions import (
    bounds_words,
    correlation_notes,
    few_items,
)
from tabwb.report.summaries.judges import JudgeSummary, Terms, cause_in_words, short_labels
from tabwb.report.summaries.naming import named_subtests
from tabwb.report.summaries.subtests import SubtestSummary
from tabwb.report.tables.captioned import Captioned, Footnote
from tabwb.report.tables.declared import (
    GroupNames,
    column_names,
    group_table,
    names_right,
    number,
    of_judge,
    snake,
    text,
    truth,
    whole,
    with_interval,
)
from tabwb.report.tables.said import borrowed_line, said_table
from tabwb.scoring.burden import Burden
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimand, EstimatedInterval
from tabwb.scoring.naming.summary import RATING_SOURCES, NamingSummary
from tabwb.tables.table import RecordColumn, table_of
from tabwb.tasks.task_type import task_type

COLUMNS_AT_ONCE = 6
"""A table of features has no more of them; the others are in the next table."""
_THESE = "95 % interval for exactly these prompts, or why there is none"
_N = "responses over which the burden is the mean"


def judges_of(rows: Sequence[Grouped]) -> list[JudgeSummary]:
    """Return one summary of each judge and its terms, in order of appearance."""
    first: dict[Terms, JudgeSummary] = {}
    for row in rows:
        for judge in row.summary.judges:
            first.setdefault(judge.terms, judge)
    return list(first.values())


def _labelled(rows: Sequence[Grouped]) -> list[tuple[JudgeSummary, str]]:
    judges = judges_of(rows)
    return list(zip(judges, short_labels(judges), strict=True))


Taken = Callable[[Callable[[Any], Any]], Callable[[Grouped], Any]]
"""Makes of a function of a part of a result one of a group."""


def of_part(subtest: str, *, scored: bool = False) -> Taken:
    """Return what takes values from a subtest; None of a group that has it not, or not scored."""

    def taken(value: Callable[[SubtestSummary], Any]) -> Callable[[Grouped], Any]:
        def cell(row: Grouped) -> Any:
            part = row.part(subtest)
            return None if part is None or (scored and not part.share.scored) else value(part)

        return cell

    return taken


def _estimate(name: str, title: str, meaning: str, unit: str = "share") -> Column:
    return Column(name, title, meaning, "number", unit, 2)


def compact_table(rows: Sequence[Grouped], names: GroupNames | None = None) -> Captioned:
    """Return the compact table of groups."""
    names = names or GroupNames()
    battery, judges = rows[0].battery, _labelled(rows)
    prefixes = ["" if len(judges) == 1 else f"{snake(label)}_" for _, label in judges]
    shown = [(f"{prefix}n", f"{prefix}burden") for prefix in prefixes]
    columns: list[RecordColumn] = []
    for (judge, label), prefix in zip(judges, prefixes, strict=True):
        suffix = f" ({label})" if prefix else ""
        columns.append(whole(f"{prefix}n", f"N{suffix}", _N, of_judge(judge.terms)("n_burden")))
        columns += _burden_columns(judge.terms, suffix, prefix)
    if not judges:
        columns.append(whole("n", "N", "responses that count", "summary.answers.n"))
    titles = {named.id: named.title for row in rows for named in row.summary.named}
    taken = [column.name for column in (*names.columns(rows), *(one.column for one in columns))]
    own = column_names((*(subtest.id for subtest in battery.subtests), *titles), taken)
    for subtest in battery.subtests:
        if any(part.share.scored for row in rows if (part := row.part(subtest.id))):
            meaning = f"{ACCURACY.meaning}, in {subtest.title}"
            column = _estimate(own[subtest.id], subtest.title, meaning)
            columns += _accuracy(of_part(subtest.id), column)
    for naming, title in titles.items():
        right = measure_of("outcome").meaning
        meaning = f"share of names that count as right in {title}: {right}"
        columns += names_right(_estimate(own[naming], title, meaning), naming, "outcome")
    notes: list[Footnote] = []
    for (judge, label), prefix, its in zip(judges, prefixes, shown, strict=True):
        suffix = f" by {label}" if prefix else ""
        notes += [Footnote(told, its) for told in burden_notes(rows, names, judge.terms, suffix)]
    notes += _declared_cautions([judge for judge, _ in judges], shown)
    notes += baseline_notes(rows, own)
    notes += _group_notes(rows, names, own)
    table = group_table("compact", rows, names, columns)
    named = names.columns(rows)
    also = (
        {"group": tuple(column.name for column in named)}
        if len(named) > 1
        else {snake(rows[0].group.by): (named[0].name,)}
    )
    caption = partial(_caption, rows, judges, shown, own)
    return Captioned(table, caption(table.names), tuple(notes), battery.id, also, caption)


def _burden_columns(terms: Terms, suffix: str = "", prefix: str = "") -> Iterator[RecordColumn]:
    taken = of_judge(terms)
    yield from with_interval(
        _estimate(f"{prefix}burden", f"Burden{suffix}", BURDEN.meaning, BURDEN.unit),
        taken("symptom_burden.value"),
        taken("interval"),
        why=taken("interval_reason"),
    )
    marked = "fewer than half of the responses are usable"
    yield truth(f"{prefix}burden_few", "Few usable", marked, taken("usable.few"))


def _accuracy(taken: Taken, column: Column) -> tuple[RecordColumn, ...]:
    return with_interval(
        column,
        taken(lambda part: part.share.accuracy().value),
        taken(lambda part: part.share.interval()),
        why=taken(lambda part: part.share.interval_reason()),
    )


def _caption(
    rows: Sequence[Grouped],
    judges: Sequence[tuple[JudgeSummary, str]],
    shown: Sequence[tuple[str, str]],
    own: Mapping[str, str],
    columns: Collection[str],
) -> str:
    battery = rows[0].battery
    parts = [
        f"symptom burden over {plural(len(judge.burden.features), 'feature')} "
        f"({label}, {judge.scope.replace('-', ' ')})"
        for (judge, label), its in zip(judges, shown, strict=True)
        if {*its} & {*columns}
    ]
    scored = [part.id for row in rows for part in row.summary.subtests if part.share.scored]
    if any(own[subtest] in columns for subtest in scored):
        parts.append("accuracy (policy exact)")
    if any(own[named.id] in columns for row in rows for named in row.summary.named):
        parts.append("names counted as right (a listener's score, else the rule of the battery)")
    what = " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:]))) or "responses"
    return f"{battery.title} {battery.version}: {what}, with 95 % intervals for prompts like these."


def burden_notes(
    rows: Sequence[Grouped], names: GroupNames, terms: Terms, suffix: str = ""
) -> Iterator[str]:
    """Yield what must be known of the burdens of a judge: what N is, and what has no burden."""
    yield f"N{suffix}: {_N}."
    own = [(row, judge.burden) for row in rows if (judge := row.judge(terms))]
    if any(burden.usable.few for _, burden in own):
        yield "†: fewer than half of the responses are usable; such a burden is not to be ranked."
    without: dict[str, list[str]] = {}
    for row, burden in own:
        causes = Counter(burden.no_burden)
        if causes:
            why = ", ".join(f"{n} {cause_in_words(cause)}" for cause, n in causes.most_common())
            what = f"{causes.total()} of {burden.n_responses} ({why})"
            without.setdefault(what, []).append(names.title(row))
    if without:
        told = (
            f"{', '.join(having)}: {what} each" if len(having) > 1 else f"{having[0]} {what}"
            for what, having in without.items()
        )
        yield f"Responses without a burden{suffix}: {'; '.join(told)}."
    bounded = [
        f"{names.title(row)} {words}" for row, burden in own for words in bounds_words(burden)
    ]
    if bounded:
        yield f"Bounds of the burden{suffix}: {'; '.join(bounded)}."


def baseline_notes(rows: Sequence[Grouped], columns: Mapping[str, str]) -> Iterator[Footnote]:
    """Yield the baselines of each subtest, below the column of its accuracy."""
    titles = {measure.id: measure.title for measure in BASELINES}
    values: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        for part in row.summary.subtests:
            for baseline, estimate in part.baselines.items() if part.share.scored else ():
                if estimate.value is not None:
                    own = values.setdefault((part.id, part.title), {})
                    own.setdefault(titles.get(baseline, baseline), []).append(
                        f"{estimate.value:.2f}"
                    )
    for (subtest, title), baselines in values.items():
        shown = ", ".join(f"{baseline} {_span(found)}" for baseline, found in baselines.items())
        yield Footnote(f"Baselines of {title}: {shown}.", (columns[subtest],))


def _span(values: Sequence[Any], form: str = "") -> str:
    return " to ".join(f"{one:{form}}" for one in dict.fromkeys((min(values), max(values))))


def _declared_cautions(
    judges: Sequence[JudgeSummary], columns: Sequence[tuple[str, ...]]
) -> Iterator[Footnote]:
    """Yield the caution that each judge declared."""
    own: dict[tuple[str, str], tuple[str, ...]] = {}
    for judge, names in zip(judges, columns, strict=True):
        if judge.caution:
            key = judge.rater, judge.caution.rstrip(".")
            own[key] = (*own.get(key, ()), *names)
    called = judge_names(judge.rater for judge in judges)
    for (rater, caution), names in own.items():
        yield Footnote(f"Verdicts of {called[rater]}: {caution}.", names)


def _group_notes(
    rows: Sequence[Grouped], names: GroupNames, own: Mapping[str, str]
) -> Iterator[Footnote]:
    """Yield that there are few items, N of accuracies, what all share, over what was pooled."""
    yield from map(Footnote, few_items(*(row.summary for row in rows)))
    burdens = [judge.burden for row in rows for judge in row.summary.judges]
    yield from map(Footnote, correlation_notes(burdens))
    scored: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        for part in row.summary.subtests:
            if part.share.scored:
                scored.setdefault((part.id, part.title), []).append(part.share.scored)
    if scored:
        shown = ", ".join(f"{title} {_span(found, ',')}" for (_, title), found in scored.items())
        columns = tuple(own[subtest] for subtest, _ in scored)
        yield Footnote(f"Scored responses of a group: {shown}.", columns)
    yield from map(Footnote, shared_note(rows, names.rename))
    # How all responses of models were drawn, where no name and no other note says it.
    found = [row.group.circumstances.get("decoding", ()) for row in rows if row.group.has_model]
    told = {name for row in rows for name, _ in (*row.group.apart, *row.group.shared)}
    if found and "decoding" not in told and len(set(found)) == 1 and len(found[0]) == 1:
        yield Footnote(f"Decoding of all responses of models: {found[0][0]}.")
    yield from map(Footnote, _pooled(rows, names))


def _pooled(rows: Sequence[Grouped], names: GroupNames) -> Iterator[str]:
    """Yield in what the members of groups differ that are pooled; groups alike are named once."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        for name, values in row.group.mixed.items():
            # The names of examinees may be people's.
            told = (
                plural(len(values), "examinee")
                if name == "examinee"
                else f"{title_of(name)} {' | '.join(names.rename(value, row) for value in values)}"
            )
            groups.setdefault(told, []).append(names.title(row))
    for told, having in groups.items():
        of = "All groups are" if len(having) == len(rows) > 1 else f"{', '.join(having)}:"
        yield f"{of} pooled over {told}."


def report_tables(
    battery: Battery, rows: Sequence[Grouped], names: GroupNames
) -> Iterator[tuple[str, Captioned]]:
    """Yield the tables of a report behind the compact one, each with the title of its section."""
    for title, tables in (
        ("Burden", _burdens(rows, names)),
        ("Features", _features(battery, rows, names)),
        ("Accuracy", _accuracies(battery, rows, names)),
        ("Measures", _measures(battery, rows, names)),
        ("Naming", _naming(rows, names)),
        ("Errors", _errors(battery, rows, names)),
        ("Responses", _statuses(rows, names)),
        ("Statistics", _statistics(rows, names)),
    ):
        yield from ((title, table) for table in tables)


def _burdens(rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the burdens of groups, one table for each judge and its terms."""
    for judge, label in _labelled(rows):
        taken = of_judge(judge.terms)
        columns = (
            whole("n", "N", _N, taken("n_burden")),
            whole("usable", "Usable", "usable responses in the judge's scope",
                  taken("usable.usable")),
            whole("judged", "Of", "responses in the judge's scope", taken("n_responses")),
            whole("distinct", "Distinct", "different texts among them", taken("n_distinct")),
            *_burden_columns(judge.terms),
            text("these_prompts", "These prompts", _THESE,
                 taken(lambda burden: _these(burden.intervals))),
            number("words", "Words", WORDS_MEAN.meaning, taken("words_mean.value"),
                   unit=WORDS_MEAN.unit, digits=1),
        )  # fmt: skip
        features = plural(len(judge.burden.features), "feature")
        caption = f"Symptom burden over {features}: {label}, {judge.scope.replace('-', ' ')}."
        notes = map(Footnote, burden_notes(rows, names, judge.terms))
        yield Captioned(group_table(f"burden-{label}", rows, names, columns), caption, (*notes,))


def _features(battery: Battery, rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the rates of features, one table or several for each judge and its terms."""
    titles = {feature.id: feature.title for feature in battery.features}
    for judge, label in _labelled(rows):
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

    return with_interval(
        _estimate(name, title, f"{FEATURE_RATE.meaning}: {feature}"),
        taken(lambda burden: burden.rate(feature).value),
        taken(lambda burden: burden.rate_intervals(feature)[0].interval),
        why=taken(lambda burden: burden.rate_intervals(feature)[0].reason),
    )


def _accuracies(
    battery: Battery, rows: Sequence[Grouped], names: GroupNames
) -> Iterator[Captioned]:
    """Yield the accuracies of each subtest that is scored right or wrong."""
    notes = [(note.columns, note.text) for note in baseline_notes(
        rows, {one.id: one.id for one in battery.subtests}
    )]  # fmt: skip
    for subtest in battery.subtests:
        if not any(part.share.scored for row in rows if (part := row.part(subtest.id))):
            continue
        taken = of_part(subtest.id, scored=True)
        right = "share of right responses, policy"
        columns = [
            whole("n", "N", "responses with a verdict", taken(lambda part: part.share.scored)),
            *_accuracy(taken, _estimate("exact", "Exact", f"{right} exact")),
            text("these_prompts", "These prompts", _THESE,
                 taken(lambda part: _these(part.share.intervals()))),
            *(
                number(policy, policy.capitalize(), f"{right} {policy}",
                       taken(partial(_accuracy_by, policy)), unit="share")
                for policy in POLICIES[1:]
            ),
            *(
                number(measure.id, measure.title.capitalize(), measure.meaning,
                       taken(partial(_value_of, measure.id)), unit="share")
                for measure in SUBTEST_MEASURES
                if measure.yes_no and task_type(subtest.response).answers
            ),
        ]  # fmt: skip
        table = group_table(f"accuracy-{subtest.id}", rows, names, columns)
        own = tuple(Footnote(note) for of, note in notes if of == (subtest.id,))
        yield Captioned(table, f"{subtest.title}: accuracy.", own)


def _accuracy_by(policy: str, part: SubtestSummary) -> float | None:
    return part.share.accuracy(policy).value


def _value_of(measure: str, part: SubtestSummary) -> float | None:
    return part.estimate(measure).value


def _errors(battery: Battery, rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the kinds of errors of each subtest in which there are some, under the policy exact."""

    def told(kind: str, part: SubtestSummary) -> str | None:
        errors = part.by_foil.get(kind)
        return None if errors is None else f"{errors.errors['exact']} of {errors.of}"

    for subtest in battery.subtests:
        parts = [part for row in rows if (part := row.part(subtest.id))]
        kinds = dict.fromkeys(
            kind for part in parts for kind, own in part.by_foil.items() if own.errors["exact"]
        )
        if not kinds:
            continue
        columns = []
        called = column_names(kinds, [column.name for column in names.columns(rows)])
        for kind in kinds:
            words = kind.replace("-", " ")
            meaning = f"errors of the kind {words}, of the responses to items that allow it"
            value = of_part(subtest.id)(partial(told, kind))
            columns.append(text(called[kind], words.capitalize(), meaning, value))
        table = group_table(f"errors-{subtest.id}", rows, names, columns)
        yield Captioned(table, f"{subtest.title}: errors by kind, policy exact.")


def _statuses(rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield how many responses count, and their statuses."""
    columns = [
        whole("responses", "Responses", "responses that count", "summary.answers.n"),
        whole("usable", "Usable", "usable responses among them", "summary.answers.usable.usable"),
        whole("distinct", "Distinct", "different texts among them", "summary.answers.n_distinct"),
    ]

    def counted(status: str, row: Grouped) -> int:
        return row.summary.answers.statuses.get(status, 0)

    for status in dict.fromkeys(one for row in rows for one in row.summary.answers.statuses):
        title = status.replace("-", " ").capitalize()
        meaning = f"responses with the status {status}"
        value = partial(counted, status)
        columns.append(whole(f"status_{snake(status)}", title, meaning, value))
    yield Captioned(group_table("statuses", rows, names, columns), "Responses and their statuses.")


def _these(intervals: Sequence[EstimatedInterval]) -> str | None:
    found = next((one for one in intervals if one.estimand is Estimand.THESE_PROMPTS), None)
    if found is None:
        return None
    if found.interval is None:
        return found.reason.partition(":")[0]
    return f"[{', '.join(ends_of(found.interval.low, found.interval.high, 2))}]"


def _naming(rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the accuracies of each naming subtest, by what decides whether a name is right."""
    titles = {named.id: named.title for row in rows for named in row.summary.named}
    for subtest, title in titles.items():
        answered = partial(_of_named, subtest, lambda found: found.statuses.get("answered", 0))
        columns = [whole("items", "Items", "items answered", answered)]
        for basis in RATING_SOURCES:
            measure = measure_of(basis)
            column = _estimate(snake(basis), measure.title, measure.meaning, measure.unit)
            columns += names_right(column, subtest, basis)
        latency = partial(_of_named, subtest, attrgetter("latency_median_s"))
        columns.append(number("latency", "Latency", LATENCY.meaning, latency, unit=LATENCY.unit))
        own = [row for row in rows if row.named(subtest)]
        table = group_table(f"naming_{subtest}", own, names, columns)
        yield Captioned(table, f"{title}: names that are right, median latency in seconds.")


def _of_named(subtest: str, take: Callable[[NamingSummary], Any], row: Grouped) -> Any:
    named = row.named(subtest)
    assert named is not None
    return take(named.summary)


def said_tables(
    members: Sequence[AdministrationData], session: Callable[[AdministrationData], str]
) -> Iterator[Captioned]:
    """Yield what was said to each picture, one table for each session and naming subtest."""
    for member in members:
        if not any(subtest.task.coded for subtest in member.battery.subtests):
            continue
        part = member.part
        shown = {
            (trial.plan.subtest, trial.plan.item)
            for trial in member.trials
            if part is None or part.has(trial.plan)
        }
        for named in named_subtests([member]):
            items = [item for item in named.items if (named.id, item.item) in shown]
            if items:
                table = said_table(f"said_{snake(named.id)}_{member.administration.id}", items)
                caption = f"{named.title}, {session(member)}: what was said to each picture."
                notes = (borrowed_line(named.summary), f"Rule: {named.rules.rule} decides.")
                yield Captioned(table, caption, tuple(map(Footnote, filter(None, notes))))


def _measures(battery: Battery, rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the means of further measures of each subtest, such as lexical diversity."""

    def taken(name: str, path: str, part: SubtestSummary) -> Any:
        own = part.measures.get(name)
        return None if own is None else attrgetter(path)(own)

    for subtest in battery.subtests:
        parts = [part for row in rows if (part := row.part(subtest.id))]
        found = dict.fromkeys(
            name
            for part in parts
            for name, measured in part.measures.items()
            if measured.measure not in subtest.task.errors
        )
        columns = []
        for name in found:
            measure, column = measure_of(name), snake(name)
            mean, n = (
                of_part(subtest.id)(partial(taken, name, path)) for path in ("mean.value", "n")
            )
            columns += [
                number(column, measure.title[:1].upper() + measure.title[1:],
                       f"mean of: {measure.meaning or measure.title}", mean, unit=measure.unit),
                whole(f"{column}_n", "N", f"responses for which {column} is defined", n),
            ]  # fmt: skip
        if columns:
            caption = f"{subtest.title}: means over the responses for which a measure is defined."
            yield Captioned(group_table(f"measures_{subtest.id}", rows, names, columns), caption)


def _statistics(rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the table of the statistics that are registered, if there are some."""
    values: list[list[Any]] = [
        [
            *names.cells(row), found.statistic.title, found.part or None, value.of or None,
            value.value, value.low, value.high, found.statistic.unit or None, value.n,
        ]
        for row in rows
        for found in row.summary.statistics
        for value in found.values
    ]  # fmt: skip
    if not values:
        return
    declared = [
        *names.columns(rows),
        Column("statistic", "Statistic", "the title of the statistic"),
        Column("part", "Subtest", "the subtest; empty: all responses"),
        Column("of", "Of", "what the value belongs to"),
        Column("value", "Value", "the value", "number", "", 2),
        Column("value_low", "Low", "lower end of its 95 % interval", "number", "", 2),
        Column("value_high", "High", "upper end of its 95 % interval", "number", "", 2),
        Column("unit", "Unit", "of the value"),
        Column("n", "N", "responses behind it", "integer"),
    ]
    yield Captioned(table_of("statistics", declared, values), "Statistics.")
