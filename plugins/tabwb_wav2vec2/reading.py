"""The labels of a model's outputs; segments and likelihoods of pronunciations by them.

No tokenizer is made: those of phoneme models ask for a program that turns text into phonemes,
which nobody needs in order to read phonemes.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tabwb.phonology.inventory import PHONEMES, SILENT, normalise_label
from tabwb.phonology.labels import label_set, read_label
from tabwb.records.errors import ComponentError
from tabwb.records.speech import Segment
from tabwb_wav2vec2 import ctc

Find = Callable[[str], Path | None]
"""Returns the path of a file of the model, or None."""
LabelKind = Literal["arpabet", "cmu", "espeak-ipa", "timit-61", "timit-39", "words"]
FILES = ("vocab.json", "tokenizer.json", "added_tokens.json", "tokenizer_config.json")
_MARKS = ("pad_token", "bos_token", "eos_token", "word_delimiter_token")
_TIMIT_ONLY = frozenset({"bcl", "dcl", "gcl", "kcl", "pcl", "tcl", "h#", "axr", "ix", "ax-h", "ux"})
_IPA_ONLY = frozenset("ɪʊɛɔəɑʌŋʃʒθðɹɾɝɚɜæɡʔː")
_MOST_LETTERS = 20
_MOST_PHONEMES = 30


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The outputs of a model.

    Attributes:
        labels: of every output; empty where the files name none.
        blank: the output that CTC takes for blank.
        marks: outputs that stand for no sound: padding, beginning, end, a gap between words.
        delimiter: the output that parts words, or None.
    """

    labels: tuple[str, ...]
    blank: int
    marks: frozenset[int] = frozenset()
    delimiter: int | None = None

    @property
    def sounds(self) -> tuple[str, ...]:
        """The labels without marks."""
        return tuple(
            label
            for number, label in enumerate(self.labels)
            if label and number != self.blank and number not in self.marks
        )


def read_vocabulary(find: Find, outputs: int, blank: int, where: str) -> Vocabulary:
    """Read a model's vocabulary from its own files."""
    documents = {name: _document(path) for name in FILES if (path := find(name)) is not None}
    numbers = _numbers(documents, where)
    if not numbers:
        raise ComponentError(
            "holds no vocabulary",
            where=where,
            allowed=f"{FILES[0]} or {FILES[1]} beside the weights",
            hint="labels=psst reads the outputs as PSST's baseline numbers them",
        )
    labels = [""] * outputs
    for label, number in numbers.items():
        if 0 <= number < outputs:
            labels[number] = label
    if sum(map(bool, labels)) < len(numbers) // 2:
        raise ComponentError(
            f"its vocabulary of {len(numbers)} labels does not fit a model of {outputs} outputs",
            where=where,
        )
    marks = _marks(documents)
    numbered = {role: numbers[label] for role, label in marks.items() if label in numbers}
    delimiter = numbered.get("word_delimiter_token", numbers.get("|"))
    pad = numbered.get("pad_token", blank)
    return Vocabulary(
        tuple(labels),
        pad if 0 <= pad < outputs else blank,
        frozenset(numbered.values()) | ({delimiter} if delimiter is not None else frozenset()),
        delimiter,
    )


def label_kind(labels: Iterable[str]) -> LabelKind | None:
    """Return the known set of these labels, or None.

    >>> label_kind(PHONEMES), label_kind("abcdefghijklmnopqrstuvwxyz'")
    ('arpabet', 'words')
    >>> label_kind(("iː", "ɪ", "ə", "b", "d")), label_kind("xyz")
    ('espeak-ipa', None)
    """
    given = {label for label in labels if label}
    lower = {label.lower() for label in given}
    known = {normalise_label(label) for label in given} & set(PHONEMES)
    if len(known) >= _MOST_PHONEMES:
        if lower & _TIMIT_ONLY:
            return "timit-61"
        if not known & {"AO", "ZH"}:
            return "timit-39"
        return "arpabet" if "DX" in known else "cmu"
    if any(set(label) & _IPA_ONLY for label in given):
        return "espeak-ipa"
    letters = {label for label in lower if len(label) == 1 and label.isascii() and label.isalpha()}
    return "words" if len(letters) >= _MOST_LETTERS else None


def _document(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ComponentError(f"cannot be read: {error}", where=str(path)) from error


def _numbers(documents: Mapping[str, Any], where: str) -> dict[str, int]:
    """Return label to output, from every file that has it."""
    numbers: dict[str, int] = {}
    plain = documents.get("vocab.json")
    whole = documents.get("tokenizer.json")
    if isinstance(plain, dict):
        if plain and all(isinstance(entry, dict) for entry in plain.values()):
            raise ComponentError(
                "its vocabulary is one per language",
                where=where,
                allowed="a model of one vocabulary",
                hint="the languages are: " + ", ".join(list(plain)[:12]),
            )
        numbers |= plain
    elif isinstance(whole, dict):
        inner = whole.get("model", {}).get("vocab", {})
        if isinstance(inner, list):
            inner = {entry[0]: number for number, entry in enumerate(inner)}
        numbers |= inner
    if isinstance(whole, dict):
        numbers |= {token["content"]: token["id"] for token in whole.get("added_tokens", ())}
    numbers |= documents.get("added_tokens.json", {})
    added_tokens = documents.get("tokenizer_config.json", {}).get("added_tokens_decoder", {})
    numbers |= {token["content"]: int(number) for number, token in added_tokens.items()}
    return {str(label): int(number) for label, number in numbers.items()}


def _marks(documents: Mapping[str, Any]) -> dict[str, str]:
    """Return label by role, for labels without a sound."""
    configuration = documents.get("tokenizer_config.json", {})
    usual = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    special: dict[str, str] = {}
    for role in _MARKS:
        label = configuration.get(role, usual.get(role))
        content = label.get("content") if isinstance(label, dict) else label
        if isinstance(content, str):
            special[role] = content
    return special


Reading = tuple[str, ...]
SILENCE = SILENT[0]
_NONE = frozenset(("", *SILENT, "[UNK]"))


@dataclass(frozen=True, slots=True)
class Heard:
    """The result of one clip.

    Attributes:
        segments: in time order; silence is a gap between them.
        dropped: labels without a phoneme of ours, with how often each came.
    """

    segments: tuple[Segment, ...]
    dropped: Counter[str]


class Reader:
    """Decodes the outputs of one model."""

    def __init__(self, vocabulary: Vocabulary, labels: str, stride_s: float, beam: int = 1) -> None:
        self.vocabulary = vocabulary
        self.unit: Literal["phonemes", "words"] = "words" if labels == "words" else "phonemes"
        self._stride_s = stride_s
        self._beam = beam
        self._readings = self._read_all(labels)
        self._classes, self._of_reading = self._classify()

    def hear(self, log_probs: ctc.LogProbs) -> Heard:
        """Decode a clip.

        A label that stands for several phonemes gives each an equal share of its time. Confidence
        is the mean probability of the label over its frames. CTC models emit a label for a frame
        or two: times say when a sound was recognised and are not boundaries.

        Args:
            log_probs: shape (frames, outputs), natural logs.
        """
        blank = self.vocabulary.blank
        runs: tuple[ctc.Run, ...] | None = None
        if self._beam > 1:
            runs = ctc.align(log_probs, ctc.beam(log_probs, self._beam, blank), blank)
        if runs is None:
            runs = ctc.greedy(log_probs, blank)
        if self.unit == "words":
            return Heard(tuple(self._words(log_probs, runs)), Counter())
        segments: list[Segment] = []
        dropped: Counter[str] = Counter()
        for run in runs:
            reading = self._readings[run.label]
            if reading is None:
                dropped[self.vocabulary.labels[run.label] or f"output {run.label}"] += 1
                continue
            labels = [label for label in reading if label != SILENCE]
            segments += self._shared(log_probs, run, labels)
        return Heard(tuple(segments), dropped)

    def accepted_likelihood(
        self, log_probs: ctc.LogProbs, forms: Sequence[Reading]
    ) -> float | None:
        """Return the log likelihood of the best accepted form minus that of free decoding.

        Labels that read alike are one class, their probabilities added; what stands for no sound
        is blank. The likelihood of a form is the CTC probability (all paths) of every sequence of
        classes that reads as it; that of free decoding is the CTC probability of the sequence
        that the best class of every frame reads as. Above 0 the form is likelier than what was
        decoded.

        Args:
            log_probs: shape (frames, outputs), natural logs.
            forms: pronunciations in ARPAbet.
        """
        if self.unit == "words" or not forms:
            return None
        merged = self._merged(log_probs)
        free = ctc.log_probability(merged, [run.label for run in ctc.greedy(merged)])
        best = max(self._form(merged, form) for form in forms)
        return best - free if math.isfinite(best) and math.isfinite(free) else None

    def _form(self, merged: ctc.LogProbs, form: Reading) -> float:
        ways = [ctc.log_probability(merged, way) for way in self._ways(form)]
        return float(np.logaddexp.reduce(ways)) if ways else -math.inf

    def _ways(self, form: Reading) -> Iterator[tuple[int, ...]]:
        """Return every sequence of classes of a form."""
        if not form:
            yield ()
            return
        for reading, number in self._of_reading.items():
            if form[: len(reading)] == reading:
                for rest in self._ways(form[len(reading) :]):
                    yield (number, *rest)

    def _merged(self, log_probs: ctc.LogProbs) -> ctc.LogProbs:
        """Return the log probabilities of the classes, blank first: shape (frames, classes)."""
        order = np.argsort(self._classes, kind="stable")
        starts = np.searchsorted(self._classes[order], np.arange(self._classes.max() + 1))
        merged: ctc.LogProbs = np.logaddexp.reduceat(
            np.asarray(log_probs, dtype=np.float64)[:, order], starts, axis=1
        )
        return merged

    def _read_all(self, labels: str) -> tuple[Reading | None, ...]:
        """Return the phonemes of every output: None without a phoneme, empty for no sound."""
        vocabulary = self.vocabulary
        readings: list[Reading | None] = []
        for number, label in enumerate(vocabulary.labels):
            if number == vocabulary.blank or number in vocabulary.marks:
                readings.append(())
            elif labels == "words" or not label:
                readings.append(None)
            else:
                readings.append(read_label(label, label_set(labels)))
        return tuple(readings)

    def _classify(self) -> tuple[np.ndarray, dict[Reading, int]]:
        """Return the class of every output (blank is 0), and the classes of phonemes."""
        of_reading: dict[Reading, int] = {}
        classes: list[int] = []
        count = 1
        for number, reading in enumerate(self._readings):
            sounds = None if reading is None else tuple(p for p in reading if p != SILENCE)
            if number == self.vocabulary.blank or sounds == ():
                classes.append(0)
            elif sounds is not None and sounds in of_reading:
                classes.append(of_reading[sounds])
            else:
                if sounds is not None:
                    of_reading[sounds] = count
                classes.append(count)
                count += 1
        return np.array(classes), of_reading

    def _shared(
        self, log_probs: ctc.LogProbs, run: ctc.Run, phonemes: Sequence[str]
    ) -> Iterator[Segment]:
        start_s = run.first * self._stride_s
        each_s = (run.last + 1 - run.first) * self._stride_s / max(len(phonemes), 1)
        confidence = self._confidence(log_probs, run)
        for number, phoneme in enumerate(phonemes):
            yield Segment(
                phoneme,
                round(start_s + number * each_s, 4),
                round(start_s + (number + 1) * each_s, 4),
                confidence,
            )

    def _words(self, log_probs: ctc.LogProbs, runs: Sequence[ctc.Run]) -> Iterator[Segment]:
        """Return the words of letters between delimiters (``|``, or ``▁`` before a word)."""
        labels = self.vocabulary.labels
        upper = all(label == label.upper() for label in self.vocabulary.sounds if len(label) == 1)
        words: list[list[ctc.Run]] = [[]]
        for run in runs:
            if run.label == self.vocabulary.delimiter or labels[run.label].startswith("▁"):
                words.append([])
            if run.label not in self.vocabulary.marks and labels[run.label].strip("▁") not in _NONE:
                words[-1].append(run)
        for letters in filter(None, words):
            word = "".join(labels[run.label].strip("▁") for run in letters)
            sure = [self._confidence(log_probs, run) for run in letters]
            yield Segment(
                word.lower() if upper else word,
                round(letters[0].first * self._stride_s, 4),
                round((letters[-1].last + 1) * self._stride_s, 4),
                round(sum(sure) / len(sure), 4),
            )

    def _confidence(self, log_probs: ctc.LogProbs, run: ctc.Run) -> float:
        frames = np.asarray(log_probs[run.first : run.last + 1, run.label], dtype=np.float64)
        return round(float(np.exp(frames).mean()), 4)
