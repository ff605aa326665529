"""Whether the position or the kind of an option decides: choices, right answers and foils.

Defined for items whose options were shown in several orders (rotated or shuffled). On *these
prompts* the null hypothesis is that the order has no influence: the answers to an item could have
been given to its orders in any assignment. For *prompts like these* an item may prefer its own
positions; the null hypothesis is that no position is preferred more than another over all items.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, fsum, sqrt
from typing import TYPE_CHECKING

from tabwb.scoring.distributions import chi2_tail
from tabwb.scoring.estimate import Estimand, Estimate, EstimatedInterval, clopper_pearson, ratio
from tabwb.scoring.intervals import rate_interval
from tabwb.scoring.permutation import LABEL_DRAWS, SEED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


PERMUTED_UP_TO = 400
"""Answers up to which they are permuted; beyond that the chi-squared limit is used."""
ONE_BY_ONE = 60
"""Answers to an item up to which they are permuted one by one."""
SHIFTS = 10_000
"""Shifts of all items up to which every one is counted; beyond that they are drawn."""
NONE_KEYED = "the right answer was never at this position"
NONE_CHOSEN = "no answer names an option"
PERMUTED, LIMIT = "answers permuted within items", "chi-squared limit"
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Shown:
    """One answer to an item with the options in the order in which they were shown."""

    item: str
    options: tuple[str, ...]
    expected: str
    chosen: str | None
    right: bool


@dataclass(frozen=True, slots=True)
class AtPosition:
    """Right answers with the key at one position, and choices of the option there.

    Attributes:
        number: of the position, from 1.
        keyed, correct: answers with the key there, and how many are right.
        chosen, of: answers that name the option there, of those that name any.
        expected: the share of choices that is expected if positions have no influence.
        accuracy_like, accuracy_these, chosen_like, chosen_these: intervals for each estimand.
        p_accuracy, p_chosen: for prompts like these, corrected for all positions by maxT; None
            where there are no two items, with the reason of the interval.
    """

    number: int
    keyed: int
    correct: int
    chosen: int
    of: int
    expected: Estimate
    accuracy_like: EstimatedInterval
    accuracy_these: EstimatedInterval
    chosen_like: EstimatedInterval
    chosen_these: EstimatedInterval
    p_accuracy: float | None
    p_chosen: float | None

    @property
    def accuracy(self) -> Estimate:
        """Share right with the key at this position."""
        return ratio(self.correct, self.keyed, NONE_KEYED)

    @property
    def share(self) -> Estimate:
        """Share of choices that name the option at this position."""
        return ratio(self.chosen, self.of, NONE_CHOSEN)


@dataclass(frozen=True, slots=True)
class BiasTest:
    """A test of all positions at once, on these prompts."""

    chi2: float | None
    df: int | None
    p: float | None
    method: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PositionBias:
    """Positions with their figures, and the tests of choices and of right answers over all."""

    positions: tuple[AtPosition, ...]
    choices: BiasTest
    accuracy: BiasTest
    items: int
    answers: int
    smallest_p: float | None


def position_bias(
    answers: Sequence[Shown], *, deterministic: bool = False, draws: int = LABEL_DRAWS
) -> PositionBias | None:
    """Return how right answers and choices depend on position; None without several orders.

    *These prompts*: let N_p be the number of choices of position p. If positions have no influence,
    each assignment of an item's answers to its orders is equally likely. With the mean E and the
    covariance V of N over these assignments (Hoeffding), ``X = (N - E)' V^- (N - E)``. p is the
    share of drawn assignments (seeded) with an X at least as large; beyond
    :data:`PERMUTED_UP_TO` answers that of chi-squared, whose degrees of freedom are the rank of V.
    The same for right answers by the position of the key. Options of items that are shown in one
    order only do not count.

    *Prompts like these*: z_ip is the share of choices of position p on item i, less the expected
    one; ``T_p = |sum_i z_ip|``. If the preferences of items have one distribution at all
    positions, so have the z of an item after a shift of its positions, the last to the first: a
    full set of rotations, and random orders, are the same after a shift. p is the share of shifts,
    one of each item, whose largest T is at least as large (maxT): exact up to :data:`SHIFTS`, else
    ``draws`` drawn ones. Replicates may depend on each other and be unequal in number, because
    whole items are shifted. With two options these are sign flips over items. Accuracies likewise:
    z_ip is the share right with the key at p, less the item's share right.

    Source: Hoeffding, Annals of Mathematical Statistics 22 (1951), 558, and 23 (1952), 169 (groups
    of transformations); Hemerik and Goeman, TEST 27 (2018), 811; Westfall and Young 1993 (maxT).

    >>> turned = [("a", "b"), ("b", "a")]
    >>> given = [Shown(f"{n}", order, "a", order[0], order[0] == "a")
    ...          for n in range(6) for order in turned]
    >>> found = position_bias(given)
    >>> [place.share.value for place in found.positions], found.choices.p < 0.05
    ([1.0, 0.0], True)
    """
    orders: dict[str, set[tuple[str, ...]]] = {}
    for answer in answers:
        if answer.expected not in answer.options:
            raise ValueError(f"'{answer.expected}' is not among the options of '{answer.item}'")
        orders.setdefault(answer.item, set()).add(answer.options)
    by_item: dict[str, list[Shown]] = {}
    for answer in answers:
        if len(orders[answer.item]) > 1:
            by_item.setdefault(answer.item, []).append(answer)
    if not by_item:
        return None
    items = list(by_item.values())
    n_positions = max(len(answer.options) for item in items for answer in item)
    chosen = _Counts([_choices(item, n_positions) for item in items])
    right = _Counts([_rights(item, n_positions) for item in items])
    keyed = _keyed(items, n_positions)
    of_item = [max(len(answer.options) for answer in item) for item in items]
    p_chosen = chosen.shifted([[max(n, 1)] * n_positions for n in chosen.n], of_item, draws)
    p_right = right.shifted([[max(n, 1) for n in row] for row in keyed], of_item, draws)
    positions = []
    for at in range(n_positions):
        own = [int(row[at]) for row in chosen.observed]
        hits, sizes = [int(row[at]) for row in right.observed], [row[at] for row in keyed]
        positions.append(
            AtPosition(
                number=at + 1,
                keyed=sum(sizes),
                correct=sum(hits),
                chosen=sum(own),
                of=sum(chosen.n),
                expected=ratio(float(chosen.mean[at]), sum(chosen.n), NONE_CHOSEN),
                accuracy_like=_accuracy_like(hits, sizes),
                accuracy_these=_these(hits, sizes, deterministic),
                chosen_like=rate_interval(own, chosen.n),
                chosen_these=_these(own, chosen.n, deterministic),
                p_accuracy=None if p_right is None else p_right[at],
                p_chosen=None if p_chosen is None else p_chosen[at],
            )
        )
    n = sum(map(len, items))
    permuted = draws if n <= PERMUTED_UP_TO else 0
    choices, accuracy = (counts.test(permuted) for counts in (chosen, right))
    smallest = _smallest_p(of_item, draws) if len(items) > 1 else None
    return PositionBias(tuple(positions), choices, accuracy, len(items), n, smallest)


def _smallest_p(positions: Sequence[int], draws: int) -> float:
    """Return the smallest p of shifts: a T is the same at each position that all items have."""
    shifts = math.prod(positions)
    return min(positions) / shifts if shifts <= SHIFTS else 1 / (draws + 1)


def _these(hits: Sequence[int], sizes: Sequence[int], deterministic: bool) -> EstimatedInterval:
    return rate_interval(hits, sizes, Estimand.THESE_PROMPTS, deterministic=deterministic)


def _accuracy_like(hits: Sequence[int], sizes: Sequence[int]) -> EstimatedInterval:
    """Return the interval of an accuracy: the exact one with one answer to each item."""
    made = rate_interval(hits, sizes)
    if made.interval is None or max(sizes, default=0) > 1:
        return made
    return EstimatedInterval(made.estimand, clopper_pearson(sum(hits), sum(sizes)))


def _keyed(items: Sequence[Sequence[Shown]], n_positions: int) -> list[list[int]]:
    keyed = [[0] * n_positions for _ in items]
    for row, item in zip(keyed, items, strict=True):
        for answer in item:
            row[answer.options.index(answer.expected)] += 1
    return keyed


def _choices(item: Sequence[Shown], n_positions: int) -> tuple[Floats, list[int]]:
    """Return which position each label (an option) has in each order, and the labels."""
    import numpy as np

    named = [answer for answer in item if answer.chosen in answer.options]
    labels = {name: at for at, name in enumerate(dict.fromkeys(x.chosen for x in named))}
    places = np.zeros((len(named), len(labels), n_positions))
    for row, answer in enumerate(named):
        for name, at in labels.items():
            if name in answer.options:
                places[row, at, answer.options.index(str(name))] = 1.0
    return places, [labels[answer.chosen] for answer in named]


def _rights(item: Sequence[Shown], n_positions: int) -> tuple[Floats, list[int]]:
    """Return the position of the key, for the label right, and the labels: 1 right, 0 wrong."""
    import numpy as np

    places = np.zeros((len(item), 2, n_positions))
    for row, answer in enumerate(item):
        places[row, 1, answer.options.index(answer.expected)] = 1.0
    return places, [int(answer.right) for answer in item]


class _Counts:
    """Sums over answers by position, with their distribution over assignments within items."""

    def __init__(self, items: Sequence[tuple[Floats, list[int]]]) -> None:
        import numpy as np

        self.items = items
        self.n = [len(labels) for _, labels in items]
        observed, expected, covariances = [], [], []
        for places, labels in items:
            n, _, n_positions = places.shape
            if not n:
                observed.append(np.zeros(n_positions))
                expected.append(np.zeros(n_positions))
                continue
            observed.append(places[np.arange(n), labels].sum(axis=0))
            times = np.bincount(labels, minlength=places.shape[1])
            expected.append(np.einsum("jcp,c->p", places, times) / n)
            if n > 1:
                # Hoeffding: the covariance is the sum of products of doubly centred entries.
                rows = np.einsum("jcp,c->jp", places, times) / n
                columns = places.mean(axis=0)
                d = places - rows[:, None] - columns[None] + expected[-1] / n
                covariances.append(np.einsum("jcp,jcq,c->pq", d, d, times) / (n - 1))
        self.observed, self.expected = np.array(observed), np.array(expected)
        self.mean = self.expected.sum(axis=0)
        size = self.mean.size
        self.covariance = sum(covariances, np.zeros((size, size)))

    def shifted(
        self, sizes: Sequence[Sequence[int]], positions: Sequence[int], draws: int
    ) -> tuple[float, ...] | None:
        """Return p of each position for prompts like these; None with fewer than two items.

        With z_ip the observed less the expected sum of item i, divided by its size, ``T_p =
        |sum_i z_ip|``. The z of each item are shifted along its positions, the last to the first:
        p is the share of shifts whose largest T is at least as large. All of them count up to
        :data:`SHIFTS`; beyond that ``draws`` drawn ones, with the added one.
        """
        import numpy as np

        if sum(map(bool, self.n)) < 2:
            return None
        z = (self.observed - self.expected) / np.array(sizes, dtype=np.float64)
        moving = np.abs(z).max(axis=1) > _SLACK
        turns = [
            np.array([[*np.roll(row[:m], by), *row[m:]] for by in range(m)])
            for row, m in zip(z[moving], np.array(positions)[moving].tolist(), strict=True)
        ]
        exact = math.prod(map(len, turns)) <= SHIFTS
        sums = np.zeros((1 if exact else draws, self.mean.size))
        generator = np.random.Generator(np.random.PCG64(SEED))
        for turn in turns:
            if exact:
                sums = (sums + turn[:, None]).reshape(-1, self.mean.size)
            else:
                sums += turn[generator.integers(len(turn), size=draws)]
        largest = np.abs(sums).max(axis=1)
        reached = (largest[:, None] >= np.abs(z.sum(axis=0)) - _SLACK).sum(axis=0)
        p = reached / len(sums) if exact else (reached + 1) / (draws + 1)
        return tuple(p.tolist())

    def test(self, draws: int) -> BiasTest:
        """Return the test of all positions at once, by the chi-squared limit without draws."""
        import numpy as np

        values, vectors = np.linalg.eigh(self.covariance)
        kept = values > 1e-9 * max(float(values.max()), 1e-12)
        df = int(kept.sum())
        if not df or values.max() <= 1e-9:
            why = "every assignment of the answers to the orders gives the same counts"
            return BiasTest(None, None, None, reason=why)
        whitened = vectors[:, kept] / np.sqrt(values[kept])
        chi2 = float((((self.observed.sum(axis=0) - self.mean) @ whitened) ** 2).sum())
        if not draws:
            return BiasTest(chi2, df, chi2_tail(chi2, df), LIMIT)
        sums = np.zeros((draws, self.mean.size))
        generator = np.random.Generator(np.random.PCG64(SEED))
        for item in self.items:
            if item[1]:
                sums += _assigned(item, draws, generator)
        reached = (((sums - self.mean) @ whitened) ** 2).sum(axis=1) >= chi2 - _SLACK * (1 + chi2)
        return BiasTest(chi2, df, (int(reached.sum()) + 1) / (draws + 1), PERMUTED)


def _assigned(item: tuple[Floats, list[int]], draws: int, generator: np.random.Generator) -> Floats:
    """Return the sums of one item over drawn assignments."""
    import numpy as np

    places, labels = item
    if len(labels) <= ONE_BY_ONE:
        drawn = generator.permuted(np.tile(labels, (draws, 1)), axis=1)
        added = np.zeros((draws, places.shape[2]))
        for row in range(len(labels)):
            added += places[row, drawn[:, row]]
        return added
    orders, rows = np.unique(places.reshape(len(places), -1), axis=0, return_inverse=True)
    left = np.tile(np.bincount(labels, minlength=places.shape[1]), (draws, 1))
    sums = np.zeros((draws, places.shape[2]))
    for order, times in zip(orders, np.bincount(rows.ravel()).tolist(), strict=True):
        taken = _taken(left, times, generator)
        left -= taken
        sums += taken @ order.reshape(places.shape[1:])
    return sums


def _taken(
    left: NDArray[np.int64], times: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return how many of each label are among ``times`` that are drawn without replacement."""
    import numpy as np

    taken = np.zeros_like(left)
    wanted = np.full(len(left), times)
    rest = left.sum(axis=1)
    for label in range(left.shape[1]):
        rest = rest - left[:, label]
        taken[:, label] = generator.hypergeometric(left[:, label], rest, wanted)
        wanted = wanted - taken[:, label]
    return taken


NO_ERROR = "no wrong option was named where this kind is offered"
EXACT_UP_TO = 5000
"""Errors up to which the distribution by chance is exact; beyond that it is taken as normal."""

DISPERSED_DRAWS = 10_000


@dataclass(frozen=True, slots=True)
class WrongOption:
    """An answer that names a wrong option."""

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
