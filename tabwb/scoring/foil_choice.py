"""Errors by kind of foil, against the share that a random wrong option would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, fsum, sqrt
from typing import TYPE_CHECKING

from tabwb.scoring.estimate import Estimand, Estimate, EstimatedInterval, ratio
from tabwb.scoring.intervals import rate_interval
from tabwb.scoring.permutation import SEED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_ERROR = "no wrong option was named where this kind is offered"
EXACT_UP_TO = 5000
"""Errors up to which the distribution by chance is exact; beyond that it is taken as normal."""

DISPERSED_DRAWS = 10_000
"""Studies that are drawn for prompts like these."""
_SLACK = 1e-9


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
        p_like: against shares that vary between items, corrected for all kinds by maxT; prompts
            like these.
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
    these the shares of the kinds vary between items, around these chances, as much as observed
    (:func:`_dispersed`). Signs of items cannot be flipped here: a share less its chance is not
    symmetric around 0 unless the chance is 1/2.

    >>> given = [WrongOption("wc1", "semantic", ("semantic", "other", "other", "other"))] * 3
    >>> found, _ = foil_choices(given, ["semantic", "other"])
    >>> found.share.value, found.chance.value, found.p_these
    (1.0, 0.25, 0.03125)
    """
    own = [_of_kind(answers, kind) for kind in kinds]
    tested = _dispersed(own)
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


def _dispersed(own: Sequence[_Errors]) -> list[float | None]:
    """Return p of each kind for prompts like these, corrected for all; None below two items.

    By chance the shares of an item are drawn from a Dirichlet distribution whose means are the
    shares of the kinds among its options, with the correlation rho of two errors on one item. For
    each kind d_i is its errors on item i less the sum of their chances c, so that
    ``E[sum d_i^2] = sum n_i c_i (1 - c_i) (1 + (n_i - 1) rho)``; rho is the value, 0 to .99, with
    which this holds for the sums over all kinds. ``T = |sum d_i| / sqrt(sum n_i c_i (1 - c_i)
    (1 + (n_i - 1) rho))``. p is the share of :data:`DISPERSED_DRAWS` drawn studies whose largest T,
    with its own rho, is at least as large, with the added one. They are drawn with rho
    from ``sum d_i^2 (1 + 1/k)`` over k items, because the estimate of few items is often too small.
    """
    import numpy as np

    names = list(dict.fromkeys(name for items in own for name in items))
    if len(names) < 2:
        return [None] * len(own)
    place = {name: at for at, name in enumerate(names)}
    shape = len(own), len(names)
    off, n, spread = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for row, items in enumerate(own):
        for name, errors in items.items():
            cell = row, place[name]
            off[cell] = fsum(x - chance for x, chance in errors)
            n[cell] = len(errors)
            spread[cell] = fsum(chance * (1 - chance) for _, chance in errors)
    more = spread * np.maximum(n - 1, 0)
    chances = np.zeros(shape)
    for row, items in enumerate(own):
        for name, errors in items.items():
            chances[row, place[name]] = fsum(chance for _, chance in errors) / len(errors)

    def rho_of(squares: NDArray[np.float64]) -> NDArray[np.float64]:
        if not more.sum():
            return np.zeros_like(squares)
        return np.asarray(np.clip((squares - spread.sum()) / more.sum(), 0.0, 0.99))

    def scaled(d: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return T of each study and kind, from d of shape (studies, kinds, items)."""
        rho = rho_of((d**2).sum(axis=(1, 2)))
        variance = spread.sum(axis=1) + more.sum(axis=1) * rho[:, None]
        return np.asarray(np.abs(d.sum(axis=2)) / np.sqrt(np.where(variance > 0, variance, np.inf)))

    observed = scaled(off[None])[0]
    rho = float(rho_of(np.array([(off**2).sum() * (1 + 1 / len(names))]))[0])
    generator = np.random.Generator(np.random.PCG64(SEED))
    drawn = np.zeros((DISPERSED_DRAWS, *shape))
    total = n.max(axis=0).astype(np.int64)
    for at in range(len(names)):
        offered = np.flatnonzero(chances[:, at])
        # Kinds that are not asked for share the rest.
        means = np.append(chances[offered, at], max(0.0, 1 - chances[offered, at].sum()))
        shares = np.broadcast_to(means / means.sum(), (DISPERSED_DRAWS, means.size))
        if rho > _SLACK:
            parts = generator.standard_gamma(
                shares * ((1 - rho) / rho), size=(DISPERSED_DRAWS, means.size)
            )
            parts += 1e-300
            shares = parts / parts.sum(axis=1, keepdims=True)
        counts = generator.multinomial(total[at], shares)[:, :-1]
        drawn[:, offered, at] = counts - n[offered, at] * chances[offered, at]
    largest = scaled(drawn).max(axis=1)
    reached = (largest[:, None] >= observed - _SLACK).sum(axis=0)
    p = (reached + 1) / (DISPERSED_DRAWS + 1)
    return [float(x) if len(items) > 1 else None for items, x in zip(own, p, strict=True)]


def by_chance(hits: int, chances: Sequence[float]) -> float:
    """Return the two-sided p of so many hits, each draw hitting with its own probability.

    Exact up to :data:`EXACT_UP_TO` draws, normal with a continuity correction beyond.

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
