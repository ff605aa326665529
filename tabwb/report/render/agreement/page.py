"""The whole page of ``tabwb agreement``."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from tabwb.records.words import plural
from tabwb.report.render.agreement.cells import joined, remarks, short_names
from tabwb.report.render.agreement.features import feature_views, pair_views, table_one
from tabwb.report.render.agreement.judges import calibration_views, error_rate_views
from tabwb.report.render.agreement.others import (
    answered_views,
    correctness_view,
    intra_view,
    kinds_view,
    sensitivity_view,
)
from tabwb.report.render.printing import SpecCell, table
from tabwb.report.render.wording import between, count
from tabwb.report.summaries.agreement.report import AgreementReport


def agreement_view(report: AgreementReport, *, details: bool = False) -> RenderableType:
    """Return everything about the agreement of raters."""
    return Group(*_parts(report, details=details))


def _parts(report: AgreementReport, *, details: bool) -> Iterator[RenderableType]:
    rated = report.rated
    judges = [rater for rater in rated.raters if rater in rated.judges]
    people = plural(len(rated.people), "person", "people")
    who = people + (f" ({', '.join(rated.people)})" if rated.people else "")
    names = short_names(report)
    named = ", ".join(names[judge] for judge in judges)
    who += f", {plural(len(judges), 'judge')} ({named})" if judges else ""
    yield Text.assemble((rated.source, "bold"), f"  {plural(len(rated.samples), 'sample')}, {who}")
    yield from remarks(_how(report))
    yield from remarks(rated.notes)
    yield from remarks(
        f"Person or machine? {one.rater} was right on {one.right} of {one.n} "
        f"(95 % {between(one.interval)})."
        for one in rated.guesses
    )
    if rated.features:
        yield _given(report)
        yield from feature_views(report)
        yield from table_one(report)
        yield from sensitivity_view(report)
        yield from kinds_view(report)
        yield from pair_views(report)
        yield from intra_view(report)
        yield from calibration_views(report)
        yield from error_rate_views(report, details=details)
    yield from correctness_view(report)
    yield from answered_views(report)


def _how(report: AgreementReport) -> Iterator[str]:
    rated, choices = report.rated, report.choices
    if not report.of_people and rated.features:
        yield (
            f"Fewer than two people rated: every two of {joined(rated.raters)} are compared; "
            "agreement between judges does not show that they agree with people."
        )
    if rated.speakers is not None:
        speakers = len(set(rated.speakers.tolist()))
        yield f"Intervals resample {plural(speakers, 'speaker')} with all their samples."
    if flagged := sum(one.flagged or 0 for one in report.given):
        by = ", ".join(f"{one.rater} {one.flagged}" for one in report.given if one.flagged)
        yield (
            f"{plural(flagged, 'rating')} of samples flagged ({by}): confirmed without an answer, "
            "or in less time than the form's minimum."
        )
    if choices.draws == 0:
        yield "--draws 0: intervals that need draws are left out."
    if choices.cannot_tell == "absent":
        yield '"Cannot tell" counts as absent.'


def _given(report: AgreementReport) -> RenderableType:
    made = table("samples", "verdicts", "present", "cannot tell", first="rater", title="who rated")
    for one in report.given:
        numbers = (one.samples, one.verdicts, one.present, one.unsure)
        made.add_row(SpecCell.of([one.rater] + ["(judge)"] * one.judge), *map(count, numbers))
    return made
