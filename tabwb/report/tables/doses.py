"""The table of doses: measures by the amount of a lesion, seed by seed and over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tabwb.lesion.declared import CONTROLS
from tabwb.records.words import plural
from tabwb.report.summaries.dose_lines import Line, Series, dose_lines
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.severities import LESIONS
from tabwb.report.tables.declared import ends, number, p_value, text, whole
from tabwb.report.tables.dose_rows import LESS_INTACT, Lines, Row, rows_of_series
from tabwb.report.tables.dose_values import KNOWN, Cell, Measured, cells_of, values_of
from tabwb.scoring.dose import LEAST_SEEDS, ONE_CASE, SeedTest
from tabwb.scoring.estimate import Interval
from tabwb.scoring.permutation import holm
from tabwb.tables.table import RecordColumn, Table, records_table

NOTES = (
    "A seed decides which units a lesion takes, or what noise does to prompts; of temperatures it "
    "is that of the run. Intervals (95 %, t) and p are for other seeds and these prompts, over "
    f"{LEAST_SEEDS} seeds or more. Where a seed has no value that "
    "may be averaged, the mean is that of the others, which may be the healthier ones, and has no "
    "interval.",
    "slope: change of the value for an amount of 1 more; height: mean height of a seed's line. "
    "Both are over the amounts at which every seed has a value ('over'); nothing makes a response "
    "rise with the dose. usable: share of usable responses. surprisal: of a fixed text, log2 of "
    "the perplexity, in bits per token.",
    "".join(
        f"{kind.role}: the same operation on as many parameters {kind.meaning}. "
        for kind in CONTROLS.values()
    )
    + "Of selected units a control has as many random ones in the same layers. less control, less "
    "layer control: the difference, over pairs of one seed where the seeds match. A lesion of "
    "which nothing is drawn is one case beside its controls (Crawford and Howell's t): its "
    "interval is for the difference to one more control. less intact: mean less the intact "
    "model's value, with the error of its draws.",
    "corr.: p corrected by Holm's method. A family is one kind of row (mean, less control, less "
    "intact) of one measure and judge: over all lesions, subtests or features.",
)
MISSING = {
    "intact": "No intact model is among these administrations, so that nothing is compared with "
    "it: {}. A filter by a part of the lesion leaves it out; --where tag=SWEEP keeps it.",
    "control": "No controls of their size are among these administrations: {}.",
}


def doses_table(rows: Sequence[Grouped]) -> Table:
    """Return measures by the amount of lesions as a table: usable responses first.

    For each measure and lesion there are rows for the intact model, each seed, the mean over seeds,
    its difference to the intact model, the mean of the controls, and the difference to the
    controls. Each amount has a column.
    """
    shown = _shown(rows)
    found, left = dose_lines(one for row in rows for one in row.group.members)
    amounts = sorted({amount for series in found for amount in series.amounts})
    made = corrected(list(_rows(found, shown)))
    notes = [*NOTES, *_missing(found)]
    if left:
        notes.append(
            f"Left out: {plural(left, 'administration')} under lesions with one amount, or none."
        )
    return records_table("doses", _columns(amounts), made, notes)


def _missing(found: Sequence[Series]) -> Iterator[str]:
    """Yield which lesions have no intact model or no controls to be compared with."""
    for name, without in (
        ("intact", [one for one in found if one.intact is None and one.severity.referred]),
        ("control", [one for one in found if not one.controls and one.severity in LESIONS]),
    ):
        if without:
            yield MISSING[name].format(", ".join(one.name for one in without))


def corrected(rows: Sequence[Row]) -> list[Row]:
    """Return rows with p values of slopes and heights corrected by Holm's method.

    A family is one kind of row of one measure and judge, over all series, subtests or features.
    """
    found = list(rows)
    for name in ("slope", "height"):
        families: dict[tuple[str, str, str], list[int]] = {}
        for place, row in enumerate(found):
            if name in row.numbers and row.numbers[name].p is not None:
                family = row.row, row.cell.measure, row.cell.rater
                families.setdefault(family, []).append(place)
        for places in families.values():
            values = holm([found[place].numbers[name].p or 0.0 for place in places])
            for place, p in zip(places, values, strict=True):
                found[place] = replace(found[place], adjusted={**found[place].adjusted, name: p})
    return found


def _shown(rows: Sequence[Grouped]) -> frozenset[str]:
    """Return the features to which tables are limited; empty: all."""
    return frozenset(name for row in rows for judge in row.summary.judges for name in judge.shown)


def _rows(found: Sequence[Series], shown: frozenset[str]) -> Iterator[Row]:
    values = {series.name: _measured(series) for series in found}
    every = (one for intact, own, controls in values.values()
             for one in (intact, *_all(own), *(at for given in controls.values()
                                               for at in _all(given))))  # fmt: skip
    for cell in cells_of(every):
        if shown and cell.measure == "rate" and cell.feature not in shown:
            continue
        for series in found:
            intact, own, controls = values[series.name]
            of_cell = _of(own, cell)
            lines = {
                role: Lines(of_cell, _of(given, cell), series.amounts, series.undrawn)
                for role, given in {"": {}, **controls}.items()
            }
            if any(of_cell.values()):
                row = Row(cell, series.name, "", severity=series.severity.name)
                yield from rows_of_series(row, lines, intact.get(cell))


_Given = dict[str, dict[float, dict[Cell, Measured]]]


def _measured(series: Series) -> tuple[dict[Cell, Measured], _Given, dict[str, _Given]]:
    """Return the values of the intact model, of the lesion, and of each role of controls."""

    def values(group: Grouped) -> dict[Cell, Measured]:
        found = values_of(group)
        if series.shares_streams:
            return found
        return {cell: one._replace(error=KNOWN) for cell, one in found.items()}

    def of(lines: Mapping[str, Line]) -> _Given:
        return {
            seed: {amount: values(group) for amount, group in line.items()}
            for seed, line in lines.items()
        }

    intact = {} if series.intact is None else values_of(series.intact)
    return intact, of(series.lines), {role: of(one) for role, one in series.controls.items()}


def _all(given: _Given) -> Iterable[dict[Cell, Measured]]:
    return (values for line in given.values() for values in line.values())


def _of(given: _Given, cell: Cell) -> dict[str, dict[float, Measured]]:
    return {
        seed: {amount: values[cell] for amount, values in line.items() if cell in values}
        for seed, line in given.items()
    }


def _columns(amounts: Sequence[float]) -> tuple[RecordColumn, ...]:
    return (
        text("measure", "Measure", "what was measured", lambda row: row.cell.measure),
        text("part", "Subtest", "the subtest; empty for a value over all responses",
             lambda row: row.cell.part),
        text("rater", "Rater", "the judge", lambda row: row.cell.rater),
        text("feature", "Feature", "feature or category", lambda row: row.cell.feature),
        text("series", "Lesion", "the model with the lesion, * for its amount",
             lambda row: row.series),
        text("severity", "Severity", "what the amounts are", lambda row: row.severity),
        text("row", "Row", "intact: without a lesion; seed: one seed; mean: over seeds; less "
             "intact: mean less intact; control, layer control: mean of the controls anywhere, or "
             "in the same layers; less control, less layer control: mean less these",
             lambda row: row.row),
        text("seed", "Seed", "of the lesion", lambda row: row.seed),
        number("intact", "Intact", "the value of the intact model", lambda row: row.intact),
        *(one for amount in amounts for one in _at(amount)),
        *_number("slope", "Slope", "change of the value for an amount of 1 more"),
        p_value("slope_p", "p", "that the slope, or the difference of slopes, is 0; not corrected",
                _taken("slope", "p")),
        p_value("slope_p_adjusted", "corr.", "the same, corrected for its family (Holm)",
                lambda row: row.adjusted.get("slope")),
        *_number("height", "Height", "mean height of the line, in units of the value"),
        p_value("height_p", "p", "that the difference of heights is 0; not corrected",
                _taken("height", "p")),
        p_value("height_p_adjusted", "corr.", "the same, corrected for its family (Holm)",
                lambda row: row.adjusted.get("height")),
        text("over", "Over", "the amounts behind slope and height",
             lambda row: ", ".join(f"{amount:g}" for amount in row.over)),
        whole("n_seeds", "Seeds", "behind slope and height",
              lambda row: _behind(row.numbers.get("height"))),
        text("test", "Test", "how slopes and heights were compared", _taken("height", "method")),
        number("df", "df", "degrees of freedom of the test of slopes; of heights less intact",
               lambda row: _taken("height" if row.row == LESS_INTACT else "slope", "df")(row),
               digits=1),
        text("reason", "Reason", "why values or intervals are missing, or in no mean",
             lambda row: row.reason),
    )  # fmt: skip


def _at(amount: float) -> tuple[RecordColumn, ...]:
    name = f"at_{amount:g}".replace(".", "_")

    def value(row: Row) -> float | None:
        return row.at[amount].value if amount in row.at else None

    def interval(row: Row) -> Interval | None:
        return row.at[amount].interval if amount in row.at else None

    def seeds(row: Row) -> int | None:
        return _sample(row.at[amount]) if amount in row.at and row.row != "seed" else None

    return (
        number(name, f"{amount:g}", f"value at the amount {amount:g}", value),
        *ends(f"{name}_", f"over seeds at the amount {amount:g}", interval),
        whole(f"{name}_n", "Seeds", f"behind the mean at the amount {amount:g}", seeds),
    )


def _number(name: str, title: str, meaning: str) -> tuple[RecordColumn, ...]:
    return (
        number(name, title, meaning, _taken(name, "value")),
        *ends(f"{name}_", f"over seeds, of the {name}", _taken(name, "interval")),
    )


def _taken(name: str, attribute: str) -> Callable[[Row], Any]:
    def value(row: Row) -> Any:
        found = row.numbers.get(name)
        return None if found is None else getattr(found, attribute)

    return value


def _sample(found: SeedTest) -> int:
    """Return how many seeds are behind a number: beside one case those of the controls."""
    return found.n_control if found.method == ONE_CASE else found.n


def _behind(found: SeedTest | None) -> int | None:
    n = 0 if found is None else _sample(found)
    return n if n > 1 else None
