"""Two tables of transcripts as one corpus to score, with missing ids and unmapped labels.

The columns are those of the PSST challenge's scorer: ``utterance_id``, ``transcript`` of the
reference and ``asr_transcript`` of the hypothesis. Task B: :mod:`tabwb.phonology.task_b`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from tabwb.phonology.batch import Scores, score
from tabwb.phonology.costs import CostTable, panphon_costs, psst_costs, segment
from tabwb.phonology.inventory import mapped_letters, parse_arpabet, parse_spoken
from tabwb.phonology.labels import Mapped, best_possible, label_set, map_labels
from tabwb.phonology.tables import severity
from tabwb.phonology.transcripts import Row, Table, named, read_table
from tabwb.records.errors import TabwbError, UsageError

Missing: TypeAlias = Literal["error", "empty", "skip"]
Unmapped: TypeAlias = Literal["drop", "error"]

SEVERITY: Final = "severity"
QUOTIENT: Final = "aq_index"
"""The column of a speaker's aphasia quotient, from which the bands of severity are derived."""
_STANDS_FOR: Final = {SEVERITY: QUOTIENT, "item": "prompt"}
NOT_RECORDED: Final = "not recorded"
LONGEST: Final = 5000
"""Limit of labels in one transcript: the alignment of a longer one takes too long."""


_SILENCE = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Utterance:
    """One utterance of a corpus.

    Attributes:
        id: as in both tables.
        ref_row, hyp_row: its rows; ``hyp_row`` is None where the hypothesis lacks it.
        ref, hyp: phonemes (or segments) with silence; empty where there is no such column.
    """

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

        Raises:
            UsageError: the reference has no such column.
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
        return [NOT_RECORDED if quotient is None else severity(quotient) for quotient in quotients]


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

    Args:
        ref: table of the reference; its labels must be of the inventory.
        hyp: table of the hypothesis.
        labels: what set the hypothesis' labels are of (:mod:`tabwb.phonology.labels`).
        inventory: PSST's 40 phonemes, or any IPA by panphon's features.
        missing: what to do with ids that the hypothesis lacks.
        unmapped: what to do with labels of the hypothesis that have no phoneme.

    Raises:
        TabwbError: with the file, the line, and what is wrong there.
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
