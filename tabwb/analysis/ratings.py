"""What raters gave to samples, as arrays, and the reader of a table of ratings (a CSV file)."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.verdicts import CANNOT_TELL, MISSING, Floats, Verdicts
from tabwb.battery.forms import Kind
from tabwb.phonology.transcripts import named, table_text
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.rating_sets import ADJUDICATED, UNSURE_WORDS, VERDICT_WORDS, Answer
from tabwb.records.rating_sets import CANNOT_TELL as UNSURE
from tabwb.records.words import near
from tabwb.scoring.estimate import Interval
from tabwb.scoring.naming.target import Rule, right_by_score

Ints = NDArray[np.int64]
_JUDGE = re.compile(r"[:@]|^(rules|naming)-\d+$|^chat-codes$")
"""No code of a person has ``:`` or ``@``; the other names are of raters that tabwb has."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that was rated; ``objective``: it has a clear criterion; None: nothing says so."""

    id: str
    title: str
    kind: Kind = "present-absent"
    objective: bool | None = None


RULES: Mapping[Rule, str] = {
    "correct-any": "Right, a self-correction counts",
    "correct-first": "Right at the first attempt",
}


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers to a measure that is not present or absent.

    Attributes:
        values: float64 of shape (raters, samples): numbers of a scale, else places in ``words``;
            NaN where there is none.
        unsure: "cannot tell" of all raters together.
    """

    measure: Measure
    values: Floats
    words: tuple[str, ...] = ()
    unsure: int = 0


@dataclass(frozen=True, slots=True)
class Guesses:
    """How often a rater told a person's sample from a machine's; the interval is exact."""

    rater: str
    right: int
    n: int
    interval: Interval | None


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """What raters gave to the same samples.

    Attributes:
        source: what was read, in words.
        samples: their ids.
        raters: their names.
        judges: those of them that are not people.
        features: the measures that are present or absent.
        verdicts: int8 of shape (raters, samples, features), see :mod:`tabwb.agreement.verdicts`.
        again: further ratings by the same raters of the same samples, each of the same shape.
        correctness: rules by which a name is right, of listeners; ``right``: int8 of shape (raters,
            samples, rules).
        others: answers to other measures.
        adjudicated: int8 of shape (samples, features): what was settled; None where nothing was.
        speakers: of each sample a number, equal where one person said both; None: all differ.
        objective_source: who divides features into objective and subjective ones, or empty.
        guesses: answers to "person or machine?".
        notes: what is to be known of the data.
        flagged: bool of shape (raters, samples): ratings that are doubtful, see
            :func:`tabwb.battery.forms.flag_of`; None where nothing says it.
    """

    source: str
    samples: Sequence[str]
    raters: tuple[str, ...]
    judges: frozenset[str]
    features: tuple[Measure, ...]
    verdicts: Verdicts
    again: tuple[Verdicts, ...] = ()
    correctness: tuple[Measure, ...] = ()
    right: Verdicts | None = None
    others: tuple[Answers, ...] = ()
    adjudicated: Verdicts | None = None
    speakers: Ints | None = None
    objective_source: str = ""
    guesses: tuple[Guesses, ...] = ()
    notes: tuple[str, ...] = ()
    flagged: NDArray[np.bool_] | None = None

    def unflagged(self) -> Rated:
        """Return the same without the verdicts of flagged ratings."""
        assert self.flagged is not None
        verdicts = self.verdicts.copy()
        verdicts[self.flagged] = MISSING
        return replace(self, verdicts=verdicts, flagged=None)

    @property
    def people(self) -> tuple[str, ...]:
        """The raters who are people."""
        return tuple(rater for rater in self.raters if rater not in self.judges)

    def places(self, raters: Collection[str]) -> list[int]:
        """Return the places of some raters, in the order of all."""
        return [at for at, rater in enumerate(self.raters) if rater in raters]


@dataclass(slots=True, eq=False)
class Gathered:
    """What raters gave to samples, while it is read; a sample is its place.

    Attributes:
        layers: what each rater gave on each occasion, 0 first: int8 of shape (samples, features).
        said: the answers of each rater to each sample, by measure.
        scores: of spoken names, likewise; None where none was asked for.
    """

    samples: Sequence[str]
    features: Sequence[Measure]
    layers: dict[int, dict[str, Verdicts]] = field(default_factory=dict)
    said: dict[Measure, dict[tuple[str, int], Answer]] = field(default_factory=dict)
    scores: dict[tuple[str, int], Answer] | None = None

    def layer(self, rater: str, occasion: int = 0) -> Verdicts:
        """Return what a rater gave on an occasion, to be filled."""
        missing = np.full((len(self.samples), len(self.features)), MISSING, np.int8)
        return self.layers.setdefault(occasion, {}).setdefault(rater, missing)

    def rated(self, raters: Sequence[str], **facts: Any) -> Rated:
        """Return what these raters gave; ``facts``: the other fields."""
        shape = len(raters), len(self.samples)
        right = None
        if self.scores is not None:
            right = np.full((*shape, len(RULES)), MISSING, np.int8)
            for (rater, sample), score in self.scores.items():
                given = (right_by_score(str(score), rule) for rule in RULES)
                said = [MISSING if one is None else one for one in given]
                right[raters.index(rater), sample] = CANNOT_TELL if score == UNSURE else said
        every = [
            np.stack([self.layer(rater, occasion) for rater in raters])
            for occasion in sorted({0, *self.layers})
        ]
        return Rated(
            samples=self.samples,
            raters=tuple(raters),
            features=tuple(self.features),
            verdicts=every[0],
            again=tuple(every[1:]),
            correctness=() if right is None else tuple(Measure(*rule) for rule in RULES.items()),
            right=right,
            others=tuple(self._answers(measure, raters) for measure in self.said),
            **facts,
        )

    def _answers(self, measure: Measure, raters: Sequence[str]) -> Answers:
        """Return texts as places in the list of different texts; words heard in small letters."""
        given = {at: said for at, said in self.said[measure].items() if said != UNSURE}
        values = np.full((len(raters), len(self.samples)), np.nan)
        words: tuple[str, ...] = ()
        if measure.kind != "scale":
            fold = measure.kind == "text"
            texts = {at: str(said).strip().casefold() if fold else str(said)
                     for at, said in given.items()}  # fmt: skip
            words = tuple(sorted(set(texts.values())))
            place = {word: float(at) for at, word in enumerate(words)}
            given = {at: place[text] for at, text in texts.items()}
        for (rater, sample), value in given.items():
            values[raters.index(rater), sample] = value
        return Answers(measure, values, words, len(self.said[measure]) - len(given))


def is_judge(rater: str) -> bool:
    """Return whether a rater is called as only a judge can be.

    >>> is_judge("rules-2"), is_judge("tab-2026:gemini:x"), is_judge("R1")
    (True, True, False)
    """
    return bool(_JUDGE.search(rater))


def judges_among(raters: Sequence[str], named: Collection[str]) -> frozenset[str]:
    """Return which raters are judges: those that are named, and those that are called like one."""
    for name in named:
        if name not in raters:
            meant = near(name, raters)
            raise UsageError(
                f"there is no rater '{name}'",
                where="--judge",
                allowed=", ".join(raters),
                hint=f"did you mean '{meant}'?" if meant else None,
            )
    return frozenset(rater for rater in raters if rater in named or is_judge(rater))


def in_order(rater: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """Return by what raters are sorted: people before judges, R2 before R10.

    >>> sorted(["R10", "rules-1", "R2"], key=in_order)
    ['R2', 'R10', 'rules-1']
    """
    parts = re.findall(r"\d+|\D+", rater)
    return is_judge(rater), [(part.isdigit(), int(part) if part.isdigit() else 0, part)
                             for part in parts]  # fmt: skip


# ------------------------------------------------------------------------------ a table

COLUMNS = ("response", "rater", "measure", "value")
OPTIONAL = ("speaker", "occasion", "flag")
_CHUNK = 1_000
"""Rows at a time; of more the garbage collector goes through all of them again and again."""
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Columns of a table.

    Attributes:
        path: of the file.
        text: of the file.
        codes: of each column and row, the place of the cell's text in ``texts``.
        texts: the different texts of each column, without blanks around them.
    """

    path: Path
    text: str
    codes: Mapping[str, Codes]
    texts: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.codes["value"])

    def line(self, row: int) -> str:
        """Return where a row is, ``FILE:LINE``."""
        return f"{self.path}:{next(islice(_rows(self.path, self.text), row + 1, None))[0]}"


class _Numbers(dict[str, int]):
    """Cell to the number of its text; a new text gets the next number."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._known: dict[str, int] = {}

    def __missing__(self, cell: str) -> int:
        text = cell.strip()
        number = self._known.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        self[cell] = number
        return number

    def of(self, cells: Sequence[str]) -> Codes:
        """Return the numbers of cells."""
        return np.fromiter(map(self.__getitem__, cells), np.int32, len(cells))


def read_cells(path: Path) -> Cells:
    """Read a table with the columns of ratings; cells are separated by commas, semicolons or
    tabs.
    """
    text = table_text(path)
    rows = _rows(path, text)
    line, head = next(rows, (1, []))
    columns = _columns(head, f"{path}:{line}")
    numbers = {name: _Numbers() for name in columns}
    parts: dict[str, list[Codes]] = {name: [np.empty(0, np.int32)] for name in columns}
    width = len(head)
    while chunk := list(islice(rows, _CHUNK)):
        cells = [row for _, row in chunk]
        if set(map(len, cells)) != {width}:
            cells = [_filled(row, width, f"{path}:{line}") for line, row in chunk]
        by_column = list(zip(*cells, strict=True))
        for name, place in columns.items():
            parts[name].append(numbers[name].of(by_column[place]))
    codes = {name: np.concatenate(part) for name, part in parts.items()}
    if not len(codes["value"]):
        raise TabwbError("there are no ratings, only headings", where=str(path))
    return Cells(path, text, codes, {name: numbers[name].texts for name in columns})


def _rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, with their lines."""
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    try:
        for row in reader:
            if row and (row[0].strip() or any(map(str.strip, row))):
                yield reader.line_num, row
    except csv.Error as error:
        where = f"{path}:{reader.line_num}"
        raise TabwbError(f"this is not valid CSV: {error}", where=where) from error


def _columns(head: Sequence[str], where: str) -> dict[str, int]:
    """Return the columns that are used, and their places."""
    names = [cell.strip() for cell in head]
    if twice := {name for name in names if name and names.count(name) > 1}:
        raise TabwbError(f"headings occur more than once: {named(sorted(twice))}", where=where)
    for name in COLUMNS:
        if name not in names:
            meant = near(name, names)
            raise TabwbError(
                f"there is no column '{name}'",
                where=where,
                allowed=f"{', '.join(COLUMNS)}; also {', '.join(OPTIONAL)}",
                hint=f"is '{meant}' meant?" if meant else "one row for each rating",
            )
    return {name: names.index(name) for name in (*COLUMNS, *OPTIONAL) if name in names}


def _filled(row: list[str], width: int, where: str) -> list[str]:
    """Return a row with the empty cells at its end that spreadsheets leave out."""
    if len(row) > width:
        raise TabwbError(
            f"{len(row)} cells, where there are {width} headings",
            where=where,
            hint="a cell that holds the separator needs quotes",
        )
    return row + [""] * (width - len(row))


CLEAR_WORDS = ("present", "absent", "true", "false")
"""Words that tell that a measure is about present and absent; *yes* and *no* may be codes."""
NAMED: Mapping[str, Kind] = {"phonemes": "phonemes", "heard": "text"}
"""Measures of this name have no codes for values."""


def read_ratings(
    path: Path, *, judges: Collection[str] = (), kinds: Mapping[str, Kind] | None = None
) -> Rated:
    """Read a table of ratings.

    A value is 0 or 1 (``absent``, ``present``), a number of a scale, a code, or a transcript; empty
    is not rated, ``cannot-tell`` is counted as that. The column ``speaker`` tells who said the
    response, ``occasion`` separates the ratings that one rater gave a response at several times, of
    which the first in the file counts. The rater ``adjudicated`` has what was settled.
    """
    cells = read_cells(path)
    _check_names(cells)
    own = _kinds(cells, kinds or {})
    occasions = _occasions(cells)
    return _arrays(cells, own, occasions, judges)


def _check_names(cells: Cells) -> None:
    for column in ("response", "rater", "measure"):
        texts = cells.texts[column]
        if "" in texts:
            row = int(np.argmax(cells.codes[column] == texts.index("")))
            raise TabwbError(f"'{column}' is empty", where=cells.line(row))


def _kinds(cells: Cells, given: Mapping[str, Kind]) -> list[Kind]:
    """Return the kind of each measure: as given, else as its values tell."""
    measures, values = cells.texts["measure"], cells.texts["value"]
    for name in given:
        if name not in measures:
            meant = near(name, measures)
            raise UsageError(
                f"there is no measure '{name}'",
                where="--kind",
                allowed=", ".join(measures),
                hint=f"did you mean '{meant}'?" if meant else None,
            )
    readings = {
        "present-absent": np.array([_truth(text) for text in values]),
        "scale": np.array([_number(text) for text in values]),
    }
    words = np.array([text.casefold() in CLEAR_WORDS for text in values])
    stated = readings["present-absent"] >= 0
    stated |= np.isnan(readings["present-absent"])
    used = np.unique(cells.codes["measure"].astype(np.int64) * len(values) + cells.codes["value"])
    limits = np.searchsorted(used, np.arange(len(measures) + 1) * len(values))
    kinds: list[Kind] = []
    for at, name in enumerate(measures):
        own = used[limits[at] : limits[at + 1]] - at * len(values)
        own = own[stated[own]]
        kind = given.get(name) or NAMED.get(name)
        if kind is None:
            numeric = ~np.isnan(readings["scale"][own])
            kind = "choice" if len(own) and not numeric.any() else "scale"
            if words[own].any() or not np.isnan(readings["present-absent"][own]).any():
                kind = "present-absent"
        read = readings.get(kind)
        if read is not None and np.isnan(read[own]).any():
            wrong = own[np.isnan(read[own])][0]
            rows = (cells.codes["measure"] == at) & (cells.codes["value"] == wrong)
            raise TabwbError(
                f"'{values[wrong]}' is not a value of '{name}'",
                where=cells.line(int(np.argmax(rows))),
                allowed=_ALLOWED[kind],
                hint=None if name in given else f"if its values are codes: --kind {name}=choice",
            )
        kinds.append(kind)
    return kinds


_ALLOWED: Mapping[str, str] = {
    "present-absent": "1 or 0 (present, absent, yes, no, true, false), cannot-tell, or nothing",
    "scale": "a number, as the other values of this measure, cannot-tell, or nothing",
}


def _truth(text: str) -> float:
    """Return 1, 0, NaN for any other value, or what stands for no value."""
    folded = text.casefold()
    if not folded:
        return MISSING
    if folded in UNSURE_WORDS:
        return CANNOT_TELL
    if folded in VERDICT_WORDS:
        return VERDICT_WORDS[folded]
    number = _number(text)
    return number if number in (0, 1) else math.nan


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _occasions(cells: Cells) -> Codes:
    """Return which rating of the same response, rater and measure each row is, from 0."""
    sizes = [len(cells.texts[column]) for column in ("rater", "response", "measure")]
    rater, response, measure = (
        cells.codes[column].astype(np.int64) for column in ("rater", "response", "measure")
    )
    same = (rater * sizes[1] + response) * sizes[2] + measure
    occasion = cells.codes.get("occasion", np.zeros(len(cells), np.int32))
    n = int(occasion.max()) + 1
    keys = same * n + occasion
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if len(again):
        row = int(order[again + 1].min())
        first = int(np.flatnonzero(keys == keys[row])[0])
        texts = [cells.texts[column][int(cells.codes[column][row])]
                 for column in ("rater", "response", "measure")]  # fmt: skip
        raise TabwbError(
            f"{texts[0]} has rated '{texts[2]}' of response '{texts[1]}' twice",
            where=cells.line(row),
            hint=f"the first is {cells.line(first)}; a column 'occasion' parts repeated ratings",
        )
    if n == 1:
        return occasion
    # Numbers of occasions are in the order of the file, so that the first one counts.
    by_cell = np.lexsort((occasion, same))
    new = np.ones(len(keys), bool)
    new[1:] = same[by_cell][1:] != same[by_cell][:-1]
    places = np.arange(len(keys)) - np.maximum.accumulate(np.where(new, np.arange(len(keys)), 0))
    ranks = np.empty(len(keys), np.int32)
    ranks[by_cell] = places
    return ranks


def _arrays(
    cells: Cells, kinds: Sequence[Kind], occasions: Codes, judges: Collection[str]
) -> Rated:
    names, values = list(cells.texts["rater"]), cells.texts["value"]
    rater, sample = cells.codes["rater"], cells.codes["response"]
    measure, value = cells.codes["measure"], cells.codes["value"]
    truths = np.array([_truth(text) for text in values])
    numbers = np.array([_number(text) for text in values])
    binary = [at for at, kind in enumerate(kinds) if kind == "present-absent"]
    column = np.full(len(kinds), -1)
    column[binary] = np.arange(len(binary))
    shape = len(names), len(cells.texts["response"]), len(binary)
    layers: list[Verdicts] = []
    for occasion in range(int(occasions.max()) + 1):
        rows = np.flatnonzero((occasions == occasion) & (column[measure] >= 0))
        layer = np.full(shape, MISSING, np.int8)
        layer[rater[rows], sample[rows], column[measure[rows]]] = truths[value[rows]]
        layers.append(layer)
    kept = [at for at, name in enumerate(names) if name != ADJUDICATED]
    kept.sort(key=lambda at: in_order(names[at]))
    others = []
    for at, kind in enumerate(kinds):
        if kind == "present-absent":
            continue
        rows = np.flatnonzero((measure == at) & (occasions == 0))
        of = value[rows]
        words: tuple[str, ...] = ()
        given = numbers[of]
        if kind != "scale":
            said = [text.casefold() for text in values] if kind == "text" else values
            texts, of_value = np.unique(said, return_inverse=True)
            used, places = np.unique(of_value[of], return_inverse=True)
            words, given = tuple(texts[used].tolist()), places.astype(np.float64)
        given[truths[of] < 0] = np.nan
        table = np.full(shape[:2], np.nan)
        table[rater[rows], sample[rows]] = given
        unsure = int((truths[of] == CANNOT_TELL).sum())
        name = cells.texts["measure"][at]
        others.append(Answers(Measure(name, name, kind), table[kept], words, unsure))
    raters = tuple(names[at] for at in kept)
    settled = layers[0][names.index(ADJUDICATED)] if ADJUDICATED in names else None
    features = (cells.texts["measure"][at] for at in binary)
    return Rated(
        source=cells.path.name,
        samples=cells.texts["response"],
        raters=raters,
        judges=judges_among(raters, judges),
        features=tuple(Measure(name, name) for name in features),
        verdicts=layers[0][kept],
        again=tuple(layer[kept] for layer in layers[1:]),
        others=tuple(others),
        adjudicated=settled,
        speakers=_speakers(cells),
        flagged=_flagged(cells, occasions, shape[:2], kept),
    )


def _flagged(
    cells: Cells, occasions: Codes, shape: tuple[int, int], kept: Sequence[int]
) -> NDArray[np.bool_] | None:
    """Return which first ratings have a flag; None where no column tells."""
    if "flag" not in cells.codes:
        return None
    texts = np.array([bool(text) for text in cells.texts["flag"]], bool)
    rows = np.flatnonzero((occasions == 0) & texts[cells.codes["flag"]])
    found = np.zeros(shape, bool)
    found[cells.codes["rater"][rows], cells.codes["response"][rows]] = True
    return found[kept]


def _speakers(cells: Cells) -> Ints | None:
    """Return the speaker of each response; None where no column tells, or all differ."""
    if "speaker" not in cells.codes:
        return None
    response, speaker = cells.codes["response"], cells.codes["speaker"]
    of = np.full(len(cells.texts["response"]), -1, np.int64)
    of[response] = speaker
    if (wrong := of[response] != speaker).any():
        row = int(np.argmax(wrong))
        name = cells.texts["response"][int(response[row])]
        raise TabwbError(f"response '{name}' has two speakers", where=cells.line(row))
    # Where no speaker is named every response is of another one.
    texts = cells.texts["speaker"]
    unnamed = np.flatnonzero(of == texts.index("")) if "" in texts else np.empty(0, np.int64)
    of[unnamed] = len(texts) + np.arange(len(unnamed))
    return of if len(np.unique(of)) < len(of) else None
