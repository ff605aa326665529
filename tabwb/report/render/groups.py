"""Groups of administrations side by side: TAB's table 2, with what belongs beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.records.condition_table import title_of
from tabwb.records.words import plural
from tabwb.report.measures import BASELINES, NONE
from tabwb.report.render.printing import table
from tabwb.report.render.tables import summary_view
from tabwb.report.render.wording import (
    SHORT_BASELINES,
    between,
    both_usable,
    features_of,
    figure,
    interval_words,
    number,
    numbered,
    plain,
    right_of,
    signed,
    size_of,
    terms_of,
    usable_words,
    without_burden,
)
from tabwb.report.summaries.cautions import cautions
from tabwb.report.summaries.draws import compared_caution
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary, Terms
from tabwb.report.summaries.pairs import FamilyMean, Gap, Pair, over_families


def groups_view(
    made: Sequence[Grouped], pairs: Sequence[Pair] = (), *, details: bool = False
) -> RenderableType:
    """Return, for each battery, burdens, right answers and pairs of models.

    Args:
        made: the groups.
        pairs: base and instruct models among them.
        details: show also the summary of each group.
    """
    if not made:
        return Text("No administrations to show.")
    parts: list[RenderableType] = []
    for battery in dict.fromkeys(one.battery.content_hash for one in made):
        chosen = [one for one in made if one.battery.content_hash == battery]
        given = chosen[0].battery
        parts.append(Text(f"{given.title} {given.version}", style="bold"))
        parts += _burdens(chosen)
        parts.append(answers_table(chosen))
        parts += _sessions(chosen)
        parts += _remarks(chosen)
        named = f"{given.id} {given.version}"
        own = [pair for pair in pairs if pair.battery == named]
        parts += map(pair_view, own)
        if over := over_families(own):
            parts.append(families_view(over))
        if details:
            for one in chosen:
                parts.append(Text(one.label, style="bold reverse"))
                parts += summary_view(one.summary, one.battery, details=True)
    if not details:
        parts.append(
            Text("--details shows features, categories and errors of each.\n", style="dim")
        )
    said = (
        sentence
        for one in made
        for sentence in cautions(one.battery, one.summary, model=one.group.has_model)
    )
    return Group(*parts, Text("\n".join(dict.fromkeys(said)), style="dim"))


def _burdens(chosen: Sequence[Grouped]) -> Iterator[RenderableType]:
    """Yield one table per rater, scope, set and prompt: other burdens do not share a column."""
    tables: dict[Terms, Table] = {}
    for one in chosen:
        for judge in one.summary.judges:
            cells = burden_cells(judge)
            if judge.terms not in tables:
                tables[judge.terms] = table(
                    *cells,
                    first=one.group.by,
                    fold=True,
                    title=f"symptom burden over {features_of(judge)}  ·  {terms_of(judge)}",
                )
            figures = (
                Text(cell, style="bold" if heading == "burden" else "")
                for heading, cell in cells.items()
            )
            tables[judge.terms].add_row(one.group.title, *figures)
    for terms, made in tables.items():
        yield made
        said = "\n".join(_without(chosen, terms))
        if said:
            yield Text(f"{said}\n", style="dim")


def _without(chosen: Sequence[Grouped], terms: Terms) -> Iterator[str]:
    """Yield which responses are unusable, have no burden or have not been judged."""
    causes: Counter[str] = Counter()
    waiting: dict[str, int] = {}
    few = False
    for one in chosen:
        for judge in one.summary.judges:
            if judge.terms == terms:
                causes.update(without_burden(judge.burden))
                few = few or judge.burden.usable.few
                if judge.burden.usable.causes:
                    yield f"{one.group.title}: {usable_words(judge.burden.usable)}"
        waiting[one.group.title] = one.not_judged(terms.rater)
    if few:
        yield "few: fewer than half of the responses are usable; such rows are sorted last"
    if causes:
        said = "; ".join(f"{n}, {plain(cause)}" for cause, n in causes.items())
        yield f"none: usable but without a burden: {said}"
    for label, n in waiting.items():
        if n:
            yield f"not judged yet by {terms.rater}, not counted: {label} {plural(n, 'response')}"


def burden_cells(judge: JudgeSummary) -> dict[str, str]:
    """Return the figures of a judge's burden in a table of groups, by the heading of the column."""
    burden = judge.burden
    value = number(burden.symptom_burden)
    return {
        "usable": f"{burden.usable.usable}/{burden.usable.n}",
        "distinct": str(burden.n_distinct),
        "burden": f"{value} few" if burden.usable.few else value,
        "95 %": between(burden.interval),
        "words": number(burden.words_mean, 0),
        "none": str(sum(without_burden(burden).values())),
    }


def _sessions(chosen: Sequence[Grouped]) -> Iterator[RenderableType]:
    """Yield each naming subtest with a row for each group, by the day it began."""
    if not any(one.summary.named for one in chosen):
        return
    from tabwb.report.render.naming import sessions_table

    for place, subtest in enumerate(chosen[0].summary.named):
        yield Text(f"{subtest.title}, right by the battery rule", style="bold")
        days = sorted(
            (one.group.members[0].administration.session_date, at, one)
            for at, one in enumerate(chosen)
        )
        yield sessions_table([(one.label, day, one.summary.named[place]) for day, _, one in days])


def answers_table(chosen: Sequence[Grouped], *, balanced: bool = False) -> Table:
    """Return right answers by subtest, a row for each group, then the baselines.

    Args:
        chosen: groups of one battery.
        balanced: show the balanced accuracy of yes/no subtests too.
    """
    first = chosen[0].summary.subtests
    made = table("answers", first=chosen[0].group.by, fold=True, title="right answers (exact)")
    scored = [
        place
        for place in range(len(first))
        if any(one.summary.subtests[place].share.scored for one in chosen)
    ]
    for place in scored:
        made.add_column(first[place].title, justify="right", max_width=14)
    for one in chosen:
        cells = []
        for place in scored:
            subtest = one.summary.subtests[place]
            lines = [right_of(subtest), between(subtest.share.interval())]
            if balanced and (accuracy := subtest.estimate("balanced_accuracy")).defined:
                lines.append(f"balanced {number(accuracy)}")
            cells.append("\n".join(lines) if subtest.share.scored else NONE)
        made.add_row(one.group.title, str(one.summary.answers.n), *cells)
    for baseline in BASELINES:
        cells = [_baseline(chosen, place, baseline.id) for place in scored]
        if any(cells):
            label = f"baseline: {SHORT_BASELINES.get(baseline.id, baseline.title)}"
            made.add_row(*(Text(cell, style="dim") for cell in (label, "", *cells)))
    return made


def _baseline(chosen: Sequence[Grouped], place: int, name: str) -> str:
    """Return a baseline of all groups, both ends where it differs (options shuffled)."""
    found = [one.summary.subtests[place].baselines.get(name) for one in chosen]
    known = sorted({each.value for each in found if each is not None and each.value is not None})
    ends = (known[0], known[-1]) if known else ()
    return "-".join(dict.fromkeys(f"{value:.2f}" for value in ends))


def _remarks(chosen: Sequence[Grouped]) -> Iterator[Text]:
    """Yield what must be known of a group before its row is read."""
    said = list(_apart(chosen))
    for one in chosen:
        answers = one.summary.answers
        odd = [f"{plain(name)} {n}" for name, n in answers.statuses.items() if name != "ok"]
        if odd:
            said.append(f"{one.label}: of {answers.n} answers {', '.join(odd)}")
        if answers.inexact:
            said.append(f"{one.label}: {answers.inexact} of {answers.n} batch_exact=no, see below")
        for name, values in one.group.mixed.items():
            said.append(f"{one.label}: pooled over {plain(name)} {' | '.join(values)}")
    if said:
        yield Text("\n".join(said) + "\n", style="dim")


def _apart(chosen: Sequence[Grouped]) -> Iterator[str]:
    """Yield why a label has several rows: the conditions in which they differ."""
    rows: dict[tuple[str, bool], list[Grouped]] = {}
    for one in chosen:
        rows.setdefault((one.group.label, one.group.has_model), []).append(one)
    for (label, _), same in rows.items():
        names = dict.fromkeys(name for one in same for name, _ in one.group.apart)
        if len(same) > 1 and names:
            told = ", ".join(title_of(name) for name in names)
            yield f"{label}: separate rows, not pooled, because they differ in {told}"


def pair_view(pair: Pair) -> RenderableType:
    """Return a base and an instruct model: each measure with the difference, then the notes."""
    title = f"{pair.family}, {size_of(pair.parameters)}: base - instruct"
    made = table(
        "base",
        "N",
        "instruct",
        "N",
        "difference",
        "95 %",
        first="measure",
        fold=True,
        title=title + (f", lesion {pair.lesion}" if pair.lesion else ""),
    )
    if pair.unlike:
        told = [
            f"Not comparable: {title_of(name)} differs too ({mine} | {other})"
            for name, mine, other in pair.unlike
        ]
        sides = f"base {pair.base}: {numbered(pair.base_from)}\n"
        sides += f"instruct {pair.instruct}: {numbered(pair.instruct_from)}\n"
        return Group(Text(title, style="bold"), Text("\n".join(told)), Text(sides, style="dim"))
    for gap in pair.gaps:
        if gap.usable:
            made.add_row(f"{gap.rater}: {both_usable(gap.usable, ('base', 'instruct'))}")
        made.add_row(*_gap(gap))
        for found in (gap.sides.like, gap.sides.these):
            name = Text(f"  {found.estimand.value}", style="dim")
            made.add_row(name, *[""] * 5, interval_words(found))
    notes = [
        f"base {pair.base}: {numbered(pair.base_from)}",
        f"instruct {pair.instruct}: {numbered(pair.instruct_from)}",
    ]
    if pair.unsaid:
        left = numbered(pair.unsaid)
        notes.append(f"not in it, given without a profile that says the family: {left}")
    notes += [f"{rater}: {why}" for rater, why in pair.left_out]
    notes += [
        compared_caution(side, shared, n)
        for side, (shared, n) in zip(("base", "instruct"), pair.shared_streams, strict=True)
        if shared
    ]
    notes.append("means over the items that both have a value for; N: responses to them")
    notes.append("95 %: paired by item, no interval narrower than the draws alone allow")
    return Group(made, Text("\n".join(notes) + "\n", style="dim"))


def families_view(means: Sequence[FamilyMean]) -> RenderableType:
    """Return the mean of base - instruct over families, with its interval."""
    title = "base - instruct over families"
    made = table("families", "items", "difference", "95 %", first="measure", fold=True, title=title)
    for one in means:
        made.add_row(
            _measure(one.gap),
            str(len(one.families)),
            str(one.items),
            Text(signed(one.difference), style="bold"),
            "",
        )
        name = Text(f"  {one.interval.estimand.value}, families like these", style="dim")
        made.add_row(name, "", "", "", interval_words(one.interval))
    return made


def _measure(gap: Gap) -> str:
    if gap.terms is None:
        return f"{gap.title}, share right"
    return f"symptom burden, {gap.rater}, {gap.terms}"


def _gap(gap: Gap) -> Iterator[str | Text]:
    yield _measure(gap)
    yield figure(gap.sides.first)
    yield str(gap.sides.n_first)
    yield figure(gap.sides.second)
    yield str(gap.sides.n_second)
    yield Text(signed(gap.difference), style="bold")
    yield ""
