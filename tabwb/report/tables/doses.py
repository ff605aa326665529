"""The table of doses: measures by the amount of a lesion, seed by seed and over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tabwb.report.summaries.dose_lines import Line, Series, dose_lines
from tabwb.report.summaries.groups import Grouped
from tabwb.report.tables.declared import ends, number, p_value, text, whole
from tabwb.report.tables.dose_values import Cell, Measured, cells_of, values_of
from tabwb.scoring.dose import (
    LEAST_SEEDS,
    Points,
    SeedTest,
    against_controls,
    area,
    mean_over_seeds,
    seed_numbers,
    slope,
)
from tabwb.scoring.estimate import Estimate, Interval
from tabwb.tables.table import RecordColumn, Table, records_table

NOTES = (
    "A seed decides which units a lesion takes: intervals (95 %, t) and p are for other draws of "
    f"units and these prompts, over {LEAST_SEEDS} seeds or more. p is not corrected for the number "
    "of measures and lesions.",
    "slope: change of the value for an amount of 1 more; height: mean height of a seed's line. "
    "Both are over the amounts at which every seed has a value ('over'); nothing makes a response "
    "rise with the dose. usable: share of usable responses. surprisal: of a fixed text, log2 of "
    "the perplexity, in bits per token.",
    "control: the same operation on as many parameters anywhere in attention and feed-forward "
    "networks. less control: the difference, over pairs of one seed where the seeds match.",
)
TOO_FEW = "every seed has a value at fewer than two amounts"
Values = Mapping[float, Measured]
"""Of one seed by amount."""


@dataclass(frozen=True, slots=True)
class _Row:
    cell: Cell
    series: str
    row: str
    seed: str = ""
    at: Mapping[float, SeedTest] = field(default_factory=dict)
    numbers: Mapping[str, SeedTest] = field(default_factory=dict)
    over: tuple[float, ...] = ()
    intact: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Lines:
    """The values of a series under one measure, by seed and amount."""

    own: Mapping[str, Values]
    control: Mapping[str, Values]
    amounts: tuple[float, ...]

    @property
    def limits(self) -> tuple[float, float]:
        """The least and largest value that there can be."""
        every = (one.largest for line in self.own.values() for one in line.values())
        return 0.0, max(every)

    def common(self, *, control: bool) -> tuple[float, ...]:
        """Return the amounts at which every seed has a value, of both sides for a comparison."""
        sides = (self.own, self.control) if control else (self.own,)
        return tuple(
            amount
            for amount in self.amounts
            if all(_counted(line, amount) is not None for side in sides for line in side.values())
        )


def doses_table(rows: Sequence[Grouped]) -> Table:
    """Return measures by the amount of lesions as a table: usable responses first.

    For each measure and lesion there are rows for the intact model, each seed, the mean over seeds,
    the mean of the controls, and the difference to the controls. Each amount has a column.

    Args:
        rows: groups of administrations whose responses are columns.

    Raises:
        UsageError: no lesion has two amounts.
    """
    shown = _shown(rows)
    found, left = dose_lines(one for row in rows for one in row.group.members)
    amounts = sorted({amount for series in found for amount in series.amounts})
    made = list(_rows(found, shown))
    notes = list(NOTES)
    if left:
        notes.append(f"Left out: {left} administrations under lesions with one amount, or none.")
    return records_table("doses", _columns(amounts), made, notes)


def _shown(rows: Sequence[Grouped]) -> frozenset[str]:
    """Return the features to which tables are limited; empty: all."""
    return frozenset(name for row in rows for judge in row.summary.judges for name in judge.shown)


def _rows(found: Sequence[Series], shown: frozenset[str]) -> Iterator[_Row]:
    values = {series.name: _measured(series) for series in found}
    every = (one for intact, own, control in values.values()
             for one in (intact, *_all(own), *_all(control)))  # fmt: skip
    for cell in cells_of(every):
        if shown and cell.measure == "rate" and cell.feature not in shown:
            continue
        for series in found:
            intact, own, control = values[series.name]
            lines = _Lines(_of(own, cell), _of(control, cell), series.amounts)
            if any(lines.own.values()):
                yield from _of_series(_Row(cell, series.name, ""), lines, intact.get(cell))


_Given = dict[str, dict[float, dict[Cell, Measured]]]


def _measured(series: Series) -> tuple[dict[Cell, Measured], _Given, _Given]:
    def of(lines: Mapping[str, Line]) -> _Given:
        return {
            seed: {amount: values_of(group) for amount, group in line.items()}
            for seed, line in lines.items()
        }

    intact = {} if series.intact is None else values_of(series.intact)
    return intact, of(series.lines), of(series.controls)


def _all(given: _Given) -> Iterable[dict[Cell, Measured]]:
    return (values for line in given.values() for values in line.values())


def _of(given: _Given, cell: Cell) -> dict[str, dict[float, Measured]]:
    return {
        seed: {amount: values[cell] for amount, values in line.items() if cell in values}
        for seed, line in given.items()
    }


def _of_series(row: _Row, lines: _Lines, intact: Measured | None) -> Iterator[_Row]:
    if intact is not None:
        yield replace(row, row="intact", intact=intact.value.value, reason=_why({0.0: intact}))
    common = lines.common(control=False)
    for seed, line in lines.own.items():
        yield replace(
            row, row="seed", seed=seed, at={x: _single(one.value) for x, one in line.items()},
            numbers={name: _single(one[seed]) for name, one in _numbers(lines.own, common).items()},
            over=common, reason=_why(line),
        )  # fmt: skip
    yield _mean(replace(row, row="mean"), lines.own, lines)
    if lines.control:
        yield _mean(replace(row, row="control"), lines.control, lines)
        yield _less_control(replace(row, row="less control"), lines)


def _mean(row: _Row, side: Mapping[str, Values], lines: _Lines) -> _Row:
    common = lines.common(control=row.row == "control")
    at = {
        amount: mean_over_seeds([_counted(line, amount) for line in side.values()], lines.limits)
        for amount in lines.amounts
        if any(amount in line for line in side.values())
    }
    numbers = {
        name: mean_over_seeds(
            [one.value for one in found.values()],
            lines.limits if name == "height" else (-float("inf"), float("inf")),
        )
        for name, found in _numbers(side, common).items()
    }
    if "height" in numbers:  # that it is not 0 needs no test
        numbers["height"] = replace(numbers["height"], p=None)
    return replace(row, at=at, numbers=numbers, over=common, reason=_reasons(at, common))


def _less_control(row: _Row, lines: _Lines) -> _Row:
    common = lines.common(control=True)
    at = {
        amount: against_controls(_estimates(lines.own, amount), _estimates(lines.control, amount))
        for amount in lines.amounts
        if any(amount in line for line in lines.control.values())
    }
    own, control = (_numbers(side, common) for side in (lines.own, lines.control))
    numbers = {name: against_controls(own[name], control[name]) for name in own}
    return replace(row, at=at, numbers=numbers, over=common, reason=_reasons(at, common))


def _numbers(
    side: Mapping[str, Values], amounts: Sequence[float]
) -> dict[str, dict[str, Estimate]]:
    """Return slope and height of each seed; nothing where there are fewer than two amounts."""
    if len(amounts) < 2:
        return {}
    lines = {
        seed: {amount: _counted(line, amount) for amount in amounts} for seed, line in side.items()
    }
    kinds: tuple[tuple[str, Callable[[Points], float]], ...] = (("slope", slope), ("height", area))
    return {name: seed_numbers(lines, made, amounts) for name, made in kinds}


def _counted(line: Values, amount: float) -> float | None:
    return line[amount].counted if amount in line else None


def _estimates(side: Mapping[str, Values], amount: float) -> dict[str, Estimate]:
    found = {seed: _counted(line, amount) for seed, line in side.items()}
    return {
        seed: Estimate(value, "" if value is not None else f"no value at {amount:g}")
        for seed, value in found.items()
    }


def _single(value: Estimate) -> SeedTest:
    return SeedTest(value.value, 1, 0, 0, "")


def _why(line: Values) -> str:
    """Return why values are missing or in no mean."""
    few = [f"{amount:g}" for amount, one in line.items() if one.few and one.value.defined]
    reasons = dict.fromkeys(one.value.reason for one in line.values() if one.value.reason)
    found = [*reasons]
    if few:
        where = "" if few == ["0"] else f" at {', '.join(few)}"
        found.append(f"few usable{where}, in no mean")
    return "; ".join(found)


def _reasons(at: Mapping[float, SeedTest], common: Sequence[float]) -> str:
    found = dict.fromkeys(one.reason for one in at.values() if one.reason)
    return "; ".join([*found, *([] if len(common) > 1 else [TOO_FEW])])


def _columns(amounts: Sequence[float]) -> tuple[RecordColumn, ...]:
    return (
        text("measure", "Measure", "what was measured", lambda row: row.cell.measure),
        text("part", "Subtest", "the subtest; empty for a value over all responses",
             lambda row: row.cell.part),
        text("rater", "Rater", "the judge", lambda row: row.cell.rater),
        text("feature", "Feature", "feature or category", lambda row: row.cell.feature),
        text("series", "Lesion", "the model with the lesion, * for its amount",
             lambda row: row.series),
        text("row", "Row", "intact: without a lesion; seed: one seed; mean: over seeds; control: "
             "mean of the controls; less control: mean less control", lambda row: row.row),
        text("seed", "Seed", "of the lesion", lambda row: row.seed),
        number("intact", "Intact", "the value of the intact model", lambda row: row.intact),
        *(one for amount in amounts for one in _at(amount)),
        *_number("slope", "Slope", "change of the value for an amount of 1 more"),
        p_value("slope_p", "p", "that the slope, or the difference of slopes, is 0; not corrected",
                _taken("slope", "p")),
        *_number("height", "Height", "mean height of the line, in units of the value"),
        p_value("height_p", "p", "that the difference of heights is 0; not corrected",
                _taken("height", "p")),
        text("over", "Over", "the amounts behind slope and height",
             lambda row: ", ".join(f"{amount:g}" for amount in row.over)),
        whole("n_seeds", "Seeds", "behind slope and height", _taken("height", "n")),
        text("test", "Test", "how slopes and heights were compared", _taken("slope", "method")),
        number("df", "df", "degrees of freedom of the test of slopes", _taken("slope", "df"),
               digits=1),
        text("reason", "Reason", "why values or intervals are missing, or in no mean",
             lambda row: row.reason),
    )  # fmt: skip


def _at(amount: float) -> tuple[RecordColumn, ...]:
    name = f"at_{amount:g}".replace(".", "_")

    def value(row: _Row) -> float | None:
        return row.at[amount].value if amount in row.at else None

    def interval(row: _Row) -> Interval | None:
        return row.at[amount].interval if amount in row.at else None

    return (
        number(name, f"{amount:g}", f"value at the amount {amount:g}", value),
        *ends(f"{name}_", f"over seeds at the amount {amount:g}", interval),
    )


def _number(name: str, title: str, meaning: str) -> tuple[RecordColumn, ...]:
    return (
        number(name, title, meaning, _taken(name, "value")),
        *ends(f"{name}_", f"over seeds, of the {name}", _taken(name, "interval")),
    )


def _taken(name: str, attribute: str) -> Callable[[_Row], Any]:
    def value(row: _Row) -> Any:
        found = row.numbers.get(name)
        return (
            None
            if found is None or (found.n == 1 and attribute == "n")
            else (getattr(found, attribute))
        )

    return value
