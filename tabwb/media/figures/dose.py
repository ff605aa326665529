"""A measure by the amount of a lesion, size of model, or condition: lines of seeds, the mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.lesion.declared import CONTROLS, CONTROLS_OF
from tabwb.media.figures.amount_measures import measures
from tabwb.media.figures.dose_controls import Placed, with_controls, with_doses
from tabwb.media.figures.estimates import (
    INTERVAL,
    INTERVALS,
    Record,
    all_terms,
    columns,
    feature_titles,
    features_note,
    noted_table,
    value_cells,
)
from tabwb.media.figures.kind import FigureKind, FigureOption, Options
from tabwb.media.figures.lines import TOGETHER, draw_lines
from tabwb.records.errors import UsageError
from tabwb.records.words import plural
from tabwb.report.file_names import file_names
from tabwb.report.measures import ACCURACY, BURDEN, FEATURE_RATE
from tabwb.report.names import name_in
from tabwb.report.names import names_of as model_names
from tabwb.report.summaries.counted import model_of, spec_of
from tabwb.report.summaries.dose_lines import told_apart
from tabwb.report.summaries.doses import (
    LESION,
    NOISE,
    PARAMETERS,
    REFERENCED,
    Dose,
    amount_words,
    doses,
    name_of_amounts,
    size_words,
)
from tabwb.report.summaries.grouping import Group
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.load import AdministrationData, sources_of
from tabwb.report.summaries.summary import pool
from tabwb.report.tables.dose_rows import shared_error
from tabwb.report.tables.dose_values import KNOWN, Cell, Measured, draw_error
from tabwb.scoring.dose import EQUAL_SEEDS, LEAST_SEEDS, LEFT_OUT, mean_over_seeds
from tabwb.scoring.estimate import Estimate
from tabwb.tables.table import Column, Table

if TYPE_CHECKING:
    from tabwb.media.figures.page import Page

COLUMNS = columns(
    Column(
        "series",
        "Series",
        "what has the amounts: the model, with the kind of its lesion; of "
        "sizes the family with its tuning",
    ),
    Column(
        "row",
        "Row",
        "seed: one seed; mean: over seeds; model: one of many families; intact: without a lesion",
    ),
    Column("seed", "Seed", "of the lesion, else of the run; of a model its name; empty of others"),
    Column("amount", "Amount", "of the lesion, of parameters, or of the condition", "number"),
    *("measure", "part", "rater", "feature"),
    Column("panel", "Panel", "what it is drawn under"),
    *("value", *INTERVALS),
    Column("n_seeds", "Seeds", "behind a mean", "integer"),
    *("n", "few_usable", "status", "reason"),
)


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    by, key = options["x"], options["amount"]
    if by not in doses():
        raise UsageError(f"'{by}' is not an amount", allowed=", ".join(doses()))
    chosen = list(measures(groups, options))
    points: dict[tuple[str, float | None, str], list[AdministrationData]] = {}
    placed, others = with_doses(groups, by, key)
    placed, without = _with_amounts(placed, by)
    without += others
    if by == LESION and not key:
        placed = with_controls(placed)
    short = _short(groups)
    by_model = by == PARAMETERS and _one_size_each(placed)
    if by_model:
        placed = [(_of_tuning(member, dose, short), group, member)
                  for dose, group, member in placed]  # fmt: skip
    placed, alone = _with_two_amounts(placed)
    names = _series_names([dose for dose, _, _ in placed], short)
    for dose, _, member in placed:
        points.setdefault((names[_series(dose)], dose.amount, dose.seed), []).append(member)
    if by == PARAMETERS:
        _check_models(points)
    amounts = {amount for _, amount, _ in points if amount is not None}
    if len(amounts) < 2:
        known = ", ".join(amount_words(by, amount) for amount in sorted(amounts)) or "none"
        hint = "in the models' profiles: family, tuning, parameters"
        if by != PARAMETERS:
            hint = f"other amounts: --option x={'temperature' if by == LESION else LESION}"
        raise UsageError(
            f"fewer than two amounts of '{by}' are among these administrations: {known}", hint=hint
        )
    _check_batteries(groups)
    given: list[Record] = []
    intact: dict[str, list[AdministrationData]] = {}
    for (series, amount, seed), members in points.items():
        if amount is None:
            intact.setdefault(series, []).extend(members)
            continue
        own = _pooled(members)
        given += [
            {"series": series, "row": "model" if by_model else "seed", "seed": seed,
             "amount": amount, **measure.place, **measure.of(own),
             "error": _error(measure.place, own, by)}
            for measure in chosen
        ]  # fmt: skip
    for series, members in intact.items():
        own = _pooled(members)
        given += [
            {"series": series, "row": "intact", **measure.place, **measure.of(own)}
            for measure in chosen
        ]
    given += list(_means(given))
    given.sort(key=_order)
    notes = [
        *_notes(groups, options, given),
        *([f"Left out: {plural(without, 'administration')} without an amount."] if without else []),
        *([f"Left out: {plural(alone, 'series', 'series')} with one amount."] if alone else []),
    ]
    single = [record for record in given if record["row"] != "mean"]
    return noted_table("dose", COLUMNS, given, notes, groups, defined=single, shared=False)


def _with_amounts(placed: Placed, by: str) -> tuple[Placed, int]:
    """Return the administrations that have an amount, and how many have none.

    Intact models stay beside lesions.
    """
    kept = [one for one in placed if by in REFERENCED or one[0].amount is not None]
    return kept, len(placed) - len(kept)


def _one_size_each(placed: Placed) -> bool:
    """Return whether no family of models has two sizes, so that a family cannot be a line."""
    sizes: dict[tuple[object, ...], set[float | None]] = {}
    for dose, _, _ in placed:
        sizes.setdefault(_series(dose), set()).add(dose.amount)
    return all(len(own) == 1 for own in sizes.values())


def _of_tuning(member: AdministrationData, dose: Dose, short: Mapping[str, str]) -> Dose:
    """Return the dose of a model beside models of other families: its name is the seed's."""
    given = member.administration.conditions
    kind = given.labels.get("tuning") or "tuning unknown"
    return replace(dose, examinee=kind, seed=short[spec_of(given)])


def _check_models(points: Mapping[tuple[str, float | None, str], list[AdministrationData]]) -> None:
    """Check that each point is of one model: sizes of one family need not tell models apart."""
    for (series, amount, _), members in points.items():
        specs = dict.fromkeys(spec_of(member.administration.conditions) for member in members)
        if len(specs) > 1:
            raise UsageError(
                f"{len(specs)} models of {series} have {size_words(amount or 0)} parameters: "
                f"{', '.join(file_names(specs).get(spec, spec) for spec in specs)}",
                hint="choose one of them: --where model=...",
            )


def _with_two_amounts(placed: Placed) -> tuple[Placed, int]:
    """Return the administrations of series with two amounts or more, and the intact ones of their
    models; and the number of series left out.
    """
    amounts: dict[tuple[object, ...], set[float]] = {}
    for dose, _, _ in placed:
        if dose.amount is not None:
            amounts.setdefault(_series(dose), set()).add(dose.amount)
    kept = {key for key, several in amounts.items() if len(several) > 1}
    if not kept:
        return placed, 0
    models = {(key[0], key[2]) for key in kept}
    chosen = [
        (dose, group, member)
        for dose, group, member in placed
        if _series(dose) in kept
        or (dose.amount is None and (dose.examinee, dose.conditions) in models)
    ]
    return chosen, len(amounts) - len(kept)


def _short(groups: Sequence[Grouped]) -> dict[str, str]:
    """Return short names of the models, by what :class:`Dose` calls them."""
    given = [member.administration.conditions for group in groups for member in group.group.members]
    names = model_names(given)
    bare = {spec_of(one): name_in(names, one, lesion=False) for one in given}
    return bare | {model_of(one): name_in(names, one) for one in given}


def _order(record: Record) -> tuple[bool, str, float, str, int, str]:
    seed = record.get("seed") or ""
    number = int(seed) if seed.lstrip("-").isdecimal() else 0
    amount = record.get("amount") or 0.0
    return record["row"] != "intact", record["series"], amount, record["row"], number, seed


def _check_batteries(groups: Sequence[Grouped]) -> None:
    names = dict.fromkeys(f"{group.battery.id} {group.battery.version}" for group in groups)
    if len(names) > 1:
        raise UsageError(
            f"administrations of several batteries: {', '.join(names)}",
            hint="choose one: --where battery=...",
        )


def _series(dose: Dose) -> tuple[object, ...]:
    return dose.examinee, dose.kind, dose.conditions


def _series_names(given: Sequence[Dose], short: Mapping[str, str]) -> dict[tuple[object, ...], str]:
    """Return names of series: with the conditions in which series of one name differ."""
    named: dict[tuple[object, ...], tuple[str, tuple[tuple[str, str], ...]]] = {}
    for dose in given:
        examinee = short.get(dose.examinee, dose.examinee)
        name = f"{examinee} + {dose.kind}" if dose.kind else examinee
        named[_series(dose)] = name, dose.conditions
    return told_apart(named)


def _pooled(members: Sequence[AdministrationData]) -> Grouped:
    unique = {member.administration.id: member for member in members}
    chosen = tuple(unique[number] for number in sorted(unique))
    return Grouped(Group("administration", "", chosen), pool(sources_of(chosen), interval=True))


def _error(place: Record, own: Grouped, by: str) -> tuple[float, float] | None:
    """Return the error of drawn answers that seeds of lesions or noise share; runs share none."""
    greedy = all(one.administration.conditions.decoding.greedy for one in own.group.members)
    if by not in (LESION, NOISE) or greedy:
        return KNOWN
    names = ("measure", "part", "rater", "feature")
    return draw_error(Cell(*(place.get(name) or "" for name in names)), own)


def _means(given: Sequence[Record]) -> Iterator[Record]:
    """Yield the means over seeds; those with few usable responses are left out.

    The intervals are those of :func:`tabwb.scoring.dose.mean_over_seeds`, as in the table of doses.
    """
    cells: dict[tuple[str, str, float], list[Record]] = {}
    for record in given:
        if record["row"] == "seed":
            cells.setdefault((record["series"], record["panel"], record["amount"]), []).append(
                record
            )
    for (series, panel, amount), own in cells.items():
        if len(own) < 2:
            continue
        used = [
            record for record in own if record["value"] is not None and not record.get("few_usable")
        ]
        largest = float(own[0].get("n_features") or 1)
        place = {name: own[0].get(name) for name in ("measure", "part", "rater", "feature")}
        cell: Record = {
            "series": series, "row": "mean", "amount": amount, "panel": panel, **place,
            "n_seeds": len(used), "n": sum(record.get("n") or 0 for record in used),
        }  # fmt: skip
        values = [None if record.get("few_usable") else record["value"] for record in own]
        errors = [Measured(Estimate(0.0), error=record["error"]) for record in used]
        shared = shared_error(errors) or KNOWN
        found = mean_over_seeds(values, (0.0, largest), shared)
        if found.value is None:
            yield cell | value_cells(Estimate(None, "no seed has a value that may be averaged"))
            continue
        cell |= value_cells(Estimate(found.value))
        if found.interval is None:
            cell["interval_reason"] = found.reason
        else:
            cell |= {"low": found.interval.low, "high": found.interval.high}
        yield cell


def _notes(groups: Sequence[Grouped], options: Options, given: Sequence[Record]) -> Iterator[str]:
    what = name_of_amounts(options["x"], options["amount"])
    rows = {record["row"] for record in given}
    measure = given[0]["measure"]
    yield f"{measure.capitalize()} by {what}."
    if measure != ACCURACY.id:
        titles = feature_titles(groups)
        yield from dict.fromkeys(features_note(terms, titles) for terms in all_terms(groups))
    if "mean" in rows:
        yield "Small points, thin lines: one seed each; large points, thick line: mean over seeds."
        seeds = [record["n_seeds"] for record in given if record["row"] == "mean"]
        if max(seeds) >= LEAST_SEEDS:
            yield "Bars: 95 % t intervals over seeds."
        if min(seeds) < LEAST_SEEDS:
            yield f"No interval over fewer than {LEAST_SEEDS} seeds."
        averaged = {record["series"] for record in given if record["row"] == "mean"}
        if {record["series"] for record in given if record["row"] == "seed"} - averaged:
            yield (
                "Bars of series with one seed for each amount: 95 % intervals for "
                f"{options['interval'].replace('-', ' ')}."
            )
        reasons = [record.get("interval_reason") or "" for record in given]
        if EQUAL_SEEDS in reasons:
            yield "No interval where all seeds have the same value."
        if any(reason.endswith(LEFT_OUT) for reason in reasons):
            yield "No interval where seeds are left out, since the others may differ from them."
    else:
        yield f"Bars: 95 % intervals for {options['interval'].replace('-', ' ')}."
    every = list(dict.fromkeys(record["series"] for record in given))
    if any(" of " in one and _selected(one) for one in every):
        yield "Control of selected units: as many random units in the same layers."
    for kind in CONTROLS.values():
        beside = [one for one in every if f" + {kind.role} of " in one and not _selected(one)]
        if beside:
            yield (
                f"{kind.role.capitalize()}: the same operation on as many parameters, "
                f"{kind.meaning}."
            )
    if "model" in rows:
        yield "A point is a model; no family has models of two sizes, so no line joins them."
    if "intact" in rows:
        yield (
            "Grey line and band: the intact model with its 95 % interval for "
            f"{options['interval'].replace('-', ' ')}."
        )
    if 1 < len({record["series"] for record in given if record["row"] != "intact"}) <= TOGETHER:
        yield "Points of one amount are drawn side by side."
    yield from _counts(given)
    if any(record.get("few_usable") for record in given):
        yield "Open points: fewer than half of the responses are usable; not in means or lines."


def _selected(series: str) -> bool:
    return any(f"select={one}" in series for one in CONTROLS_OF.values())


def _counts(given: Sequence[Record]) -> Iterator[str]:
    """Yield the responses behind a value, and the seeds behind a mean: from fewest to most."""

    def ends(name: str, row: str) -> str:
        found = [one[name] for one in given if one["row"] == row and one.get(name)]
        low, high = (min(found), max(found)) if found else (0, 0)
        return f"{low}" if low == high else f"{low} to {high}"

    if any(record["row"] == "model" for record in given):
        yield f"N: {ends('n', 'model')} responses for each model and panel."
        return
    yield f"N: {ends('n', 'seed')} responses for each seed, amount and panel."
    if any(record["row"] == "mean" for record in given):
        yield f"Seeds behind a mean: {ends('n_seeds', 'mean')}."


def _draw(table: Table, page: Page, options: Options) -> None:
    draw_lines(table, page, options)


FIGURE = FigureKind(
    id="dose",
    title="Dose and response",
    shows="A measure by the amount of a lesion, the size of models, or a condition that is a "
    "number: a line for each seed, their mean with its interval, and the intact model as a band.",
    data="Administrations of one battery with two or more amounts; for means several seeds. For "
    "sizes the models' profiles say family, tuning and parameters.",
    table=_table,
    draw=_draw,
    options=(
        FigureOption(
            "x", "what the amounts are of: lesion, parameters, temperature, top_p ...", LESION
        ),
        FigureOption("amount", "the option of the lesion's spec that is the amount"),
        FigureOption(
            "measure",
            "burden where a judge has judged, else accuracy",
            "",
            ("", BURDEN.id, ACCURACY.id, FEATURE_RATE.id),
        ),
        FigureOption("feature", "the feature whose rate is drawn"),
        FigureOption(
            "scale",
            "of the axis of amounts: log for parameters, else linear",
            "",
            ("", "linear", "log"),
        ),
        INTERVAL,
    ),
    by="administration",
    judged=True,
)
