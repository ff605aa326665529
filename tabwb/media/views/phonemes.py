"""Phoneme and feature error rates as tables for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.analysis.measures import PHONEME_MEASURES
from tabwb.analysis.statistics.phonemes import PhonemeReport
from tabwb.media.terminal import MINIMUM_WIDTH, print_view, table
from tabwb.media.wording import figure
from tabwb.phonology.batch import PANPHON_LIMITS, SEVERITIES, ClassRate, Confusion, Rate, rate_of
from tabwb.phonology.corpus import QUOTIENT, SEVERITY, TaskB
from tabwb.phonology.distance import Step, feature_changes
from tabwb.phonology.inventory import FEATURE_TABLE, IPA
from tabwb.phonology.transcripts import named
from tabwb.records.words import NONE, plural

PER, FER = PHONEME_MEASURES
UNDEFINED = "undefined"
_NOBODY = "·"
"""Stands in an alignment where one side has nothing."""
_HEADS: tuple[str, ...] = ("ref ", "hyp ", "cost")


def print_report(report: PhonemeReport, *, trace: bool = False, top: int = 10) -> None:
    """Print rates with their fractions, and where the errors lie."""
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
    if found := report.tables:
        if found.classes:
            yield _class_table(found.classes)
        if found.confusions:
            title = "most frequent errors" + _cut(len(found.confusions), top)
            yield _grid(title, map(_error, found.confusions[:top]))
        if found.changed:
            title = "features that changed" + _cut(len(found.changed), top)
            yield _grid(title, ((f"{x.count}x", str(x.change)) for x in found.changed[:top]))
    if report.task_b is not None:
        yield _task_b_table(report.task_b)


def _rates(rate: Rate) -> Iterator[RenderableType]:
    made = Table.grid(padding=(0, 2))
    errors = f"{plural(rate.per_distance, 'error')} of {plural(rate.per_length, 'phoneme')}"
    features = f"{_features(rate.fer_distance)} of {plural(rate.fer_length, 'feature')}"
    for measure, share, of in ((PER, rate.per, errors), (FER, rate.fer, features)):
        made.add_row(Text(measure.title, style="bold"), Text(_percent(share), style="bold"), of)
    yield made
    yield _dim(f"{plural(rate.utterances, 'utterance')}; rates are over the corpus, no means")
    if rate.per is None:
        yield _dim("undefined: no reference holds a phoneme")


def _remarks(report: PhonemeReport) -> Iterator[RenderableType]:
    corpus = report.corpus
    if corpus.missing:
        silent = any(row.hyp_row is None for row in corpus.utterances)
        how = "scored as silence" if silent else "left out"
        yield _dim(f"missing in the hypothesis, {how}: {named(corpus.missing)}")
    if corpus.extra:
        yield _dim(f"not in the reference, left out: {named(corpus.extra)}")
    if corpus.unmapped:
        total, labels = plural(corpus.unmapped.total(), "label"), _counted(corpus.unmapped)
        yield Text(f"{total} without a phoneme, dropped: {labels}", style="yellow")
    sides = (("reference", corpus.mapped), ("hypothesis", corpus.mapped_said))
    for side, counts in sides:
        if counts:
            total = plural(counts.total(), "sound")
            yield _dim(f"{total} of the {side} outside of the 40, mapped: {_counted(counts)}")
    empty = sum(not row.ref for row in corpus.utterances) if report.scores is not None else 0
    if empty:
        words = "without a rate, insertions count in the corpus"
        yield _dim(f"{plural(empty, 'empty reference')}: {words}")
    if report.inventory == "panphon":
        yield Text(PANPHON_LIMITS, style="yellow")
    if report.ceiling is not None:
        own, rate = report.ceiling
        pairs = own.merged.items()
        merged = ", ".join(f"{phoneme} is written {label}" for phoneme, label in pairs)
        yield Text(
            f"These labels cannot tell all phonemes: {merged}. A flawless transcriber would have "
            f"PER {_percent(rate.per)} and FER {_percent(rate.fer)}.",
            style="yellow",
        )


def _counted(labels: Counter[str]) -> str:
    return named(f"{label} {count}" for label, count in labels.most_common())


def _group_table(column: str, rates: Sequence[Rate], top: int) -> Table:
    if column == SEVERITY:
        bands = [name for name, _ in reversed(SEVERITIES)]
        places = {name: place for place, name in enumerate(bands)}
        order = sorted(rates, key=lambda rate: places.get(rate.name, len(places)))
    else:
        order = sorted(rates, key=lambda rate: (rate.per is None, -(rate.per or 0.0)))
    title = f"by {column}{_cut(len(rates), top)}"
    made = table("PER", "", "FER", "utterances", title=title)
    for rate in order[:top]:
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
    for rate in classes:
        counts = (rate.substituted, rate.kept_class, rate.deleted, rate.inserted)
        made.add_row(
            rate.name,
            _percent(rate.error_rate),
            f"{rate.substituted + rate.deleted}/{rate.phonemes}",
            *map(str, counts),
            _features(rate.fer_distance),
        )
    return made


def _error(confusion: Confusion) -> tuple[RenderableType, ...]:
    step, (ref, hyp) = confusion.step, map(_shown, confusion.step[1:3])
    return f"{confusion.count}x", ref, "→", hyp, f"{step.cost:g}", _dim(_what_changed(step))


def _task_b_table(task_b: TaskB) -> RenderableType:
    counts = task_b.classification
    rows = (
        ("", "labelled right", "labelled wrong"),
        ("predicted right", f"{counts.tp}", f"{counts.fp}"),
        ("predicted wrong", f"{counts.fn}", f"{counts.tn}"),
    )
    names = ("F1", "precision", "recall", "specificity", "accuracy", "balanced accuracy")
    measures = [(name, getattr(counts, name.lower().replace(" ", "_"))) for name in names]
    lines = [f"{name} {UNDEFINED if x is None else figure(x, 3)}" for name, x in measures]
    left = len(task_b.predictions) - counts.compared
    title = f"was an accepted word said ({task_b.rule})"
    parts: list[RenderableType] = [_grid(title, rows), Text("  ".join(lines))]
    if left:
        parts.append(_dim(f"{plural(left, 'utterance')} without a label or a prediction"))
    return Group(*parts)


def _traces(report: PhonemeReport) -> Iterator[RenderableType]:
    scores = report.scores
    if scores is None:
        return
    for k, (row, trace) in enumerate(zip(report.corpus.utterances, scores.traces(), strict=True)):
        rate = rate_of("", scores.some([k]))
        yield Text.assemble(
            (row.id, "bold"),
            f"   PER {rate.per_distance}/{rate.per_length}"
            f"   FER {_features(rate.fer_distance)}/{rate.fer_length}",
        )
        yield from _alignment(trace)
        yield Text()


def _alignment(trace: Sequence[Step]) -> Iterator[Text]:
    lines = _HEADS
    for step in trace:
        cost = "" if step.op == "EQ" else f"{step.cost:g}"
        cells = (step.ref or _NOBODY, step.hyp or _NOBODY, cost)
        width = max(map(len, cells))
        if len(lines[0]) + 1 + width > MINIMUM_WIDTH:
            yield from _lines(*lines)
            lines = _HEADS
        lines = tuple(f"{line} {cell:<{width}}" for line, cell in zip(lines, cells, strict=True))
    yield from _lines(*lines)


def _lines(ref: str, hyp: str, cost: str) -> Iterator[Text]:
    yield Text(f"  {ref.rstrip()}")
    yield Text(f"  {hyp.rstrip()}")
    if cost.rstrip() != "cost":
        yield Text(f"  {cost.rstrip()}", style="dim")


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
    return UNDEFINED if rate is None else PER.column.format(rate)


def _features(distance: float) -> str:
    return f"{distance:,.2f}".rstrip("0").rstrip(".")


def _grid(title: str, rows: Iterable[Sequence[RenderableType]]) -> RenderableType:
    made = Table.grid(padding=(0, 2))
    for row in rows:
        made.add_row(*row)
    return Group(Text(title, style="bold"), made)


def _cut(rows: int, top: int) -> str:
    return f", {top} of {rows}" if rows > top else ""


def _dim(text: str) -> Text:
    return Text(text or NONE, style="dim")
