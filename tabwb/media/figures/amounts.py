"""Figures over amounts and sessions, and of lesions and phonemes: dose, map, change, confusion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tabwb.analysis.administrations import AdministrationData, spec_of
from tabwb.analysis.change import FORM_OF_THE_DAY, Change, change_of, days_of, sets_of_tags
from tabwb.analysis.doses import (
    KNOWN,
    MAP,
    MAP_NOTES,
    Measured,
    draw_error,
    map_cells,
    shared_error,
)
from tabwb.analysis.file_names import file_names
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.measures import (
    ACCURACY,
    BURDEN,
    FEATURE_RATE,
    SURPRISAL,
    USABLE,
    WORDS_MEAN,
)
from tabwb.analysis.measures import Cell as MeasuredCell
from tabwb.analysis.series import (
    LESION,
    NOISE,
    PARAMETERS,
    Dose,
    Members,
    Placed,
    Series,
    Severity,
    arranged,
    control_name,
    distinct,
    doses,
    pooled,
    seed_order,
    short_examinees,
    size_words,
)
from tabwb.lesion.declared import CONTROLS, CONTROLS_OF
from tabwb.lesion.spec import row_of
from tabwb.media.figures.kind import (
    INTERVAL,
    INTERVALS,
    Cell,
    FigureKind,
    FigureOption,
    Groups,
    Lines,
    Options,
    Panel,
    Record,
    Shades,
    batteries_note,
    columns,
    ending,
    feature_titles,
    features_notes,
    interval_cells,
    made_table,
    term_titles,
    undefined,
    value_cells,
)
from tabwb.media.figures.style import PALETTE
from tabwb.media.wording import chances
from tabwb.records.columns import Column, fixed
from tabwb.records.errors import UsageError
from tabwb.records.words import plural, separated
from tabwb.scoring.dose import EQUAL_SEEDS, LEAST_SEEDS, LEFT_OUT, mean_over_seeds
from tabwb.scoring.estimate import Estimate
from tabwb.tables.table import Table, records_table

if TYPE_CHECKING:
    from tabwb.analysis.statistics.results import Terms
    from tabwb.phonology.batch import Scores

# -- dose ----------------------------------------------------------------------------------------

PLACE = ("measure", "part", "rater", "feature")


def _dose(groups: Groups, options: Options) -> Table:
    severity = Severity(options["x"], options["amount"])
    by = severity.by
    if by not in doses():
        raise UsageError(f"'{by}' is not an amount", allowed=", ".join(doses()))
    chosen = list(_measures(groups, options))
    members = distinct(member for group in groups for member in group.group.members)
    placed, without = _with_doses(members, severity)
    found = _arranged(placed, severity)
    by_model = by == PARAMETERS and all(len(one.amounts) == 1 for one in found)
    if by_model:  # no family has two sizes, so that a family cannot be a line
        names = short_examinees(members)
        found = _arranged([(_of_tuning(*one, names), one[1]) for one in placed], severity)
    lines = [
        (name, side, series)
        for series in found
        for name, side in (
            (series.name, series.lines),
            *((control_name(series.name, role), own) for role, own in series.controls.items()),
        )
    ]
    kept = [one for one in lines if len({x for line in one[1].values() for x in line}) > 1]
    alone = len(lines) - len(kept) if kept else 0
    points: dict[tuple[str, float | None, str], Members] = {}
    for name, side, series in kept or lines:
        if series.intact:  # models without a lesion are one whatever their seed
            points[series.intact_name, None, ""] = series.intact
        points |= {
            (name, amount, seed): own for seed, line in side.items() for amount, own in line.items()
        }
    if by == PARAMETERS:
        _check_models(points)
    _check_amounts(severity, sorted({amount for _, amount, _ in points if amount is not None}))
    batteries = dict.fromkeys(f"{group.battery.id} {group.battery.version}" for group in groups)
    if len(batteries) > 1:
        raise UsageError(
            f"administrations of several batteries: {', '.join(batteries)}",
            hint="choose one: --where battery=...",
        )
    rows: list[Record] = []
    for (name, amount, seed), of_point in points.items():
        own = pooled(sorted(of_point, key=lambda one: one.administration.id), interval=True)
        row = "intact" if amount is None else "model" if by_model else "seed"
        rows += [
            {"series": name, "row": row, "seed": None if amount is None else seed, "amount": amount,
             **({"family": _family_of(of_point)} if by_model else {}),
             **place, **_cells(own, place, terms), "error": _error(place, own, by)}
            for place, terms in chosen
        ]  # fmt: skip
    rows += list(_means(rows))
    valued = {
        one["panel"] for one in rows if one["row"] != "intact" and one.get("value") is not None
    }
    bare = [one["panel"] for one, _ in chosen if valued and one["panel"] not in valued]
    rows = [one for one in rows if one["panel"] not in bare]
    rows.sort(
        key=lambda one: (
            one["row"] != "intact", one["series"], one["amount"] or 0.0, one["row"],
            seed_order(one.get("seed") or ""),
        )
    )  # fmt: skip
    notes = [
        *_dose_notes(groups, options, rows),
        *([f"Left out: {plural(without, 'administration')} without an amount."] if without else []),
        *([f"Left out: {plural(alone, 'series', 'series')} with one amount."] if alone else []),
        *([f"Left out, without a value of these: {'; '.join(bare)}."] if bare else []),
        *ending(one for one in rows if one["row"] != "mean"),
    ]
    declared = columns(
        Column("series", "Series", "what has the amounts: the model, with the kind of its lesion; "
               "of sizes the family with its tuning"),
        Column("row", "Row", "seed: one seed; mean: over seeds; model: one of many families; "
               "intact: without a lesion"),
        Column("seed", "Seed", "of the lesion, else of the run; of a model its name; empty of "
               "others"),
        Column("amount", "Amount", "of the lesion, of parameters, or of the condition", "number"),
        Column("family", "Family", "of a model of a size"),
        *(*PLACE, Column("panel", "Panel", "what it is drawn under"), "value", *INTERVALS),
        Column("n_seeds", "Seeds", "behind a mean", "integer"),
        *("n", "few_usable", "status", "reason"),
    )  # fmt: skip
    return made_table("dose", declared, rows, notes, groups)


def _measures(groups: Groups, options: Options) -> Iterator[tuple[Record, Terms | str]]:
    """Yield the measures that a figure has panels for: their cells, and the terms of a judge."""
    chosen, feature = options["measure"], options["feature"]
    titles, names = term_titles(groups), feature_titles(groups)
    chosen = chosen or (BURDEN.id if titles else ACCURACY.id)
    if chosen == ACCURACY.id:
        scored = {row.part: group.battery for group in groups for row in group.results
                  if row.measure == chosen}  # fmt: skip
        if not scored:
            raise UsageError(
                "nothing was scored right or wrong in these administrations",
                hint="--option measure=burden, where a judge has judged",
            )
        for part, battery in scored.items():
            yield {"measure": chosen, "panel": battery.subtest(part).title, "part": part}, ""
        return
    if not titles:
        raise UsageError("no judge has judged these administrations",
                         hint="--option measure=accuracy")  # fmt: skip
    if chosen == FEATURE_RATE.id and feature not in names:
        raise UsageError(
            f"no feature '{feature}'" if feature else "which feature?",
            allowed=", ".join(names),
            hint="--option feature=ID",
        )
    for terms, title in titles.items():
        place: Record = {"measure": chosen, "panel": title, "rater": terms.rater}
        if chosen == BURDEN.id:
            yield place, terms
        elif feature in terms.features:
            yield place | {"panel": f"{names[feature]}, {title}", "feature": feature}, terms


def _cells(group: Grouped, place: Record, terms: Terms | str) -> Record:
    """Return the value of a measure in a group, with its intervals."""
    measure, feature = place["measure"], place.get("feature", "")
    found = group.results.find(measure, place.get("part", ""), terms, feature)
    if found is None or (feature and not found.n):
        return undefined("not judged under these terms" if terms else "nothing was scored")
    cells = {**value_cells(found.value), **interval_cells(found.intervals), "n": found.n}
    if isinstance(terms, str) or found.usable is None:
        return cells
    n = len(terms.features) if measure == BURDEN.id else 1
    return {**cells, "few_usable": found.usable.few, "n_features": n}


def _with_doses(
    members: Sequence[AdministrationData], severity: Severity
) -> tuple[list[Placed], int]:
    """Return administrations with their doses, and how many have none; intact models stay."""
    found: list[Placed] = []
    failed: list[UsageError] = []
    for member in members:
        try:
            found.append((severity.dose(member.administration.conditions), member))
        except UsageError as error:
            if not severity.key:
                raise
            failed.append(error)
    if failed and all(dose.amount is None for dose, _ in found):
        raise failed[0]
    kept = [one for one in found if severity.referred or one[0].amount is not None]
    return kept, len(found) - len(kept) + len(failed)


def _arranged(placed: Sequence[Placed], severity: Severity) -> list[Series]:
    """Return series, with each control under the amount of a lesion of its size.

    A control of several lesions is drawn beside each; one without a lesion is a separate series.
    """
    if severity != (LESION, ""):
        return arranged(placed, severity, controls=False)
    found = arranged(placed, severity)
    used = set[int]().union(*(one.numbers for one in found))
    rest = [
        (dose, one)
        for dose, one in placed
        if dose.amount is not None and one.administration.id not in used
    ]
    return [*found, *arranged(rest, severity, controls=False)]


def _of_tuning(dose: Dose, member: AdministrationData, names: Mapping[str, str]) -> Dose:
    """Return the dose of a model beside models of other families: its name is the seed's."""
    given = member.administration.conditions
    kind = given.labels.get("tuning") or "tuning unknown"
    return dose._replace(examinee=kind, seed=names[spec_of(given)])


def _family_of(members: Members) -> str | None:
    return members[0].administration.conditions.labels.get("family")


def _check_models(points: Mapping[tuple[str, float | None, str], Members]) -> None:
    """Check that each point is of one model: sizes of one family need not tell models apart."""
    for (series, amount, _), members in points.items():
        specs = dict.fromkeys(spec_of(member.administration.conditions) for member in members)
        if len(specs) > 1:
            raise UsageError(
                f"{len(specs)} models of {series} have {size_words(amount or 0)} parameters: "
                f"{', '.join(file_names(specs).get(spec, spec) for spec in specs)}",
                hint="choose one of them: --where model=...",
            )


def _check_amounts(severity: Severity, amounts: Sequence[float]) -> None:
    if len(amounts) < 2:
        known, by = ", ".join(map(severity.words, amounts)) or "none", severity.by
        hint = "in the models' profiles: family, tuning, parameters"
        if by != PARAMETERS:
            hint = f"other amounts: --option x={'temperature' if by == LESION else LESION}"
        raise UsageError(
            f"fewer than two amounts of '{by}' are among these administrations: {known}", hint=hint
        )


def _error(place: Record, own: Grouped, by: str) -> tuple[float, float] | None:
    """Return the error of drawn answers that seeds of lesions or noise share; runs share none."""
    greedy = all(one.administration.conditions.decoding.greedy for one in own.group.members)
    if by not in (LESION, NOISE) or greedy:
        return KNOWN
    return draw_error(MeasuredCell(*(place.get(name) or "" for name in PLACE)), own)


def _means(given: Sequence[Record]) -> Iterator[Record]:
    """Yield the means over seeds; those with few usable responses are left out.

    The intervals are those of :func:`tabwb.scoring.dose.mean_over_seeds`, as in the table of doses.
    """
    cells: dict[tuple[str, str, float], list[Record]] = {}
    for record in given:
        if record["row"] == "seed":
            place = record["series"], record["panel"], record["amount"]
            cells.setdefault(place, []).append(record)
    for own in cells.values():
        if len(own) < 2:
            continue
        values = [None if record.get("few_usable") else record.get("value") for record in own]
        used = [one for one, value in zip(own, values, strict=True) if value is not None]
        errors = [Measured(Estimate(0.0), error=record["error"]) for record in used]
        largest = float(own[0].get("n_features") or 1)
        found = mean_over_seeds(values, (0.0, largest), shared_error(errors) or KNOWN)
        cell: Record = {
            **{name: own[0].get(name) for name in ("series", "amount", "panel", *PLACE)},
            "row": "mean", "n_seeds": len(used), "n": sum(one.get("n") or 0 for one in used),
        }  # fmt: skip
        if found.value is None:
            yield cell | undefined("no seed has a value that may be averaged")
        elif found.interval is None:
            yield cell | value_cells(Estimate(found.value)) | {"interval_reason": found.reason}
        else:
            ends = {"low": found.interval.low, "high": found.interval.high}
            yield cell | value_cells(Estimate(found.value)) | ends


def _dose_notes(groups: Groups, options: Options, given: Sequence[Record]) -> Iterator[str]:
    rows = {record["row"] for record in given}
    means = [record for record in given if record["row"] == "mean"]
    reasons = [record.get("interval_reason") or "" for record in given]
    every = list(dict.fromkeys(record["series"] for record in given))
    shown = {record["series"] for record in given if record["row"] != "intact"}
    lone = {record["series"] for record in given if record["row"] == "seed"} - {
        record["series"] for record in means
    }
    seeds = [record["n_seeds"] for record in means]
    like = options["interval"].replace("-", " ")
    selected = [one for one in every if any(f"select={own}" in one for own in CONTROLS_OF.values())]
    yield (
        f"{given[0]['measure'].capitalize()} by {Severity(options['x'], options['amount']).name}."
    )
    if given[0]["measure"] != ACCURACY.id:
        yield from features_notes(groups)
    for holds, note in (
        (means, "Small points, thin lines: one seed each; large points, thick line: mean over "
         "seeds."),
        (means and max(seeds) >= LEAST_SEEDS, "Bars: 95 % t intervals over seeds."),
        (means and min(seeds) < LEAST_SEEDS, f"No interval over fewer than {LEAST_SEEDS} seeds."),
        (means and lone, "Bars of series with one seed for each amount: 95 % intervals for "
         f"{like}."),
        (means and EQUAL_SEEDS in reasons, "No interval where all seeds have the same value."),
        (means and any(reason.endswith(LEFT_OUT) for reason in reasons),
         "No interval where seeds are left out, since the others may differ from them."),
        (not means, f"Bars: 95 % intervals for {like}."),
        (any(" of " in one for one in selected),
         "Control of selected units: as many random units in the same layers."),
        *(
            (any(f" + {kind.role} of " in one for one in every if one not in selected),
             f"{kind.role.capitalize()}: the same operation on as many parameters, {kind.meaning}.")
            for kind in CONTROLS.values()
        ),
        ("model" in rows, "A point is a model; no family has models of two sizes. Grey lines join "
         "base and instruct models of one family."),
        ("intact" in rows, "Grey line and band: the intact model with its 95 % interval for "
         f"{like}."),
        (1 < len(shown) <= len(PALETTE), "Points of one amount are drawn side by side."),
        ("model" in rows, f"N: {_ends(given, 'n', 'model')} responses for each model and panel."),
        ("model" not in rows,
         f"N: {_ends(given, 'n', 'seed')} responses for each seed, amount and panel."),
        (means and "model" not in rows,
         f"Seeds behind a mean: {_ends(given, 'n_seeds', 'mean')}."),
        (any(record.get("few_usable") for record in given), "Open points: fewer than half of the "
         "responses are usable; not in means or lines."),
    ):  # fmt: skip
        if holds:
            yield note


def _ends(given: Sequence[Record], name: str, row: str) -> str:
    """Return the least and the largest number of some rows."""
    found = [one[name] for one in given if one["row"] == row and one.get(name)] or [0]
    return " to ".join(map(str, dict.fromkeys((min(found), max(found)))))


DOSE_FIGURE = FigureKind(
    "dose",
    "Dose and response",
    shows="A measure by the amount of a lesion, the size of models, or a condition that is a "
    "number: a line for each seed, their mean with its interval, and the intact model as a band.",
    data="Administrations of one battery with two or more amounts; for means several seeds. For "
    "sizes the models' profiles say family, tuning and parameters.",
    table=_dose,
    draw=Lines("amounts"),
    options=(
        FigureOption(
            "x", "what the amounts are of: lesion, parameters, temperature, top_p ...", LESION
        ),
        FigureOption("amount", "the option of the lesion's spec that is the amount"),
        FigureOption("measure", "burden where a judge has judged, else accuracy", "",
                     ("", BURDEN.id, ACCURACY.id, FEATURE_RATE.id)),
        FigureOption("feature", "the feature whose rate is drawn"),
        FigureOption("scale", "of the axis of amounts: log for parameters, else linear", "",
                     ("", "linear", "log")),
        INTERVAL,
    ),
    by="administration",
    judged=True,
)  # fmt: skip

# -- map -----------------------------------------------------------------------------------------


def _map(groups: Groups, options: Options) -> Table:
    found = list(map_cells(one for row in groups for one in row.group.members))
    measures = dict.fromkeys(one.cell.measure for one in found)
    measure = options["measure"] or (BURDEN.id if BURDEN.id in measures else ACCURACY.id)
    chosen = [
        one
        for one in found
        if one.cell.measure == measure
        and (measure != FEATURE_RATE.id or one.cell.feature == options["feature"])
        and (measure != USABLE or not one.cell.rater)
    ]
    if not chosen:
        features = dict.fromkeys(
            one.cell.feature for one in found if one.cell.measure == FEATURE_RATE.id
        )
        raise UsageError(
            f"there is no map of '{measure}'"
            + (f" with the feature '{options['feature']}'" if measure == FEATURE_RATE.id else ""),
            allowed=", ".join(features if measure == FEATURE_RATE.id else measures),
        )
    shown = "less that of the intact model" if options["show"] == "difference" else "itself"
    notes = [
        f"Number: mean over seeds of the {measure.replace('_', ' ')} {shown}. Shade: from 0 to "
        "the largest size of the panel; blue above 0, brown below.",
        MAP_NOTES[0],
        batteries_note(groups),
    ]
    return records_table("map", MAP, chosen, notes)


def _map_panels(given: list[Record], options: Options, width: float) -> list[Panel]:
    difference = options["show"] == "difference"
    name = "difference" if difference else "value"
    places: dict[str, list[Record]] = {}
    for record in given:
        place = (record[part] for part in ("part", "feature", "rater", "series"))
        places.setdefault(", ".join(filter(None, place)), []).append(record)
    panels = []
    for title, own in places.items():
        found = {(row_of(one["target"], one["unit"]), one["layer"]): one[name] for one in own}
        targets = list(dict.fromkeys(target for target, _ in found))
        layers = sorted({layer for _, layer in found}, key=lambda layer: (layer < 0, layer))
        largest = max((abs(one) for one in found.values() if one is not None), default=0.0)

        def cell(
            value: float | None, largest: float = largest, sign: str = "+" * difference
        ) -> Cell:
            if value is None:
                return Cell()
            return Cell(value / largest if largest else 0.0, (fixed(value, 2, sign),))

        cells = [[cell(found.get((target, layer))) for layer in layers] for target in targets]
        key = f"{name}, per cent of the largest of its panel"
        panels.append(Panel(rows=targets, heads=list(map(str, layers)), cells=cells, title=title,
                            key=key, across="layer", widest=1.2,
                            height=0.22))  # fmt: skip
    return panels


MAP_FIGURE = FigureKind(
    "map",
    "Map of lesions",
    shows="A measure under lesions of one target in one layer each, or of single heads, or its "
    "difference to the intact model: targets or heads by layers.",
    data='Administrations under such lesions (layers = ["each"] in the grid of a sweep, of heads '
    'also heads = ["each"]), and of the intact model.',
    table=_map,
    draw=Shades(_map_panels),
    options=(
        FigureOption(
            "measure",
            "burden where a judge has judged, else accuracy",
            "",
            ("", BURDEN.id, ACCURACY.id, FEATURE_RATE.id, WORDS_MEAN.id, USABLE, SURPRISAL),
        ),
        FigureOption("feature", "the feature whose rate is drawn"),
        FigureOption(
            "show", "the difference to the intact model, or the value", "difference",
            ("difference", "value"),
        ),
    ),
    by="administration",
    judged=True,
)  # fmt: skip

# -- change --------------------------------------------------------------------------------------


def _change(groups: Groups, options: Options) -> Table:
    members = _members(groups)
    baselines = options["baselines"]
    if baselines and not baselines.isdecimal():
        raise UsageError(f"'{baselines}' is not a number of sessions", where="baselines")
    tags = separated(options["sets"])
    sets = sets_of_tags(members[0].battery.subtests, tags) if tags else {}
    change = change_of(members, sets, int(baselines) if baselines else None)
    set_of = {place: name for name, places in sets.items() for place in places}
    given: list[Record] = [
        {
            "row": "answer",
            "session": at + 1,
            "date": change.sessions[at].date or None,
            "part": subtest,
            "item": item,
            "set": set_of.get((subtest, item)),
            "right": right,
            "status": "undefined" if right is None else "value",
            "reason": "not exactly one answer with a verdict" if right is None else None,
        }
        for (subtest, item), answers in change.answers.items()
        for at, right in enumerate(answers)
    ]
    given += [
        {
            "row": "share",
            "session": share.session,
            "date": share.date or None,
            "set": share.set,
            **value_cells(Estimate(share.accuracy, share.reason)),
            "low": None if share.interval is None else share.interval.low,
            "high": None if share.interval is None else share.interval.high,
            "n": share.n,
        }
        for share in change.shares
    ]
    declared = columns(
        Column("row", "Row", "answer: one item in one session; share: of a set in one session"),
        Column("session", "Session", "its number, from 1", "integer"),
        Column("date", "Date", "the day of the session; empty where it is not known"),
        *(
            "part",
            Column("item", "Item", "the item's id"),
            Column("set", "Set", "the set of items"),
        ),
        Column(
            "right", "Right", "whether the answer was right; empty without one answer", "boolean"
        ),
        *("value", "low", "high", "n", "status", "reason"),
    )
    return made_table("change", declared, given, _change_notes(change), groups)


def _members(groups: Groups) -> list[AdministrationData]:
    members = {
        member.administration.id: member for group in groups for member in group.group.members
    }
    who = dict.fromkeys(
        member.administration.conditions.study_id or member.administration.conditions.examinee
        for member in members.values()
    )
    if len(who) > 1:
        raise UsageError(
            f"sessions of {len(who)} participants: {', '.join(list(who)[:4])}"
            + (" ..." if len(who) > 4 else ""),
            hint="choose one: --where participant=ID, or name the administrations",
        )
    batteries = dict.fromkeys(member.battery.content_hash for member in members.values())
    if len(batteries) > 1:
        raise UsageError("sessions with several batteries", hint="--where battery=ID")
    return list(members.values())


def _change_notes(change: Change) -> Iterator[str]:
    yield (
        f"{change.participant}. Dark: right; white: wrong; hatched: not exactly one answer with a "
        "verdict."
    )
    if days_of([session.date for session in change.sessions]):
        yield "Above, sessions stand by their days, numbered from the first one (0)."
    yield (
        "Above: share right of the items with one answer in every session, with exact 95 % "
        "intervals for prompts like these."
    )
    of_sets = [(own.name, change.steps(own.name)) for own in change.sets]
    told = [
        f"{name}: {steps[-1].gained} items gained, {steps[-1].lost} lost, "
        + chances(steps[-1].p, steps[-1].p_adjusted, sum(one.p is not None for one in steps))
        for name, steps in of_sets
        if steps[-1].p is not None
    ]
    if told:
        said = f"Session {of_sets[0][1][-1].sessions}, McNemar's exact test, two-sided"
        yield f"{said}: {'; '.join(told)}."
    if change.baselines:
        yield f"Dashed line: {plural(change.baselines, 'session')} before treatment."
    yield from change.warnings
    yield FORM_OF_THE_DAY.split(", but")[0] + ", but tests and intervals take them as independent."


CHANGE_FIGURE = FigureKind(
    "change",
    "Change over sessions",
    shows="Each item of one participant in each session, right or wrong, and the share right with "
    "its interval.",
    data="Two or more administrations of one battery to one participant (or model).",
    table=_change,
    draw=Lines("sessions"),
    options=(
        FigureOption("sets", "tags of items, separated by commas, each a separate set"),
        FigureOption("baselines", "number of sessions before treatment"),
    ),
    by="administration",
    people=True,
)

# -- confusion -----------------------------------------------------------------------------------

NONE = "∅"
"""Stands for no phoneme: heard for none, an insertion; none heard, a deletion."""
Steps = Mapping[tuple[str | None, str | None], int]
"""Phoneme of the target and phoneme heard (None where there is none), to their number."""


def confusion_table(
    steps: Steps, notes: Sequence[str], groups: Groups = (), *, ipa: bool = True
) -> Table:
    """Return steps of alignments as the table of the figure."""
    given = _step_records(steps, ipa=ipa)
    explained = [*notes[:1], "Number: how often. Shade: share of the target's phoneme."]
    if any(None in step for step, n in steps.items() if n):
        explained.append(
            f"{NONE}: no phoneme heard (a deletion), or none in the target (an insertion; shade: "
            "share of insertions)."
        )
    return made_table("confusion", columns(*_STEP), given, [*explained, *notes[1:]], groups)


_STEP = (
    Column("target", "Target", "phoneme of the target; empty for an insertion"),
    Column("heard", "Heard", "phoneme that was transcribed; empty for a deletion"),
    Column("n", "N", "how often the alignments have this step", "integer"),
    Column("of", "Of", "how often the target's phoneme occurs; of insertions, all", "integer"),
    Column("value", "Share", "n / of", "number", "share", 2),
)


def _step_records(steps: Steps, *, ipa: bool) -> list[Record]:
    from tabwb.phonology.inventory import IPA, phoneme_rank

    if not sum(steps.values()):
        raise UsageError("no response has been transcribed", hint="tabwb transcribe, or tabwb name")

    def written(phoneme: str | None) -> str | None:
        return IPA.get(phoneme, phoneme) if ipa and phoneme is not None else phoneme

    of = Counter[str | None]()
    for (target, _), n in steps.items():
        of[target] += n
    return [
        {"target": written(target), "heard": written(heard), "n": n, "of": of[target],
         "value": n / of[target]}
        for (target, heard), n in sorted(
            steps.items(), key=lambda item: (phoneme_rank(item[0][0]), phoneme_rank(item[0][1]))
        )
        if n
    ]  # fmt: skip


def corpus_steps(scores: Scores) -> Steps:
    """Return the steps of the alignments of a corpus; silence and noise are left out."""
    costs, counts = scores.costs, scores.step_counts()
    labels: list[str | None] = [*costs.labels, None]
    spoken = [*costs.spoken.tolist(), True]
    return {
        (labels[ref], labels[hyp]): int(counts[ref, hyp])
        for ref in range(len(labels))
        for hyp in range(len(labels))
        if counts[ref, hyp] and spoken[ref] and spoken[hyp]
    }


MOST_PANELS = 6
"""Groups that have a panel each; more are pooled."""


def _by_system(groups: Groups, options: Options) -> Table:
    """Return what a system heard of a person's transcripts, by group."""
    from tabwb.phonology.batch import changed_features, confusions, score
    from tabwb.phonology.inventory import FEATURES

    system, several = options["transcriber"], 1 < len(groups) <= MOST_PANELS
    pairs: dict[str, list[tuple[Sequence[str], Sequence[str]]]] = {}
    known: set[str] = set()
    for group in groups:
        own = pairs.setdefault(group.label if several else "all", [])
        for person, machines in _written_of(group):
            known |= machines.keys()
            if system in machines:
                own.append((person, machines[system]))
    if not any(pairs.values()):
        raise UsageError(
            f"'{system}' transcribed nothing that a person transcribed too",
            where="option transcriber", allowed=", ".join(sorted(known)) or None,
        )  # fmt: skip
    label = Column("group", "Group", "the group of responses")
    given: list[Record] = []
    for name, own in pairs.items():
        if not own:
            continue
        scores = score([ref for ref, _ in own], [hyp for _, hyp in own])
        if options["show"] == "phonemes":
            records = _step_records(corpus_steps(scores), ipa=options["notation"] == "ipa")
        else:
            counts = Counter[str]()
            for one in changed_features(confusions(scores)):
                counts[one.change.feature] += one.count
            of = scores.phoneme_length
            records = [
                {"feature": each, "n": counts[each], "of": of, "value": counts[each] / of}
                for each in FEATURES
                if of
            ]
        given += [{"group": name, **one} for one in records]
    total = plural(sum(map(len, pairs.values())), "response")
    notes = [f"Transcripts of people (rows) and of {system}, aligned by features; {total}."]
    if options["show"] == "phonemes":
        notes.append(f"Number: how often. Shade: share of the phoneme. {NONE}: none.")
        return made_table("confusion", columns(label, *_STEP), given, notes, groups)
    notes.append("Number: substitutions that change the feature. Shade: share of all phonemes.")
    feature = Column("feature", "Feature", "the feature of PSST's table 6")
    return made_table("confusion", columns(label, feature, *_STEP[2:]), given, notes, groups)


def _written_of(group: Grouped) -> Iterator[tuple[Sequence[str], dict[str, Sequence[str]]]]:
    """Yield what people and what systems transcribed of each response that a person transcribed."""
    from tabwb.phonology.dictionary import pronounced
    from tabwb.records.naming import transcripts_of

    for member in group.group.members:
        for trial in member.trials:
            person, machines = transcripts_of(trial)
            if person is not None and person.status != "error":
                yield (
                    person.phonemes,
                    {
                        system: pronounced(each).phonemes
                        for system, each in machines.items()
                        if each.status != "error"
                    },
                )


def _confusion(groups: Groups, options: Options) -> Table:
    if options["transcriber"]:
        return _by_system(groups, options)
    if options["show"] == "features":
        raise UsageError(
            "features are of a transcriber against a person", where="option show",
            hint="name it: --option transcriber=SPEC",
        )  # fmt: skip
    from tabwb.analysis.statistics.naming import confusions, namings

    members = (member for group in groups for member in group.group.members if member.trials)
    found = confusions(
        (naming for member in members for naming in namings(member)), every_word=True
    )
    notes = [
        "Phonemes of the nearest accepted form (rows) and of the response (columns), aligned by "
        f"features; {plural(found.responses, 'response')}. All transcribed responses count, "
        "including other words (cat for dog).",
    ]
    return confusion_table(found.steps, notes, groups, ipa=options["notation"] == "ipa")


def _confusion_panels(given: list[Record], options: Options, width: float) -> list[Panel]:
    from tabwb.phonology.inventory import IPA, phoneme_rank

    names = list(dict.fromkeys(record.get("group", "") for record in given))
    if given and "feature" in given[0]:
        found = {(record["feature"], record["group"]): record for record in given}
        features = list(dict.fromkeys(record["feature"] for record in given))
        cells = [[found[feature, name] for name in names] for feature in features]
        return [
            Panel(
                rows=features,
                heads=names,
                cells=[[Cell(one["value"], (str(one["n"]),)) for one in row] for row in cells],
                key="share of phonemes in per cent",
                down="feature",
            )
        ]
    # Every group has the same rows and columns, so that matrices can be compared.
    rank = {shown: phoneme_rank(one) for one, ipa in IPA.items() for shown in (one, ipa)}
    targets, heard = (
        sorted(
            {record[which] for record in given},
            key=lambda name: rank.get(name) or phoneme_rank(name),
        )
        for which in ("target", "heard")
    )
    return [
        _matrix(
            [record for record in given if record.get("group", "") == name],
            targets, heard, name if len(names) > 1 else "",
        )
        for name in names
    ]  # fmt: skip


def _matrix(
    given: list[Record], rows: Sequence[str | None], heard: Sequence[str | None], title: str
) -> Panel:
    found = {(record["target"], record["heard"]): record for record in given}
    # Columns as rows, so that matches lie on a diagonal; then what was heard beside these.
    same = [name for name in rows if name in heard and name is not None]
    rest = [name for name in heard if name is not None and name not in same]
    heads = [*same, *rest, *([None] if None in heard else [])]

    def cell(record: Record | None) -> Cell:
        return Cell(record["value"], (str(record["n"]),)) if record else Cell(None, ("",))

    return Panel(
        title=title,
        rows=[name or NONE for name in rows],
        heads=[name or NONE for name in heads],
        cells=[[cell(found.get((row, head))) for head in heads] for row in rows],
        key="share in per cent",
        across="heard",
        down="target",
        borders=[len(same)] if 0 < len(same) < len(heads) else [],
        widest=0.24,
        height=0,
    )


CONFUSION_FIGURE = FigureKind(
    "confusion",
    "Phoneme confusions",
    shows="A matrix: how often each phoneme of the targets was heard as each other phoneme.",
    data="Administrations of pictures named aloud whose responses were transcribed. Of other "
    "transcripts: tabwb phonemes REF HYP --figure FILE.",
    table=_confusion,
    draw=Shades(_confusion_panels),
    options=(
        FigureOption("notation", "of the phonemes", "ipa", ("ipa", "arpabet")),
        FigureOption(
            "transcriber", "a transcriber against a person's transcripts, by up to 6 groups"
        ),
        FigureOption("show", "of a transcriber", "phonemes", ("phonemes", "features")),
    ),
    by="administration",
    people=True,
)
