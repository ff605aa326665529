"""The phonemes that were heard for those of the targets, as a matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tabwb.media.figures.estimates import Record, batteries_note, columns, records, rows_of
from tabwb.media.figures.kind import FigureKind, FigureOption, Options
from tabwb.media.figures.lettering import line_height, text_width
from tabwb.media.figures.shades import shade, shade_bar
from tabwb.media.figures.style import INK, MARGIN, NORMAL, RULE, SMALL, text_on
from tabwb.records.errors import UsageError
from tabwb.records.words import plural
from tabwb.report.summaries.naming import namings
from tabwb.report.summaries.naming_profile import confusions, phoneme_rank
from tabwb.tables.table import Column, Table, table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tabwb.media.figures.page import Page
    from tabwb.phonology.batch import Scores
    from tabwb.report.summaries.groups import Grouped

NONE = "∅"
"""Stands for no phoneme: heard for none, an insertion; none heard, a deletion."""
SMALLEST = 5.0
"""Points: the least size of labels."""
COLUMNS = columns(
    Column("target", "Target", "phoneme of the target; empty for an insertion"),
    Column("heard", "Heard", "phoneme that was transcribed; empty for a deletion"),
    Column("n", "N", "how often the alignments have this step", "integer"),
    Column("of", "Of", "how often the target's phoneme occurs; of insertions, all", "integer"),
    Column("value", "Share", "n / of", "number", "share", 2),
)

Steps = Mapping[tuple[str | None, str | None], int]
"""Phoneme of the target and phoneme heard (None where there is none), to their number."""


def confusion_table(steps: Steps, notes: Sequence[str], *, ipa: bool = True) -> Table:
    """Return steps of alignments as the table of the figure."""
    from tabwb.phonology.inventory import IPA

    if not sum(steps.values()):
        raise UsageError("no response has been transcribed", hint="tabwb transcribe, or tabwb name")

    def written(phoneme: str | None) -> str | None:
        return IPA.get(phoneme, phoneme) if ipa and phoneme is not None else phoneme

    of = Counter[str | None]()
    for (target, _), n in steps.items():
        of[target] += n
    given: list[Record] = [
        {"target": written(target), "heard": written(heard), "n": n, "of": of[target],
         "value": n / of[target]}
        for (target, heard), n in sorted(
            steps.items(), key=lambda item: (phoneme_rank(item[0][0]), phoneme_rank(item[0][1]))
        )
        if n
    ]  # fmt: skip
    explained = [*notes[:1], "Number: how often. Shade: share of the target's phoneme."]
    if any(None in step for step, n in steps.items() if n):
        explained.append(
            f"{NONE}: no phoneme heard (a deletion), or none in the target (an insertion; shade: "
            "share of insertions)."
        )
    explained += notes[1:]
    return table_of("confusion", COLUMNS, rows_of(COLUMNS, given), explained)


def corpus_steps(scores: Scores) -> Steps:
    """Return the steps of the alignments of a corpus; silence and noise are left out."""
    costs, counts = scores.costs, scores.step_counts()
    labels: list[str | None] = [*costs.labels, None]
    spoken = [*costs.spoken.tolist(), True]
    return {
        (labels[ref], labels[hyp]): int(counts[ref, hyp])
        for ref in range(len(labels))
        for hyp in range(len(labels))
        if counts[ref, hyp] and spoken[ref] and spoken[hyp]
    }


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    members = (member for group in groups for member in group.group.members if member.trials)
    found = confusions(
        (naming for member in members for naming in namings(member.source)), every_word=True
    )
    notes = [
        "Phonemes of the nearest accepted form (rows) and of the response (columns), aligned by "
        f"features; {plural(found.responses, 'response')}. All transcribed responses count, "
        "including other words (cat for dog).",
        batteries_note(groups),
    ]
    return confusion_table(found.steps, notes, ipa=options["notation"] == "ipa")


def _draw(table: Table, page: Page, options: Options) -> None:
    given = records(table)
    cells = {(record["target"], record["heard"]): record for record in given}
    rows = list(dict.fromkeys(record["target"] for record in given))
    heard = {record["heard"] for record in given}
    # Columns as rows, so that matches lie on a diagonal; then what was heard beside these.
    heads = [name for name in rows if name in heard and name is not None]
    rest = dict.fromkeys(record["heard"] for record in given if record["heard"] is not None)
    heads += [name for name in rest if name not in heads]
    heads += [None] if None in heard else []
    words = [name or NONE for name in (*rows, *heads)]
    left = max(text_width(word, SMALL) for word in words) + 0.24
    each = min((page.width - 2 * MARGIN - left) / len(heads), 0.24)
    widest = max(text_width(name or NONE, SMALL) for name in heads)
    size = max(SMALLEST, min(SMALL, SMALL * (each - 0.015) / max(widest, line_height(SMALL) * 0.8)))
    x = MARGIN + left
    top = MARGIN + line_height(NORMAL) + line_height(size) + 0.05
    page.text(x + each * len(heads) / 2, MARGIN + 0.1, "heard", NORMAL, ha="center")
    middle = top + each * len(rows) / 2
    page.text(MARGIN + 0.02, middle, "target", NORMAL, rotation=90, ha="left", va="center")
    for at, name in enumerate(heads):
        page.text(x + (at + 0.5) * each, top - 0.04, name or NONE, size, ha="center")
    for at, name in enumerate(rows):
        y = top + (at + 0.5) * each
        page.text(x - 0.05, y, name or NONE, size, ha="right", va="center_baseline")
    axes = page.axes(x, top, each * len(heads), each * len(rows), label="confusion")
    same = sum(head is not None and head in rows for head in heads)
    if 0 < same < len(heads):
        axes.axvline(same, color=INK, linewidth=0.8)
    _fill(axes, [[cells.get((row, head)) for head in heads] for row in rows], size, each)
    bottom = top + each * len(rows)
    end = shade_bar(page, x, bottom + 0.1, "share in per cent", undefined=False)
    page.finish(page.caption(end + 0.02))


def _fill(axes: Axes, rows: Sequence[Sequence[Record | None]], points: float, each: float) -> None:
    from matplotlib.patches import Rectangle

    axes.set_xlim(0, len(rows[0]))
    axes.set_ylim(len(rows), 0)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
    style: dict[str, Any] = {"edgecolor": RULE, "linewidth": 0.3}
    for row, cells in enumerate(rows):
        for column, record in enumerate(cells):
            if record is None:
                axes.add_patch(Rectangle((column, row), 1, 1, facecolor="white", **style))
                continue
            colour = shade(record["value"])
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, gid="cell", **style))
            number = str(record["n"])
            if text_width(number, points) <= each - 0.01:
                axes.text(
                    column + 0.5, row + 0.5, number, fontsize=points, ha="center",
                    va="center_baseline", color=text_on(colour), gid="value",
                )  # fmt: skip


FIGURE = FigureKind(
    id="confusion",
    title="Phoneme confusions",
    shows="A matrix: how often each phoneme of the targets was heard as each other phoneme.",
    data="Administrations of pictures named aloud whose responses were transcribed. Of other "
    "transcripts: tabwb phonemes REF HYP --figure FILE.",
    table=_table,
    draw=_draw,
    options=(FigureOption("notation", "of the phonemes", "ipa", ("ipa", "arpabet")),),
    by="administration",
    people=True,
)
