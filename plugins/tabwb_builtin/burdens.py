"""Whether two judges put items in one order: Spearman's rank correlation of their burdens."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from math import atanh, sqrt, tanh

from tabwb.plugin_api import Responses, Statistic, StatisticValue


def rank_correlations(given: Responses) -> Iterator[StatisticValue]:
    """Yield that of each two judges over the mean burdens of items, as Bonett and Wright (2000)."""
    import numpy as np  # the statistic is declared where numpy is not loaded yet

    from tabwb.scoring.profiles import FEW_ITEMS, LEAST_ITEMS, MOST_PHI, spearman

    usable, burdens = given.table["usable"].values, {}
    for judge, features in given.judges.items():
        values = np.stack([given.values(judge, feature) for feature in features])
        burdens[judge] = np.where(
            usable, (values != 0).sum(axis=0) + values.sum(axis=0) * 0, np.nan
        )
    subtests, items = (given.table[name].values.astype(np.int64) for name in ("subtest", "item"))
    places = subtests * (items.max(initial=0) + 1) + items
    for first, second in combinations(burdens, 2):
        both = ~np.isnan(burdens[first] + burdens[second])
        at, n = np.unique(places[both], return_inverse=True, return_counts=True)[1:]
        means = [np.bincount(at, burdens[one][both]) / n for one in (first, second)]
        found = spearman(*means).value if len(n) > 1 else None
        made = partial(StatisticValue, found, n=len(at), of=f"{first}, {second}")
        if found is None or len(n) < LEAST_ITEMS:
            few = len(n) < LEAST_ITEMS
            yield made(reason=FEW_ITEMS if few else "all burdens of a judge are equal")
            continue
        z = atanh(max(-MOST_PHI, min(MOST_PHI, found)))
        half = 1.96 * sqrt((1 + tanh(z) ** 2 / 2) / (len(n) - 3))
        yield made(low=tanh(z - half), high=tanh(z + half))


STATISTIC = Statistic(
    "burden-rank-correlation", "rank correlation of burdens", "Spearman's correlation of the mean "
    "burdens of items by two judges of the same responses", rank_correlations, "correlation",
    judges=2,
)  # fmt: skip
