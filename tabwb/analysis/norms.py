"""People's values compared with groups of norms: beside their scores, as one table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.statistics.results import Result
from tabwb.analysis.tables.declared import number, p_value, text, whole
from tabwb.battery.norms import Norm, NormProblems, load_norms
from tabwb.host.settings import bundled_folder, config_folder
from tabwb.records.columns import Column
from tabwb.scoring.norms import Standing, among, standing
from tabwb.tables.table import RecordColumn, Table, records_table

FILE = "norms.toml"
NOTES = (
    "percentile is the estimated share of the norm group below the person's value (Crawford and "
    "Howell 1998), with the 95 % interval of Crawford and Garthwaite (2002); both take the group's "
    "values as Gaussian. Where a group has percentiles only, low and high are the two next to the "
    "value: no confidence interval.",
    "It describes one value beside one group. It is not a statement about a person.",
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A person's value in the group of a norm."""

    label: str
    result: Result
    norm: Norm
    standing: Standing


def places() -> Iterator[Path]:
    """Yield the files of norms: the user's, those that were added, those beside batteries."""
    folder = config_folder(os.environ)
    yield folder / FILE
    yield from sorted((folder / "norms").glob("*.toml"))
    yield from sorted(bundled_folder("").glob(f"*/{FILE}"))


def known_norms() -> tuple[list[Norm], list[str]]:
    """Return the norms that are there, and the problems of files that cannot be used."""
    norms: list[Norm] = []
    problems: list[str] = []
    for path in places():
        if path.is_file():
            try:
                norms += [norm for norm in load_norms(path) if norm not in norms]
            except NormProblems as error:
                more = len(error.problems) - 1
                problems.append(f"{error.problems[0]}{f' (and {more:,} more)' if more else ''}")
    return norms, problems


def is_for(norm: Norm, battery: str, result: Result) -> bool:
    """Return whether a norm is about this value of a battery."""
    return (
        (norm.battery, norm.measure, norm.part, norm.feature)
        == (battery, result.measure, result.part, result.feature)
        and result.policy in ("", "exact")
        and norm.rater in ("", result.rater)
    )


def placed_in(
    label: str, battery: str, results: Iterable[Result], norms: Sequence[Norm]
) -> Iterator[Placed]:
    """Yield the values of a person, each compared with every norm for it."""
    own = [norm for norm in norms if norm.battery == battery]
    for result in results if own else ():
        value = result.value.value
        for norm in own:
            if value is not None and is_for(norm, battery, result):
                yield Placed(label, result, norm, _standing(value, norm))


def _standing(value: float, norm: Norm) -> Standing:
    if norm.mean is None or norm.sd is None:
        return among(value, norm.known)
    return standing(value, norm.mean, norm.sd, norm.n)


def is_one_person(members: Sequence[AdministrationData]) -> bool:
    """Return whether administrations are all of one person."""
    people = {
        None if member.conditions.kind == "model" else member.conditions.examinee
        for member in members
    }
    return len(people) == 1 and None not in people


def _of(name: str) -> Any:
    return f"standing.{name}"


def _basis(given: Placed) -> str:
    return "percentiles" if given.standing.t is None else "mean and sd"


COLUMNS = (
    text("group", "Group", "the person, or the administration", "label"),
    text("part", "Subtest", "the subtest; empty for a value over all responses", "result.part"),
    text("rater", "Rater", "who gave the ratings", "result.rater"),
    text("measure", "Measure", "what was measured", "result.measure"),
    text("feature", "Feature", "the feature, category or code", "result.feature"),
    number("value", "Value", "the person's value", "result.value.value"),
    text("norm", "Norm group", "the people of the norm", "norm.group"),
    whole("n", "N", "number of people of the norm group", "norm.n"),
    number("mean", "Mean", "mean of the norm group", "norm.mean"),
    number("sd", "SD", "standard deviation of the norm group", "norm.sd"),
    number("t", "t", "(value - mean) / (sd sqrt((n + 1) / n)), Crawford and Howell 1998", _of("t")),
    whole("df", "df", "degrees of freedom of t", _of("df")),
    p_value("p", "p", "two-sided p of t", _of("p")),
    number("percentile", "Percentile", "estimated share of the norm group below the value, in "
           "percent; missing beyond the outermost known percentile", _of("percentile"), digits=1),
    number("percentile_low", "Low", "lower end of its 95 % interval, or the next lower known "
           "percentile", _of("low"), digits=1),
    number("percentile_high", "High", "upper end, or the next higher known percentile",
           _of("high"), digits=1),
    text("basis", "Basis", "what is known of the norm group", _basis),
    text("source", "Source", "where the norm is from", "norm.source"),
)  # fmt: skip


def norms_table(rows: Sequence[Grouped]) -> Table:
    """Return people's values compared with groups of norms; rows of several people are left out."""
    norms, problems = known_norms()
    found = [
        one
        for row in rows
        if is_one_person(row.group.members)
        for one in placed_in(row.label, row.battery.id, row.results, norms)
    ]
    return _table(found, problems, [*_unmatched(rows, norms)], there=bool(norms))


def _unmatched(rows: Sequence[Grouped], norms: Sequence[Norm]) -> Iterator[str]:
    """Yield a note for each norm of a battery of the rows that none of their values has."""
    for norm in norms:
        results = [one for row in rows if row.battery.id == norm.battery for one in row.results]
        if not results or any(is_for(norm, norm.battery, one) for one in results):
            continue
        parts = sorted({one.part for one in results if one.measure == norm.measure})
        known = ", ".join(part or "left out" for part in parts) or "none"
        yield (
            f"Norm '{norm.group}' of {norm.battery}: no value has part '{norm.part}' and measure "
            f"'{norm.measure}'. Parts with this measure: {known}."
        )


def norms_of(label: str, battery: str, results: Iterable[Result]) -> Table | None:
    """Return the same of one administration of a person; None where there is no norm for it."""
    norms, problems = known_norms()
    found = list(placed_in(label, battery, results, norms))
    return _table(found, problems) if found else None


def _table(
    found: Sequence[Placed],
    problems: Sequence[str],
    more: Sequence[str] = (),
    *,
    there: bool = True,
) -> Table:
    none = () if there else ("There are no norms: tabwb norms add FILE.",)
    left = (f"Left out: {problem}" for problem in problems)
    return records_table("norms", COLUMNS, found, (*NOTES, *none, *more, *left))


LISTED = (
    text("battery", "Battery", "the battery's id"),
    text("part", "Subtest", "the subtest; empty for a value over all responses"),
    text("measure", "Measure", "what was measured"),
    text("feature", "Feature", "the feature, category or code"),
    text("group", "Norm group", "the people of the norm"),
    whole("n", "N", "number of people"),
    number("mean", "Mean", "mean of the group"),
    number("sd", "SD", "standard deviation of the group"),
    text("source", "Source", "where the values are from"),
    RecordColumn(Column("license", "License", "under which terms they may be used"),
                 lambda norm: norm.license),
)  # fmt: skip


def listed_norms(norms: Sequence[Norm], problems: Sequence[str] = ()) -> Table:
    """Return norms as a table."""
    return records_table("norm-groups", LISTED, norms, [f"Left out: {one}" for one in problems])
