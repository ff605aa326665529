"""Groups of administrations as a table for other programs: one row for each, every figure.

Of models alone: what a person said is written by an export, which asks for consent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import Grouped, specs_of
from tabwb.analysis.keys import key_of
from tabwb.plugin_api.writing import write_text
from tabwb.records.columns import Column
from tabwb.records.declared_conditions import ColumnType
from tabwb.records.errors import TabwbError
from tabwb.records.words import CSV_CELLS, RESEARCH_ONLY, csv_text, plural
from tabwb.report.destination import check_destination
from tabwb.report.documents.datapackage import (
    Described,
    check_description,
    write_description,
)
from tabwb.report.file_names import file_names, named, without_folders
from tabwb.report.measures import ACCURACY, BURDEN, SUBTEST_MEASURES, WORDS_MEAN, measure_of
from tabwb.report.summaries.cautions import group_cautions
from tabwb.report.summaries.judges import JudgeSummary, judge_labels
from tabwb.report.summaries.subtests import SubtestSummary
from tabwb.scoring.burden import Usable
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimand, EstimatedInterval
from tabwb.tasks.task_type import task_type

Row = dict[str, tuple[object, str]]
"""Column to value and meaning; a value None is undefined and becomes an empty cell."""

LONGEST = 24
"""A judge with a longer name, or with an address in it, is called ``judge1``, ``judge2`` ..."""
NOTE = (
    "One row for each group of administrations of models, RFC 4180, UTF-8; an empty cell is "
    "undefined, or does not belong to that row. Responses of a group are pooled. Different values "
    "of its administrations are in one cell, separated by ' | '. low and high are the ends of "
    "95 % intervals for prompts like these, these_low and these_high for exactly these prompts "
    "(empty where they need replicates or nothing was drawn). "
    "usable of n responses can be described, causes says why the others can not; few_usable marks "
    "burdens that must not be ranked. "
    "N of a judge are the responses that have a burden; not_judged are not among the n. "
    "Accuracies are by the policy exact."
)


def groups_csv(groups: Sequence[Grouped]) -> str:
    """Return the table's text."""
    return _text(_rows(groups))


def _text(rows: Sequence[Row]) -> str:
    columns = _columns(rows)
    cells = ([row.get(name, (None, ""))[0] for name in columns] for row in rows)
    return csv_text(list(columns), cells)


def of_models(
    chosen: Iterable[AdministrationData],
) -> tuple[list[AdministrationData], int, int]:
    """Return the administrations of models, how many are of people, and of how many unknown."""
    models: list[AdministrationData] = []
    made_by = Counter[str]()
    for data in chosen:
        conditions = data.administration.conditions
        if conditions.guarded:
            made_by[conditions.made_by] += 1
        else:
            models.append(data)
    return models, made_by.total() - made_by["unknown"], made_by["unknown"]


def left_out(people: int, unknown: int, remedy: str) -> Iterator[str]:
    """Yield what was left out because it is, or may be, a person's."""
    if people:
        yield f"left out: {plural(people, 'administration')} of people{remedy}"
    if unknown:
        yield (
            f"left out: {plural(unknown, 'administration')} of recorded answers of unknown origin "
            "(if a model responded, give them again as replay:FILE@origin=model)"
        )


def write_groups(groups: Sequence[Grouped], out: Path) -> Path:
    """Write the table, with what its columns hold in a text beside it; return the file."""
    rows = _rows(groups)
    text, columns = _text(rows), _columns(rows)
    place = check_destination(out)
    check_description(place)
    names = file_names(_specs(groups))
    warnings = (named(sentence, names) for sentence in group_cautions(groups))
    listed = "\n".join(f"- {name}: {meaning}" for name, meaning in columns.items())
    notes = [*dict.fromkeys((RESEARCH_ONLY, *warnings)), NOTE, CSV_CELLS, f"Columns:\n{listed}"]
    write_text(place, text, notes)
    declared = [
        Column(name, name, meaning, _type([row[name][0] for row in rows if name in row]))
        for name, meaning in columns.items()
    ]
    batteries = {group.battery.content_hash: group.battery for group in groups}.values()
    title = f"Results of models: {', '.join(one.title for one in batteries)}"
    try:
        write_description([Described(place, place.name, declared)], place, batteries, title)
    except OSError as error:
        problem = f"its description cannot be written: {error.strerror or error}"
        raise TabwbError(problem, where=str(place)) from error
    return place


def _type(values: Sequence[object]) -> ColumnType:
    given = [value for value in values if value is not None]
    if given and all(value in ("true", "false") for value in given):
        return "boolean"
    if given and all(isinstance(value, int | float) for value in given):
        whole = all(isinstance(value, int) for value in given)
        return "integer" if whole else "number"
    return "text"


def judge_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Return a short name for each judge, with which its columns begin.

    >>> judge_names(["rules-1", "tab-2026:openai:m@base_url=http://localhost:1/v1"])
    ('rules-1', 'judge1')
    """
    numbers = count(1)
    return tuple(
        label if len(label) <= LONGEST and not set(label) & set(":/@") else f"judge{next(numbers)}"
        for label in labels
    )


def _columns(rows: Sequence[Row]) -> Mapping[str, str]:
    return {name: meaning for row in rows for name, (_, meaning) in row.items()}


def _rows(groups: Sequence[Grouped]) -> list[Row]:
    if not groups:
        raise TabwbError(
            "there are no administrations of models to write",
            hint="tabwb run BATTERY --model SPEC; of people: tabwb export",
        )
    names = file_names(_specs(groups))
    return [
        {
            named(column, names): (
                named(value, names) if isinstance(value, str) else value,
                meaning,
            )
            for column, (value, meaning) in _row(group, groups).items()
        }
        for group in groups
    ]


def _specs(groups: Sequence[Grouped]) -> Iterator[str]:
    for group in groups:
        name = group.group.name
        if without_folders(name) != name:
            yield name  # models with the same short name can have their paths as names
        yield from specs_of([group])


def _row(group: Grouped, groups: Sequence[Grouped]) -> Row:
    row = _prefixed("", _group_cells(group))
    first = {judge.terms: judge for one in groups for judge in one.summary.judges}
    own = {judge.terms: judge for judge in group.summary.judges}
    labels = judge_labels(list(first.values()))
    for terms, name, label in zip(first, judge_names(labels), labels, strict=True):
        if name != label:
            row[name] = label, "the judge whose columns begin with this name"
        if terms in own:
            row |= _prefixed(name, _judge_cells(own[terms]))
        waiting = "responses that this judge has not rated yet"
        row[f"{name} not_judged"] = group.not_judged(terms.rater), waiting
    for subtest in group.summary.subtests:
        if subtest.share.scored:
            row |= _prefixed(subtest.id, _subtest_cells(subtest))
    for result in group.summary.statistics:
        for value in result.values:
            name = " ".join(filter(None, (result.part, result.statistic.id, value.of)))
            like = "end of the 95 % interval for prompts like these"
            cells = (
                ("value", value.value, result.statistic.meaning),
                ("low", value.low, f"lower {like}"),
                ("high", value.high, f"upper {like}"),
                ("N", value.n, "responses behind the value"),
            )
            row |= _prefixed(name, cells)
    return row


def _prefixed(prefix: str, cells: Cells) -> Row:
    before = f"{prefix} " if prefix else ""
    return {f"{before}{name}": (value, meaning) for name, value, meaning in cells}


Cells = Iterable[tuple[str, object, str]]
"""Column, value, meaning."""


def _joined(values: Iterable[str]) -> str | None:
    return " | ".join(values) or None


def _group_cells(row: Grouped) -> Cells:
    group, answers, labels = row.group, row.summary.answers, row.group.labels
    for key, name in group.named.items():
        yield key, name, key_of(key).meaning
    yield "name", group.name, "the row's name: as above, with the short name of the model"
    if group.together:
        yield "together", " ".join(group.together), "keys over which it is pooled on purpose"
    apart = _joined(f"{name} {value}" for name, value in group.apart)
    yield "apart", apart, "the conditions that distinguish this row from others of the same name"
    yield "battery", row.battery.id, "the battery's id"
    yield "battery_version", row.battery.version, "the battery's version"
    numbers = " ".join(str(member.administration.id) for member in group.members)
    yield "administrations", numbers, "numbers of the administrations in the group"
    yield "family", labels.get("family"), key_of("family").meaning
    profile = "of the models in the group, as their profiles say"
    yield "tunings", " | ".join(group.tunings), profile
    yield "parameters", labels.get("parameters"), "number of parameters, as the profile says"
    for name, values in group.circumstances.items():
        yield f"given_{name}", " | ".join(values), f"{name} under which the group was given"
    for name, values in group.mixed.items():
        if name not in group.circumstances:
            meaning = f"{name} in which the group's members differ"
            yield f"differing_{name}", " | ".join(values), meaning
    for name, value, meaning in _usable_cells(answers.usable):
        yield f"answers_{name}", value, USABLE_ANSWERS.get(name, meaning)
    yield "answers", answers.n, "responses that count"
    yield "answers_distinct", answers.n_distinct, "different texts among the responses"
    yield "answers_words_mean", answers.words_mean.value, WORDS_MEAN.meaning
    odd = sum(n for status, n in answers.statuses.items() if status != "ok")
    yield "answers_not_ok", odd, "responses whose status is not ok"
    inexact = "greedy responses that may change with batch size or device"
    yield "answers_batch_inexact", answers.inexact, inexact


USABLE_ANSWERS = {
    "usable": "of these, how many can be described",
    "n": "the same as answers",
    "few_usable": "true: fewer than half of the responses can be described",
}


def _usable_cells(answers: Usable) -> Cells:
    causes = _joined(f"{name} {n}" for name, n in answers.causes.items())
    yield "usable", answers.usable, "responses that can be described"
    yield "n", answers.n, "responses"
    yield "causes", causes, "reasons why the others cannot be described, with counts"
    yield "few_usable", "true" if answers.few else "false", "true: the burden must not be ranked"


def _ends(estimated: Sequence[EstimatedInterval]) -> Cells:
    intervals = {estimate.estimand: estimate.interval for estimate in estimated}
    for prefix, estimand, prompts in (
        ("", Estimand.PROMPTS_LIKE_THESE, "prompts like these"),
        ("these_", Estimand.THESE_PROMPTS, "exactly these prompts"),
    ):
        for end, word in (("low", "lower"), ("high", "upper")):
            value = getattr(intervals.get(estimand), end, None)
            yield f"{prefix}{end}", value, f"{word} end of the 95 % interval for {prompts}"


def _judge_cells(judge: JudgeSummary) -> Cells:
    burden = judge.burden
    yield from _usable_cells(burden.usable)
    yield BURDEN.id, burden.symptom_burden.value, BURDEN.meaning
    yield from _ends(burden.intervals)
    yield "features", len(burden.features), "number of features in the set"
    yield "scope", judge.scope, "which responses are judged"
    yield "prompt", judge.prompt_hash, "SHA-256 of the judge's prompt"
    yield "N", burden.n_burden, "responses that have a burden, which is their mean"
    yield "distinct", burden.n_distinct, "different texts among them"
    yield WORDS_MEAN.id, burden.words_mean.value, WORDS_MEAN.meaning


def _subtest_cells(subtest: SubtestSummary) -> Cells:
    share = subtest.share
    yield "N", share.n, "responses that count"
    yield "scored", share.scored, "responses with a verdict under the policy exact"
    for policy in POLICIES:
        yield f"correct_{policy}", share.correct[policy], f"right answers under the policy {policy}"
    yield ACCURACY.id, share.accuracy().value, ACCURACY.meaning
    yield from _ends(share.intervals())
    yield "repeated", subtest.repeated, "responses beyond the first to the same item"
    for name, baseline in subtest.baselines.items():
        yield f"baseline_{name}", baseline.value, measure_of(name).meaning
    for measure in SUBTEST_MEASURES:
        if not measure.yes_no or task_type(subtest.kind).answers:
            yield measure.id, subtest.estimate(measure.id).value, measure.meaning
