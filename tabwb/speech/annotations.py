"""Tiers of labelled stretches from Praat TextGrids and ELAN files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.installation import need
from tabwb.speech.files import SUFFIXES

WHAT = "reading annotations"


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """A labelled stretch, seconds from the beginning of the recording."""

    start_s: float
    end_s: float
    label: str


@dataclass(frozen=True, slots=True)
class Annotations:
    """Contents of one annotation file, with the recording beside it, if any.

    Tiers have their labelled intervals in time order; points are intervals of no length.
    """

    path: Path
    tiers: Mapping[str, tuple[Interval, ...]]
    sound: Path | None


def read_annotations(path: Path) -> Annotations:
    """Read a TextGrid (long or short, with any of its encodings) or an EAF.

    Raises:
        UsageError: its name ends in neither ``.TextGrid`` nor ``.eaf``.
        TabwbError: it cannot be read.
        MissingExtra: the extra ``annotations`` is not installed.
    """
    readers = {".textgrid": _textgrid, ".eaf": _eaf}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError("is not an annotation file", where=str(path), allowed=".TextGrid, .eaf")
    try:
        tiers, linked = reader(path)
    except TabwbError:
        raise
    except OSError as error:
        raise TabwbError(f"cannot be read: {error.strerror or error}", where=str(path)) from error
    except Exception as error:
        raise TabwbError(
            "is damaged, or not what its name says", where=str(path), allowed="TextGrid, EAF"
        ) from error
    beside = (path.with_suffix(suffix) for suffix in SUFFIXES)
    return Annotations(path, tiers, linked or next(filter(Path.is_file, beside), None))


Tiers = dict[str, tuple[Interval, ...]]


def _textgrid(path: Path) -> tuple[Tiers, Path | None]:
    textgrid = need("praatio.textgrid", WHAT, "annotations")
    grid = textgrid.openTextgrid(
        str(path), includeEmptyIntervals=False, duplicateNamesMode="rename"
    )
    tiers: Tiers = {}
    for tier in grid.tiers:
        intervals = [
            Interval(float(entry[0]), float(entry[1]), str(entry[2]))
            if len(entry) > 2
            else Interval(float(entry[0]), float(entry[0]), str(entry[1]))
            for entry in tier.entries
        ]
        tiers[str(tier.name)] = tuple(
            sorted(labelled for labelled in intervals if labelled.label.strip())
        )
    return tiers, None


def _eaf(path: Path) -> tuple[Tiers, Path | None]:
    elan = need("pympi.Elan", WHAT, "annotations")
    ElementTree.parse(path)  # raises an error that says so, where pympi has a bare Exception
    eaf = elan.Eaf(str(path))
    _place(eaf, path)
    tiers: Tiers = {}
    for name in eaf.get_tier_names():
        intervals = [
            Interval(start / 1000, end / 1000, str(label).strip())
            for start, end, label, *_ in eaf.get_annotation_data_for_tier(name)
        ]
        tiers[str(name)] = tuple(sorted(labelled for labelled in intervals if labelled.label))
    for link in eaf.get_linked_files():
        relative = link.get("RELATIVE_MEDIA_URL") or ""
        # Only what lies beside it: an absolute address is another computer's. A video may be linked
        # before its sound.
        candidate = path.parent / Path(relative.removeprefix("file:")).name
        if candidate.suffix.lower() in SUFFIXES and candidate.is_file():
            return tiers, candidate
    return tiers, None


def _place(eaf: Any, path: Path) -> None:
    """Give a time to slots that have none: annotations that divide another are of equal length."""
    times: dict[str, float | None] = eaf.timeslots
    for name in sorted(eaf.tiers, key=lambda tier: _depth(eaf, tier)):
        aligned = [(first, last, label) for first, last, label, _ in eaf.tiers[name][0].values()]
        next_of = {first: last for first, last, _ in aligned}
        for first, last, _ in aligned:
            between: list[str] = []
            slot = last
            while times[slot] is None and slot in next_of and slot not in between:
                between.append(slot)
                slot = next_of[slot]
            begin, end = times[first], times[slot]
            if begin is not None and end is not None:
                step = (end - begin) / (len(between) + 1)
                times |= {slot_id: begin + at * step for at, slot_id in enumerate(between, start=1)}
        for first, last, label in aligned:
            if times[first] is None or times[last] is None:
                raise TabwbError(
                    f"the annotation '{label}' of the tier '{name}' has no time",
                    where=str(path),
                    hint="align it in ELAN",
                )


def _depth(eaf: Any, name: str) -> int:
    """Return how many tiers are above one: what is divided has its times before its parts."""
    above: list[str] = []
    while (name := eaf.tiers[name][2].get("PARENT_REF")) and name not in above:
        above.append(name)
    return len(above)
