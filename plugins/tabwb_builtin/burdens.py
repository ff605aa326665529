"""Whether two judges put items in one order: Spearman's rank correlation of their burdens."""

from collections.abc import Iterator
from itertools import combinations

from tabwb.plugin_api import Responses, Statistic, StatisticValue


def rank_correlations(given: Responses) -> Iterator[StatisticValue]:
    """Yield that of each two judges over the mean burdens of items."""
    from tabwb.scoring.profiles import rank_correlation  # loads numpy

    for first, second in combinations(given.judges, 2):
        *means, n = given.item_means(given.burdens(first), given.burdens(second))
        value, ends, reason = rank_correlation(*means)
        yield StatisticValue(value, *ends, int(n.sum()), reason, f"{first}, {second}")


STATISTIC = Statistic(
    "burden-rank-correlation", "rank correlation of burdens", "Spearman's correlation of the mean "
    "burdens of items by two judges of the same responses", rank_correlations, "correlation",
    judges=2,
)  # fmt: skip
