"""Tiers of labelled stretches from Praat TextGrids and ELAN files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from pathlib import Path
from struct import calcsize, unpack
from typing import Any
from xml.etree import ElementTree

from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import file_inside, open_file
from tabwb.speech.files import SUFFIXES


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
    """Read a TextGrid (long, short or binary, with any of its encodings) or an EAF."""
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
    sound = linked or next(filter(Path.is_file, beside), None)
    if sound is not None:
        file_inside(path.parent, sound.name, str(path))
    return Annotations(path, tiers, sound)


Tiers = dict[str, tuple[Interval, ...]]


def _textgrid(path: Path) -> tuple[Tiers, Path | None]:
    with open_file(path) as file:
        content = file.read()
    read = _binary_tiers if content.startswith(BINARY) else _text_tiers
    tiers: Tiers = {}
    for name, intervals in read(content, str(path)):
        for one in intervals:
            if not (isfinite(one.start_s) and isfinite(one.end_s)):
                problem = f"is damaged: '{one.label}' in the tier '{name}' has no time"
                raise TabwbError(problem, where=str(path))
        number = 2
        unique = name
        while unique in tiers:
            unique, number = f"{name}_{number}", number + 1
        tiers[unique] = tuple(sorted(one for one in intervals if one.label.strip()))
    return tiers, None


def _decoded(content: bytes) -> str:
    r"""Return the text of a TextGrid: UTF-16 has a mark; text that is not UTF-8 is Latin-1.

    >>> _decoded("Stra\xdfe".encode("latin-1")), _decoded("Stra\xdfe".encode("utf-16"))
    ('Straße', 'Straße')
    """
    if content.startswith((b"\xfe\xff", b"\xff\xfe")):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


_TOKEN = re.compile(
    r'"(?P<text>(?:[^"]|"")*)"|(?<!\S)(?P<number>-?\d[\d.]*(?:[eE][-+]?\d+)?|<exists>|<absent>)(?!\S)|![^\n]*'
)
"""What counts in a text file of Praat: texts in quotation marks and what stands alone."""


def _text_tiers(content: bytes, where: str) -> Iterator[tuple[str, list[Interval]]]:
    """Yield the tiers of a TextGrid in Praat's text formats; names before values are comments."""
    text = _decoded(content)
    if "ooTextFile" not in text[:200]:
        raise ValueError("not a text file of Praat")
    tokens = (token for token in _TOKEN.finditer(text) if token.lastgroup)
    at, reads = 0, "the header"

    def damaged(problem: str) -> TabwbError:
        line = text.count("\n", 0, at) + 1
        return TabwbError(f"is damaged: {problem}", where=f"{where}:{line}")

    def value(kind: str) -> str:
        nonlocal at
        token = next(tokens, None)
        at = token.start() if token else len(text.rstrip())
        if token is None:
            raise damaged(f"it ends in {reads}")
        if token.lastgroup != kind:
            raise damaged(f"{token[0]} is not a {kind} of {reads}")
        return token[kind]

    def count() -> int:
        number = int(value("number"))
        if number < 0:
            raise damaged(f"{reads} has a count below 0")
        return number

    for kind in ("text", "text", "number", "number", "number"):
        last = value(kind)
    for n in range(count() if last == "<exists>" else 0):
        reads = f"tier {n + 1}"
        times = 2 if value("text") == "IntervalTier" else 1
        name = value("text").replace('""', '"')
        value("number"), value("number")
        intervals = []
        for m in range(size := count()):
            reads = f"interval {m + 1} of {size} of the tier '{name}'"
            between = [float(value("number")) for _ in range(times)]
            intervals.append(Interval(between[0], between[-1], value("text").replace('""', '"')))
        yield name, intervals


BINARY = b"ooBinaryFile\x08TextGrid"
"""The beginning of Praat's binary format."""


def _binary_tiers(content: bytes, where: str) -> Iterator[tuple[str, list[Interval]]]:
    """Yield the tiers of a TextGrid in Praat's binary format (big-endian; Praat's Data.cpp)."""
    file = BytesIO(content[len(BINARY) :])

    def numbers(form: str) -> tuple[Any, ...]:
        return unpack(f">{form}", file.read(calcsize(f">{form}")))

    def string() -> str:
        (length,) = numbers("H")
        if length != 0xFFFF:
            return file.read(length).decode("latin-1")
        (length,) = numbers("H")
        return file.read(2 * length).decode("utf-16-be")

    def count(of: str) -> int:
        (number,) = numbers("i")
        if number < 0:
            raise TabwbError(f"is damaged: {of} has a count below 0", where=where)
        return int(number)

    *_, exists = numbers("ddb")
    for _ in range(count("the file") if exists else 0):
        (length,) = numbers("B")
        times = "dd" if file.read(length) == b"IntervalTier" else "d"
        name = string()
        numbers("dd")
        yield (
            name,
            [
                Interval(between[0], between[-1], string())
                for between in (numbers(times) for _ in range(count(f"the tier '{name}'")))
            ],
        )


def _eaf(path: Path) -> tuple[Tiers, Path | None]:
    with open_file(path) as file:
        root = ElementTree.parse(file).getroot()
    if root.tag != "ANNOTATION_DOCUMENT":
        raise ValueError(root.tag)
    spans = _Spans(root, path)
    tiers: Tiers = {}
    for tier in root.iter("TIER"):
        found = [
            Interval(*spans.of(each), label)
            for each in tier.iterfind("ANNOTATION/*")
            if (label := _value(each))
        ]
        tiers[tier.attrib["TIER_ID"]] = tuple(sorted(found))
    for link in root.iter("MEDIA_DESCRIPTOR"):
        relative = link.get("RELATIVE_MEDIA_URL") or ""
        # Only what lies beside it: an absolute address is another computer's. A video may be linked
        # before its sound.
        candidate = path.parent / Path(relative.removeprefix("file:")).name
        if candidate.suffix.lower() in SUFFIXES and candidate.is_file():
            return tiers, candidate
    return tiers, None


def _value(annotation: ElementTree.Element) -> str:
    return (annotation.findtext("ANNOTATION_VALUE") or "").strip()


class _Spans:
    """When the annotations of an ELAN file begin and end, in seconds.

    An annotation has two time slots, or refers to one of another tier, which those that refer to it
    divide equally; so do slots without a time divide the time between those that have one.
    """

    def __init__(self, root: ElementTree.Element, path: Path) -> None:
        self._path = path
        self._times: dict[str, float | None] = {
            slot.attrib["TIME_SLOT_ID"]: int(value) / 1000
            if (value := slot.get("TIME_VALUE"))
            else None
            for slot in root.iter("TIME_SLOT")
        }
        self._annotations = {
            each.attrib["ANNOTATION_ID"]: each
            for tier in root.iter("TIER")
            for each in tier.iterfind("ANNOTATION/*")
        }
        self._tier_of = {
            each.attrib["ANNOTATION_ID"]: tier.attrib["TIER_ID"]
            for tier in root.iter("TIER")
            for each in tier.iterfind("ANNOTATION/*")
        }
        self._parts: dict[tuple[str, str], list[str]] = {}
        self._ordered: dict[tuple[str, str], dict[str, int]] = {}
        self._found: dict[str, tuple[float, float]] = {}
        for number, each in self._annotations.items():
            if above := each.get("ANNOTATION_REF"):
                self._parts.setdefault((self._tier_of[number], above), []).append(number)
        parents = {tier.attrib["TIER_ID"]: tier.get("PARENT_REF") for tier in root.iter("TIER")}
        # What is divided has its times before its parts.
        for tier in sorted(
            root.iter("TIER"), key=lambda tier: _depth(parents, tier.attrib["TIER_ID"])
        ):
            self._place(tier.iterfind("ANNOTATION/ALIGNABLE_ANNOTATION"))

    def _place(self, annotations: Iterator[ElementTree.Element]) -> None:
        next_of = {
            each.attrib["TIME_SLOT_REF1"]: each.attrib["TIME_SLOT_REF2"] for each in annotations
        }
        for first, last in next_of.items():
            between: dict[str, None] = {}
            slot = last
            while self._times[slot] is None and slot in next_of and slot not in between:
                between[slot] = None
                slot = next_of[slot]
            begin, end = self._times[first], self._times[slot]
            if begin is not None and end is not None:
                step = (end - begin) / (len(between) + 1)
                self._times |= {each: begin + at * step for at, each in enumerate(between, 1)}

    def of(self, annotation: ElementTree.Element) -> tuple[float, float]:
        """Return the beginning and the end of an annotation."""
        below: dict[str, str] = {}
        while (number := annotation.attrib["ANNOTATION_ID"]) not in self._found:
            above = self._annotations.get(annotation.get("ANNOTATION_REF", ""))
            if above is None:
                self._found[number] = self._aligned(annotation)
                break
            if number in below:
                raise ValueError("annotations refer to each other")
            below[number] = above.attrib["ANNOTATION_ID"]
            annotation = above
        start, end = self._found[number]
        for part, whole in reversed(below.items()):
            places = self._places(self._tier_of[part], whole)
            step = (end - start) / len(places)
            start, end = start + places[part] * step, start + (places[part] + 1) * step
            self._found[part] = start, end
        return start, end

    def _aligned(self, annotation: ElementTree.Element) -> tuple[float, float]:
        """Return the beginning and the end of an annotation with time slots."""
        slots = [self._times[annotation.attrib[f"TIME_SLOT_REF{n}"]] for n in (1, 2)]
        if slots[0] is None or slots[1] is None:
            raise TabwbError(
                f"the annotation '{_value(annotation)}' of the tier "
                f"'{self._tier_of[annotation.attrib['ANNOTATION_ID']]}' has no time",
                where=str(self._path),
                hint="align it in ELAN",
            )
        return slots[0], slots[1]

    def _places(self, tier: str, above: str) -> dict[str, int]:
        """Return the places of the parts of an annotation; each part names the one before it."""
        if (tier, above) not in self._ordered:
            parts = self._parts[tier, above]
            after = {self._annotations[part].get("PREVIOUS_ANNOTATION"): part for part in parts}
            places: dict[str, int] = {}
            part = after.get(None)
            while part is not None and part not in places:
                places[part] = len(places)
                part = after.get(part)
            if len(places) != len(parts):
                places = {part: at for at, part in enumerate(parts)}
            self._ordered[tier, above] = places
        return self._ordered[tier, above]


def _depth(parents: Mapping[str, str | None], name: str) -> int:
    """Return how many tiers are above one."""
    above: list[str] = []
    while (parent := parents.get(name)) and parent not in above:
        above.append(parent)
        name = parent
    return len(above)
