"""Judges against each other, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.records.words import plural
from tabwb.report.judges import JudgeSummary
from tabwb.report.printing import print_view, table
from tabwb.report.robustness import Consensus, PairAgreement, Robustness
from tabwb.report.wording import (
    NONE,
    between,
    burden_words,
    figure,
    number,
    plain,
    usable_words,
    without_burden,
)


def print_robustness(found: Robustness, titles: Mapping[str, str]) -> None:
    """Print the report; ``titles`` are the features' names for people, by id."""
    print_view(robustness_view(found, titles))


def robustness_view(found: Robustness, titles: Mapping[str, str]) -> RenderableType:
    """The report as one thing to print."""
    if not found.judges:
        return Text("No judge has rated these. Begin with: tabwb judge run ID --judge SPEC")
    parts: list[RenderableType] = [_judges(found)]
    if found.pairs:
        parts += [_pairs(found.pairs), _features(found.pairs, titles)]
    parts += [
        Text(f"not compared: {first} and {second}: {why}", style="dim")
        for first, second, why in found.left_out
    ]
    if found.consensus is not None:
        parts += [_consensus(found.consensus), _by_feature(found.consensus, titles)]
    parts.append(
        Text(
            "Means are over features with a defined coefficient, their number in brackets. A judge "
            "agreeing with another judge is no sign that either agrees with experts.",
            style="dim",
        )
    )
    return Group(*parts)


def _judges(found: Robustness) -> Table:
    models, prompts, cells = found.grid()
    made = table(
        first="judging model",
        fold=True,
        title="symptom burden by model (rows) and prompt (columns)",
    )
    for prompt in prompts:
        made.add_column(prompt, justify="right")
    for model in models:
        made.add_row(model, *(_cell(cells.get((model, prompt), ())) for prompt in prompts))
    return made


def _cell(judges: Sequence[JudgeSummary]) -> str:
    lines: list[str] = []
    for judge in judges:
        burden = judge.burden
        lines.append(usable_words(burden.usable))
        interval = "" if burden.interval is None else f" ({between(burden.interval)})"
        lines.append(burden_words(burden) + interval)
        lines.append(f"over {len(burden.features)}, N {burden.n_burden} of {burden.n_responses}")
        lines += [f"{plain(cause)} {n}" for cause, n in without_burden(burden).items()]
        if judge.not_judged:
            lines.append(f"not judged yet: {judge.not_judged}")
        if len(judges) > 1:
            lines.append(str(judge.terms))
    return "\n".join(lines) or NONE


def _pairs(pairs: tuple[PairAgreement, ...]) -> Table:
    made = table(
        "same verdict",
        "kappa",
        "AC1",
        first="judges",
        fold=True,
        title="agreement of every two judges",
    )
    for pair in pairs:
        made.add_row(
            f"{pair.first}\n{pair.second}",
            *(_mean(*value) for value in (pair.percent, pair.kappa, pair.ac1)),
        )
    return made


def _mean(value: float | None, features: int) -> str:
    return f"{figure(value)} ({features})"


def _features(pairs: tuple[PairAgreement, ...], titles: Mapping[str, str]) -> Table:
    """Where judges differ: the lowest agreement of any two, feature by feature, lowest first."""
    lowest: dict[str, tuple[float, PairAgreement, int]] = {}
    for pair in pairs:
        for each in pair.features:
            if each.percent is None:
                continue
            known = lowest.get(each.feature)
            if known is None or each.percent < known[0]:
                lowest[each.feature] = each.percent, pair, each.samples
    made = table("same verdict", "of", first="feature", title="where they differ most")
    made.add_column("judges", ratio=2, overflow="fold")
    ordered = sorted(lowest.items(), key=lambda pair: (pair[1][0], pair[0]))
    for feature, (percent, pair, samples) in ordered[:8]:
        if percent == 1:
            break
        made.add_row(
            titles.get(feature, feature),
            f"{percent:.0%}",
            str(samples),
            f"{pair.first} and {pair.second}",
        )
    if not made.row_count:
        made.add_row("nowhere: every two judges say the same", "", "", "")
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
    """Each feature by itself: the ties of one leave no response out of another."""
    made = table("present", "absent", "ties", first="consensus by feature")
    for each in consensus.by_feature:
        if each.present or each.ties:
            counts = (each.present, each.absent, each.ties)
            made.add_row(titles.get(each.feature, each.feature), *map(str, counts))
    return made if made.row_count else Text("no feature has a majority or a tie for present")
