"""Groups as one table for other programs: a row for each, a column for each of its values.

Of models alone: what a person said is written by an export, which asks for consent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.cautions import group_cautions
from tabwb.analysis.file_names import file_names, named, without_folders
from tabwb.analysis.grouping import Grouped, specs_of
from tabwb.analysis.keys import key_of
from tabwb.analysis.measures import ACCURACY, BURDEN
from tabwb.analysis.statistics.results import EXACT, Result, Terms
from tabwb.host.writing import write_text
from tabwb.media.destination import check_destination
from tabwb.media.documents.datapackage import Described, check_description, write_description
from tabwb.media.paper import table_csv
from tabwb.media.views.results import labelled
from tabwb.media.wording import plain
from tabwb.records.columns import Column
from tabwb.records.declared_conditions import ColumnType
from tabwb.records.errors import TabwbError
from tabwb.records.words import CSV_CELLS, RESEARCH_ONLY, plural
from tabwb.tables.table import Table, table_of

NOTE = (
    "One row for each group of administrations of models, RFC 4180, UTF-8; an empty cell is "
    "undefined, or does not belong to that row. Responses of a group are pooled. Different values "
    "of its administrations are in one cell, separated by ' | '. The name of a value has its "
    "judge, subtest, measure, feature (category, tag, kind of error) and policy, if it is not "
    "exact. low and high are the ends of 95 % intervals for prompts like these, these_low and "
    "these_high for exactly these prompts (empty where they need replicates or nothing was drawn); "
    "n is how many responses are behind a value. Burdens with few_usable must not be ranked. "
    "not_judged responses are not among those that a judge has rated."
)
Cells = Iterator[tuple[Column, Any]]


def wide_table(groups: Sequence[Grouped]) -> Table:
    """Return groups as a table with short names of files and judges."""
    if not groups:
        raise TabwbError(
            "there are no administrations of models to write",
            hint="tabwb run BATTERY --model SPEC; of people: tabwb export",
        )
    judges = {judge.terms: label for judge, label in labelled(groups)}
    files = file_names(_specs(groups))
    rows = [
        {named(column.name, files): (column, value) for column, value in _row(row, judges)}
        for row in groups
    ]
    columns = {name: column for row in rows for name, (column, _) in row.items()}
    values = [[row.get(name, (None, None))[1] for name in columns] for row in rows]
    return table_of(
        "groups",
        [Column(name, name, one.meaning, one.type, one.unit) for name, one in columns.items()],
        [[named(one, files) if isinstance(one, str) else one for one in row] for row in values],
        [f"{label}: {named(judge.rater, files)}." for judge, label in labelled(groups)],
    )


def _specs(groups: Sequence[Grouped]) -> Iterator[str]:
    for group in groups:
        name = group.group.name
        if without_folders(name) != name:
            yield name  # models with the same short name can have their paths as names
        yield from specs_of([group])


def _row(row: Grouped, judges: dict[Terms, str]) -> Cells:
    for name, value, meaning in _facts(row):
        yield Column(name, name, meaning), value or None
    for terms, label in judges.items():
        if row.judge(terms) is None:
            name, waiting = f"{label} not_judged", row.not_judged(terms.rater)
            yield Column(name, "", "responses that are not rated yet", "integer"), waiting
    for results in (row.results, row.results.counts):
        for result in results:
            rater = judges.get(result.terms, result.rater) if result.terms else result.rater
            prefix = filter(None, (rater, result.part))
            name = " ".join((*prefix, result.measure))
            yield from _values(name, result, is_count=results is row.results.counts)


def _facts(row: Grouped) -> Iterator[tuple[str, str | None, str]]:
    group, labels = row.group, row.group.labels
    for key, name in group.named.items():
        yield key, name, key_of(key).meaning
    yield "name", group.name, "the row's name: as above, with the short name of the model"
    if group.together:
        yield "together", " ".join(group.together), "keys over which it is pooled on purpose"
    apart = " | ".join(f"{name} {value}" for name, value in group.apart)
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


def _values(name: str, result: Result, *, is_count: bool) -> Cells:
    """Yield a value; without a feature and of the policy exact also its interval and responses."""
    name = " ".join(filter(None, (name, result.feature, result.policy.removeprefix(EXACT))))
    known = result.declared
    meaning = known.meaning or plain(result.measure).replace("_", " ")
    value = result.value.value
    kind: ColumnType = "integer" if isinstance(value, int) else "number"
    yield Column(name, name, meaning, kind, "" if known.unit == "count" else known.unit), value
    if result.measure == ACCURACY.id:
        yield Column(f"{name} right", "", "right responses", "integer"), result.total
    if result.feature or result.policy not in ("", EXACT):
        return
    for prefix, of, interval in (
        ("", "prompts like these", result.interval),
        ("these_", "exactly these prompts", result.these),
    ):
        for end, word in (("low", "lower"), ("high", "upper")) if result.intervals else ():
            words = f"{word} end of the 95 % interval for {of}"
            yield Column(f"{name} {prefix}{end}", "", words, "number"), getattr(interval, end, None)
    if not is_count:
        yield Column(f"{name} n", "", "responses behind the value", "integer"), result.n
    if result.measure == BURDEN.id and result.usable:
        few = "true: fewer than half of the responses are usable"
        yield Column(f"{name} few_usable", "", few, "boolean"), result.usable.few


def of_models(
    chosen: Iterable[AdministrationData],
) -> tuple[list[AdministrationData], int, int]:
    """Return the administrations of models, how many are of people, and of how many unknown."""
    chosen = list(chosen)
    models = [data for data in chosen if not data.administration.conditions.guarded]
    given = (data.administration.conditions for data in chosen)
    made_by = Counter(one.made_by for one in given if one.guarded)
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
    table = wide_table(groups)
    place = check_destination(out)
    check_description(place)
    names = file_names(_specs(groups))
    warnings = (named(sentence, names) for sentence in group_cautions(groups))
    listed = "\n".join(f"- {column.name}: {column.meaning}" for column in table.columns)
    told = dict.fromkeys((RESEARCH_ONLY, *warnings, *table.notes))
    write_text(place, table_csv(table), [*told, NOTE, CSV_CELLS, f"Columns:\n{listed}"])
    batteries = {group.battery.content_hash: group.battery for group in groups}.values()
    title = f"Results of models: {', '.join(one.title for one in batteries)}"
    try:
        write_description([Described(place, place.name, table.columns)], place, batteries, title)
    except OSError as error:
        problem = f"its description cannot be written: {error.strerror or error}"
        raise TabwbError(problem, where=str(place)) from error
    return place
