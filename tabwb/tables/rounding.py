"""Numbers with so many decimal places that the ends of an interval differ."""

from __future__ import annotations

MOST = 4
"""Decimal places that an interval is given at most."""


def fixed(value: float, digits: int, sign: str = "") -> str:
    """Return a number with decimal places; one that is shown as 0 has no sign.

    >>> fixed(-0.001, 2), fixed(0.0, 2, "+"), fixed(0.125, 1)
    ('0.00', '0.00', '0.1')
    """
    text = f"{value:{sign}.{digits}f}"
    return text.lstrip("+-") if not float(text) else text


def digits_of(low: float, high: float, digits: int) -> int:
    """Return how many decimal places two numbers need so that they are not shown as equal.

    >>> digits_of(0.0, 0.5, 2), digits_of(0.0, 0.0018, 2), digits_of(0.5, 0.5, 2)
    (2, 3, 2)
    """
    most = max(MOST, digits)
    if low == high:
        return digits
    for more in range(digits, most):
        if fixed(low, more) != fixed(high, more):
            return more
    return most


def ends_of(low: float, high: float, digits: int, sign: str = "") -> tuple[str, str]:
    """Return the ends of an interval, which differ; beyond :data:`MOST` places as ``<0.0001``.

    >>> ends_of(0.0, 0.0018, 2), ends_of(0.9985, 1.0, 2), ends_of(0.0, 0.00001, 2)
    (('0.000', '0.002'), ('0.999', '1.000'), ('0.0000', '<0.0001'))
    """
    places = digits_of(low, high, digits)
    first, second = fixed(low, places, sign), fixed(high, places, sign)
    if first == second and low != high:
        least = 10.0**-places
        if low >= 0 and high < least:
            second = f"<{least:.{places}f}"
        elif 1 - least < low and high == 1:
            first = f">{1 - least:.{places}f}"
    return first, second
