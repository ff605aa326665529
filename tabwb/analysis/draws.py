"""Which responses were drawn from a random stream that others share, and what follows.

Before each reply had its own seed, a run drew every item of replicate r with ``seed + r``. So
the items of one replicate are not independent, and neighbouring seeds repeat replicates.
"""

from __future__ import annotations

from tabwb.records.words import plural
from tabwb.scoring.estimate import Estimand, EstimatedInterval

REPLAYED = "replayed_line"
"""In the metadata of a reply that was read from an export."""
SHARED = "drawn from shared random streams"
"""Why there is no interval for these prompts: the replicates count as one cluster."""


def repeated_caution(n: int) -> str:
    """Return what must be said where draws of other administrations were drawn again.

    >>> repeated_caution(15)[:60]
    '15 responses repeat a draw that counts already: another admi'
    """
    return (
        f"{plural(n, 'response')} {'repeats' if n == 1 else 'repeat'} a draw that counts already: "
        "another administration has the same answer of the same model to the same messages, drawn "
        "with the same seed or read from the same record. Each draw counts once; another --seed "
        "gives new draws."
    )


def pooled_caution(shared: int, n: int) -> str:
    """Return what must be said where ``shared`` of ``n`` summarised responses share a stream.

    >>> pooled_caution(6, 8)[:59]
    '6 of 8 responses were sampled by an earlier version of tabw'
    """
    return (
        f"{_earlier(shared, n)} They are not independent of each other: their replicates count as "
        "one cluster, and the variation between draws is not estimated; the intervals for "
        "prompts like these can be too narrow."
    )


def compared_caution(side: str, shared: int, n: int) -> str:
    """Return what must be said where such responses are one side of a comparison.

    >>> compared_caution("A", 6, 8)[:62]
    'A: 6 of 8 responses were sampled by an earlier version of tabw'
    """
    return (
        f"{side}: {_earlier(shared, n)} They are not independent of each other: there is no "
        "interval and no test for these prompts, and for prompts like these the intervals can be "
        "too narrow and the p values too small."
    )


def _earlier(shared: int, n: int) -> str:
    return (
        f"{shared} of {n} responses were sampled by an earlier version of tabwb, which drew all "
        "items of one replicate from one random stream, and the same streams again for "
        "neighbouring seeds."
    )


def without_draws(interval: EstimatedInterval) -> EstimatedInterval:
    """Return an interval, none where it takes replicates for independent draws."""
    if interval.estimand is Estimand.THESE_PROMPTS:
        return EstimatedInterval(interval.estimand, None, SHARED)
    return interval
