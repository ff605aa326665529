"""Two tables of transcripts as one corpus to score, with missing ids and unmapped labels.

The columns are those of the PSST challenge's scorer: ``utterance_id``, ``transcript`` of the
reference and ``asr_transcript`` of the hypothesis. Task B: :mod:`tabwb.phonology.corpus`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from tabwb.phonology.batch import (
    CostTable,
    Scores,
    panphon_costs,
    psst_costs,
    score,
    segment,
)
from tabwb.phonology.inventory import (
    SILENT,
    mapped_letters,
    parse_arpabet,
    parse_pronunciation,
    parse_spoken,
)
from tabwb.phonology.labels import Mapped, best_possible, label_set, map_labels
from tabwb.phonology.transcripts import Row, Table, named, read_table
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import read_file
from tabwb.records.speakers import AQ, NOT_RECORDED

Missing: TypeAlias = Literal["error", "empty", "skip"]
Unmapped: TypeAlias = Literal["drop", "error"]

SEVERITY: Final = "severity"
QUOTIENT: Final = "aq_index"
"""The column of a speaker's aphasia quotient, from which the bands of severity are derived."""
_STANDS_FOR: Final = {SEVERITY: QUOTIENT, "item": "prompt"}
LONGEST: Final = 5000
"""Limit of labels in one transcript: the alignment of a longer one takes too long."""


_SILENCE = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Utterance:
    """One utterance of a corpus."""

    id: str
    ref_row: Row
    hyp_row: Row | None
    ref: tuple[str, ...]
    hyp: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """References, in their order, with their hypotheses.

    Attributes:
        has_transcripts: whether both tables have a column of them.
        unmapped: labels of the hypothesis without a phoneme, which were dropped.
        missing, extra: ids that only the reference or only the hypothesis has.
        mapped: sounds of references in IPA outside of the 40, each with its phoneme (``ɒ=AA``).
        mapped_said: the same of the hypothesis.
    """

    utterances: tuple[Utterance, ...]
    has_transcripts: bool
    costs: CostTable
    unmapped: Counter[str]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    mapped: Counter[str] = field(default_factory=Counter)
    mapped_said: Counter[str] = field(default_factory=Counter)

    def score(self) -> Scores | None:
        """PER, FER and traces; None where there are no transcripts."""
        if not self.has_transcripts:
            return None
        refs = [utterance.ref for utterance in self.utterances]
        return score(refs, [utterance.hyp for utterance in self.utterances], self.costs)

    def groups(self, column: str) -> list[str]:
        """Return the group of each utterance: a column of the reference, ``severity`` or ``item``.

        Where the reference has no such column, severity is the band of ``aq_index``, the speaker's
        aphasia quotient (PSST, section 3), and the item is its ``prompt``.
        """
        columns = self.utterances[0].ref_row.cells if self.utterances else {}
        banded = column == SEVERITY and column not in columns
        chosen = column if column in columns else _STANDS_FOR.get(column, column)
        if columns and chosen not in columns:
            raise UsageError(f"the reference has no column '{chosen}'", allowed=", ".join(columns))
        rows = [utterance.ref_row for utterance in self.utterances]
        if not banded:
            return [row.cells[chosen] or NOT_RECORDED for row in rows]
        quotients = (row.number(chosen) for row in rows)
        return [NOT_RECORDED if quotient is None else AQ.band(quotient) for quotient in quotients]


def read_corpus(
    ref: Path,
    hyp: Path,
    *,
    labels: str = "arpabet",
    inventory: Literal["psst", "panphon"] = "psst",
    missing: Missing = "error",
    unmapped: Unmapped = "drop",
) -> Corpus:
    """Read a reference and a hypothesis.

    ``missing``, ``unmapped``: what is done with ids that the hypothesis lacks, and with labels that
    have no phoneme.
    """
    ref_table, hyp_table = read_table(ref), read_table(hyp)
    ref_rows, hyp_rows = ref_table.by_id(), hyp_table.by_id()
    lacking = tuple(name for name in ref_rows if name not in hyp_rows)
    if lacking and missing == "error":
        raise TabwbError(
            f"ids of {ref_table.name} are missing: {named(lacking)}",
            where=hyp_table.name,
            hint="--missing empty scores them as silence, --missing skip leaves them out",
        )
    columns = _transcript_columns(ref_table, hyp_table)
    dropped: Counter[str] = Counter()
    mapped: Counter[str] = Counter()
    mapped_said: Counter[str] = Counter()
    utterances = []
    for name, row in ref_rows.items():
        other = hyp_rows.get(name)
        if other is None and missing == "skip":
            continue
        reference: tuple[str, ...] = ()
        hypothesis: tuple[str, ...] = ()
        if columns is not None:
            text = row.cells[columns[0]]
            reference = _read_reference(row, text, inventory)
            if inventory == "psst" and not text.isascii():
                mapped.update(mapped_letters(_SILENCE.sub(" ", text)))
            if other is not None:
                mapped_labels = _read_hypothesis(other, other.cells[columns[1]], labels, inventory)
                if mapped_labels.dropped and unmapped == "error":
                    raise TabwbError(
                        f"labels without a phoneme: {named(mapped_labels.dropped)}",
                        where=other.where,
                    )
                dropped.update(mapped_labels.dropped)
                mapped_said.update(mapped_labels.mapped)
                hypothesis = mapped_labels.phonemes
        utterances.append(Utterance(name, row, other, reference, hypothesis))
    sides = [side for utterance in utterances for side in (utterance.ref, utterance.hyp)]
    costs = psst_costs() if inventory == "psst" else panphon_costs(sides)
    return Corpus(
        tuple(utterances),
        columns is not None,
        costs,
        dropped,
        lacking,
        tuple(name for name in hyp_rows if name not in ref_rows),
        mapped,
        mapped_said,
    )


def ceiling(corpus: Corpus, labels: str) -> Scores | None:
    """Return what a flawless transcriber with these labels would score, or None.

    Returns:
        None where the set has a label for every phoneme, and where there are no transcripts.
    """
    chosen = label_set(labels)
    if not chosen.merged or not corpus.has_transcripts:
        return None
    refs = [utterance.ref for utterance in corpus.utterances]
    return score(refs, [best_possible(ref, chosen) for ref in refs])


def _transcript_columns(ref: Table, hyp: Table) -> tuple[str, str] | None:
    """Return the columns of transcripts; None for tables of Task B alone."""
    heard = "asr_transcript" if "asr_transcript" in hyp else "transcript"
    lacking = "transcript" not in ref and heard not in hyp
    if lacking and "correctness" in ref and "prediction" in hyp:
        return None
    ref.need("transcript")
    if heard not in hyp:
        hyp.need("asr_transcript")
    return "transcript", heard


def _read_reference(row: Row, text: str, inventory: str) -> tuple[str, ...]:
    if inventory == "panphon":
        segments = segment(text)
        if segments.dropped:
            raise TabwbError(
                f"panphon has no features for {named(segments.dropped)}", where=row.where
            )
        return _short_enough(segments.phonemes, row)
    try:
        phonemes = parse_arpabet(text, silent=True) if text.isascii() else parse_spoken(text)
        return _short_enough(phonemes, row)
    except TabwbError as error:
        raise at_row(row, error) from error


def _read_hypothesis(row: Row, text: str, labels: str, inventory: str) -> Mapped:
    mapped = segment(text) if inventory == "panphon" else map_labels(text.split(), labels)
    _short_enough(mapped.phonemes, row)
    return mapped


def _short_enough(phonemes: tuple[str, ...], row: Row) -> tuple[str, ...]:
    if len(phonemes) > LONGEST:
        raise TabwbError(
            f"a transcript of {len(phonemes):,} labels is too long for one utterance",
            where=row.where,
            allowed=f"up to {LONGEST:,}",
        )
    return phonemes


def at_row(row: Row, error: TabwbError) -> TabwbError:
    """Return the error with the place of the row, where it has no place."""
    where = row.where if error.where is None else error.where
    return TabwbError(error.message, where=where, allowed=error.allowed, hint=error.hint)


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

    Without ``accepted`` pronunciations of prompts the column ``prediction`` is taken. None where
    there are neither.
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

    Or JSON, as in the PSST corpus: ``{"dog": ["D AO G", ...], ...}``.
    """
    if path.suffix.lower() == ".json":
        return _accepted_json(path)
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


def read_forms(path: Path) -> dict[str, list[str]]:
    """Return the pronunciations of each prompt as JSON has them: ``{"dog": ["D AO G", ...]}``."""
    try:
        document = json.loads(read_file(path).decode("utf-8-sig"))
    except OSError as error:
        raise TabwbError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise TabwbError(f"is not valid JSON: {error}", where=str(path)) from error
    if not isinstance(document, dict):
        raise TabwbError(
            "is not a list of pronunciations", where=str(path),
            allowed='{"PROMPT": ["D AO G", ...], ...}',
        )  # fmt: skip
    return {
        prompt: [str(form) for form in (forms if isinstance(forms, list) else [forms])]
        for prompt, forms in document.items()
    }


def _accepted_json(path: Path) -> dict[str, list[tuple[str, ...]]]:
    try:
        return {
            prompt.casefold(): [parse_pronunciation(one, beyond="allophones") for one in forms]
            for prompt, forms in read_forms(path).items()
        }
    except TabwbError as error:
        error.where = error.where or str(path)
        raise


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
