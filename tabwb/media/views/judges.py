"""Judges against each other as a page, in parts, and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rich.console import Group, RenderableType
from rich.text import Text

from tabwb.agreement.compare import FEWEST_SHARED
from tabwb.analysis.agreement import Row
from tabwb.analysis.judges import JudgeReport
from tabwb.media.views.agreement import cells_of, json_of
from tabwb.media.views.grid import Part, by, cell, parts_view
from tabwb.media.wording import (
    FEW,
    between,
    causes_words,
    number,
    plain,
    without_burden,
)
from tabwb.report.plain import Json, picked
from tabwb.report.summaries.judges import JudgeSummary

LIKE = "prompts like these"
NO_JUDGE = "No judge has rated these. Begin with: tabwb judge run ID --judge SPEC"
NOTE = (
    "Means are over features with a defined coefficient and "
    f"{FEWEST_SHARED} or more responses that both judged, their number in brackets. "
    "Agreement between judges does not show that they agree with experts."
)
MOST = 8
"""Features that are shown of those on which judges differ."""
FEATURE = "feature samples=n percent=agreement kappa ac1 positive=positive_agreement"
PARTS = {
    "Judges": Part(
        "judges", f"symptom burden by judge, 95 % interval for {LIKE}", "judge",
        "usable {usable} of {of_usable}; burden {burden}; interval {within}; features {size}; "
        "N {n} of {responses}",
        "{words}", notes="[notes] {told}",
    ),
    "Every two judges": Part(
        "pairs", "agreement of every two judges", "judges",
        "same verdict {agreement:2} ({agreement_features}); kappa {kappa:2} ({features}); "
        "AC1 {ac1:2} ({ac1_features})",
        "{first} and {second}", notes="[-n] not compared: {left_out}",
    ),
    "Features": Part(
        "differ", "where they differ most", ("feature", "judges"),
        "same verdict {agreement:2}; of {n}", ("{title}", "{first} and {second}"),
    ),
    "Consensus": Part(
        "consensus", "what most judges say: burden over features in the sets of all", "",
        "judges {judges}; features {size}; burden {burden:2}; N {n_responses} of {n}; ties {ties}; "
        "all present {ties_present:2}; all absent {ties_absent:2}",
        "{of}",
        notes="""
        [n_tied] Responses with a tie are left out of the burden: a biased part, because what is
        hard to judge is left out. all present, all absent: the burden of all, with every tie so.
        """,
    ),
    "Consensus by feature": Part(
        "consensus-features", "consensus by feature", ("", "feature"),
        "present {present}; absent {absent}; ties {ties}", ("{of}", "{title}"),
    ),
}  # fmt: skip


def judges_view(report: JudgeReport) -> RenderableType:
    """Return the report."""
    return Group(*(view for _, view in judges_parts(report)))


def judges_parts(report: JudgeReport) -> Iterator[tuple[str, RenderableType]]:
    """Yield the parts of the report, each with its name."""
    for name, part in PARTS.items():
        if views := list(parts_view([part], partial(_rows, report))):
            yield name, Group(*views)
    yield ("Notes", Text(NOTE, style="dim")) if report.rows else ("Judges", Text(NO_JUDGE))


def _rows(report: JudgeReport, table: str) -> list[Row]:
    """Return the rows of a table with what its templates name besides."""
    if table == "judges":
        return [_judge(*row) for row in report.rows]
    if table == "differ":
        return _differ(report)
    rows = report.tables[table].to_dicts()
    for row in rows:
        if "group" in row:
            row["of"] = row["group"] or ""
        if table == "consensus":
            row |= {"n": row["n_responses"] + row["n_tied"], "size": len(row["features"])}
    if table == "pairs":
        apart = [cell("{first} and {second}: {reason}", row) for row in rows if not row["n"]]
        rows = [row | {"left_out": "; ".join(apart)} for row in rows]
    if table == "consensus-features":
        return [row for row in rows if row["present"] or row["ties"]]
    return rows


def _judge(group: str, label: str, judge: JudgeSummary) -> Row:
    burden, of = judge.burden, f" of {group}" if group else ""
    return {
        "title": f"{label}{of}",
        "words": f"{label}{of}, {plain(judge.scope)}" + (f" {FEW}" if burden.usable.few else ""),
        "usable": burden.usable.usable,
        "of_usable": burden.usable.n,
        "burden": number(burden.symptom_burden),
        "within": between(burden.interval),
        "size": len(burden.features),
        "n": burden.n_burden,
        "responses": burden.n_responses,
        "notes": "; ".join(_notes(judge)),
    }


def _notes(judge: JudgeSummary) -> Iterator[str]:
    if causes := judge.burden.usable.causes:
        yield f"not usable: {causes_words(causes)}"
    for cause, n in without_burden(judge.burden).items():
        yield f"{n} without a burden ({plain(cause)})"
    if judge.not_judged:
        yield f"{judge.not_judged} not rated yet"


def _differ(report: JudgeReport) -> list[Row]:
    """Return the features on which two judges agree least, the lowest pair of each."""
    rows = report.tables["pair-features"].to_dicts()
    apart = [row for row in rows if row["agreement"] is not None and row["agreement"] < 1]
    lowest: dict[str, Row] = {}
    for row in sorted(apart, key=lambda row: (row["agreement"], row["feature"])):
        lowest.setdefault(row["feature"], row)
    return list(lowest.values())[:MOST]


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
