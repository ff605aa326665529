"""The labels of a model's outputs, from the files next to its weights.

No tokenizer is made: those of phoneme models ask for a program that turns text into phonemes,
which nobody needs in order to read phonemes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tabwb.phonology.inventory import PHONEMES, normalise_label
from tabwb.records.errors import ComponentError

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
