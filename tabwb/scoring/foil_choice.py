"""Errors by kind of foil, against the share that a random wrong option would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, fsum, sqrt
from typing import TYPE_CHECKING

from tabwb.scoring.estimate import Estimand, Estimate, EstimatedInterval, ratio
from tabwb.scoring.intervals import rate_interval
from tabwb.scoring.permutation import sign_flip_max_t, smallest_p

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_ERROR = "no wrong option was named where this kind is offered"
EXACT_UP_TO = 5000
"""Errors up to which the distribution by chance is exact; beyond that it is taken as normal."""


@dataclass(frozen=True, slots=True)
class WrongOption:
    """An answer that names a wrong option.

    Attributes:
        kind: of the option named.
        kinds: of all wrong options that were shown.
    """

    item: str
    kind: str
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoilChoice:
    """How often wrong options of one kind are named, of all wrong options named.

    Only errors on items that offer an option of the kind and one of another kind count.

    Attributes:
        errors: of this kind; of: all.
        chance: mean share of the kind among the wrong options that were shown.
        like, these: intervals of the share.
        p_these: exact, two-sided: every wrong option as likely as another; on these prompts. None
            where nothing was drawn.
        p_like: sign flips over items, corrected for all kinds by maxT; prompts like these.
        smallest_p: that sign flips over so many items can give.
    """

    kind: str
    errors: int
    of: int
    items: int
    chance: Estimate
    like: EstimatedInterval
    these: EstimatedInterval
    p_these: float | None
    p_like: float | None
    smallest_p: float | None

    @property
    def share(self) -> Estimate:
        """Share of this kind."""
        return ratio(self.errors, self.of, NO_ERROR)


def foil_choices(
    answers: Sequence[WrongOption], kinds: Sequence[str], *, deterministic: bool = False
) -> tuple[FoilChoice, ...]:
    """Return each kind of foil with its share of the errors and the share by chance.

    With c_e the number of options of the kind among the wrong options shown at error e, divided by
    their number: by chance the errors of the kind are a sum of independent 0/1 draws with these
    probabilities (Poisson-binomial), ``p = min(1, 2 min(P[X <= x], P[X >= x]))``. For prompts like
    these the number of errors of the kind less the sum of c_e is tested by sign flips over items.

    Args:
        answers: that name a wrong option.
        kinds: in the order wanted.
        deterministic: nothing was drawn.

    >>> given = [WrongOption("wc1", "semantic", ("semantic", "other", "other", "other"))] * 3
    >>> found, _ = foil_choices(given, ["semantic", "other"])
    >>> found.share.value, found.chance.value, found.p_these
    (1.0, 0.25, 0.03125)
    """
    own = [_of_kind(answers, kind) for kind in kinds]
    tested = _sign_flips(own)
    made = []
    for kind, items, p_like in zip(kinds, own, tested, strict=True):
        by_item = list(items.values())
        hits, sizes = [sum(x for x, _ in item) for item in by_item], [len(x) for x in by_item]
        chances = [chance for item in by_item for _, chance in item]
        fixed = deterministic or not chances
        made.append(
            FoilChoice(
                kind,
                sum(hits),
                sum(sizes),
                len(by_item),
                ratio(fsum(chances), len(chances), NO_ERROR),
                rate_interval(hits, sizes),
                rate_interval(hits, sizes, Estimand.THESE_PROMPTS, deterministic=deterministic),
                None if fixed else by_chance(sum(hits), chances),
                p_like,
                smallest_p(len(by_item)) if by_item else None,
            )
        )
    return tuple(made)


_Errors = dict[str, list[tuple[int, float]]]
"""For each item, of each error whether it is of the kind, and the chance of that."""


def _of_kind(answers: Sequence[WrongOption], kind: str) -> _Errors:
    items: _Errors = {}
    for answer in answers:
        chance = answer.kinds.count(kind) / len(answer.kinds)
        if 0 < chance < 1:
            items.setdefault(answer.item, []).append((int(answer.kind == kind), chance))
    return items


def _sign_flips(own: Sequence[_Errors]) -> list[float | None]:
    """Return p of each kind, corrected for all; None with fewer than two items.

    The sign of an item flips for all kinds at once; it is 0 for a kind that it does not offer.
    """
    names = list(dict.fromkeys(name for items in own for name in items))
    if len(names) < 2:
        return [None] * len(own)
    rows = [
        [fsum(x - chance for x, chance in items.get(name, ())) for name in names] for items in own
    ]
    tested = sign_flip_max_t(rows)
    assert tested is not None
    return [p if len(items) > 1 else None for items, p in zip(own, tested.p, strict=True)]


def by_chance(hits: int, chances: Sequence[float]) -> float:
    """Return the two-sided p of so many hits, each draw hitting with its own probability.

    Exact up to :data:`EXACT_UP_TO` draws, normal with a continuity correction beyond.

    Args:
        hits: observed.
        chances: probability of a hit, for each draw.

    >>> by_chance(0, [0.5] * 5), by_chance(2, [0.5] * 4)
    (0.0625, 1.0)
    """
    import numpy as np

    if len(chances) > EXACT_UP_TO:
        mean, variance = fsum(chances), fsum(c * (1 - c) for c in chances)
        z = max(0.0, abs(hits - mean) - 0.5) / sqrt(variance)
        return erfc(z / sqrt(2))
    mass: NDArray[np.float64] = np.ones(1)
    for chance in chances:
        mass = np.convolve(mass, [1 - chance, chance])
    return min(1.0, 2 * float(min(mass[: hits + 1].sum(), mass[hits:].sum())))
