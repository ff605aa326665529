"""Verdicts of raters as small integers, the form that all of this package computes on.

An array of verdicts is int8, usually of shape (raters, samples, features): 1 present, 0 absent,
:data:`MISSING` not rated (undefined and unparsed too), :data:`CANNOT_TELL`. Everything below 0
counts as missing in every table. Codes of several categories are small integers from 0 in the same
form.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Verdicts = NDArray[np.int8]
Floats = NDArray[np.float64]

PRESENT, ABSENT, MISSING, CANNOT_TELL = 1, 0, -1, -2


def verdicts_of(values: Floats) -> Verdicts:
    """Return verdicts from numbers: 1 present, 0 absent, NaN missing.

    >>> verdicts_of(np.array([1.0, 0.0, np.nan])).tolist()
    [1, 0, -1]
    """
    missing = np.isnan(values)
    wrong = ~(missing | (values == PRESENT) | (values == ABSENT))
    if wrong.any():
        raise ValueError(f"a verdict is 1, 0 or NaN, not {values[wrong].flat[0]:g}")
    return np.where(missing, MISSING, values).astype(np.int8)


def cannot_tell_as(verdicts: Verdicts, verdict: int) -> Verdicts:
    """Return the verdicts with every "cannot tell" replaced.

    >>> cannot_tell_as(np.array([1, -2, -1], np.int8), ABSENT).tolist()
    [1, 0, -1]
    """
    return np.where(verdicts == CANNOT_TELL, np.int8(verdict), verdicts)


Ties = Literal["drop", "positive", "negative", "adjudicated"]
FEWEST_VERDICTS = 2


def majority(verdicts: Verdicts) -> tuple[Verdicts, NDArray[np.bool_]]:
    """Return the verdict of more than half of the raters with one, and where they are tied.

    Args:
        verdicts: int8 of shape (raters, ...).

    Returns:
        int8 of shape (...), ``MISSING`` without a majority or with fewer than two verdicts; and
        bool of the same shape, true where as many say present as absent.

    >>> found, tied = majority(np.array([[1, 1], [1, 0], [0, -1]], np.int8))
    >>> found.tolist(), tied.tolist()
    ([1, -1], [False, True])
    """
    present = (verdicts == PRESENT).sum(axis=0, dtype=np.int16)
    absent = (verdicts == ABSENT).sum(axis=0, dtype=np.int16)
    enough = present + absent >= FEWEST_VERDICTS
    tied = enough & (present == absent)
    most = np.where(present > absent, np.int8(PRESENT), np.int8(ABSENT))
    return np.where(enough & ~tied, most, np.int8(MISSING)), tied


def consensus(
    verdicts: Verdicts,
    *,
    ties: Ties = "drop",
    adjudicated: Verdicts | None = None,
) -> Verdicts:
    """Return one verdict for each sample and feature, ``MISSING`` where there is none.

    Args:
        verdicts: int8 of shape (raters, samples, features).
        ties: what a tie of the majority becomes: no verdict (``drop``), present (``positive``),
            absent (``negative``), or what the adjudicator said (``adjudicated``; no verdict where
            nothing was said).
        adjudicated: with ``adjudicated``: int8 of shape (samples, features). A decision replaces
            the majority too, because somebody looked at all verdicts and decided; "cannot tell"
            leaves no verdict.

    >>> tied = np.array([[[1]], [[0]]], np.int8)
    >>> [int(consensus(tied, ties=rule)[0, 0]) for rule in ("drop", "positive", "negative")]
    [-1, 1, 0]
    """
    if ties not in get_args(Ties):
        raise ValueError(f"ties are one of {', '.join(get_args(Ties))}, not {ties!r}")
    most, tied = majority(verdicts)
    if ties == "positive":
        most[tied] = PRESENT
    elif ties == "negative":
        most[tied] = ABSENT
    elif ties == "adjudicated":
        if adjudicated is None:
            raise ValueError("ties='adjudicated' needs the adjudicated verdicts")
        most = np.where(adjudicated >= 0, adjudicated, most)
        most[adjudicated == CANNOT_TELL] = MISSING
    return most


def rest_of(verdicts: Verdicts) -> Verdicts:
    """Return, for each rater, the majority of the others: int8 of the same shape.

    Verdicts are int8 of shape (raters, samples, features).

    >>> rest_of(np.array([[[1]], [[0]], [[0]]], np.int8))[:, 0, 0].tolist()
    [0, -1, -1]
    """
    others = np.arange(len(verdicts))
    return np.stack([majority(verdicts[others != at])[0] for at in others])
