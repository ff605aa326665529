"""What must be known of the rows of a compact table: judges, few items, what was pooled, N."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tabwb.records.condition_table import title_of
from tabwb.records.words import plural
from tabwb.report.names import judge_names
from tabwb.report.summaries.cautions import UNRELIABLE, correlation_notes, has_few_items
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary
from tabwb.report.summaries.shown import shared_note
from tabwb.report.tables.captioned import Footnote
from tabwb.report.tables.group_names import GroupNames


def caution_notes(
    judges: Sequence[JudgeSummary], columns: Sequence[tuple[str, ...]]
) -> Iterator[Footnote]:
    """Yield the caution that each judge declared."""
    own: dict[tuple[str, str], tuple[str, ...]] = {}
    for judge, names in zip(judges, columns, strict=True):
        if judge.caution:
            key = judge.rater, judge.caution.rstrip(".")
            own[key] = (*own.get(key, ()), *names)
    called = judge_names(judge.rater for judge in judges)
    for (rater, caution), names in own.items():
        yield Footnote(f"Verdicts of {called[rater]}: {caution}.", names)


def group_notes(
    rows: Sequence[Grouped], names: GroupNames, own: Mapping[str, str]
) -> Iterator[Footnote]:
    """Yield that there are few items, N of accuracies, what all share, over what was pooled."""
    if any(has_few_items(row.summary) for row in rows):
        yield Footnote(UNRELIABLE)
    burdens = [judge.burden for row in rows for judge in row.summary.judges]
    yield from map(Footnote, correlation_notes(burdens))
    yield from _accuracy_n(rows, own)
    yield from (Footnote(text) for text in shared_note(rows, names.rename))
    yield from _decoding(rows)
    yield from (Footnote(text) for text in _pooled(rows, names))


def _accuracy_n(rows: Sequence[Grouped], own: Mapping[str, str]) -> Iterator[Footnote]:
    scored: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        for part in row.summary.subtests:
            if part.share.scored:
                scored.setdefault((part.id, part.title), []).append(part.share.scored)
    if not scored:
        return
    shown = ", ".join(
        f"{title} {' to '.join(f'{n:,}' for n in dict.fromkeys((min(found), max(found))))}"
        for (_, title), found in scored.items()
    )
    columns = tuple(own[subtest] for subtest, _ in scored)
    yield Footnote(f"Scored responses of a group: {shown}.", columns)


def _decoding(rows: Sequence[Grouped]) -> Iterator[Footnote]:
    """Yield how all responses of models were drawn, where no name and no other note says it."""
    found = [row.group.circumstances.get("decoding", ()) for row in rows if row.group.has_model]
    said = any(
        name == "decoding" for row in rows for name, _ in (*row.group.apart, *row.group.shared)
    )
    if found and not said and len(set(found)) == 1 and len(found[0]) == 1:
        yield Footnote(f"Decoding of all responses of models: {found[0][0]}.")


def _pooled(rows: Sequence[Grouped], names: GroupNames) -> Iterator[str]:
    """Yield in what the members of groups differ that are pooled; groups alike are named once."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        for name, values in row.group.mixed.items():
            # The names of examinees may be people's.
            told = (
                plural(len(values), "examinee")
                if name == "examinee"
                else f"{title_of(name)} {' | '.join(names.rename(value, row) for value in values)}"
            )
            groups.setdefault(told, []).append(names.title(row))
    for told, having in groups.items():
        of = "All groups are" if len(having) == len(rows) > 1 else f"{', '.join(having)}:"
        yield f"{of} pooled over {told}."
