"""Labels of tiers and cells of tables, read as values of naming records; nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import inf

from tabwb.phonology.inventory import SILENT, normalise_label, parse_pronunciation
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import SCORES, Score
from tabwb.records.specs import parse_spec
from tabwb.records.words import near
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.target import CODES
from tabwb.scoring.text import fold_case

_LISTENERS = re.compile(r"(.+?) \(person(?::[^();]*)?(?:, counts)?\)(?:; |$)")
"""A word that was heard, with its listener."""


def item_of(label: str, items: Mapping[str, str], where: str) -> str:
    """Return the item of the battery that a label names."""
    if item := items.get(fold_case(label.strip())):
        return item
    meant = near(fold_case(label), items)
    raise UsageError(
        f"the battery has no item '{label}'",
        where=where,
        allowed=", ".join(dict.fromkeys(items.values())),
        hint=f"did you mean '{meant}'?" if meant else "name the battery it is of: --battery",
    )


def attempt_of(label: str, where: str) -> tuple[str, ...]:
    """Return the phonemes of an attempt, ARPAbet; or labels of silence."""
    if any(part in SILENT for part in label.split()):
        return tuple(phoneme_of(part, where) for part in label.split())
    try:
        return parse_pronunciation(label, beyond="keep")
    except (TabwbError, ValueError) as error:
        message = f"'{label}' is not an attempt in phonemes"
        raise _unread(message, where, "attempt", "ARPAbet or IPA") from error


def phoneme_of(label: str, where: str) -> str:
    """Return the phoneme of a label in ARPAbet, or a label of silence."""
    if label.strip() in SILENT:
        return label.strip()
    if (phoneme := normalise_label(label)) is not None:
        return phoneme
    try:
        (phoneme,) = parse_pronunciation(label, beyond="keep")
    except (TabwbError, ValueError) as error:
        raise UsageError(f"'{label}' is not a phoneme", where=where) from error
    return phoneme


def heard_in(label: str, where: str) -> str:
    """Return what a person heard, or nothing; of several listeners in our exports, the first."""
    if several := _LISTENERS.match(label):
        label = several[1]
    return _parsed(label, parse_heard, "cannot have been heard", where, "heard")


def transcriber_in(label: str, where: str) -> str:
    """Return the spec of a transcriber, or nothing."""
    return _parsed(label, parse_spec, "is not a valid transcriber", where, "transcriber")


def _parsed(label: str, parse: Callable[[str], object], problem: str, where: str, tier: str) -> str:
    try:
        if label:
            parse(label)
    except TabwbError as error:
        raise _unread(f"'{label}' {problem}: {error.message}", where, tier) from error
    return label


def code_in(label: str, where: str) -> str:
    """Return a response code, or nothing."""
    if label and label not in CODES:
        raise _unread(f"'{label}' is not a valid response code", where, "code", ", ".join(CODES))
    return label


def _unread(message: str, where: str, tier: str, allowed: str | None = None) -> UsageError:
    hint = f"leave the tier out: --tier {tier}="
    return UsageError(message, where=where, allowed=allowed, hint=hint)


def score_in(label: str, where: str) -> Score | None:
    """Return a score, or None where the label is empty."""
    for score in SCORES:
        if label.casefold() == score:
            return score
    if label:
        raise UsageError(f"'{label}' is not a valid score", where=where, allowed=", ".join(SCORES))
    return None


def seconds_in(cell: str | None, where: str) -> float | None:
    """Return a time, or None where the cell is empty."""
    text = (cell or "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds < inf:
        raise UsageError(f"'{text}' is not a number of seconds", where=where)
    return seconds


def correctness_in(cell: str | None, where: str) -> Score | None:
    """Return the score of a cell with a truth value, or None where it is empty."""
    match (cell or "").strip().casefold():
        case "":
            return None
        case "true" | "1":
            return "right"
        case "false" | "0":
            return "error"
    raise UsageError(f"'{cell}' is not a valid correctness", where=where, allowed="TRUE, FALSE")


_RATER = re.compile(r"[\w-]+ \((?:person:)?(?P<rater>[^,()]+)(?P<counts>, counts)?\)")


def rater_in(label: str) -> str:
    """Return whose score counts in a label of our exports, or nothing.

    >>> rater_in("right (person:A, counts); error (person:B)"), rater_in("right (B)"), rater_in("x")
    ('A', 'B', '')
    """
    found = list(_RATER.finditer(label))
    counting = [one for one in found if one["counts"]] or (found if len(found) == 1 else [])
    return counting[0]["rater"] if counting else ""


def cues_in(cell: str, where: str) -> list[tuple[str, float | None]]:
    """Return the kinds and seconds of cues; None where a time is not known.

    >>> cues_in("semantic@1.5 phonemic", "t.tsv:2")
    [('semantic', 1.5), ('phonemic', None)]
    """
    given: list[tuple[str, float | None]] = []
    for part in cell.split():
        kind, apart, time = part.partition("@")
        at_s = seconds_in(time, where)
        if not kind or (apart and at_s is None):
            raise UsageError(f"'{part}' is not a cue", where=where, allowed="KIND@SECONDS, or KIND")
        given.append((kind, at_s))
    return given


def stretches_in(cell: str, where: str) -> list[tuple[float, float]]:
    """Return stretches of a recording, seconds.

    >>> stretches_in("1.5-2 4-4.25", "t.tsv:2")
    [(1.5, 2.0), (4.0, 4.25)]
    """
    parts = [part.partition("-") for part in cell.split()]
    found = [(seconds_in(a, where), seconds_in(b, where)) for a, _, b in parts]
    given = [(a, b) for a, b in found if a is not None and b is not None and a < b]
    if len(given) < len(found):
        raise UsageError(f"'{cell}' are not stretches", where=where, allowed="START-END ...")
    return given
