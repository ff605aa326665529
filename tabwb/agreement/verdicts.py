"""Verdicts of raters as small integers, the form that all of this package computes on.

An array of verdicts is int8, usually of shape (raters, samples, features): 1 present, 0 absent,
:data:`MISSING` not rated (undefined and unparsed too), :data:`CANNOT_TELL`. Everything below 0
counts as missing in every table. Codes of several categories are small integers from 0 in the same
form.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Verdicts = NDArray[np.int8]
Floats = NDArray[np.float64]

PRESENT, ABSENT, MISSING, CANNOT_TELL = 1, 0, -1, -2


def verdicts_of(values: Floats) -> Verdicts:
    """Return verdicts from numbers: 1 present, 0 absent, NaN missing.

    Raises:
        ValueError: another number is among them.

    >>> verdicts_of(np.array([1.0, 0.0, np.nan])).tolist()
    [1, 0, -1]
    """
    missing = np.isnan(values)
    wrong = ~(missing | (values == PRESENT) | (values == ABSENT))
    if wrong.any():
        raise ValueError(f"a verdict is 1, 0 or NaN, not {values[wrong].flat[0]:g}")
    return np.where(missing, MISSING, values).astype(np.int8)


def cut_at(values: Floats, cut: float) -> Verdicts:
    """Return verdicts from a scale: present from the cut upwards, NaN missing.

    >>> cut_at(np.array([0.0, 1.0, 4.0, np.nan]), 1).tolist()
    [0, 1, 1, -1]
    """
    found = (values >= cut).astype(np.int8)
    found[np.isnan(values)] = MISSING
    return found


def cannot_tell_as(verdicts: Verdicts, verdict: int) -> Verdicts:
    """Return the verdicts with every "cannot tell" replaced.

    >>> cannot_tell_as(np.array([1, -2, -1], np.int8), ABSENT).tolist()
    [1, 0, -1]
    """
    return np.where(verdicts == CANNOT_TELL, np.int8(verdict), verdicts)
