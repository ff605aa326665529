"""The agreement of raters as tables: features, means over them, pairs, calibration, error rates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabwb.agreement.calibration import Calibration
from tabwb.agreement.compare import OVER_FEATURES, OverFeatures
from tabwb.report.summaries.agreement.compared import Among, defined
from tabwb.report.summaries.agreement.rated import Measure
from tabwb.report.summaries.agreement.report import AgreementReport
from tabwb.report.summaries.agreement.stated import (
    FeatureAgreement,
    feature_agreements,
    pair_means,
)
from tabwb.report.tables.declared import number, text, whole
from tabwb.scoring.estimate import Interval
from tabwb.tables.table import Column, RecordColumn, Table, records_table, table_of

UNDEFINED = "A value that is missing is undefined; 'reason' says why."
NOT_COMPARABLE = (
    "Agreement with a consensus is not comparable with the agreement of two people; that of a "
    "judge with each person is."
)
KAPPA = "Cohen's kappa"
_COEFFICIENTS = (
    ("agreement", "Agree", "share of samples with the same verdict"),
    ("kappa", "Kappa", KAPPA),
    ("ac1", "AC1", "Gwet's AC1"),
    ("positive_agreement", "Pos", "2 x both / (first + second): agreement on present"),
    ("negative_agreement", "Neg", "the same for absent"),
)


@dataclass(frozen=True, slots=True)
class _Compared:
    """One feature of one comparison."""

    who: str
    one: FeatureAgreement


@dataclass(frozen=True, slots=True)
class _Mean:
    """One kind of mean of one comparison."""

    who: str
    kind: str
    among: Among

    def over(self, coefficient: str) -> OverFeatures:
        return self.among.found.over_features[self.kind, coefficient]


def comparisons(report: AgreementReport) -> Iterator[tuple[str, Among]]:
    """Yield who is compared with whom, in words, and the comparison."""
    people = "people" if report.of_people else "raters"
    if report.main is not None:
        yield people, report.main
    for judge in report.judges:
        if judge.each is not None:
            yield f"{judge.judge} with each of the {people}", judge.each
        if judge.consensus is not None:
            yield f"{judge.judge} with the consensus", judge.consensus
    for among in report.rest:
        yield f"{among.names[0][0]} with the others", among
    for among in report.intra:
        yield f"{among.names[0][0]} again", among


def features_table(report: AgreementReport) -> Table:
    """Return a row for each feature of each comparison."""
    rows = [
        _Compared(who, one)
        for who, among in comparisons(report)
        for one in feature_agreements(
            among, report.rated.features, report.counts if among is report.main else ()
        )
    ]
    columns = [
        text("compared", "Compared", "who with whom", lambda row: row.who),
        text("feature", "Feature", "the feature's id", lambda row: row.one.measure.id),
        whole("n", "N", "samples that two of them rated", lambda row: row.one.n),
        number(
            "prevalence", "p", "share of verdicts that say present; of people with each other",
            lambda row: None if row.one.counts is None else row.one.counts.prevalence,
        ),
        *(_coefficient(*given) for given in _COEFFICIENTS),
        *_ends("kappa"),
        *_ends("ac1"),
        number("alpha", "Alpha", "Krippendorff's, nominal; of people with each other",
               lambda row: row.one.values.get("alpha")),
        text("status", "Status", "value or undefined, of kappa",
             lambda row: "undefined" if row.one.values["kappa"] is None else "value"),
        text("reason", "Reason", "why kappa is undefined",
             lambda row: row.one.reasons.get("kappa", "")),
    ]  # fmt: skip
    return records_table("agreement", columns, rows, [UNDEFINED, NOT_COMPARABLE])


def _coefficient(name: str, title: str, meaning: str) -> RecordColumn:
    return number(name, title, meaning, lambda row: row.one.values[name])


def _ends(name: str) -> tuple[RecordColumn, RecordColumn]:
    def end(at: str, row: _Compared) -> float | None:
        interval: Interval | None = row.one.intervals[name]
        return None if interval is None else float(getattr(interval, at))

    return (
        number(f"{name}_low", "Low", f"lower end of the 95 % interval of {name}",
               lambda row: end("low", row)),
        number(f"{name}_high", "High", f"upper end of the 95 % interval of {name}",
               lambda row: end("high", row)),
    )  # fmt: skip


def summary_table(report: AgreementReport) -> Table:
    """Return a row for each kind of mean over features of each comparison (table 1)."""
    rows = [_Mean(who, kind, among) for who, among in comparisons(report) for kind in OVER_FEATURES]
    columns = [
        text("compared", "Compared", "who with whom", lambda row: row.who),
        text("mean", "Mean", "unweighted, weighted by the positives of the consensus, or without "
             "features that the consensus never calls present", lambda row: row.kind),
    ]  # fmt: skip
    for name, title in (("kappa", "Kappa"), ("ac1", "AC1")):
        columns += _mean_columns(name, title)
    return records_table("agreement-summary", columns, rows, [NOT_COMPARABLE])


def _mean_columns(name: str, title: str) -> list[RecordColumn]:
    def end(at: int, row: _Mean) -> float | None:
        ends = row.over(name).ends
        return None if ends is None else ends[at]

    return [
        number(name, title, f"mean of {name}", lambda row: row.over(name).value),
        number(f"{name}_low", "Low", "lower end of its 95 % interval; only of weighted means",
               lambda row: end(0, row)),
        number(f"{name}_high", "High", "upper end", lambda row: end(1, row)),
        whole(f"{name}_features", "Features", "number of features that it is made from",
              lambda row: row.over(name).features),
    ]  # fmt: skip


def pairs_table(report: AgreementReport) -> Table:
    """Return a row for each pair of people (of raters, with fewer than two people)."""
    columns = [
        text("first", "First", "a rater", lambda row: row.first),
        text("second", "Second", "the other", lambda row: row.second),
        whole("n", "N", "the most samples that they share for a feature", lambda row: row.n),
        RecordColumn(
            Column("averaged", "Averaged", "shares enough samples for means", "boolean"),
            lambda row: row.averaged,
        ),
        number("agreement", "Agree", "mean share of equal verdicts", lambda row: row.agreement),
        number("kappa", "Kappa", "mean over features", lambda row: row.kappa[0]),
        whole("features", "Features", "features with a kappa", lambda row: row.kappa[1]),
        number("weighted_kappa", "Weighted", "weighted by the consensus's positives",
               lambda row: row.weighted),
        number("ac1", "AC1", "mean over features", lambda row: row.ac1[0]),
    ]  # fmt: skip
    rows = () if report.main is None else pair_means(report.main)
    return records_table("agreement-pairs", columns, rows)


def calibration_table(report: AgreementReport) -> Table:
    """Return a row for each feature of each judge against the consensus, or the one person."""
    rows = [
        (judge.judge, measure, one)
        for judge in report.judges or report.alone
        for measure, one in zip(report.rated.features, judge.calibration, strict=True)
    ]
    columns = [
        text("judge", "Judge", "its spec", lambda row: row[0]),
        text("feature", "Feature", "the feature's id", lambda row: row[1].id),
        *(_count(*given) for given in _COUNTS),
        *(column for name in ("sensitivity", "specificity") for column in _share(name)),
    ]
    return records_table("judge-calibration", columns, rows)


_COUNTS = (
    ("true_positives", "+/+", "consensus and judge say present"),
    ("false_positives", "-/+", "the judge alone says present"),
    ("false_negatives", "+/-", "the consensus alone says present"),
    ("true_negatives", "-/-", "both say absent"),
)
_Row = tuple[str, Measure, Calibration]


def _count(name: str, title: str, meaning: str) -> RecordColumn:
    return whole(name, title, meaning, lambda row: getattr(row[2], name))


def _share(name: str) -> tuple[RecordColumn, ...]:
    def end(at: str, row: _Row) -> float | None:
        interval = getattr(row[2], name).interval
        return None if interval is None else float(getattr(interval, at))

    return (
        number(name, name.capitalize(), "share of right verdicts",
               lambda row: getattr(row[2], name).value),
        number(f"{name}_low", "Low", "lower end of its 95 % interval",
               lambda row: end("low", row)),
        number(f"{name}_high", "High", "upper end", lambda row: end("high", row)),
    )  # fmt: skip


def error_rates_table(report: AgreementReport) -> Table:
    """Return a row for each rater and feature: the error rates by the model of Dawid and Skene."""
    rates, rows = report.error_rates, []
    for at, measure in enumerate(report.rated.features if rates is not None else ()):
        assert rates is not None
        for who, rater in enumerate(report.rated.raters):
            ends = (*rates.sensitivity_ends[at, who], *rates.specificity_ends[at, who])
            values = (rates.prevalence[at], rates.sensitivity[at, who], rates.specificity[at, who])
            reason = rates.reasons[at] or None
            known = (defined(float(value)) for value in (*values, *ends))
            rows.append((measure.id, rater, *known, reason))
    columns = [
        Column("feature", "Feature", "the feature's id"),
        Column("rater", "Rater", "who"),
        Column("prevalence", "p", "estimated share of samples with the feature", "number"),
        Column("sensitivity", "Sens.", "estimated probability to call present what is", "number"),
        Column("specificity", "Spec.", "estimated probability to call absent what is", "number"),
        Column("sensitivity_low", "Low", "lower end of its 95 % interval", "number"),
        Column("sensitivity_high", "High", "upper end", "number"),
        Column("specificity_low", "Low", "lower end of its 95 % interval", "number"),
        Column("specificity_high", "High", "upper end", "number"),
        Column("reason", "Reason", "why there are no estimates"),
    ]
    note = "Estimated from the ratings alone; errors of raters are taken as independent."
    return table_of("error-rates", columns, rows, [note])
