"""Judges against each other as a page, in parts, and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from tabwb.agreement.compare import FEWEST_SHARED
from tabwb.analysis.agreement import TABLES
from tabwb.analysis.judges import CONSENSUS, CONSENSUS_FEATURES, JudgeReport
from tabwb.analysis.names import judge_names
from tabwb.analysis.plain import Json, picked
from tabwb.media.views.agreement import cells_of, json_of
from tabwb.media.views.parts import Part, by, parts_view
from tabwb.media.wording import (
    FEW,
    between,
    causes_words,
    number,
    plain,
    without_burden,
)
from tabwb.records.columns import Column
from tabwb.tables.table import Row, columns_of

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge

LIKE = "prompts like these"
NO_JUDGE = "No judge has rated these. Begin with: tabwb judge run ID --judge SPEC"
NOTE = (
    "Means are over features with a defined coefficient and "
    f"{FEWEST_SHARED} or more responses that both judged. "
    "Agreement between judges does not show that they agree with experts."
)
MOST = 8
"""Features that are shown of those on which judges differ."""
FEATURE = "feature samples=n percent=agreement kappa ac1 positive=positive_agreement"
COLUMNS = columns_of("""
    words text Judge | with its scope
    usable text Usable | of all
    burden text Burden | symptom burden
    within text 95 % | interval
    size integer Features | in the set
    responses text N | with a burden, of all
    pair text Judges | two
    of text Group | examinee
    """)
PARTS = {
    "Judges": Part(
        "judges", f"symptom burden by judge, 95 % interval for {LIKE}",
        "words size usable burden within responses", sections="of", notes="[notes] {told}",
    ),
    "Every two judges": Part(
        "pairs", "agreement of every two judges",
        "pair n agreement agreement_features kappa features ac1 ac1_features",
        notes="""
        [uncompared] not compared: {told}

        [too_few] not averaged: {told}
        """,
    ),
    "Features": Part("differ", "where they differ most", "title pair agreement n"),
    "Consensus": Part(
        "consensus", "what most judges say: burden over features in the sets of all",
        "of judges size mean responses ties ties_present ties_absent",
        notes="""
        [n_tied] Responses with a tie are left out of the burden: a biased part, because what is
        hard to judge is left out. Present, Absent: the burden of all, with every tie so.
        """,
    ),
    "Consensus by feature": Part(
        "consensus-features", "consensus by feature", "title present absent ties", sections="of"
    ),
}  # fmt: skip


def judges_view(report: JudgeReport) -> RenderableType:
    """Return the report."""
    return Group(*(view for _, view in judges_parts(report)))


def judges_parts(report: JudgeReport) -> Iterator[tuple[str, RenderableType]]:
    """Yield the parts of the report, each with its name."""
    for name, part in PARTS.items():
        if views := list(parts_view([part], _columns, partial(_rows, report))):
            yield name, Group(*views)
    yield ("Notes", Text(NOTE, style="dim")) if report.rows else ("Judges", Text(NO_JUDGE))


def _rows(report: JudgeReport, table: str) -> list[Row]:
    """Return the rows of a table with what its templates name besides."""
    names = judge_names(judge.rater for *_, judge in report.rows)
    if table == "judges":
        return [_judge(*row, names) for row in report.rows]
    rows = _differ(report) if table == "differ" else report.tables[table].to_dicts()
    for row in rows:
        if "group" in row:
            row["of"] = row["group"]
        if table == "consensus":
            n, of = row["n_responses"], row["n_responses"] + row["n_tied"]
            row |= {"responses": f"{n} of {of}", "size": len(row["features"])}
            row["mean"] = row["burden"]
        if "first" in row:
            row["pair"] = " and ".join(_short(row[name], names) for name in ("first", "second"))
            row["title"] = row.get("title", row["pair"])
        if table == "pairs" and not row["averaged"]:
            # Without means there is nothing to count.
            row.update(agreement_features=None, features=None, ac1_features=None)
            row["too_few" if row["n"] else "uncompared"] = _why(row)
    if table == "consensus-features":
        return [row for row in rows if row["present"] or row["ties"]]
    return rows


def _why(row: Row) -> str:
    """Return why two judges have no means."""
    return f"{row['reason']} ({row['n']})" if row["n"] else str(row["reason"])


def _judge(group: str, label: str, judge: Judge, names: Mapping[str, str]) -> Row:
    burden, of, label = judge.burden, f" of {group}" if group else "", _short(label, names)
    return {
        "title": f"{label}{of}",
        "of": group or None,
        "words": f"{label}, {plain(judge.terms.scope)}" + (f" {FEW}" if burden.usable.few else ""),
        "usable": f"{burden.usable.usable} of {burden.usable.n}",
        "burden": number(burden.symptom_burden),
        "within": between(burden.interval),
        "size": len(burden.features),
        "responses": f"{burden.n_burden} of {burden.n_responses}",
        "notes": "; ".join(_notes(judge)),
    }


def _notes(judge: Judge) -> Iterator[str]:
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


def _short(label: str, names: Mapping[str, str]) -> str:
    """Return a label, which may name terms too, with the short name of the judge."""
    rater = max((one for one in names if label.startswith(one)), key=len)
    return names[rater] + label.removeprefix(rater)


def _columns(table: str) -> tuple[Column, ...]:
    mean = {"consensus": CONSENSUS, "consensus-features": CONSENSUS_FEATURES}.get(table)
    every = TABLES["pair-features" if table == "differ" else "pairs"] if mean is None else mean
    burden = Column("mean", "Burden", "of most judges", "number", "", 2)
    return (*COLUMNS, burden, *every)


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
                **picked(judge, "rater"),
                **picked(judge.terms, "scope", "prompt_hash"),
                **picked(judge, "declared"),
                **judge.burden.usable.to_json(),
                **picked(judge.burden, *burdens),
                "n_not_judged": judge.not_judged,
            }
            for group, label, judge in report.rows
        ],
        "left_out": [json_of(row, "first second reason") for row in pairs if not row["averaged"]],
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
