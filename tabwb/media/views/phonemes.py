"""Phoneme and feature error rates as tables for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.text import Text

from tabwb.analysis.measures import PHONEME_MEASURES
from tabwb.analysis.plain import picked, renamed
from tabwb.analysis.statistics.phonemes import PhonemeReport
from tabwb.media.terminal import MINIMUM_WIDTH, print_view
from tabwb.media.views.parts import Row, rows_view
from tabwb.media.wording import figure
from tabwb.phonology.batch import PANPHON_LIMITS, ClassRate, Confusion, Rate, rate_of
from tabwb.phonology.corpus import QUOTIENT, SEVERITY, TaskB
from tabwb.phonology.distance import Step, feature_changes
from tabwb.phonology.inventory import FEATURE_TABLE, IPA
from tabwb.phonology.transcripts import named
from tabwb.records.speakers import AQ
from tabwb.records.words import NONE, plural
from tabwb.tables.table import columns_of

PER, FER = PHONEME_MEASURES
COLUMNS = (
    *(replace(one.column, title=one.id.upper()) for one in PHONEME_MEASURES),
    replace(PER.column, name="rate", title="Rate", meaning="substituted and missing, of all"),
    *columns_of("""
        name text Name | of the group, or of the class
        errors text Errors | of phonemes
        utterances integer Utterances | number
        replaced integer Replaced | phonemes
        kept integer Kept | replaced by one of the class
        missing integer Missing | phonemes
        extra integer Extra | phonemes
        cost text Cost | feature distance
        count integer N | how often
        ref text Reference | phoneme
        hyp text Heard | phoneme
        change text What changed | features
        predicted text Predicted | whether an accepted word was said
        right integer Labelled right | utterances
        wrong integer Labelled wrong | utterances
        """),
)
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
    yield Text()
    yield from _sections(report, top)


def _sections(report: PhonemeReport, top: int) -> Iterator[RenderableType]:
    for column, rates in (report.groups or {}).items():
        yield _table(f"by {column}", "name per errors fer utterances", _groups(column, rates), top)
        if column == SEVERITY:
            words = f"bands of {QUOTIENT}, as it was recorded; nothing here measures severity"
            yield _dim(f"{words}\n")
    if found := report.tables:
        shown = "name rate errors replaced kept missing extra cost"
        yield _table("by class of phoneme", shown, list(map(_class, found.classes)))
        confused = list(map(_error, found.confusions))
        yield _table("most frequent errors", "count ref hyp cost change", confused, top)
        changed = [{"count": one.count, "change": str(one.change)} for one in found.changed]
        yield _table("features that changed", "count change", changed, top)
    if report.task_b is not None:
        yield from _task_b(report.task_b)


def _table(title: str, shown: str, rows: Sequence[Row], top: int | None = None) -> RenderableType:
    title += f", {top} of {len(rows)}" if top is not None and len(rows) > top else ""
    return rows_view(title, shown, COLUMNS, rows[:top]) if rows else Group()


def _rates(rate: Rate) -> Iterator[RenderableType]:
    errors = f"{plural(rate.per_distance, 'error')} of {plural(rate.per_length, 'phoneme')}"
    features = f"{_features(rate.fer_distance)} of {plural(rate.fer_length, 'feature')}"
    for measure, share, of in ((PER, rate.per, errors), (FER, rate.fer, features)):
        yield Text.assemble((f"{measure.title}  {_percent(share)}", "bold"), f"  {of}")
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


def _groups(column: str, rates: Sequence[Rate]) -> list[Row]:
    if column == SEVERITY:
        bands = [name for name, _ in AQ.bands]
        places = {name: place for place, name in enumerate(bands)}
        order = sorted(rates, key=lambda rate: places.get(rate.name, len(places)))
    else:
        order = sorted(rates, key=lambda rate: (rate.per is None, -(rate.per or 0.0)))
    return [
        {**picked(rate, "name", "per", "fer", "utterances"),
         "errors": f"{rate.per_distance}/{rate.per_length}"} for rate in order
    ]  # fmt: skip


def _class(rate: ClassRate) -> Row:
    return {
        **renamed(rate, "name rate=error_rate replaced=substituted kept=kept_class"),
        **renamed(rate, "missing=deleted extra=inserted"),
        "errors": f"{rate.substituted + rate.deleted}/{rate.phonemes}",
        "cost": _features(rate.fer_distance),
    }


def _error(confusion: Confusion) -> Row:
    step, (ref, hyp) = confusion.step, map(_shown, confusion.step[1:3])
    words = {"ref": ref, "hyp": hyp, "cost": f"{step.cost:g}", "change": _what_changed(step)}
    return {"count": confusion.count, **words}


def _task_b(task_b: TaskB) -> Iterator[RenderableType]:
    counts = task_b.classification
    rows = [{"predicted": "right", "right": counts.tp, "wrong": counts.fp},
            {"predicted": "wrong", "right": counts.fn, "wrong": counts.tn}]  # fmt: skip
    yield _table(f"was an accepted word said ({task_b.rule})", "predicted right wrong", rows)
    names = ("F1", "precision", "recall", "specificity", "accuracy", "balanced accuracy")
    measures = [(name, getattr(counts, name.lower().replace(" ", "_"))) for name in names]
    lines = [f"{name} {UNDEFINED if x is None else figure(x, 3)}" for name, x in measures]
    yield Text("  ".join(lines))
    if left := len(task_b.predictions) - counts.compared:
        yield _dim(f"{plural(left, 'utterance')} without a label or a prediction")


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


def _dim(text: str) -> Text:
    return Text(text or NONE, style="dim")
