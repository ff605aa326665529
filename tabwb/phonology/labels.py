"""Labels of other transcribers (eSpeak's IPA, TIMIT's, CMU's) mapped to the 40 phonemes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Final, Literal, TypeAlias

from tabwb.phonology.inventory import (
    IPA_READINGS,
    MAPPED,
    PHONEMES,
    SILENT,
    normalise_label,
    parse_ipa,
)
from tabwb.records.errors import TabwbError

LabelSetName: TypeAlias = Literal["arpabet", "cmu", "espeak-ipa", "timit-61", "timit-39"]
Reading: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelSet:
    """A set of labels and what each is read as.

    Attributes:
        name, title: for options and metadata, and for people.
        readings: label to phonemes (or silence); empty for a label that is ignored without being
            counted: a glottal stop, a blank of CTC.
        merged: phonemes without their own label, and the phoneme that their label is read as.
        fold: whether labels are compared without case.
    """

    name: LabelSetName
    title: str
    readings: Mapping[str, Reading]
    merged: Mapping[str, str]
    fold: bool = True


@dataclass(frozen=True, slots=True)
class Mapped:
    """Labels read as phonemes (and silence), and how often each label had none."""

    phonemes: tuple[str, ...]
    dropped: Counter[str]
    mapped: Counter[str] = field(default_factory=Counter)


_EXACT: Final[Mapping[str, Reading]] = {each: (each,) for each in PHONEMES + SILENT}

_BESIDE: Final[Mapping[str, Reading]] = {
    **dict.fromkeys(("", "|", "<pad>", "<s>", "</s>", "[PAD]", "<blank>", "<eps>"), ()),
    **{each: (each,) for each in SILENT},
    **dict.fromkeys(("sil", "sp"), ("<sil>",)),
    **dict.fromkeys(("spn", "nsn"), ("<spn>",)),
    "[UNK]": ("<unk>",),
}
"""Labels of other vocabularies that are not sounds: marks of CTC models, silence and noise."""

# Lee & Hon 1989 (IEEE Trans. ASSP 37) fold 61 labels to 39; what they fold beyond our 40 is kept
# apart here. Closures and pauses are silence (PSST, section 4.3), q is our removed glottal stop.
# Syllabic consonants are written as PSST and the CMU dictionary write them, with AH. [ours]
_TIMIT_61: Final[Mapping[str, Reading]] = {
    **{each.lower(): (each,) for each in PHONEMES},
    **dict.fromkeys(("bcl", "dcl", "gcl", "kcl", "pcl", "tcl"), ("<sil>",)),
    **dict.fromkeys(("h#", "pau", "epi"), ("<sil>",)),
    "q": (),
    "ax": ("AH",), "ax-h": ("AH",), "axr": ("ER",), "ix": ("IH",), "ux": ("UW",), "hv": ("HH",),
    "nx": ("N",), "el": ("AH", "L"), "em": ("AH", "M"), "en": ("AH", "N"), "eng": ("AH", "NG"),
}  # fmt: skip
_TIMIT_39_MERGED: Final[Mapping[str, str]] = {"AO": "AA", "ZH": "SH"}
_CMU_MERGED: Final[Mapping[str, str]] = {"DX": "D"}
_TIMIT_39: Final[Mapping[str, Reading]] = {
    each.lower(): (each,) for each in PHONEMES if each not in _TIMIT_39_MERGED
}

# What eSpeak NG writes for English, without stress and length, beyond table 8. [ours]
_ESPEAK: Final[Mapping[str, Reading]] = {
    **IPA_READINGS,
    "oː": ("AO",), "ᵻ": ("IH",), "ɐ": ("AH",), "a": ("AE",), "ɒ": ("AA",), "ʍ": ("W",),
    "ɑɹ": ("AA", "R"), "ɔɹ": ("AO", "R"), "oɹ": ("AO", "R"), "ɛɹ": ("EH", "R"),
    "ɪɹ": ("IH", "R"), "ʊɹ": ("UH", "R"), "aɪɚ": ("AY", "ER"), "aɪə": ("AY", "AH"),
    "aʊɚ": ("AW", "ER"), "aʊə": ("AW", "AH"), "iə": ("IY", "AH"), "ɪə": ("IH", "AH"),
    "eə": ("EH", "AH"), "ʊə": ("UH", "AH"), "əl": ("AH", "L"),
}  # fmt: skip


def _set(
    name: LabelSetName,
    title: str,
    readings: Mapping[str, Reading],
    merged: Mapping[str, str] | None = None,
    *,
    fold: bool = True,
) -> LabelSet:
    every = dict(readings) if readings is _EXACT else {**_BESIDE, **readings}
    if fold:
        every = {label.lower(): reading for label, reading in every.items()}
    return LabelSet(name, title, every, merged or {}, fold)


LABEL_SETS: Final[Mapping[str, LabelSet]] = {
    made.name: made
    for made in (
        _set("arpabet", "PSST's 40 in ARPAbet", _EXACT),
        _set(
            "cmu",
            "the CMU dictionary's 39, without the flap",
            {each: (each,) for each in PHONEMES if each not in _CMU_MERGED},
            _CMU_MERGED,
        ),
        _set("espeak-ipa", "IPA as eSpeak NG writes English", _ESPEAK, fold=False),
        _set("timit-61", "TIMIT's 61", _TIMIT_61),
        _set("timit-39", "TIMIT's 61 folded to 39", _TIMIT_39, _TIMIT_39_MERGED),
    )
}


def label_set(name: str) -> LabelSet:
    """Return a set of labels by its name."""
    labels = LABEL_SETS.get(name)
    if labels is None:
        raise TabwbError(f"'{name}' is not a valid set of labels", allowed=", ".join(LABEL_SETS))
    return labels


def read_label(label: str, labels: LabelSet) -> Reading | None:
    """Return the phonemes of one label; None for an unknown label, empty for a silent one.

    >>> read_label("ˈɑːɹ", label_set("espeak-ipa")), read_label("ao", label_set("timit-61"))
    (('AA', 'R'), ('AO',))
    >>> read_label("y̯", label_set("espeak-ipa"))
    """
    readings = labels.readings
    reading = readings.get(label.lower() if labels.fold else label)
    if reading is not None:
        return reading
    if labels.name == "espeak-ipa":
        return _read_ipa(label, readings)
    # Stress digits, as the CMU dictionary writes them.
    known = normalise_label(label)
    return readings.get(known.lower()) if known is not None else None


def map_labels(labels: Iterable[str], name: str) -> Mapped:
    """Read a transcriber's labels as phonemes.

    >>> found = map_labels(("b", "ɑː", "ɾ", "əl", "ʁ"), "espeak-ipa")
    >>> found.phonemes, dict(found.dropped)
    (('B', 'AA', 'DX', 'AH', 'L'), {'ʁ': 1})
    """
    reader = _reader(label_set(name).name)
    readings = [(label, reader(label)) for label in labels]
    phonemes = tuple(phoneme for _, reading in readings for phoneme in reading or ())
    told = (f"{_bare(label)}={' '.join(reading)}" for label, reading in readings if reading)
    return Mapped(
        phonemes,
        Counter(label for label, reading in readings if reading is None),
        Counter(each for each in told if each.partition("=")[0] in _BEYOND),
    )


def best_possible(reference: Iterable[str], labels: LabelSet) -> tuple[str, ...]:
    """Return what a flawless transcriber with these labels would write for a reference.

    >>> best_possible(("D", "AO", "G"), label_set("timit-39"))
    ('D', 'AA', 'G')
    """
    return tuple(labels.merged.get(phoneme, phoneme) for phoneme in reference)


@cache
def _reader(name: LabelSetName) -> Callable[[str], Reading | None]:
    return lru_cache(maxsize=4096)(partial(read_label, labels=LABEL_SETS[name]))


_BEYOND: Final = frozenset("ɐaɒʍᵻ")
"""Labels of eSpeak NG's English that are none of the 40."""


def _bare(label: str) -> str:
    return label.translate(dict.fromkeys(map(ord, "ˈˌˑː")))


def _read_ipa(label: str, readings: Mapping[str, Reading]) -> Reading | None:
    # Without stress and length, which distinguish none of our phonemes; a lengthened short vowel
    # is of another language.
    if label in MAPPED and "ː" in label:
        return None
    bare = _bare(label)
    if not bare or bare in readings:
        return readings.get(bare, ())
    try:
        return parse_ipa(bare, beyond="refuse")
    except TabwbError:
        return None
