"""Judges against each other, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.report.judges import JudgeSummary
from tabwb.report.robustness import Consensus, PairAgreement, Robustness

NONE = "-"
MINIMUM_WIDTH = 70


def print_robustness(found: Robustness, titles: Mapping[str, str]) -> None:
    """Print the report; ``titles`` are the features' names for people, by id."""
    console = Console(highlight=False)
    console.width = max(console.width, MINIMUM_WIDTH)
    console.print(robustness_view(found, titles))


def robustness_view(found: Robustness, titles: Mapping[str, str]) -> RenderableType:
    """The report as one thing to print."""
    if not found.judges:
        return Text("No judge has rated these. Begin with: tabwb judge run ID --judge SPEC")
    parts: list[RenderableType] = [_judges(found)]
    if found.pairs:
        parts += [_pairs(found.pairs), _features(found.pairs, titles)]
    if found.consensus is not None:
        parts.append(_consensus(found.consensus))
    parts.append(
        Text(
            "Means are over features with a defined coefficient, their number in brackets. A judge "
            "agreeing with another judge is no sign that either agrees with experts.",
            style="dim",
        )
    )
    return Group(*parts)


def _table(title: str) -> Table:
    return Table(
        box=SIMPLE_HEAD,
        expand=True,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title=title,
        title_justify="left",
        title_style="bold",
    )


def _judges(found: Robustness) -> Table:
    models, prompts, cells = found.grid()
    table = _table("symptom burden by model (rows) and prompt (columns)")
    table.add_column("judging model", ratio=1, overflow="fold")
    for prompt in prompts:
        table.add_column(prompt, justify="right")
    for model in models:
        table.add_row(model, *(_cell(cells.get((model, prompt))) for prompt in prompts))
    return table


def _cell(judge: JudgeSummary | None) -> str:
    if judge is None:
        return NONE
    burden = judge.burden
    value = burden.symptom_burden.value
    shown = NONE if value is None else f"{value:.2f}"
    if burden.interval is not None:
        shown += f" ({burden.interval.low:.2f}-{burden.interval.high:.2f})"
    shown += f"\nover {len(burden.features)}, N {burden.n_burden} of {burden.n_responses}"
    return shown


def _pairs(pairs: tuple[PairAgreement, ...]) -> Table:
    table = _table("agreement of every two judges")
    table.add_column("judges", ratio=1, overflow="fold")
    for heading in ("same verdict", "kappa", "AC1"):
        table.add_column(heading, justify="right", no_wrap=True)
    for pair in pairs:
        table.add_row(
            f"{pair.first}\n{pair.second}",
            *(_mean(*value) for value in (pair.percent, pair.kappa, pair.ac1)),
        )
    return table


def _mean(value: float | None, features: int) -> str:
    return f"{NONE} (0)" if value is None else f"{value:.2f} ({features})"


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
    table = _table("where they differ most")
    table.add_column("feature", ratio=1)
    table.add_column("same verdict", justify="right", no_wrap=True)
    table.add_column("of", justify="right", no_wrap=True)
    table.add_column("judges", ratio=2, overflow="fold")
    ordered = sorted(lowest.items(), key=lambda pair: (pair[1][0], pair[0]))
    for feature, (percent, pair, samples) in ordered[:8]:
        if percent == 1:
            break
        table.add_row(
            titles.get(feature, feature),
            f"{percent:.0%}",
            str(samples),
            f"{pair.first} and {pair.second}",
        )
    if not table.row_count:
        table.add_row("nowhere: every two judges say the same", "", "", "")
    return table


def _consensus(consensus: Consensus) -> RenderableType:
    value = consensus.burden.value
    return Text.assemble(
        ("what most judges say  ", "bold"),
        f"burden {NONE if value is None else f'{value:.2f}'} over {len(consensus.features)} "
        f"features that all {consensus.judges} judge, N {consensus.n_responses}, "
        f"{consensus.ties} ties left out",
    )
