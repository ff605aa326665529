"""Raters with each other: feature by feature, pair by pair, and over features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median

from rich.console import Group, RenderableType

from tabwb.agreement.compare import FEWEST_SHARED, OverFeatures
from tabwb.records.words import plural
from tabwb.report.render.agreement.cells import (
    ends,
    grouped,
    of_features,
    over,
    remarks,
    short_names,
    with_ends,
)
from tabwb.report.render.printing import ForWidth, SpecCell, table
from tabwb.report.render.wording import figure, signed
from tabwb.report.summaries.agreement.compared import Among
from tabwb.report.summaries.agreement.judged import JudgeAgreement
from tabwb.report.summaries.agreement.report import AgreementReport
from tabwb.report.summaries.agreement.stated import (
    FeatureAgreement,
    feature_agreements,
    interval_of,
    pair_means,
)

WIDE = 120
"""From so many columns on a feature has all its numbers in one row."""
FEW_SHARED = 40
"""With fewer samples for each pair the interval of the weighted kappa is too narrow."""
AGGREGATIONS = {
    "unweighted": "Unweighted average",
    "positive_count_weighted": "Weighted",
    "nonzero_prevalence": "Excl. zero-prevalence",
}
"""The rows of table 1 of the paper, by kind of mean."""
WEIGHTED = "positive_count_weighted"


def feature_views(report: AgreementReport) -> Iterator[RenderableType]:
    """Yield the table of features with what belongs to it."""
    if report.main is None:
        yield from remarks(["No two raters rated the same samples on a feature."])
        return
    rows = feature_agreements(report.main, report.rated.features, report.counts)
    who = "people" if report.of_people else "raters"
    yield ForWidth(partial(_features, rows, f"{who} with each other, by feature"))
    yield from remarks(_feature_notes(rows))


def _features(rows: Sequence[FeatureAgreement], title: str, width: int) -> RenderableType:
    wide = width >= WIDE
    headings = ["n", "p"]
    headings += ["p(1-p)", "cons.", "ties", "?"] if wide else []
    headings += ["agree", "kappa", "95 %", "AC1"]
    headings += ["95 %", "alpha", "Fleiss"] if wide else []
    made = table(*headings, "pos", "neg", first="feature", title=title)
    for row in rows:
        counts, values = row.counts, row.values
        p = None if counts is None else counts.prevalence
        cells = [str(row.n), figure(p)]
        if wide and counts is not None:
            variance = None if p is None else p * (1 - p)
            cells += [figure(variance), *map(str, (counts.positives, counts.ties, counts.unsure))]
        few = row.few and values["kappa"] is not None
        cells += [figure(values["agreement"]), figure(values["kappa"])]
        cells += [row.cells if few else ends(row.intervals["kappa"]), figure(values["ac1"])]
        if wide:
            cells += [ends(row.intervals["ac1"]), figure(values.get("alpha"))]
            cells += [figure(None if counts is None else counts.fleiss)]
        cells += [figure(values[f"{side}_agreement"]) for side in ("positive", "negative")]
        made.add_row(row.measure.title, *cells)
    return made


def _feature_notes(rows: Sequence[FeatureAgreement]) -> Iterator[str]:
    yield (
        "n: samples with two verdicts or more. p: share of verdicts that say present. agree, kappa "
        "(Cohen), AC1 (Gwet), pos, neg (agreement on present, on absent): means over pairs, "
        f"weighted by shared samples; pairs with fewer than {FEWEST_SHARED} are left out."
    )
    yield (
        "kappa and AC1: 1 is full agreement, 0 what chance would give, below 0 less than that. "
        "Chance in kappa follows from how often each rater says present: where a feature is rare, "
        "kappa can be low although most verdicts are equal; AC1 depends less on that."
    )
    if any(row.few and row.values["kappa"] is not None for row in rows):
        yield (
            "Four counts instead of an interval: both say present / first alone / second alone / "
            "neither, over all pairs. In every pair a category has 3 samples or fewer: kappa says "
            "little."
        )
    undefined = [
        (row.measure.title, row.reasons["kappa"]) for row in rows if "kappa" in row.reasons
    ]
    if undefined:
        yield f"kappa undefined ({'; '.join(grouped(undefined))})."


def table_one(report: AgreementReport) -> Iterator[RenderableType]:
    """Yield table 1 of the paper in its own shape, then every comparison with intervals."""
    if report.main is None:
        return
    people, names = "Human" if report.of_people else "Raters", short_names(report)
    if not report.judges:
        yield _table_one(report.main, people, None, "")
    for judge in report.judges:
        yield _table_one(report.main, people, judge, names[judge.judge])
    yield from remarks(
        [
            "In brackets: number of features that the average could estimate. Weighted: by the "
            "samples that the consensus calls present, the same weights in every column. An "
            "undefined kappa is left out, never taken as 0 or 1.",
            "Judge-consensus is not comparable with human-human pairwise: a consensus of several "
            "is more stable than one person. Judge-each-human is (like with like)."
            if report.judges
            else "",
            "Columns over unequal numbers of features are not like with like either: below is the "
            "difference on the features of both."
            if _unequal(report)
            else "",
        ]
    )
    yield from _comparisons(report)


def _unequal(report: AgreementReport) -> bool:
    """Return whether a judge and people have a kappa on unequal numbers of features."""
    key = WEIGHTED, "kappa"
    sides = [report.main, *(judge.each for judge in report.judges)]
    return len({one.found.over_features[key].features for one in sides if one is not None}) > 1


def _table_one(main: Among, people: str, judge: JudgeAgreement | None, name: str) -> RenderableType:
    headings = [f"{people} κ"]
    if judge is not None:
        headings += ["Judge-consensus κ", f"Judge-each-{people.lower()} κ"]
    title = "Aggregation (table 1)" + (f", {name}" if name else "")
    made = table(*headings, first="Aggregation method", title=title)
    for kind, words in AGGREGATIONS.items():
        cells = [over(main.found.over_features[kind, "kappa"])]
        if judge is not None:
            cells += [
                over(None if one is None else one.found.over_features[kind, "kappa"])
                for one in (judge.consensus, judge.each)
            ]
        made.add_row(words, *cells)
    return made


def _comparisons(report: AgreementReport) -> Iterator[RenderableType]:
    assert report.main is not None
    who = "people with each other" if report.of_people else "raters with each other"
    rows: list[tuple[str, Among | None]] = [(who, report.main)]
    names = short_names(report)
    for judge in report.judges:
        rows += [(f"{names[judge.judge]} with each person", judge.each)]
        rows += [(f"{names[judge.judge]} with the consensus *", judge.consensus)]
    rows += [(f"{names[among.names[0][0]]} with the others", among) for among in report.rest]
    yield ForWidth(partial(_comparison_table, rows))
    notes = [
        "Means weighted as above with 95 % intervals (samples resampled with the weights; "
        f"{plural(report.task.draws if report.task else 0, 'draw')})."
    ]
    shared = report.main.shared[report.main.found.averaged.any(axis=1)].tolist()
    if len(shared) > 1 and median(shared) < FEW_SHARED:
        notes.append(
            f"Pairs share {median(shared):g} samples (median): with fewer than {FEW_SHARED} mean "
            "kappas are a little too low, and the interval of the weighted one covers 0.80 to "
            "0.94; pooled kappa is better."
        )
    if report.judges:
        notes.append("* not comparable with the row of people; with each person is.")
    for judge in report.judges:
        less, people = judge.difference, judge.people
        if less is not None and less.value is not None and people is not None:
            notes.append(
                f"{names[judge.judge]} with each person less people with each other, weighted "
                f"kappa on the {plural(people.features, 'feature')} of both: {signed(less.value)} "
                f"({_signed_ends(less)}); people {figure(people.value, 3)} there."
            )
    yield from remarks(notes)


def _signed_ends(less: OverFeatures) -> str:
    interval = interval_of(less)
    return "no interval" if interval is None else f"95 % {ends(interval)}"


def _comparison_table(rows: Sequence[tuple[str, Among | None]], width: int) -> RenderableType:
    wide = width >= WIDE
    headings = ["weighted kappa", "AC1"] if not wide else [
        "weighted kappa", "weighted AC1", "mean kappa", "mean AC1", "pooled kappa"
    ]  # fmt: skip
    made = table(*headings, title="over features")
    made.columns[0].header = "who with whom"
    for words, among in rows:
        found = None if among is None else among.found
        names = [(WEIGHTED, "kappa"), (WEIGHTED, "ac1")]
        cells = [with_ends(None if found is None else found.over_features[name]) for name in names]
        if wide:
            means = (("unweighted", "kappa"), ("unweighted", "ac1"))
            cells += [over(None if found is None else found.over_features[name]) for name in means]
            cells.append(with_ends(None if found is None else found.pooled))
        made.add_row(SpecCell.of([words]), *cells)
    wide_words = (
        "mean: unweighted, without an interval. pooled: one kappa over all decisions, always "
        "defined where anything varies."
    )
    return Group(made, *remarks([wide_words if wide else ""])[:-1])


def pair_views(report: AgreementReport) -> Iterator[RenderableType]:
    """Yield every pair of raters, those with too few samples in common too."""
    if report.main is None:
        return
    made = table("samples", "agree", "kappa", "weighted", "AC1", first="pair", title="pairs")
    few, names = 0, short_names(report)
    for pair in pair_means(report.main):
        few += not pair.averaged
        words = f"{names[pair.first]} and {names[pair.second]}" + ("" if pair.averaged else " †")
        weighted = figure(pair.weighted, 3)
        cells = of_features(*pair.kappa), weighted, of_features(*pair.ac1)
        made.add_row(SpecCell.of([words]), str(pair.n), figure(pair.agreement), *cells)
    yield made
    apart = "; ".join(f"{first} and {second}" for first, second in report.main.apart)
    yield from remarks(
        [
            f"† fewer than {FEWEST_SHARED} samples in common: listed, not averaged." if few else "",
            f"No sample in common: {apart}." if apart else "",
        ]
    )
