"""Phoneme and feature error rates of a corpus as one JSON document (``tabwb phonemes --json``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabwb.analysis.plain import Json, picked, plain
from tabwb.phonology.batch import (
    QUARTERS,
    ChangedFeature,
    ClassRate,
    Confusion,
    Rate,
    Scores,
    changed_features,
    class_rates,
    confusions,
    rate_of,
)
from tabwb.phonology.corpus import Corpus, TaskB
from tabwb.phonology.labels import LabelSet


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the errors of a corpus lie; of PSST's inventory also classes and changed features."""

    classes: Sequence[ClassRate]
    confusions: Sequence[Confusion]
    changed: Sequence[ChangedFeature]

    @classmethod
    def of(cls, scores: Scores, *, psst: bool = True) -> Tables:
        """Return the tables of the scores of a corpus."""
        confused = confusions(scores)
        if not psst:
            return cls((), confused, ())
        return cls(class_rates(scores), confused, changed_features(confused))


@dataclass(frozen=True, slots=True)
class PhonemeReport:
    """Everything that is known of a corpus.

    Attributes:
        scores: None where there are no transcripts, only labels and predictions.
        task_b, tables, groups: None where not asked for; ``groups`` by column.
        ceiling: a set of labels, and what a flawless transcriber with them would score on the same
            references; None where they reach every phoneme.
        inventory: ``psst`` or ``panphon``.
    """

    corpus: Corpus
    scores: Scores | None
    task_b: TaskB | None = None
    tables: Tables | None = None
    groups: Mapping[str, Sequence[Rate]] | None = None
    ceiling: tuple[LabelSet, Rate] | None = None
    inventory: str = "psst"


def document(report: PhonemeReport) -> Json:
    """Return the report as JSON; ``status`` is ``undefined`` where no reference holds a phoneme."""
    rate = rate_of("", report.scores) if report.scores else Rate("", 0, 0, 0, 0.0, 0)
    return {
        "format": 1,
        "status": "undefined" if rate.per is None else "value",
        **picked(rate, *RATE_KEYS),
        "utterances": list(_utterances(report)),
        "unmapped": dict(report.corpus.unmapped.most_common()),
        "mapped": dict(report.corpus.mapped.most_common()),
        "task_b": None if report.task_b is None else _task_b(report.task_b),
        **dict(_optional(report)),
    }


def _utterances(report: PhonemeReport) -> Iterator[Json]:
    scores = report.scores
    if scores is None:
        return
    features = scores.costs.features
    arrays = (scores.edits.tolist(), scores.phonemes.tolist(), scores.quarters.tolist())
    columns = zip(report.corpus.utterances, *arrays, scores.traces(), strict=True)
    for utterance, edits, phonemes, quarters, trace in columns:
        yield {
            "utterance_id": utterance.id,
            "per_distance": edits,
            "per_length": phonemes,
            "fer_distance": quarters / QUARTERS,
            "fer_length": features * phonemes,
            "trace": [list(step) for step in trace],
        }


def _task_b(classified: TaskB) -> Json:
    return {
        "rule": classified.rule,
        **picked(
            classified.classification,
            *("compared", "tp", "fp", "fn", "tn", "precision", "recall", "specificity"),
            *("f1", "accuracy", "balanced_accuracy"),
        ),
        "predictions": [
            {
                "utterance_id": utterance.id,
                "prompt": utterance.prompt,
                "correctness": utterance.label,
                "prediction": utterance.predicted,
            }
            for utterance in classified.predictions
        ],
    }


def _optional(report: PhonemeReport) -> Iterator[tuple[str, Any]]:
    if report.inventory != "psst":
        yield "inventory", report.inventory
    if report.corpus.missing:
        yield "missing", list(report.corpus.missing)
    if report.corpus.extra:
        yield "extra", list(report.corpus.extra)
    if report.corpus.mapped_said:
        yield "mapped_said", dict(report.corpus.mapped_said.most_common())
    if report.ceiling is not None:
        labels, rate = report.ceiling
        merged = {"labels": labels.name, "merged": dict(labels.merged)}
        yield "ceiling", merged | _rate(rate)
    if report.groups is not None:
        groups = {
            column: [{"name": rate.name, **_rate(rate)} for rate in rates]
            for column, rates in report.groups.items()
        }
        yield "by", groups
    if tables := report.tables:
        yield "classes", [{**plain(row), "error_rate": row.error_rate} for row in tables.classes]
        yield "confusions", [[*row.step, row.count] for row in tables.confusions]
        changes = [(row.change, row.count) for row in tables.changed]
        yield "feature_changes", [[one.feature, one.before, one.after, n] for one, n in changes]


RATE_KEYS = ("per", "fer", "per_distance", "per_length", "fer_distance", "fer_length")


def _rate(rate: Rate) -> Json:
    return picked(rate, "utterances", *RATE_KEYS)
