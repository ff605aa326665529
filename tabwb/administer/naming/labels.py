"""Labels and cells of others, read one by one: what they cannot be is an error that says where."""

from __future__ import annotations

import re
from math import inf

from tabwb.phonology.inventory import SILENT, normalise_label, parse_pronunciation
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import SCORES, Score
from tabwb.records.specs import parse_spec
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.target import CODES

_LISTENERS = re.compile(r"(.+?) \(person(?::[^();]*)?(?:, counts)?\)(?:; |$)")
"""A word that was heard, with its listener."""


def attempt_of(label: str, where: str) -> tuple[str, ...]:
    """Return the phonemes of an attempt, ARPAbet or IPA.

    Args:
        label: as it is written.
        where: its place, for the message.

    Raises:
        UsageError: it is neither.
    """
    try:
        return parse_pronunciation(label)
    except (TabwbError, ValueError) as error:
        raise UsageError(
            f"'{label}' is not an attempt in phonemes",
            where=where,
            allowed="ARPAbet or IPA",
            hint="leave the tier out: --tier attempt=",
        ) from error


def phoneme_of(label: str, where: str) -> str:
    """Return one phoneme, or silence or noise.

    Args:
        label: as it is written.
        where: its place, for the message.

    Raises:
        UsageError: it is none of them.
    """
    if label.strip() in SILENT:
        return label.strip()
    found = normalise_label(label)
    if found is not None:
        return found
    try:
        (phoneme,) = parse_pronunciation(label)
    except (TabwbError, ValueError) as error:
        raise UsageError(f"'{label}' is not a phoneme", where=where) from error
    return phoneme


def heard_of(label: str, where: str) -> str:
    """Return what a person heard, or nothing; of several listeners in our exports, the first.

    Args:
        label: as it is written.
        where: its place, for the message.

    Raises:
        UsageError: it is neither a word nor phonemes.
    """
    if several := _LISTENERS.match(label):
        label = several[1]
    if label:
        try:
            parse_heard(label)
        except TabwbError as error:
            raise UsageError(
                f"'{label}' cannot have been heard: {error.message}",
                where=where,
                hint="leave the tier out: --tier heard=",
            ) from error
    return label


def transcriber_of(label: str, where: str) -> str:
    """Return the spec of a transcriber, or nothing.

    Args:
        label: as it is written.
        where: its place, for the message.

    Raises:
        UsageError: it is not the spec of a component.
    """
    if label:
        try:
            parse_spec(label)
        except TabwbError as error:
            raise UsageError(
                f"'{label}' is not a valid transcriber: {error.message}",
                where=where,
                hint="leave the tier out: --tier transcriber=",
            ) from error
    return label


def code_of(label: str, where: str) -> str:
    """Return a response code, or nothing.

    Args:
        label: as it is written.
        where: its place, for the message.

    Raises:
        UsageError: it is not a response code.
    """
    if label and label not in CODES:
        raise UsageError(
            f"'{label}' is not a valid response code",
            where=where,
            allowed=", ".join(CODES),
            hint="leave the tier out: --tier code=",
        )
    return label


def score_of(label: str, where: str) -> Score | None:
    """Return a person's score, or None.

    Args:
        label: as it is written.
        where: its place, for the message.

    Raises:
        UsageError: it is not a score.
    """
    if not label:
        return None
    for score in SCORES:
        if label.casefold() == score:
            return score
    raise UsageError(f"'{label}' is not a valid score", where=where, allowed=", ".join(SCORES))


def seconds_of(cell: str | None, where: str) -> float | None:
    """Return a number of seconds, 0 or more; None for an empty cell.

    Args:
        cell: of a table.
        where: its place, for the message.

    Raises:
        UsageError: it is not such a number.
    """
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


def correctness_of(text: str | None, where: str) -> Score | None:
    """Return PSST's correctness as a score; None for an empty cell.

    Args:
        text: of a cell.
        where: its place, for the message.

    Raises:
        UsageError: it is neither true nor false.
    """
    said = (text or "").strip().casefold()
    if not said:
        return None
    if said in {"true", "1"}:
        return "right"
    if said in {"false", "0"}:
        return "error"
    raise UsageError(f"'{text}' is not a valid correctness", where=where, allowed="TRUE, FALSE")
