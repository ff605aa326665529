"""Which responses a person rates where a judge has rated all: the hybrid queue of TAB, section 6.2.

A person rates what the judge is uncertain of, what has a feature that the judge often finds, and a
random share of the rest, by which the judge is audited. The paper gives no numbers; those here are
ours and options.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tabwb.administer.rating.planning import Drawn, Unit
from tabwb.records.classes import dataclass
from tabwb.records.errors import UsageError
from tabwb.records.rating_sets import AUDIT, FREQUENT, UNCERTAIN
from tabwb.records.specs import seed_of

Verdicts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rules:
    """When a person rates.

    Attributes:
        frequent: the share of responses from which on a feature is frequent.
        margin: a probability of a feature this near to 0.5 is uncertain.
        audit: the share of the other responses that is audited, rounded up.
    """

    frequent: float = 0.2
    margin: float = 0.2
    audit: float = 0.1


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge said of responses.

    Attributes:
        judge: its id.
        features: ids.
        verdicts: shape (responses, features): 1 present, 0 absent, NaN without a verdict.
        probabilities: of the same shape; NaN where the judge tells none.
        failed: shape (responses,): whether a verdict could not be read, or the call failed.
    """

    judge: str
    features: tuple[str, ...]
    verdicts: Verdicts
    probabilities: Verdicts
    failed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Queue:
    """How many responses a person rates, and why.

    Attributes:
        judge: its id.
        responses: number of all that the judge rated.
        frequent: frequent features with the share of responses that the judge calls present.
        uncertain, with_frequent, audited: numbers of responses, each in the first that applies.
        rest: number of the others, audited or not.
        has_probabilities: whether the judge tells probabilities; without them only verdicts that
            failed are uncertain.
    """

    judge: str
    responses: int
    frequent: tuple[tuple[str, float], ...]
    uncertain: int
    with_frequent: int
    audited: int
    rest: int
    has_probabilities: bool

    @property
    def to_person(self) -> int:
        """Number of responses that a person rates."""
        return self.uncertain + self.with_frequent + self.audited


def hybrid_queue(
    units: Sequence[Unit], judged: Judged, rules: Rules, seed: int
) -> tuple[tuple[Drawn[Unit], ...], Queue]:
    """Return the responses that a person rates, in the order of the units, and their numbers.

    Uncertain: a verdict failed, or a probability p of a feature has |p - 0.5| < margin. Frequent:
    the judge calls present a feature that it finds in at least the share ``frequent`` of the
    responses. Audit: a simple random sample of the others. The weight of an audited response is
    the number of the others over that of audited ones; the weight of all else is 1.
    """
    for option, value, most in (
        ("--frequent", rules.frequent, 1.0),
        ("--margin", rules.margin, 0.5),
        ("--audit", rules.audit, 1.0),
    ):
        if not 0 <= value <= most:
            raise UsageError(f"{value:g} is out of range", where=option, allowed=f"0 to {most:g}")
    found = (judged.verdicts == 1).sum(axis=0)
    shares = found / max(len(units), 1)
    often = (shares >= rules.frequent) & (found > 0)
    near = np.abs(judged.probabilities - 0.5) < rules.margin  # NaN is not near
    uncertain = judged.failed | near.any(axis=1)
    frequent = ~uncertain & (judged.verdicts[:, often] == 1).any(axis=1)
    others = np.flatnonzero(~uncertain & ~frequent).tolist()
    number = math.ceil(round(rules.audit * len(others), 9))
    stream = random.Random(seed_of("tabwb-rating-audit-1", seed))
    audited = set(stream.sample(others, number))
    draws = []
    for place, unit in enumerate(units):
        if uncertain[place]:
            draws.append(Drawn(unit, UNCERTAIN, 1.0))
        elif frequent[place]:
            draws.append(Drawn(unit, FREQUENT, 1.0))
        elif place in audited:
            draws.append(Drawn(unit, AUDIT, len(others) / number))
    named = [
        (judged.features[at], float(shares[at]))
        for at in np.argsort(-shares, kind="stable").tolist()
        if often[at]
    ]
    queue = Queue(
        judged.judge,
        len(units),
        tuple(named),
        int(uncertain.sum()),
        int(frequent.sum()),
        number,
        len(others),
        bool((~np.isnan(judged.probabilities)).any()),
    )
    return tuple(draws), queue
