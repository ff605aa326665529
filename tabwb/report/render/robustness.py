"""Judges against each other, as tables for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.agreement.compare import FEWEST_SHARED
from tabwb.records.words import plural
from tabwb.report.render.printing import SpecCell, table
from tabwb.report.render.wording import (
    FEW,
    between,
    causes_words,
    figure,
    number,
    plain,
    without_burden,
)
from tabwb.report.summaries.judges import JudgeSummary
from tabwb.report.summaries.robustness import LIKE, Consensus, PairAgreement, Robustness

NO_JUDGE = "No judge has rated these. Begin with: tabwb judge run ID --judge SPEC"
NOTE = (
    "Means are over features with a defined coefficient and "
    f"{FEWEST_SHARED} or more responses that both judged, their number in brackets. "
    "Agreement between judges does not show that they agree with experts."
)


def robustness_view(robustness: Robustness, titles: Mapping[str, str]) -> RenderableType:
    """Return the report."""
    return Group(*(view for _, view in robustness_parts(robustness, titles)))


def robustness_parts(
    robustness: Robustness, titles: Mapping[str, str]
) -> Iterator[tuple[str, RenderableType]]:
    """Yield the parts of the report, each with its name."""
    if not robustness.rows:
        yield "Judges", Text(NO_JUDGE)
        return
    yield "Judges", _judges(robustness)
    if robustness.pairs:
        yield "Every two judges", _pairs(robustness.pairs)
        yield "Features", _features(robustness.pairs, titles)
    if robustness.left_out:
        lines = [
            f"not compared: {first} and {second}: {why}"
            for first, second, why in robustness.left_out
        ]
        yield "Not compared", Text("\n".join(lines), style="dim")
    for group in robustness.groups:
        if (consensus := group.consensus) is not None:
            head = [Text(group.name, style="bold")] * bool(group.name)
            yield "Consensus", Group(*head, _consensus(consensus), _by_feature(consensus, titles))
    yield "Notes", Text(NOTE, style="dim")


def _judges(robustness: Robustness) -> RenderableType:
    title = f"symptom burden by judge, 95 % interval for {LIKE}"
    made = table("usable", "burden", "interval", "features", "N", first="judge", title=title)
    rows = robustness.rows
    times = Counter((group.name, judge.rater) for group, _, judge in rows)
    mixed = len({judge.scope for *_, judge in rows}) > 1
    for group, _, judge in rows:
        burden = judge.burden
        made.add_row(
            _judge(judge, group.name, several=times[group.name, judge.rater] > 1, scope=mixed),
            f"{burden.usable.usable} of {burden.usable.n}",
            number(burden.symptom_burden),
            between(burden.interval),
            str(len(burden.features)),
            f"{burden.n_burden} of {burden.n_responses}",
        )
    notes = [
        Text(f"{label}{f', {group.name}' if group.name else ''}: {note}", style="dim")
        for group, label, judge in rows
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


def _pairs(pairs: tuple[PairAgreement, ...]) -> Table:
    title = "agreement of every two judges"
    made = table("same verdict", "kappa", "AC1", first="judges", title=title)
    for pair in pairs:
        means = (pair.percent, pair.kappa, pair.ac1)
        cells = (f"{figure(value)} ({features})" for value, features in means)
        made.add_row(SpecCell.of((pair.first, pair.second)), *cells)
    return made


DIFFER = "where they differ most"


def _features(pairs: tuple[PairAgreement, ...], titles: Mapping[str, str]) -> RenderableType:
    agreements = [
        (percent, agreement.feature, str(agreement.samples), (pair.first, pair.second))
        for pair in pairs
        for agreement in pair.features
        if (percent := agreement.percent) is not None
    ]
    lowest: dict[str, tuple[str, str, SpecCell]] = {}
    for percent, feature, samples, judges in sorted(agreements, key=lambda row: row[:2]):
        if percent < 1:
            lowest.setdefault(feature, (figure(percent), samples, SpecCell.of(judges)))
    made = table("same verdict", "of", first="feature", title=DIFFER)
    made.add_column("judges", ratio=2)
    for feature, cells in list(lowest.items())[:8]:
        made.add_row(titles.get(feature, feature), *cells)
    if not made.row_count:
        return Text.assemble((f"{DIFFER}  ", "bold"), "nowhere: every two judges say the same\n")
    return made


def _consensus(consensus: Consensus) -> RenderableType:
    n = consensus.n_responses + consensus.n_tied
    lines = [
        f"burden {number(consensus.burden)} over {plural(len(consensus.features), 'feature')} "
        f"in the sets of all {consensus.judges} that gave verdicts, N {consensus.n_responses} of "
        f"{n}"
    ]
    if consensus.n_tied:
        lines.append(
            f"{plural(consensus.n_tied, 'response')} with {plural(consensus.ties, 'tie')} left "
            "out: a biased part, because what is hard to judge is left out"
        )
        lines.append(
            f"sensitivity: {number(consensus.ties_present)} with ties as present, "
            f"{number(consensus.ties_absent)} with ties as absent, N {n}"
        )
    return Text.assemble(("what most judges say  ", "bold"), "\n".join(lines))


def _by_feature(consensus: Consensus, titles: Mapping[str, str]) -> RenderableType:
    """Return each feature alone: a tie on one leaves no response out of another."""
    made = table("present", "absent", "ties", first="consensus by feature")
    for counts in consensus.by_feature:
        if counts.present or counts.ties:
            cells = map(str, (counts.present, counts.absent, counts.ties))
            made.add_row(titles.get(counts.feature, counts.feature), *cells)
    return made if made.row_count else Text("no feature has a majority or a tie for present")
