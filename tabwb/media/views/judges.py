"""Judges against each other as a page, in parts, and as one JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tabwb.agreement.compare import FEWEST_SHARED
from tabwb.analysis.judges import JudgeReport
from tabwb.analysis.rated_answers import Row
from tabwb.media.terminal import SpecCell, table
from tabwb.media.views.agreement import cells_of, json_of
from tabwb.media.views.grid import by, cell, grid, shown
from tabwb.media.wording import (
    FEW,
    between,
    causes_words,
    figure,
    number,
    plain,
    without_burden,
)
from tabwb.records.words import plural
from tabwb.report.plain import Json, picked
from tabwb.report.summaries.judges import JudgeSummary

LIKE = "prompts like these"
NO_JUDGE = "No judge has rated these. Begin with: tabwb judge run ID --judge SPEC"
DIFFER = "where they differ most"
NOTE = (
    "Means are over features with a defined coefficient and "
    f"{FEWEST_SHARED} or more responses that both judged, their number in brackets. "
    "Agreement between judges does not show that they agree with experts."
)
PAIRS = shown("same verdict {agreement:2} ({agreement_features}); kappa {kappa:2} ({features}); "
              "AC1 {ac1:2} ({ac1_features})")  # fmt: skip
FEATURE = "feature samples=n percent=agreement kappa ac1 positive=positive_agreement"
CONSENSUS = shown("present {present}; absent {absent}; ties {ties}")


def judges_view(report: JudgeReport) -> RenderableType:
    """Return the report."""
    return Group(*(view for _, view in judges_parts(report)))


def judges_parts(report: JudgeReport) -> Iterator[tuple[str, RenderableType]]:
    """Yield the parts of the report, each with its name."""
    if not report.rows:
        yield "Judges", Text(NO_JUDGE)
        return
    yield "Judges", _judges(report)
    pairs = report.tables["pairs"].to_dicts()
    compared = [row for row in pairs if row["n"]]
    if compared:
        title = "agreement of every two judges"
        yield "Every two judges", grid("judges", PAIRS, compared, title, name=_both)
        yield "Features", _features(report)
    if left_out := [row for row in pairs if not row["n"]]:
        lines = (cell("not compared: {first} and {second}: {reason}", row) for row in left_out)
        yield "Not compared", Text("\n".join(lines), style="dim")
    for row in report.tables["consensus"].to_dicts():
        head = [Text(row["group"], style="bold")] if row["group"] else []
        features = report.tables["consensus-features"].where(group=row["group"]).to_dicts()
        told = [one for one in features if one["present"] or one["ties"]]
        by_feature = grid("consensus by feature", CONSENSUS, told)
        nothing = Text("no feature has a majority or a tie for present")
        yield "Consensus", Group(*head, _consensus(row), by_feature if told else nothing)
    yield "Notes", Text(NOTE, style="dim")


def _both(row: Mapping[str, Any]) -> SpecCell:
    return SpecCell.of((row["first"], row["second"]))


def _judges(report: JudgeReport) -> RenderableType:
    title = f"symptom burden by judge, 95 % interval for {LIKE}"
    made = table("usable", "burden", "interval", "features", "N", first="judge", title=title)
    times = Counter((group, judge.rater) for group, _, judge in report.rows)
    mixed = len({judge.scope for *_, judge in report.rows}) > 1
    for group, _, judge in report.rows:
        burden = judge.burden
        made.add_row(
            _judge(judge, group, several=times[group, judge.rater] > 1, scope=mixed),
            f"{burden.usable.usable} of {burden.usable.n}",
            number(burden.symptom_burden),
            between(burden.interval),
            str(len(burden.features)),
            f"{burden.n_burden} of {burden.n_responses}",
        )
    notes = [
        Text(f"{label}{f', {group}' if group else ''}: {note}", style="dim")
        for group, label, judge in report.rows
        for note in _notes(judge)
    ]
    return Group(made, *notes, *([Text()] if notes else []))


def _judge(judge: JudgeSummary, group: str, *, several: bool, scope: bool) -> SpecCell:
    prompt, _, model = judge.rater.partition(":")
    texts = [(prompt, "bold"), (model, ""), *[(f"of {group}", "dim")] * bool(group)]
    if several:
        texts.append((str(judge.terms), "dim"))
    elif scope:
        texts.append((f"scope: {plain(judge.scope)}", "dim"))
    if judge.burden.usable.few:
        texts.append((FEW, "yellow"))
    return SpecCell(tuple(texts))


def _notes(judge: JudgeSummary) -> Iterator[str]:
    if causes := judge.burden.usable.causes:
        yield f"not usable: {causes_words(causes)}"
    for cause, n in without_burden(judge.burden).items():
        yield f"{n} without a burden ({plain(cause)})"
    if judge.not_judged:
        yield f"{judge.not_judged} not rated yet"


def _features(report: JudgeReport) -> RenderableType:
    """Return the features on which two judges agree least, the lowest pair of each."""
    rows = report.tables["pair-features"].to_dicts()
    apart = [row for row in rows if row["agreement"] is not None and row["agreement"] < 1]
    lowest: dict[str, Row] = {}
    for row in sorted(apart, key=lambda row: (row["agreement"], row["feature"])):
        lowest.setdefault(row["feature"], row)
    made = table("same verdict", "of", first="feature", title=DIFFER)
    made.add_column("judges", ratio=2)
    for row in list(lowest.values())[:8]:
        made.add_row(row["title"], figure(row["agreement"]), str(row["n"]), _both(row))
    if not made.row_count:
        return Text.assemble((f"{DIFFER}  ", "bold"), "nowhere: every two judges say the same\n")
    return made


def _consensus(row: Row) -> RenderableType:
    n = row["n_responses"] + row["n_tied"]
    lines = [
        f"burden {figure(row['burden'])} over {plural(len(row['features']), 'feature')} "
        f"in the sets of all {row['judges']} that gave verdicts, N {row['n_responses']} of {n}"
    ]
    if row["n_tied"]:
        lines.append(
            f"{plural(row['n_tied'], 'response')} with {plural(row['ties'], 'tie')} left "
            "out: a biased part, because what is hard to judge is left out"
        )
        lines.append(
            cell("sensitivity: {ties_present:2} with ties as present, {ties_absent:2} with ties as "
                 "absent, N ", row) + str(n)
        )  # fmt: skip
    return Text.assemble(("what most judges say  ", "bold"), "\n".join(lines))


def judges_document(report: JudgeReport) -> Json:
    """Return the report as plain data; what is undefined is None."""
    pairs = report.tables["pairs"].to_dicts()
    features = by(report.tables["pair-features"].to_dicts(), "first", "second")
    compared = [row for row in pairs if row["n"]]
    burdens = ("features", "n_responses", "n_distinct", "no_burden", "symptom_burden", "interval",
               "present")  # fmt: skip
    return {
        "format": 1,
        "estimand": LIKE,
        "judges": [
            {
                "group": group or None,
                "label": label,
                **picked(judge, "rater", "scope", "prompt_hash", "declared"),
                **judge.burden.usable.to_json(),
                **picked(judge.burden, *burdens),
                "n_not_judged": judge.not_judged,
            }
            for group, label, judge in report.rows
        ],
        "left_out": [json_of(row, "first second reason") for row in pairs if not row["n"]],
        "pairs": [
            {
                **json_of(row, "first second"),
                "percent": json_of(row, "mean=agreement features=agreement_features"),
                "kappa": json_of(row, "mean=kappa features"),
                "ac1": json_of(row, "mean=ac1 features=ac1_features"),
                "by_feature": [json_of(one, FEATURE) | {"table": cells_of(one)} for one in own],
            }
            for row, own in zip(compared, features, strict=True)
        ],
        "consensus": [
            _consensus_document(
                row, report.tables["consensus-features"].where(group=row["group"]).to_dicts()
            )
            for row in report.tables["consensus"].to_dicts()
        ],
    }


def _consensus_document(row: Row, features: list[Row]) -> Json:
    n = row["n_responses"] + row["n_tied"]
    return {
        **json_of(row, "group judges features n_responses n_tied ties"),
        "present": {one["feature"]: one["of_burden"] for one in features},
        "sensitivity": json_of(row, "ties_present ties_absent") | {"n_responses": n},
        "by_feature": [json_of(one, "feature present absent ties rate") for one in features],
        "symptom_burden": row["burden"],
        "status": "undefined" if row["burden"] is None else "value",
    }
