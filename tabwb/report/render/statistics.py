"""The statistics of plugins as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from tabwb.records.words import NONE
from tabwb.report.render.printing import table
from tabwb.report.summaries.summary import Summary

if TYPE_CHECKING:
    from tabwb.report.summaries.statistics import StatisticResult


def statistics_views(rows: Sequence[tuple[str, Summary]]) -> Iterator[RenderableType]:
    """Yield a table of the statistics of plugins and what each means; nothing without any."""
    results = [(name, result) for name, summary in rows for result in summary.statistics]
    if not results:
        return
    several = len({name for name, _ in results}) > 1
    made = table("value", "95 %", "N", first="statistics of plugins", fold=True)
    reasons: dict[str, None] = {}
    for name, result in results:
        for value in result.values:
            title = titled(result, value.of)
            made.add_row(
                f"{name}: {title}" if several else title,
                Text(result.format(value.value), style="bold"),
                _ends(result, value.low, value.high),
                NONE if value.n is None else str(value.n),
            )
            if value.value is None:
                reasons[f"{title}: {value.reason}"] = None
    yield made
    meanings = dict.fromkeys(
        f"{result.statistic.title}: {result.statistic.meaning}"
        + (f" ({result.statistic.unit})" if result.statistic.unit else "")
        for _, result in results
    )
    yield Text("\n".join([*meanings, *reasons]) + "\n", style="dim")


def titled(result: StatisticResult, of: str) -> str:
    """Return the title of a statistic with its subtest and with what the value belongs to."""
    return ", ".join(part for part in (result.statistic.title, result.part, of) if part)


def _ends(result: StatisticResult, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return NONE
    return f"{result.format(low)}-{result.format(high)}"
