"""The map of lesions: each target in each layer by itself, over seeds, beside the intact model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tabwb.lesion.declared import CONTROL, TARGETS
from tabwb.lesion.numbers import numbers_text
from tabwb.lesion.spec import Lesion, parse_lesions
from tabwb.records.condition_table import compared
from tabwb.records.errors import UsageError
from tabwb.report.names import name_in, names_of
from tabwb.report.summaries.counted import spec_of
from tabwb.report.summaries.dose_lines import Conditioned, pooled, told_apart
from tabwb.report.summaries.doses import LESION
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.tables.declared import ends, number, p_value, text, whole
from tabwb.report.tables.dose_rows import FEW_INTACT, NO_INTACT, less_intact, shared_error
from tabwb.report.tables.dose_values import KNOWN, Cell, Measured, cells_of, values_of
from tabwb.scoring.dose import LEAST_SEEDS, SeedTest, mean_over_seeds
from tabwb.scoring.estimate import Interval
from tabwb.scoring.permutation import benjamini_hochberg
from tabwb.tables.table import Table, records_table

NOTES = (
    "One target, or one unit of it, in one layer is lesioned at a time. Means over seeds; "
    "intervals (95 %, t) and p are for other draws of units and these prompts, over "
    f"{LEAST_SEEDS} seeds or more. A value for which fewer than half of the responses are "
    "usable is in no mean, and then there is no interval.",
    "corr.: p corrected by Benjamini and Hochberg's method over the cells of a map that have one "
    "(one measure, subtest, judge, feature and lesion): of the cells below .05 a share of .05 at "
    "most is expected to be false. It is not corrected for the number of maps.",
)


@dataclass(frozen=True, slots=True)
class MapCell:
    """One measure under a lesion of one target in one layer.

    Attributes:
        cell: what was measured.
        series: the model, the operation and the amount.
        mean: over seeds.
        intact: the value of the intact model; difference: mean less intact, None without one.
        adjusted: p of the difference, corrected over the cells of the map.
    """

    cell: Cell
    series: str
    target: str
    unit: int | None
    layer: int
    mean: SeedTest
    few: int
    intact: float | None
    difference: SeedTest | None
    reason: str
    adjusted: float | None = None


_Model = tuple[str, Conditioned]
"""A model with the conditions that must be alike."""
_Key = tuple[_Model, str, str, int | None, int]
"""A model, the name of the series, target, single unit and layer."""


def map_table(rows: Sequence[Grouped]) -> Table:
    """Return every measure by target and layer as a table: usable responses first."""
    found = list(map_cells(one for row in rows for one in row.group.members))
    return records_table("map", COLUMNS, found, NOTES)


def map_cells(members: Iterable[AdministrationData]) -> Iterator[MapCell]:
    """Yield the cells of maps, measure by measure."""
    members = list({one.administration.id: one for one in members}.values())
    names = names_of(one.administration.conditions for one in members)
    at: dict[_Key, dict[str, list[AdministrationData]]] = {}
    intact: dict[_Model, list[AdministrationData]] = {}
    for one in members:
        given = one.administration.conditions
        model: _Model = (spec_of(given), tuple(sorted(compared(given, [LESION]).items())))
        if given.lesion is None:
            intact.setdefault(model, []).append(one)
        elif (lesion := _of_one_layer(one)) is not None:
            series = f"{name_in(names, given, lesion=False)} + {_elsewhere(lesion)}"
            unit = lesion.units[0] if len(lesion.units) == 1 else None
            key = (model, series, lesion.target, unit, lesion.layers[0])
            at.setdefault(key, {}).setdefault(str(lesion.seed), []).append(one)
    if not at:
        raise UsageError(
            "no lesion of these administrations is of one target in one layer",
            hint='a grid of lesions with layers = ["each"]: tabwb lesion sweep',
        )
    whole_model = {model: values_of(pooled(own)) for model, own in intact.items()}
    values = {key: [values_of(pooled(own)) for own in seeds.values()] for key, seeds in at.items()}
    every = [one for own in values.values() for one in own]
    told = told_apart({(model, name): (name, model[1]) for model, name, *_ in at})
    for cell in cells_of(every):
        maps: dict[str, list[MapCell]] = {}
        for key in sorted(at, key=_order):
            model, name, target, unit, layer = key
            own = [one[cell] for one in values[key] if cell in one]
            if own:
                series = told[model, name]
                beside = whole_model.get(model, {}).get(cell)
                made = _cell(cell, series, (target, unit, layer), own, beside)
                maps.setdefault(series, []).append(made)
        for own_map in maps.values():
            yield from _corrected(own_map)


def _corrected(cells: Sequence[MapCell]) -> Iterator[MapCell]:
    """Yield the cells of one map with their corrected p values."""
    given = [one.difference.p if one.difference else None for one in cells]
    adjusted = iter(benjamini_hochberg([p for p in given if p is not None]))
    for one, p in zip(cells, given, strict=True):
        yield one if p is None else replace(one, adjusted=next(adjusted))


def _cell(
    cell: Cell,
    series: str,
    place: tuple[str, int | None, int],
    own: Sequence[Measured],
    intact: Measured | None,
) -> MapCell:
    counted = [one.counted for one in own]
    limits = 0.0, max(one.largest for one in own)
    mean = mean_over_seeds(counted, limits, shared_error(own) or KNOWN)
    base = None if intact is None else intact.counted
    difference, reason = None, mean.reason
    if intact is None or base is None:
        reason = reason or (NO_INTACT if intact is None else FEW_INTACT)
    elif mean.value is not None:
        difference = less_intact(counted, intact, limits)
        reason = reason or difference.reason
    few = sum(one.few for one in own)
    return MapCell(cell, series, *place, mean, few, base, difference, reason)


def _of_one_layer(one: AdministrationData) -> Lesion | None:
    try:
        lesions = parse_lesions(one.administration.conditions.lesion or "")
    except UsageError:  # made with another tool
        return None
    alone = len(lesions) == 1 and len(lesions[0].layers) == 1
    return lesions[0] if alone and CONTROL not in one.administration.tags else None


def _elsewhere(lesion: Lesion) -> str:
    """Return the lesion without target, layer, single unit and seed.

    >>> _elsewhere(parse_lesions("mlp:scale:0.5@layers=2,factor=0.1,seed=3")[0])
    'scale:0.5@factor=0.1'
    """
    own = () if len(lesion.units) == 1 else lesion.units
    spec = replace(lesion, units=own).kind(amount="")
    options = spec.partition("@")[2].removeprefix(f"layers={numbers_text(lesion.layers)}")
    options = options.removeprefix(",")
    head = spec.partition("@")[0].removeprefix(f"{lesion.target}:")
    return head + (f"@{options}" if options else "")


def _order(key: _Key) -> tuple[str, int, int, bool, int]:
    _, series, target, unit, layer = key
    return series, list(TARGETS).index(target), -1 if unit is None else unit, layer < 0, layer


def _interval(cell: MapCell) -> Interval | None:
    return None if cell.difference is None else cell.difference.interval


COLUMNS = (
    text("measure", "Measure", "what was measured", lambda one: one.cell.measure),
    text("part", "Subtest", "the subtest; empty for a value over all responses",
         lambda one: one.cell.part),
    text("rater", "Rater", "the judge", lambda one: one.cell.rater),
    text("feature", "Feature", "feature or category", lambda one: one.cell.feature),
    text("series", "Lesion", "the model, with operation and amount", lambda one: one.series),
    text("target", "Target", "what is lesioned", lambda one: one.target),
    whole("unit", "Unit", "the head, neuron or expert that is lesioned alone; missing: the target",
          lambda one: one.unit),
    whole("layer", "Layer", "in which layer, from 0; negative: from the end",
          lambda one: one.layer),
    number("value", "Value", "mean over seeds", lambda one: one.mean.value),
    *ends("value_", "over seeds", lambda one: one.mean.interval),
    number("intact", "Intact", "the value of the intact model", lambda one: one.intact),
    number("difference", "Difference", "mean less intact",
           lambda one: None if one.difference is None else one.difference.value),
    *ends("difference_", "over seeds", _interval),
    p_value("p", "p", "that the difference is 0; not corrected",
            lambda one: None if one.difference is None else one.difference.p),
    p_value("p_adjusted", "corr.", "the same, corrected over the cells of the map (Benjamini and "
            "Hochberg)", lambda one: one.adjusted),
    whole("n_seeds", "Seeds", "behind the mean", lambda one: one.mean.n),
    whole("few_usable", "Few usable", "seeds left out: fewer than half of their responses usable",
          lambda one: one.few),
    text("reason", "Reason", "why there is no value, difference or interval",
         lambda one: one.reason),
)  # fmt: skip
"""The columns of :func:`map_table`."""
