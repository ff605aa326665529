"""Places of ticks."""

from __future__ import annotations


def round_ticks(low: float, high: float, most: int) -> list[float]:
    """Return round places for ticks within limits.

    >>> round_ticks(-0.02, 1.02, 5)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    from matplotlib.ticker import MaxNLocator

    slack = 1e-9 * (high - low)
    places = MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(round(place, 12)) for place in places if low - slack <= place <= high + slack]
