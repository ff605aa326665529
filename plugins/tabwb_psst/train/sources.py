"""What a recipe is trained on: the utterances of corpora in folders and of the store."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from tabwb.phonology.dictionary import guessed_sound, load_dictionary
from tabwb.phonology.labels import label_set, read_label
from tabwb.phonology.transcripts import read_table
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import expanded
from tabwb.records.words import plural
from tabwb.speech.files import info, sound_files
from tabwb_psst.corpus import TABLE, is_corpus, read_corpus, speaker_of
from tabwb_psst.train.recipe import Augment, Data, Recipe, Source

SILENCE = "<sil>"
LEAST_S, MOST_S = 0.1, 60.0
"""Seconds of a clip that is trained on [ours]."""
KINDS: tuple[Source, ...] = get_args(Source)
STAND_FOR: Mapping[Source, tuple[Source, ...]] = {"psst": ("psst", "store")}
"""Responses of the store are taken in place of PSST or beside it, and perturbed as it is."""
LICENCES: Mapping[Source, str] = {
    "psst": "AphasiaBank's data use agreement; PSST is given to its members",
    "timit": "LDC93S1, licence of the Linguistic Data Consortium",
    "librispeech": "CC BY 4.0",
    "unlabelled": "that of the recordings given",
    "store": "the consents of the study's participants (scope train)",
}
"""The licence of each source, for the card of a model."""


@dataclass(frozen=True, slots=True)
class Example:
    """One utterance.

    Attributes:
        path: its sound; from ``start_s`` to ``end_s``, or all of it.
        labels: what was said; None where that is not known.
        split: ``test`` is transcribed for the model's card, and nothing else.
        aq: the speaker's Aphasia Quotient, or None.
        change, value: how its sound is perturbed; empty: not at all.
        number: seeds the perturbation.
        weight: of its loss.
    """

    source: Source
    id: str
    speaker: str
    path: str
    seconds: float
    labels: tuple[str, ...] | None
    split: Literal["train", "valid", "test"] = "train"
    start_s: float = 0.0
    end_s: float | None = None
    aq: float | None = None
    change: str = ""
    value: float = 0.0
    number: int = 0
    weight: float = 1.0


@dataclass
class Chosen:
    """The data of a training.

    Attributes:
        examples: of train and valid, unlabelled ones among them.
        notes: what was left out, and where there is less than the recipe asks for.
    """

    examples: list[Example] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def hours(self) -> dict[str, float]:
        """Return hours by split and source, perturbed copies apart."""
        found: Counter[str] = Counter()
        for one in self.examples:
            found[" ".join(filter(None, (one.split, one.source, one.change)))] += one.seconds  # type: ignore[assignment]
        return {name: seconds / 3600 for name, seconds in found.items()}


def places_of(given: Iterable[str], recipe: Recipe) -> dict[Source, str]:
    """Return the place of each source: ``KIND:PLACE``, or a folder that shows what it is."""
    wanted = {one.source for one in recipe.data}
    allowed = wanted | ({"store"} if "psst" in wanted else set())
    places: dict[Source, str] = {}
    for text in given:
        kind, place = _kind_of(text)
        if kind not in allowed:
            raise UsageError(
                f"{recipe.id} is not trained on '{kind}' ({text})", where="data",
                allowed=", ".join(sorted(allowed)),
            )  # fmt: skip
        if places.setdefault(kind, place) != place:
            raise UsageError(f"'{kind}' is given twice", where="data")
    missing = wanted - set(places) - ({"psst"} if "store" in places else set())
    if missing:
        forms = ", ".join(f"{kind}:FOLDER" for kind in sorted(missing))
        raise UsageError(f"{recipe.id} is also trained on {forms}", where="data")
    return places


def _kind_of(text: str) -> tuple[Source, str]:
    kind, colon, place = text.partition(":")
    for known in KINDS:
        if kind == known and (colon or known == "store"):
            return known, place if known == "store" else str(expanded(place).absolute())
    folder = expanded(text).absolute()
    if is_corpus(folder):
        return "psst", str(folder)
    if any(folder.glob("*/*/*/*.[Pp][Hh][Nn]")) or any(folder.glob("*/*/*.[Pp][Hh][Nn]")):
        return "timit", str(folder)
    if any(folder.glob("*/*/*.trans.txt")) or any(folder.glob("*/*/*/*.trans.txt")):
        return "librispeech", str(folder)
    raise UsageError(
        f"'{text}' is not a corpus that is known", where="data",
        allowed=f"{', '.join(f'{one}:PLACE' for one in KINDS)}, or a folder of PSST, TIMIT or "
        "LibriSpeech",
        hint="PSST: train/utterances.tsv ...; TIMIT: TRAIN/DR1/FCJF0/SA1.PHN ...; LibriSpeech: "
        "84/121123/84-121123.trans.txt ...",
    )  # fmt: skip


def choose(
    recipe: Recipe,
    places: Mapping[Source, str],
    seed: int,
    stored: Callable[[str], tuple[Iterable[Example], frozenset[str], Sequence[str]]],
) -> Chosen:
    """Return what a recipe is trained on.

    Args:
        recipe: says how much of what.
        places: of each source.
        seed: chooses where there is more than the recipe takes, and of perturbations.
        stored: returns examples, test speakers and notes of the store under a filter.
    """
    chosen, test = Chosen(), set[str]()
    labelled: list[Example] = []
    if "psst" in places:
        labelled, test = _psst(Path(places["psst"]), chosen.notes)
    if "store" in places:
        own, more, notes = stored(places["store"])
        labelled += own
        test |= {speaker.casefold() for speaker in more}
        chosen.notes += notes
    allowed = [one for one in labelled if one.split == "test" or one.speaker.casefold() not in test]
    _say(chosen.notes, len(labelled) - len(allowed), "response", "of speakers of the test split")
    chosen.examples += _held_out(allowed, seed, chosen.notes)
    others = {one.speaker for one in chosen.examples if one.split == "valid"} | test
    readers: Mapping[Source, Callable[[Path, Data, list[str]], list[Example]]] = {
        "timit": _timit, "librispeech": _librispeech,
        "unlabelled": lambda folder, data, notes: _unlabelled(folder, others, notes),
    }  # fmt: skip
    if "unlabelled" in places and not test:
        chosen.notes.append("no test split is given: recordings of its speakers are not left out")
    for data in recipe.data:
        if data.source in readers:
            folder = Path(places[data.source])
            if not folder.is_dir():
                raise UsageError("there is no such folder", where=str(folder))
            found = readers[data.source](folder, data, chosen.notes)
            chosen.examples += _hours_of(found, data, seed, chosen.notes)
    known = {label for label in recipe.labels if label}
    chosen.examples = list(_usable(chosen.examples, known, chosen.notes))
    if not any(one.split == "train" and one.labels is not None for one in chosen.examples):
        raise UsageError("there is nothing to train on", where="data", hint="\n".join(chosen.notes))
    chosen.examples += list(_perturbed(recipe.augment, chosen.examples, seed))
    replaced = {source for one in recipe.augment if not one.original
                for source in STAND_FOR.get(one.of, (one.of,))}  # fmt: skip
    chosen.examples = [
        one for one in chosen.examples
        if one.change or one.split == "valid" or one.source not in replaced
    ]  # fmt: skip
    return chosen


def _psst(root: Path, notes: list[str]) -> tuple[list[Example], set[str]]:
    corpus = read_corpus(root)
    notes += [f"{count} left out: {kind}" for kind, count in corpus.left_out.items()
              if kind != "accepted pronunciations"]  # fmt: skip
    examples = [
        Example(
            "psst", one.id, one.speaker, str(one.sound), one.seconds,
            one.transcript or (SILENCE,), one.split, aq=one.aq,
        )
        for one in corpus.utterances
        if one.transcript is not None
    ]  # fmt: skip
    # Also speakers of whom no utterance of the test split can be used.
    table = root / "test" / TABLE
    rows = read_table(table, []).rows if table.is_file() else ()
    return examples, {
        speaker_of(row.cells["session"], row.cells["utterance_id"]).casefold() for row in rows
    } - {one.speaker.casefold() for one in corpus.split("train", "valid")}


def _held_out(examples: list[Example], seed: int, notes: list[str]) -> list[Example]:
    """Where nothing is of the validation split, every tenth speaker is held out."""
    if not examples or any(one.split == "valid" for one in examples):
        return examples
    speakers = sorted({one.speaker.casefold() for one in examples})
    if len(speakers) < 2:
        raise UsageError("one speaker cannot be both trained on and held out for validation",
                         where="data")  # fmt: skip
    random.Random(seed).shuffle(speakers)
    held = set(speakers[: max(len(speakers) // 10, 1)])
    notes.append(f"{plural(len(held), 'speaker')} of {len(speakers)} held out for validation")
    return [
        replace(one, split="valid") if one.speaker.casefold() in held else one for one in examples
    ]


_CLOSURES = {"bcl": ("b",), "dcl": ("d", "jh"), "gcl": ("g",), "pcl": ("p",), "tcl": ("t", "ch"),
             "kcl": ("k",)}  # fmt: skip


def timit_phonemes(labels: Sequence[str], fold: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return TIMIT's labels as the 40 phonemes and silence.

    A closure is dropped before its release, and written as the stop where none follows.

    >>> timit_phonemes("h# b ix gcl g ih tcl ax-h dcl jh h#".split())
    ('<sil>', 'B', 'IH', 'G', 'IH', 'T', 'AH', 'JH', '<sil>')
    >>> timit_phonemes(["dx", "zh"], {"DX": "D", "ZH": "SH"})
    ('D', 'SH')
    """
    known, phonemes = label_set("timit-61"), list[str]()
    for label, following in zip(labels, (*labels[1:], ""), strict=True):
        releases = _CLOSURES.get(label)
        if releases is None:
            reading = read_label(label, known)
            if reading is None:
                raise TabwbError(f"'{label}' is not a label of TIMIT")
            phonemes += (one for one in reading if one != SILENCE or phonemes[-1:] != [SILENCE])
        elif following not in releases:
            phonemes.append(releases[0].upper())
    return tuple((fold or {}).get(one, one) for one in phonemes)


def _timit(folder: Path, data: Data, notes: list[str]) -> list[Example]:
    found, wrong, refused = list[Example](), 0, 0
    for path in sorted(_parts(folder, data, "*.[Pp][Hh][Nn]")):
        sound = next((path.with_suffix(end) for end in (".WAV", ".wav", ".flac")
                      if path.with_suffix(end).is_file()), None)  # fmt: skip
        try:
            labels = [line.split()[2] for line in path.read_text("ascii").splitlines() if line]
            if set(labels) & set(data.refused):
                refused += 1
                continue
            phonemes = timit_phonemes(labels, data.fold)
            seconds = info(sound).seconds if sound else 0.0
        except (TabwbError, OSError, ValueError, IndexError):
            wrong += 1
            continue
        if not sound:
            wrong += 1
            continue
        name = f"{path.parent.name}-{path.stem}"
        found.append(Example("timit", name, path.parent.name, str(sound), seconds, phonemes))
    _say(notes, wrong, "utterance", "of TIMIT without sound or with labels that cannot be read")
    _say(notes, refused, "utterance", "of TIMIT with labels outside the inventory")
    return found


def _librispeech(folder: Path, data: Data, notes: list[str]) -> list[Example]:
    found, missing = list[Example](), 0
    for path in sorted(_parts(folder, data, "*.trans.txt")):
        for line in path.read_text("utf-8").splitlines():
            name, _, words = line.partition(" ")
            sound = path.with_name(f"{name}.flac")
            if not sound.is_file():
                missing += 1
                continue
            speaker = name.partition("-")[0]
            found.append(Example("librispeech", name, speaker, str(sound), 0.0, (words,)))
    _say(notes, missing, "utterance", "of LibriSpeech without sound")
    return found


def phonemes_of(words: str) -> tuple[str, ...]:
    """Return the first pronunciation of each word, by its letters where it is in no dictionary.

    >>> phonemes_of("THE BLORF")
    ('DH', 'AH', 'B', 'L', 'AO', 'R', 'F')
    """
    phonemes: list[str] = []
    for word in words.split():
        known = load_dictionary().pronunciations(word)
        phonemes += known[0].phonemes if known else guessed_sound(word) or ()
    return tuple(phonemes)


def _unlabelled(folder: Path, others: set[str], notes: list[str]) -> list[Example]:
    found, refused, wrong = list[Example](), Counter[str](), 0
    known = {speaker.casefold() for speaker in others}
    for path in sound_files([folder]):
        parts = path.relative_to(folder).with_suffix("").parts
        tokens = [token for part in parts for token in re.split(r"[^0-9A-Za-z]+", part) if token]
        speakers = {name.casefold() for token in tokens for name in (token, speaker_of(token))}
        if held := speakers & known:
            refused.update(held)
            continue
        try:
            seconds = info(path).seconds
        except TabwbError:
            wrong += 1
            continue
        speaker = speaker_of(tokens[0]) if tokens else path.stem
        found.append(Example("unlabelled", "-".join(parts), speaker, str(path), seconds, None))
    _say(notes, refused.total(), "recording",
         f"of {plural(len(refused), 'speaker')} of the test or validation split")  # fmt: skip
    _say(notes, wrong, "recording", "that cannot be read")
    return found


def _say(notes: list[str], count: int, noun: str, why: str) -> None:
    if count:
        notes.append(f"{plural(count, noun)} left out: {why}")


def _parts(folder: Path, data: Data, pattern: str) -> Iterator[Path]:
    wanted = {name.casefold() for name in data.parts}
    for path in folder.rglob(pattern):
        inside = path.relative_to(folder).parts[0].casefold()
        if not wanted or inside in wanted or folder.name.casefold() in wanted:
            yield path


def _hours_of(found: list[Example], data: Data, seed: int, notes: list[str]) -> Iterator[Example]:
    """Yield as many hours as the recipe takes, by seed; read how long a sound is when needed."""
    random.Random(f"{seed} {data.source}").shuffle(found)
    left = total = (data.hours or float("inf")) * 3600
    wrong = 0
    for one in found:
        if left <= 0:
            break
        if one.source == "librispeech":
            try:
                seconds = info(one.path).seconds
            except TabwbError:
                wrong += 1
                continue
            one = replace(one, seconds=seconds, labels=phonemes_of((one.labels or ("",))[0]))  # noqa: PLW2901
        left -= one.seconds
        yield one
    _say(notes, wrong, "utterance", f"of {data.source} whose sound cannot be read")
    if left > 0 and data.hours:
        got = (total - left) / 3600
        notes.append(f"{data.source}: {got:.2f} hours are there, the recipe takes {data.hours:g}")


def _usable(examples: Iterable[Example], known: set[str], notes: list[str]) -> Iterator[Example]:
    short = long = outside = 0
    for one in examples:
        if one.seconds < LEAST_S:
            short += 1
        elif one.seconds > MOST_S and one.labels is not None:
            long += 1
        elif one.labels is not None and not known.issuperset(one.labels):
            outside += 1
        else:
            yield one
    _say(notes, short, "clip", f"shorter than {LEAST_S:g} s")
    _say(notes, long, "clip", f"longer than {MOST_S:g} s")
    _say(notes, outside, "clip", "with a label outside the inventory")


def _perturbed(
    augment: Iterable[Augment], examples: Sequence[Example], seed: int
) -> Iterator[Example]:
    for rule in augment:
        of = STAND_FOR.get(rule.of, (rule.of,))
        for one in examples:
            if one.source not in of or one.split != "train" or one.labels is None or one.change:
                continue
            for copy in range(rule.copies):
                chance = random.Random(f"{seed} {rule.kind} {one.source} {one.id} {copy}")
                value = round(chance.uniform(*rule.values), 4)
                seconds = one.seconds / value if rule.kind == "time" else one.seconds
                yield replace(
                    one, id=f"{one.id}~{rule.kind}{copy + 1}", seconds=seconds, change=rule.kind,
                    value=value, number=chance.getrandbits(31),
                )  # fmt: skip


def document_of(example: Example) -> dict[str, Any]:
    """Return an example as plain values, without those that are as usual."""
    from dataclasses import asdict, fields

    usual = {one.name: one.default for one in fields(Example)}
    return {name: value for name, value in asdict(example).items() if value != usual[name]}


def example_of(document: Mapping[str, Any]) -> Example:
    """Return an example of its plain values."""
    labels = document["labels"]
    return Example(**{**document, "labels": None if labels is None else tuple(labels)})
