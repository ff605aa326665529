"""Ratings of a table (columns response, rater, measure, value) as arrays."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.verdicts import CANNOT_TELL, MISSING, Verdicts
from tabwb.battery.forms import Kind
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.rating_sets import ADJUDICATED, UNSURE_WORDS, VERDICT_WORDS
from tabwb.records.words import near
from tabwb.report.summaries.agreement.cells import Cells, Codes, read_cells
from tabwb.report.summaries.agreement.rated import (
    Answers,
    Ints,
    Measure,
    Rated,
    in_order,
    judges_among,
)

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
