"""PSST's task B: whether an accepted pronunciation was said, and how well that is predicted.

Source: PSST, sections 5.1 and 5.2. The columns are those of the PSST challenge: ``prompt`` and
``correctness`` of the reference, ``prediction`` of the hypothesis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from tabwb.phonology.corpus import Corpus, Utterance, at_row
from tabwb.phonology.inventory import SILENT, parse_pronunciation
from tabwb.phonology.transcripts import read_table
from tabwb.records.errors import TabwbError

Match: TypeAlias = Literal["paper", "code"]
"""``paper``: silence and noise are removed first (section 5.2); ``code``: they interrupt, as in the
program that was published."""


def says_one_of(
    transcript: Sequence[str], accepted: Iterable[Sequence[str]], match: Match = "paper"
) -> bool:
    """Return whether a transcript contains an accepted pronunciation without interruption.

    >>> says_one_of("AH K AE T S".split(), ["K AE T".split()])
    True
    >>> broken = "K AE <spn> T".split()
    >>> says_one_of(broken, ["K AE T".split()]), says_one_of(broken, ["K AE T".split()], "code")
    (True, False)
    """
    labels = tuple(transcript)
    if match == "paper":
        labels = tuple(label for label in labels if label not in SILENT)
    return any(
        form and labels[at : at + len(form)] == form
        for form in map(tuple, accepted)
        for at in range(len(labels) - len(form) + 1)
    )


@dataclass(frozen=True, slots=True)
class Classification:
    """Predictions of *correct* against a person's labels; a measure with denominator 0 is None."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Classification:
        """Count (label, prediction) pairs.

        >>> Classification.of([(True, True), (False, True), (True, True)])
        Classification(tp=2, fp=1, fn=0, tn=0)
        """
        every = list(pairs)
        return cls(
            tp=every.count((True, True)),
            fp=every.count((False, True)),
            fn=every.count((True, False)),
            tn=every.count((False, False)),
        )

    @property
    def compared(self) -> int:
        """How many responses have a label and a prediction."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def precision(self) -> float | None:
        """TP / (TP + FP)."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """TP / (TP + FN), also called sensitivity."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float | None:
        """TN / (TN + FP)."""
        return _ratio(self.tn, self.tn + self.fp)

    @property
    def f1(self) -> float | None:
        """2 TP / (2 TP + FP + FN)."""
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def accuracy(self) -> float | None:
        """(TP + TN) / all."""
        return _ratio(self.tp + self.tn, self.compared)

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean of recall and specificity; undefined where either is."""
        if self.recall is None or self.specificity is None:
            return None
        return (self.recall + self.specificity) / 2


def _ratio(above: int, below: int) -> float | None:
    return above / below if below else None


Accepted: TypeAlias = Mapping[str, Sequence[tuple[str, ...]]]
"""Prompt, lower case, to its accepted pronunciations."""

Rule: TypeAlias = Literal["correct-any, paper", "correct-any, code", "column prediction"]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What Task B says of one utterance; ``label`` and ``predicted`` are None where not given."""

    id: str
    prompt: str | None
    label: bool | None
    predicted: bool | None


@dataclass(frozen=True, slots=True)
class TaskB:
    """Task B over a corpus, classified over those that have a label and a prediction."""

    rule: Rule
    predictions: tuple[Prediction, ...]
    classification: Classification


def task_b(corpus: Corpus, accepted: Accepted | None, match: Match = "paper") -> TaskB | None:
    """Return task B from accepted pronunciations or from the hypothesis' own predictions.

    Args:
        corpus: with a column ``correctness`` of a person's labels in its reference.
        accepted: pronunciations of each prompt; None to take the column ``prediction``.
        match: how silence between phonemes is taken.

    Returns:
        None where nothing was asked for: no pronunciations, and no predictions with labels.

    Raises:
        TabwbError: pronunciations are given, but there are no transcripts, no prompts, or a prompt
            without a pronunciation.
    """
    predictions = []
    for utterance in corpus.utterances:
        row, other = utterance.ref_row, utterance.hyp_row
        label = row.truth("correctness") if "correctness" in row.cells else None
        prompt = row.cells.get("prompt")
        if prompt is None and other is not None:
            prompt = other.cells.get("prompt")
        predicted: bool | None = None
        if accepted is not None:
            if not corpus.has_transcripts:
                raise TabwbError("accepted pronunciations need transcripts to be looked for in")
            predicted = says_one_of(utterance.hyp, _forms(utterance, prompt, accepted), match)
        elif other is not None and "prediction" in other.cells:
            predicted = other.truth("prediction")
        predictions.append(Prediction(utterance.id, prompt, label, predicted))
    pairs = [
        (prediction.label, prediction.predicted)
        for prediction in predictions
        if prediction.label is not None and prediction.predicted is not None
    ]
    if accepted is None and not pairs:
        return None
    by_match: Rule = "correct-any, paper" if match == "paper" else "correct-any, code"
    rule: Rule = "column prediction" if accepted is None else by_match
    return TaskB(rule, tuple(predictions), Classification.of(pairs))


def read_accepted(path: Path) -> dict[str, list[tuple[str, ...]]]:
    """Read a table of prompts with an accepted ``pronunciation`` in each row, ARPAbet or IPA.

    Raises:
        TabwbError: with the file, the line, and what is wrong there.
    """
    table = read_table(path)
    table.need("prompt", "pronunciation")
    pronunciations: dict[str, list[tuple[str, ...]]] = {}
    for row in table.rows:
        if not row.cells["prompt"]:
            raise TabwbError("'prompt' is empty", where=row.where)
        try:
            phonemes = parse_pronunciation(row.cells["pronunciation"], beyond="allophones")
        except TabwbError as error:
            raise at_row(row, error) from error
        pronunciations.setdefault(row.cells["prompt"].casefold(), []).append(phonemes)
    if not pronunciations:
        raise TabwbError("there is no pronunciation", where=table.name)
    return pronunciations


def _forms(
    utterance: Utterance, prompt: str | None, accepted: Accepted
) -> Sequence[tuple[str, ...]]:
    if prompt is None:
        raise TabwbError(
            "there is no column 'prompt' to look accepted pronunciations up with",
            where=utterance.ref_row.where,
        )
    forms = accepted.get(prompt.casefold())
    if forms is None:
        raise TabwbError(
            f"no pronunciation is accepted for the prompt '{prompt}'",
            where=utterance.ref_row.where,
            hint="add a row with this prompt to the accepted pronunciations",
        )
    return forms
