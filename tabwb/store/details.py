"""What summaries do not read of each attempt: the prompt, the latency, when and how it ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import StoreError
from tabwb.records.exchange import REASONING
from tabwb.store.database import Transaction

_TRIAL_BITS, _ATTEMPT_BITS = 24, 16
_ATTEMPTS = """
SELECT a.administration_id, a.trial, a.number, prompt_id, latency_s, stop_reason, recorded_at,
       CASE WHEN metadata LIKE '%"reasoning":%' THEN metadata END
FROM attempts a
JOIN trials t ON t.administration_id = a.administration_id AND t.number = a.trial
JOIN entries e ON e.administration_id = a.administration_id AND e.sequence = a.sequence
WHERE a.administration_id BETWEEN ? AND ?
"""
_PROMPTS = """
SELECT id, text FROM texts
WHERE id IN (SELECT prompt_id FROM trials WHERE administration_id BETWEEN ? AND ?)
"""


@dataclass(frozen=True, slots=True, eq=False)
class AttemptDetails:
    """Attempts of some administrations, one element for each, ordered by ``keys``.

    Attributes:
        keys: of :func:`keys_of`, ascending.
        latencies: seconds; nan where unknown.
        prompts: places in ``texts``, the prompts as sent.
        stop_reasons, recorded_at: places in ``stops`` and ``times``.
        reasoning: places in ``thoughts``; -1 where the model wrote none.
    """

    keys: NDArray[np.int64]
    latencies: NDArray[np.float64]
    prompts: NDArray[np.int32]
    texts: Sequence[str]
    stop_reasons: NDArray[np.int32]
    stops: Sequence[str]
    recorded_at: NDArray[np.int32]
    times: Sequence[str]
    reasoning: NDArray[np.int32]
    thoughts: Sequence[str]

    def rows_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of attempts."""
        rows = np.searchsorted(self.keys, keys)
        if len(keys) and not np.array_equal(self.keys[np.minimum(rows, len(self.keys) - 1)], keys):
            raise StoreError("responses were deleted while they were read", hint="read them again")
        return np.asarray(rows)


def keys_of(
    administrations: NDArray[np.int64], trials: NDArray[np.int64], attempts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return one number for each attempt, of its administration, trial and own number."""
    above = (administrations << _TRIAL_BITS) | trials
    return np.asarray((above << _ATTEMPT_BITS) | attempts)


def attempt_details(transaction: Transaction, administrations: Sequence[int]) -> AttemptDetails:
    """Read the attempts of some administrations."""
    span = (administrations[0], administrations[-1]) if administrations else (0, -1)
    texts: dict[int, str] = dict(transaction.rows(_PROMPTS, *span))
    places = {number: place for place, number in enumerate(texts)}
    stops: dict[str, int] = {}
    times: dict[str, int] = {}
    thoughts: dict[str, int] = {}
    numbers: list[tuple[int, int, int, int, int, int, int]] = []
    latencies: list[float] = []
    for number, trial, attempt, prompt, latency, stop, at, noted in transaction.each(
        _ATTEMPTS, *span
    ):
        thought = json.loads(noted).get(REASONING, "") if noted else ""
        codes = (
            stops.setdefault(stop, len(stops)),
            times.setdefault(at, len(times)),
            thoughts.setdefault(thought, len(thoughts)) if thought else -1,
        )
        numbers.append((number, trial, attempt, places[prompt], *codes))
        latencies.append(np.nan if latency is None else latency)
    read = np.array(numbers, np.int64).reshape(-1, 7)
    keys = keys_of(read[:, 0], read[:, 1], read[:, 2])
    order = np.argsort(keys)
    prompts, stop_reasons, recorded_at, reasoning = (
        read[order, at].astype(np.int32) for at in (3, 4, 5, 6)
    )
    return AttemptDetails(
        keys[order],
        np.array(latencies, np.float64)[order],
        prompts,
        list(texts.values()),
        stop_reasons,
        list(stops),
        recorded_at,
        list(times),
        reasoning,
        list(thoughts),
    )
