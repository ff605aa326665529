"""Groups of administrations side by side: TAB's table 2, with what belongs beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.analysis.grouping import Group as AdministrationGroup
from tabwb.analysis.grouping import Grouped, shared_note
from tabwb.analysis.keys import key_of
from tabwb.analysis.names import name_in, names_of
from tabwb.media.terminal import table
from tabwb.media.views.administration import statistics_views, summary_view
from tabwb.media.views.contrasts import pair_parts
from tabwb.media.wording import (
    SHORT_BASELINES,
    between,
    causes_listed,
    features_of,
    number,
    plain,
    right_of,
    terms_of,
    usable_words,
    without_burden,
)
from tabwb.records.conditions import title_of
from tabwb.records.words import NONE, plural
from tabwb.report.measures import BASELINES
from tabwb.report.summaries.cautions import bounds_words, group_cautions
from tabwb.report.summaries.judges import JudgeSummary, Terms
from tabwb.report.summaries.subtests import SubtestSummary

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Pair


def groups_view(
    groups: Sequence[Grouped],
    pairs: Sequence[Pair] = (),
    *,
    details: bool = False,
    written: Callable[[Iterable[str]], str] = "\n".join,
) -> RenderableType:
    """Return, for each battery, burdens, right answers and pairs of models."""
    if not groups:
        return Text("There are no administrations to show.")
    parts: list[RenderableType] = []
    for battery in dict.fromkeys(group.battery.content_hash for group in groups):
        chosen = [group for group in groups if group.battery.content_hash == battery]
        given = chosen[0].battery
        parts.append(Text(f"{given.title} {given.version}", style="bold"))
        parts += _burdens(chosen)
        parts.append(answers_table(chosen))
        parts += _sessions(chosen)
        parts += _remarks(chosen)
        if not details:
            parts += statistics_views([(row.label, row.summary) for row in chosen])
        own = [pair for pair in pairs if pair.battery == f"{given.id} {given.version}"]
        parts += (view for _, view in pair_parts(own))
        if details:
            for group in chosen:
                parts.append(Text(group.label, style="bold reverse"))
                parts += summary_view(group.summary, group.battery, details=True)
    if not details:
        hint = "--details shows features, categories and errors of each.\n"
        parts.append(Text(hint, style="dim"))
    return Group(*parts, Text(written(group_cautions(groups)), style="dim"))


def _burdens(chosen: Sequence[Grouped]) -> Iterator[RenderableType]:
    tables: dict[Terms, Table] = {}
    for row in chosen:
        for judge in row.summary.judges:
            cells = burden_cells(judge)
            if judge.terms not in tables:
                title = f"symptom burden over {features_of(judge)}  ·  {terms_of(judge)}"
                tables[judge.terms] = table(
                    *cells, first=_headings_of(row.group), fold=True, title=title
                )
            figures = (
                Text(cell, style="bold" if heading == "burden" else "")
                for heading, cell in cells.items()
            )
            tables[judge.terms].add_row(*cells_of(row.group), *figures)
    for terms, made in tables.items():
        yield made
        if remarks := "\n".join(_without(chosen, terms)):
            yield Text(f"{remarks}\n", style="dim")


def _without(chosen: Sequence[Grouped], terms: Terms) -> Iterator[str]:
    causes: Counter[str] = Counter()
    waiting: dict[str, int] = {}
    few = False
    for row in chosen:
        if judge := row.judge(terms):
            causes.update(without_burden(judge.burden))
            few = few or judge.burden.usable.few
            if judge.burden.usable.causes:
                yield f"{row.group.title}: {usable_words(judge.burden.usable)}"
            for bounds in bounds_words(judge.burden):
                yield f"{row.group.title}: burden {bounds}"
        waiting[row.group.title] = row.not_judged(terms.rater)
    if few:
        yield "few: fewer than half of the responses are usable; such rows are sorted last"
    if causes:
        yield f"usable but without a burden: {causes_listed(causes)}"
    left = [f"{label} {plural(n, 'response')}" for label, n in waiting.items() if n]
    if left:
        yield f"not rated yet by {terms.rater}, not counted: {', '.join(left)}"


def burden_cells(judge: JudgeSummary) -> dict[str, str]:
    """Return the figures of a judge's burden in a table of groups, by the heading of the column."""
    burden = judge.burden
    value = number(burden.symptom_burden)
    return {
        "usable": f"{burden.usable.usable}/{burden.usable.n}",
        "distinct": str(burden.n_distinct),
        "N": str(burden.n_burden),
        "burden": f"{value} few" if burden.usable.few else value,
        "95 %": between(burden.interval),
        "words": number(burden.words_mean),
    }


def _sessions(chosen: Sequence[Grouped]) -> Iterator[RenderableType]:
    if not any(row.summary.named for row in chosen):
        return
    from tabwb.media.views.naming import sessions_table

    titles = {subtest.id: subtest.title for row in chosen for subtest in row.summary.named}
    for name, title in titles.items():
        yield Text(
            f"{title}, names counted as right (a listener's score, else the battery's rule)",
            style="bold",
        )
        rows = [
            (row.label, _days(row.group), subtest) for row in chosen if (subtest := row.named(name))
        ]
        yield sessions_table(sorted(rows, key=lambda row: row[1]), "group")


def _days(group: AdministrationGroup) -> str:
    """Return the first and the last day of a group's sessions; empty where its name has them."""
    if {"session", "administration"} & {*group.keys}:
        return ""
    days = sorted({member.administration.session_date for member in group.members} - {""})
    sessions = f", {len(group.members)} sessions" if len(group.members) > 1 else ""
    return " to ".join(dict.fromkeys((*days[:1], *days[-1:]))) + sessions


def answers_table(chosen: Sequence[Grouped], *, balanced: bool = False) -> Table:
    """Return right answers by subtest, a row for each group, then the baselines."""
    heads = _headings_of(chosen[0].group)
    written = any(part.share.scored for row in chosen for part in row.summary.subtests)
    title = "right answers (exact)" if written else "answers"
    made = table("answers", first=heads, fold=True, title=title)
    if {"subtest", "item"} & {*chosen[0].group.keys}:
        return _of_single_subtests(made, chosen)
    # Of a part of the battery, groups may have different subtests.
    by_id = [{subtest.id: subtest for subtest in row.summary.subtests} for row in chosen]
    scored = [
        subtest.id
        for subtest in chosen[0].battery.subtests
        if any(subtest.id in own and own[subtest.id].share.scored for own in by_id)
    ]
    for name in scored:
        title = chosen[0].battery.subtest(name).title
        made.add_column(title, justify="right", max_width=14)
    for row, own in zip(chosen, by_id, strict=True):
        cells = [_right_cell(own.get(name), balanced=balanced) for name in scored]
        made.add_row(*cells_of(row.group), str(row.summary.answers.n), *cells)
    for baseline in BASELINES:
        cells = [
            _baseline([own[name] for own in by_id if name in own], baseline.id) for name in scored
        ]
        if any(cells):
            label = f"baseline: {SHORT_BASELINES.get(baseline.id, baseline.title)}"
            blank = [""] * len(heads)
            made.add_row(*(Text(cell, style="dim") for cell in (label, *blank, *cells)))
    return made


def _right_cell(subtest: SubtestSummary | None, *, balanced: bool) -> str:
    if subtest is None or not subtest.share.scored:
        return NONE
    lines = [right_of(subtest), between(subtest.share.interval())]
    if balanced and (accuracy := subtest.estimate("balanced_accuracy")).defined:
        lines.append(f"balanced {number(accuracy)}")
    return "\n".join(lines)


def _of_single_subtests(made: Table, chosen: Sequence[Grouped]) -> Table:
    """Return right answers of groups that have one subtest each."""
    for heading in ("right", "95 %"):
        made.add_column(heading, justify="right", no_wrap=True)
    for row in chosen:
        scored = [subtest for subtest in row.summary.subtests if subtest.share.scored]
        cells = [NONE, NONE]
        for subtest in scored:
            cells = [right_of(subtest), between(subtest.share.interval())]
        made.add_row(*cells_of(row.group), str(row.summary.answers.n), *cells)
    return made


def _headings_of(group: AdministrationGroup) -> tuple[str, ...]:
    """Return the headings of the columns that name groups."""
    return tuple(one.title for one in group.values) if len(group.values) > 1 else (group.by,)


def cells_of(group: AdministrationGroup) -> tuple[str, ...]:
    """Return the cells that name a group, one for each of :func:`_headings_of`."""
    if len(group.values) < 2:
        return (group.title,)
    first, *others = (one.cell for one in group.values)
    return (f"{first} ({group.conditions})" if group.apart else first, *others)


def _baseline(subtests: Sequence[SubtestSummary], name: str) -> str:
    """Return a baseline of all groups, both ends where it differs (options shuffled)."""
    known = [subtest.baselines[name].value for subtest in subtests if name in subtest.baselines]
    values = sorted(value for value in known if value is not None)
    return "-".join(dict.fromkeys(f"{value:.2f}" for value in (*values[:1], *values[-1:])))


def _remarks(chosen: Sequence[Grouped]) -> Iterator[Text]:
    remarks = [*shared_note(chosen), *_apart(chosen)]
    names = names_of(
        member.administration.conditions for row in chosen for member in row.group.members
    )
    if together := chosen[0].group.together:
        remarks.append(f"pooled on purpose (--together) over {', '.join(together)}")
    if several := [key for key in chosen[0].group.keys if key_of(key).several]:
        remarks.append(f"a response may be in several rows: by {', '.join(several)}")
    for row in chosen:
        answers = row.summary.answers
        odd = [f"{plain(name)} {n}" for name, n in answers.statuses.items() if name != "ok"]
        if odd:
            remarks.append(f"{row.label}: of {answers.n} answers {', '.join(odd)}")
        if answers.inexact:
            inexact = f"{answers.inexact} of {answers.n} batch_exact=no, see below"
            remarks.append(f"{row.label}: {inexact}")
        for name, values in row.group.mixed.items():
            shown = values if name != "examinee" else _examinees(row.group, names)
            remarks.append(f"{row.label}: pooled over {plain(name)} {' | '.join(shown)}")
    if remarks:
        yield Text("\n".join(remarks) + "\n", style="dim")


def _examinees(group: AdministrationGroup, names: Mapping[str, str]) -> Iterable[str]:
    given = (member.administration.conditions for member in group.members)
    return dict.fromkeys(name_in(names, conditions) for conditions in given)


def _apart(chosen: Sequence[Grouped]) -> Iterator[str]:
    rows: dict[tuple[str, bool], list[Grouped]] = {}
    for row in chosen:
        rows.setdefault((row.group.label, row.group.has_model), []).append(row)
    for same in rows.values():
        label = same[0].group.short or same[0].group.label
        names = dict.fromkeys(name for row in same for name, _ in row.group.apart)
        if len(same) > 1 and names:
            differing = ", ".join(map(title_of, names))
            yield f"{label}: separate rows, not pooled, because they differ in {differing}"
