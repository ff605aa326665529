"""Results of groups as tables, each declared once: terminals, papers and reports show these.

A table has a row for each group; of one group by itself it has a row for each subtest, kind of
error or feature (:func:`own_tables`). The compact table has the form of table 2 of the Text Aphasia
Battery's paper (model, N, burden), with the interval of every figure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.cautions import bounds_words, correlation_notes, few_items
from tabwb.analysis.file_names import without_folders
from tabwb.analysis.grouping import Grouped, Rename, shared_note, titles_of
from tabwb.analysis.keys import key_of
from tabwb.analysis.measures import (
    ACCURACY,
    BASELINES,
    BURDEN,
    FEATURE_RATE,
    FOIL_ERRORS,
    LATENCY,
    NAMING_MEASURES,
    SUBTEST_MEASURES,
    WORDS_MEAN,
    measure_of,
)
from tabwb.analysis.names import judge_names
from tabwb.analysis.statistics.results import (
    EXACT,
    Part,
    Rater,
    Result,
    Results,
    Terms,
    cause_in_words,
    judge_labels,
)
from tabwb.analysis.tables.captioned import (
    FEW,
    HIGH,
    LOW,
    MOST_NAMED,
    WHY,
    Captioned,
    Footnote,
    few_of,
)
from tabwb.analysis.tables.declared import (
    ENDS,
    THESE,
    ends,
    number,
    text,
    truth,
    whole,
    with_interval,
)
from tabwb.battery.model import Battery
from tabwb.media.wording import plain
from tabwb.plugin_api.extensions import Statistic
from tabwb.records.columns import Column
from tabwb.records.conditions import title_of
from tabwb.records.words import plural
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import EstimatedInterval
from tabwb.tables.table import RecordColumn, table_of

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge

COLUMNS_AT_ONCE = 6
"""A table of features has no more of them; the others are in the next table."""
_N = "responses over which the burden is the mean"


class HasResults(Protocol):
    """A group, or its summary."""

    @property
    def results(self) -> Results:
        """Every value."""


class Of(NamedTuple):
    """What a row is about, where its columns look up their values."""

    row: Any
    part: str = ""
    rater: Rater = ""
    feature: str = ""
    measure: str = ""

    def find(self, measure: str, policy: str = EXACT, feature: str = "") -> Result | None:
        """Return a result, or None; of the row's own measure where none is named."""
        found: Results = self.row.results
        feature = feature or self.feature
        return found.find(measure or self.measure, self.part, self.rater, feature, policy)


def _got(measure: str, path: str = "value.value", policy: str = EXACT) -> Callable[[Of], Any]:
    take = attrgetter(path)
    return lambda of: None if (one := of.find(measure, policy)) is None else take(one)


def _estimate(name: str, title: str, meaning: str, measure: Statistic) -> tuple[RecordColumn, ...]:
    """Return the columns of a value, its interval, and why it has none."""
    return with_interval(
        Column(name, title, meaning, "number", measure.unit, 2),
        _got(measure.id), _got(measure.id, "interval"), why=_got(measure.id, "interval_reason"),
    )  # fmt: skip


def _value(name: str, title: str, measure: Statistic) -> RecordColumn:
    return number(name, title, measure.meaning, _got(measure.id), unit=measure.unit)


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


def _these(measure: str) -> tuple[RecordColumn, ...]:
    """Return the columns of the interval for these prompts, the first with why there is none."""

    def interval(of: Of) -> EstimatedInterval | None:
        intervals = () if (one := of.find(measure)) is None else one.intervals
        return intervals[1] if len(intervals) > 1 else None

    column = Column(
        "these_prompts",
        "These prompts",
        "95 % interval for exactly these prompts, or why there is none",
        "text",
        "",
        2,
    )
    return (
        RecordColumn(column, lambda of: (one := interval(of)) and one.reason.partition(":")[0]),
        *ends(f"{column.name}_", THESE, lambda of: (one := interval(of)) and one.interval),
    )  # fmt: skip


def _placed(
    columns: Iterable[RecordColumn], name: str = "", title: str = "", meaning: str = "", **key: Any
) -> Iterator[RecordColumn]:
    """Yield columns of values that are looked up elsewhere, named after the first column."""
    columns = list(columns)
    first = columns[0].column
    for column, take in columns:
        called = column.name.replace(first.name, name or first.name, 1)
        own = replace(column, name=called)
        if column is first:
            own = replace(own, title=title or column.title, meaning=meaning or column.meaning)
        yield RecordColumn(own, partial(_elsewhere, take, key))


def _elsewhere(take: Callable[[Any], Any], key: Mapping[str, Any], of: Of) -> Any:
    return take(of._replace(**key))


# -- columns of each kind of result --------------------------------------------------------------

N_OF_BURDEN = whole("n", "N", _N, _got(BURDEN.id, "n"))
_BURDEN = (
    *_estimate("burden", "Burden", BURDEN.meaning, BURDEN),
    truth("burden_few", "Few usable", "fewer than half of the responses are usable",
          _got(BURDEN.id, "usable.few")),
)  # fmt: skip
BURDENS = (
    N_OF_BURDEN,
    whole("usable", "Usable", "usable responses in the judge's scope", _got("usable")),
    whole("judged", "Of", "responses in the judge's scope", _got("responses")),
    whole("distinct", "Distinct", "different texts among them", _got("distinct")),
    *_BURDEN,
    *_these(BURDEN.id),
    _value("words", "Words", WORDS_MEAN),
)
_RIGHT = _estimate("exact", "Exact", "share of right responses, policy exact", ACCURACY)
ACCURACIES = (
    whole("n", "N", "responses with a verdict", _got(ACCURACY.id, "n")),
    whole("right", "Right", "right responses, policy exact", _got(ACCURACY.id, "total")),
    *_RIGHT,
    *_these(ACCURACY.id),
    *(number(policy, policy.capitalize(), f"share of right responses, policy {policy}",
             _got(ACCURACY.id, policy=policy), unit="share") for policy in POLICIES[1:]),
    *chain.from_iterable(
        _estimate(one.id, _capital(one.title), one.meaning, one) for one in SUBTEST_MEASURES),
    *(_value(one.id, _capital(one.title), one) for one in BASELINES),
)  # fmt: skip


def _has_policies(found: Iterable[tuple[Results, str]]) -> bool:
    """Return whether subtests have right answers by policy; a plugin's scorer has one verdict."""
    return any(
        results.n(ACCURACY.id, part, policy=policy)
        for results, part in found
        for policy in POLICIES[1:]
    )


def _accuracies(found: Iterable[tuple[Results, str]]) -> Iterable[RecordColumn]:
    """Return the columns of accuracies; without policies none is named."""
    if _has_policies(found):
        return ACCURACIES
    return [
        RecordColumn(
            replace(
                column,
                title="Accuracy" if column.name == "exact" else column.title,
                meaning=column.meaning.removesuffix(", policy exact"),
            ),
            take,
        )
        for column, take in ACCURACIES
    ]


_RATE = _estimate("rate", "Rate", FEATURE_RATE.meaning, FEATURE_RATE)
FEATURES = (
    number("present", "Present", "responses with the feature", _got(FEATURE_RATE.id, "total"),
           digits=None),
    whole("n", "Of", "responses with a burden", _got(FEATURE_RATE.id, "n")),
    *_RATE,
    *_these(FEATURE_RATE.id),
)  # fmt: skip
COUNTS = (
    *(whole(policy, policy.capitalize(), f"how many, policy {policy}", _got("", "total", policy))
      for policy in POLICIES),
    whole("n", "Of", "responses that could be", _got("", "n")),
)  # fmt: skip
_COUNT = (text("count", "", "", lambda of: (one := of.find("")) and f"{one.total:.0f} of {one.n}"),)
_MEAN = (number("mean", "Mean", "of the responses for which it is defined", _got("")),
         whole("mean_n", "N", "these responses", _got("", "n")))  # fmt: skip
MEANS = (
    *_MEAN,
    number("total", "Sum", "over these responses, of a count",
           lambda of: (one := of.find("")) and (one.total if one.kind == "count" else None),
           digits=None),
)  # fmt: skip
POSITIONS = (
    whole("keyed", "Keyed", "responses to items whose right option stands there",
          _got("position_accuracy", "n")),
    whole("right", "Right", "right ones of these, policy exact",
          _got("position_accuracy", "total")),
    _value("share", "Chosen", measure_of("position_share")),
)  # fmt: skip


def _names_right(measure: Statistic) -> tuple[RecordColumn, ...]:
    name = measure.id.replace("-", "_")
    column = Column(name, measure.title, measure.meaning, "number", measure.unit, 2)
    return with_interval(column, _got(measure.id), _got(measure.id, "interval"))


def _n_named(of: Of) -> int:
    named = of.row.named(of.part)
    return 0 if named is None else named.summary.statuses.get("answered", 0)


NAMES = (
    whole("items", "Items", "items answered", _n_named),
    *chain.from_iterable(map(_names_right, NAMING_MEASURES)),
    _value("latency", "Latency", LATENCY),
)


def _statuses(rows: Sequence[Grouped]) -> Iterator[RecordColumn]:
    """Yield how many responses count, and their statuses."""
    yield whole("responses", "Responses", "responses that count", _got("responses"))
    yield whole("usable", "Usable", "usable responses among them", _got("usable"))
    yield whole("distinct", "Distinct", "different texts among them", _got("distinct"))
    for status in dict.fromkeys(one for row in rows for one in row.results.of("status")):
        title, meaning = plain(status).capitalize(), f"responses with the status {status}"
        count = whole("status", title, meaning, lambda of: _got("status")(of) or 0)
        yield from _placed([count], f"status_{snake(status)}", feature=status)


# -- tables of groups ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupNames:
    """Names groups; ``rename`` returns how a name is printed.

    Examinees whose responses are pooled are counted, or named where ``examinees``.
    """

    rename: Rename = lambda text, row: text
    examinees: bool = False

    def title(self, row: Grouped) -> str:
        """Return the whole name of a group, for sentences."""
        return self.rename(row.group.title, row)

    def columns(self, rows: Sequence[Grouped]) -> tuple[Column, ...]:
        """Return the columns that name groups; all are grouped by the same keys."""
        values = rows[0].group.values
        titles = titles_of([row.group for row in rows])
        if rows[0].group.told:
            return tuple(
                Column(snake(key), f"{key[:1].upper()}{key[1:]}", f"{key} of the group")
                for key, _ in rows[0].group.told
            )
        if len(values) < 2:
            title = titles[0] if titles else rows[0].group.by.replace("-", " ")
            return (Column("group", title[:1].upper() + title[1:], "the name of the group"),)
        return tuple(
            Column(snake(one.key), title[:1].upper() + title[1:], f"{title} of the group")
            for one, title in zip(values, titles, strict=True)
        )

    def cells(self, row: Grouped) -> tuple[str, ...]:
        """Return the names of a group, one for each of :meth:`columns`.

        Conditions that tell it from other groups of the same name are in the first.
        """
        group = row.group
        if group.told:
            return tuple(self.rename(value, row) for _, value in group.told)
        if len(group.values) < 2:
            return (self.title(row),)
        first, *others = (self.rename(one.cell, row) for one in group.values)
        return (group.with_conditions(first), *others)


def _table(
    name: str,
    heads: Sequence[Column],
    records: Sequence[tuple[Sequence[Any], Of]],
    columns: Iterable[RecordColumn],
    caption: str,
    notes: Iterable[str | Footnote] = (),
) -> Captioned:
    """Return a table: what names a row, then what columns take; columns without a value go."""
    found = [(one.column, [one.value(of) for _, of in records]) for one in columns]
    without = {column.name for column, values in found if all(v is None for v in values)}
    ends = {column.name + end for column, _ in found for end in (LOW, HIGH, FEW, WHY)}
    without -= ends
    without |= {name + end for name in without for end in (LOW, HIGH, FEW, WHY)}
    kept = [(column, values) for column, values in found if column.name not in without]
    rows = [[*cells, *(values[at] for _, values in kept)] for at, (cells, _) in enumerate(records)]
    made = table_of(snake(name), [*heads, *(column for column, _ in kept)], rows)
    told = (Footnote(note) if isinstance(note, str) else note for note in notes)
    return Captioned(made, caption, tuple(told))


@dataclass(frozen=True)
class Groups:
    """Groups of one battery, whose tables have a row for each."""

    rows: Sequence[Grouped]
    names: GroupNames = field(default_factory=GroupNames)

    @property
    def battery(self) -> Battery:
        """What they were given."""
        return self.rows[0].battery

    @cached_property
    def heads(self) -> tuple[Column, ...]:
        """The columns that name groups."""
        return self.names.columns(self.rows)

    @cached_property
    def taken(self) -> list[str]:
        """Their names."""
        return [column.name for column in self.heads]

    def table(
        self,
        name: str,
        columns: Iterable[RecordColumn],
        caption: str,
        notes: Iterable[str | Footnote] = (),
        **key: Any,
    ) -> Captioned:
        """Return a table of what columns take from each group; ``key``: of which part or judge."""
        records = [(self.names.cells(row), Of(row, **key)) for row in self.rows]
        return _table(name, self.heads, records, columns, caption, notes)


def burden_tables(groups: Groups) -> Iterator[Captioned]:
    """Yield the burdens of groups, one table for each judge and its terms."""
    for judge, label in labelled(groups.rows):
        of = f"{plural(len(judge.burden.features), 'feature')}: {label}"
        caption = f"Symptom burden over {of}, {judge.terms.scope.replace('-', ' ')}."
        prompt = f", prompt {judge.terms.prompt_hash[:8]}" if judge.terms.prompt_hash else ""
        whole_name = without_folders(judge.rater)
        notes = [f"{label}: {whole_name}{prompt}."] if prompt or label != whole_name else []
        notes += burden_notes(groups.rows, groups.names, judge.terms)
        yield groups.table(f"burden-{label}", BURDENS, caption, notes, rater=judge.terms)


def _features_tables(groups: Groups) -> Iterator[Captioned]:
    titles = {feature.id: feature.title for feature in groups.battery.features}
    for judge, label in labelled(groups.rows):
        every = judge.burden.features
        at_once = -(-len(every) // max(1, -(-len(every) // COLUMNS_AT_ONCE))) or 1
        if not any(row.results.n(BURDEN.id, rater=judge.terms) for row in groups.rows):
            continue
        for start in range(0, len(every), at_once):
            shown = every[start : start + at_once]
            columns = chain.from_iterable(
                _placed(_RATE, name, titles.get(one, one), feature=one)
                for one, name in column_names(shown, groups.taken).items()
            )
            part = f", {start + 1} to {start + len(shown)}" if len(every) > len(shown) else ""
            caption = f"Share of responses with a feature{part}: {label}."
            yield groups.table(f"features-{label}-{start}", columns, caption, rater=judge.terms)


def _accuracy_tables(groups: Groups) -> Iterator[Captioned]:
    for one in groups.battery.subtests:
        if any(row.results.n(ACCURACY.id, one.id) for row in groups.rows):
            caption = f"{one.title}: accuracy."
            columns = _accuracies((row.results, one.id) for row in groups.rows)
            yield groups.table(f"accuracy-{one.id}", columns, caption, part=one.id)


def _measures_tables(groups: Groups) -> Iterator[Captioned]:
    for subtest in groups.battery.subtests:
        parts = (part for row in groups.rows if (part := row.part(subtest.id)))
        further = {
            name: one for part in parts for name, one in part.measures.items()
            if one.measure not in subtest.task.errors
        }  # fmt: skip
        columns = chain.from_iterable(
            _placed(_MEAN, snake(name), _capital(known.title),
                    f"mean of: {known.meaning or known.title}",
                    measure=one.measure, rater=one.rater)
            for name, one in further.items() for known in [measure_of(name)]
        )  # fmt: skip
        if further:
            caption = f"{subtest.title}: means over the responses for which a measure is defined."
            yield groups.table(f"measures_{subtest.id}", columns, caption, part=subtest.id)


def _naming_tables(groups: Groups) -> Iterator[Captioned]:
    for part, title in _names_of_named(groups.rows).items():
        caption = f"{title}: names that are right, median latency in seconds."
        own = Groups([row for row in groups.rows if row.named(part)], groups.names)
        yield own.table(f"naming_{part}", NAMES, caption, part=part)


def _errors_tables(groups: Groups) -> Iterator[Captioned]:
    for subtest in groups.battery.subtests:
        every = (row.results.of(FOIL_ERRORS.id, subtest.id).items() for row in groups.rows)
        kinds = dict.fromkeys(kind for own in every for kind, found in own if found.total)
        meaning = "errors of this kind, of the responses to items that allow it, policy exact"
        columns = chain.from_iterable(
            _placed(_COUNT, name, plain(kind).capitalize(), meaning, feature=kind,
                    measure=FOIL_ERRORS.id)
            for kind, name in column_names(kinds, groups.taken).items()
        )  # fmt: skip
        if kinds:
            caption = f"{subtest.title}: errors by kind, policy exact."
            yield groups.table(f"errors-{subtest.id}", columns, caption, part=subtest.id)


def _responses_tables(groups: Groups) -> Iterator[Captioned]:
    yield groups.table("statuses", _statuses(groups.rows), "Responses and their statuses.")


def _statistics_tables(groups: Groups) -> Iterator[Captioned]:
    yield from statistics_tables(groups.rows, groups.heads, groups.names.cells)


SECTIONS: Mapping[str, Callable[[Groups], Iterator[Captioned]]] = {
    "Burden": burden_tables,
    "Features": _features_tables,
    "Accuracy": _accuracy_tables,
    "Measures": _measures_tables,
    "Naming": _naming_tables,
    "Errors": _errors_tables,
    "Responses": _responses_tables,
    "Statistics": _statistics_tables,
}
"""Title of a section to the tables that it has."""


MOST_SHOWN, MOST_NOTES = 200, 20
"""Values of a statistic in one group, and reasons, that are shown; files have all."""


def statistics_tables(
    rows: Sequence[HasResults],
    heads: Sequence[Column] = (),
    cells: Callable[[Any], Sequence[str]] = lambda row: (),
) -> Iterator[Captioned]:
    """Yield a table for each statistic that is registered."""
    found: dict[Statistic, list[tuple[list[Any], Result]]] = {}
    for row in rows:
        for one in row.results:
            if one.statistic:
                named = [*cells(row), one.part or None, one.feature or None]
                found.setdefault(one.statistic, []).append((named, one))
    for made, own in found.items():
        value = Column("value", "Value", made.meaning, "number", made.unit, made.digits,
                       made.percent)  # fmt: skip
        declared = [
            *heads,
            Column("part", "Subtest", "the subtest; empty: all responses"),
            Column("of", "Of", "what the value belongs to"),
            value,
            *(replace(value, name=f"value_{end}", title=end.capitalize(),
                      meaning=f"{words} end of its 95 % interval") for end, words in ENDS),
            Column("n", "N", "responses behind it", "integer"),
        ]  # fmt: skip
        values = [
            [*named, one.value.value, getattr(one.interval, "low", None),
             getattr(one.interval, "high", None), one.n]
            for named, one in own
        ]  # fmt: skip
        caption = f"{made.title}: {made.explained}."
        undefined: dict[str, list[str]] = {}
        for named, one in own:
            if one.value.value is None:
                of = ", ".join(filter(None, named)) or made.title
                undefined.setdefault(one.value.reason, []).append(of)
        notes = [f"{few_of(of, '; ')}: {reason}." for reason, of in undefined.items()]
        if len(undefined) == 1:
            notes = [f"Without a value: {reason}." for reason in undefined]
        notes[MOST_NOTES:] = []
        if len(undefined) > MOST_NOTES:
            notes.append(f"{len(undefined) - MOST_NOTES:,} more reasons: see --json.")
        if len(own) > MOST_SHOWN * len(rows):
            notes.append(f"{len(own):,} rows: see --json.")
        table = table_of(snake(made.id), declared, values[: MOST_SHOWN * len(rows)])
        yield Captioned(table, caption, tuple(map(Footnote, notes)))


def own_tables(results: Results, battery: Battery, *, details: bool = False) -> Iterator[Captioned]:
    """Yield the tables of one group: a row for each subtest; ``details``: of features, errors."""
    named = {one.id for one in results.named}
    parts = [one for one in results.parts if one.id not in named]
    if any(one.number("planned") for one in parts):  # else all of the battery was given
        parts = [one for one in parts if one.number("planned")]
    subtest = Column("subtest", "Subtest", "the title of the subtest")
    given = whole("given", "Given", "responses that count", _got("counted"))
    records: list[tuple[Sequence[Any], Of]] = [((one.title,), Of(results, one.id)) for one in parts]
    if records:
        notes = [note for part in parts for note in _own_notes(part)]
        columns = (given, *_accuracies((results, part.id) for part in parts))
        yield _table("accuracy", [subtest], records, columns, "", notes)
    titles = {part.id: part.title for part in parts}
    measure = Column("measure", "Measure", "what was measured")
    further = [
        ((titles.get(part, part), name), Of(results, part, rater, measure=id_))
        for part, rater, name, id_ in _further(results) if not part or part in titles
    ]  # fmt: skip
    if further:
        yield _table("measures", [subtest, measure], further, MEANS, "")
    if not details:
        return
    for what, id_, columns in (
        ("Wrong", FOIL_ERRORS.id, COUNTS), ("Right", ACCURACY.id, COUNTS),
        ("Position", "position_accuracy", POSITIONS),
    ):  # fmt: skip
        head = Column("kind", what, "kind of error, tag of the items, or position of the option")
        records = [
            ((title, plain(kind)), Of(results, part, feature=kind, measure=id_))
            for part, title in titles.items()
            for kind, one in results.of(id_, part).items() if one.n
        ]  # fmt: skip
        if records:
            yield _table(what.lower(), [subtest, head], records, columns, "")


def features_table(judge: Judge, results: Results, battery: Battery) -> Captioned:
    """Return the rates of a judge's features in one group."""
    titles = {feature.id: feature.title for feature in battery.features}
    head = Column("feature", "Feature", "the title of the feature")
    records = [((titles.get(one, one),), Of(results, rater=judge.terms, feature=one))
               for one in judge.features]  # fmt: skip
    return _table("features", [head], records, FEATURES, f"Features: {judge.rater}.")


def _further(results: Results) -> Iterator[tuple[str, str, str, str]]:
    """Yield subtest, rater, title and id of each further measure."""
    for part in results.parts:
        for name, one in part.measures.items():
            title = measure_of(name).title if name == one.measure else name
            if one.total or name not in part.subtest.task.errors:
                yield part.id, one.rater, title, one.measure
    for rater, rows in results.others.items():
        yield from (("", rater, f"{rater}: {name}", name) for name in rows)


def _own_notes(part: Part) -> Iterator[str]:
    """Yield what the row of a subtest does not show."""
    given, answered = part.number("counted"), part.number("answered")
    if given < answered:
        yield (
            f"{part.title}: {given} of {answered} counted; identical answers that were not "
            "sampled, or were sampled with the same seed, are counted once."
        )
    odd = {**part.of("unusable"), **part.of("status")}
    told = [f"{one.value.value} {plain(name)}" for name, one in odd.items() if name != "ok"]
    if told:
        yield f"{part.title}: of {plural(answered, 'response')} {', '.join(told)}."


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
        from tabwb.analysis.statistics.naming import named_subtests
        from tabwb.analysis.tables.said import borrowed_line, said_table

        for named in named_subtests([member]):
            items = [item for item in named.items if (named.id, item.item) in shown]
            if items:
                table = said_table(f"said_{snake(named.id)}_{member.administration.id}", items)
                caption = f"{named.title}, {session(member)}: what was said to each picture."
                rule = f"Rule: {named.rules.rule} decides."
                notes = (*table.notes, borrowed_line(named.summary), rule)
                yield Captioned(table, caption, tuple(map(Footnote, filter(None, notes))))


# -- the compact table ---------------------------------------------------------------------------


def _whole_statistics(rows: Sequence[HasResults]) -> dict[str, Statistic]:
    """Return the registered statistics that have one value in a group, by id."""
    found = (one for row in rows for one in row.results if one.statistic)
    return {
        one.measure: one.statistic
        for one in found
        if one.statistic and not one.part and not one.feature
    }


def compact_table(groups: Groups, *, burdens: bool = True) -> Captioned:
    """Return the compact table of groups: burdens, right answers, names that are right.

    With burdens, as papers have it, it has the registered statistics of whole groups too.
    """
    rows, names, heads = groups.rows, groups.names, groups.heads
    battery, judges = rows[0].battery, labelled(rows) if burdens else []
    several = len(judges) > 1
    shown: dict[tuple[str, ...], tuple[Judge, str]] = {}
    columns: list[RecordColumn] = []
    notes: list[Footnote] = []
    for judge, label in judges:
        prefix, suffix = (f"{snake(label)}_", f" ({label})") if several else ("", "")
        shown[f"{prefix}n", f"{prefix}burden"] = judge, label
        columns += _placed([N_OF_BURDEN], f"{prefix}n", f"N{suffix}", rater=judge.terms)
        columns += _placed(_BURDEN, f"{prefix}burden", f"Burden{suffix}", rater=judge.terms)
        told = burden_notes(rows, names, judge.terms, f" by {label}" if several else "")
        notes += [Footnote(one, (f"{prefix}n", f"{prefix}burden")) for one in told]
    if not judges:
        columns.append(whole("n", "N", "responses that count", _got("responses")))
    titles = _names_of_named(rows)
    taken = [*groups.taken, *(one.column.name for one in columns)]
    statistics = _whole_statistics(rows) if burdens else {}
    own = column_names((*(subtest.id for subtest in battery.subtests), *titles, *statistics), taken)
    for subtest in battery.subtests:
        if any(row.results.n(ACCURACY.id, subtest.id) for row in rows):
            meaning = f"{ACCURACY.meaning}, in {subtest.title}"
            columns += _placed(_RIGHT, own[subtest.id], subtest.title, meaning, part=subtest.id)
    outcome = measure_of("outcome")
    for part, title in titles.items():
        columns += _placed(_names_right(outcome), own[part], title, outcome.meaning, part=part)
    for id_, made in statistics.items():
        column = replace(made.column, name=own[id_])
        columns += with_interval(
            column, _got(id_), _got(id_, "interval"), _got(id_, "value.reason")
        )
        notes.append(Footnote(f"{column.title}: {made.explained}.", (own[id_],)))
    caution = _declared_cautions(shown)
    notes += [*caution, *baseline_notes(rows, own), *_group_notes(rows, names, own)]
    table = groups.table("compact", columns, "").table
    named = tuple(column.name for column in heads)
    also = {"group": named} if len(named) > 1 else {snake(rows[0].group.by): named}

    def caption(of: Iterable[str]) -> str:
        columns = {*of}
        parts = [
            f"symptom burden over {plural(len(judge.burden.features), 'feature')} "
            f"({label}, {judge.terms.scope.replace('-', ' ')})"
            for its, (judge, label) in shown.items() if {*its} & columns
        ]  # fmt: skip
        scored = [one for one in battery.subtests if one.id not in titles]
        if any(own[one.id] in columns for one in scored):
            known = ((row.results, one.id) for row in rows for one in scored)
            parts.append("accuracy (policy exact)" if _has_policies(known) else "accuracy")
        if any(own[part] in columns for part in titles):
            how = "a listener's score, else the rule of the battery"
            parts.append(f"names counted as right ({how})")
        parts += [one.title for id_, one in statistics.items() if own[id_] in columns]
        what = " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:]))) or "responses"
        where = f"{battery.title} {battery.version}"
        return f"{where}: {what}, with 95 % intervals for prompts like these."

    return Captioned(table, caption(table.names), tuple(notes), battery.id, also, caption)


def labelled(rows: Sequence[Grouped]) -> list[tuple[Judge, str]]:
    """Return a summary of each judge and its terms, in order of appearance, with its label."""
    first: dict[Terms, Judge] = {}
    for row in rows:
        for judge in row.results.judges:
            first.setdefault(judge.terms, judge)
    return list(zip(first.values(), judge_labels([*first.values()], short=True), strict=True))


def _names_of_named(rows: Sequence[Grouped]) -> dict[str, str]:
    return {named.id: named.title for row in rows for named in row.results.named}


# -- notes ---------------------------------------------------------------------------------------


def burden_notes(
    rows: Sequence[Grouped], names: GroupNames, terms: Terms, suffix: str = ""
) -> Iterator[str]:
    """Yield what must be known of the burdens of a judge: what N is, and what has no burden."""
    yield f"N{suffix}: {_N}."
    own = [(row, judge.burden) for row in rows if (judge := row.judge(terms))]
    if any(burden.usable.few for _, burden in own):
        yield "†: fewer than half of the responses are usable; such a burden is not to be ranked."
    causes: dict[str, dict[str, int]] = {}
    for row, burden in own:
        for cause, n in burden.no_burden.items():
            causes.setdefault(cause, {})[names.title(row)] = n
    if causes:
        told = []
        for cause, of in sorted(causes.items(), key=lambda one: -sum(one[1].values())):
            where = ", ".join(f"{name} {n}" for name, n in of.items())
            where = where if len(of) <= MOST_NAMED else f"in {len(of)} groups"
            where = f" ({where})" if len(rows) > 1 else ""
            told.append(f"{sum(of.values())} {cause_in_words(cause)}{where}")
        yield f"Responses without a burden{suffix}: {'; '.join(told)}."
    bounded = [
        f"{names.title(row)} {words}" for row, burden in own for words in bounds_words(burden)
    ]
    if bounded:
        yield f"Bounds of the burden{suffix}: {'; '.join(bounded)}."
    waiting: dict[int, list[str]] = {}
    for row in rows:
        waiting.setdefault(row.not_judged(terms.rater), []).append(names.title(row))
    left = [f"{', '.join(having)}: {n}" for n, having in waiting.items() if n]
    if left:
        yield f"Responses not rated yet, not counted{suffix}: {'; '.join(left)}."


def baseline_notes(rows: Sequence[Grouped], columns: Mapping[str, str]) -> Iterator[Footnote]:
    """Yield the baselines of each subtest, below the column of its accuracy."""
    for subtest in rows[0].battery.subtests:
        found = {
            one.title: [f"{value:.2f}" for row in rows
                        if (value := row.results.value(one.id, subtest.id)) is not None]
            for one in BASELINES
        }  # fmt: skip
        shown = ", ".join(f"{title} {_span(values)}" for title, values in found.items() if values)
        if shown:
            yield Footnote(f"Baselines of {subtest.title}: {shown}.", (columns[subtest.id],))


def _span(values: Sequence[Any], form: str = "") -> str:
    return " to ".join(f"{one:{form}}" for one in dict.fromkeys((min(values), max(values))))


def _declared_cautions(
    shown: Mapping[tuple[str, ...], tuple[Judge, str]],
) -> Iterator[Footnote]:
    """Yield the caution that each judge declared."""
    own: dict[tuple[str, str], tuple[str, ...]] = {}
    for names, (judge, _) in shown.items():
        if judge.caution:
            key = judge.rater, judge.caution.rstrip(".")
            own[key] = (*own.get(key, ()), *names)
    called = judge_names(judge.rater for judge, _ in shown.values())
    for (rater, caution), names in own.items():
        yield Footnote(f"Verdicts of {called[rater]}: {caution}.", names)


def _group_notes(
    rows: Sequence[Grouped], names: GroupNames, own: Mapping[str, str]
) -> Iterator[Footnote]:
    """Yield that there are few items, N of accuracies, what all share, over what was pooled."""
    yield from map(Footnote, few_items(*(row.results for row in rows)))
    burdens = [judge.burden for row in rows for judge in row.results.judges]
    yield from map(Footnote, correlation_notes(burdens))
    scored = {}
    for one in rows[0].battery.subtests:
        if found := [n for row in rows if (n := row.results.n(ACCURACY.id, one.id))]:
            scored[own[one.id]] = f"{one.title} {_span(found, ',')}"
    if scored:
        shown = ", ".join(scored.values())
        yield Footnote(f"Scored responses of a group: {shown}.", tuple(scored))
    yield from map(Footnote, shared_note(rows, names.rename))
    alike: dict[tuple[str, bool], list[Grouped]] = {}
    for row in rows:
        alike.setdefault((row.group.short or row.group.label, row.group.has_model), []).append(row)
    for (label, _), same in alike.items():
        differing = dict.fromkeys(title_of(name) for row in same for name, _ in row.group.apart)
        if len(same) > 1 and differing:
            told = f"{names.rename(label, same[0])}: separate rows, not pooled, because they differ"
            yield Footnote(f"{told} in {', '.join(differing)}.")
    group = rows[0].group
    if group.together:
        yield Footnote(f"Pooled on purpose over {', '.join(group.together)}.")
    if several := [key for key in group.keys if key_of(key).several]:
        yield Footnote(f"A response may be in several rows: by {', '.join(several)}.")
    # How all responses of models were drawn, where no name and no other note says it.
    drawn = [row.group.circumstances.get("decoding", ()) for row in rows if row.group.has_model]
    known = {name for row in rows for name, _ in (*row.group.apart, *row.group.shared)}
    if drawn and "decoding" not in known and len(set(drawn)) == 1 and len(drawn[0]) == 1:
        yield Footnote(f"Decoding of all responses of models: {drawn[0][0]}.")
    yield from map(Footnote, _pooled(rows, names))


def _pooled(rows: Sequence[Grouped], names: GroupNames) -> Iterator[str]:
    """Yield in what the members of groups differ that are pooled; groups alike are named once."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        for name, values in row.group.mixed.items():
            # The names of examinees may be people's; of people there are often many.
            many = len(values) > MOST_NAMED and not row.group.has_model
            told = (
                plural(len(values), "participant" if many else "examinee")
                if name == "examinee" and (many or not names.examinees)
                else f"{title_of(name)} {' | '.join(names.rename(value, row) for value in values)}"
            )
            groups.setdefault(told, []).append(names.title(row))
    for told, having in groups.items():
        of = "All groups are" if len(having) == len(rows) > 1 else f"{', '.join(having)}:"
        yield f"{of} pooled over {told}."


def column_names(ids: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Return a name for the column of each id, and for those of its interval, used only once.

    >>> column_names(["n", "wc-1", "wc_1"], ["group", "n"])
    {'n': 'own_n', 'wc-1': 'wc_1', 'wc_1': 'own_wc_1'}
    """
    found: dict[str, str] = {}
    used = set(taken)
    for one in dict.fromkeys(ids):
        name = snake(one) or "own"
        while used & (names := {name, f"{name}_low", f"{name}_high", f"{name}_why"}):
            name = f"own_{name}"
        used |= names
        found[one] = name
    return found


def snake(text: str) -> str:
    """Return a text as the name of a column.

    >>> snake("Word comprehension (exact)")
    'word_comprehension_exact'
    """
    return re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")
