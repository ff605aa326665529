"""Results as tables for the terminal: handsome at 80 columns, plain text when piped.

Rich is imported with this module, which commands import only when they print.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tabwb.battery.model import Battery
from tabwb.records.declarations import Declaration
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration, Trial
from tabwb.report.cautions import cautions
from tabwb.report.document import sources_of
from tabwb.report.judges import JudgeSummary
from tabwb.report.subtests import SubtestSummary
from tabwb.report.summary import Summary, pool, summarise
from tabwb.report.wording import (
    BASELINES,
    NONE,
    baselines_of,
    between,
    count,
    features_of,
    number,
    plain,
    remarks,
    right_of,
    terms_of,
)

if TYPE_CHECKING:
    from tabwb.report.load import Group as Pooled

BAR = 12
MINIMUM_WIDTH = 70
"""Columns of characters that the table of subtests needs."""
_STATUS = {
    AdministrationStatus.RUNNING: "▸ running",
    AdministrationStatus.PAUSED: "‖ paused",
    AdministrationStatus.DONE: "✓ done",
    AdministrationStatus.DISCONTINUED: "■ discontinued",
}


def print_list(administrations: Sequence[Administration]) -> None:
    """Print the administrations of a store, newest last."""
    _print(list_view(administrations))


def print_administration(
    administration: Administration,
    battery: Battery,
    trials: Sequence[Trial],
    *,
    declarations: Mapping[str, Declaration] | None = None,
    interval: bool = False,
) -> None:
    """Print the results of one administration."""
    summary = summarise(
        battery,
        trials,
        administration.conditions,
        declarations=declarations,
        interval=interval,
    )
    _print(administration_view(administration, battery, summary))


def print_groups(groups: Sequence[Pooled]) -> None:
    """Print groups of administrations side by side."""
    _print(groups_view(groups))


def _print(view: RenderableType) -> None:
    # A spec is no markup: "tab-2026:gemini:x" would be printed with the sign of the zodiac.
    console = Console(highlight=False, markup=False, emoji=False)
    # On a narrower terminal lines wrap, which is ugly; narrower columns would cut figures off.
    console.width = max(console.width, MINIMUM_WIDTH)
    console.print(view)


# ---------------------------------------------------------------- one administration


def administration_view(
    administration: Administration, battery: Battery, summary: Summary
) -> RenderableType:
    """The results of one administration."""
    conditions = administration.conditions
    facts = [conditions.examinee, f"seed {conditions.seed}"]
    if conditions.kind == "model":
        decoding = conditions.decoding
        facts += [
            "greedy" if decoding.greedy else f"temperature {decoding.temperature:g}",
            f"protocol {conditions.protocol.value}",
        ]
    if conditions.replicates > 1:
        facts.append(f"{conditions.replicates} replicates")
    if conditions.option_order != "as-given":
        facts.append(f"options {conditions.option_order}")
    if conditions.conversation:
        facts.append("one conversation")
    if conditions.lesion:
        facts.append(f"lesion {conditions.lesion}")
    if conditions.research_protocol:
        facts.append(f"research protocol {conditions.research_protocol}")
    state = f"{_STATUS[administration.status]}  {administration.answered}/{administration.planned}"
    title = f"#{administration.id}  {battery.title} {battery.version}"
    head = Table.grid(expand=True)
    head.add_column()
    head.add_column(justify="right", no_wrap=True)
    head.add_row(Text(title, style="bold"), Text(state))
    parts: list[RenderableType] = [head, Text("  ·  ".join(facts), style="dim")]
    if administration.reason:
        parts.append(Text(f"reason: {administration.reason}", style="dim"))
    parts += [Text(), *_summary(summary, battery)]
    said = "\n".join(cautions(battery, summary, model=conditions.kind == "model"))
    return Group(*parts, Text(said, style="dim"))


def _summary(summary: Summary, battery: Battery) -> Iterator[RenderableType]:
    yield subtests_table(summary.subtests)
    notes = [
        (subtest.title, f"{what}: {figures}")
        for subtest in summary.subtests
        for what, figures in remarks(subtest)
    ]
    if notes:
        yield Padding(_pairs(notes), (0, 1, 1, 1))
    titles = {
        category.id: category.title
        for grouping in battery.groupings
        for category in grouping.categories
    }
    for judge in summary.judges:
        yield burden_view(judge, titles)
        yield Text()


def subtests_table(subtests: Iterable[SubtestSummary]) -> RenderableType:
    """One row per subtest: right answers with their exact interval, and what guessing gives."""
    table = Table(box=SIMPLE_HEAD, expand=True, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("subtest", ratio=1)
    for heading in ("right", "95 % exact", "norm.", "extr."):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("baseline", justify="right", no_wrap=True)
    for subtest in subtests:
        share = subtest.share
        if not share.scored:
            table.add_row(subtest.title, Text(right_of(subtest), style="dim"))
            continue
        table.add_row(
            subtest.title,
            Text(right_of(subtest), style="bold"),
            between(share.interval()),
            count(share.correct["normalised"]),
            count(share.correct["extracted"]),
            Text(baselines_of(subtest), style="dim"),
        )
    return table


def _pairs(notes: Iterable[tuple[str, str]]) -> Table:
    """Remarks in two columns, a subtest's title only once."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    last = ""
    for title, words in notes:
        table.add_row("" if title == last else title, words)
        last = title
    return table


def burden_view(judge: JudgeSummary, titles: Mapping[str, str]) -> RenderableType:
    """Burden of one judge: never without rater, scope, set and numbers of responses."""
    burden = judge.burden
    line = Text.assemble(
        ("symptom burden  ", "bold"),
        (number(burden.symptom_burden), "bold cyan"),
        (f" over {features_of(judge)}", "bold"),
    )
    if burden.interval:
        line.append(f"   95 % {between(burden.interval)}")
    facts = (
        f"{terms_of(judge)}  ·  {burden.n_responses} responses, "
        f"{burden.n_distinct} distinct  ·  {number(burden.words_mean, 1)} words"
    )
    parts: list[RenderableType] = [line, Text(facts, style="dim")]
    if burden.no_burden:
        causes = ", ".join(f"{plain(cause)} {n}" for cause, n in burden.no_burden.items())
        parts.append(Text(f"without a burden: {causes}", style="dim"))
    bars = Table.grid(padding=(0, 2))
    bars.add_column()
    bars.add_column(no_wrap=True)
    bars.add_column(justify="right", no_wrap=True)
    bars.add_column(justify="right", style="dim", no_wrap=True)
    for name, category in judge.categories.items():
        if category.count.value is not None and category.rate.value is not None:
            bars.add_row(
                titles.get(name, name),
                _bar(category.count.value / category.of),
                f"{category.count.value:.2f} of {category.of}",
                f"in {category.rate.value * 100:.0f} %",
            )
    if bars.row_count:
        parts.append(bars)
    return Padding(Group(*parts), (0, 1))


def _bar(share: float) -> Text:
    full = round(share * BAR)
    return Text.assemble(("━" * full, "cyan"), ("─" * (BAR - full), "dim"))


# ---------------------------------------------------------------- several


def list_view(administrations: Sequence[Administration]) -> RenderableType:
    """The administrations of a store."""
    if not administrations:
        return Text("No administrations yet. Start one with: tabwb run tab --model bundled")
    table = Table(box=SIMPLE_HEAD, expand=True, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("id", justify="right", no_wrap=True)
    table.add_column("battery", no_wrap=True)
    table.add_column("examinee", ratio=1, overflow="fold")
    table.add_column("answered", justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("begun (UTC)", no_wrap=True, style="dim")
    for one in administrations:
        lesion = f" + {one.conditions.lesion}" if one.conditions.lesion else ""
        table.add_row(
            str(one.id),
            one.battery,
            one.conditions.examinee + lesion,
            f"{one.answered}/{one.planned}",
            _STATUS[one.status],
            one.created_at[:16].replace("T", " "),
        )
    return table


def groups_view(groups: Sequence[Pooled]) -> RenderableType:
    """Groups under each other: accuracy by subtest, then burden by rater, scope and set."""
    if not groups:
        return Text("No administrations to show.")
    summaries = [(group, pool(sources_of(group.members), interval=True)) for group in groups]
    parts: list[RenderableType] = []
    for key in dict.fromkeys(_key(group) for group in groups):
        chosen = [(group, summary) for group, summary in summaries if _key(group) == key]
        parts.append(Text(key, style="bold"))
        parts.append(_accuracies(chosen))
        parts += _burdens(chosen)
    said = (
        sentence
        for group, summary in summaries
        for sentence in cautions(group.battery, summary, model=group.has_model)
    )
    return Group(*parts, Text("\n".join(dict.fromkeys(said)), style="dim"))


def _key(group: Pooled) -> str:
    return f"{group.battery.title} {group.battery.version}"


def _accuracies(chosen: Sequence[tuple[Pooled, Summary]]) -> Table:
    table = Table(box=SIMPLE_HEAD, expand=True, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(chosen[0][0].by, ratio=1, overflow="fold")
    scored = [
        place
        for place, subtest in enumerate(chosen[0][1].subtests)
        if any(summary.subtests[place].share.scored for _, summary in chosen)
    ]
    for place in scored:
        table.add_column(chosen[0][1].subtests[place].title, justify="right", max_width=16)
    for group, summary in chosen:
        cells = []
        for place in scored:
            subtest = summary.subtests[place]
            value = right_of(subtest) if subtest.share.scored else NONE
            interval = between(subtest.share.interval())
            cells.append(f"{value}\n{interval}" if subtest.share.scored else value)
        table.add_row(group.label, *cells)
    for name, words in BASELINES.items():
        cells = [
            number(chosen[0][1].subtests[place].baselines[name])
            if name in chosen[0][1].subtests[place].baselines
            else ""
            for place in scored
        ]
        if any(cells):
            table.add_row(Text(words, style="dim"), *(Text(cell, style="dim") for cell in cells))
    return table


def _burdens(chosen: Sequence[tuple[Pooled, Summary]]) -> Iterator[RenderableType]:
    """One table per rater, scope and set: burdens over different sets share no column."""
    tables: dict[tuple[object, ...], Table] = {}
    for group, summary in chosen:
        for judge in summary.judges:
            burden = judge.burden
            key = (judge.rater, judge.scope, burden.features, judge.prompt_hash)
            if key not in tables:
                tables[key] = Table(
                    box=SIMPLE_HEAD,
                    expand=True,
                    pad_edge=False,
                    padding=(0, 1, 0, 0),
                    title=f"symptom burden over {features_of(judge)}  ·  {terms_of(judge)}",
                    title_justify="left",
                    title_style="bold",
                )
                tables[key].add_column(group.by, ratio=1, overflow="fold")
                for heading in ("N", "distinct", "burden", "95 %", "words", "none"):
                    tables[key].add_column(heading, justify="right", no_wrap=True)
            tables[key].add_row(
                group.label,
                str(burden.n_responses),
                str(burden.n_distinct),
                Text(number(burden.symptom_burden), style="bold"),
                between(burden.interval),
                number(burden.words_mean, 0),
                str(sum(burden.no_burden.values())),
            )
    yield from tables.values()
    if tables:
        yield Text("none: responses without a burden, such as empty ones\n", style="dim")
