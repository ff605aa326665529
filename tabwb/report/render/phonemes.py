"""Phoneme and feature error rates as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.phonology.corpus import QUOTIENT, SEVERITY
from tabwb.phonology.distance import Step, feature_changes
from tabwb.phonology.inventory import FEATURE_TABLE, IPA
from tabwb.phonology.tables import SEVERITIES, ChangedFeature, ClassRate, Confusion, Rate, rate_of
from tabwb.phonology.task_b import TaskB
from tabwb.phonology.transcripts import named
from tabwb.records.words import plural
from tabwb.report.measures import NONE, PHONEME_MEASURES
from tabwb.report.render.printing import MINIMUM_WIDTH, print_view, table
from tabwb.report.render.wording import figure
from tabwb.report.summaries.phonemes import PhonemeReport

PER, FER = PHONEME_MEASURES
UNDEFINED = "undefined"
_NOBODY = "·"
"""Stands in an alignment where one side has nothing."""


def print_report(report: PhonemeReport, *, trace: bool = False, top: int = 10) -> None:
    """Print rates with their fractions, and where the errors lie.

    Args:
        report: of a corpus.
        trace: whether each utterance's alignment is printed before them.
        top: how many rows the tables of confusions and groups have at most.
    """
    if trace:
        print_view(Group(*_traces(report)))
    print_view(Group(*_parts(report, top)))


def _parts(report: PhonemeReport, top: int) -> Iterator[RenderableType]:
    if report.scores is not None:
        yield from _rates(rate_of("", report.scores))
    yield from _remarks(report)
    for section in _sections(report, top):
        yield Text()
        yield section


def _sections(report: PhonemeReport, top: int) -> Iterator[RenderableType]:
    for column, rates in (report.groups or {}).items():
        yield _group_table(column, rates, top)
    if report.tables is not None:
        if report.tables.classes:
            yield _class_table(report.tables.classes)
        if report.tables.confusions:
            yield _confusion_table(report.tables.confusions, top)
        if report.tables.changed:
            yield _changed_table(report.tables.changed, top)
    if report.task_b is not None:
        yield _task_b_table(report.task_b)


def _rates(rate: Rate) -> Iterator[RenderableType]:
    made = Table.grid(padding=(0, 2))
    made.add_row(
        Text(PER.title, style="bold"),
        Text(_percent(rate.per), style="bold"),
        f"{plural(rate.per_distance, 'error')} of {plural(rate.per_length, 'phoneme')}",
    )
    made.add_row(
        Text(FER.title, style="bold"),
        Text(_percent(rate.fer), style="bold"),
        f"{_features(rate.fer_distance)} of {plural(rate.fer_length, 'feature')}",
    )
    yield made
    yield _dim(f"{plural(rate.utterances, 'utterance')}; rates are over the corpus, no means")
    if rate.per is None:
        yield _dim("undefined: no reference holds a phoneme")


def _remarks(report: PhonemeReport) -> Iterator[RenderableType]:
    corpus = report.corpus
    if corpus.missing:
        how = "scored as silence" if _scored_all(report) else "left out"
        yield _dim(f"missing in the hypothesis, {how}: {named(corpus.missing)}")
    if corpus.extra:
        yield _dim(f"not in the reference, left out: {named(corpus.extra)}")
    if corpus.unmapped:
        found = (f"{label} {count}" for label, count in corpus.unmapped.most_common())
        total = plural(sum(corpus.unmapped.values()), "label")
        yield Text(f"{total} without a phoneme, dropped: {named(found)}", style="yellow")
    if corpus.mapped:
        found = (f"{mapping} {count}" for mapping, count in corpus.mapped.most_common())
        total = plural(sum(corpus.mapped.values()), "sound")
        yield _dim(f"{total} of the reference outside of the 40, mapped: {named(found)}")
    empty = sum(not one.ref for one in corpus.utterances) if report.scores is not None else 0
    if empty:
        yield _dim(
            f"{plural(empty, 'empty reference')}: without a rate, insertions count in the corpus"
        )
    if report.inventory == "panphon":
        from tabwb.phonology.panphon_inventory import LIMITS

        yield Text(LIMITS, style="yellow")
    if report.ceiling is not None:
        merged = ", ".join(
            f"{one} is written {other}" for one, other in report.ceiling.labels.merged.items()
        )
        rate = report.ceiling.rate
        yield Text(
            f"These labels cannot tell all phonemes: {merged}. A flawless transcriber would have "
            f"PER {_percent(rate.per)} and FER {_percent(rate.fer)}.",
            style="yellow",
        )


def _scored_all(report: PhonemeReport) -> bool:
    return any(one.hyp_row is None for one in report.corpus.utterances)


def _group_table(column: str, rates: Sequence[Rate], top: int) -> Table:
    bands = [name for name, _ in reversed(SEVERITIES)]
    if column == SEVERITY:
        order = sorted(rates, key=lambda rate: _place(rate.name, bands))
    else:
        order = sorted(rates, key=lambda rate: (rate.per is None, -(rate.per or 0.0)))
    shown = order[:top]
    title = f"by {column}" + (f", {top} of {len(rates)}" if len(rates) > top else "")
    made = table("PER", "", "FER", "utterances", first="", title=title)
    for rate in shown:
        made.add_row(
            rate.name,
            _percent(rate.per),
            f"{rate.per_distance}/{rate.per_length}",
            _percent(rate.fer),
            str(rate.utterances),
        )
    if column == SEVERITY:
        made.caption = f"bands of {QUOTIENT}, as it was recorded; nothing here measures severity"
        made.caption_justify = "left"
    return made


def _class_table(classes: Sequence[ClassRate]) -> Table:
    made = table(
        "errors", "", "replaced", "kept", "missing", "extra", "cost",
        title="by class of phoneme",
    )  # fmt: skip
    for each in classes:
        made.add_row(
            each.name,
            _percent(each.error_rate),
            f"{each.substituted + each.deleted}/{each.phonemes}",
            str(each.substituted),
            str(each.kept_class),
            str(each.deleted),
            str(each.inserted),
            _features(each.fer_distance),
        )
    return made


def _confusion_table(found: Sequence[Confusion], top: int) -> RenderableType:
    made = Table.grid(padding=(0, 2))
    for each in found[:top]:
        made.add_row(
            f"{each.count}x",
            _shown(each.step.ref),
            "→",
            _shown(each.step.hyp),
            f"{each.step.cost:g}",
            _dim(_what_changed(each.step)),
        )
    return _titled("most frequent errors" + _cut(len(found), top), made)


def _changed_table(changed: Sequence[ChangedFeature], top: int) -> RenderableType:
    made = Table.grid(padding=(0, 2))
    for each in changed[:top]:
        made.add_row(f"{each.count}x", str(each.change))
    return _titled("features that changed" + _cut(len(changed), top), made)


def _task_b_table(found: TaskB) -> RenderableType:
    counts = found.classification
    made = Table.grid(padding=(0, 2))
    made.add_row("", "labelled right", "labelled wrong")
    made.add_row("predicted right", f"{counts.tp}", f"{counts.fp}")
    made.add_row("predicted wrong", f"{counts.fn}", f"{counts.tn}")
    measures = (
        ("F1", counts.f1),
        ("precision", counts.precision),
        ("recall", counts.recall),
        ("specificity", counts.specificity),
        ("accuracy", counts.accuracy),
        ("balanced accuracy", counts.balanced_accuracy),
    )
    lines = [f"{name} {UNDEFINED if x is None else figure(x, 3)}" for name, x in measures]
    left = len(found.predictions) - counts.compared
    title = f"was an accepted word said ({found.rule})"
    parts: list[RenderableType] = [_titled(title, made), Text("  ".join(lines))]
    if left:
        parts.append(_dim(f"{plural(left, 'utterance')} without a label or a prediction"))
    return Group(*parts)


def _traces(report: PhonemeReport) -> Iterator[RenderableType]:
    scores = report.scores
    if scores is None:
        return
    for k, (one, trace) in enumerate(zip(report.corpus.utterances, scores.traces(), strict=True)):
        rate = rate_of("", scores.some([k]))
        yield Text.assemble(
            (one.id, "bold"),
            f"   PER {rate.per_distance}/{rate.per_length}"
            f"   FER {_features(rate.fer_distance)}/{rate.fer_length}",
        )
        yield from _alignment(trace)
        yield Text()


def _alignment(trace: Sequence[Step]) -> Iterator[Text]:
    """Yield reference, hypothesis and costs below each other, broken at the width."""
    rows: list[list[str]] = [["ref "], ["hyp "], ["cost"]]
    width = 4
    for step in trace:
        cells = (
            step.ref or _NOBODY,
            step.hyp or _NOBODY,
            f"{step.cost:g}" if step.op != "EQ" else "",
        )
        wide = max(map(len, cells)) + 1
        if width + wide > MINIMUM_WIDTH:
            yield from _lines(rows)
            rows, width = [["ref "], ["hyp "], ["cost"]], 4
        for row, cell in zip(rows, cells, strict=True):
            row.append(f" {cell:<{wide - 1}}")
        width += wide
    yield from _lines(rows)


def _lines(rows: Sequence[Sequence[str]]) -> Iterator[Text]:
    for row, style in zip(rows, ("", "", "dim"), strict=True):
        line = "".join(row).rstrip()
        if style != "dim" or line != "cost":
            yield Text("  " + line, style=style)


def _shown(phoneme: str | None) -> str:
    if phoneme is None:
        return _NOBODY
    return f"{phoneme} {IPA[phoneme]}" if phoneme in IPA else phoneme


def _what_changed(step: Step) -> str:
    if step.ref is None:
        return "inserted"
    if step.hyp is None:
        return "missing"
    if step.ref not in FEATURE_TABLE or step.hyp not in FEATURE_TABLE:
        return ""
    changes = [str(change) for change in feature_changes(step.ref, step.hyp)]
    return ", ".join(changes[:3]) + (f", and {len(changes) - 3} more" if len(changes) > 3 else "")


def _percent(rate: float | None) -> str:
    return UNDEFINED if rate is None else PER.format(rate)


def _features(distance: float) -> str:
    """Return a distance in features, exactly: quarters have two places at most."""
    return f"{distance:,.2f}".rstrip("0").rstrip(".")


def _titled(title: str, made: Table) -> RenderableType:
    """Return a table under a title that may be wider than it."""
    return Group(Text(title, style="bold"), made)


def _place(name: str, names: Sequence[str]) -> int:
    return names.index(name) if name in names else len(names)


def _cut(rows: int, top: int) -> str:
    return f", {top} of {rows}" if rows > top else ""


def _dim(text: str) -> Text:
    return Text(text or NONE, style="dim")
