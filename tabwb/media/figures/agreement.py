"""The agreement of two judges on each feature: kappa and AC1 with intervals, or the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tabwb.media.figures.estimates import (
    Record,
    batteries_note,
    chosen_features,
    columns,
    feature_titles,
    records,
    rows_of,
)
from tabwb.media.figures.forest import POINT, Mark, Panel, forest
from tabwb.media.figures.kind import FigureKind, FigureOption, Options
from tabwb.media.figures.style import INK
from tabwb.records.errors import UsageError
from tabwb.records.words import plural
from tabwb.report.names import judge_names
from tabwb.tables.table import Column, Table, table_of

if TYPE_CHECKING:
    from tabwb.analysis.agreement import Agreement
    from tabwb.media.figures.page import Page
    from tabwb.report.summaries.groups import Grouped
    from tabwb.report.summaries.robustness import PairAgreement

COEFFICIENTS = {"kappa": "Cohen's kappa", "ac1": "Gwet's AC1"}
LOOKS: dict[str, dict[str, Any]] = {
    "kappa": POINT,
    "ac1": {**POINT, "marker": "s", "markersize": 3.8, "color": INK, "markerfacecolor": "white"},
}
COLUMNS = columns(
    Column("first", "First", "the first judge"),
    Column("second", "Second", "the second judge"),
    "feature",
    Column("title", "Feature", "the feature's title"),
    Column("measure", "Measure", "kappa: Cohen's kappa; ac1: Gwet's AC1"),
    "value",
    Column("low", "Low", "lower end of the 95 % interval, Dirichlet resampling", "number"),
    Column("high", "High", "upper end of the 95 % interval, Dirichlet resampling", "number"),
    "n",
    Column("both_present", "++", "responses that both call present", "integer"),
    Column("first_present", "+-", "responses that only the first calls present", "integer"),
    Column("second_present", "-+", "responses that only the second calls present", "integer"),
    Column("both_absent", "--", "responses that both call absent", "integer"),
    Column("positive", "Positive", "2 x both / (first + second): agreement on present", "number"),
    *("status", "reason"),
)
CONSTANT = "neither judge's verdicts vary"


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    import numpy as np

    from tabwb.agreement.intervals import FEW_POSITIVES, dirichlet_intervals, least_positives
    from tabwb.agreement.pairs import cohen_kappa, gwet_ac1

    pair = _pair(groups, options["judges"])
    names = feature_titles(groups)
    chosen = chosen_features(groups)
    shown = [one for one in pair.features if not chosen or one.feature in chosen]
    tables = np.array([feature.table for feature in shown], np.int64)
    ends = {
        "kappa": dirichlet_intervals(tables, cohen_kappa),
        "ac1": dirichlet_intervals(tables, gwet_ac1),
    }
    few = least_positives(tables) <= FEW_POSITIVES
    given: list[Record] = []
    for measure in COEFFICIENTS:
        for at, feature in enumerate(shown):
            value = getattr(feature, measure)
            reason = "no response has a verdict of both" if not feature.samples else CONSTANT
            if value is not None and few[at]:
                value, reason = None, f"a judge calls {FEW_POSITIVES} responses or fewer present"
            (neither, second), (first, both) = feature.table
            low, high = (None, None) if value is None else ends[measure][at].tolist()
            given.append(
                {
                    "first": pair.first,
                    "second": pair.second,
                    "feature": feature.feature,
                    "title": names[feature.feature],
                    "measure": measure,
                    "value": value,
                    "low": low,
                    "high": high,
                    "n": feature.samples,
                    "both_present": both,
                    "first_present": first,
                    "second_present": second,
                    "both_absent": neither,
                    "positive": feature.positive,
                    "status": "undefined" if value is None else "value",
                    "reason": reason if value is None else None,
                }
            )
    notes = [
        f"Agreement of {pair.first} and {pair.second} on each feature.",
        "Bars: 95 % intervals by Dirichlet resampling; responses are taken as independent.",
        f"Instead of a coefficient over {FEW_POSITIVES} positives or fewer: responses that both, "
        "only the first, only the second and neither call present, and the agreement on present.",
        "N: responses with a verdict of both.",
        batteries_note(groups),
    ]
    return table_of("agreement", COLUMNS, rows_of(COLUMNS, given), notes)


def report_table(found: Agreement) -> Table:
    """Return the numbers of the figure for people (or raters) with each other."""
    if not found.is_compared:
        raise UsageError("no two raters rated the same samples on a feature", where="--figure")
    from tabwb.analysis.agreement import reason_of

    who = "people" if found.of_people else "raters"
    few = "in every pair a category has 3 samples or fewer"
    given = [
        _record(row | {"first": who, "second": who}, measure, few if row["few"] else "",
                row[reason_of(measure)], [row[f"{measure}_low"], row[f"{measure}_high"]])
        for measure in COEFFICIENTS for row in found.rows("agreement", design="main")
    ]  # fmt: skip
    pairs = plural(sum(row["n"] > 0 for row in found.rows("pairs", design="main")), "pair")
    resampled = "samples" if found.rated.speakers is None else "speakers"
    notes = [
        f"Agreement of {who} with each other on each feature: means over {pairs}, weighted by "
        "shared samples.",
        f"Bars: 95 % intervals over resampled {resampled}.",
        "Instead of a coefficient, where in every pair a category has 3 samples or fewer: samples "
        "that both, only the first, only the second and neither call present, over pairs, and the "
        "agreement on present.",
        "N: samples with two verdicts or more.",
    ]
    return table_of("agreement", COLUMNS, rows_of(COLUMNS, given), notes)


def _record(
    row: Record, measure: str, few: str, reason: str | None, ends: Sequence[float | None]
) -> Record:
    """Return a row of the figure; ``few``: why a coefficient is not shown, or empty."""
    value = None if few else row[measure]
    given = ("first", "second", "feature", "title", "n", "both_present", "first_present",
             "second_present", "both_absent")  # fmt: skip
    low, high = (None, None) if value is None else ends
    return {name: row[name] for name in given} | {
        "measure": measure,
        "value": value,
        "low": low,
        "high": high,
        "positive": row["positive_agreement"],
        "status": "undefined" if value is None else "value",
        "reason": None if value is not None else few if row[measure] is not None else reason,
    }


def _pair(groups: Sequence[Grouped], judges: str) -> PairAgreement:
    from tabwb.report.summaries.robustness import judges_of

    members = {
        member.administration.id: member for group in groups for member in group.group.members
    }
    if len({member.battery.content_hash for member in members.values()}) > 1:
        raise UsageError(
            "the administrations are of several batteries", hint="choose one: --where battery=..."
        )
    compared = judges_of(tuple(members.values()))
    pairs = {f"{pair.first},{pair.second}": pair for pair in compared.pairs}
    names = judge_names(name for pair in pairs.values() for name in (pair.first, pair.second))
    wanted = judges.replace(", ", ",").strip(" ,")
    chosen = [pair for pair in pairs.values() if not wanted or wanted in _called(pair, names)]
    if len(chosen) == 1:
        return chosen[0]
    if not pairs:
        why = "; ".join(f"{a} and {b}: {reason}" for a, b, reason in compared.left_out)
        raise UsageError(
            "no two judges have judged the same responses" + (f": {why}" if why else ""),
            hint="tabwb judge run ID --judge SPEC",
        )
    raise UsageError(
        f"{'several' if chosen else 'no two'} judges are called '{wanted}'"
        if wanted
        else "several pairs of judges",
        allowed="; ".join(f"{names[pair.first]},{names[pair.second]}" for pair in pairs.values()),
        hint="--option judges=FIRST,SECOND",
    )


def _called(pair: PairAgreement, names: Mapping[str, str]) -> set[str]:
    """Return what two judges may be called: specs, short names or ids, in both orders."""
    first, second = (
        {judge, names[judge], judge.partition(":")[0]} for judge in (pair.first, pair.second)
    )
    return {text for one in first for two in second for text in (f"{one},{two}", f"{two},{one}")}


def _draw(table: Table, page: Page, options: Options) -> None:
    given = records(table)
    labels = list(dict.fromkeys(record["title"] for record in given))
    marks, drawn = [], []
    for record in given:
        row, first = labels.index(record["title"]), record["measure"] == "kappa"
        style = LOOKS[record["measure"]]
        if record["value"] is not None:
            shift = -0.21 if first else 0.21
            ends = record["low"], record["high"]
            marks.append(Mark(row, record["value"], *ends, style, shift))
            drawn.append(record["measure"])
        elif record["n"] and not any(mark.row == row and mark.value is None for mark in marks):
            marks.append(Mark(row, None, words=_cells(record)))
    numbers = [str(record["n"]) for record in given if record["measure"] == "kappa"]
    axis = "coefficient of agreement"
    panel = Panel("", axis, marks, (), numbers, "N", zero=True, include=(0.0, 1.0))
    legend = [(LOOKS[name], title) for name, title in COEFFICIENTS.items() if name in drawn]
    forest(page, labels, [panel], legend, pitch=0.2)


def _cells(record: Record) -> str:
    cells = (record[name] for name in ("both_present", "first_present", "second_present"))
    counts = "/".join(str(count) for count in (*cells, record["both_absent"]))
    positive = record["positive"]
    return counts if positive is None else f"{counts}, {positive:.2f}"


FIGURE = FigureKind(
    id="agreement",
    title="Agreement of two judges",
    shows="Cohen's kappa and Gwet's AC1 of two judges for each feature with intervals; the table "
    "of their verdicts where three responses or fewer are called present.",
    data="Administrations whose responses two judges have judged.",
    table=_table,
    draw=_draw,
    options=(
        FigureOption(
            "judges", "the two judges, separated by a comma; required if there are more than two"
        ),
    ),
    by="administration",
)
