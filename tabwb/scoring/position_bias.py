"""Whether the position of an option decides: choices and right answers by position.

Defined for items whose options were shown in several orders (rotated or shuffled). On *these
prompts* the null hypothesis is that the order has no influence: the answers to an item could have
been given to its orders in any assignment. For *prompts like these* an item may prefer its own
positions; the null hypothesis is that no position is preferred more than another over all items.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
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
    """One answer to an item with the options in the order in which they were shown.

    Attributes:
        expected: one of the options.
        chosen: the option that the answer names, or None.
        right: whether it is right by the policy that decides.
    """

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
    """A test of all positions at once, on these prompts.

    Attributes:
        chi2, df: the distance from what is expected, in terms of the permutation covariance; None
            where nothing can differ.
        p: None where nothing can differ, with the reason.
        method: ``answers permuted within items`` or ``chi-squared limit``.
    """

    chi2: float | None
    df: int | None
    p: float | None
    method: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PositionBias:
    """Positions with their figures, and the tests of choices and of right answers over all.

    Attributes:
        items: items that were shown in several orders; answers: to these.
        smallest_p: the smallest p for prompts like these that so many items can give; None for one.
    """

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

    Args:
        answers: of one examinee, or of examinees that are pooled.
        deterministic: nothing was drawn.
        draws: of assignments and of shifts, where these are drawn.

    Raises:
        ValueError: an expected answer is not among the options.

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
    """Return which position each label (an option) has in each order, and the labels.

    The first is float64 of shape (answers, labels, positions): 1 where the label stands there.
    """
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
    """Sums over answers by position, with their distribution over assignments within items.

    Attributes:
        observed: float64, (items, positions); expected: as above,  means over assignments.
        mean, covariance: of the sums over items.
        n: number of answers to each item.
    """

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
    """Return the sums of one item over drawn assignments: float64, (draws, positions).

    Above :data:`ONE_BY_ONE` answers those with the same places are drawn together, as multivariate
    hypergeometric counts.
    """
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
